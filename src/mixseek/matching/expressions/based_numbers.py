"""Numbers written in another base: 1011_2, 413_{five}, \\text{A3}_{16}."""

import re
from typing import Final

from mixseek.matching.expressions.findings import Finding, different, same, unsure

_WORDS: Final = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "sixteen": 16,
}
_BASED: Final = re.compile(
    r"^[\s$(]*(?:\\(?:text|mathrm)\s*\{)?([0-9A-Fa-f]{1,60})\}?[\s)]*_\s*\{?\s*(?:\\text\s*\{)?\s*(\d{1,2}|[a-z]+)[\s}$.]*$"
)
_DIGITS: Final = re.compile(r"^[\s$]*([0-9A-F]{1,60})[\s$.]*$")


def compare_based_numbers(answer: str, gold: str) -> Finding | None:
    """None unless one side has a base; the digits alone are accepted, because the question names the base."""
    ours, theirs = _read(answer), _read(gold)
    if ours is None and theirs is None:
        return None
    if ours is not None and theirs is not None:
        if ours == theirs:
            return same("base")
        same_value = _value(*ours) is not None and _value(*ours) == _value(*theirs)
        return unsure("other_base") if same_value else different("base")
    based = ours or theirs
    plain = _DIGITS.match(gold if ours is not None else answer)
    if based is None or plain is None:
        return None
    digits = plain.group(1).lstrip("0") or "0"
    if digits == based[0]:
        return same("base_omitted")
    return unsure("other_base") if digits.isdigit() and _value(*based) == int(digits) else different("base")


def _read(text: str) -> tuple[str, int] | None:
    found = _BASED.match(text) if "_" in text and len(text) < 120 else None
    if found is None:
        return None
    name = found.group(2)
    base = int(name) if name.isdigit() else _WORDS.get(name, 0)
    if not 2 <= base <= 16:
        return None
    digits = found.group(1).upper().lstrip("0") or "0"
    return (digits, base) if _value(digits, base) is not None else None


def _value(digits: str, base: int) -> int | None:
    try:
        return int(digits, base)
    except ValueError:
        return None
