-- How sure judges are, one row a sample, judge and source; then the same with what people say. Read beside the tables
-- `units` and `labels` of a run that is labelled.

-- name: sure
-- What judgments say themselves, of several takes the first; and of several takes the share that says what they all come
-- to, with the mean of their scores.
CREATE OR REPLACE TEMP TABLE sure AS
    WITH takes AS (
        SELECT sample_position AS sample, judge, take, score, confidence_source AS source, confidence_value AS confidence,
            coalesce(confidence_shares, '{{}}') <> '{{}}' OR confidence_source IN ($repeats, $panel) AS is_probability,
            expected_score AS expected
        FROM judged WHERE status = 'valid' AND NOT is_control AND score IS NOT NULL
    )
    SELECT * EXCLUDE (take), false AS is_derived FROM
        (SELECT DISTINCT ON (sample, judge, source) * FROM takes WHERE source IS NOT NULL ORDER BY sample, judge, source, take)
    UNION ALL BY NAME
    SELECT sample, judge, any_value(value) AS score, $repeats AS source,
        avg((abs(takes.score - value) < $apart)::DOUBLE) AS confidence, true AS is_probability,
        avg(takes.score) AS expected, true AS is_derived
    FROM takes JOIN (SELECT sample, judge, value FROM ({opinions}) WHERE value IS NOT NULL) USING (sample, judge)
    GROUP BY sample, judge HAVING count(*) > 1

-- name: sure_panel
-- What all judges come to, and the share of those asked that say so: whoever gave no verdict does not.
INSERT INTO sure BY NAME
    SELECT sample, $name AS judge, any_value(units.value) AS score, $panel AS source,
        count(*) FILTER (abs(said.value - units.value) < $apart) / count(*) AS confidence, true AS is_probability,
        avg(said.value) AS expected, true AS is_derived
    FROM ({opinions}) AS said JOIN units USING (sample)
    WHERE units.state = 'valid' AND units.value IS NOT NULL GROUP BY sample HAVING count(said.value) > 1

-- name: derived
SELECT judge, source, count(*), avg(confidence), avg(score), avg(expected) FROM sure WHERE is_derived GROUP BY ALL ORDER BY ALL

-- name: labelled
-- Labels that somebody chose to give beside a judgment were looked for, and measure no judge.
SELECT text, judge, source, weight, units.question, score, confidence, is_probability, expected
    FROM sure JOIN units USING (sample) JOIN labels USING (text)
    WHERE drawn = coalesce($drawn, drawn) AND drawn <> 'chosen' ORDER BY sample, judge, source
