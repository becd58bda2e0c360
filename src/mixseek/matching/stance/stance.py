"""What a response does with the answer found in it."""

from mixseek.matching.stance.before import frame_before
from mixseek.matching.stance.behind import last_judgement, said_of_another
from mixseek.matching.stance.marks import marked
from mixseek.matching.stance.sentences import Setting, labelled
from mixseek.matching.stance.within import left_open, named_within
from mixseek.matching.stance.words import BLANK, MATTERS, POLAR_NO, Stance, split_words

# Of these kinds an answer is a word or a number that a later sentence can repeat.
_NAMED = frozenset({"text", "number", "expression", "boolean"})


def stance_on(text: str, lowered: str, start: int, end: int, cut: int, kind: str) -> Stance:
    """What the response does with the answer at [start, end) of its text, of which [0, cut) counts."""
    frame = frame_before(lowered, start, cut)
    value = split_words(lowered[start:end]) if kind == "boolean" else []
    setting = Setting(
        kind,
        is_no=not POLAR_NO.isdisjoint(value),
        is_false=not {"false", "incorrect", "wrong"}.isdisjoint(value),
        is_framed=frame.reach >= 0,
        matters=MATTERS if kind == "boolean" else frozenset(),
        value=lowered[start:end] if kind in _NAMED and end - start > 1 else "",
        speaker=labelled(lowered, 0),
    )
    behind = last_judgement(text, lowered, end, cut, setting, frame) if lowered[end:].strip(BLANK) else None
    if behind is None and kind == "boolean":
        behind = said_of_another(lowered, start, end, cut)
    behind = marked(lowered, start, end, cut, setting) or behind
    within = named_within(lowered, start, end, cut) if kind == "text" else None
    within = within or left_open(lowered, start, end, cut, kind)
    return behind or frame.stance or within or Stance.ASSERTED
