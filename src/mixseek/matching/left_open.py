"""Whether the words around a right value leave it open: alternatives, ranges, inequalities, negations, questions.

It can take a "correct" back and never make one: seed 001 calls an ambiguous answer incorrect."""

import re
from collections.abc import Callable

from mixseek.matching.discounted import ends_plainly
from mixseek.matching.phrases import Phrases

# Says whether at a place of the response a value of the same kind begins that is not the ground truth.
OtherValue = Callable[[int], bool]
_BEFORE = 80
_BEHIND = 120
_HEDGE = Phrases("hedges")
PLAIN_WORD = re.compile(r"\w+")
_FIGURES = re.compile(r"\d{1,4}(?:[-/.:]\d{1,4}){1,2}")
YEAR = re.compile(r"[12]\d{3}")
_LISTED = re.compile(r"[\s\"']*[,;|][\s,;|\"']*")
# Two boxes side by side, or two tags with an "or": one answer each.
_BOX_BEFORE = re.compile(r"\\boxed\{([^{}]*)\}[\s$,;.]*(?:\\text\{\s*(?:or|and)\s*\}|or|and)?[\s$,]*\\boxed\{[\s$]*$")
_TAG_BEFORE = re.compile(r"(?:\bor|[/,])\s*<(?:final_?)?answer>\s*$")
# Up to here a response is a name with a few words around it.
_NAME_ALONE = 80
_ASKED = re.compile(r"[\s*_\"'`()\]}$.]{0,40}(?:\\[)\]][\s.]{0,8})?\?")
# A sentence or two: words beside a year say what it is the year of.
SHORT_RESPONSE = 240


def leaves_open(text: str, start: int, end: int, cut: int, kind: str, is_other: OtherValue) -> bool:
    """Whether the value at [start, end) of a lower-case text is hedged, as a rule by what stands right around it."""
    if ends_plainly(text, start, end, cut):
        return False
    begin, finish = max(0, start - _BEFORE), min(cut, end + _BEHIND)
    if not _is_stated(text, begin, start) and _is_open_ahead(text, begin, start, end, kind, is_other):
        return True
    return _is_open_behind(text, start, end, finish, kind, is_other)


def _is_stated(text: str, begin: int, start: int) -> bool:
    """Whether nothing but "is" leads to the value, which no pattern for what leaves it open ends with but "no way"."""
    return text[begin:start].rstrip(_MARKUP).endswith(" is") and "no way" not in text[begin:start]


_MARKUP = " \t\n\r*_\"'`()[]{}$:"


def _is_open_ahead(text: str, begin: int, start: int, end: int, kind: str, is_other: OtherValue) -> bool:
    if _HEDGE.example_or_near.search(text, begin, start):
        return True
    box = _BOX_BEFORE.search(text, begin, start)
    if _TAG_BEFORE.search(text, begin, start) or (box is not None and is_other(box.start(1))):
        return True
    for mark in _HEDGE.clause_start.finditer(text, begin, start):
        begin = mark.end()
    return _is_open_before(text, begin, start, end, kind)


def _is_open_before(text: str, begin: int, start: int, end: int, kind: str) -> bool:
    before = text[begin:start]
    if _HEDGE.denied.search(before) or _HEDGE.guessed.search(before):
        return True
    # A polarity takes its negation in.
    if kind != "boolean" and _HEDGE.negated.search(before):
        return True
    # Free text is bounded where it is a date: "after 1987"; "over Paris" is a place, "since 1988" when it began.
    may_be_bounded = kind in {"number", "expression"} or (
        kind == "text" and text[start : start + 1].isdigit() and not before.rstrip().endswith(("since", "from"))
    )
    # Of a measure in prose "about" says how it was measured; of a year, that it may have been another.
    is_measured = kind == "text" and not YEAR.fullmatch(text[start:end]) and _HEDGE.measured.search(before)
    if may_be_bounded and not is_measured and _HEDGE.bounded.search(before):
        return True
    return YEAR.fullmatch(text, start, start + 4) is not None and before.endswith("by ")


def _is_followed_by_date(text: str, start: int, end: int, finish: int) -> bool:
    """A date in figures with another one behind it: "05/01/2021 - 05/03/2021"."""
    value = text[start:end]
    if not _FIGURES.fullmatch(value):
        return False
    shape = re.sub(r"\d+", r"\\d+", re.escape(value))
    behind = re.compile(rf"[\s*\"']*(?:[-,;/&~]|to\b|and\b|until\b)[\s*\"']*({shape})").match(text, end, finish)
    return behind is not None and behind[1] != value


def _is_open_behind(text: str, start: int, end: int, finish: int, kind: str, is_other: OtherValue) -> bool:
    unsure = (_HEDGE.polarity_in_part if kind == "boolean" else _HEDGE.unsure_behind).match(text, end, finish)
    if unsure or _ASKED.match(text, end, finish):
        return True
    if kind == "text" and _is_followed_by_date(text, start, end, finish):
        return True
    if kind in {"number", "expression", "boolean"}:
        if _HEDGE.open_amount.match(text, end, finish):
            return True
        span = _HEDGE.range.match(text, end, finish)
        if span is not None and is_other(span.end()):
            return True
    gap = _HEDGE.gap.match(text, end, finish)
    if gap is None:
        return False
    if kind == "text":
        offers = _HEDGE.text_offers.search(gap[0]) or (
            len(text.strip()) <= _NAME_ALONE and _HEDGE.plain_or.search(gap[0])
        )
        return bool(offers) and is_other(gap.end())
    is_listed = kind in {"number", "option", "boolean"} and bool(_LISTED.fullmatch(gap[0]))
    if not is_listed and not _HEDGE.offers.search(gap[0]):
        return False
    # "Yes, or maybe no": there the word that leads on is itself a value.
    inside = [word.start() for word in PLAIN_WORD.finditer(text, gap.start(), gap.end())] if kind == "boolean" else []
    return any(map(is_other, (*inside, gap.end())))
