"""Every judgment of a run as a table: a row for each sample, judge and take, in dataset order."""

import bisect
import re
import shutil
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from mixseek.domain.people import APART, LabelledSamples
from mixseek.errors import ConfigurationError, StorageError
from mixseek.index.listing import divided_samples
from mixseek.index.loading import INDEX, LOADING, attach_index, copy_part, ensure_indexed, object_bytes
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import Settings, confine, escape_glob, first_line, open_duckdb, run_in_scratch
from mixseek.storage.durable import digest_file, temporary_beside
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.scratch import note_elsewhere, private_directory
from mixseek.storage.workspace import RunDirectory, Workspace

# Every column with where it comes from, in the order of the file. `said` is what the protocol read, each value as JSON.
COLUMNS = {
    "id": "sample.id",
    "judge": "judge",
    "status": "status",
    "score": "score",
    "verdict": "verdict",
    "is_correct": "{is_correct: flag}",
    "extracted_answer": "{extracted_answer: text}",
    "error_type": "{error_type: text}",
    "span": "span",
    "rules": "coalesce(rules, [])",
    "flags": "[item.flag for item in coalesce(flags, [])]",
    "flag_details": "[item.detail for item in coalesce(flags, [])]",
    "reasoning_score": "{reasoning_score: whole}",
    "comment": "{comment: text}",
    "method": "method",
    "reason": "reason",
    "repairs": "coalesce(repairs, [])",
    "task_name": "sample.task_name",
    "target_model": "sample.target_model",
    "question_id": "sample.question_id",
    "prompt_variant": "sample.prompt_variant",
    "ground_truth": "sample.ground_truth",
    "ground_truth_alternatives": "coalesce(sample.ground_truth_alternatives, [])",
    "question": "coalesce(sample.question, '')",
    "response": "sample.response",
    "take": "take::BIGINT",
    "output_id": "sample.output_id",
    "task_type": "coalesce(sample.task_type, {task_type: text})",
    "total": "{total: number}",
    "total_maximum": "{total_maximum: number}",
    "scores": "nullif(said.scores::VARCHAR, 'null')",
    # The word that a judge writes of itself, where its protocol asks for one.
    "confidence": "{confidence: text}",
    "confidence_value": "confidence_value",
    "confidence_source": "confidence_source",
    "expected_score": "expected_score",
    "is_unexplained": "coalesce(is_unexplained, false)",
    "critical_fail": "{critical_fail: flag}",
    "same_family": "{same_family: flag}",
    "response_b": "sample.response_b",
    "target_b": "sample.target_b",
    "pair_state": "{state: text}",
    # Everything that the protocol read, as JSON: what has no column of its own is in here.
    "fields": "nullif(fields::VARCHAR, '{}')",
    # What people say of the sample, whether the judge says something else, and whether judges do.
    "people": "people",
    "people_share": "people_share",
    "judge_is_wrong": f"""CASE WHEN status = 'valid' AND score IS NOT NULL AND people_share IS NOT NULL
        THEN abs(score - people_share) >= {APART} END""",
    "judges_differ": "is_divided",
    # What checks made of the sample, as a JSON list.
    "check_findings": "checks",
    "steps": "sample.steps",
    "steps_b": "sample.steps_b",
    "contexts": "sample.contexts",
}
# A protocol of somebody else's may use the same word for another thing; that stays in `fields`.
_KINDS = {
    "flag": "CASE said.{0}::VARCHAR WHEN 'true' THEN true WHEN 'false' THEN false END",
    "text": """CASE WHEN starts_with(said.{0}::VARCHAR, '"') THEN said.{0}->>'$' END""",
    "whole": "CASE WHEN regexp_matches(said.{0}::VARCHAR, '^-?[0-9]+$') THEN try_cast(said.{0}::VARCHAR AS BIGINT) END",
    "number": "CASE WHEN regexp_matches(said.{0}::VARCHAR, '^-?[0-9]') THEN try_cast(said.{0}::VARCHAR AS DOUBLE) END",
}
_FIELD_OF_KIND = re.compile(r"{(\w+): (\w+)}")
# CSV has no lists: a span is start:end, names stand in order, texts are a JSON list.
_CSV_FORMS = {
    "span": "array_to_string(span, ':')",
    "rules": "array_to_string(rules, ' > ')",
    "flags": "array_to_string(flags, ' > ')",
    "repairs": "array_to_string(repairs, ' > ')",
    "flag_details": "CASE WHEN len(flag_details) > 0 THEN CAST(to_json(flag_details) AS VARCHAR) END",
    "ground_truth_alternatives": "CASE WHEN len(ground_truth_alternatives) > 0 "
    "THEN CAST(to_json(ground_truth_alternatives) AS VARCHAR) END",
}
# Columns that hold no text of anybody's.
_NUMBERS_AND_FLAGS = (
    *("score", "is_correct", "span", "reasoning_score", "take", "total", "total_maximum"),
    *("critical_fail", "same_family", "people_share", "judge_is_wrong", "judges_differ"),
    *("confidence_value", "expected_score", "is_unexplained"),
)
# What a spreadsheet would take for a formula is text to us; a plain number is a number to both.
_NEUTRALISED = r"""CASE WHEN left({0}, 1) IN ('=', '+', '-', '@', chr(9), chr(13))
    AND NOT regexp_full_match({0}, '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?')
    THEN chr(39) || {0} ELSE {0} END"""
SUFFIXES = (".jsonl", ".csv", ".parquet")
# A row group is as many bytes, however long its texts are; DuckDB bounds it so only where it need not keep the order.
# On one thread it keeps it all the same: the parts are read one after the other.
# It is written where we say: a second temporary file beside the first would be nobody's to remove.
_PARQUET = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE_BYTES 33554432, USE_TMP_FILE false"
_IN_TURN = "SET preserve_insertion_order = false; SET threads = 1"
# Of the journal, at once: texts are sorted in memory.
_PART_BYTES = 24 << 20
# Which outcome belongs to which sample, by their positions: a few bytes each.
_PAIRS = """CREATE TEMP TABLE pairs AS SELECT samples.position AS sample, outcomes.position AS outcome
    FROM samples JOIN outcomes USING (key)
    WHERE $chosen IS NULL OR outcomes.position IN (SELECT unnest($chosen::BIGINT[]))"""
_PEOPLE = """CREATE TEMP TABLE people AS SELECT unnest($positions::BIGINT[]) AS sample,
    unnest($verdicts::VARCHAR[]) AS people, unnest($shares::DOUBLE[]) AS people_share"""


@dataclass(frozen=True, slots=True)
class ExportedRows:
    """What people say of samples, and which judgments are written, by their places in the index; None for all."""

    people: LabelledSamples = field(default_factory=LabelledSamples)
    chosen: Sequence[int] | None = None


EVERY_ROW = ExportedRows()


@dataclass(frozen=True, slots=True)
class Exported:
    """The file that is written, and the format that the name asks for which it gets in the end."""

    target: Path
    suffix: str
    rows: ExportedRows


def export_run(workspace: Workspace, run: RunDirectory, to: Path, rows: ExportedRows = EVERY_ROW) -> int:
    """Write the file that the suffix asks for, whole or not at all; returns the number of rows."""
    suffix = to.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigurationError(
            f"{to}: unknown suffix {suffix or '(none)'}; the export is one of {', '.join(SUFFIXES)}"
        )
    if to.is_dir():
        raise ConfigurationError(f"{to}: a directory; name a file in it, such as {to / 'judgments.jsonl'}")
    if not to.parent.is_dir():
        raise ConfigurationError(f"{to}: there is no directory {to.parent}; create it first")
    if to.is_file() and digest_file(to) == read_manifest(run.manifest).dataset.get("sha256"):
        raise ConfigurationError(f"{to}: the data that was judged; name another file")
    ensure_indexed(workspace, run)
    with private_directory(workspace.scratch) as noted, temporary_beside(to) as target:
        note_elsewhere(noted, target)
        try:
            return run_in_scratch(
                workspace.scratch, run.journal, partial(write_table, workspace, run, Exported(target, suffix, rows))
            )
        except duckdb.Error as error:
            raise StorageError(
                f"{to}: cannot write the export: {first_line(error)}; free some space there and try again"
            ) from error


def write_table(workspace: Workspace, run: RunDirectory, to: "Exported", directory: Path, settings: Settings) -> int:
    """DuckDB reads the journal's texts part by part, joins them with the index and writes them, on all cores."""
    target, suffix = to.target, to.suffix
    # A place that takes no files is named in the words of the disk, not in DuckDB's.
    target.write_bytes(b"")
    rows = 0
    with open_duckdb(config=settings) as connection:
        index = attach_index(connection, workspace, run, INDEX)
        connection.execute(f"USE {INDEX}")
        confine(connection, target, directories=(directory,))
        connection.execute(_PAIRS, {"chosen": to.rows.chosen})
        people = to.rows.people
        verdicts = [people.verdicts[code] for code in people.codes]
        columns = {
            "positions": list(people.positions),
            "verdicts": [verdict.verdict for verdict in verdicts],
            "shares": [verdict.share for verdict in verdicts],
        }
        connection.execute(_PEOPLE, columns)
        connection.execute(f"CREATE TEMP TABLE divided AS {divided_samples(INDEX)}")
        longest = index.state.longest_bytes
        written: list[Path] = []
        for first, last, begin, end in list_parts(connection):
            texts, path = directory / "texts.jsonl", directory / f"{len(written)}{suffix}"
            copy_part(run.journal, begin, end, texts)
            parameters: dict[str, Any] = {"texts": escape_glob(texts), "object_bytes": object_bytes(longest)}
            parameters |= {"target": str(path), "first": first, "last": last}
            done = connection.execute(table_statement(suffix, is_first=not written), parameters).fetchone()
            rows += done[0] if done else 0
            if suffix == ".parquet":
                written.append(path)
            else:
                with path.open("rb") as stream, target.open("ab") as whole:
                    shutil.copyfileobj(stream, whole, 1 << 20)
                path.unlink()
                written = [path]
        if suffix == ".parquet":
            paths = [escape_glob(path) for path in written]
            connection.execute(_IN_TURN)
            connection.execute(
                f"COPY (FROM read_parquet($paths)) TO $target ({_PARQUET})", {"paths": paths, "target": str(target)}
            )
    return rows


def list_parts(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[int, int, int, int]]:
    """First and last sample, and where their lines begin and end; one at least: an empty table has a header too."""
    (indexed,) = connection.execute("SELECT indexed_bytes FROM index_state").fetchall()[0]
    places = connection.execute("SELECT offsets FROM places WHERE kind = 'sample' ORDER BY first").fetchall()
    offsets = array("q", b"".join(row[0] for row in places))
    first = 0
    while first < len(offsets):
        after = max(first + 1, bisect.bisect_left(offsets, offsets[first] + _PART_BYTES))
        end = offsets[after] if after < len(offsets) else indexed
        yield first + 1, after, offsets[first], end
        first = after
    if not offsets:
        yield 1, 0, 0, 0


def table_statement(suffix: str, *, is_first: bool) -> str:
    """COPY … TO, for one part of the journal; the header stands above the first."""
    named = [name for name, _ in _FIELD_OF_KIND.findall("".join(COLUMNS.values()))]
    structure = ", ".join(f'"{name}": "JSON"' for name in [*named, "scores"])
    # A sample that was taken up twice counts where it first stood.
    rows = f"""
        SELECT pairs.sample AS sample_position, texts.sample AS sample, people, people_share, is_divided,
            from_json(fields, '{{{structure}}}') AS said, outcomes.* EXCLUDE (key)
        FROM (SELECT * FROM pairs WHERE sample BETWEEN $first AND $last) AS pairs
        JOIN outcomes ON outcomes.position = pairs.outcome
        JOIN ({LOADING["texts"]}) AS texts ON texts.key = outcomes.key
        LEFT JOIN people ON people.sample = pairs.sample LEFT JOIN divided ON divided.key = outcomes.key"""  # noqa: S608 - our own text
    table = ", ".join(f"{expand(source)} AS {name}" for name, source in COLUMNS.items())
    order = "sample_position, judge_order, rows.judge, rows.take"
    query = f"SELECT {table} FROM ({rows}) AS rows ORDER BY {order}"  # noqa: S608 - our own text
    if suffix == ".csv":
        query = f"SELECT {', '.join(map(csv_cell, COLUMNS))} FROM ({query})"  # noqa: S608 - our own text
    form = {".jsonl": "FORMAT json", ".csv": f"FORMAT csv, HEADER {is_first}", ".parquet": "FORMAT parquet"}[suffix]
    return f"COPY ({query}) TO $target ({form})"


def expand(source: str) -> str:
    """A value that the protocol read, where it is of the kind that the column holds."""
    return _FIELD_OF_KIND.sub(lambda match: _KINDS[match[2]].format(match[1]), source)


def csv_cell(name: str) -> str:
    """The cell as text that no spreadsheet computes."""
    cell = _CSV_FORMS.get(name, name)
    return f"{cell if name in _NUMBERS_AND_FLAGS else _NEUTRALISED.format(cell)} AS {name}"
