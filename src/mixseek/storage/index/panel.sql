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
    verdict, status AS state, is_unverified, 1 AS voices
    FROM {index}.judged WHERE NOT is_control AND (is_final OR NOT {final_only})

-- name: alone
-- One judge, or a cascade: scores of its repeats are averaged, those without a score are in the bounds with their share.
SELECT {by}, avg(value) FILTER (state = 'valid') AS value, avg(lowest) AS lowest, avg(highest) AS highest,
    CASE WHEN count(DISTINCT verdict) FILTER (state = 'valid') = 1 THEN any_value(verdict) FILTER (state = 'valid') END
        AS verdict,
    {best_state} AS state, coalesce(bool_or(is_unverified), false) AS is_unverified,
    count(*) FILTER (state = 'valid') AS voices
    FROM ({source}) GROUP BY {by}

-- name: voted
-- Majority and unanimous: `enough` says how many of `heard` must have said the same.
SELECT {by}, CASE WHEN {enough} THEN winner.value END AS value,
    CASE WHEN {enough} THEN CASE WHEN {verified} THEN winner.value ELSE 0 END WHEN heard > 0 THEN lowest ELSE 0 END
        AS lowest,
    CASE WHEN {enough} THEN winner.value WHEN heard > 0 THEN highest ELSE 1 END AS highest,
    CASE WHEN {enough} THEN winner.verdict END AS verdict,
    CASE WHEN {enough} THEN 'valid' WHEN heard > 0 THEN 'split' ELSE state END AS state,
    coalesce({enough} AND NOT ({verified}), false) AS is_unverified, heard AS voices
    FROM (
        SELECT {by}, coalesce(sum(votes) FILTER (state IN ('valid', 'split')), 0) AS heard,
            coalesce(max(votes) FILTER (state = 'valid'), 0) AS most,
            arg_max(struct_pack(value := value, verdict := verdict, verified := verified), votes)
                FILTER (state = 'valid') AS winner,
            min(lowest) FILTER (state IN ('valid', 'split')) AS lowest,
            max(highest) FILTER (state IN ('valid', 'split')) AS highest, {best_state} AS state
        FROM (SELECT {by}, state, coalesce(verdict, '') AS verdict, count(*) AS votes, avg(value) AS value,
                count(*) FILTER (NOT is_unverified) AS verified, min(lowest) AS lowest, max(highest) AS highest
            FROM ({source}) GROUP BY {by}, state, coalesce(verdict, ''))
        GROUP BY {by})

-- name: median
-- With an even number of opinions two stand in the middle: midway between them if they give one verdict.
SELECT {by}, CASE WHEN agrees THEN (low.value + high.value) / 2 END AS value,
    CASE WHEN agrees THEN CASE WHEN is_unverified THEN 0 ELSE (low.value + high.value) / 2 END
        WHEN heard > 0 THEN coalesce(low.value, lowest) ELSE 0 END AS lowest,
    CASE WHEN agrees THEN (low.value + high.value) / 2 WHEN heard > 0 THEN coalesce(high.value, highest) ELSE 1 END
        AS highest,
    CASE WHEN agrees THEN low.verdict END AS verdict,
    CASE WHEN agrees THEN 'valid' WHEN heard > 0 THEN 'split' ELSE state END AS state,
    agrees AND is_unverified AS is_unverified, heard AS voices
    FROM (
        SELECT *, coalesce(low['verdict'] = high['verdict'], false) AS agrees
        FROM (SELECT *, told[(len(told) + 1) // 2] AS low, told[len(told) // 2 + 1] AS high
        FROM (SELECT {by}, list(struct_pack(value := value, verdict := coalesce(verdict, '')) ORDER BY value, verdict)
                FILTER (state = 'valid') AS told,
                count(*) FILTER (state IN ('valid', 'split')) AS heard, {best_state} AS state,
                min(lowest) FILTER (state = 'split') AS lowest, max(highest) FILTER (state = 'split') AS highest,
                coalesce(bool_or(is_unverified), false) AS is_unverified
            FROM ({source}) GROUP BY {by})))

-- name: mean
SELECT {by}, avg(value) FILTER (state = 'valid') AS value,
    coalesce(avg(lowest) FILTER (state = 'valid'), min(lowest) FILTER (state = 'split'), 0) AS lowest,
    coalesce(avg(highest) FILTER (state = 'valid'), max(highest) FILTER (state = 'split'), 1) AS highest,
    CASE WHEN count(DISTINCT coalesce(verdict, '')) FILTER (state = 'valid') = 1
        THEN any_value(coalesce(verdict, '')) FILTER (state = 'valid') END AS verdict,
    {best_state} AS state, coalesce(bool_or(is_unverified), false) AS is_unverified,
    count(*) FILTER (state = 'valid') AS voices
    FROM ({source}) GROUP BY {by}

-- name: best_state
-- As in the grid of coverage: a reply that could not be used says more than none.
CASE min(CASE state WHEN 'valid' THEN 0 WHEN 'split' THEN 1 WHEN 'invalid' THEN 2 WHEN 'undecided' THEN 3 ELSE 4 END)
    WHEN 0 THEN 'valid' WHEN 1 THEN 'split' WHEN 2 THEN 'invalid' WHEN 3 THEN 'undecided' ELSE 'missing' END

-- name: units
-- With what samples are grouped by. `question` is the cluster of every interval, test and gate.
SELECT samples.key, samples.position AS sample, samples.id, coalesce(samples.question_id, samples.key) AS question,
    samples.target_model AS target, samples.prompt_variant AS variant, samples.task_name, samples.task_type,
    samples.language, samples.output_id, settled.value::DOUBLE AS value, settled.lowest::DOUBLE AS lowest,
    settled.highest::DOUBLE AS highest, settled.state, settled.verdict, settled.is_unverified,
    settled.voices::BIGINT AS voices
    FROM ({settled}) AS settled JOIN {index}.samples AS samples ON samples.position = settled.sample
