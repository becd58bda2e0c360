"""The SQL behind ScoredIndex: every query groups, so what comes back does not grow with the number of judgments."""

from collections.abc import Sequence

from mixseek.storage.index.queries import sample_units, unit_sums

HAS_SCORED = "SELECT count(*) > 0 FROM (SELECT 1 FROM scored WHERE run = $run LIMIT 1)"

CELLS = """
    SELECT judge, target_model, prompt_variant, language, task_type, status, verdict, confidence, is_control,
        same_family, is_critical, maximum, count(*), coalesce(sum(score), 0), coalesce(sum(score * score), 0)
    FROM scored WHERE run = $run
    GROUP BY ALL ORDER BY min(judge_order), judge, target_model, prompt_variant, language, task_type, status, verdict,
        confidence, is_control, same_family, is_critical, maximum"""

_CROSS = "SELECT * FROM scored WHERE run = $run AND status = 'valid' AND NOT is_control"
_DIMENSIONS = "SELECT position, dimension, dimension_order, score, maximum FROM dimension_scores WHERE run = $run"

DIMENSION_CELLS = f"""
    SELECT judge, target_model, prompt_variant, task_type, dimension, marks.maximum, count(*), sum(marks.score),
        sum(marks.score * marks.score)
    FROM ({_DIMENSIONS}) AS marks JOIN ({_CROSS}) AS judged USING (position)
    GROUP BY judge, target_model, prompt_variant, task_type, dimension, marks.maximum
    ORDER BY min(dimension_order), dimension, min(judge_order), judge, target_model, prompt_variant, task_type,
        marks.maximum"""  # noqa: S608 - our own text

_TOTALS = """SELECT key, question_id, judge, target_model, prompt_variant, language, task_type, status, score,
        false AS is_unverified FROM scored WHERE run = $run AND is_control = $control"""

_MARKS = f"""SELECT key, question_id, judge, target_model, task_type, dimension, status,
        marks.score / marks.maximum AS score, false AS is_unverified
    FROM ({_DIMENSIONS}) AS marks JOIN ({_CROSS}) AS judged USING (position)"""  # noqa: S608 - our own text

# Missing ones are left out: no reply came that could have been unusable. Self-judgments are in.
_INVALID = """SELECT key, question_id, judge, target_model, prompt_variant, language,
        CASE WHEN is_control THEN 'self_judge' ELSE 'cross_judge' END AS method, 'valid' AS status,
        CASE WHEN status = 'invalid' THEN 1.0 ELSE 0.0 END AS score, false AS is_unverified
    FROM scored WHERE run = $run AND status IN ('valid', 'invalid')"""

# Quotes are no samples: each is an observation, and those of one sample or question stand together.
_QUOTES = """SELECT judge, dimension, coalesce(question_id, key) AS question,
        CASE WHEN problem IS NULL THEN 1.0 ELSE 0.0 END AS value, 0.0 AS lowest, 1.0 AS highest
    FROM (SELECT * FROM evidence WHERE run = $run) AS quotes
    JOIN (SELECT position, key, question_id, judge FROM scored WHERE run = $run) AS judged USING (position)"""


def total_sums(groups: Sequence[str]) -> str:
    """Of whole judgments."""
    return unit_sums(sample_units(_TOTALS, groups), groups)


def mark_sums(groups: Sequence[str]) -> str:
    """Of dimensions, as shares of the maximum; cross judgments only."""
    return unit_sums(sample_units(_MARKS, groups), groups)


def invalid_sums(groups: Sequence[str]) -> str:
    """Of invalid evaluations among those that brought a reply."""
    return unit_sums(sample_units(_INVALID, groups), groups)


def quote_sums(groups: Sequence[str]) -> str:
    """Of quotes that stand in the response."""
    return unit_sums(_QUOTES, groups)


# Scales of at most twelve steps are shown mark by mark, others in tenths; the top mark belongs to the last tenth.
DIMENSION_BUCKETS = f"""
    SELECT judge, dimension, maximum,
        CASE WHEN is_fine THEN maximum * bucket / 10 ELSE bucket END,
        CASE WHEN is_fine THEN maximum * (bucket + 1) / 10 ELSE bucket END, count(*)
    FROM (
        SELECT judge, judge_order, dimension, dimension_order, marks.maximum AS maximum, is_fine,
            CASE WHEN is_fine THEN least(9, greatest(0, floor(10 * marks.score / marks.maximum))) ELSE marks.score END
                AS bucket
        FROM ({_DIMENSIONS}) AS marks JOIN ({_CROSS}) AS judged USING (position)
        JOIN (SELECT dimension, bool_or(maximum > 12 OR score <> floor(score)) AS is_fine
            FROM ({_DIMENSIONS}) GROUP BY dimension) AS scales USING (dimension)
    ) GROUP BY judge, dimension, maximum, is_fine, bucket
    ORDER BY min(dimension_order), dimension, min(judge_order), judge, maximum, bucket"""  # noqa: S608 - our own text

# Takes of one judge are averaged first: repeating a judge does not make more pairs.
_MEANS = f"""
    SELECT measure, question_id, target_model, judge, prompt_variant, avg(share) AS share FROM (
        SELECT NULL AS measure, question_id, target_model, judge, prompt_variant, score AS share FROM ({_CROSS})
        UNION ALL BY NAME
        SELECT dimension AS measure, question_id, target_model, judge, prompt_variant,
            marks.score / marks.maximum AS share
        FROM ({_DIMENSIONS}) AS marks JOIN ({_CROSS}) AS judged USING (position)
    ) WHERE question_id IS NOT NULL AND prompt_variant IS NOT NULL
    GROUP BY measure, question_id, target_model, judge, prompt_variant"""  # noqa: S608 - our own text

VARIANT_SUMS = f"""
    WITH means AS ({_MEANS}),
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
    FROM questions GROUP BY measure, base, other ORDER BY base, other, measure NULLS FIRST"""  # noqa: S608 - our own text

EVIDENCE_COUNTS = """
    SELECT judge, dimension, stage, problem, count(*)
    FROM (SELECT * FROM evidence WHERE run = $run) AS quotes
    JOIN (SELECT position, judge, judge_order FROM scored WHERE run = $run) AS judged USING (position)
    GROUP BY judge, dimension, stage, problem ORDER BY min(judge_order), judge, dimension NULLS LAST, stage, problem"""

EVIDENCE_PROBLEMS = """
    SELECT id, judge, dimension, problem, quote
    FROM (SELECT * FROM evidence WHERE run = $run AND problem IS NOT NULL) AS quotes
    JOIN (SELECT position, id, judge FROM scored WHERE run = $run) AS judged USING (position)
    ORDER BY position, dimension LIMIT $limit"""

# One number a judge and sample, whatever the repeats: their mean, and the first one's verdict.
_PER_JUDGE = f"""
    SELECT key, any_value(question_id) AS question_id, judge, avg(score) AS score, arg_min(verdict, position) AS verdict
    FROM ({_CROSS}) GROUP BY key, judge"""  # noqa: S608 - our own text

# Samples that one judge alone scored say nothing about agreement.
_PANEL = f"""
    SELECT key, coalesce(any_value(question_id), key) AS question, count(*) AS judges,
        count(DISTINCT verdict) AS verdicts, max(score) - min(score) AS spread,
        sum(score) AS total, sum(score * score) AS squares
    FROM ({_PER_JUDGE}) GROUP BY key HAVING count(*) > 1"""  # noqa: S608 - our own text

PANEL_SUMS = f"""
    SELECT count(*), count(*) FILTER (verdicts = 1), coalesce(sum(judges), 0), avg(spread), coalesce(sum(total), 0),
        coalesce(sum(squares), 0),
        coalesce(sum((2 * judges * squares - 2 * total * total) / (judges - 1)), 0)
    FROM ({_PANEL})"""  # noqa: S608 - our own text

UNANIMOUS_SUMS = unit_sums(
    f"""SELECT question, CASE WHEN verdicts = 1 THEN 1.0 ELSE 0.0 END AS value, 0.0 AS lowest, 1.0 AS highest
    FROM ({_PANEL})""",  # noqa: S608 - our own text
    (),
)

# Keys are digests: between equals they are a fair lot. Names are looked up for what is shown only.
DISAGREEMENTS = f"""
    WITH chosen AS (SELECT key, spread, verdicts FROM ({_PANEL}) WHERE spread > 0 OR verdicts > 1
        ORDER BY spread DESC, verdicts DESC, key LIMIT $limit),
    told AS (SELECT key, list([judge, score::VARCHAR, verdict] ORDER BY score, judge) AS judges
        FROM ({_PER_JUDGE}) WHERE key IN (SELECT key FROM chosen) GROUP BY key),
    named AS (SELECT key, any_value(id) AS id, any_value(target_model) AS target,
            any_value(prompt_variant) AS variant, any_value(question_id) AS question
        FROM ({_CROSS}) WHERE key IN (SELECT key FROM chosen) GROUP BY key)
    SELECT id, target, variant, question, spread, verdicts, judges
    FROM chosen JOIN told USING (key) JOIN named USING (key)
    ORDER BY spread DESC, verdicts DESC, id"""  # noqa: S608 - our own text

# The whole product of what occurs: an output that is absent from the dataset is a hole like an unusable reply.
_NAMED = "SELECT * FROM scored WHERE run = $run AND question_id IS NOT NULL"

COVERAGE_SIZES = f"""
    SELECT count(DISTINCT question_id), count(DISTINCT coalesce(prompt_variant, '')),
        count(DISTINCT coalesce(target_model, '')), count(DISTINCT judge)
    FROM ({_NAMED})"""  # noqa: S608 - our own text

UNNAMED = "SELECT count(DISTINCT key) FROM scored WHERE run = $run AND question_id IS NULL"

COVERED = f"""
    SELECT count(*) FROM (SELECT DISTINCT question_id, prompt_variant, target_model, judge FROM ({_NAMED})
    WHERE status = 'valid')"""  # noqa: S608 - our own text

_BEST = "CASE status WHEN 'valid' THEN 0 WHEN 'invalid' THEN 1 WHEN 'undecided' THEN 2 ELSE 3 END"

COVERAGE_GRID = f"""
    WITH named AS (SELECT *, {_BEST} AS rank FROM ({_NAMED})),
    due AS (
        SELECT question_id, prompt_variant, target_model, judge, judge_order
        FROM (SELECT DISTINCT question_id FROM named), (SELECT DISTINCT prompt_variant FROM named),
            (SELECT DISTINCT target_model FROM named),
            (SELECT judge, min(judge_order) AS judge_order FROM named GROUP BY judge)
    ),
    told AS (SELECT question_id, prompt_variant, target_model, judge, arg_min(status, rank) AS status
        FROM named GROUP BY question_id, prompt_variant, target_model, judge)
    SELECT due.question_id, due.prompt_variant, due.target_model, due.judge, status
    FROM due LEFT JOIN told ON due.question_id = told.question_id AND due.judge = told.judge
        AND due.prompt_variant IS NOT DISTINCT FROM told.prompt_variant
        AND due.target_model IS NOT DISTINCT FROM told.target_model
    WHERE NOT $holes_only OR status IS DISTINCT FROM 'valid'
    ORDER BY due.question_id, due.prompt_variant, due.target_model, judge_order, due.judge LIMIT $limit"""  # noqa: S608

# Where the product is too large to be laid out, only what was asked for and did not become valid is listed.
COVERAGE_HOLES = f"""
    SELECT question_id, prompt_variant, target_model, judge, arg_min(status, {_BEST})
    FROM ({_NAMED}) GROUP BY question_id, prompt_variant, target_model, judge
    HAVING min({_BEST}) > 0 ORDER BY question_id, prompt_variant, target_model, judge LIMIT $limit"""  # noqa: S608
