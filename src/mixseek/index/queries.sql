-- What RunIndex asks: grouping and choosing; texts are read from the journal, at the places that this says. A query
-- that bears the name of a type gives its fields. Reasons may be as many as rows: the most frequent are enough.
-- A model on its own output is a control, beside all statistics and in none of them.

-- name: OutcomeCount
-- Sums of valid scores only: an invalid judgment has no number to add.
SELECT judge, task_name, status, verdict, error_type, count(*),
    coalesce(sum(score) FILTER (status = 'valid'), 0), coalesce(sum(score * score) FILTER (status = 'valid'), 0),
    is_control, count(*) FILTER (is_unverified), target_model,
    count(*) FILTER (ended = 'cut_off'), count(*) FILTER (ended = 'withheld'), count(*) FILTER (ended = 'empty')
    FROM (SELECT *, {ended} AS ended FROM judged) WHERE is_final OR NOT $final_only
    GROUP BY judge, judge_order, task_name, target_model, status, verdict, error_type, is_control
    ORDER BY judge_order, judge, task_name NULLS LAST, target_model NULLS LAST, status, verdict, error_type, is_control

-- name: last_words
-- Verdicts that count although no certificate lets them: the last judge of a cascade had the last word.
SELECT count(*) FROM outcomes WHERE status = 'valid' AND json_extract_string(fields, '$.last_word') = 'true'

-- name: ConfidenceSums
-- By judge and source; a written word has no shares, and is no probability. Of judges or takes that agree, the share is.
SELECT judge, confidence_source, count(*), any_value(valid) - count(*),
    count(*) FILTER (is_share), avg(confidence_value) FILTER (is_share),
    avg(score) FILTER (expected_score IS NOT NULL), avg(expected_score)
    FROM (SELECT *, count(*) OVER (PARTITION BY judge) AS valid,
        coalesce(confidence_shares, '{}') <> '{}' OR confidence_source IN ('panel', 'repeats') AS is_share
        FROM outcomes WHERE status = 'valid' AND NOT is_control)
    WHERE confidence_source IS NOT NULL GROUP BY judge, judge_order, confidence_source
    ORDER BY judge_order, judge, confidence_source

-- name: OrderCount
SELECT judge, status, verdict, state, verdict_ab, verdict_ba, human, count(*)
    FROM pair_votes WHERE NOT is_control
    GROUP BY judge, judge_order, status, verdict, state, verdict_ab, verdict_ba, human
    ORDER BY judge_order, judge, status, verdict, state, verdict_ab, verdict_ba, human

-- name: pair_measures
-- One row a pair, judge and measure, repeats averaged. Consistency and the place that is followed are measured where both
-- orders name a winner; `tie` and `human` where both together came to a verdict.
WITH told AS (SELECT * FROM pair_votes WHERE NOT is_control),
decisive AS (SELECT * FROM told WHERE verdict_ab IN ('A', 'B') AND verdict_ba IN ('A', 'B')),
measured AS (
    SELECT key, question, judge, 'consistency' AS measure, (verdict_ab = verdict_ba)::DOUBLE AS value FROM decisive
    UNION ALL SELECT key, question, judge, 'first_shown',
        ((verdict_ab = 'A')::INTEGER + (verdict_ba = 'B')::INTEGER) / 2 FROM decisive
    UNION ALL SELECT key, question, judge, 'tie', (verdict = 'tie')::DOUBLE FROM told WHERE status = 'valid'
    UNION ALL SELECT key, question, judge, 'human', (verdict = human)::DOUBLE FROM told
        WHERE status = 'valid' AND human IS NOT NULL)
SELECT judge, measure, any_value(question) AS question, avg(value) AS value, avg(value) AS lowest, avg(value) AS highest
    FROM measured GROUP BY judge, measure, key

-- name: FailureGroup
-- The first finding of each says what is wrong.
SELECT judge, status, any_value(why ORDER BY position), count(*), any_value(id ORDER BY position)
    FROM (SELECT *, CASE WHEN len(flags) > 0 THEN flags[1].flag || ': ' || flags[1].detail
            ELSE coalesce(reason, 'no reason recorded') END AS why
        FROM judged WHERE status IN ('invalid', 'missing'))
    GROUP BY judge, judge_order, status, regexp_replace(why, $own_parts, '_', 'g')
    ORDER BY count(*) DESC, judge_order, status, min(position)

-- name: WarningCount
-- A judgment may carry several warnings.
SELECT judge, warning, count(*)
    FROM (SELECT judge, judge_order, unnest(from_json(warnings, '["VARCHAR"]')) AS warning
        FROM outcomes WHERE status = 'valid' AND NOT is_control AND len(warnings) > 2)
    GROUP BY judge, judge_order, warning ORDER BY judge_order, judge, count(*) DESC, warning

-- name: ConfidenceCount
SELECT judge, confidence_source, count(*), count(*) FILTER (is_unexplained),
        mode(no_confidence ORDER BY no_confidence) FILTER (confidence_source IS NULL)
    FROM outcomes WHERE status = 'valid' AND NOT is_control AND method <> 'rules'
    GROUP BY judge, judge_order, confidence_source ORDER BY judge_order, judge, confidence_source NULLS LAST

-- name: ReasoningCount
SELECT judge, task_name, target_model, reasoning_score, is_correct, count(*)
    FROM judged WHERE status = 'valid' AND NOT is_control AND reasoning_score IS NOT NULL AND is_correct IS NOT NULL
    GROUP BY judge, judge_order, task_name, target_model, reasoning_score, is_correct
    ORDER BY judge_order, judge, task_name NULLS LAST, target_model NULLS LAST, reasoning_score, is_correct

-- name: ReaskCount
-- A reply asked for after an invalid one has a number above 1; recorded replies have none, and are asked for once.
-- A first reply was invalid if another one was asked for, or if it was the last and its judgment is.
SELECT judge, count(*), count(*) FILTER (asks > 1), count(*) FILTER (asks > 1 OR status = 'invalid')
    FROM (SELECT key, judge, take, max(coalesce(ask, 1)) AS asks FROM replies GROUP BY key, judge, take)
    JOIN outcomes USING (key, judge, take)
    GROUP BY judge, judge_order ORDER BY judge_order, judge

-- name: TakeSpread
-- Only samples with at least two valid takes can show a spread.
SELECT judge, count(*), count(*) FILTER (verdicts = 1), avg(spread)
    FROM (SELECT judge, judge_order, key, count(DISTINCT verdict) AS verdicts, stddev_pop(score) AS spread
        FROM outcomes WHERE status = 'valid' GROUP BY judge, judge_order, key HAVING count(*) > 1)
    GROUP BY judge, judge_order ORDER BY judge_order, judge

-- name: CheckCount
-- The findings of a sample are the same whoever judged it.
SELECT item.check, target_model, count(*) FILTER (item.state = 'failed'), count(*) FILTER (item.state = 'passed'),
    count(*) FILTER (item.state = 'not_applicable')
    FROM (SELECT target_model, unnest(from_json(checks, '[{"check":"VARCHAR","state":"VARCHAR"}]')) AS item
        FROM (SELECT key, any_value(target_model) AS target_model, any_value(checks ORDER BY position) AS checks
            FROM judged WHERE checks IS NOT NULL GROUP BY key))
    GROUP BY item.check, target_model ORDER BY item.check, target_model NULLS LAST

-- name: RuleCount
-- A rule that stands twice in a trace counts once.
SELECT judge, rule, status, count(*), coalesce(sum(score) FILTER (status = 'valid'), 0)
    FROM (SELECT judge, judge_order, status, score, unnest(list_distinct(rules)) AS rule
        FROM outcomes WHERE NOT is_control)
    GROUP BY judge, judge_order, rule, status ORDER BY judge_order, judge, count(*) DESC, rule, status

-- name: FlagCount
SELECT judge, flag.flag, any_value(flag.detail ORDER BY position) AS first, count(*), count(DISTINCT flag.detail)
    FROM (SELECT judge, judge_order, position, unnest(flags) AS flag FROM outcomes
        WHERE status = 'invalid' AND NOT is_control)
    GROUP BY judge, judge_order, flag.flag, regexp_replace(flag.detail, $own_parts, '_', 'g')
    ORDER BY count(*) DESC, judge_order, flag.flag, first LIMIT 1000

-- name: ReasonCount
SELECT judge, status, any_value(reason ORDER BY position) AS first, count(*), count(DISTINCT reason)
    FROM outcomes WHERE reason IS NOT NULL AND NOT is_control
    GROUP BY judge, judge_order, status, regexp_replace(reason, $own_parts, '_', 'g')
    ORDER BY count(*) DESC, judge_order, status, first LIMIT 1000

-- name: call_totals
-- Only live judges write down whether a reply came from the cache: that tells their replies from recorded ones.
-- Replies from the cache cost nothing and say nothing about the endpoint: they are counted, and left out of the rest.
SELECT judge, count(*) FILTER (NOT is_cached) AS calls, count(*) FILTER (is_cached) AS cached,
    coalesce(sum(coalesce(tries, 1) + coalesce(requests, 1) - 1) FILTER (NOT is_cached), 0) AS tries,
    count(*) FILTER (NOT is_cached AND ask > 1) AS reasks,
    coalesce(sum(input_tokens) FILTER (NOT is_cached), 0) AS input_tokens,
    coalesce(sum(output_tokens) FILTER (NOT is_cached), 0) AS output_tokens,
    coalesce(sum(cached_input_tokens) FILTER (NOT is_cached), 0) AS cached_input_tokens,
    count(*) FILTER (NOT is_cached AND (input_tokens IS NULL OR output_tokens IS NULL)) AS uncounted,
    coalesce(sum(cost_usd) FILTER (NOT is_cached), 0) AS cost_usd,
    count(*) FILTER (NOT is_cached AND cost_usd IS NULL) AS unpriced,
    quantile_cont(latency_seconds, [0.5, 0.9, 0.99]) FILTER (NOT is_cached) AS latency,
    coalesce(list_sort(list(DISTINCT model) FILTER (model IS NOT NULL)), []) AS models,
    count(*) FILTER (is_masked) AS masked,
    coalesce(sum(cache_write_tokens) FILTER (NOT is_cached), 0) AS cache_write_tokens,
    coalesce(sum(reasoning_tokens) FILTER (NOT is_cached), 0) AS reasoning_tokens,
    count(*) FILTER (NOT is_cached AND is_batched) AS batched,
    coalesce(sum(saved_by_cache_usd) FILTER (NOT is_cached), 0) AS saved_by_cache_usd,
    coalesce(sum(saved_by_batch_usd) FILTER (NOT is_cached), 0) AS saved_by_batch_usd
    FROM replies WHERE is_cached IS NOT NULL GROUP BY judge
    ORDER BY list_position((SELECT judges FROM index_state), judge) NULLS LAST, judge

-- name: lost_tries
-- Requests that brought no reply: of calls that were given up, whatever became of their samples; and their bill.
SELECT judge, sum(lost_tries), coalesce(sum(lost_bill.input_tokens), 0)::BIGINT,
        coalesce(sum(lost_bill.output_tokens), 0)::BIGINT, coalesce(sum(lost_bill.cost_usd), 0)::DECIMAL(24, 12)
    FROM outcomes WHERE lost_tries > 0 GROUP BY judge, judge_order ORDER BY judge_order, judge

-- name: finish_reasons
SELECT judge, finish_reason, count(*) FROM replies WHERE NOT is_cached AND finish_reason IS NOT NULL
    GROUP BY judge, finish_reason ORDER BY count(*) DESC, finish_reason

-- name: only_models
-- Live judges are known by their own names; a recorded reply may say whose it is.
SELECT judge, judge_model FROM only_models

-- name: choose
-- With the last attempt in each presentation, which is one that was judged.
WITH chosen AS MATERIALIZED (
    SELECT position, sample_position, key, judge, take, status, is_final, is_control, reason, judge_order
    FROM judged
    WHERE ($status IS NULL OR status = $status){kinds}
    ORDER BY sample_position, judge_order, judge, take LIMIT $limit)
SELECT chosen.* EXCLUDE (judge_order), said
    FROM chosen LEFT JOIN (
        SELECT key, judge, take, list(last ORDER BY last) AS said FROM (
            SELECT key, judge, take, max(position) AS last FROM replies SEMI JOIN chosen USING (key)
            GROUP BY key, judge, take, presentation) GROUP BY key, judge, take) AS told USING (key, judge, take)
    ORDER BY sample_position, judge_order, judge, take

-- name: some_of_each_kind
-- Keys are digests, so their order is a fair lot, and the same one every time. A score of nought is a kind of its own:
-- critical fails, which a report lists first, are among them.
 AND position IN (
        SELECT unnest(arg_min(position, key || '-' || take, $per_kind)) FROM outcomes
        GROUP BY judge, status, coalesce(score < 0.5, false), coalesce(score = 0, false))

-- name: find
SELECT position, sample_position, key, judge, take, status, is_final, is_control, reason
    FROM judged WHERE id = $sample_id ORDER BY judge_order, judge, take

-- name: rows_of
SELECT position, sample_position, key, judge, take, status, is_final, is_control, reason
    FROM judged JOIN (SELECT unnest($keys) AS key) AS wanted USING (key)
    ORDER BY sample_position, judge_order, judge, take

-- name: similar
SELECT id FROM samples ORDER BY levenshtein(left(id, 100), left($sample_id, 100)), position LIMIT $limit

-- name: last_replies
-- The last attempt in each presentation is one that was judged.
SELECT key, judge, take, list(last ORDER BY last) FROM (
    SELECT key, judge, take, max(position) AS last FROM replies JOIN (SELECT unnest($keys) AS key) AS page USING (key)
    GROUP BY key, judge, take, presentation) GROUP BY key, judge, take

-- name: records_of
SELECT samples.position, replies.position FROM samples LEFT JOIN replies USING (key)
    WHERE samples.id = $sample_id ORDER BY replies.position

-- name: places
SELECT first, offsets FROM places WHERE kind = $kind ORDER BY first

-- name: takes
-- Every judgment with all its replies, in the order of the dataset.
SELECT position, sample_position, judge, take, coalesce(said, [])
    FROM judged LEFT JOIN (SELECT key, judge, take, list(position ORDER BY position) AS said FROM replies
        GROUP BY key, judge, take) AS told USING (key, judge, take)
    ORDER BY sample_position, judge_order, judge, take
