-- What RunIndex asks under a protocol with dimensions: every query groups, so what comes back does not grow with the
-- number of judgments.

-- name: ScoredCell
SELECT judge, target_model, prompt_variant, language, task_type, status, verdict, confidence, is_control,
    same_family, is_critical, maximum, count(*), coalesce(sum(score), 0), coalesce(sum(score * score), 0)
    FROM scored
    GROUP BY ALL ORDER BY min(judge_order), judge, target_model, prompt_variant, language, task_type, status, verdict,
        confidence, is_control, same_family, is_critical, maximum

-- name: DimensionCell
SELECT judge, target_model, prompt_variant, task_type, dimension, maximum, count(*), sum(score), sum(score * score)
    FROM marks GROUP BY judge, target_model, prompt_variant, task_type, dimension, maximum
    ORDER BY min(dimension_order), dimension, min(judge_order), judge, target_model, prompt_variant, task_type, maximum

-- name: units_of_totals
-- Whole judgments.
SELECT key, question_id, judge, target_model, prompt_variant, language, task_type, status, score,
    false AS is_unverified FROM scored WHERE is_control = $control

-- name: units_of_marks
-- Dimensions, as shares of the maximum; cross judgments only.
SELECT key, question_id, judge, target_model, task_type, dimension, status, score / maximum AS score,
    false AS is_unverified FROM marks

-- name: units_of_invalid
-- Invalid evaluations among those that brought a reply: where it is missing, nothing could have been unusable.
-- Self-judgments are in.
SELECT key, question_id, judge, target_model, prompt_variant, language,
    CASE WHEN is_control THEN 'self_judge' ELSE 'cross_judge' END AS method, 'valid' AS status,
    CASE WHEN status = 'invalid' THEN 1.0 ELSE 0.0 END AS score, false AS is_unverified
    FROM scored WHERE status IN ('valid', 'invalid')

-- name: quotes
-- Quotes that stand in the response. They are no samples: each is an observation, and those of one sample or question
-- stand together.
SELECT judge, dimension, coalesce(question_id, key) AS question,
    CASE WHEN problem IS NULL THEN 1.0 ELSE 0.0 END AS value, 0.0 AS lowest, 1.0 AS highest
    FROM quotes

-- name: DimensionBucket
-- Scales of at most twelve steps are shown mark by mark, others in tenths; the top mark belongs to the last tenth.
SELECT judge, dimension, maximum,
    CASE WHEN is_fine THEN maximum * bucket / 10 ELSE bucket END,
    CASE WHEN is_fine THEN maximum * (bucket + 1) / 10 ELSE bucket END, count(*)
    FROM (
        SELECT marks.*, is_fine,
            CASE WHEN is_fine THEN least(9, greatest(0, floor(10 * score / maximum))) ELSE score END AS bucket
        FROM marks JOIN (SELECT dimension, bool_or(maximum > 12 OR score <> floor(score)) AS is_fine
            FROM dimension_scores GROUP BY dimension) AS scales USING (dimension)
    ) GROUP BY judge, dimension, maximum, is_fine, bucket
    ORDER BY min(dimension_order), dimension, min(judge_order), judge, maximum, bucket

-- name: VariantSums
-- Takes of one judge are averaged first: repeating a judge does not make more pairs.
WITH means AS (
    SELECT measure, question_id, target_model, judge, prompt_variant, avg(share) AS share FROM (
        SELECT NULL AS measure, question_id, target_model, judge, prompt_variant, score AS share FROM cross_judged
        UNION ALL BY NAME
        SELECT dimension AS measure, question_id, target_model, judge, prompt_variant, score / maximum AS share
        FROM marks
    ) WHERE question_id IS NOT NULL AND prompt_variant IS NOT NULL
    GROUP BY measure, question_id, target_model, judge, prompt_variant
),
questions AS (
    SELECT base.measure, base.prompt_variant AS base, other.prompt_variant AS other, base.question_id,
        count(*) AS pairs, sum(other.share - base.share) AS difference
    FROM means AS base JOIN means AS other
        ON base.measure IS NOT DISTINCT FROM other.measure AND base.question_id = other.question_id
        AND base.target_model IS NOT DISTINCT FROM other.target_model AND base.judge = other.judge
        AND base.prompt_variant < other.prompt_variant
    GROUP BY base.measure, base.prompt_variant, other.prompt_variant, base.question_id
)
SELECT measure, base, other, count(*), sum(pairs), sum(difference), sum(difference * difference),
    sum(pairs * difference), sum(pairs * pairs)
    FROM questions GROUP BY measure, base, other ORDER BY base, other, measure NULLS FIRST

-- name: EvidenceCount
SELECT judge, dimension, stage, problem, count(*) FROM quotes
    GROUP BY judge, dimension, stage, problem ORDER BY min(judge_order), judge, dimension NULLS LAST, stage, problem

-- name: EvidenceProblem
SELECT id, judge, dimension, problem, quote FROM quotes WHERE problem IS NOT NULL
    ORDER BY position, dimension LIMIT 50

-- name: coverage_sizes
-- The whole product of what occurs: an output that is absent from the dataset is a hole like an unusable reply.
SELECT count(DISTINCT question_id), count(DISTINCT coalesce(prompt_variant, '')),
    count(DISTINCT coalesce(target_model, '')), count(DISTINCT judge)
    FROM placed

-- name: unnamed
SELECT count(DISTINCT key) FROM scored WHERE question_id IS NULL

-- name: covered
SELECT count(*) FROM (SELECT DISTINCT question_id, prompt_variant, target_model, judge FROM placed
    WHERE status = 'valid')

-- name: coverage_grid
WITH due AS (
    SELECT question_id, prompt_variant, target_model, judge, judge_order
    FROM (SELECT DISTINCT question_id FROM placed), (SELECT DISTINCT prompt_variant FROM placed),
        (SELECT DISTINCT target_model FROM placed),
        (SELECT judge, min(judge_order) AS judge_order FROM placed GROUP BY judge)
),
told AS (SELECT question_id, prompt_variant, target_model, judge, arg_min(status, rank) AS status
    FROM placed GROUP BY question_id, prompt_variant, target_model, judge)
SELECT due.question_id, due.prompt_variant, due.target_model, due.judge, status
    FROM due LEFT JOIN told ON due.question_id = told.question_id AND due.judge = told.judge
        AND due.prompt_variant IS NOT DISTINCT FROM told.prompt_variant
        AND due.target_model IS NOT DISTINCT FROM told.target_model
    WHERE NOT $holes_only OR status IS DISTINCT FROM 'valid'
    ORDER BY due.question_id, due.prompt_variant, due.target_model, judge_order, due.judge LIMIT $limit

-- name: coverage_holes
-- Where the product is too large to be laid out, only what was asked for and did not become valid is listed.
SELECT question_id, prompt_variant, target_model, judge, arg_min(status, rank)
    FROM placed GROUP BY question_id, prompt_variant, target_model, judge
    HAVING min(rank) > 0 ORDER BY question_id, prompt_variant, target_model, judge LIMIT $limit
