"""What a response does with the answer found in it."""

from mixseek.matching.stance.before import UNFRAMED, frame_before
from mixseek.matching.stance.behind import last_judgement, said_of_another
from mixseek.matching.stance.marks import marked_before, marked_behind, stands_in_grade
from mixseek.matching.stance.sentences import Setting, labelled
from mixseek.matching.stance.within import left_open, named_within
from mixseek.matching.stance.words import BLANK, MATTERS, POLAR_NO, Stance, split_words

# Of these kinds an answer is a word or a number that a later sentence can repeat.
_NAMED = frozenset({"text", "number", "expression", "boolean"})


def stance_on(text: str, lowered: str, start: int, end: int, cut: int, kind: str) -> Stance:
    """What the response does with the answer at [start, end) of its text, of which [0, cut) counts."""
    frame = frame_before(lowered, start, cut)
    behind = None
    if marked_before(lowered, start, kind):
        return Stance.DENIED
    if lowered[end:].strip(BLANK):
        setting = _setting(lowered, start, end, kind, is_framed=frame.reach >= 0)
        if marked_behind(lowered, end, cut, setting):
            return Stance.DENIED
        behind = last_judgement(text, lowered, end, cut, setting, frame)
    if kind == "boolean":
        if stands_in_grade(lowered, start):
            return Stance.DENIED
        behind = behind or said_of_another(lowered, start, end, cut)
    if behind is not None or frame.stance is not None:
        return behind or frame.stance or Stance.ASSERTED
    within = named_within(lowered, start, end, cut) if kind == "text" else None
    return within or left_open(lowered, start, end, cut, kind) or Stance.ASSERTED


def stance_outside(ahead: str, beyond: str) -> Stance:
    """What is said of an answer where none is looked for: over reasoning that nothing opens, and behind the end."""
    frame = frame_before(ahead, len(ahead), len(ahead) + 1) if ahead else UNFRAMED
    if frame.stance is not None:
        return frame.stance
    if not beyond:
        return Stance.ASSERTED
    # Another conversation may follow; a remark of a line or two is about this one.
    text = f"\n{beyond}"
    judgement = last_judgement(text, text.lower(), 0, len(text), Setting("text"), UNFRAMED)
    is_mark = marked_behind(text.lower(), 0, len(text), Setting("text"))
    return Stance.DENIED if is_mark else judgement or Stance.ASSERTED


def _setting(lowered: str, start: int, end: int, kind: str, *, is_framed: bool) -> Setting:
    value = split_words(lowered[start:end]) if kind == "boolean" else []
    return Setting(
        kind,
        is_no=not POLAR_NO.isdisjoint(value),
        is_false=not {"false", "incorrect", "wrong"}.isdisjoint(value),
        is_framed=is_framed,
        matters=MATTERS if kind == "boolean" else frozenset(),
        value=lowered[start:end] if kind in _NAMED and end - start > 1 else "",
        speaker=labelled(lowered, 0),
    )
