"""Finds the JSON objects in a text, in one pass: nothing inside a broken object counts as one."""

import re
from typing import NamedTuple

from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.replies.reply_json import JSON_STRING, MAX_DEPTH, Decoded, decode_object

# An object begins with a key and a colon, or is empty; the braces of LaTeX, sets and code do neither.
_OBJECT_START = re.compile(r'\{(?=\s*+(?:\}|"[^"\\\n]{0,100}+"\s*+:))')
STRUCTURE = re.compile(JSON_STRING + r"|[{}\[\]]", re.DOTALL)
# A reply with more is no reply, and reading on would only cost time.
_MAX_OBJECTS = 1_000


class Objects(NamedTuple):
    """What a text holds; `broken` are pieces that begin like an object and cannot be read."""

    readable: tuple[Decoded, ...]
    broken: tuple[Finding, ...]


def find_objects(text: str) -> Objects:
    """Top-level objects in order. Linear: every character is scanned once, whatever the braces do."""
    whole = whole_object(text)
    if whole is not None:
        return Objects((whole,), ())
    readable: list[Decoded] = []
    broken: list[Finding] = []
    position = 0
    while start := _OBJECT_START.search(text, position):
        begin = start.start()
        if len(readable) + len(broken) >= _MAX_OBJECTS:
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
        decoded = decode_object(text[begin:end], begin)
        if isinstance(decoded, Decoded):
            readable.append(decoded)
        else:
            broken.append(decoded)
    # `{}` beside a real object is prose (an empty set, a placeholder); alone it is the judge's answer.
    filled = [candidate for candidate in readable if candidate.value] or readable[:1]
    return Objects(tuple(filled), tuple(broken))


def whole_object(text: str) -> Decoded | None:
    """The usual case without a scan: the text is one object and nothing else."""
    if text[:1] != "{" or text[-1:] != "}" or text.count("{") + text.count("[") > MAX_DEPTH:
        return None
    decoded = decode_object(text)
    return decoded if isinstance(decoded, Decoded) else None


def _closing_bracket(text: str, start: int) -> tuple[int | None, int]:
    """Where the object that opens at `start` ends, and how deep it nests; None when it does not end."""
    depth = deepest = 0
    for token in STRUCTURE.finditer(text, start):
        if token[0] in ("{", "["):
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in ("}", "]"):
            depth -= 1
            if depth == 0:
                return token.end(), deepest
    return None, deepest
