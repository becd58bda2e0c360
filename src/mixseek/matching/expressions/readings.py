"""The common ways to read a text as mathematics."""

import re
from functools import lru_cache
from typing import Final

from mixseek.matching.expressions.interpretation import interpret, plain_scalar
from mixseek.matching.expressions.meaning import Meaning
from mixseek.matching.expressions.segments import join_neighbours, maths_segments
from mixseek.matching.expressions.structure_parser import read_expression
from mixseek.matching.expressions.tree import UnreadableExpressionError

_DECIMAL_COMMA: Final = re.compile(r"^([\s$+-]*\d+),(\d+)(?![\d,.])([^\d,;()\[\]{}]*)$")
_GROUPED: Final = re.compile(r"[\s$]*-?\d{1,3},[1-9]\d\d[\s$]*")
_PLAIN_NUMBER: Final = re.compile(r"-?\d{1,18}(?:\.\d{1,18})?")

# Ground truths and common answers come again and again; long texts do not, and their trees would fill the memory.
CACHED_LENGTH: Final = 200
CACHED_TEXTS: Final = 1_024
# A meaning, and whether its notation is ambiguous.
Readings = tuple[tuple[Meaning, bool], ...]


def read_meanings(text: str, *, anywhere: bool = True) -> Readings:
    """The likeliest first; empty when the text is no mathematics that we read.

    With `anywhere`, mathematics inside prose is taken out of it when the whole does not read.
    """
    if len(text) <= CACHED_LENGTH:
        return _cached(text, anywhere)
    return _read(text, anywhere)


@lru_cache(maxsize=CACHED_TEXTS)
def _cached(text: str, anywhere: bool) -> Readings:
    return _read(text, anywhere)


def _read(text: str, anywhere: bool) -> Readings:
    if _PLAIN_NUMBER.fullmatch(text):
        return ((plain_scalar(text), False),)
    found = _interpreted([text])
    if not found and anywhere:
        segments = maths_segments(text, 0, len(text))
        found = _interpreted([join_neighbours(text, segments, len(segments) - 1).text] if segments else [])
    if "," in text and len(text) < 60:
        found += _interpreted(_comma_variants(text))
    return found


def _interpreted(texts: list[str]) -> Readings:
    found: list[tuple[Meaning, bool]] = []
    for text in texts:
        read = read_expression(text)
        if read is None:
            continue
        try:
            found.append((interpret(read[0]), read[1]))
        except UnreadableExpressionError:
            continue
    return tuple(found)


def _comma_variants(text: str) -> list[str]:
    """1,5 may be a decimal; 10,100 may be two numbers."""
    if _GROUPED.fullmatch(text):
        return [text.replace(",", ", ")]
    return [_DECIMAL_COMMA.sub(r"\1.\2\3", text)] if _DECIMAL_COMMA.search(text) else []
