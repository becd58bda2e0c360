-- What `votes.py` asks of ratings that are votes between two responses, A and B, and of juries. Tables as in ratings.sql.

-- name: create_votes
-- One row a vote: 1 for A, 0 for B, 0.5 for a tie, by the responses and not by where they stood; NULL where there is none.
CREATE TABLE votes AS
    WITH told AS (
        SELECT unit, items.question, item, list_position($raters, rater) - 1 AS rater, rank, first, second,
            CASE WHEN upper(shown) IN ('AB', 'A') THEN 'AB' WHEN upper(shown) IN ('BA', 'B') THEN 'BA' ELSE shown END AS shown,
            CASE WHEN length > 0 THEN ln(length) END AS length,
            CASE WHEN $words IS NULL THEN (sign(value) + 1) / 2 ELSE list_extract($words, (value + 1)::BIGINT) END AS vote
        FROM rows JOIN items USING (item)
    )
    SELECT told.*, truth.vote AS truth FROM told
        LEFT JOIN (SELECT unit, arg_min(vote, rank) AS vote FROM told WHERE rater = $truth GROUP BY unit) AS truth USING (unit)
    WHERE rater IS DISTINCT FROM $truth

-- name: torn_pair
-- An item is one pair of responses, so two systems wrote them.
WITH named AS (
        SELECT item, row, [least(first, second), greatest(first, second)] AS systems FROM rows
        WHERE first IS NOT NULL AND second IS NOT NULL
    )
    SELECT item, min(systems), max(systems) FROM named GROUP BY item HAVING min(systems) <> max(systems)
    ORDER BY min(row) LIMIT 1

-- name: odd_order
-- Where an order is optional, a column in which no row has one is about something else.
SELECT item, shown FROM votes WHERE (shown IS NULL OR shown NOT IN ('AB', 'BA'))
    AND ($is_needed OR (shown IS NOT NULL AND (SELECT count(*) > 0 FROM votes WHERE shown IN ('AB', 'BA'))))
    ORDER BY rank LIMIT 1

-- name: uncounted
-- Votes of a pair, judge and order after the first; pairs by one system, and by nobody known.
SELECT (SELECT coalesce(sum(more), 0)::BIGINT FROM
        (SELECT count(vote) - 1 AS more FROM votes GROUP BY rater, unit, shown HAVING count(vote) > 1)),
    count(*) FILTER (first = second), count(*) FILTER (first IS NULL OR second IS NULL),
    coalesce(list_sort(list_distinct(flatten(list([first, second]) FILTER (first <> second)))), []) FROM pairs

-- name: create_pairs
-- One row a rater and pair, the first vote in each order; `told` is what both orders together say.
CREATE TABLE pairs AS
    WITH orders AS (
        SELECT rater, unit, any_value(question) AS question, any_value(truth) AS truth, arg_min(first, rank) AS first,
            arg_min(second, rank) AS second, arg_min(length, rank) AS length, count(*) FILTER (shown = 'BA') > 0 AS has_ba,
            count(*) FILTER (shown IS DISTINCT FROM 'BA') > 0 AS has_ab,
            arg_min(vote, rank) FILTER (shown IS DISTINCT FROM 'BA') AS ab, arg_min(vote, rank) FILTER (shown = 'BA') AS ba
        FROM votes GROUP BY rater, unit
    )
    SELECT *, CASE WHEN NOT has_ba THEN ab WHEN NOT has_ab THEN ba WHEN ab IS NULL OR ba IS NULL THEN NULL
            WHEN ab = ba THEN ab ELSE 0.5 END AS told FROM orders

-- name: positions
SELECT rater, ab, ba, truth, count(*) FROM pairs WHERE has_ab AND has_ba GROUP BY ALL ORDER BY ALL

-- name: consistent_units
SELECT rater, question, (ab = ba)::INTEGER AS value, value AS lowest, value AS highest FROM pairs
    WHERE ab IN (0, 1) AND ba IN (0, 1)

-- name: biased_units
-- From 0 (followed what came last, twice) to 1 (what came first).
SELECT rater, question, (1 + ab - ba) / 2 AS value, value AS lowest, value AS highest FROM pairs
    WHERE ab IN (0, 1) AND ba IN (0, 1)

-- name: vote_counts
-- Every row counts, repeats too.
SELECT rater, shown, vote, truth, count(*) FROM votes GROUP BY ALL ORDER BY ALL

-- name: first_shown_units
SELECT rater, question, (vote = CASE shown WHEN 'AB' THEN 1 ELSE 0 END)::INTEGER AS value, value AS lowest,
    value AS highest FROM votes WHERE vote IN (0, 1)

-- name: vote_lengths
-- Decisive votes with what they may follow: the truth, and how much longer A is.
SELECT rater, vote, truth, length, question FROM (
        SELECT rater, unit, shown, arg_min(vote, rank) AS vote, any_value(truth) AS truth, any_value(question) AS question,
            arg_min(length, rank) AS length FROM votes GROUP BY rater, unit, shown
    ) WHERE vote IN (0, 1) AND length IS NOT NULL AND (truth IS NOT NULL OR NOT $needs_truth) ORDER BY rater, unit, shown

-- name: score_lengths
-- How much more a judge gives than the mean of the others, and how long the rated text is.
WITH lengths AS (
        SELECT unit, arg_min(length, row) AS length FROM rows JOIN items USING (item) GROUP BY unit
    ), leads AS (
        SELECT one.rater, unit, any_value(one.question) AS question, any_value(one.value) - avg(two.value) AS lead
        FROM rated AS one JOIN rated AS two USING (unit)
        WHERE two.rater <> one.rater AND list_contains($others, two.rater) GROUP BY one.rater, unit
        HAVING count(*) >= least(2, len(list_filter($others, lambda other: other <> one.rater)))
    )
    SELECT rater, lead, ln(length), question FROM leads JOIN lengths USING (unit) WHERE length > 0 ORDER BY rater, unit

-- name: ballots
-- What the judges said about an item, and the truth, counted where it is the same.
WITH said AS (
        SELECT unit, list({'voter': rater, 'label': value} ORDER BY rater) AS votes FROM rated
        WHERE rater IS DISTINCT FROM $truth GROUP BY unit
    )
    SELECT votes, truth.value, count(*), min(unit) AS place FROM said
    LEFT JOIN (SELECT unit, value FROM rated WHERE rater = $truth) AS truth USING (unit)
    GROUP BY ALL ORDER BY place

-- name: voted_comparisons
-- Both orders together are one comparison; so is each judge's vote. The name that sorts first is the first.
CREATE TABLE comparisons AS
    SELECT rater, unit, question, least(first, second) AS first, greatest(first, second) AS second,
        CASE WHEN pairs.first < pairs.second THEN told ELSE 1 - told END AS score,
        CASE WHEN pairs.first < pairs.second THEN length ELSE -length END AS length
    FROM pairs WHERE told IS NOT NULL AND first <> second

-- name: scored_comparisons
-- Of every two systems that a judge scored on a question, which one it gave more; of means where there are several items.
CREATE TABLE comparisons AS
    WITH scored AS (
        SELECT rater, question, system, avg(value) AS value FROM rated WHERE system IS NOT NULL GROUP BY rater, question, system
    ), lengths AS (
        SELECT items.question, items.system, avg(ln(length)) AS length FROM rows JOIN items USING (item)
        WHERE length > 0 GROUP BY items.question, items.system
    ), kept AS (
        SELECT scored.*, length FROM scored LEFT JOIN lengths USING (question, system)
    )
    SELECT rater, question AS unit, question, one.system AS first, two.system AS second,
        (sign(one.value - two.value) + 1) / 2 AS score, one.length - two.length AS length
    FROM kept AS one JOIN kept AS two USING (rater, question) WHERE one.system < two.system

-- name: opinions
-- In the shape that the rules of panels take (see index/panel.sql).
SELECT unit, question, first, second, score AS value, score AS lowest, score AS highest, score::VARCHAR AS verdict,
    'valid' AS state, false AS is_unverified, 1 AS voices FROM comparisons WHERE list_contains($voters, rater)

-- name: create_settled
CREATE OR REPLACE TEMP TABLE settled AS
    SELECT unit, question, first, second, {value} AS value, state FROM ({settled}) AS settled

-- name: add_settled
-- What several say of a pair is one comparison, under a number of its own.
INSERT INTO comparisons BY NAME
    SELECT $number AS rater, unit, question, first, second, value AS score, length
    FROM settled JOIN (SELECT unit, first, second, any_value(length) AS length FROM comparisons GROUP BY unit, first, second)
        USING (unit, first, second)

-- name: split
SELECT count(*) FROM settled WHERE state = 'split'

-- name: comparisons
-- Of systems with so many questions.
WITH named AS (
        SELECT question, unnest([first, second]) AS system FROM comparisons WHERE rater = $rater
    ), kept AS (
        SELECT system FROM named GROUP BY system HAVING count(DISTINCT question) >= $fewest
    )
    SELECT question::VARCHAR, first, second, score, length FROM comparisons
    WHERE rater = $rater AND first IN (FROM kept) AND second IN (FROM kept) ORDER BY unit, question, first, second
