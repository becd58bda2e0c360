"""Row sources that are text: JSON lines and CSV, plain or gzipped, one line in memory at a time."""

import codecs
import contextlib
import csv
import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any

import orjson

from mixseek.domain.lines import LONGEST_LINE_BYTES, bounded_lines
from mixseek.errors import DatasetError, reason_of
from mixseek.lazy_dataclass import dataclass

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
        """The place in words; `name` is what the dataset is called."""
        return f"{name}: {self.unit} {place}" if self.locate is None else self.locate(place)


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
    # In a text a quote is escaped, so what is counted here are keys; looked for only where there is one too many.
    keys = text.count(b'":') + text.count(b'" :')
    if keys > len(row):
        keys -= text.count(b'\\":') + text.count(b'\\" :')
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
    """The number of keys of all objects in it."""
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
    repeated: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            repeated.extend(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        return made

    with contextlib.suppress(ValueError, RecursionError):
        json.loads(text, object_pairs_hook=note)
    return repeated[0] if repeated else None


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
