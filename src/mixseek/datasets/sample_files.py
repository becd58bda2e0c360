"""Rows written as a dataset: JSON lines, CSV or Parquet. Read again, each gives the samples that were written."""

import csv
import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import orjson

from mixseek.datasets.importers.reading.json_stream import LARGEST_VALUE_BYTES
from mixseek.errors import ConfigurationError
from mixseek.storage.duckdb_session import confine, escape_glob, first_line, offline_settings, open_duckdb
from mixseek.storage.durable import replacing, temporary_beside

Row = Mapping[str, Any]
LINES = (".jsonl", ".ndjson")
TABLES = (".csv", ".parquet")
# Beside texts and numbers; in CSV each is the text of its JSON.
_NUMBERS = {"repeat": "BIGINT"}
_DOCUMENTS = frozenset({"steps", "contexts", "scores", "metadata", "ground_truth_alternatives"})
_READ_LINES = (
    "read_json($path, columns = {structure}, format = 'newline_delimited', maximum_object_size = {largest}, "
    "compression = 'uncompressed')"
)


def check_suffix(target: Path) -> None:
    """Only what can be read again as it was written."""
    if target.suffix.lower() not in (*LINES, *TABLES):
        raise ConfigurationError(
            f"--to {target}: samples are written as JSON lines, CSV or Parquet; name a file that ends in .jsonl, "
            ".csv or .parquet"
        )


def write_rows(rows: Iterable[Row], target: Path) -> int:
    """How many there were; with none, nothing is written. The file is there when all could be read, and else not."""
    if target.suffix.lower() in LINES:
        return write_lines(rows, target)
    # A table has one header, and what columns there are is known after the last row.
    columns: dict[str, None] = {}
    with tempfile.TemporaryDirectory(prefix=".mixseek-rows-", dir=target.parent) as folder:
        lines = Path(folder) / "rows.jsonl"
        with lines.open("wb", buffering=1 << 20) as stream:
            count = write_encoded(noting_columns(rows, columns), stream)
        if count and target.suffix.lower() == ".csv":
            write_csv(lines, list(columns), target)
        elif count:
            write_parquet(lines, list(columns), target)
    return count


def write_lines(rows: Iterable[Row], target: Path) -> int:
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return 0
    with replacing(target) as stream:
        stream.write(encode_row(first))
        return 1 + write_encoded(iterator, stream)


def write_encoded(rows: Iterable[Row], stream: BinaryIO) -> int:
    count = 0
    for row in rows:
        stream.write(encode_row(row))
        count += 1
    return count


def noting_columns(rows: Iterable[Row], columns: dict[str, None]) -> Iterator[Row]:
    for row in rows:
        columns.update(dict.fromkeys(row))
        yield row


def write_csv(lines: Path, columns: list[str], target: Path) -> None:
    """Cells as they are, documents as JSON; what a row does not have is empty."""
    with replacing(target) as stream, lines.open("rb") as source:
        # Surrogates that stand alone, which JSON can say, are replaced.
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="replace", newline="")
        table = csv.writer(text, lineterminator="\n")
        table.writerow(columns)
        for line in source:
            row = json.loads(line)
            table.writerow([csv_cell(row.get(column)) for column in columns])
        text.flush()
        text.detach()


def csv_cell(value: Any) -> Any:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def write_parquet(lines: Path, columns: list[str], target: Path) -> None:
    """Documents are JSON columns, which come back as what they were."""
    kinds = {column: "JSON" if column in _DOCUMENTS else _NUMBERS.get(column, "VARCHAR") for column in columns}
    structure = ", ".join(f"\"{name}\": '{kind}'" for name, kind in kinds.items())
    source = _READ_LINES.format(structure=f"{{{structure}}}", largest=LARGEST_VALUE_BYTES)
    with temporary_beside(target) as temporary, open_duckdb(config=offline_settings()) as connection:
        confine(connection, lines, temporary)
        try:
            connection.execute("SET threads = 1")
            connection.execute(
                f"COPY (FROM {source}) TO $target (FORMAT parquet)",
                {"path": escape_glob(lines), "target": str(temporary)},
            )
        except duckdb.Error as error:
            raise ConfigurationError(f"--to {target}: cannot be written: {first_line(error)}") from error


def encode_row(row: Row) -> bytes:
    """One line; half of a surrogate pair, which UTF-8 does not have, is written as an escape."""
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return json.dumps(row).encode() + b"\n"
