-- From a run's journal and index to units that labels can be joined with.

-- name: texts
-- Which judged text each sample has: the digest of `domain.labels.text_digest`, in SQL. A planned output that is not
-- there, or a response that nobody knows, is no text. `label` is what the dataset itself says.
COPY (
    SELECT key, any_value(CASE WHEN is_absent THEN NULL ELSE sha256(strlen(asked) || ':' || asked ||
            CASE WHEN steps_digest IS NULL THEN said ELSE strlen(said) || ':' || said || steps_digest END) END) AS text,
        any_value(label) AS label
    FROM (
        SELECT key, coalesce(nullif(sample.question, ''), sample.ground_truth, '') AS asked, 
            CASE WHEN sample.response_b IS NULL THEN sample.response
                ELSE strlen(sample.response) || ':' || sample.response || sample.response_b END AS said,
            sample.metadata.label AS label, steps_digest,
            coalesce(sample.metadata.planned_without_output, false) OR coalesce(sample.metadata.response_unknown, false)
                AS is_absent
        FROM read_json($journal, format = 'newline_delimited', ignore_errors = true,
            maximum_object_size = $object_bytes,
            columns = {t: 'VARCHAR', key: 'VARCHAR', steps_digest: 'VARCHAR', sample: 'STRUCT(question VARCHAR, response VARCHAR,
                ground_truth VARCHAR, response_b VARCHAR, metadata STRUCT(label VARCHAR, planned_without_output BOOLEAN,
                response_unknown BOOLEAN))'})
        WHERE t = 'sample')
    GROUP BY key) TO $target (FORMAT parquet, COMPRESSION zstd)

-- name: units
-- One row a sample; those without a question of their own stand with others of the same text.
CREATE TEMP TABLE units AS
    SELECT sample, id, target, variant, task_name, task_type, language, value, state, text, label,
        CASE WHEN judged.question = judged.key THEN coalesce(text, judged.key) ELSE judged.question END AS question,
        CASE WHEN state = 'valid' THEN coalesce(verdict, 'split') ELSE state END AS class
    FROM ({units}) AS judged JOIN read_parquet($texts) AS texts USING (key)

-- name: population
-- All texts of the run as one digest: runs of the same texts have the same.
SELECT count(*), sha256(coalesce(string_agg(text, '' ORDER BY text), ''))
    FROM (SELECT DISTINCT text FROM units WHERE text IS NOT NULL)

-- name: sizes
-- Strata of texts that no earlier draw has taken; a text that several samples share belongs to the first of them.
SELECT {columns}, count(*) FROM ({open}) GROUP BY ALL ORDER BY ALL

-- name: open
SELECT text, arg_min(id, sample) AS id, arg_min(sample, sample) AS sample, {columns}
    FROM units WHERE text IS NOT NULL AND text NOT IN (SELECT unnest($taken)) GROUP BY text

-- name: lots
-- A lot for each text, from the seed: the smallest are drawn. The order of the sheet is another lot.
SELECT text, id, sample, sha256($seed || ' order ' || text) AS place
    FROM ({open}) WHERE {stratum} ORDER BY sha256($seed || ' lot ' || text) LIMIT $count

-- name: named
-- Samples by id; ids are unique in a run.
SELECT id, text, sample, task_type FROM units WHERE id IN (SELECT unnest($ids))

-- name: of_texts
SELECT text, arg_min(id, sample), min(sample), arg_min(task_type, sample) FROM units
    WHERE text IN (SELECT unnest($texts)) GROUP BY text

-- name: samples_of
-- All samples that have any of these texts, which may be several of one.
SELECT sample, id, text, class FROM units WHERE text IN (SELECT unnest($texts::VARCHAR[])) ORDER BY sample

-- name: verdicts_of
SELECT text, arg_min(value, sample) FROM units
    WHERE state = 'valid' AND value IS NOT NULL AND text IN (SELECT unnest($texts::VARCHAR[])) GROUP BY text

-- name: last_words
-- Texts whose verdict counts although no certificate lets it: the last judge of a cascade had the last word.
SELECT DISTINCT text FROM units JOIN samples ON samples.position = units.sample JOIN outcomes USING (key)
    WHERE is_final AND status = 'valid' AND json_extract_string(fields, '$.last_word') = 'true'
        AND text IN (SELECT unnest($texts::VARCHAR[]))

-- name: dataset_labels
-- Text and what the dataset says about it, where it says one thing only.
SELECT text, min(label), arg_min(id, sample), arg_min(task_type, sample) FROM units WHERE label IS NOT NULL AND text IS NOT NULL
    GROUP BY text HAVING count(DISTINCT label) = 1

-- What people said, joined: `labels` has the text, its share, how it was drawn, its weight, and what people say now.

-- name: label_table
CREATE OR REPLACE TEMP TABLE labels AS
    SELECT unnest($texts::VARCHAR[]) AS text, unnest($shares::DOUBLE[]) AS share, unnest($drawn::VARCHAR[]) AS drawn,
        unnest($weights::DOUBLE[]) AS weight, unnest($newest::DOUBLE[]) AS newest

-- name: covered
-- Texts that were in the pool of a draw of another run.
CREATE OR REPLACE TEMP TABLE covered AS SELECT DISTINCT text FROM read_parquet($pool) WHERE text IS NOT NULL

-- name: parts
-- What the judges said of all samples, labelled or not, by question and verdict, of the whole and of each target;
-- `uncovered` ones were not in the pool that labels were drawn from.
CREATE OR REPLACE TEMP TABLE parts AS
    SELECT whose, question, cell, value IS NOT NULL AS is_scored, count(*) AS items, coalesce(sum(value), 0) AS total,
        coalesce(sum(value * value), 0) AS squares, count(*) FILTER (NOT is_covered) AS uncovered
    FROM ({grouped}) GROUP BY ALL

-- name: judge_opinions
-- What each judge says of each sample, beside its label; a control is no opinion.
CREATE OR REPLACE TEMP TABLE judge_opinions AS
    SELECT judge, units.question, opinions.value, labels.share, labels.drawn, labels.weight, labels.newest,
        CASE WHEN opinions.value IN (0, 1) THEN opinions.value::INTEGER::VARCHAR
            WHEN opinions.value IS NOT NULL THEN 'split' ELSE opinions.state END AS cell
    FROM ({opinions}) AS opinions JOIN units USING (sample) LEFT JOIN labels USING (text)

-- name: judge_cells
SELECT judge, cell, count(*), count(*) FILTER (newest = 1), count(*) FILTER (newest = 0),
    count(*) FILTER (newest NOT IN (0, 1)) FROM judge_opinions GROUP BY judge, cell

-- name: judge_questions
-- Labelled samples on which both sides are settled, by question; questions that are alike are counted together. Labels
-- that somebody chose to give beside a judgment were looked for, and measure no judge.
SELECT judge, share, labels, weight, said, squares, count(*) FROM (
        SELECT judge, share, question, count(*) AS labels, sum(weight) AS weight, sum(weight * value) AS said,
            sum(weight * weight) AS squares
        FROM judge_opinions WHERE share IN (0, 1) AND value IN (0, 1) AND drawn = coalesce($drawn, drawn) AND drawn <> 'chosen'
        GROUP BY judge, share, question)
    GROUP BY ALL

-- name: cells
SELECT whose, cell, is_scored, sum(items)::BIGINT, sum(total), sum(squares), sum(uncovered)::BIGINT
    FROM parts GROUP BY ALL ORDER BY ALL

-- name: repeating
-- Groups in which several samples share a question.
SELECT whose FROM (SELECT whose, question, sum(items) AS items FROM parts GROUP BY whose, question)
    GROUP BY whose HAVING max(items) > 1

-- name: questions
-- Of those groups. Questions without a label are counted by what they are like: few kinds stand for most of a million.
WITH kinds AS (
    SELECT whose, question, bit_xor(hash(cell, items, total, squares)) AS kind
    FROM parts WHERE whose IN (SELECT unnest($groups)) GROUP BY whose, question
),
told AS (SELECT DISTINCT question FROM units JOIN labels USING (text)),
chosen AS (
    SELECT whose, question, 1 AS times FROM kinds SEMI JOIN told USING (question)
    UNION ALL
    SELECT whose, any_value(question), count(*) FROM kinds ANTI JOIN told USING (question) GROUP BY whose, kind
)
SELECT whose, cell, is_scored, items, total, squares, 0, question, times FROM parts JOIN chosen USING (whose, question)

-- name: labelled
SELECT whose, cell, question, value, share, drawn, weight, text, newest FROM ({grouped}) JOIN labels USING (text)
    ORDER BY whose, text, sample

-- name: grouped
-- Every sample once in the whole (an empty name), and once in its target where there are several.
SELECT sample, text, question, value, whose, {cell} AS cell, {covered} AS is_covered FROM units,
    (SELECT unnest(CASE WHEN {by_target} THEN ['', coalesce('target ' || target, 'no target')] ELSE [''] END) AS whose)

-- name: target_count
SELECT count(DISTINCT coalesce('target ' || target, 'no target')) FROM units

-- name: binary_cell
CASE WHEN value IN (0, 1) THEN value::INTEGER::VARCHAR WHEN value IS NOT NULL THEN 'split' ELSE state END

-- name: graded_cell
class

-- name: in_pool
(text IN (SELECT text FROM covered))

-- What people look at: texts of a queue, in an order by lot that says nothing about verdicts; and how many there are.

-- name: queue
SELECT text, count(*) OVER () FROM (SELECT DISTINCT text FROM units WHERE text IS NOT NULL AND ({chosen}))
    ORDER BY sha256($queue || ' ' || text) LIMIT $limit

-- name: disagreements
-- Judges give different verdicts, or scores a quarter of the scale apart.
sample IN (SELECT sample_position FROM judged WHERE status = 'valid' AND NOT is_control GROUP BY sample_position
    HAVING count(DISTINCT judge) > 1 AND (count(DISTINCT verdict) > 1 OR max(score) - min(score) >= 0.25))

-- name: undecided
state IN ('undecided', 'split')

-- name: invalid
sample IN (SELECT sample_position FROM judged WHERE status = 'invalid')

-- name: evidence
-- Fewest of the quotes found in the response, or a right answer that does not stand there.
sample IN (SELECT sample_position FROM (
        SELECT sample_position, min(CASE WHEN is_unverified THEN 0 ELSE coalesce(found, 1) END) AS least
        FROM judged LEFT JOIN (SELECT position, avg((problem IS NULL)::INTEGER) AS found FROM evidence GROUP BY position)
            USING (position)
        WHERE status = 'valid' AND NOT is_control GROUP BY sample_position)
    WHERE least < 1 ORDER BY least, sample_position LIMIT 200)

-- name: filter
sample IN (SELECT unnest($samples::BIGINT[]))

-- name: dimensions
SELECT dimension FROM dimension_scores GROUP BY dimension ORDER BY min(dimension_order), dimension
