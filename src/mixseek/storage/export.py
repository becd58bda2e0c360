"""Every judgment of a run as a table: a row for each sample and judge, in dataset order."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import duckdb

from mixseek.domain.judgments import Status
from mixseek.errors import ConfigurationError, StorageError
from mixseek.storage.duckdb_session import Settings, escape_glob, fetch_all, first_line, offline_settings
from mixseek.storage.durable import replacing, storage_error, temporary_beside
from mixseek.storage.manifest import read_manifest
from mixseek.storage.pairs import NOT_JUDGED, JournalPairs, JudgedTake
from mixseek.storage.records import encode_readable_line
from mixseek.storage.workspace import RunDirectory

# Every column with its type in Parquet, in the order of the file.
COLUMNS = {
    "id": "VARCHAR",
    "judge": "VARCHAR",
    "status": "VARCHAR",
    "score": "DOUBLE",
    "verdict": "VARCHAR",
    "is_correct": "BOOLEAN",
    "extracted_answer": "VARCHAR",
    "error_type": "VARCHAR",
    "span": "BIGINT[]",
    "rules": "VARCHAR[]",
    "flags": "VARCHAR[]",
    "flag_details": "VARCHAR[]",
    "reasoning_score": "BIGINT",
    "comment": "VARCHAR",
    "method": "VARCHAR",
    "reason": "VARCHAR",
    "repairs": "VARCHAR[]",
    "task_name": "VARCHAR",
    "target_model": "VARCHAR",
    "question_id": "VARCHAR",
    "prompt_variant": "VARCHAR",
    "ground_truth": "VARCHAR",
    "ground_truth_alternatives": "VARCHAR[]",
    "question": "VARCHAR",
    "response": "VARCHAR",
    "take": "BIGINT",
    "output_id": "VARCHAR",
    "task_type": "VARCHAR",
    "total": "DOUBLE",
    "total_maximum": "DOUBLE",
    "scores": "VARCHAR",
    "confidence": "VARCHAR",
    "critical_fail": "BOOLEAN",
    "same_family": "BOOLEAN",
    # Everything that the protocol read, as JSON: what has no column of its own is in here.
    "fields": "VARCHAR",
}
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
SUFFIXES = (".jsonl", ".csv", ".parquet")
_SMALLEST_OBJECT_BYTES = 4 << 20


def export_run(run: RunDirectory, to: Path) -> int:
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
    if suffix == ".jsonl":
        with replacing(to) as stream:
            rows, _ = write_rows(run, stream)
        return rows
    # Through JSON lines, so that what a row holds is decided in one place for all three.
    with staging(to) as staged:
        with staged.open("wb", buffering=1 << 20) as stream:
            rows, longest = write_rows(run, stream)
        with temporary_beside(to) as target:
            convert(staged, target, suffix, longest)
    return rows


def write_rows(run: RunDirectory, stream: BinaryIO) -> tuple[int, int]:
    """How many rows, and the length of the longest."""
    manifest = read_manifest(run.manifest)
    rows = longest = 0
    for one in JournalPairs(run.journal, manifest.judge_names, cascade=manifest.cascade).takes():
        line = encode_readable_line(table_row(one))
        stream.write(line)
        rows += 1
        longest = max(longest, len(line))
    return rows, longest


def table_row(judged: JudgedTake) -> dict[str, Any]:
    """One row from the journal's records; an outcome that is still due is missing."""
    sample = judged.sample
    outcome = judged.outcome or {"status": Status.MISSING, "reason": NOT_JUDGED}
    said = outcome.get
    fields = outcome.get("fields", {})
    field, given = fields.get, sample.get
    flags = said("flags", ())
    return {
        "id": sample["id"],
        "judge": judged.judge,
        "status": outcome["status"],
        "score": said("score"),
        "verdict": said("verdict"),
        "is_correct": of_kind(field("is_correct"), bool),
        "extracted_answer": of_kind(field("extracted_answer"), str),
        "error_type": of_kind(field("error_type"), str),
        "span": said("span"),
        "rules": said("rules", ()),
        "flags": [item["flag"] for item in flags],
        "flag_details": [item["detail"] for item in flags],
        "reasoning_score": of_kind(field("reasoning_score"), int),
        "comment": of_kind(field("comment"), str),
        "method": said("method"),
        "reason": said("reason"),
        "repairs": said("repairs", ()),
        "task_name": given("task_name"),
        "target_model": given("target_model"),
        "question_id": given("question_id"),
        "prompt_variant": given("prompt_variant"),
        "ground_truth": given("ground_truth"),
        "ground_truth_alternatives": given("ground_truth_alternatives", ()),
        "question": given("question", ""),
        "response": sample["response"],
        "take": judged.take,
        "output_id": given("output_id"),
        "task_type": given("task_type") or of_kind(field("task_type"), str),
        "total": of_kind(field("total"), (int, float)),
        "total_maximum": of_kind(field("total_maximum"), (int, float)),
        "scores": encode_json(field("scores")),
        "confidence": of_kind(field("confidence"), str),
        "critical_fail": of_kind(field("critical_fail"), bool),
        "same_family": of_kind(field("same_family"), bool),
        "fields": encode_json(fields or None),
    }


def encode_json(value: Any) -> str | None:
    """As text: protocols differ in what they read, and a column has one type."""
    return None if value is None else encode_readable_line({"": value})[4:-2].decode()


def of_kind(value: Any, kind: type | tuple[type, ...]) -> Any:
    """A protocol of somebody else's may use the same word for another thing; that stays in `fields`."""
    is_flag = isinstance(value, bool)
    return value if isinstance(value, kind) and is_flag == (kind is bool) else None


def convert(staged: Path, target: Path, suffix: str, longest: int) -> None:
    """JSON lines into CSV or Parquet, in the same order."""
    types = ", ".join(f"{name}: '{kind}'" for name, kind in COLUMNS.items())
    chosen = ", ".join(
        f"{_CSV_FORMS[name]} AS {name}" if suffix == ".csv" and name in _CSV_FORMS else name for name in COLUMNS
    )
    form = "FORMAT csv, HEADER" if suffix == ".csv" else "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 16384"
    object_bytes = max(_SMALLEST_OBJECT_BYTES, longest + 1_024)
    source = f"""read_json($staged, format = 'newline_delimited',
        maximum_object_size = {object_bytes}, columns = {{{types}}})"""
    query = f"COPY (SELECT {chosen} FROM {source}) TO $target ({form})"  # noqa: S608 - names and types of ours
    settings: Settings = {
        "threads": 1,
        "memory_limit": f"{200 + (12 * object_bytes >> 20)}MB",
        "temp_directory": str(staged.parent),
        **offline_settings(),
    }
    try:
        with duckdb.connect(config=settings) as connection:
            fetch_all(connection, query, {"staged": escape_glob(staged), "target": str(target)})
    except duckdb.Error as error:
        raise StorageError(
            f"{target.parent}: cannot write the export: {first_line(error)}; free some space there, or export to .jsonl"
        ) from error


@contextlib.contextmanager
def staging(to: Path) -> Iterator[Path]:
    """A file beside the target, where there is room for the result anyway; gone at the end."""
    try:
        with tempfile.TemporaryDirectory(prefix=".mixseek-export-", dir=to.parent) as directory:
            yield Path(directory) / "rows.jsonl"
    except OSError as error:
        raise storage_error("write", to, error) from error
