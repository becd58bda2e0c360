"""The index's tables and the statements that fill them from a journal."""

from collections.abc import Mapping

from mixseek.storage.scored_schema import SCORED_SCHEMA

# Raise it with any change below: an index of another version is thrown away and rebuilt.
SCHEMA_VERSION = 9

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
    reason VARCHAR, is_control BOOLEAN, is_permanent BOOLEAN, lost_tries INTEGER
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
    permanent: 'BOOLEAN', lost_tries: 'INTEGER'"""

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
        coalesce(permanent, false), coalesce(lost_tries, 0)""",
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
