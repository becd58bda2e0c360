"""What logs are made of: JSON that is walked and not loaded, rows that may end in the middle, members of a zip.

Nothing here holds more than one sample of a log in memory, and whatever is cut short gives what it holds and says so.
"""

import ast
import contextlib
import csv
import json
import re
import struct
import sys
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from io import BufferedReader
from pathlib import Path
from typing import Any, Protocol

import duckdb
import orjson

from mixseek.datasets.files import ByteStream, decode_lines, reading
from mixseek.domain.lines import LONGEST_LINE_BYTES, bounded_lines
from mixseek.errors import DatasetError
from mixseek.storage.duckdb_session import confine, offline_settings, open_duckdb

Steps = tuple[str, ...]
# No tool nests this deep; what does is meant to break a reader.
_DEEPEST = 400
# One sample with all its events; agents write some megabytes.
_LARGEST_VALUE_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 20
_FIRST_LINE_BYTES = 4 << 20
_SMALL_BYTES = 64 << 10
# A cell longer than this is a text, whatever it begins with.
_LONGEST_CELL = 1 << 20


def parse_json(data: bytes | str) -> Any:
    """Any JSON value, also with NaN and Infinity, which Inspect writes; ValueError where it is none."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("nested too deeply") from None


def read_cell(value: Any) -> Any:
    """A cell of a table that may be an object: as JSON, or as Python prints one. Anything else is as it stands."""
    if not isinstance(value, str) or value[:1] not in "{[" or len(value) > _LONGEST_CELL or not value:
        return value
    try:
        return parse_json(value)
    except ValueError:
        pass
    try:
        with warnings.catch_warnings():
            # A backslash in somebody's text is not for whoever reads the terminal.
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


# A JSON text as a stream.


class CutShortError(Exception):
    """The text ends before its value does."""


class Readable(Protocol):
    """Gives at most so many bytes, and none at the end."""

    def read(self, size: int, /) -> bytes: ...


class JsonStream:
    """Walks over a JSON text of any size, keeping only what is asked for."""

    def __init__(self, stream: Readable, name: str) -> None:
        self._stream = stream
        self._name = name
        self._buffer = b""
        self._position = 0
        # Where the value begins that is being kept; nothing before it is needed any more.
        self._mark: int | None = None
        # From this length on it is let go; 0 is never.
        self._limit = 0
        self._dropped_bytes = 0

    def walk(self, wanted: Mapping[Steps, bool], steps: Steps = ()) -> Iterator[tuple[Steps, bytes]]:
        """Path and text of each wanted value, or of each of its items where its flag is set; raises CutShortError."""
        first = self.peek()
        if wanted.get(steps) and first == b"[":
            yield from ((steps, item) for item in self._items())
        elif steps in wanted:
            yield steps, self._value(keep=True)
        elif first == b"{" and any(path[: len(steps)] == steps for path in wanted):
            for key in self._keys():
                yield from self.walk(wanted, (*steps, key))
        else:
            self._value(keep=False)

    def outline(self, depth: int = 2, steps: Steps = ()) -> Iterator[tuple[Steps, bytes]]:
        """Paths of objects and values down to `depth`, each with its text where that is small, else its bracket."""
        first = self.peek()
        if first == b"{" and depth > 0:
            yield steps, b"{"
            for key in self._keys():
                yield from self.outline(depth - 1, (*steps, key))
        else:
            # Told before it is read: it may be where the text is cut.
            yield steps, first
            yield steps, self._small_value() or first

    def peek(self) -> bytes:
        """The next byte that is not a space; none at the end."""
        while True:
            while self._buffer[self._position : self._position + 1].isspace():
                self._position += 1
            if self._position < len(self._buffer):
                return self._buffer[self._position : self._position + 1]
            if not self._fill():
                return b""

    def _keys(self) -> Iterator[str]:
        """Each key of an object; whoever asks for the next one has read the value of this one."""
        self._expect(b"{")
        if self.peek() == b"}":
            self._expect(b"}")
            return
        while True:
            key = parse_or_none(self._value(keep=True))
            if not isinstance(key, str):
                raise DatasetError(f"{self._name}: invalid JSON: the name of a value is no text")
            self._expect(b":")
            self.peek()
            yield key
            if self._expect(b",}") == b"}":
                return

    def _items(self) -> Iterator[bytes]:
        self._expect(b"[")
        if self.peek() == b"]":
            self._expect(b"]")
            return
        while True:
            yield self._value(keep=True)
            if self._expect(b",]") == b"]":
                return

    def _expect(self, allowed: bytes) -> bytes:
        found = self.peek()
        if not found:
            raise CutShortError
        if found not in allowed:
            raise DatasetError(f"{self._name}: invalid JSON: {found!r} where one of {allowed.decode()} was expected")
        self._position += 1
        return found

    def _small_value(self) -> bytes:
        """The value's text, or nothing where it is long."""
        begun = self._consumed()
        text = self._value(keep=True, limit=_SMALL_BYTES)
        return text if self._consumed() - begun <= _SMALL_BYTES else b""

    def _consumed(self) -> int:
        return self._dropped_bytes + self._position

    def _value(self, *, keep: bool, limit: int = 0) -> bytes:
        """Moves past one value; with `limit` the text may be let go once it is longer."""
        first = self.peek()
        if not first:
            raise CutShortError
        self._mark = self._position if keep else None
        self._limit = limit
        if first == b'"':
            self._move_past(_STRING)
        elif first in b"{[":
            self._move_past_container()
        else:
            self._move_past_scalar()
        text = b"" if self._mark is None else self._buffer[self._mark : self._position]
        self._mark = None
        return text

    def _move_past(self, pattern: "re.Pattern[bytes]") -> None:
        while (found := pattern.match(self._buffer, self._position)) is None:
            if not self._fill():
                raise CutShortError
        self._position = found.end()

    def _move_past_scalar(self) -> None:
        while True:
            found = _SCALAR.match(self._buffer, self._position)
            if found is None:
                at = self._buffer[self._position : self._position + 1]
                raise DatasetError(f"{self._name}: invalid JSON: no value begins with {at!r}")
            # At the very end of what was read there may be more of it.
            if found.end() < len(self._buffer) or not self._fill():
                self._position = found.end()
                return

    def _move_past_container(self) -> None:
        depth = 0
        while True:
            between = _BETWEEN_BRACKETS.match(self._buffer, self._position)
            self._position = between.end() if between is not None else self._position
            bracket = self._buffer[self._position : self._position + 1]
            if not bracket or bracket == b'"':
                # The end of what was read, maybe inside a string.
                if not self._fill():
                    raise CutShortError
                continue
            self._position += 1
            depth += 1 if bracket in b"{[" else -1
            if depth > _DEEPEST:
                raise DatasetError(f"{self._name}: JSON nested more than {_DEEPEST} levels deep, which no log is")
            if depth == 0:
                return

    def _fill(self) -> bool:
        """Read on; False at the end."""
        if self._mark is not None and self._limit and self._position - self._mark > self._limit:
            self._mark = None
        kept = self._position if self._mark is None else self._mark
        if len(self._buffer) - kept > _LARGEST_VALUE_BYTES:
            raise DatasetError(
                f"{self._name}: one value is larger than {_LARGEST_VALUE_BYTES >> 20} MB, too large for a sample"
            )
        chunk = self._stream.read(_CHUNK_BYTES)
        self._buffer = self._buffer[kept:] + chunk
        self._position -= kept
        self._dropped_bytes += kept
        if self._mark is not None:
            self._mark = 0
        return bool(chunk)


# Possessive, so that no text, however made, makes them try again.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,:\[\]{}\"]++")
_BETWEEN_BRACKETS = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)


def walk_file(path: Path, wanted: Mapping[Steps, bool], notices: list[str]) -> Iterator[tuple[Steps, Any]]:
    """Path and value of everything wanted in a JSON file; where it is cut short, a notice ends it."""
    count = 0
    with reading(path) as stream:
        try:
            for steps, text in JsonStream(stream, str(path)).walk(wanted):
                yield steps, parse_json(text)
                count += wanted[steps]
        except CutShortError:
            notices.append(f"the file is cut short: {count:,} whole items were read, what follows is lost")
        except ValueError as error:
            raise DatasetError(f"{path}: item {count + 1} cannot be read: {error}") from error


# Rows: JSON lines, the items of a list, or a table.

JsonRow = dict[str, Any]


def read_lines(path: Path, notices: list[str], longest: int = LONGEST_LINE_BYTES) -> Iterator[tuple[int, JsonRow]]:
    """Number and row of each line; a last line that is cut is left out and told, any other bad one is an error."""
    with reading(path) as stream:
        lines = bounded_lines(path, stream, longest)
        for number, line in enumerate(lines, 1):
            if line.isspace():
                continue
            try:
                row = parse_json(line)
            except ValueError as error:
                if any(not rest.isspace() for rest in lines):
                    raise DatasetError(f"{path}: line {number} is no JSON ({error})") from error
                notices.append(f"line {number}, the last, is cut short and left out")
                return
            if not isinstance(row, dict):
                raise DatasetError(f"{path}: line {number} is no JSON object, which every line of this log has to be")
            yield number, row


def read_items(path: Path, notices: list[str]) -> Iterator[tuple[int, JsonRow]]:
    """Number and object of each item of a file that is one JSON list."""
    for number, (_, row) in enumerate(walk_file(path, {(): True}, notices), 1):
        if not isinstance(row, dict):
            raise DatasetError(f"{path}: item {number} is no JSON object, which every item of this log has to be")
        yield number, row


def read_table(path: Path, notices: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells, the header first; a last row that is cut is left out and told."""
    csv.field_size_limit(sys.maxsize)
    with reading(path) as stream:
        lines = decode_lines(path, stream)
        table = csv.reader(lines, delimiter="\t" if ".tsv" in path.suffixes else ",", strict=True)
        width, begin = 0, 1
        try:
            for cells in table:
                width = width or len(cells)
                if cells and len(cells) != width:
                    if any(rest.strip() for rest in lines):
                        raise DatasetError(f"{path}: line {begin} has {len(cells)} cells, the header has {width}")
                    notices.append(f"the row that begins in line {begin}, the last, is cut short and left out")
                    return
                if cells:
                    yield begin, cells
                begin = table.line_num + 1
        except csv.Error as error:
            if "unexpected end of data" not in str(error):
                raise DatasetError(f"{path}: line {begin}: {error}") from error
            notices.append(f"the row that begins in line {begin}, the last, is cut short and left out")


# What a file looks like, told from its beginning.


class Shape(Enum):
    """Told by content; names of files are not asked."""

    ZIP = auto()
    OBJECT = auto()  # one JSON object
    LINES = auto()  # JSON lines
    ITEMS = auto()  # one JSON list
    TABLE = auto()  # CSV or TSV


@dataclass(frozen=True, slots=True)
class Sniffed:
    """The beginning of a file, enough to say whose log it is."""

    path: Path
    shape: Shape
    # The first row of LINES or ITEMS; of a TABLE by column; of an OBJECT whatever is small in it.
    first: Mapping[str, Any] = field(default_factory=dict)
    # Paths in an OBJECT of at most two steps, each with what it begins with: b"{", b"[" or a scalar.
    outline: Mapping[Steps, bytes] = field(default_factory=dict)
    # Names of the members of a ZIP, or the columns of a TABLE as they stand.
    names: tuple[str, ...] = ()
    # Why the rest could not be looked at.
    fault: str | None = None
    # How many bytes a line may have.
    longest: int = LONGEST_LINE_BYTES
    # Of an OBJECT: it stands in one line, and may be the only one of a file of lines.
    is_one_line: bool = False

    def has(self, *columns: str) -> bool:
        """Whether the first row has them all."""
        return all(column in self.first for column in columns)

    def is_rows(self) -> bool:
        """Whether there are rows with names: one object alone may be the only line of a file of lines."""
        return self.shape is not Shape.ZIP and bool(self.first)

    def value(self, *steps: str) -> Any:
        """A small value of an OBJECT; None where it is not there, or long."""
        text = self.outline.get(steps, b"null")
        return None if text in (b"{", b"[", b"") else parse_or_none(text)

    def rows(self, notices: list[str]) -> Iterator[tuple[int, JsonRow]]:
        """All rows of LINES, ITEMS or a TABLE without two columns of one name."""
        match self.shape:
            case Shape.ITEMS:
                return read_items(self.path, notices)
            case Shape.TABLE:
                return read_named(self.path, notices)
            case _:
                return read_lines(self.path, notices, self.longest)


def read_named(path: Path, notices: list[str]) -> Iterator[tuple[int, JsonRow]]:
    """The rows of a table by column."""
    table = read_table(path, notices)
    _, header = next(table, (1, []))
    for number, cells in table:
        yield number, dict(zip(header, cells, strict=True))


def sniff(path: Path, longest: int = LONGEST_LINE_BYTES) -> Sniffed | None:
    """None for what cannot be a log, or cannot be read at all; whoever reads it as a plain dataset says why."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return Sniffed(path, Shape.ZIP, names=tuple(one.name for one in list_members(path)))
        with reading(path) as stream:
            sniffed = sniff_text(path, stream)
            return None if sniffed is None else replace(sniffed, longest=longest)
    except (OSError, DatasetError, CutShortError):
        return None


def sniff_text(path: Path, stream: ByteStream) -> Sniffed | None:
    """By the first byte that is not a space, and what follows it."""
    begin = stream.tell()
    first = JsonStream(stream, str(path)).peek()
    stream.seek(begin)
    if first == b"[":
        for _, item in JsonStream(stream, str(path)).walk({(): True}):
            row = parse_or_none(item)
            return Sniffed(path, Shape.ITEMS, row) if isinstance(row, dict) else None
        return None
    if first == b"{":
        return sniff_object(path, stream)
    if {".csv", ".tsv"} & set(path.suffixes):
        return sniff_table(path)
    return None


def parse_or_none(data: bytes) -> Any:
    try:
        return parse_json(data)
    except ValueError:
        return None


def sniff_object(path: Path, stream: ByteStream) -> Sniffed:
    """JSON lines have a whole object in their first line and another one after it; one object may have lines too."""
    begin = stream.tell()
    line = next((line for line in iter(lambda: stream.readline(_FIRST_LINE_BYTES), b"") if not line.isspace()), b"")
    row = parse_or_none(line)
    if isinstance(row, dict) and JsonStream(stream, str(path)).peek():
        return Sniffed(path, Shape.LINES, row)
    stream.seek(begin)
    outline: dict[Steps, bytes] = {}
    fault = None
    try:
        outline.update(JsonStream(stream, str(path)).outline())
    except CutShortError:
        # Whoever reads it says so.
        fault = None
    except DatasetError as error:
        fault = str(error)
    if isinstance(row, dict):
        first = row
    else:
        small = {steps[0]: parse_or_none(text) for steps, text in outline.items() if len(steps) == 1}
        first = {name: value for name, value in small.items() if value is not None}
    return Sniffed(path, Shape.OBJECT, first, outline, fault=fault, is_one_line=isinstance(row, dict))


def sniff_table(path: Path) -> Sniffed | None:
    """Header and first row."""
    rows = read_table(path, [])
    _, header = next(rows, (1, []))
    _, cells = next(rows, (2, [""] * len(header)))
    return Sniffed(path, Shape.TABLE, dict(zip(header, cells, strict=True)), names=tuple(header))


# Members of a zip, also of one that was cut, and also packed with Zstandard, which Python reads from 3.14 on only.

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
_LOCAL_SIGNATURE = b"PK\x03\x04"
_DATA_DESCRIPTOR = 0x08
_SIZE_IN_64_BITS = 0xFFFFFFFF
# Files handed to DuckDB at once: a query for each would take longer than the reading.
_MEMBERS_AT_ONCE = 64
_BYTES_AT_ONCE = 32 << 20
_READ_MEMBERS = (
    "SELECT filename, json FROM read_json_objects($files, compression = 'zstd', format = 'unstructured', "
    "filename = true, maximum_object_size = $largest)"
)


@dataclass(frozen=True, slots=True)
class Member:
    """Where a packed file stands in a zip."""

    name: str
    begin: int  # of its local header
    packed_bytes: int
    size_bytes: int
    method: int


def list_members(path: Path) -> list[Member]:
    """By the directory at the end, or where that is cut off, by the headers before each member."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error):
        return list(scan_members(path))
    return [
        Member(one.filename, one.header_offset, one.compress_size, one.file_size, one.compress_type) for one in entries
    ]


def is_cut_zip(path: Path) -> bool:
    """Whether its directory is missing."""
    return not zipfile.is_zipfile(path)


def scan_members(path: Path) -> Iterator[Member]:
    """As far as they are whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        begin = 0
        while len(header := file.read(_LOCAL_HEADER.size)) == _LOCAL_HEADER.size:
            signature, _, flags, method, _, _, _, packed, unpacked, name_length, extra_length = _LOCAL_HEADER.unpack(
                header
            )
            name = file.read(name_length).decode("utf-8", "replace")
            end = begin + _LOCAL_HEADER.size + name_length + extra_length + packed
            is_known = signature == _LOCAL_SIGNATURE and not flags & _DATA_DESCRIPTOR and packed != _SIZE_IN_64_BITS
            if not is_known or end > size:
                return
            yield Member(name, begin, packed, unpacked, method)
            begin = end
            file.seek(begin)


def read_members(path: Path, members: list[Member], notices: list[str]) -> Iterator[tuple[Member, Any]]:
    """Each member with its JSON value; one that is damaged is left out and told."""
    for member in members:
        if member.size_bytes > _LARGEST_VALUE_BYTES:
            raise DatasetError(
                f"{path}: {member.name} unpacks to {member.size_bytes >> 20:,} MB, too large for a sample "
                f"(at most {_LARGEST_VALUE_BYTES >> 20} MB)"
            )
    batch: list[Member] = []
    weight = 0
    for member in members:
        batch.append(member)
        weight += member.size_bytes
        if len(batch) == _MEMBERS_AT_ONCE or weight > _BYTES_AT_ONCE:
            yield from read_batch(path, batch, notices)
            batch, weight = [], 0
    yield from read_batch(path, batch, notices)


def read_batch(path: Path, batch: list[Member], notices: list[str]) -> Iterator[tuple[Member, Any]]:
    """In the order of the zip."""
    packed = [member for member in batch if member.method == _ZSTANDARD]
    texts = unpack_zstandard(path, packed) if packed else {}
    with path.open("rb") as file:
        for member in batch:
            text = texts.pop(member.name, None) if member.method == _ZSTANDARD else unpack_plain(file, member)
            # A member that is longer than its zip says is not what was written.
            value = None if text is None or len(text) > member.size_bytes else parse_or_none(text)
            if value is None:
                notices.append(f"{member.name} is damaged and left out")
            else:
                yield member, value


def packed_data(file: BufferedReader, member: Member) -> bytes:
    """As it stands in the zip."""
    file.seek(max(member.begin, 0))
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        return b""
    *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    file.seek(name_length + extra_length, 1)
    return file.read(member.packed_bytes)


def unpack_plain(file: BufferedReader, member: Member) -> bytes | None:
    """Stored or deflated; None where it is damaged, packed in another way, or longer than it says."""
    data = packed_data(file, member)
    if member.method == zipfile.ZIP_STORED:
        return data
    if member.method != zipfile.ZIP_DEFLATED:
        return None
    try:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        text = unpacker.decompress(data, member.size_bytes + 1)
    except zlib.error:
        return None
    return text if unpacker.eof else None


def unpack_zstandard(path: Path, members: list[Member]) -> dict[str, bytes]:
    """By name; damaged ones are not in it. DuckDB reads the format, but only in files of their own."""
    with tempfile.TemporaryDirectory(prefix="mixseek-log-") as directory, path.open("rb") as file:
        names = {}
        for number, member in enumerate(members):
            copy = Path(directory) / f"{number}.json.zst"
            copy.write_bytes(packed_data(file, member))
            names[str(copy)] = member.name
        try:
            return read_zstandard(names)
        except duckdb.Error:
            # One bad file spoils the query for all: each by itself then.
            texts: dict[str, bytes] = {}
            for copy_name, name in names.items():
                with contextlib.suppress(duckdb.Error):
                    texts |= read_zstandard({copy_name: name})
            return texts


def read_zstandard(names: Mapping[str, str]) -> dict[str, bytes]:
    """The one JSON value of each file."""
    with open_duckdb(config={**offline_settings(), "memory_limit": "512MB", "threads": 1}) as connection:
        confine(connection, *map(Path, names))
        found = connection.execute(_READ_MEMBERS, {"files": list(names), "largest": _LARGEST_VALUE_BYTES}).fetchall()
    return {names[copy]: text.encode() for copy, text in found}
