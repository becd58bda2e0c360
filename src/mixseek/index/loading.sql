-- From the lines of a journal to the tables of its index.
--
-- A line that cannot be parsed comes out as nulls and is dropped by the filter on `t`; the loader compares the number of
-- rows with the number of lines. Positions are given when the rows are in their table: counting them on the way would
-- take all cores but one away. One call takes all places out of a JSON: half the time of ten calls.

-- name: sample
-- `shown` tells whether two samples show a judge the same. Where the response is not there, or not known, it is null.
-- How a response ended is the rule of `datasets.endings`, as SQL (`response_state`).
-- DuckDB's own hash takes a tenth of the time of md5; another DuckDB may have another, so its index is made anew.
INSERT INTO samples
    SELECT key, NULL, sample.id, sample.task_name, sample.task_type, sample.question_id, sample.prompt_variant,
        sample.target_model, sample.output_id, sample.metadata.language,
        CASE WHEN 'true' IN (sample.metadata.planned_without_output, sample.metadata.response_unknown) THEN NULL ELSE
            hash(sample.question, sample.response, sample.ground_truth, sample.ground_truth_alternatives, sample.rubric,
                sample.task_type, sample.response_b, steps_digest) END,
        sample.target_b, length(sample.response), length(sample.response_b), sample.metadata.human_preference,
        [state_a], [state_b]
    FROM read_json($journal, format = 'newline_delimited', ignore_errors = true, maximum_object_size = $object_bytes,
        columns = {t: 'VARCHAR', key: 'VARCHAR', steps_digest: 'VARCHAR', sample: 'STRUCT(id VARCHAR, question_id VARCHAR, prompt_variant VARCHAR,
            target_model VARCHAR, output_id VARCHAR, task_name VARCHAR, task_type VARCHAR, question VARCHAR,
            response VARCHAR, ground_truth VARCHAR, rubric VARCHAR, ground_truth_alternatives VARCHAR[],
            response_b VARCHAR, target_b VARCHAR,
            metadata STRUCT(language VARCHAR, human_preference VARCHAR, [metadata]))'})
    WHERE t = 'sample'

-- name: response_state
-- The state that the data give, else what the reason for the end tells, else what the text does. The reasons are one text
-- with a mark around each: a list that is looked into becomes a join, and a join does not keep the order of the lines.
CASE WHEN contains($states, chr(31) || regexp_replace(lower({given}), '[^a-z]+', '_', 'g') || chr(31))
        THEN regexp_replace(lower({given}), '[^a-z]+', '_', 'g')
    WHEN contains($cut_off_reasons, chr(31) || regexp_replace(lower({reason}), $reason_marks, '', 'gs') || chr(31))
        THEN 'cut_off'
    WHEN contains($withheld_reasons, chr(31) || regexp_replace(lower({reason}), $reason_marks, '', 'gs') || chr(31))
        THEN 'withheld'
    WHEN {is_absent} OR {response} IS NULL THEN NULL
    WHEN NOT regexp_matches({response}, $opens)
        THEN CASE WHEN regexp_matches({response}, $blank) THEN 'empty' ELSE 'finished' END
    WHEN regexp_matches(regexp_replace({response}, $done, ''), $opens) THEN 'cut_off'
    WHEN regexp_matches(regexp_replace({response}, $block, '', 'g'), $blank) THEN 'empty'
    ELSE 'finished' END

-- name: reply
-- Details are cast with care: recorded replies bring what their recorder wrote, of any type. `requests` are those of the
-- try that was answered: a judge may have to learn first how its endpoint wants to be asked. `judge_model` is who gave a
-- recorded reply; such a reply does not say which take it is: there is one.
INSERT INTO replies
    SELECT key, NULL, judge, attempt, coalesce(try_cast(said[1] AS INTEGER), 1), try_cast(said[2] AS BOOLEAN),
        try_cast(said[3] AS INTEGER), try_cast(said[4] AS INTEGER), try_cast(said[5] AS INTEGER),
        try_cast(said[6] AS DOUBLE), said[7], said[8], try_cast(said[9] AS BIGINT), try_cast(said[10] AS BIGINT),
        try_cast(said[11] AS BIGINT), try_cast(said[12] AS DECIMAL(24, 12)), said[13],
        coalesce(said[14], 'plain'), said[15] IS NOT NULL, try_cast(said[16] AS BIGINT), try_cast(said[17] AS BIGINT),
        said[18] IS NOT NULL, try_cast(said[19] AS DECIMAL(24, 12)), try_cast(said[20] AS DECIMAL(24, 12))
    FROM (
        SELECT key, judge, attempt, json_extract_string(details, ['$.take', '$.cached', '$.ask', '$.tries',
            '$.requests', '$.latency_seconds', '$.finish_reason', '$.model', '$.usage.input_tokens',
            '$.usage.output_tokens', '$.usage.cached_input_tokens', '$.cost_usd', '$.judge_model', '$.presentation',
            '$.masked_keys_in', '$.usage.cache_write_tokens', '$.usage.reasoning_tokens', '$.batch',
            '$.saved_by_cache_usd', '$.saved_by_batch_usd']) AS said
        FROM read_json($journal, format = 'newline_delimited', ignore_errors = true,
            maximum_object_size = $object_bytes,
            columns = {t: 'VARCHAR', key: 'VARCHAR', judge: 'VARCHAR', attempt: 'INTEGER', details: 'JSON'})
        WHERE t = 'reply')

-- name: outcome
-- Whether the extracted answer stands in the response is null where nobody looked. Warnings and findings of checks are
-- JSON lists.
INSERT INTO outcomes
    SELECT key, NULL, judge, coalesce(list_position($judges, judge), len($judges) + 1), coalesce(take, 1), true,
        status, method, score, verdict, try_cast(said[1] AS BOOLEAN), said[2], try_cast(said[3] AS INTEGER), said[4],
        try_cast(said[5] AS BOOLEAN), said[6], said[7], fields, span, rules, flags, repairs, reason,
        coalesce(method = 'self_judge', false), coalesce(permanent, false), coalesce(lost_tries, 0),
        lost_bill, confidence.value, confidence.source, confidence.shares, confidence.outside, expected_score,
        coalesce(try_cast(said[8] AS BOOLEAN), false), said[9]
    FROM (
        SELECT *, json_extract_string(fields, ['$.is_correct', '$.extracted_answer', '$.reasoning_score',
            '$.error_type', '$.extraction_verified', '$.warnings', '$.checks', '$.is_unexplained',
            '$.no_confidence']) AS said
        FROM read_json($journal, format = 'newline_delimited', ignore_errors = true,
            maximum_object_size = $object_bytes,
            columns = {t: 'VARCHAR', key: 'VARCHAR', judge: 'VARCHAR', status: 'VARCHAR', method: 'VARCHAR',
                score: 'DOUBLE', verdict: 'VARCHAR', fields: 'JSON', span: 'BIGINT[]', rules: 'VARCHAR[]',
                flags: 'STRUCT(flag VARCHAR, detail VARCHAR)[]', repairs: 'VARCHAR[]', reason: 'VARCHAR',
                take: 'INTEGER', permanent: 'BOOLEAN', lost_tries: 'INTEGER', expected_score: 'DOUBLE',
                confidence: 'STRUCT(value DOUBLE, source VARCHAR, shares VARCHAR, outside DOUBLE)',
                lost_bill: 'STRUCT(input_tokens BIGINT, output_tokens BIGINT, cost_usd DECIMAL(24, 12))'})
        WHERE t = 'outcome')

-- name: texts
-- Samples with their texts, from a part of the journal: what an export adds to the index.
SELECT key, any_value(sample) AS sample
    FROM read_json($texts, format = 'newline_delimited', ignore_errors = true, maximum_object_size = $object_bytes,
        columns = {t: 'VARCHAR', key: 'VARCHAR', sample: 'STRUCT(id VARCHAR, response VARCHAR, question VARCHAR,
            ground_truth VARCHAR, ground_truth_alternatives VARCHAR[], question_id VARCHAR, prompt_variant VARCHAR,
            target_model VARCHAR, output_id VARCHAR, task_name VARCHAR, task_type VARCHAR, response_b VARCHAR,
            target_b VARCHAR, steps JSON, steps_b JSON, contexts JSON)'})
    WHERE t = 'sample' GROUP BY key

-- name: give_positions
-- DuckDB keeps the order of the file when it inserts, on however many cores.
UPDATE {table} SET position = rowid - (SELECT min(rowid) FROM {table} WHERE position IS NULL) + 1 + $before
    WHERE position IS NULL

-- name: drop_after
-- What was written to the journal since it was measured.
DELETE FROM {table} WHERE position > $last

-- name: last_position
SELECT max(position) FROM {table}

-- name: line_counts
SELECT kind, sum(lines)::BIGINT FROM places GROUP BY kind

-- name: orphans
-- What was judged must have been taken up; else its numbers would stand for no sample, or be missing for ever.
SELECT DISTINCT key FROM (SELECT key FROM replies UNION ALL SELECT key FROM outcomes)
    ANTI JOIN samples USING (key) ORDER BY 1

-- name: counts
-- Samples and outcomes, each with how many differ, and how many of those are first takes.
SELECT (SELECT count(*) FROM samples), (SELECT count(DISTINCT key) FROM samples), (SELECT count(*) FROM outcomes),
    count(*), count(*) FILTER (take = 1)
    FROM (SELECT DISTINCT key, judge, take FROM outcomes)

-- name: keep_first_sample
-- A sample taken up twice (a run was killed in between) stands where it first stood.
DELETE FROM samples WHERE position NOT IN (SELECT min(position) FROM samples GROUP BY key)

-- name: keep_last_outcome
-- A judge asked again because nothing had come: the last outcome counts.
DELETE FROM outcomes WHERE position NOT IN (SELECT max(position) FROM outcomes GROUP BY key, judge, take)

-- name: add_missing
-- What was taken up and never judged is missing, for every judge that was due: all of them, or, in a cascade, those that
-- no valid judgment stands before. Positions are negative: no line of the journal says it.
INSERT INTO outcomes BY NAME
    SELECT due.key AS key, -row_number() OVER () AS position, due.judge AS judge, due.judge_order AS judge_order,
        1 AS take, true AS is_final, 'missing' AS status, $reason AS reason, [] AS rules, [] AS flags, [] AS repairs,
        '{}' AS fields, false AS is_control, false AS is_permanent, 0 AS lost_tries
    FROM (
        SELECT samples.key, named.judge, named.judge_order FROM samples,
            (SELECT unnest($judges) AS judge, generate_subscripts($judges, 1) AS judge_order) AS named
    ) AS due
    ANTI JOIN outcomes AS told ON told.key = due.key AND (told.judge_order = due.judge_order
        OR ($cascade AND told.judge_order < due.judge_order AND told.status = 'valid'))

-- name: count_judged_samples
-- While somebody judges, a sample that nobody has judged yet is in flight: not reached, as those that were not read.
UPDATE facts SET samples = (SELECT count(DISTINCT key) FROM outcomes)

-- name: mark_final
-- In a cascade the last judge asked has the last word.
UPDATE outcomes SET is_final = (key, judge_order) IN (SELECT (key, max(judge_order)) FROM outcomes GROUP BY key)

-- name: targets
SELECT DISTINCT target_model FROM samples WHERE target_model IS NOT NULL

-- name: models
SELECT DISTINCT judge_model FROM replies WHERE judge_model IS NOT NULL

-- name: own_pairs
-- What valid judgments say: a protocol may have a table of its own of which names mean one model.
SELECT DISTINCT coalesce(judge_model, judge), target_model FROM judged_by_model WHERE is_control

-- name: mark_controls
-- An unusable or absent reply of a model about its own output belongs to the control group too; only valid judgments
-- carry their method in the journal.
UPDATE outcomes SET is_control = true WHERE position IN (
    SELECT position FROM judged_by_model
    JOIN (SELECT unnest($judges) AS judge, unnest($targets) AS target) AS pairs
        ON pairs.judge = coalesce(judge_model, judged_by_model.judge) AND pairs.target = target_model
    WHERE status IN ('invalid', 'missing'))

-- name: first_valid
-- A protocol gives every valid judgment the same fields: one of them tells whether there are dimensions.
SELECT json_exists(fields, '$.scores') FROM outcomes WHERE status = 'valid' LIMIT 1

-- name: drop_replaced
-- What belongs to an outcome that another one has taken the place of.
DELETE FROM {table} WHERE position NOT IN (SELECT position FROM outcomes)

-- name: fill_scored
-- What an unnamed recording says of its judge is better than the name of the file that it stood in.
INSERT INTO scored
    SELECT position, key, id,
        coalesce(judge_model, CASE WHEN judge = 'replay' OR starts_with(judge, 'replay:') THEN said[6] END, judge),
        judge_order, question_id, prompt_variant, target_model, language, coalesce(said[5], task_type), status, verdict,
        score, try_cast(said[1] AS DOUBLE), said[2], is_control, coalesce(try_cast(said[3] AS BOOLEAN), false),
        coalesce(try_cast(said[4] AS BOOLEAN), false) OR coalesce(list_contains(gates, 'true'), false)
    FROM (
        SELECT *, json_extract_string(fields, ['$.total_maximum', '$.confidence', '$.same_family', '$.critical_fail',
                '$.task_type', '$.identity.judge_model']) AS said,
            json_extract_string(fields, '$.gates.*.failed') AS gates
        FROM judged_by_model)

-- name: fill_dimension_scores
-- A dimension without a number, or with a maximum of nought, has no place on a scale.
INSERT INTO dimension_scores
    SELECT position, dimension.key, number, dimension.value, maxima[dimension.key]
    FROM (
        SELECT position, maxima, unnest(map_entries(scores)) AS dimension, generate_subscripts(map_keys(scores), 1)
            AS number
        FROM (SELECT position, try_cast(json_extract(fields, '$.scores') AS MAP(VARCHAR, DOUBLE)) AS scores,
                try_cast(json_extract(fields, '$.maxima') AS MAP(VARCHAR, DOUBLE)) AS maxima
            FROM outcomes WHERE position > $after AND status = 'valid')
    ) WHERE dimension.value IS NOT NULL AND maxima[dimension.key] > 0

-- name: fill_evidence
-- Invalid judgments too: a judge that invents quotes is found out by these. One that was not looked for says nothing.
INSERT INTO evidence
    SELECT position, item.dimension, item.stage, item.problem, left(item.quote, 200)
    FROM (SELECT position, unnest(from_json(json_extract(fields, '$.evidence'),
            '[{"dimension":"VARCHAR","stage":"VARCHAR","problem":"VARCHAR","quote":"VARCHAR"}]')) AS item
        FROM outcomes WHERE position > $after AND status IN ('valid', 'invalid'))
    WHERE item.stage IS NOT NULL OR item.problem IS NOT NULL

-- name: facts
-- What a run has, so that nobody asks for what it has not: to plan a small question takes longer than to answer it. The
-- fields of RunFacts; the first five are the run as a whole, each sample by the judge that had the last word.
CREATE OR REPLACE TABLE facts AS SELECT * FROM
    (SELECT count(*) FILTER (is_whole AND status = 'valid') AS valid,
        count(*) FILTER (is_whole AND status = 'invalid') AS invalid,
        count(*) FILTER (is_whole AND status = 'undecided') AS undecided,
        count(*) FILTER (is_whole AND status = 'missing') AS missing,
        avg(score) FILTER (is_whole AND status = 'valid') AS mean_score,
        coalesce(max(take), 1) > 1 AS has_repeats,
        count(*) FILTER (status = 'valid' AND score NOT IN (0, 1)) > 0 AS is_graded,
        count(*) FILTER (is_control) > 0 AS has_controls,
        count(*) FILTER (is_final AND is_permanent AND status = 'missing') AS missing_for_good,
        count(*) FILTER (NOT is_control AND list_contains(rules, $needs_maths)) AS needs_maths,
        count(*) FILTER (lost_tries > 0) > 0 AS has_lost_tries, count(*) FILTER (len(flags) > 0) > 0 AS has_flags,
        count(reason) > 0 AS has_reasons, count(*) FILTER (len(warnings) > 2) > 0 AS has_warnings,
        count(reasoning_score) > 0 AS has_reasoning_scores, count(checks) > 0 AS has_checks,
        count(*) FILTER (confidence_source IS NOT NULL OR no_confidence IS NOT NULL OR is_unexplained) > 0
            AS has_confidences
        FROM (SELECT *, is_final AND NOT is_control AS is_whole FROM outcomes)),
    (SELECT count(*) AS samples, count(length_b) > 0 AS has_pairs,
        count(coalesce(target_model, target_b)) > 0 AS has_targets, count(prompt_variant) > 0 AS has_variants,
        count(task_name) > 0 AS has_tasks,
        count(*) FILTER (response_state <> 'finished' OR response_state_b <> 'finished') > 0 AS has_unfinished
        FROM samples),
    (SELECT count(*) > 0 AS has_replies, count(is_cached) > 0 AS has_calls, count(judge_model) > 0 AS has_models
        FROM replies),
    (SELECT count(*) > 0 AS has_scores, CASE WHEN min(maximum) FILTER (status = 'valid' AND NOT is_control)
        = max(maximum) FILTER (status = 'valid' AND NOT is_control)
        THEN max(maximum) FILTER (status = 'valid' AND NOT is_control) END AS maximum FROM scored)
