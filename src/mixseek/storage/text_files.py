"""Row sources that are text: JSON lines and CSV, plain or gzipped, one line in memory at a time."""

import codecs
import contextlib
import csv
import gzip
import json
import sys
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import orjson

from mixseek.errors import DatasetError

Row = dict[str, Any]
ByteStream = gzip.GzipFile | BufferedReader
_HEAD_BYTES = 8_192
# orjson turns integers beyond this into floats, which would change an id or a ground truth.
_EXACT_LIMIT = 2.0**63


class JsonLines:
    """A JSON object a line; blank lines are skipped."""

    unit: ClassVar[str] = "line"
    format: ClassVar[str] = "jsonl"

    def __init__(self, path: Path) -> None:
        self.path = path

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Line number and row."""
        with reading(self.path) as stream:
            offset = stream.tell()
            for number, line in enumerate(stream, 1):
                try:
                    row = orjson.loads(line)
                except orjson.JSONDecodeError:
                    if line.isspace():
                        offset += len(line)
                        continue
                    row = look_again(self.path, number, offset, line)
                if type(row) is not dict:
                    raise DatasetError(
                        f"{self.path}: line {number} is {name_of(row)}, expected an object "
                        'such as {"id": "1", "response": "…", "ground_truth": "…"}'
                    )
                for value in row.values():
                    if type(value) is float and abs(value) >= _EXACT_LIMIT:
                        row = json.loads(line)
                        break
                yield number, row
                offset += len(line)


class DelimitedLines:
    """CSV or TSV with a header line. Python's reader, because it names the line of a bad row and never guesses.

    DuckDB's reader guesses: given a fixed dialect it still took rows that begin with `#` for comments and dropped them.
    """

    unit: ClassVar[str] = "line"

    def __init__(self, path: Path, format_name: str) -> None:
        self.path = path
        self.format = format_name

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Number of the line where the row begins, and the row; every cell is text."""
        # The default limit of 128 KB a cell is less than a long response; it can only be set for the whole process.
        csv.field_size_limit(sys.maxsize)
        with reading(self.path) as stream:
            lines = decode_lines(self.path, stream)
            first = next(lines, "")
            delimiter = "\t" if self.format == "tsv" else guess_delimiter(first)
            table = csv.reader(with_first(first, lines), delimiter=delimiter, strict=True)
            begin = 1
            try:
                header = self._read_header(next(table, []))
                begin = table.line_num + 1
                for cells in table:
                    if len(cells) == len(header):
                        yield begin, dict(zip(header, cells, strict=True))
                    elif cells:
                        self._refuse_width(begin, len(cells), len(header))
                    begin = table.line_num + 1
            except csv.Error as error:
                raise DatasetError(
                    f"{self.path}: line {begin}: {error}; check the quotes of this row "
                    '(a cell with a quote, comma or line break stands in "…", quotes inside it doubled)'
                ) from error

    def _read_header(self, cells: list[str]) -> list[str]:
        header = [cell.strip() for cell in cells]
        for position, name in enumerate(header):
            if name in header[:position]:
                raise DatasetError(f"{self.path}: line 1: the column `{name}` appears twice; rename one")
        return header

    def _refuse_width(self, line: int, cells: int, columns: int) -> NoReturn:
        raise DatasetError(
            f"{self.path}: line {line} has {cells} cells, the header has {columns}; "
            'put cells that contain the delimiter or a line break in "…"'
        )


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
        raise DatasetError(f"{path}: cannot read: {(error.strerror or str(error)).lower()}") from error


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


def decode_lines(path: Path, stream: ByteStream) -> Iterator[str]:
    """Lines as text, each checked, so that the first wrong byte is named by its place."""
    offset = stream.tell()
    for number, line in enumerate(stream, 1):
        yield decode_line(path, number, offset, line)
        offset += len(line)


def decode_line(path: Path, number: int, offset: int, line: bytes) -> str:
    """UTF-8 or a DatasetError that names line and byte."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"{path}: line {number} is not valid UTF-8 (byte 0x{line[error.start]:02x} at offset "
            f"{offset + error.start}); convert the file to UTF-8"
        ) from error


def guess_delimiter(header: str) -> str:
    """A comma, unless the header line has none but has what spreadsheets of other countries write."""
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def with_first(first: str, rest: Iterator[str]) -> Iterator[str]:
    """The line that was looked at, and then the others."""
    yield first
    yield from rest


def name_of(value: Any) -> str:
    """A JSON value's kind in a sentence."""
    match value:
        case list():
            return "a JSON list"
        case str():
            return "a JSON string"
        case bool() | int() | float():
            return f"the JSON value {str(value).lower()}"
        case _:
            return "null"
