-- Several runs as one relation: the texts that all of them judged, and every valid judgment of them.

-- name: create_texts
-- A text that several samples of a run share is the first of them; those without a question of their own stand alone.
CREATE TEMP TABLE texts_{place} AS
    SELECT text, arg_min(key, position) AS key, arg_min(coalesce(question_id, text), position) AS question
    FROM {index}.samples JOIN read_parquet($path) AS texts USING (key) WHERE text IS NOT NULL GROUP BY text

-- name: create_pool
-- Texts that labels were drawn from, where that was another run.
CREATE TEMP TABLE pool AS SELECT DISTINCT text FROM read_parquet($path) WHERE text IS NOT NULL

-- name: create_common
CREATE TEMP TABLE common AS SELECT text, question FROM texts_0

-- name: keep_common
DELETE FROM common WHERE text NOT IN (SELECT text FROM {table})

-- name: sizes
SELECT count(*), count(DISTINCT question) FROM common

-- name: create_takes
CREATE TEMP TABLE takes (
    text VARCHAR, judge VARCHAR, run INTEGER, take BIGINT, score DOUBLE, confidence DOUBLE, source VARCHAR
)

-- name: add_takes
-- A model on its own output is a control.
INSERT INTO takes
    SELECT text, coalesce(list_extract($names, list_position($judges, judge)), judge), $run, take, score,
        confidence_value, confidence_source
    FROM {index}.judged JOIN texts_{place} USING (key) SEMI JOIN common USING (text)
    WHERE status = 'valid' AND NOT is_control AND score IS NOT NULL AND isfinite(score)

-- name: first_runs
-- A judge that several runs asked about the same text has said it once: in the first of them.
DELETE FROM takes WHERE EXISTS (SELECT 1 FROM takes AS earlier
    WHERE earlier.text = takes.text AND earlier.judge = takes.judge AND earlier.run < takes.run)

-- name: candidates
SELECT judge, count(*), max(asked), count(*) FILTER (asked > 1), sum(logprobs > 0)::BIGINT, sum(decision > 0)::BIGINT,
        sum(orders > 0)::BIGINT, sum(written > 0)::BIGINT
    FROM (SELECT judge, text, count(*) AS asked, count(*) FILTER (source = 'logprobs') AS logprobs,
            count(*) FILTER (source = 'decision') AS decision, count(*) FILTER (source = 'orders') AS orders,
            count(*) FILTER (source = 'written') AS written
        FROM takes GROUP BY judge, text)
    GROUP BY judge

-- name: is_graded
SELECT coalesce(bool_or(score NOT IN (0, 1)), false) FROM takes

-- name: prices
-- What a text cost each judge where it was paid for: repeats, re-asks and orders are parts of it.
SELECT judge, CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) / count(DISTINCT key) END::DOUBLE
    FROM {index}.replies WHERE NOT is_cached GROUP BY judge

-- name: models
SELECT judge, coalesce(list_sort(list(DISTINCT model) FILTER (model IS NOT NULL)), []) FROM {index}.replies GROUP BY judge

-- name: recorded_models
SELECT judge, judge_model FROM {index}.only_models

-- name: rows
-- Every text with its takes, text after text. Of more texts than $most a random part without a label stands for the rest.
WITH chosen AS (
    SELECT text, question FROM common
    ORDER BY text NOT IN (SELECT unnest($labelled::VARCHAR[])), sha256('some ' || text) LIMIT $most
)
SELECT text, question, judge, take, score, confidence, source
    FROM chosen LEFT JOIN takes USING (text) ORDER BY text, judge, take

-- name: rows_of_table
-- The same of a table of ratings, whose raters are places in the list of their names; `rank` is the order of takes.
WITH chosen AS (
    SELECT unit, item, question FROM items
    ORDER BY item NOT IN (SELECT unnest($labelled::VARCHAR[])), sha256('some ' || item) LIMIT $most
)
SELECT chosen.item, chosen.question, list_position($names, rater) - 1, value, sure, sure_source
    FROM chosen JOIN rows USING (item) WHERE value IS NOT NULL ORDER BY unit, rater, rank

-- name: candidates_of_table
-- A number whose kind nobody says is what the rater wrote.
SELECT rater, count(*), max(asked), count(*) FILTER (asked > 1), sum(logprobs > 0)::BIGINT, sum(decision > 0)::BIGINT,
        sum(orders > 0)::BIGINT, sum(written > 0)::BIGINT
    FROM (SELECT list_position($names, rater) - 1 AS rater, item, count(*) AS asked,
            count(sure) FILTER (sure_source = 'logprobs') AS logprobs,
            count(sure) FILTER (sure_source = 'decision') AS decision,
            count(sure) FILTER (sure_source = 'orders') AS orders,
            count(sure) FILTER (coalesce(sure_source, '') NOT IN ('logprobs', 'decision', 'orders')) AS written
        FROM rows WHERE value IS NOT NULL GROUP BY rater, item)
    GROUP BY rater

-- name: wild_confidence
SELECT item, sure FROM rows WHERE sure IS NOT NULL AND NOT coalesce(sure BETWEEN 0 AND 1, false) ORDER BY row LIMIT 1

-- name: texts_of_table
SELECT count(*), count(DISTINCT question) FROM items

-- name: labels_of_table
-- What the human said first of each item.
SELECT items.item, arg_min(value, rank) FROM rows JOIN items USING (item)
    WHERE rater = $human AND value IS NOT NULL AND is_label GROUP BY items.item ORDER BY items.item

-- name: span_of_table
SELECT min(value), max(value), bool_and(value IN (0, 1)) FROM rows WHERE value IS NOT NULL
