-- One row a sample, whoever judged it how often: the rule of a panel, applied to the takes of each judge, then to the
-- opinions of all judges. See `domain.panels` for the rules in words. The text is filled in by `panel.py`.
--
-- Every step reads and gives: the columns it groups by, value, lowest, highest, verdict, state, is_unverified, voices
-- (those who gave a verdict or were divided). The state of a row without a score is the best that it had.

-- name: takes
-- Without a model's word on its own output, which is a control.
SELECT sample_position AS sample, judge, score AS value,
    CASE WHEN status <> 'valid' OR is_unverified THEN 0 ELSE score END AS lowest,
    CASE WHEN status = 'valid' THEN score ELSE 1 END AS highest,
    verdict, status AS state, is_unverified, (status = 'valid')::INTEGER AS voices
    FROM {index}.judged WHERE NOT is_control AND (is_final OR NOT {final_only})

-- name: voting
-- Opinions without those of a log's own scorers, unless nobody else judged: see `domain.panels.voting`.
SELECT * FROM ({source}) WHERE NOT starts_with(judge, '{witness}') OR (
    SELECT len(list_filter(judges, lambda one: NOT starts_with(one, '{witness}'))) = 0 FROM {index}.index_state)

-- name: alone
-- One judge, or a cascade: scores of its repeats are averaged, those without a score are in the bounds with their share.
SELECT {by}, avg(value) FILTER (state = 'valid') AS value, avg(lowest) AS lowest, avg(highest) AS highest,
    CASE WHEN min(verdict) FILTER (state = 'valid') = max(verdict) FILTER (state = 'valid')
        THEN min(verdict) FILTER (state = 'valid') END AS verdict,
    {best_state} AS state, coalesce(bool_or(is_unverified), false) AS is_unverified,
    count(*) FILTER (state = 'valid') AS voices
    FROM ({source}) GROUP BY {by}

-- name: voted
-- Majority and unanimous: `enough` says how many of `heard` must have said the same.
SELECT {by}, CASE WHEN {enough} THEN winner.value END AS value,
    CASE WHEN {enough} AND {verified} THEN winner.value ELSE 0 END AS lowest,
    CASE WHEN {enough} THEN winner.value ELSE 1 END AS highest,
    CASE WHEN {enough} THEN winner.verdict END AS verdict,
    CASE WHEN {enough} THEN 'valid' WHEN heard > 0 THEN 'split' ELSE state END AS state,
    coalesce({enough} AND NOT ({verified}), false) AS is_unverified, heard AS voices
    FROM (
        SELECT {by}, coalesce(sum(votes) FILTER (state IN ('valid', 'split')), 0) AS heard,
            coalesce(max(votes) FILTER (state = 'valid'), 0) AS most,
            arg_max(struct_pack(value := value, verdict := verdict, verified := verified), votes)
                FILTER (state = 'valid') AS winner, {best_state} AS state
        FROM (SELECT {by}, state, coalesce(verdict, '') AS verdict, count(*) AS votes, avg(value) AS value,
                count(*) FILTER (NOT is_unverified) AS verified
            FROM ({source}) GROUP BY {by}, state, coalesce(verdict, ''))
        GROUP BY {by})

-- name: median
-- With an even number of opinions two stand in the middle. Between right and wrong there is nothing.
SELECT {by}, CASE WHEN is_settled THEN middle END AS value,
    CASE WHEN is_settled AND NOT is_unverified THEN middle ELSE 0 END AS lowest,
    CASE WHEN is_settled THEN middle ELSE 1 END AS highest,
    CASE WHEN is_settled AND low['verdict'] = high['verdict'] THEN low['verdict'] END AS verdict,
    CASE WHEN is_settled THEN 'valid' WHEN heard > 0 THEN 'split' ELSE state END AS state,
    is_settled AND is_unverified AS is_unverified, heard AS voices
    FROM (
        SELECT *, (low['value'] + high['value']) / 2 AS middle,
            coalesce(low['value'] = high['value'] OR {is_graded}, false) AND told IS NOT NULL AS is_settled
        FROM (SELECT *, told[(len(told) + 1) // 2] AS low, told[len(told) // 2 + 1] AS high
            FROM (SELECT {by},
                    list(struct_pack(value := value, verdict := coalesce(verdict, '')) ORDER BY value, verdict)
                        FILTER (state = 'valid') AS told,
                    count(*) FILTER (state IN ('valid', 'split')) AS heard, {best_state} AS state,
                    coalesce(bool_or(is_unverified), false) AS is_unverified
                FROM ({source}) GROUP BY {by})))

-- name: mean
SELECT {by}, avg(value) FILTER (state = 'valid') AS value,
    coalesce(avg(lowest) FILTER (state = 'valid'), 0) AS lowest,
    coalesce(avg(highest) FILTER (state = 'valid'), 1) AS highest,
    CASE WHEN min(coalesce(verdict, '')) FILTER (state = 'valid') = max(coalesce(verdict, '')) FILTER (state = 'valid')
        THEN min(coalesce(verdict, '')) FILTER (state = 'valid') END AS verdict,
    {best_state} AS state, coalesce(bool_or(is_unverified), false) AS is_unverified,
    count(*) FILTER (state = 'valid') AS voices
    FROM ({source}) GROUP BY {by}

-- name: is_graded
-- Whether any valid score is neither 0 nor 1; else the judgments are right or wrong.
(SELECT count(*) > 0 FROM {index}.outcomes WHERE status = 'valid' AND score NOT IN (0, 1))

-- name: best_state
-- As in the grid of coverage: a reply that could not be used says more than none.
CASE min(CASE state WHEN 'valid' THEN 0 WHEN 'split' THEN 1 WHEN 'invalid' THEN 2 WHEN 'undecided' THEN 3 ELSE 4 END)
    WHEN 0 THEN 'valid' WHEN 1 THEN 'split' WHEN 2 THEN 'invalid' WHEN 3 THEN 'undecided' ELSE 'missing' END

-- name: pair_value
-- Of a pair that its judges are split on nobody is the winner: half a win for each, as for a tie (see `domain.panels`).
coalesce(settled.value, CASE WHEN settled.state = 'split' AND {is_pair} THEN {tie} END)

-- name: units
-- With what samples are grouped by. `question` is the cluster of every interval, test and gate. Of a response that did not
-- come to its end the bounds hold every reading.
SELECT samples.key, samples.position AS sample, samples.id, coalesce(samples.question_id, samples.key) AS question,
    samples.target_model AS target, samples.prompt_variant AS variant, samples.question_id,
    samples.task_name, samples.task_type, samples.language, samples.output_id, samples.shown,
    samples.target_b, samples.human,
    {value}::DOUBLE AS value,
    CASE WHEN {response_state} = 'finished' THEN settled.lowest ELSE 0 END::DOUBLE AS lowest,
    CASE WHEN {response_state} = 'finished' THEN settled.highest ELSE 1 END::DOUBLE AS highest,
    settled.state, settled.verdict, settled.is_unverified,
    settled.voices::BIGINT AS voices,
    {response_state} AS response_state, {response_state} = 'finished' AS is_finished,
    samples.response_state AS own_end, samples.response_state_b AS other_end
    FROM ({settled}) AS settled JOIN {index}.samples AS samples ON samples.position = settled.sample

-- name: sides
-- Both targets of each pair, with their own score: a pair that A wins is one that B loses. A target against itself would
-- be half a win whatever is said.
SELECT question, state, is_unverified, target, value, lowest, highest, own_end AS response_state, is_finished
    FROM units WHERE target IS DISTINCT FROM target_b
UNION ALL SELECT question, state, is_unverified, target_b, 1 - value, 1 - highest, 1 - lowest, other_end, is_finished
    FROM units WHERE target IS DISTINCT FROM target_b

-- name: pair_units
-- As seen from the target whose name comes first.
SELECT question, state, least(target, target_b) AS first, greatest(target, target_b) AS second,
    CASE WHEN target <= target_b THEN value ELSE 1 - value END AS value,
    CASE WHEN target <= target_b THEN lowest ELSE 1 - highest END AS lowest,
    CASE WHEN target <= target_b THEN highest ELSE 1 - lowest END AS highest
    FROM units WHERE target <> target_b

-- name: pair_ends
-- A tie is what judges said; a split pair has half a score and no verdict.
SELECT first, second, count(*) FILTER (value > 0.5), count(*) FILTER (value = 0.5 AND state = 'valid'),
    count(*) FILTER (value < 0.5), count(*) FILTER (value IS NULL OR state <> 'valid') FROM ({units}) GROUP BY first, second ORDER BY first, second

-- name: panel_human
-- What all judges together came to, against what people prefer.
SELECT question, (verdict = human)::DOUBLE AS value, value AS lowest, value AS highest FROM units
    WHERE state = 'valid' AND verdict IS NOT NULL AND human IS NOT NULL

-- name: states
SELECT {first}state, count(*), count(*) FILTER (is_unverified) FROM ({units}) GROUP BY {first}state ORDER BY ALL

-- name: responses
-- The fields of ResponseCounts: how responses ended, and what the reader's choice makes of them.
SELECT {first}count(*), count(*) FILTER (response_state = 'cut_off'), count(*) FILTER (response_state = 'withheld'),
    count(*) FILTER (response_state = 'empty'), count(*) FILTER (state = 'valid' AND value IS NULL),
    count(*) FILTER (state = 'undecided' AND value IS NOT NULL)
    FROM ({units}) GROUP BY ALL ORDER BY ALL

-- name: finished
-- What stands beside the mean: that of the responses that came to their end.
SELECT * FROM ({units}) WHERE is_finished

-- name: SettledSample
-- The lowest scores first, then what has none because a judge failed; or in the order of the dataset.
SELECT key, id, state, verdict, value, count(*) OVER () FROM units
    WHERE state IN ('invalid', 'missing') OR (state = 'valid' AND value < $below)
    ORDER BY CASE WHEN $worst_first THEN value ELSE 0 END NULLS LAST, sample LIMIT $limit

-- name: disagreements
-- Keys are digests: between equals they are a fair lot. Names are looked up for what is shown only.
WITH chosen AS (SELECT sample, spread, verdicts FROM rated WHERE verdicts > 1 OR spread > 0
    ORDER BY spread DESC, verdicts DESC, key LIMIT $limit),
told AS (SELECT sample, list(row(judge, value::DOUBLE, verdict) ORDER BY value, judge) AS judges
    FROM opinions WHERE state = 'valid' AND sample IN (SELECT sample FROM chosen) GROUP BY sample)
SELECT id, target, variant, question_id, spread, verdicts, judges
    FROM chosen JOIN told USING (sample) JOIN units USING (sample)
    ORDER BY spread DESC, verdicts DESC, id

-- name: rated
-- Samples with at least two opinions: one column a judge for what it said, and one for its score.
CREATE OR REPLACE TEMP TABLE rated AS
    SELECT opinions.sample, any_value(units.key) AS key, any_value(units.question) AS question, {columns},
        count(DISTINCT coalesce(opinions.verdict, '')) AS verdicts, max(opinions.value) - min(opinions.value) AS spread
    FROM opinions JOIN units USING (sample) JOIN verdict_order AS named
        ON named.verdict = coalesce(opinions.verdict, '')
    WHERE opinions.state = 'valid' GROUP BY opinions.sample HAVING count(*) > 1

-- name: verdict_order
-- From the lowest score to the highest.
CREATE OR REPLACE TEMP TABLE verdict_order AS
    SELECT coalesce(verdict, '') AS verdict, row_number() OVER (ORDER BY avg(value), coalesce(verdict, '')) - 1 AS place
    FROM opinions WHERE state = 'valid' GROUP BY coalesce(verdict, '')

-- name: rated_sizes
SELECT count(*), count(DISTINCT question), coalesce(avg(spread), 0) FROM rated

-- name: pattern_count
SELECT count(*) FROM (SELECT DISTINCT {scores} FROM rated WHERE key <= $highest_key)

-- name: unanimous
SELECT question, CASE WHEN verdicts = 1 THEN 1.0 ELSE 0.0 END AS value, 0.0 AS lowest, 1.0 AS highest FROM rated

-- name: question_groups
-- Questions in groups in the order of their names, so that the same run gives the same interval.
CREATE OR REPLACE TEMP TABLE question_groups AS
    SELECT question, ((row_number() OVER (ORDER BY question) - 1) % $groups)::INTEGER AS question_group
    FROM (SELECT DISTINCT question FROM {source})

-- name: patterns
-- Keys are digests: those below a limit are a fair draw of the samples.
SELECT question_group, {columns}, count(*) FROM rated JOIN question_groups USING (question) WHERE key <= $highest_key
    GROUP BY question_group, {columns} ORDER BY ALL

-- name: repeated
-- Only samples with at least two valid takes of a judge can show a spread.
CREATE OR REPLACE TEMP TABLE repeated AS
    SELECT judge, judge_order, question, n, verdicts, mean, within
    FROM (SELECT judge, judge_order, sample_position AS sample, count(*) AS n, count(DISTINCT verdict) AS verdicts,
            avg(score) AS mean, var_pop(score) * count(*) AS within
        FROM judged WHERE status = 'valid' AND NOT is_control GROUP BY judge, judge_order, sample HAVING count(*) > 1)
    JOIN units USING (sample)

-- name: TakeSums
SELECT judge, question_group, count(*), sum(n)::BIGINT, sum(n * n)::DOUBLE, sum(within),
        sum(n * mean * mean), sum(n * mean)
    FROM repeated JOIN question_groups USING (question)
    GROUP BY judge, judge_order, question_group ORDER BY judge_order, judge, question_group

-- name: repeated_alike
SELECT judge, question, CASE WHEN verdicts = 1 THEN 1.0 ELSE 0.0 END AS value, 0.0 AS lowest, 1.0 AS highest
    FROM repeated

-- name: named
-- A column of the samples table, or a value in the journal.
CREATE OR REPLACE TEMP TABLE named AS SELECT key, {column}::VARCHAR AS name FROM samples

-- name: named_in_journal
CREATE OR REPLACE TEMP TABLE named AS
    SELECT key, any_value(coalesce(json_extract_string(sample.metadata, $pointer), {own})) AS name
    FROM read_json($journal, format = 'newline_delimited', ignore_errors = true, maximum_object_size = $object_bytes,
        columns = {columns})
    WHERE t = 'sample' GROUP BY key

-- name: names_in_journal
-- What samples carry beyond their own columns.
SELECT DISTINCT unnest(json_keys(sample.metadata)) AS name
    FROM read_json($journal, format = 'newline_delimited', ignore_errors = true, maximum_object_size = $object_bytes,
        columns = {columns})
    WHERE t = 'sample' ORDER BY name

-- name: filled_columns
SELECT {columns} FROM samples
