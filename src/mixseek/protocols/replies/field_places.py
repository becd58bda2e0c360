"""Where in a reply's raw text the fields stand that a protocol reads; the text is taken as the reader takes it."""

import json
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from mixseek.protocols.replies.reply_json import JSON_STRING, decode_plain
from mixseek.protocols.replies.reply_objects import find_objects
from mixseek.protocols.replies.thought import without_thought

# The names of objects from the outermost inwards, and the field's own.
FieldPath = tuple[str, ...]
_PIECE = re.compile(JSON_STRING + r"|[{}\[\]:,]|[^\s{}\[\]:,\"]+", re.DOTALL)


class FieldPlace(NamedTuple):
    """Character offsets in the raw text: just behind the colon, and the value itself."""

    anchor: int
    start: int
    end: int


def locate_fields(text: str, paths: Collection[FieldPath]) -> dict[FieldPath, FieldPlace]:
    """Those that hold one text, number or word; what stands in a thought, a comment or prose is no field."""
    places: dict[FieldPath, FieldPlace] = {}
    span = _object_span(text)
    for path, place in _members(text, *span) if span is not None else ():
        # Of a key that is given twice, or an object that is: where it was said first.
        if path in paths and path not in places:
            places[path] = place
    return places


def _object_span(text: str) -> tuple[int, int] | None:
    """Where the object stands that the reader reads; None where there is none."""
    stripped = text.strip().strip("\ufeff").strip()
    begin = text.find(stripped)
    if stripped[:1] == "{" and decode_plain(stripped):
        return begin, begin + len(stripped)
    # A thought is cut off at the front.
    spoken = without_thought(stripped).text
    remaining = spoken.strip()
    begin += len(stripped) - len(spoken) + len(spoken) - len(spoken.lstrip())
    readable = find_objects(remaining).readable
    return (begin + readable[0].start, begin + readable[0].end) if readable else None


def _members(text: str, begin: int, end: int) -> Iterator[tuple[FieldPath, FieldPlace]]:
    # The key that each open bracket stands behind; inside a list nothing has a path.
    keys: list[str | None] = []
    before, key, anchor = "", None, 0
    for piece in _PIECE.finditer(text, begin, end):
        match piece[0]:
            case "{" | "[" as bracket:
                keys.append(key if bracket == "{" else None)
                before, key = "", None
            case "}" | "]":
                keys = keys[:-1]
                before, key = "", None
            case ",":
                before, key = "", None
            case ":":
                key, anchor = _key_of(before), piece.end()
            case word if key is None:
                before = word
            case _:
                outer = keys[1:]
                if None not in outer:
                    yield (*(name for name in outer if name is not None), key), FieldPlace(anchor, *piece.span())


def _key_of(written: str) -> str | None:
    try:
        key = json.loads(written)
    except ValueError:
        # A control character in a key: the reader mends it.
        key = written[1:-1]
    return key if isinstance(key, str) else None
