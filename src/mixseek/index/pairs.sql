-- Two sides of a comparison, from two indexes or from one: `side_a` and `side_b` have a row for each sample, `pairs` one
-- for whatever both have. Names in braces are ours; what a user names is a parameter.

-- name: side
-- Judges and repeats of a sample are one value already (`units`); one without says why in its state. A million rows of
-- it stay in memory: what only a list shows is looked up there.
CREATE TEMP TABLE side_{side} AS
    SELECT sample AS position, id, question_id, variant AS prompt_variant,
        target AS target_model, coalesce(task_name, task_type) AS task, shown, value, lowest, highest, 1 AS samples,
        state AS status, response_state, is_finished
    FROM ({units})
    WHERE ($target IS NULL OR target = $target) AND ($variant IS NULL OR variant = $variant)

-- name: has_repeats
SELECT has_repeats FROM {index}.facts

-- name: names
SELECT DISTINCT {column} FROM {index}.samples WHERE {column} IS NOT NULL ORDER BY 1 LIMIT 1000

-- name: common_values
SELECT count(*) FROM (SELECT DISTINCT {column} FROM side_a WHERE {column} IS NOT NULL) AS a
    JOIN (SELECT DISTINCT {column} FROM side_b) AS b USING ({column})

-- name: common_questions
SELECT count(*) FROM (SELECT DISTINCT {columns} FROM side_a WHERE question_id IS NOT NULL
    INTERSECT SELECT DISTINCT {columns} FROM side_b WHERE question_id IS NOT NULL)

-- name: by_question
-- Several samples that nothing tells apart are one, by their mean; their texts are then no single text.
SELECT {columns}, min(position) AS position, any_value(task) AS task, avg(value) AS value, avg(lowest) AS lowest,
    avg(highest) AS highest, count(*) AS samples, CASE WHEN count(value) > 0 THEN 'valid' ELSE min(status) END AS status,
    CASE WHEN count(*) = 1 THEN any_value(shown) END AS shown, bool_and(is_finished) AS is_finished,
    CASE WHEN count(DISTINCT prompt_variant) = 1 THEN any_value(prompt_variant) END AS variant,
    CASE WHEN count(DISTINCT target_model) = 1 THEN any_value(target_model) END AS target
    FROM side_{side} WHERE question_id IS NOT NULL GROUP BY {columns}

-- name: by_id
SELECT *, prompt_variant AS variant, target_model AS target FROM side_{side}

-- name: pairs
-- One text with one outcome is no difference, whatever its score would be: it widens no bound.
CREATE OR REPLACE TEMP TABLE pairs AS
    SELECT * EXCLUDE (low, high), b - a AS d, CASE WHEN is_same AND a IS NOT DISTINCT FROM b THEN 0 ELSE low END AS low,
        CASE WHEN is_same AND a IS NOT DISTINCT FROM b THEN 0 ELSE high END AS high
    FROM (
        SELECT a.position AS position_a, b.position AS position_b,
            hash(coalesce(a.question_id, b.question_id, a.position::VARCHAR)) AS question,
            coalesce(b.task, a.task) AS task, CASE WHEN a.target = b.target THEN a.target END AS target,
            CASE WHEN a.variant = b.variant THEN a.variant END AS variant,
            a.value AS a, b.value AS b, a.status AS status_a, b.status AS status_b,
            coalesce(a.shown = b.shown, false) AS is_same, a.is_finished AND b.is_finished AS is_finished,
            a.samples AS samples_a, b.samples AS samples_b,
            b.lowest - a.highest AS low, b.highest - a.lowest AS high
        FROM ({a}) AS a JOIN ({b}) AS b ON {condition})

-- name: sums
-- The columns of DifferenceSums, group by group.
WITH questions AS (
    SELECT {group} AS name, question, count(*) AS pairs, count(d) AS n, coalesce(sum(d), 0) AS s,
        count(*) FILTER (d > $smallest) AS better, count(*) FILTER (d < -$smallest) AS worse,
        coalesce(sum(a) FILTER (d IS NOT NULL), 0) AS a, coalesce(sum(b) FILTER (d IS NOT NULL), 0) AS b,
        coalesce(sum(a * a + b * b), 0) AS squares, sum(low) AS low, sum(high) AS high
    FROM pairs WHERE {where} GROUP BY name, question
)
SELECT name, coalesce(sum(pairs), 0)::BIGINT, coalesce(sum(n), 0)::BIGINT, count(*) FILTER (n > 0),
    coalesce(sum(better), 0)::BIGINT, coalesce(sum(worse), 0)::BIGINT, coalesce(sum(s), 0), coalesce(sum(a), 0),
    coalesce(sum(b), 0), coalesce(sum(squares), 0), coalesce(sum(s * s), 0), coalesce(sum(n * s), 0),
    coalesce(sum(n * n), 0)::DOUBLE, count(*) FILTER (abs(s) > $smallest), coalesce(sum(low), 0), coalesce(sum(high), 0)
    FROM questions GROUP BY name ORDER BY name NULLS LAST

-- name: moves
-- What a test flips; groups with more than that are tested by their sums.
SELECT name, s FROM (
        SELECT {group} AS name, question, sum(d) AS s FROM pairs WHERE {where} AND d IS NOT NULL GROUP BY name, question)
    WHERE abs(s) > $smallest QUALIFY count(*) OVER (PARTITION BY name) <= $most

-- name: pair_count
SELECT count(*) FROM pairs

-- name: is_varied
SELECT coalesce(min({factor}) <> max({factor}) OR count({factor}) NOT IN (0, count(*)), false) FROM pairs

-- name: averaged
SELECT count(*) FROM pairs WHERE samples_a > 1 OR samples_b > 1

-- name: StatusPairs
SELECT status_a, status_b, count(*) FROM pairs GROUP BY status_a, status_b ORDER BY count(*) DESC, status_a, status_b

-- name: Pair
-- The largest changes first, between equals by lot, and by the same one every time.
WITH chosen AS (SELECT *, abs(d) AS size, hash(position_b) AS lot FROM pairs WHERE {where}
    ORDER BY size DESC NULLS LAST, lot LIMIT $limit)
SELECT one.id, other.id, coalesce(one.question_id, other.question_id), task, a, b, status_a, status_b, is_same,
    samples_a, samples_b, one.key, other.key
    FROM chosen JOIN {index_a}.samples AS one ON one.position = position_a
        JOIN {index_b}.samples AS other ON other.position = position_b
    ORDER BY size DESC NULLS LAST, lot

-- name: only_models
-- Of judges that bring recorded replies, whose those are.
SELECT judge, judge_model FROM {index}.only_models

-- name: pair_names
SELECT CASE WHEN one.id = other.id THEN one.id ELSE one.id || ' → ' || other.id END
    FROM pairs JOIN side_a AS one ON one.position = position_a JOIN side_b AS other ON other.position = position_b
    WHERE {where} ORDER BY position_b

-- name: responses
-- The fields of ResponseCounts.
SELECT count(*), count(*) FILTER (response_state = 'cut_off'), count(*) FILTER (response_state = 'withheld'),
    count(*) FILTER (response_state = 'empty'), count(*) FILTER (status = 'valid' AND value IS NULL),
    count(*) FILTER (status = 'undecided' AND value IS NOT NULL) FROM side_{side}

-- name: side_size
SELECT count(*) FROM side_{side}

-- name: unpaired_ids
SELECT id, position FROM side_{side} ANTI JOIN pairs ON position_{side} = position

-- name: unpaired_questions
SELECT side_{side}.id, position FROM side_{side}
    ANTI JOIN (SELECT {columns} FROM side_a WHERE question_id IS NOT NULL
        INTERSECT SELECT {columns} FROM side_b) AS common ON {condition}
