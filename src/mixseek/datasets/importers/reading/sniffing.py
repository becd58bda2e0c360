"""What a file looks like, told from its beginning, which is read once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import Enum, auto
from pathlib import Path
from typing import Any

from mixseek.datasets.files import ByteStream, reading
from mixseek.datasets.importers.reading.json_stream import (
    CutShortError,
    JsonStream,
    Steps,
    parse_or_none,
    walk_file,
)
from mixseek.datasets.importers.reading.rows import (
    JsonRow,
    read_items,
    read_lines,
    read_named,
    read_values,
    table_rows,
)
from mixseek.datasets.importers.reading.zip_members import list_members
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass

_FIRST_LINE_BYTES = 4 << 20
_ZIP_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")


class Shape(Enum):
    """Told by content; names of files are not asked."""

    ZIP = auto()
    OBJECT = auto()  # one JSON object
    LINES = auto()  # JSON lines
    ITEMS = auto()  # one JSON list
    TABLE = auto()  # CSV or TSV


class Place(Enum):
    """Where a name stands that a file shows."""

    ROW = auto()  # in the first row, whatever shape the rows have
    ITEM = auto()  # in the first item of ITEMS
    TABLE = auto()
    OBJECT = auto()
    ZIP = auto()


Mark = tuple[Place, str]
# Up to it a name is a beginning that several share: columns `inputs.question`, members `samples/1.json`.
_BEGINNING_ENDS = {Place.ROW: ".", Place.ZIP: "/"}


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
    # Of LINES and ITEMS: each is a list itself, whose first object is `first`.
    holds_lists: bool = False

    def has(self, *columns: str) -> bool:
        """Whether the first row has them all."""
        return all(column in self.first for column in columns)

    def is_rows(self) -> bool:
        """Whether there are rows with names: one object alone may be the only line of a file of lines."""
        return self.shape is not Shape.ZIP and bool(self.first)

    def marks(self) -> set[Mark]:
        """Every name that the file shows, by where it stands; beginnings that several names share are names, too."""
        named: dict[Place, Iterable[str]] = {} if self.shape is Shape.ZIP else {Place.ROW: self.first}
        match self.shape:
            case Shape.ZIP:
                named[Place.ZIP] = self.names
            case Shape.TABLE:
                named[Place.TABLE] = self.names
            case Shape.ITEMS | Shape.LINES if self.holds_lists:
                named = {Place.ITEM: self.first}
            case Shape.ITEMS:
                named[Place.ITEM] = self.first
            case Shape.OBJECT:
                named[Place.OBJECT] = [steps[0] for steps in self.outline if len(steps) == 1]
            case Shape.LINES:
                pass
        marks = {(place, name) for place, names in named.items() for name in names}
        for place, end in _BEGINNING_ENDS.items():
            marks |= {(place, name[: name.index(end) + 1]) for name in named.get(place, ()) if end in name}
        return marks

    def value(self, *steps: str) -> Any:
        """A small value of an OBJECT; None where it is not there, or long."""
        text = self.outline.get(steps, b"null")
        return None if text in (b"{", b"[", b"") else parse_or_none(text)

    def is_list_of(self, *names: str) -> bool:
        """Whether the file is a list of objects with these names, or holds such lists."""
        return (self.shape is Shape.ITEMS or self.holds_lists) and self.has(*names)

    def conversations(self, column: str, notices: list[str]) -> Iterator[tuple[int, JsonRow]]:
        """Lists of messages as rows with one column: each line or item is one, or the whole file is."""
        if not self.holds_lists:
            # A conversation is held in memory, like any sample.
            yield 1, {column: [item for _, item in read_items(self.path, notices)]}
            return
        if self.shape is Shape.ITEMS:
            values = walk_file(self.path, {(): True}, notices)
            lists: Iterator[tuple[int, Any]] = enumerate((value for _, value in values), 1)
        else:
            lists = read_values(self.path, notices, self.longest)
        for number, items in lists:
            if not isinstance(items, list):
                raise DatasetError(f"{self.path}: item {number} is no list of messages, which the first one is")
            yield number, {column: items}

    def rows(self, notices: list[str]) -> Iterator[tuple[int, JsonRow]]:
        """All rows of LINES, ITEMS or a TABLE without two columns of one name; an OBJECT is one row."""
        if self.shape is Shape.OBJECT and not self.is_one_line:
            whole = walk_file(self.path, {(): False}, notices)
            return ((number, row) for number, (_, row) in enumerate(whole, 1))
        match self.shape:
            case Shape.ITEMS:
                return read_items(self.path, notices)
            case Shape.TABLE:
                return read_named(self.path, notices)
            case _:
                return read_lines(self.path, notices, self.longest)


def sniff(path: Path, longest: int = LONGEST_LINE_BYTES) -> Sniffed | None:
    """None for what cannot be a log, or cannot be read at all; whoever reads it as a plain dataset says why."""
    try:
        with path.open("rb") as file:
            is_zip = file.read(len(_ZIP_BEGINNINGS[0])) in _ZIP_BEGINNINGS
        if is_zip:
            return Sniffed(path, Shape.ZIP, names=tuple(member.name for member in list_members(path)))
        with reading(path) as stream:
            sniffed = sniff_text(path, stream)
            return None if sniffed is None else replace(sniffed, longest=longest)
    except (OSError, DatasetError, CutShortError):
        return None


def sniff_text(path: Path, stream: ByteStream) -> Sniffed | None:
    """The shape by the first byte that is not a space, and what follows it."""
    first = next_byte(stream)
    if first == b"[":
        return sniff_list(path, stream)
    if first == b"{":
        return sniff_object(path, stream)
    if {".csv", ".tsv"} & set(path.suffixes):
        return sniff_table(path, stream)
    return None


def sniff_list(path: Path, stream: ByteStream) -> Sniffed | None:
    """A list of objects or of lists; or a list in each line, which is the first of several then."""
    begin = stream.tell()
    line = parse_or_none(stream.readline(_FIRST_LINE_BYTES))
    if isinstance(line, list) and next_byte(stream):
        row = line[0] if line else None
        return Sniffed(path, Shape.LINES, row, holds_lists=True) if isinstance(row, dict) else None
    stream.seek(begin)
    for _, item in JsonStream(stream, str(path)).walk({(): True}):
        value = parse_or_none(item)
        holds_lists = isinstance(value, list) and bool(value)
        row = value[0] if isinstance(value, list) and value else value
        return Sniffed(path, Shape.ITEMS, row, holds_lists=holds_lists) if isinstance(row, dict) else None
    return None


def next_byte(stream: ByteStream) -> bytes:
    """The next one that is not a space, which is still to be read; none at the end."""
    while (ahead := stream.peek(1)) and ahead.isspace():
        stream.read(len(ahead))
    return ahead.lstrip()[:1]


def sniff_object(path: Path, stream: ByteStream) -> Sniffed:
    """JSON lines have a whole object in their first line and another one after it; one object may have lines too."""
    begin = stream.tell()
    line = next((line for line in iter(lambda: stream.readline(_FIRST_LINE_BYTES), b"") if not line.isspace()), b"")
    row = parse_or_none(line)
    if isinstance(row, dict) and next_byte(stream):
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


def sniff_table(path: Path, stream: ByteStream) -> Sniffed:
    """Header and first row."""
    rows = table_rows(path, stream, [])
    _, header = next(rows, (1, []))
    _, cells = next(rows, (2, [""] * len(header)))
    return Sniffed(path, Shape.TABLE, dict(zip(header, cells, strict=True)), names=tuple(header))
