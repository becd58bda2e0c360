"""Responses that come to no answer: refusals, programs, texts that break off or turn in circles."""

import re

from mixseek.domain.judgments import Span
from mixseek.matching.phrases import Phrases

_SAYS = Phrases("statements")

# A response this short is all closing words; of a longer one only the last sentence is.
_CLOSING = 300
# A response whose last word is to print something says what it would answer only when it is run.
_PRINTS = re.compile(r"\s*print\(.*\)\s*$")
_CODE_HINT = re.compile(r"print\(|\bimport \w|\bdef \w+\(|^\w+ = ", re.MULTILINE)


def is_opening(text: str) -> bool:
    """Nothing but punctuation or the announcement of an answer that never comes."""
    return len(text) < _CLOSING and _SAYS.opening.fullmatch(text.strip().lower()) is not None


def find_refusal(lowered: str) -> Span | None:
    """Where the closing words decline to answer, or None."""
    text = lowered.rstrip()
    begin = len(text) - len(text.lstrip())
    if len(text) - begin > _CLOSING:
        stops = (text.rfind(mark, 0, len(text) - 1) for mark in (". ", "。", "\n"))
        begin = max(*stops, len(text) - _CLOSING)
    match = _SAYS.refusal.search(text, begin)
    if match is None or _SAYS.concession.search(text, match.end()):
        return None
    return Span(*match.span())


def is_code(text: str) -> bool:
    """A program in place of an answer; it is never run, so what it would print is not known."""
    if ("=" not in text and "print(" not in text) or _CODE_HINT.search(text) is None:
        return False
    lines = [line for line in text[:8_000].split("\n") if line.strip()]
    is_mostly_code = sum(bool(_SAYS.code_line.match(line)) for line in lines) * 10 >= len(lines) * 7
    return bool(lines and _PRINTS.match(lines[-1])) or (len(lines) >= 2 and is_mostly_code)


_DIGITS = re.compile(r"\d+")
_PERIODS = range(4, 120)


def breaks_off(text: str) -> bool:
    """Whether a long response ends in mid-sentence or turns in a circle: the model never came to an answer."""
    text = text.rstrip()
    tail = text[-400:]
    if len(text) < 800 or not tail:
        return False
    last_line = tail.rpartition("\n")[2]
    return (len(last_line) > 25 and (tail[-1].isalpha() or tail[-1] in ",-")) or turns_in_circles(text)


def turns_in_circles(text: str) -> bool:
    """Whether the end of the text repeats one unit over and over, counters aside."""
    shape = _DIGITS.sub("0", text.rstrip()[-240:])
    return len(shape) > 200 and any(shape[period:] == shape[:-period] for period in _PERIODS)
