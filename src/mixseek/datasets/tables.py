"""Parquet and lists of JSON objects, which DuckDB streams."""

import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb
import orjson

from mixseek.datasets.files import DEEPEST_ROW, TOO_DEEP, Rows, check_row, depth_of, name_of
from mixseek.errors import DatasetError
from mixseek.storage.duckdb_session import confine, escape_glob, first_line, offline_settings, open_duckdb

_FETCH_ROWS = 1_000
# Enough for row groups of ordinary writers; a file with larger ones is read without a limit instead of refused.
_MEMORY_LIMIT = "256MB"
_AS_THEY_ARE = {"VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_AS_THEY_ARE |= {"UBIGINT", "FLOAT", "DOUBLE"}
_PARQUET = "read_parquet($path, binary_as_string = true)"
_DESCRIBE = f"DESCRIBE SELECT * FROM {_PARQUET}"  # noqa: S608 - two constants
_ELEMENTS = "SELECT json FROM read_json_objects($path, format = 'array', maximum_object_size = 67108864)"


def read_parquet(path: Path) -> Rows:
    """Row number and row; only plain types reach Python: dates and the like as text, nested values as JSON values."""
    with connecting(path) as connection:
        columns = connection.execute(_DESCRIBE, {"path": escape_glob(path)}).fetchall()
    kinds = {str(column[0]): str(column[1]) for column in columns}
    nested = [name for name, kind in kinds.items() if is_nested(kind)]
    chosen = ", ".join(select_plain(name, kind) for name, kind in kinds.items())
    query = f"SELECT {chosen} FROM {_PARQUET}"  # noqa: S608 - column names are quoted by select_plain
    for number, cells in enumerate(stream_query(path, query), 1):
        row = dict(zip(kinds, cells, strict=True))
        row |= {name: orjson.loads(row[name]) for name in nested if row[name] is not None}
        if nested and depth_of(row) > DEEPEST_ROW:
            raise DatasetError(f"{path}: row {number} {TOO_DEEP}")
        yield number, row


def read_json_array(path: Path) -> Rows:
    """Number and element of `[{…}, {…}]`: the list itself is never in memory."""
    for number, (text,) in enumerate(stream_query(path, _ELEMENTS), 1):
        try:
            row = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise DatasetError(f"{path}: item {number} cannot be read: {error.msg}") from error
        if not isinstance(row, dict):
            raise DatasetError(f"{path}: item {number} is {name_of(row)}, expected an object")
        check_row(f"{path}: item {number}", text.encode("utf-8", "surrogatepass"), row)
        yield number, row


def stream_query(path: Path, query: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a query over one file, with bounded memory where that suffices."""
    done = 0
    try:
        for row in stream_once(path, query, _MEMORY_LIMIT):
            yield row
            done += 1
    except duckdb.OutOfMemoryException:
        yield from islice(stream_once(path, query, None), done, None)


def stream_once(path: Path, query: str, memory_limit: str | None) -> Iterator[tuple[Any, ...]]:
    """One thread: it is fast enough, keeps the order of the file and holds one row group, not several."""
    with connecting(path) as connection:
        connection.execute("SET threads = 1")
        # Prefetching keeps whole row groups in memory for a disk that is right here.
        connection.execute("SET disable_parquet_prefetching = true")
        if memory_limit is not None:
            connection.execute(f"SET memory_limit = '{memory_limit}'")
        connection.execute(query, {"path": escape_glob(path)})
        while rows := connection.fetchmany(_FETCH_ROWS):
            yield from rows


@contextlib.contextmanager
def connecting(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """An in-memory DuckDB that never looks for extensions on the network; its refusals become one line."""
    try:
        with open_duckdb(config=offline_settings()) as connection:
            confine(connection, path)
            yield connection
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise DatasetError(
            f"{path}: cannot be read: {unnamed(first_line(error), path)}; "
            "check that the content is what the suffix says"
        ) from error


def select_plain(name: str, kind: str) -> str:
    """One item of the SELECT list that arrives as str, bool, int or float."""
    column = '"' + name.replace('"', '""') + '"'
    if is_nested(kind):
        return f"CAST(to_json({column}) AS VARCHAR) AS {column}"
    if kind in _AS_THEY_ARE:
        return column
    return f"CAST({column} AS VARCHAR) AS {column}"


def is_nested(kind: str) -> bool:
    """Lists, arrays, structs, maps, unions and JSON."""
    return kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION", "JSON", "VARIANT"))


def unnamed(text: str, path: Path) -> str:
    """DuckDB's words without the file's name, which stands before them already."""
    for quoted in (f' in file "{path}",', f" File '{path}'", f' "{path}"', f" '{path}'"):
        text = text.replace(quoted, "")
    return text
