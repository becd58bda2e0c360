-- Questions down, and across them targets, variants, judges or runs: over the table `listed`, the flat one that the list
-- has. A question is its name or, where a sample names none, that sample's id (`own`). What is asked for again and again is
-- laid out once: `places` (the columns), `questions` (a row for each, with what it is filtered and sorted by), and `chosen`
-- (those that a filter leaves, in order).
-- A model on its own output is a control: it is shown, and in no count.

-- name: judged
SELECT * FROM listed WHERE {where}

-- name: found
-- What a search has found of a run. What is still due has no line in the journal, and nothing was written of it.
({run} AND (get_bit($samples{number}::BIT, sample::INTEGER) = 1
    OR CASE WHEN outcome > 0 THEN get_bit($outcomes{number}::BIT, outcome::INTEGER) = 1 ELSE false END))

-- name: of_found_questions
{where} AND coalesce('q' || question, 'i' || id) IN
    (SELECT coalesce('q' || question, 'i' || id) FROM listed WHERE {where} AND ({found}))

-- name: ends
SELECT (SELECT coalesce(max(position), 0) FROM run.samples), (SELECT coalesce(max(position), 0) FROM run.outcomes)

-- name: is_paired
SELECT count(target_b) > 0 FROM listed

-- name: sides
-- Of a pair each target has a cell: what the judgment says of it. A verdict about A and B says nothing below a name.
SELECT * REPLACE (CASE score WHEN 1 THEN 'won' WHEN 0 THEN 'lost' WHEN 0.5 THEN 'tied' END AS verdict,
        coalesce(response_state = 'cut_off', false) AS is_cut_off)
    FROM (SELECT * FROM listed WHERE {where}
        UNION ALL SELECT * REPLACE (target_b AS target, 1 - score AS score, response_state_b AS response_state)
            FROM listed WHERE target_b IS NOT NULL AND {where})

-- name: questions
-- Scores are rounded: means of the same scores must be the same, in whatever order they were added.
CREATE OR REPLACE TEMP TABLE {table} AS
    WITH cells AS (
        SELECT question, CASE WHEN question IS NULL THEN id END AS own, {across} AS place, min((sample, {run})) AS first,
            count(*) FILTER (NOT is_control) AS judged, count(score) FILTER (NOT is_control) AS valid,
            round(avg(score) FILTER (NOT is_control), 9) AS mean, max(score) FILTER (NOT is_control) AS best,
            bool_or(is_cut_off) AS is_cut_off,
            count(*) FILTER (NOT is_control AND score NOT IN (0, 1)) > 0 AS is_graded
        FROM ({listed}) GROUP BY ALL)
    SELECT question, own, min(first) AS first,
        count(DISTINCT mean) > 1 AS differ,
        coalesce(sum(valid) > 0 AND sum(valid) = sum(judged) AND max(best) <= $wrong, false) AS all_wrong,
        bool_or(is_cut_off) AS cut_off, bool_or(is_graded) AS is_graded,
        coalesce(round(var_pop(mean), 9), 0) AS disagreement, round(avg(mean), 9) AS mean
    FROM cells GROUP BY question, own

-- name: counts
SELECT count(*), count(*) FILTER (differ), count(*) FILTER (all_wrong), count(*) FILTER (cut_off),
    coalesce(bool_or(is_graded), false)
    FROM {table}

-- name: places
CREATE OR REPLACE TEMP TABLE {table} AS SELECT DISTINCT {across} AS place FROM ({listed})

-- name: columns
SELECT place FROM {table}

-- name: chosen
CREATE OR REPLACE TEMP TABLE {table} AS
    SELECT question, own, first FROM {questions} WHERE {shown} ORDER BY {order}, first, question, own

-- name: page
SELECT rowid, question, own, first[1], first[2] FROM {table} WHERE rowid >= $offset AND rowid < $offset + $limit ORDER BY rowid

-- name: place
-- Where a question stands; a sample that names none goes by its id.
SELECT rowid FROM {table} WHERE question = $row OR own = $row ORDER BY question IS NULL, rowid LIMIT 1

-- name: values
-- What judgments differ in, with how many have each.
SELECT {column} AS value, count(*) FROM listed WHERE value IS NOT NULL GROUP BY value ORDER BY count(*) DESC, value LIMIT $limit

-- name: only_models
SELECT judge, judge_model FROM run.only_models

-- name: cells
SELECT page.rowid AS row, {across} AS place, count(*) FILTER (NOT is_control AND status = 'valid') AS valid,
    count(*) FILTER (NOT is_control AND score = 1) AS right_ones,
    round(avg(score) FILTER (NOT is_control), 9) AS mean,
    CASE WHEN min(verdict) FILTER (counts) = max(verdict) FILTER (counts) THEN min(verdict) FILTER (counts) END AS verdict,
    count(*) FILTER (NOT is_control AND status = 'undecided') AS undecided,
    count(*) FILTER (NOT is_control AND status = 'invalid') AS invalid,
    count(*) FILTER (NOT is_control AND status = 'missing') AS missing,
    count(*) FILTER (is_control) AS controls, bool_or(is_cut_off) AS is_cut_off
    FROM (SELECT *, status = 'valid' AND NOT is_control AS counts FROM ({listed})) AS listed
    JOIN (SELECT rowid, question, own FROM {table} WHERE rowid >= $offset AND rowid < $offset + $limit) AS page
        ON listed.question IS NOT DISTINCT FROM page.question
        AND CASE WHEN listed.question IS NULL THEN listed.id END IS NOT DISTINCT FROM page.own
    GROUP BY ALL

-- name: gather
-- The list of one of several runs, after those before it; the places of samples are those of its own journal.
CREATE TABLE gathered AS SELECT $run AS run, * FROM listed

-- name: add
INSERT INTO gathered SELECT $run AS run, * FROM listed
