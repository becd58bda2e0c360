"""Whether the words around a right value leave it open: alternatives, ranges, inequalities, negations, questions.

It can take a "correct" back and never make one: seed 001 calls an ambiguous answer incorrect.
"""

import re
from collections.abc import Callable

from mixseek.matching.closed.statements import ends_plainly
from mixseek.matching.languages import Phrases

# Says whether at a place of the response a value of the same kind begins that is not the ground truth.
OtherValue = Callable[[int], bool]

_BEFORE = 80
_BEHIND = 120
_SAYS = Phrases("hedges")
_WORD = re.compile(r"\w+")
_FIGURES = re.compile(r"\d{1,4}(?:[-/.:]\d{1,4}){1,2}")
_YEAR = re.compile(r"[12]\d{3}")
_LISTED = re.compile(r"[\s\"']*[,;|][\s,;|\"']*")
# Two boxes side by side, or two tags with an "or": one answer each.
_BOX_BEFORE = re.compile(r"\\boxed\{([^{}]*)\}[\s$,;.]*(?:\\text\{\s*(?:or|and)\s*\}|or|and)?[\s$,]*\\boxed\{[\s$]*$")
_TAG_BEFORE = re.compile(r"(?:\bor|[/,])\s*<(?:final_?)?answer>\s*$")
# Up to here a response is a name with a few words around it.
_NAME_ALONE = 80
_ASKED = re.compile(r"[\s*_\"'`)\]}$.]*(?:\\[)\]][\s.]*)?\?")
# Said anywhere in a short response, these leave all of it open; a long one may weigh first and settle then.
_SHORT_RESPONSE = 240


def leaves_open(text: str, start: int, end: int, cut: int, kind: str, is_other: OtherValue) -> bool:
    """Whether the value at [start, end) of a lower-case text is hedged, as a rule by what stands right around it."""
    if len(text.strip()) <= _SHORT_RESPONSE and _is_noncommittal(text, start, end, cut):
        return True
    if ends_plainly(text, start, end, cut):
        return False
    begin, finish = max(0, start - _BEFORE), min(cut, end + _BEHIND)
    box = _BOX_BEFORE.search(text, begin, start)
    if _TAG_BEFORE.search(text, begin, start) or (box is not None and is_other(box.start(1))):
        return True
    for mark in _SAYS.clause_start.finditer(text, begin, start):
        begin = mark.end()
    if _is_open_before(text, begin, start, end, kind, is_other):
        return True
    return _is_open_behind(text, start, end, finish, kind, is_other)


def _is_noncommittal(text: str, start: int, end: int, cut: int) -> bool:
    """Words of doubt outside the value itself: "unclear" may be the answer."""
    if _SAYS.example_or_near.search(text, max(0, start - _BEFORE), start):
        return True
    begin = max(text.rfind(mark, 0, start) for mark in ".!?。\n") + 1
    if not _SAYS.concludes.match(text, begin, start):
        begin = 0
    return any(mark.end() <= start or mark.start() >= end for mark in _SAYS.noncommittal.finditer(text, begin, cut))


def _is_open_before(text: str, begin: int, start: int, end: int, kind: str, is_other: OtherValue) -> bool:
    before = text[begin:start]
    if _SAYS.denied.search(before) or _SAYS.guessed.search(before):
        return True
    # A polarity takes its negation in, but not two of them.
    if _SAYS.neither.search(text, begin, end + 24) if kind == "boolean" else _SAYS.negated.search(before):
        return True
    # Free text is bounded where it is a date: "after 1987"; "over Paris" is a place, "since 1988" when it began.
    may_be_bounded = kind in {"number", "expression"} or (
        kind == "text" and text[start : start + 1].isdigit() and not before.rstrip().endswith(("since", "from"))
    )
    if may_be_bounded and _SAYS.bounded.search(before):
        return True
    if _YEAR.fullmatch(text, start, start + 4) and before.endswith("by "):
        return True
    if kind == "text":
        is_alone = len(text.strip()) <= _NAME_ALONE
        return bool(_SAYS.nearby.fullmatch(text, 0, start) or (is_alone and _SAYS.or_before.search(before)))
    joint = _SAYS.joined_before.search(before)
    if joint is None:
        return False
    # Whether the last word before the joint is another value.
    stop = begin + len(before[: joint.start()].rstrip(" *_\"'`)]}$,;"))
    place = max(begin, *(text.rfind(mark, begin, stop) + 1 for mark in " ({[*\"'$,は是"))
    return place < stop and is_other(place)


def _is_followed_by_date(text: str, start: int, end: int, finish: int) -> bool:
    """A date in figures with another one behind it: "05/01/2021 - 05/03/2021"."""
    value = text[start:end]
    if not _FIGURES.fullmatch(value):
        return False
    shape = re.sub(r"\d+", r"\\d+", re.escape(value))
    behind = re.compile(rf"[\s*\"']*(?:[-,;/&~]|to\b|and\b|until\b)[\s*\"']*({shape})").match(text, end, finish)
    return behind is not None and behind[1] != value


def _is_open_behind(text: str, start: int, end: int, finish: int, kind: str, is_other: OtherValue) -> bool:
    # What is wrong with a polarity is part of it: "valid is wrong" is read where booleans are.
    unsure = (_SAYS.polarity_in_part,) if kind == "boolean" else (_SAYS.unsure_behind, _SAYS.called_wrong)
    if any(pattern.match(text, end, finish) for pattern in (*unsure, _ASKED, _SAYS.taken_back)):
        return True
    if _SAYS.as_likely.search(text, end, finish):
        return True
    if kind == "option" and (also := _SAYS.also_right.match(text, end, finish)) is not None:
        return is_other(also.end())
    if kind == "text" and _is_followed_by_date(text, start, end, finish):
        return True
    if kind in {"number", "expression", "boolean"}:
        if _SAYS.open_amount.match(text, end, finish):
            return True
        span = _SAYS.range.match(text, end, finish)
        if span is not None and is_other(span.end()):
            return True
    place = end
    if kind == "number" and (unit := _SAYS.unit.match(text, end, finish)) is not None:
        place = unit.end()
    gap = _SAYS.gap.match(text, place, finish)
    if gap is None:
        return False
    if kind == "text":
        offers = _SAYS.text_offers.search(gap[0]) or (
            len(text.strip()) <= _NAME_ALONE and _SAYS.plain_or.search(gap[0])
        )
        return bool(offers) and is_other(gap.end())
    is_listed = kind in {"number", "option", "boolean"} and bool(_LISTED.fullmatch(gap[0]))
    if not is_listed and not _SAYS.offers.search(gap[0]):
        return False
    # "Yes, or maybe no": there the word that leads on is itself a value.
    inside = [word.start() for word in _WORD.finditer(text, gap.start(), gap.end())] if kind == "boolean" else []
    return any(map(is_other, (*inside, gap.end())))
