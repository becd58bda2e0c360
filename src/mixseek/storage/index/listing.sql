-- All judgments of a run as one flat table, in the order of the dataset: what the viewer filters, sorts and pages.
-- `run` is the index, attached; texts stay in the journal. A row is known by its rowid.

-- name: build
CREATE TABLE listed AS
    SELECT outcomes.position AS outcome, samples.position AS sample, last.reply, judge, take, status, is_final,
        is_control, verdict, score, error_type AS error, reasoning_score AS reasoning, id, task_name AS task,
        target_model AS target, prompt_variant AS variant, rules, list_transform(flags, lambda one: one.flag) AS flags,
        CASE WHEN len(warnings) > 2 THEN from_json(warnings, '["VARCHAR"]') END AS warnings, gated.gates, quoted.quotes,
        coalesce(status = 'valid' AND is_correct AND NOT is_verified, false) AS is_unverified
    FROM run.outcomes JOIN run.samples USING (key)
    LEFT JOIN (SELECT key, judge, take, max(position) AS reply FROM run.replies GROUP BY key, judge, take) AS last
        USING (key, judge, take)
    LEFT JOIN (SELECT position, list(DISTINCT problem) AS quotes FROM run.evidence WHERE problem IS NOT NULL
        GROUP BY position) AS quoted ON quoted.position = outcomes.position
    LEFT JOIN (SELECT position, coalesce(nullif(list_filter(json_keys(fields, '$.gates'),
            lambda gate: json_extract_string(fields, '$.gates."' || gate || '".failed') = 'true'), []),
            ['critical_fail']) AS gates
        FROM run.outcomes WHERE position IN (SELECT position FROM run.scored WHERE is_critical)) AS gated
        ON gated.position = outcomes.position
    ORDER BY samples.position, judge_order, judge, take

-- name: dimensions
SELECT dimension FROM run.dimension_scores GROUP BY dimension ORDER BY min(dimension_order), dimension

-- name: count
SELECT count(*) FROM listed WHERE {where}

-- name: page
SELECT rowid FROM listed WHERE {where} ORDER BY {order} LIMIT $limit OFFSET $offset

-- name: before
-- How many of what is listed stand before a judgment, in the order of the dataset.
SELECT count(*) FROM listed WHERE {where} AND rowid < (SELECT min(rowid) FROM listed WHERE id = $named
    AND ($by IS NULL OR judge = $by) AND ($repeat IS NULL OR take = $repeat))

-- name: places
-- With where each stands in the journal, as RunIndex reads it.
SELECT listed.rowid, outcome, sample, outcomes.key, listed.judge, listed.take, listed.status, listed.is_final,
    listed.is_control, reason, reply
    FROM listed JOIN run.outcomes ON outcomes.position = outcome WHERE listed.rowid IN (SELECT unnest($chosen))

-- name: choice
SELECT value, count(*) FROM (SELECT {value} AS value FROM listed) WHERE value IS NOT NULL
    GROUP BY value ORDER BY count(*) DESC, value LIMIT $limit

-- name: outcomes
SELECT CASE WHEN status = 'valid' THEN coalesce(verdict, status) ELSE status END AS word, status, count(*), avg(score)
    FROM listed GROUP BY word, status ORDER BY status <> 'valid', avg(score) DESC, status, word
