"""Finds the JSON objects in a text, in one pass: nothing inside a broken object counts as one."""

import re
from dataclasses import dataclass

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.reply_json import MAX_DEPTH, STRING, Broken, Decoded, decode_object

# An object begins with a key and a colon, or is empty; the braces of LaTeX, sets and code do neither.
_OBJECT_START = re.compile(r'\{(?=\s*+(?:\}|"[^"\\\n]{0,100}+"\s*+:))')
_STRUCTURE = re.compile(STRING + r"|[{}\[\]]", re.DOTALL)

# A reply with more is no reply, and reading on would only cost time.
_MAX_OBJECTS = 1_000


@dataclass(frozen=True, slots=True)
class Located:
    """An object and the half-open range where it stands."""

    start: int
    end: int
    decoded: Decoded


@dataclass(frozen=True, slots=True)
class Objects:
    """What a text holds; `broken` are pieces that begin like an object and cannot be read."""

    found: tuple[Located, ...]
    broken: tuple[Finding, ...]


def find_objects(text: str) -> Objects:
    """Top-level objects in order. Linear: every character is scanned once, whatever the braces do."""
    whole = _whole_object(text)
    if whole is not None:
        return Objects((whole,), ())
    found: list[Located] = []
    broken: list[Finding] = []
    position = 0
    while start := _OBJECT_START.search(text, position):
        begin = start.start()
        if len(found) + len(broken) >= _MAX_OBJECTS:
            broken.append(Finding(Flag.PROTOCOL_VIOLATION, f"the reply holds more than {_MAX_OBJECTS} objects"))
            break
        end, depth = _closing_bracket(text, begin)
        if end is None:
            detail = f"the object that begins at character {begin} is never closed: the reply was cut off"
            broken.append(Finding(Flag.UNPARSABLE_OUTPUT, detail))
            break
        position = end
        if depth > MAX_DEPTH:
            broken.append(Finding(Flag.UNPARSABLE_OUTPUT, f"the object is nested more than {MAX_DEPTH} deep"))
            continue
        match decode_object(text[begin:end]):
            case Decoded() as decoded:
                found.append(Located(begin, end, decoded))
            case Broken(finding):
                broken.append(finding)
    return Objects(_without_empty(found), tuple(broken))


def _whole_object(text: str) -> Located | None:
    """The usual case without a scan: the text is one object and nothing else."""
    if text[:1] != "{" or text[-1:] != "}" or text.count("{") + text.count("[") > MAX_DEPTH:
        return None
    decoded = decode_object(text)
    return Located(0, len(text), decoded) if isinstance(decoded, Decoded) else None


def _closing_bracket(text: str, start: int) -> tuple[int | None, int]:
    """Where the object that opens at `start` ends, and how deep it nests; None when it does not end."""
    depth = deepest = 0
    for token in _STRUCTURE.finditer(text, start):
        match token[0]:
            case "{" | "[":
                depth += 1
                deepest = max(deepest, depth)
            case "}" | "]":
                depth -= 1
                if depth == 0:
                    return token.end(), deepest
    return None, deepest


def _without_empty(found: list[Located]) -> tuple[Located, ...]:
    """`{}` beside a real object is prose (an empty set, a placeholder); alone it is the judge's answer."""
    filled = tuple(located for located in found if located.decoded.value)
    return filled or tuple(found[:1])
