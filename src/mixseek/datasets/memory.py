"""Rows that a program has in memory, as a file: read twice and resumed like any other dataset."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import duckdb
import orjson

from mixseek.datasets.spool import keep_copy
from mixseek.datasets.tables import is_nested, select_plain
from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import confine, first_line, offline_settings, open_duckdb
from mixseek.storage.journal.records import make_plain

# What rows in memory are called in messages and in the names of runs.
IN_MEMORY = "data"
_FETCH_ROWS = 1_000
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
_SAMPLE_FIELDS = tuple(item.name for item in fields(Sample))
# So many lines are written together.
_LINES_AT_ONCE = 256


@runtime_checkable
class ArrowStream(Protocol):
    """A table of anybody's: pandas, polars, pyarrow, Hugging Face datasets, a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True, slots=True)
class OtherConnection:
    """A relation of DuckDB as a mere stream: another connection does not take it as what it is."""

    relation: duckdb.DuckDBPyRelation

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.relation.__arrow_c_stream__(requested_schema)


# Dicts by the names of columns, samples, or a table.
Rows = Iterable[Mapping[str, Any] | Sample] | ArrowStream


def keep_rows(data: object, directory: Path) -> Path:
    """The path of a copy, named by its content; raises DatasetError for what is no rows. A generator is used up."""
    if isinstance(data, ArrowStream):
        rows: Iterable[object] = table_rows(with_index(data))
    elif isinstance(data, Mapping | bytes) or not isinstance(data, Iterable):
        raise DatasetError(
            f"{IN_MEMORY}: a value of type {type(data).__name__}; give a path, a list of dicts, or a table"
        )
    else:
        rows = data
    return keep_copy(directory, IN_MEMORY, join_lines(rows))


def join_lines(rows: Iterable[object]) -> Iterator[bytes]:
    """JSON lines, some hundred at a time."""
    lines: list[bytes] = []
    for number, row in enumerate(rows, 1):
        lines.append(encode_row(row, number))
        if len(lines) == _LINES_AT_ONCE:
            yield b"".join(lines)
            lines = []
    yield b"".join(lines)


def encode_row(row: object, number: int) -> bytes:
    """One line; what JSON has no word for becomes text, and half of a surrogate pair an escape."""
    if isinstance(row, Sample):
        # A field that says nothing is left out: a column of nulls would be no column at all.
        fields = {name: getattr(row, name) for name in _SAMPLE_FIELDS} | row.step_documents()
        row = {name: value for name, value in fields.items() if value or (name.startswith("response") and value == "")}
    elif not isinstance(row, Mapping):
        raise DatasetError(
            f"{IN_MEMORY}: row {number} is a value of type {type(row).__name__}, expected a dict or a Sample "
            'such as {"id": "1", "response": "…", "ground_truth": "…"}'
        )
    try:
        try:
            return orjson.dumps(row if type(row) is dict else dict(row), default=make_plain, option=_OPTIONS)
        except TypeError:
            return json.dumps(make_plain(row)).encode() + b"\n"
    except RecursionError as error:
        raise DatasetError(f"{IN_MEMORY}: row {number} is nested too deeply, or in itself") from error
    except UnicodeDecodeError as error:
        raise DatasetError(f"{IN_MEMORY}: row {number} has bytes in it that are no UTF-8 text; decode them") from error


def with_index(table: Any) -> Any:
    """An index of pandas that has names as columns: `set_index("id")` must not cost the ids."""
    index = getattr(table, "index", None)
    named = [name for name in getattr(index, "names", ()) if name is not None and name not in table.columns]
    return table.reset_index(level=named) if named else table


def table_rows(table: ArrowStream) -> Iterator[dict[str, Any]]:
    """Rows as of a Parquet file with the same columns: dates and the like as text, nested values as they are."""
    try:
        with open_duckdb(config=offline_settings()) as connection:
            # What is given may ask for more than itself, and gets nothing.
            confine(connection)
            # One thread keeps the order.
            connection.execute("SET threads = 1")
            connection.register(
                "given", OtherConnection(table) if isinstance(table, duckdb.DuckDBPyRelation) else table
            )
            kinds = {str(name): str(kind) for name, kind, *_ in connection.execute("DESCRIBE given").fetchall()}
            nested = [name for name, kind in kinds.items() if is_nested(kind)]
            columns = ", ".join(select_plain(name, kind) for name, kind in kinds.items())
            connection.execute(f"SELECT {columns} FROM given")  # noqa: S608 - column names are quoted by select_plain
            while cells := connection.fetchmany(_FETCH_ROWS):
                for row in (dict(zip(kinds, values, strict=True)) for values in cells):
                    yield row | {name: orjson.loads(row[name]) for name in nested if row[name] is not None}
    except duckdb.Error as error:
        raise DatasetError(f"{IN_MEMORY}: the table cannot be read: {first_line(error)}") from error
