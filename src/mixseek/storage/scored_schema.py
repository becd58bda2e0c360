"""Tables for protocols with dimensions; a run without dimensions leaves them empty and pays nothing for them."""

# `position` is the outcome's, so rows of the three tables meet; `judge` is who judged, not who was asked to replay it.
SCORED_SCHEMA = """
CREATE TABLE scored (
    run VARCHAR, position BIGINT, key VARCHAR, id VARCHAR, judge VARCHAR, judge_order INTEGER,
    question_id VARCHAR, prompt_variant VARCHAR, target_model VARCHAR, language VARCHAR, task_type VARCHAR,
    status VARCHAR, verdict VARCHAR, score DOUBLE, maximum DOUBLE, confidence VARCHAR,
    is_control BOOLEAN, same_family BOOLEAN, is_critical BOOLEAN
);
CREATE TABLE dimension_scores (
    run VARCHAR, position BIGINT, dimension VARCHAR, dimension_order INTEGER, score DOUBLE, maximum DOUBLE
);
CREATE TABLE evidence (
    run VARCHAR, position BIGINT, dimension VARCHAR, stage VARCHAR, problem VARCHAR, quote VARCHAR
);
"""

# What belongs to an outcome that another one has taken the place of.
DROP_REPLACED = "DELETE FROM {table} WHERE position NOT IN (SELECT position FROM outcomes)"

# A protocol gives every valid judgment the same fields: one of them tells whether there are dimensions.
FIRST_VALID = """SELECT json_exists(fields, '$.scores') FROM outcomes
    WHERE run = $run AND status = 'valid' LIMIT 1"""

TARGETS = "SELECT DISTINCT target_model FROM samples WHERE run = $run AND target_model IS NOT NULL"

# A recorded reply names its judge; the last one to a sample is the one that was judged.
_MODELS = """(SELECT key, judge, arg_max(judge_model, position) AS judge_model FROM replies
    WHERE run = $run AND judge_model IS NOT NULL GROUP BY key, judge) AS models"""

# Where all recorded replies of a judge are one model's, an absent one would have been its, too.
_ONLY_MODELS = """(SELECT judge, any_value(judge_model) AS judge_model FROM replies
    WHERE run = $run AND judge_model IS NOT NULL GROUP BY judge HAVING count(DISTINCT judge_model) = 1) AS singles"""

_WITH_MODELS = f"""LEFT JOIN {_MODELS} ON models.key = outcomes.key AND models.judge = outcomes.judge
        LEFT JOIN {_ONLY_MODELS} ON singles.judge = outcomes.judge"""
_JUDGE = "coalesce(models.judge_model, singles.judge_model, outcomes.judge)"
_JUDGE_OR_CLAIM = """coalesce(models.judge_model, singles.judge_model,
            CASE WHEN outcomes.judge = 'replay' OR starts_with(outcomes.judge, 'replay:') THEN places[6] END,
            outcomes.judge)"""

JUDGE_MODELS = "SELECT DISTINCT judge_model FROM replies WHERE run = $run AND judge_model IS NOT NULL"

# What valid judgments say: a protocol may have a table of its own of which names mean one model.
OWN_PAIRS = f"""SELECT DISTINCT {_JUDGE}, samples.target_model
    FROM (SELECT key, judge FROM outcomes WHERE run = $run AND is_control) AS outcomes
    JOIN (SELECT key, target_model FROM samples WHERE run = $run) AS samples ON samples.key = outcomes.key
    {_WITH_MODELS}"""  # noqa: S608 - our own text

# An unusable or absent reply of a model about its own output belongs to the control group too; only valid judgments
# carry their method in the journal.
MARK_CONTROLS = f"""UPDATE outcomes SET is_control = true WHERE run = $run AND position IN (
    SELECT outcomes.position
    FROM (SELECT key, judge, position FROM outcomes
        WHERE run = $run AND status IN ('invalid', 'missing')) AS outcomes
    JOIN (SELECT key, target_model FROM samples WHERE run = $run) AS samples USING (key)
    {_WITH_MODELS}
    JOIN (SELECT unnest($judges) AS judge, unnest($targets) AS target) AS pairs
        ON pairs.judge = {_JUDGE} AND pairs.target = samples.target_model
)"""  # noqa: S608 - our own text

_PLACES = [
    f"$.{name}"
    for name in (
        *("total_maximum", "confidence", "same_family", "critical_fail", "task_type"),
        # What an unnamed recording says of itself: better than the name of the file that it stood in.
        "identity.judge_model",
    )
]

FILL_SCORED = f"""INSERT INTO scored
    SELECT $run, position, key, id, judged_by, judge_order, question_id, prompt_variant,
        target_model, language, coalesce(places[5], task_type), status, verdict, score,
        try_cast(places[1] AS DOUBLE), places[2], is_control, coalesce(try_cast(places[3] AS BOOLEAN), false),
        coalesce(try_cast(places[4] AS BOOLEAN), false) OR coalesce(list_contains(gates, 'true'), false)
    FROM (
        SELECT outcomes.*, samples.* EXCLUDE (key), {_JUDGE_OR_CLAIM} AS judged_by
        FROM (SELECT position, key, judge, judge_order, status, verdict, score, is_control,
                json_extract_string(fields, {_PLACES}) AS places,
                json_extract_string(fields, '$.gates.*.failed') AS gates
            FROM outcomes WHERE run = $run) AS outcomes
        JOIN (SELECT key, id, question_id, prompt_variant, target_model, task_type, language
            FROM samples WHERE run = $run) AS samples ON samples.key = outcomes.key
        {_WITH_MODELS}
    )"""  # noqa: S608 - our own text

# A dimension without a number, or with a maximum of nought, has no place on a scale.
FILL_DIMENSIONS = """INSERT INTO dimension_scores
    SELECT $run, position, dimension.key, number, dimension.value, maxima[dimension.key]
    FROM (
        SELECT position, maxima, unnest(map_entries(scores)) AS dimension, generate_subscripts(map_keys(scores), 1)
            AS number
        FROM (SELECT position, try_cast(json_extract(fields, '$.scores') AS MAP(VARCHAR, DOUBLE)) AS scores,
                try_cast(json_extract(fields, '$.maxima') AS MAP(VARCHAR, DOUBLE)) AS maxima
            FROM outcomes WHERE run = $run AND position > $after AND status = 'valid')
    ) WHERE dimension.value IS NOT NULL AND maxima[dimension.key] > 0"""

# Invalid judgments too: a judge that invents quotes is found out by these. One that was not looked for says nothing.
FILL_EVIDENCE = """INSERT INTO evidence
    SELECT $run, position, item.dimension, item.stage, item.problem, left(item.quote, 200)
    FROM (SELECT position, unnest(from_json(json_extract(fields, '$.evidence'),
            '[{"dimension":"VARCHAR","stage":"VARCHAR","problem":"VARCHAR","quote":"VARCHAR"}]')) AS item
        FROM outcomes WHERE run = $run AND position > $after AND status IN ('valid', 'invalid'))
    WHERE item.stage IS NOT NULL OR item.problem IS NOT NULL"""
