"""One piece of text that should be a JSON object: decoded strictly, then with minimal repairs, each by its name."""

import hashlib
import json
import math
import re
from collections.abc import Iterable
from typing import Any

import orjson

from mixseek.domain.judgments import Finding, Flag
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.repairs import Repair

# No protocol nests deeper than five; the limit keeps every later walk over the value safe from deep recursion.
MAX_DEPTH = 64
# The possessive repeat and the end-of-text branch keep an unclosed string from being scanned once per quote.
JSON_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*+(?:"|\\?\Z)'
_STRING_OR_COMMA = re.compile(JSON_STRING + r"|,(?=\s*+[}\]])", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# \b and \f are JSON escapes that no judge means: a letter behind them makes \boxed or \frac.
# \n, \r and \t are often meant, so only words that no line starts with count.
_LATEX_WORD = re.compile(
    r"\\(?:[bf][A-Za-z]"
    r"|n(?:abla|eq|eg|geq|leq|mid|ot|otin|u|subseteq)(?![A-Za-z])"
    r"|r(?:ho|ight|ightarrow|angle|floor|ceil|vert|Vert)(?![A-Za-z])"
    r"|t(?:ext[a-z]*|imes|heta|frac|au|o|riangle|ilde|herefore)(?![A-Za-z]))"
)
# Where a backslash stands before anything else, or begins a LaTeX word, the strings are looked at one by one.
_NOT_PLAIN = re.compile(rf'\\[^"\\/nrt]|{_LATEX_WORD.pattern}')
# Beyond, orjson reads an integer as a float.
_EXACT_FLOAT = 2.0**53
_LATEX_SUSPECT = re.compile(r"\\[^\"\\/u]|\\u(?![0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Decoded:
    """An object, the repairs that it took, and the half-open range where it stands."""

    value: dict[str, Any]
    repairs: tuple[Repair, ...]
    start: int = 0
    end: int = 0


class _RefusedError(ValueError):
    """JSON that Python would accept and we do not; raised out of the decoder's hooks."""

    def __init__(self, flag: Flag, detail: str) -> None:
        super().__init__(detail)
        self.finding = Finding(flag, detail)


def canonical(value: object) -> str:
    """One text per JSON value: 1, 1.0 and true differ, the order of keys does not."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def hash_of(asked: object) -> str:
    """What a protocol asks, as the name by which runs know it."""
    return hashlib.sha256(canonical(asked).encode()).hexdigest()


def decode_plain(text: str) -> dict[str, Any] | None:
    """The usual case in a fraction of the time: the text is one object and needs no repair. None says nothing.

    orjson keeps the last of repeated keys in silence. But every member has its colon, so a text with a member more
    than the value has a colon more; colons in strings are counted on both sides, and none can hide in an escape.
    """
    if text.count("{") + text.count("[") > MAX_DEPTH or ("\\" in text and _NOT_PLAIN.search(text)):
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or _colons(value) != text.count(":"):
        return None
    return value


def _colons(node: dict[str, Any] | list[Any]) -> float:
    """NaN, which equals nothing, where a number may have been written as an integer too long for orjson."""
    count = 0.0
    if isinstance(node, dict):
        count += len(node) + "".join(node).count(":")
        items: Iterable[Any] = node.values()
    else:
        items = node
    for item in items:
        kind = type(item)
        if kind is str:
            count += item.count(":")
        elif kind is dict or kind is list:
            count += _colons(item)
        elif kind is float and not 0.0 < abs(item) < _EXACT_FLOAT:
            return math.nan
    return count


def decode_object(text: str, start: int = 0) -> Decoded | Finding:
    """`text` starts with a brace and is nested at most MAX_DEPTH deep; `start` is where it stands."""
    repairs: list[Repair] = []
    end = start + len(text)
    if _LATEX_SUSPECT.search(text):
        text = _mend_strings(text, repairs, backslashes=True)
    value = _decode(text, repairs)
    if isinstance(value, Finding):
        mended = _mend_strings(text, repairs, backslashes=False)
        value = value if mended == text else _decode(mended, repairs)
    if isinstance(value, Finding):
        return value
    if _SURROGATE.search(text) or _ESCAPED_SURROGATE.search(text):
        written = json.dumps(value, ensure_ascii=False)
        if _SURROGATE.search(written):
            # Half a pair cannot be written as UTF-8, so it would break the journal long after the reply was paid.
            repairs.append(Repair.LONE_SURROGATES)
            value = json.loads(_SURROGATE.sub("\ufffd", written))
    return Decoded(value, tuple(dict.fromkeys(repairs)), start, end)


def _decode(text: str, repairs: list[Repair]) -> dict[str, Any] | Finding:
    def pairs_to_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            _refuse_contradictions(pairs)
            repairs.append(Repair.REPEATED_KEY)
        return value

    decoder = json.JSONDecoder(
        object_pairs_hook=pairs_to_object, parse_float=_finite_float, parse_constant=_refuse_constant
    )
    try:
        value: dict[str, Any] = decoder.decode(text)
    except _RefusedError as refused:
        return refused.finding
    except json.JSONDecodeError as error:
        what = f"{error.msg[0].lower()}{error.msg[1:]} at line {error.lineno}, column {error.colno} of the object"
        return Finding(Flag.UNPARSABLE_OUTPUT, f"not valid JSON: {what}")
    except ValueError:
        # An integer of more digits than Python converts.
        return Finding(Flag.UNPARSABLE_OUTPUT, "not valid JSON: a number is too long")
    return value


def _refuse_contradictions(pairs: list[tuple[str, Any]]) -> None:
    seen: dict[str, str] = {}
    for key, value in pairs:
        written = canonical(value)
        earlier = seen.setdefault(key, written)
        if earlier != written:
            raise _RefusedError(
                Flag.INTERNAL_INCONSISTENCY,
                f"key {excerpt(key)} is given twice, as {excerpt_text(earlier)} and as {excerpt_text(written)}",
            )


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _RefusedError(Flag.UNPARSABLE_OUTPUT, f"{excerpt_text(digits)} is beyond any number")
    return number


def _refuse_constant(word: str) -> float:
    raise _RefusedError(Flag.UNPARSABLE_OUTPUT, f"{word} is not a JSON number")


def _mend_strings(text: str, repairs: list[Repair], *, backslashes: bool) -> str:
    """Backslashes first, on their own: they also hide in JSON that is valid, where \\frac reads as a form feed."""

    def mend(match: re.Match[str]) -> str:
        piece = match[0]
        if backslashes:
            mended, repair = _ESCAPE.sub(_double_backslash, piece), Repair.LATEX_BACKSLASHES
        elif piece == ",":
            mended, repair = "", Repair.TRAILING_COMMAS
        else:
            mended = _CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", piece)
            repair = Repair.CONTROL_CHARACTERS
        if mended != piece:
            repairs.append(repair)
        return mended

    return _STRING_OR_COMMA.sub(mend, text)


def _double_backslash(match: re.Match[str]) -> str:
    escape = match[0]
    if escape[1] in '"\\/' or len(escape) > 2:
        return escape
    if escape[1] not in "bfnrt" or _LATEX_WORD.match(match.string, match.start()):
        return "\\" + escape
    return escape


def excerpt(value: object, limit: int = 60) -> str:
    """A JSON value as one would write it, cut for a message."""
    return excerpt_text(json.dumps(value, ensure_ascii=False), limit)


def excerpt_text(text: str, limit: int = 60) -> str:
    """The beginning of a text on one line, always encodable."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", cut))
