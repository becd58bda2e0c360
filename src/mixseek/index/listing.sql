-- All judgments of a run as one flat table, in the order of the dataset: what the viewer filters, sorts and pages.
-- `run` is the index, attached; texts stay in the journal. A row is known by its rowid, and rows are read in their order.
-- What is a list in the index is one text here, with a mark around each part: few different ones, so that looking into
-- a million of them is looking into those few.

-- name: build
CREATE TABLE listed AS
    SELECT outcomes.position AS outcome, samples.position AS sample, last.reply, judge, take, status, is_final,
        is_control, verdict, score, error_type AS error, reasoning_score AS reasoning, id, task_name AS task,
        target_model AS target, target_b, prompt_variant AS variant, question_id AS question, {rules} AS rules, {flags} AS flags,
        {warnings} AS warnings, {gates} AS gates, {quotes} AS quotes,
        coalesce(status = 'valid' AND is_correct AND NOT is_verified, false) AS is_unverified,
        coalesce('cut_off' IN (response_state, response_state_b), false) AS is_cut_off,
        response_state, response_state_b, {differ} AS differ, {against} AS against,
        NULL::INTEGER AS lowest, NULL::INTEGER AS highest
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
    {compared}
    ORDER BY samples.position, judge_order, judge, take

-- name: divided
-- Samples that several judges gave a verdict, and whether they differ.
SELECT key, coalesce(min(verdict) <> max(verdict), false) OR coalesce(max(score) - min(score) >= {apart}, false) AS is_divided
    FROM {index}.outcomes WHERE status = 'valid' AND NOT is_control GROUP BY key HAVING count(DISTINCT judge) > 1

-- name: judge_count
SELECT count(DISTINCT judge) FROM run.outcomes

-- name: compared
-- Judges of a sample differ where their verdicts do, or where scores lie apart as `domain.people` says; and which other
-- judges a judgment differs from.
LEFT JOIN ({divided}) AS divided ON divided.key = outcomes.key
LEFT JOIN (SELECT own.position, list_sort(list_distinct(list(other.judge))) AS against
    FROM run.outcomes AS own JOIN run.outcomes AS other ON own.key = other.key AND own.judge <> other.judge
    WHERE own.status = 'valid' AND other.status = 'valid' AND NOT own.is_control AND NOT other.is_control
        AND (own.verdict <> other.verdict OR abs(own.score - other.score) >= {apart})
    GROUP BY own.position) AS opposed ON opposed.position = outcomes.position

-- name: people_tables
-- What people and the panel say of labelled samples, with the number of the whole verdict of people; and of which
-- judgments they say that they are wrong. They are few, and change while the list stays.
CREATE TABLE people (sample BIGINT, code INTEGER, panel VARCHAR, verdict VARCHAR, share DOUBLE);
CREATE TABLE held (place BIGINT, is_wrong BOOLEAN)

-- name: forget_people
DELETE FROM people; DELETE FROM held

-- name: take_people
INSERT INTO people SELECT sample, code, panel, verdicts.verdict, verdicts.share
    FROM (SELECT unnest($positions::BIGINT[]) AS sample, unnest($codes::INTEGER[]) AS code,
        unnest($panel::VARCHAR[]) AS panel)
    JOIN (SELECT unnest(range(len($verdicts::VARCHAR[])))::INTEGER AS code, unnest($verdicts::VARCHAR[]) AS verdict,
        unnest($shares::DOUBLE[]) AS share) AS verdicts USING (code)

-- name: hold
INSERT INTO held SELECT listed.rowid, abs(score - share) >= $apart FROM listed JOIN people USING (sample)
    WHERE status = 'valid' AND score IS NOT NULL AND share IS NOT NULL

-- name: rank
-- The place of every row in each order by score: sorting a million rows for a page would take longer than all else.
UPDATE listed SET lowest = ranks.lowest, highest = ranks.highest
    FROM (SELECT rowid AS row, row_number() OVER (ORDER BY score NULLS LAST, rowid) AS lowest,
            row_number() OVER (ORDER BY score DESC NULLS LAST, rowid) AS highest
        FROM listed) AS ranks
    WHERE listed.rowid = ranks.row

-- name: rank_by
-- The same by what few readers sort by, when somebody does.
ALTER TABLE listed ADD COLUMN {name} INTEGER;
UPDATE listed SET {name} = ranks.rank
    FROM (SELECT listed.rowid AS row, row_number() OVER (ORDER BY {value} {direction} NULLS LAST, listed.rowid) AS rank
        FROM listed {beside}) AS ranks
    WHERE listed.rowid = ranks.row

-- name: by_confidence
-- Judges say it in words or in numbers, each in its own way.
LEFT JOIN (SELECT position, json_extract_string(fields, '$.confidence') AS confidence FROM run.outcomes) AS sure
    ON sure.position = listed.outcome

-- name: by_length
LEFT JOIN (SELECT position, length_a + coalesce(length_b, 0) AS length FROM run.samples) AS texts
    ON texts.position = listed.sample

-- name: by_call
-- All that was asked for a judgment, repetitions of invalid replies among it.
LEFT JOIN (SELECT outcomes.position, sum(latency_seconds) AS latency, sum(cost_usd) AS cost
    FROM run.outcomes JOIN run.replies USING (key, judge, take) GROUP BY outcomes.position) AS called
    ON called.position = listed.outcome

-- name: known_values
-- What a run has, of what its list can be sorted by.
SELECT (SELECT count(*) > 0 FROM (SELECT 1 FROM run.outcomes WHERE contains(fields::VARCHAR, '"confidence":') LIMIT 1)),
    true, (SELECT count(latency_seconds) > 0 FROM run.replies), (SELECT count(cost_usd) > 0 FROM run.replies)

-- name: last_sample
-- Lines of samples in the journal: a sample that was taken up twice is two.
SELECT coalesce(max(position), 0) FROM run.samples

-- name: last_outcome
SELECT coalesce(max(position), 0) FROM run.outcomes

-- name: usual
-- How many judgments most samples have; nought where there is none at all.
SELECT coalesce(mode(judgments), 0) FROM (SELECT count(*) AS judgments FROM listed GROUP BY sample)

-- name: unusual
SELECT line, coalesce(judgments, 0)
    FROM range(1, $samples + 1) AS lines(line)
    LEFT JOIN (SELECT sample, count(*) AS judgments FROM listed GROUP BY sample) ON sample = line
    WHERE coalesce(judgments, 0) <> $usual

-- name: dimensions
SELECT dimension FROM run.dimension_scores GROUP BY dimension ORDER BY min(dimension_order), dimension

-- name: samples
-- By lot, so that a part of many says nothing about their order.
SELECT sample FROM (SELECT DISTINCT sample FROM listed WHERE {where}) ORDER BY hash(sample), sample LIMIT $limit

-- name: outcome_positions
SELECT outcome FROM listed WHERE {where}

-- name: parts
-- The parts of an order that hold any of the rows that are meant, each with how many stand before its end.
SELECT part, (sum(rows) OVER (ORDER BY part))::BIGINT
    FROM (SELECT {part} AS part, count(*) AS rows FROM listed WHERE {where} GROUP BY part) ORDER BY part

-- name: page
SELECT outcome, sample, judge, take, status, is_final, is_control, reply, differ, against,
        (SELECT {{'code': code, 'panel': panel}} FROM people WHERE people.sample = listed.sample) AS people
    FROM listed WHERE {where}
    ORDER BY {rank} LIMIT $limit OFFSET $offset

-- name: before
-- How many of what is listed stand before a judgment, in the order of the dataset.
SELECT count(*) FROM listed WHERE {where} AND rowid < (SELECT min(rowid) FROM listed WHERE id = $named
    AND ($by IS NULL OR judge = $by) AND ($repeat IS NULL OR take = $repeat))

-- name: keys
-- What RunIndex holds against the journal, of the judgments of a page.
SELECT position, key, reason FROM run.outcomes WHERE position IN ({positions})

-- name: choice
SELECT value, sum(rows)::BIGINT AS rows FROM (
        SELECT {value} AS value, rows FROM (SELECT {column} AS told, count(*) AS rows FROM {source} GROUP BY told))
    WHERE value <> '' GROUP BY value ORDER BY rows DESC, value LIMIT $limit

-- name: outcomes
SELECT CASE WHEN status = 'valid' THEN coalesce(verdict, status) ELSE status END AS word, status, count(*), avg(score)
    FROM listed GROUP BY word, status ORDER BY status <> 'valid', avg(score) DESC, status, word
