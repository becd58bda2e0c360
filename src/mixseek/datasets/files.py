"""Files as rows: JSON lines and CSV, plain or gzipped; Parquet and lists of JSON objects, which DuckDB streams."""

import codecs
import contextlib
import csv
import gzip
import hashlib
import importlib
import json
import os
import re
import shutil
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NoReturn

import duckdb
import orjson

from mixseek.domain.lines import LONGEST_LINE_BYTES, bounded_lines
from mixseek.errors import DatasetError, reason_of
from mixseek.storage.duckdb_session import confine, escape_glob, first_line, offline_settings, open_duckdb
from mixseek.storage.durable import replacing, storage_error

# What comes once as a file, so that it can be read twice and resumed.

_CHUNK_BYTES = 1 << 20


def spool_stdin(directory: Path, stream: BinaryIO | None = None) -> Path:
    """The path of a copy, named by its content: the same input piped in again is the same file, and the same run."""
    stream = sys.stdin.buffer if stream is None else stream
    if stream.isatty():
        raise DatasetError("-: nothing is piped in; use it as `… | mixseek judge -`, or name a file")
    return keep_copy(directory, "stdin", iter(lambda: stream.read(_CHUNK_BYTES), b""))


def keep_copy(directory: Path, kind: str, chunks: Iterable[bytes]) -> Path:
    """The path of a copy of JSON lines, named by its content."""
    digest = hashlib.sha256()
    temporary = directory / f".{kind}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as spooled:
            for chunk in chunks:
                digest.update(chunk)
                spooled.write(chunk)
        target = directory / f"{kind}-{digest.hexdigest()[:16]}.jsonl"
        temporary.replace(target)
    except OSError as error:
        raise storage_error(f"keep a copy of {kind}", directory, error) from error
    finally:
        # What kept it from being written keeps it from being removed, and has been told.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return target


# Row sources that are text: JSON lines and CSV, plain or gzipped, one line in memory at a time.

Row = dict[str, Any]
Rows = Iterator[tuple[int, Row]]
ByteStream = gzip.GzipFile | BufferedReader
_HEAD_BYTES = 8_192
# orjson turns integers beyond this into floats, which would change an id or a ground truth.
_EXACT_LIMIT = 2.0**63
# What is nested deeper can be read and not be written again.
DEEPEST_ROW = 200
TOO_DEEP = f"is nested more than {DEEPEST_ROW} levels deep, which no row needs to be"


@dataclass(frozen=True, slots=True)
class RowSource:
    """A file as rows; `unit` is the word for the number that comes with each."""

    path: Path
    format: str
    unit: str
    rows: Callable[[], Rows]
    # Files beside it that its rows come from, too.
    companions: tuple[Path, ...] = ()
    # What is remarkable about the whole; known after all rows were read.
    notices: Callable[[], tuple[str, ...]] = tuple
    # Where `path` is no file: those that its rows come from, in order, and the place of a row in one of them.
    parts: tuple[Path, ...] = ()
    locate: Callable[[int], str] | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that rows are read from."""
        return self.parts or (self.path,)

    def where(self, name: str, place: int) -> str:
        """In words; `name` is what the dataset is called."""
        return f"{name}: {self.unit} {place}" if self.locate is None else self.locate(place)


# Several files as one: a folder, a glob, or what stands at an address, of which there is a copy here then.

_IS_TABLE = re.compile(r".*\.((jsonl|ndjson|json|csv|tsv)(\.gz)?|parquet)", re.IGNORECASE)
_MAGIC = re.compile(r"[*?\[]")
_IS_ADDRESS = re.compile(r"[a-z][a-z0-9+]*://")


def find_parts(path: str, spool_directory: Path | None) -> list[Path]:
    """By name; none where the path says one file. Raises DatasetError where it says several and there are none."""
    if _IS_ADDRESS.match(path):
        if spool_directory is None:
            raise DatasetError(f"{path}: an address cannot be read here; name a file")
        return fetch_parts(path, spool_directory)
    folder = Path(path)
    try:
        is_folder, is_pattern = folder.is_dir(), _MAGIC.search(path) is not None and not folder.exists()
    except OSError:
        # Whoever opens it says why that cannot be done.
        return []
    if is_folder:
        parts = [file for file in folder.rglob("*") if file.is_file() and is_table(str(file.relative_to(folder)))]
    elif is_pattern:
        pattern = str(folder.relative_to(folder.anchor))
        parts = [file for file in Path(folder.anchor).glob(pattern) if file.is_file()]
    else:
        return []
    return sorted(parts) or refuse_nothing(path)


def is_table(name: str) -> bool:
    """Whether a file of a folder holds rows; what other tools leave beside them begins with a dot or an underscore."""
    return _IS_TABLE.fullmatch(name) is not None and not any(part.startswith((".", "_")) for part in Path(name).parts)


def refuse_nothing(path: str) -> NoReturn:
    raise DatasetError(f"{path}: no .jsonl, .json, .csv, .tsv or .parquet file is there; check the path")


def fetch_parts(address: str, directory: Path) -> list[Path]:
    """Copies of the files at an address (s3://, gs://), made by the library that Ray Data reads with, and kept."""
    try:
        arrow: Any = importlib.import_module("pyarrow.fs")
    except ModuleNotFoundError as error:
        raise DatasetError(f"{address}: needs an extra: pip install 'mixseek[ray]'") from error
    # What follows a question mark is for the store: region, endpoint_override.
    named, *settings = address.split("?", 1)
    fixed = _MAGIC.split(named)[0]
    root = named if fixed == named else fixed.rpartition("/")[0]
    try:
        store, base = arrow.FileSystem.from_uri("?".join((root, *settings)))
        files = [store.get_file_info(base)]
        if not files[0].is_file:
            listed = store.get_file_info(arrow.FileSelector(base, recursive=True, allow_not_found=True))
            pattern = base + named[len(root) :]
            files = [
                one
                for one in listed
                if one.is_file
                and (
                    is_table(one.path.removeprefix(base).lstrip("/"))
                    if root == named
                    else PurePosixPath(one.path).match(pattern)
                )
            ]
        return sorted(fetch(store, one, directory / "fetched") for one in files) or refuse_nothing(address)
    except (OSError, ValueError) as error:
        raise DatasetError(f"{address}: cannot be read: {first_line(error)}") from error


def fetch(store: Any, info: Any, directory: Path) -> Path:
    """Its copy; one of the same size and time is not fetched again."""
    copy: Path = directory / info.path
    if ".." in copy.parts:
        raise DatasetError(f"{info.path}: such a name cannot be kept here; give it another")
    changed = info.mtime_ns
    if copy.is_file() and (copy.stat().st_size, copy.stat().st_mtime_ns) == (info.size, changed):
        return copy
    copy.parent.mkdir(parents=True, exist_ok=True)
    with store.open_input_stream(info.path) as source, replacing(copy) as stream:
        shutil.copyfileobj(source, stream, _CHUNK_BYTES)
    os.utime(copy, ns=(changed, changed))
    return copy


def join_sources(path: Path, sources: Sequence[RowSource]) -> RowSource:
    """Rows of one after the other, numbered through."""

    def all_rows() -> Iterator[tuple[RowSource, int, Row]]:
        return ((source, place, row) for source in sources for place, row in source.rows())

    def locate(number: int) -> str:
        # By reading again: it is said once, when something is wrong.
        source, place, _ = next(islice(all_rows(), number - 1, None))
        return source.where(str(source.path), place)

    return RowSource(
        path,
        "+".join(sorted({source.format for source in sources})),
        "row",
        lambda: ((number, row) for number, (_, _, row) in enumerate(all_rows(), 1)),
        tuple(beside for source in sources for beside in source.companions),
        lambda: tuple(notice for source in sources for notice in source.notices()),
        tuple(source.path for source in sources),
        locate,
    )


def read_json_lines(path: Path, longest: int = LONGEST_LINE_BYTES) -> Rows:
    """Line number and row: a JSON object a line; blank lines are skipped."""
    with reading(path) as stream:
        offset = stream.tell()
        for number, line in enumerate(bounded_lines(path, stream, longest), 1):
            begin, offset = offset, offset + len(line)
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                if line.isspace():
                    continue
                row = look_again(path, number, begin, line)
            if type(row) is not dict:
                raise DatasetError(
                    f"{path}: line {number} is {name_of(row)}, expected an object "
                    'such as {"id": "1", "response": "…", "ground_truth": "…"}'
                )
            check_row(f"{path}: line {number}", line, row)
            for value in row.values():
                if type(value) is float and abs(value) >= _EXACT_LIMIT:
                    row = json.loads(line)
                    break
            yield number, row


def check_row(place: str, text: bytes, row: Row) -> None:
    """Refuse what JSON readers pass over in silence: a key that stands twice, and nesting that cannot be written."""
    # Counted before anything is parsed again: hardly any row gets past the two conditions.
    if text.count(b"{") + text.count(b"[") > DEEPEST_ROW and depth_of(row) > DEEPEST_ROW:
        raise DatasetError(f"{place} {TOO_DEEP}")
    # In a text a quote is escaped, so what is counted here are keys.
    keys = sum(text.count(end) - text.count(b"\\" + end) for end in (b'":', b'" :'))
    if keys > len(row) and keys > count_keys(row) and (twice := repeated_key(text)) is not None:
        raise DatasetError(f"{place}: the key `{twice}` stands twice in one object; keep one of them")


def depth_of(value: Any) -> int:
    """Levels of objects and lists, without recursion."""
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [item for part in level for item in parts_of(part) if isinstance(item, dict | list)]
    return depth


def count_keys(value: Any) -> int:
    """Of all objects in it."""
    count, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        count += len(part) if isinstance(part, dict) else 0
        waiting += [item for item in parts_of(part) if isinstance(item, dict | list)]
    return count


def parts_of(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def repeated_key(text: bytes) -> str | None:
    """The first key that its object has twice."""
    found: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            found.extend(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        return made

    with contextlib.suppress(ValueError, RecursionError):
        json.loads(text, object_pairs_hook=note)
    return found[0] if found else None


def read_delimited(path: Path, format_name: str, longest: int = LONGEST_LINE_BYTES) -> Rows:
    """Number of the line where the row begins, and the row, of CSV or TSV with a header line; every cell is text.

    Python's reader, because it names the line of a bad row and never guesses. DuckDB's guesses: given a fixed dialect
    it still took rows that begin with `#` for comments and dropped them.
    """
    # The default limit of 128 KB a cell is less than a long response; it can only be set for the whole process.
    csv.field_size_limit(longest)
    with reading(path) as stream:
        lines = decode_lines(path, stream, longest)
        first = next(lines, "")
        # A comma, unless the header line has none but has what spreadsheets of other countries write.
        guessed = next((mark for mark in (",", ";", "\t") if mark in first), ",")
        delimiter = "\t" if format_name == "tsv" else guessed
        table = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
        begin = 1
        try:
            header = [cell.strip() for cell in next(table, [])]
            if len(set(header)) < len(header):
                twice = next(name for name, times in Counter(header).items() if times > 1)
                raise DatasetError(f"{path}: line 1: the column `{twice}` appears twice; rename one")
            begin = table.line_num + 1
            for cells in table:
                if len(cells) == len(header):
                    yield begin, dict(zip(header, cells, strict=True))
                elif cells:
                    raise DatasetError(
                        f"{path}: line {begin} has {len(cells)} cells, the header has {len(header)}; "
                        'put cells that contain the delimiter or a line break in "…"'
                    )
                begin = table.line_num + 1
        except csv.Error as error:
            raise DatasetError(
                f"{path}: line {begin}: {error}; check the quotes of this row "
                '(a cell with a quote, comma or line break stands in "…", quotes inside it doubled)'
            ) from error


@contextlib.contextmanager
def reading(path: Path) -> Iterator[ByteStream]:
    """The file's lines, unpacked, without a byte-order mark; whatever the disk says becomes one line."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            skip_mark(path, stream)
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DatasetError(f"{path}: not a complete gzip file ({error}); pack or download it again") from error
    except OSError as error:
        raise DatasetError(f"{path}: cannot read: {reason_of(error)}") from error


def skip_mark(path: Path, stream: ByteStream) -> None:
    """Step over a UTF-8 byte-order mark, and refuse what is plainly not text before anything is parsed."""
    head = stream.read(_HEAD_BYTES)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DatasetError(f"{path}: encoded as UTF-16; save it as UTF-8")
    if b"\0" in head:
        meant = "; it looks like Parquet: rename it to .parquet" if head.startswith(b"PAR1") else ""
        raise DatasetError(f"{path}: a binary file (byte {head.index(0)} is zero), expected text in UTF-8{meant}")
    stream.seek(len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0)


def look_again(path: Path, number: int, offset: int, line: bytes) -> Any:
    """A line that orjson refused: read it if Python's reader can (NaN, unpaired surrogates), else say what is wrong."""
    text = decode_line(path, number, offset, line)
    try:
        # Missing cells of a data frame are often written as NaN, which JSON does not have.
        return json.loads(text, parse_constant=lambda name: None if name == "NaN" else name)
    except json.JSONDecodeError as error:
        raise DatasetError(
            f"{path}: line {number}, column {error.colno}: invalid JSON: {error.msg.lower()}; "
            "every line must be one complete JSON object"
        ) from error
    except RecursionError:
        raise DatasetError(f"{path}: line {number}: JSON nested too deeply to be a row") from None
    except ValueError:
        # Python reads no integer of more than 4,300 digits.
        raise DatasetError(
            f"{path}: line {number}: holds a number of thousands of digits; write it as text, in quotes"
        ) from None


def decode_lines(path: Path, stream: ByteStream, longest: int = LONGEST_LINE_BYTES) -> Iterator[str]:
    """Lines as text, each checked, so that the first wrong byte is named by its place."""
    offset = stream.tell()
    for number, line in enumerate(bounded_lines(path, stream, longest), 1):
        yield decode_line(path, number, offset, line)
        offset += len(line)


def decode_line(path: Path, number: int, offset: int, line: bytes) -> str:
    """UTF-8 or a DatasetError that names line and byte."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: line {number} is not valid UTF-8 (byte 0x{line[error.start]:02x} at offset "
            f"{offset + error.start}); convert the file to UTF-8, such as with iconv -f CP932 (or GBK) -t UTF-8"
        ) from error


def name_of(value: Any) -> str:
    """A JSON value's kind in a sentence."""
    kinds = {list: "a JSON list", str: "a JSON string", type(None): "null"}
    return kinds.get(type(value)) or f"the JSON value {str(value).lower()}"


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
