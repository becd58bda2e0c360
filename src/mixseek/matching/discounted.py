"""Answers that are named but not given: denied, supposed, asked about, checked, or described."""

import re

from mixseek.matching.phrases import Phrases

_SENTENCE_STARTS = (". ", "? ", "! ", "; ", "\n")
# How far before a cue its sentence is looked at.
_SENTENCE = 200
_SAYS = Phrases("statements")
# Most responses end like this, with a value and a full stop.
_PLAIN_LEADS = tuple(
    f"{mark}{lead}the answer is {bracket}"
    for lead in ("so ", "", "thus, ", "hence, ", "therefore, ")
    for bracket in ("", "(")
    for mark in (". ", "\n")
)


def ends_plainly(lowered: str, start: int, end: int, cut: int) -> bool:
    """ "So the answer is (B)." closes the response: nothing in these words can leave the value at [start, end) open."""
    return cut - end < 4 and lowered.endswith(_PLAIN_LEADS, 0, start) and not lowered[end:cut].strip(" .)*\n")


_PLAIN_CUE = re.compile(r"(?:[.?!;] |\n)(?:so |thus,? |hence,? )?the $")


def is_discounted(lowered: str, start: int, position: int, value: int) -> bool:
    """Whether the answer announced at `position`, with its value from `value` on, is not the one that is given."""
    if lowered.startswith(" is ", position + 6) and _PLAIN_CUE.search(lowered, max(start, position - 16), position):
        # "So the answer is": most cues are of this kind, and nothing in them can discount.
        return False
    before = lowered[max(start, position - _SENTENCE) : position]
    for mark in _SENTENCE_STARTS:
        before = before[before.rfind(mark) + 1 :]
    between = lowered[position + 6 : value]
    if _SAYS.partial.match(between) or _SAYS.denied.search(between):
        return True
    if _SAYS.checked.search(before) or _SAYS.somebody.search(before):
        return True
    if _SAYS.would.search(between) and _SAYS.condition.search(before):
        return _SAYS.not_met.search(before) is not None
    return bool(_SAYS.asked.search(before) and "?" in lowered[value : value + 40].partition("\n")[0])


def is_ruled_out(lowered: str, value: int, end: int) -> bool:
    """Whether the value from `value` on stands under a condition that is not met: it takes nothing else back."""
    return _SAYS.only_if.match(lowered, value, end) is not None
