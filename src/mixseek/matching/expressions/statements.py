"""Compare two texts that state an answer: cut out the stated part, read it in the common ways, compare the meanings."""

import re
from typing import Final

from mixseek.matching.expressions.based_numbers import compare_based_numbers
from mixseek.matching.expressions.comparing import compare_meanings
from mixseek.matching.expressions.findings import Finding, Hints, same, unsure
from mixseek.matching.expressions.location import locate_answer
from mixseek.matching.expressions.readings import Readings, read_meanings
from mixseek.matching.expressions.segments import last_boxes, maths_segments
from mixseek.matching.expressions.source import repair_commands
from mixseek.matching.outcome import Decision

MAX_ANSWER: Final = 4_000
MAX_GOLD: Final = 40_000
LONG_GOLD: Final = 120  # longer than any bare answer: a worked solution
_SPACES: Final = re.compile(r"\s+|\\[,;:! ]|\\left|\\right|\$|~")


def stated_part(text: str) -> str:
    """The boxed part of a reference solution; the text itself when nothing is boxed."""
    if "boxed" in text or "fbox" in text:
        boxes = last_boxes(repair_commands(text))
        if boxes is not None and boxes.text:
            return boxes.text
    elif len(text) > LONG_GOLD or "\n####" in text:
        located = locate_answer(text)
        if located is not None and located.rule == "stated":
            return located.text
    return text


def compare_statements(answer: str, gold: str, hints: Hints) -> Finding:
    """`answer` is a final answer; `gold` a bare answer or a worked solution that boxes it."""
    if len(answer) > MAX_ANSWER or len(gold) > MAX_GOLD:
        return unsure("too_long")
    ours, theirs = stated_part(answer).strip(), stated_part(gold).strip()
    if not ours or not theirs:
        return unsure("empty")
    found = _compare_parts(ours, theirs, hints)
    if found.decision is Decision.UNDECIDED or len(gold) <= LONG_GOLD:
        return found
    others = _other_parts(gold, theirs, agrees=found.decision is Decision.CORRECT)
    if others:
        # A solution in several parts: which part was asked for is not ours to guess.
        rest = [_compare_parts(ours, other, hints) for other in others]
        if {found.decision, *(other.decision for other in rest)} != {Decision.INCORRECT}:
            return unsure("several_parts")
    return found


def _other_parts(gold: str, stated: str, *, agrees: bool) -> list[str]:
    """Boxes of a long reference solution other than the last, and mathematics stated after it."""
    place = gold.rfind("\\boxed")
    last = last_boxes(gold)
    after = maths_segments(gold, last.end, len(gold))[:3] if last is not None else []
    # Remarks after a box that agrees change nothing; after one that differs they may be the part that was asked for.
    others = [segment.text for segment in after if len(segment.text) > 3] if not agrees else []
    while place > 0 and len(others) < 6:
        box = last_boxes(gold[:place])
        if box is None:
            break
        if box.text and box.text not in stated and _squeezed(box.text) != _squeezed(stated):
            others.append(box.text)
        place = box.start
    return others


def _compare_parts(ours: str, theirs: str, hints: Hints) -> Finding:
    if _squeezed(ours) == _squeezed(theirs):
        return same("same_text")
    based = compare_based_numbers(ours, theirs)
    if based is not None:
        return based
    left, right = read_meanings(ours), read_meanings(theirs)
    if not left or not right:
        return unsure("not_read")
    return _best_reading(left, right, hints)


def _squeezed(text: str) -> str:
    return _SPACES.sub("", repair_commands(text)).rstrip(".").replace("dfrac", "frac").replace("tfrac", "frac")


def _best_reading(left: Readings, right: Readings, hints: Hints) -> Finding:
    """Equal under any reading is equal; different only when every reading differs."""
    doubt: Finding | None = None
    for one, one_ambiguous in left:
        for other, other_ambiguous in right:
            found = compare_meanings(one, other, hints)
            if found.decision is Decision.CORRECT:
                return found
            if found.decision is Decision.INCORRECT and (one_ambiguous or other_ambiguous):
                found = unsure("ambiguous_notation")
            if found.decision is Decision.UNDECIDED:
                doubt = doubt or found
            last = found
    return doubt or last
