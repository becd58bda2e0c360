"""Where in a TOML file a key stands: the parser gives values without lines, and a complaint needs a line."""

import re
from collections.abc import Mapping, Sequence

_HEADER = re.compile(r"\s*\[{1,2}(?P<path>[^\[\]#]+)\]{1,2}")
_PART = r"(?:[A-Za-z0-9_-]+|\"(?:[^\"\\]|\\.)*\"|'[^']*')"
_KEY = re.compile(rf"\s*(?P<path>{_PART}(?:\s*\.\s*{_PART})*)\s*=\s*(?P<value>.*)")
_INLINE_KEY = re.compile(rf"[{{,]\s*(?P<path>{_PART}(?:\s*\.\s*{_PART})*)\s*=")
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
            place = (*table, *_split(key["path"]))
            _note(lines, place, number)
            for inner in _INLINE_KEY.finditer(key["value"]) if key["value"].startswith("{") else ():
                _note(lines, (*place, *_split(inner["path"])), number)
            closing = _left_open(key["value"])
    return lines


def line_of(lines: Mapping[Place, int], place: Sequence[object]) -> int | None:
    """The line of the place or of the nearest table around it."""
    names = tuple(str(part) for part in place)
    for length in range(len(names), 0, -1):
        if names[:length] in lines:
            return lines[names[:length]]
    return None


def _note(lines: dict[Place, int], place: Place, number: int) -> None:
    for length in range(1, len(place) + 1):
        lines.setdefault(place[:length], number)


def _split(path: str) -> Place:
    return tuple(part.strip("\"'") for part in _PARTS.findall(path))


def _left_open(value: str) -> str:
    """The marks of a text of several lines that begins here and does not end here."""
    for marks in ('"""', "'''"):
        if value.count(marks) % 2:
            return marks
    return ""
