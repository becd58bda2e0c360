"""Where in a TOML file a key stands: the parser gives values without lines, and a complaint needs a line."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import Complaint

_HEADER = re.compile(r"\s*\[{1,2}(?P<path>[^\[\]#]+)\]{1,2}")
_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_KEY = re.compile(rf"\s*(?P<path>{_PART}(?:\s*\.\s*{_PART})*)\s*=\s*(?P<value>.*)")
_PARTS = re.compile(_PART)
Place = tuple[str, ...]


def key_lines(text: str) -> Mapping[Place, int]:
    """The line of every table and key. Meant for files that the parser has accepted, but takes any text."""
    lines: dict[Place, int] = {}
    table: Place = ()
    closing = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := _HEADER.match(line):
            table = _split(header["path"])
            _note(lines, table, number)
        elif key := _KEY.match(line):
            # The keys of an inline table stand on this line too.
            _note(lines, (*table, *_split(key["path"])), number)
            # A text of several lines may begin here and not end here.
            closing = next((marks for marks in ('"""', "'''") if key["value"].count(marks) % 2), "")
    return lines


def line_of(lines: Mapping[Place, int], place: Sequence[object]) -> int | None:
    """The line of the place or of the nearest table around it."""
    names = tuple(str(part) for part in place)
    around = (names[:length] for length in range(len(names), 0, -1))
    return next((lines[table] for table in around if table in lines), None)


def _note(lines: dict[Place, int], place: Place, number: int) -> None:
    for length in range(1, len(place) + 1):
        lines.setdefault(place[:length], number)


def _split(path: str) -> Place:
    return tuple(part.strip("\"'") for part in _PARTS.findall(path))


@dataclass(frozen=True, slots=True)
class ProtocolFile:
    """A declaration that TOML could read."""

    path: Path
    where: str
    table: Mapping[str, Any]
    lines: Mapping[Place, int]

    def complaint(self, place: str | Place, what: str, advice: str = "", *, is_hint: bool = False) -> Complaint:
        """About a key; a text names it with dots as in the file."""
        parts = place.split(".") if isinstance(place, str) else place
        return Complaint(self.where, line_of(self.lines, parts), what, advice, is_hint)
