"""The index's tables and the statements that fill them from a journal."""

from collections.abc import Mapping

# Tables for protocols with dimensions; a run without dimensions leaves them empty and pays nothing for them.

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


# Raise it with any change below: an index of another version is thrown away and rebuilt.
SCHEMA_VERSION = 10

# Texts of samples and replies stay in the journal: `places` says at which byte each line begins, as arrays of 64-bit
# numbers for runs of consecutive positions. `position` counts the lines of one kind in the order of the journal.
SCHEMA = f"""
CREATE TABLE index_version (version INTEGER);
CREATE TABLE runs (
    run VARCHAR, journal_bytes BIGINT, journal_changed_ns BIGINT, indexed_bytes BIGINT, last_block VARCHAR,
    longest_bytes BIGINT, judges VARCHAR[], cascade BOOLEAN, protocol VARCHAR
);
CREATE TABLE places (kind VARCHAR, first BIGINT, lines BIGINT, offsets BLOB);
CREATE TABLE samples (
    run VARCHAR, key VARCHAR, position BIGINT, id VARCHAR, task_name VARCHAR, task_type VARCHAR,
    question_id VARCHAR, prompt_variant VARCHAR, target_model VARCHAR, output_id VARCHAR, language VARCHAR,
    response_characters INTEGER
);
CREATE TABLE replies (
    run VARCHAR, key VARCHAR, position BIGINT, judge VARCHAR, attempt INTEGER,
    take INTEGER, is_cached BOOLEAN, ask INTEGER, tries INTEGER, requests INTEGER, latency_seconds DOUBLE,
    finish_reason VARCHAR, model VARCHAR, input_tokens BIGINT, output_tokens BIGINT, cached_input_tokens BIGINT,
    cost_usd DECIMAL(24, 12), judge_model VARCHAR
);
CREATE TABLE outcomes (
    run VARCHAR, key VARCHAR, position BIGINT, judge VARCHAR, judge_order INTEGER, take INTEGER, is_final BOOLEAN,
    status VARCHAR, method VARCHAR, score DOUBLE, verdict VARCHAR,
    is_correct BOOLEAN, extracted_answer VARCHAR, reasoning_score INTEGER, error_type VARCHAR,
    is_verified BOOLEAN, warnings VARCHAR,
    fields JSON, span BIGINT[], rules VARCHAR[], flags STRUCT(flag VARCHAR, detail VARCHAR)[], repairs VARCHAR[],
    reason VARCHAR, is_control BOOLEAN, is_permanent BOOLEAN, lost_tries INTEGER,
    lost_bill STRUCT(input_tokens BIGINT, output_tokens BIGINT, cost_usd DECIMAL(24, 12))
);
{SCORED_SCHEMA}
"""

# A line that cannot be parsed comes out as nulls and is dropped by the filter on `t`; the loader compares the number
# of rows with the number of lines.
_LINES = """read_json(
    ${source}, format = 'newline_delimited', ignore_errors = true, maximum_object_size = {object_bytes}, columns = {{
        t: 'VARCHAR', key: 'VARCHAR', {columns}
    }}) WHERE t = '{kind}'"""

_SAMPLE = """sample: 'STRUCT(id VARCHAR, response VARCHAR, question_id VARCHAR, prompt_variant VARCHAR,
    target_model VARCHAR, output_id VARCHAR, task_name VARCHAR, task_type VARCHAR,
    metadata STRUCT(language VARCHAR))'"""

_SAMPLE_WITH_TEXTS = """sample: 'STRUCT(id VARCHAR, response VARCHAR, question VARCHAR, ground_truth VARCHAR,
    ground_truth_alternatives VARCHAR[], question_id VARCHAR, prompt_variant VARCHAR, target_model VARCHAR,
    output_id VARCHAR, task_name VARCHAR, task_type VARCHAR)'"""

_OUTCOME = """judge: 'VARCHAR', status: 'VARCHAR', method: 'VARCHAR', score: 'DOUBLE', verdict: 'VARCHAR',
    fields: 'JSON', span: 'BIGINT[]', rules: 'VARCHAR[]', flags: 'STRUCT(flag VARCHAR, detail VARCHAR)[]',
    repairs: 'VARCHAR[]', reason: 'VARCHAR', take: 'INTEGER',
    permanent: 'BOOLEAN', lost_tries: 'INTEGER',
    lost_bill: 'STRUCT(input_tokens BIGINT, output_tokens BIGINT, cost_usd DECIMAL(24, 12))'"""

# Column to type and place in the details of a live judge's reply.
_DETAILS = {
    "take": ("INTEGER", "$.take"),
    "is_cached": ("BOOLEAN", "$.cached"),
    "ask": ("INTEGER", "$.ask"),
    "tries": ("INTEGER", "$.tries"),
    # Of the try that was answered: a judge may have to learn first how its endpoint wants to be asked.
    "requests": ("INTEGER", "$.requests"),
    "latency_seconds": ("DOUBLE", "$.latency_seconds"),
    "finish_reason": ("VARCHAR", "$.finish_reason"),
    "model": ("VARCHAR", "$.model"),
    "input_tokens": ("BIGINT", "$.usage.input_tokens"),
    "output_tokens": ("BIGINT", "$.usage.output_tokens"),
    "cached_input_tokens": ("BIGINT", "$.usage.cached_input_tokens"),
    "cost_usd": ("DECIMAL(24, 12)", "$.cost_usd"),
    # Of a recorded reply: who gave it, wherever it was recorded.
    "judge_model": ("VARCHAR", "$.judge_model"),
}


# The same for what a judgment says.
_FIELDS = {
    "is_correct": ("BOOLEAN", "$.is_correct"),
    "extracted_answer": ("VARCHAR", "$.extracted_answer"),
    "reasoning_score": ("INTEGER", "$.reasoning_score"),
    "error_type": ("VARCHAR", "$.error_type"),
    # Whether the extracted answer stands in the response; null where nobody looked. Warnings are a JSON list.
    "is_verified": ("BOOLEAN", "$.extraction_verified"),
    "warnings": ("VARCHAR", "$.warnings"),
}


def _casts(column: str, columns: Mapping[str, tuple[str, str]]) -> str:
    """One call takes all places out of the JSON, and DuckDB makes it once a row: half the time of ten calls."""
    values = f"json_extract_string({column}, {[place for _, place in columns.values()]})"
    return ", ".join(f"try_cast({values}[{number}] AS {kind})" for number, (kind, _) in enumerate(columns.values(), 1))


# Positions are given when the rows are in their table: counting them on the way would take all cores but one away.
_LOAD = {
    "sample": (
        _SAMPLE,
        """INSERT INTO samples SELECT $run, key, NULL, sample.id, sample.task_name, sample.task_type,
        sample.question_id, sample.prompt_variant, sample.target_model, sample.output_id, sample.metadata.language,
        length(sample.response)""",
    ),
    "reply": (
        # Details are JSON and cast with care: recorded replies bring what their recorder wrote, of any type.
        "judge: 'VARCHAR', attempt: 'INTEGER', details: 'JSON'",
        f"INSERT INTO replies SELECT $run, key, NULL, judge, attempt, {_casts('details', _DETAILS)}",
    ),
    "outcome": (
        _OUTCOME,
        f"""INSERT INTO outcomes SELECT $run, key, NULL, judge,
        coalesce(list_position($judges, judge), len($judges) + 1), coalesce(take, 1), true, status, method,
        score, verdict, {_casts("fields", _FIELDS)},
        fields, span, rules, flags, repairs, reason, coalesce(method = 'self_judge', false),
        coalesce(permanent, false), coalesce(lost_tries, 0), lost_bill""",
    ),
}

TABLES = {"sample": "samples", "reply": "replies", "outcome": "outcomes"}

# DuckDB keeps the order of the file when it inserts, on however many cores.
GIVE_POSITIONS = """UPDATE {table} SET position = rowid - (SELECT min(rowid) FROM {table} WHERE position IS NULL)
    + 1 + $before WHERE position IS NULL"""

# No line of the journal says these; they are found anew whenever it has grown.
DROP_UNTOLD = "DELETE FROM outcomes WHERE position < 0"

# A sample taken up twice (a run was killed in between) stands where it first stood.
KEEP_FIRST_SAMPLE = """DELETE FROM samples WHERE run = $run AND position NOT IN (
    SELECT min(position) FROM samples WHERE run = $run GROUP BY key)"""

# A judge asked again because nothing had come: the last outcome counts.
KEEP_LAST_OUTCOME = """DELETE FROM outcomes WHERE run = $run AND position NOT IN (
    SELECT max(position) FROM outcomes WHERE run = $run GROUP BY key, judge, take)"""

# What was taken up and never judged is missing, for every judge that was due: all of them, or, in a cascade,
# those that no valid judgment stands before. Positions are negative: no line of the journal says it.
ADD_MISSING = """INSERT INTO outcomes BY NAME
    SELECT $run AS run, due.key AS key, -row_number() OVER () AS position, due.judge AS judge,
        due.judge_order AS judge_order, 1 AS take, true AS is_final, 'missing' AS status,
        'not judged yet: run the same command again' AS reason,
        [] AS rules, [] AS flags, [] AS repairs, '{}' AS fields, false AS is_control,
        false AS is_permanent, 0 AS lost_tries
    FROM (
        SELECT samples.key, named.judge, named.judge_order
        FROM (SELECT key FROM samples WHERE run = $run) AS samples,
            (SELECT unnest($judges) AS judge, generate_subscripts($judges, 1) AS judge_order) AS named
    ) AS due
    ANTI JOIN (SELECT key, judge_order, status FROM outcomes WHERE run = $run) AS told
        ON told.key = due.key
        AND (told.judge_order = due.judge_order
            OR ($cascade AND told.judge_order < due.judge_order AND told.status = 'valid'))"""

# In a cascade the last judge asked has the last word.
MARK_FINAL = """UPDATE outcomes SET is_final = (key, judge_order) IN (
    SELECT (key, max(judge_order)) FROM outcomes WHERE run = $run GROUP BY key) WHERE run = $run"""


def load_statement(kind: str, object_bytes: int) -> str:
    """Lines of one kind from the journal into their table."""
    columns, insert = _LOAD[kind]
    return f"{insert} FROM {_LINES.format(object_bytes=object_bytes, columns=columns, kind=kind, source='journal')}"


def sample_texts(object_bytes: int) -> str:
    """Samples with their texts, from a part of the journal."""
    lines = _LINES.format(object_bytes=object_bytes, columns=_SAMPLE_WITH_TEXTS, kind="sample", source="texts")
    return f"SELECT key, sample FROM {lines}"  # noqa: S608 - our own text
