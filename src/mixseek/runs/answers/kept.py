"""Answer runs that are kept: by name, row by row, and as a table in a file."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from mixseek.datasets.answer_runs import PREFIX, answer_rows
from mixseek.errors import ConfigurationError, StorageError
from mixseek.storage.duckdb_session import confine, escape_glob, first_line, offline_settings, open_duckdb
from mixseek.storage.durable import digest_file, temporary_beside
from mixseek.storage.journal.journal import verify_journal
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.journal.records import encode_readable_line
from mixseek.storage.scratch import note_elsewhere, private_directory
from mixseek.storage.workspace import RunDirectory, Workspace

SUFFIXES = (".jsonl", ".csv", ".parquet")
_KINDS = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
# Lines may be as long as answers are.
_LINES = "format = 'newline_delimited', maximum_object_size = 1073741824"
_COPY = "COPY (SELECT {columns} FROM {table}) TO $target (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)"
# What a spreadsheet would take for a formula is text to us.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def find_answers(workspace: Workspace, name: str | None) -> RunDirectory | None:
    """The answer run that is meant; None where a judged run is. A judged run of the same name comes first."""
    if name is None:
        # Where nothing is judged yet, the only answers are what is meant.
        return (
            workspace.resolve_answers("latest") if len(workspace.answer_runs()) == 1 and not workspace.runs() else None
        )
    if name.startswith(PREFIX):
        return workspace.resolve_answers(name.removeprefix(PREFIX))
    names = [run.name for run in workspace.runs()]
    if any(run.startswith(name) for run in names) or name == "latest":
        return None
    answers = [run for run in workspace.answer_runs() if run.name.startswith(name)]
    return workspace.resolve_answers(name) if answers else None


def rows_of(run: RunDirectory) -> Iterator[dict[str, Any]]:
    """Each answer that was asked for, in order; raises DamagedError where the journal is not as it was sealed."""
    verify_journal(run)
    return answer_rows(run, read_manifest(run.manifest))


def find_rows(run: RunDirectory, wanted: str) -> list[dict[str, Any]]:
    """The row of that id, or all rows of the question of that id; ConfigurationError where there is neither."""
    rows = [row for row in rows_of(run) if wanted in (row["id"], row["question_id"])]
    exact = [row for row in rows if row["id"] == wanted]
    if not rows:
        raise ConfigurationError(
            f"answers {run.name}: no answer and no question with the id {wanted!r}; an answer is called "
            "QUESTION/TARGET/VARIANT/REPEAT"
        )
    return exact or rows


def export_answers(workspace: Workspace, run: RunDirectory, to: Path) -> int:
    """Writes the file that the suffix asks for, whole or not at all; returns the number of rows."""
    suffix = to.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigurationError(
            f"{to}: unknown suffix {suffix or '(none)'}; the export is one of {', '.join(SUFFIXES)}"
        )
    if to.is_dir():
        raise ConfigurationError(f"{to}: a directory; name a file in it, such as {to / 'answers.jsonl'}")
    if not to.parent.is_dir():
        raise ConfigurationError(f"{to}: there is no directory {to.parent}; create it first")
    if to.is_file() and digest_file(to) == read_manifest(run.manifest).dataset.get("sha256"):
        raise ConfigurationError(f"{to}: the questions that were asked; name another file")
    writers: Mapping[str, Callable[[Path], int]] = {
        ".jsonl": partial(write_lines, partial(rows_of, run)),
        ".csv": partial(write_csv, partial(rows_of, run)),
        ".parquet": partial(write_parquet, workspace, partial(rows_of, run)),
    }
    with temporary_beside(to) as target:
        return writers[suffix](target)


def write_lines(rows: Callable[[], Iterable[Mapping[str, Any]]], target: Path) -> int:
    """JSON lines, which any JSON reader takes."""
    count = 0
    with target.open("wb", buffering=1 << 20) as stream:
        for row in rows():
            stream.write(encode_readable_line(row))
            count += 1
    return count


def write_csv(rows: Callable[[], Iterable[Mapping[str, Any]]], target: Path) -> int:
    """A column for each name that any row has; lists and objects as JSON."""
    columns = columns_of(rows())
    count = 0
    with target.open("w", encoding="utf-8", newline="", errors="replace") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for row in rows():
            writer.writerow([csv_cell(row.get(name)) for name in columns])
            count += 1
    return count


def columns_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Every column with the type that holds all of its values; a column of several types is one of JSON texts."""
    columns: dict[str, str | None] = {}
    for row in rows:
        for name, value in row.items():
            known = columns.setdefault(str(name), None)
            if value is None:
                continue
            kind = _KINDS.get(type(value), "JSON")
            if known is None:
                columns[str(name)] = kind
            elif known != kind:
                columns[str(name)] = "DOUBLE" if {known, kind} == {"BIGINT", "DOUBLE"} else "JSON"
    return {name: kind or "VARCHAR" for name, kind in columns.items()}


def csv_cell(value: object) -> object:
    """Text as a spreadsheet may have it: what it would take for a formula is text."""
    if isinstance(value, dict | list | tuple):
        return json_text(value)
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS) and not is_number(value):
        return f"'{value}"
    return value


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def json_text(value: object) -> str:
    return encode_readable_line({"value": value}).decode().removeprefix('{"value":').rstrip()[:-1]


def write_parquet(workspace: Workspace, rows: Callable[[], Iterable[Mapping[str, Any]]], target: Path) -> int:
    """Typed by what is there; nothing is guessed, so an id of digits stays a text."""
    columns = columns_of(rows())
    # A name that differs from another one in case alone would be the same column there.
    named = {name: f"c{number}" for number, name in enumerate(columns)}
    count = 0
    with private_directory(workspace.scratch) as directory:
        note_elsewhere(directory, target)
        lines = directory / "rows.jsonl"
        with lines.open("wb", buffering=1 << 20) as stream:
            for row in rows():
                cells = {
                    named[str(name)]: json_text(value) if columns[str(name)] == "JSON" else value
                    for name, value in row.items()
                    if value is not None
                }
                stream.write(encode_readable_line(cells))
                count += 1
        kinds = ", ".join(f"{named[name]}: '{'VARCHAR' if kind == 'JSON' else kind}'" for name, kind in columns.items())
        chosen = ", ".join(f"{named[name]} AS {quoted_name(name)}" for name in unlike(columns))
        target.write_bytes(b"")
        try:
            with open_duckdb(config=offline_settings()) as connection:
                confine(connection, target, directories=(directory,))
                table = f"read_json($lines, {_LINES}, columns = {{{kinds}}})"
                connection.execute(
                    _COPY.format(columns=chosen, table=table), {"lines": escape_glob(lines), "target": str(target)}
                )
        except duckdb.Error as error:
            raise StorageError(f"{target}: cannot write the export: {first_line(error)}") from error
    return count


def unlike(columns: Iterable[str]) -> Iterator[str]:
    """The columns, without those whose name is there already in other letters."""
    seen: set[str] = set()
    for name in columns:
        if name.lower() not in seen:
            seen.add(name.lower())
            yield name


def quoted_name(name: str) -> str:
    """An identifier of SQL, whatever is in it."""
    return '"' + name.replace('"', '""').replace("\x00", "") + '"'
