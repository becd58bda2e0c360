"""What a response does with the answer found in it."""

from mixseek.matching.stance.before import UNFRAMED, frame_before
from mixseek.matching.stance.behind import last_judgement, said_of_another
from mixseek.matching.stance.heads import ill_spoken_over
from mixseek.matching.stance.marks import marked_before, marked_behind, stands_in_grade
from mixseek.matching.stance.reservations import ill_spoken_aside, ill_spoken_before, ill_spoken_behind
from mixseek.matching.stance.sentences import Setting, labelled
from mixseek.matching.stance.within import left_open, named_within
from mixseek.matching.stance.words import BLANK, MATTERS, POLAR_NO, Stance, split_words
from mixseek.matching.visible import Visible

# Of these kinds an answer is a word or a number that a later sentence can repeat.
_NAMED = frozenset({"text", "number", "expression", "boolean"})


def stance_on(visible: Visible, start: int, end: int, kind: str, question: str) -> Stance:
    """What the response does with the answer at [start, end) of its text."""
    text, lowered, cut = visible.text, visible.lowered, visible.cut
    stance = _stance_within(text, lowered, start, end, cut, kind)
    if stance in _UNSAID and (visible.ahead or visible.beyond):
        stance = stance_outside(visible.ahead, visible.beyond) or stance
    if stance is not None:
        return stance
    return (
        ill_spoken_before(text, start, cut, question, kind)
        or ill_spoken_over(text, start, cut, question, kind)
        or _ill_opening(visible.opening, question, kind)
        or ill_spoken_behind(text, end, cut, question, kind)
        or (ill_spoken_aside(visible.aside, question) if visible.aside else None)
        or Stance.ASSERTED
    )


def _ill_opening(opening: str, question: str, kind: str) -> Stance | None:
    """The same of lines of greeting and heading, which are no part of the answer."""
    end = len(opening) + 2
    return ill_spoken_over(f"{opening}\n\n", end, end, question, kind) if opening else None


_UNSAID = frozenset({None, Stance.ASSERTED})


def _stance_within(text: str, lowered: str, start: int, end: int, cut: int, kind: str) -> Stance | None:
    """What is said of the answer in so many words; None where nothing is."""
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
        return behind or frame.stance
    within = named_within(lowered, start, end, cut) if kind == "text" else None
    return within or left_open(lowered, start, end, cut, kind)


def stance_outside(ahead: str, beyond: str) -> Stance | None:
    """What is said of an answer where none is looked for: over reasoning that nothing opens, and behind the end."""
    frame = frame_before(ahead, len(ahead), len(ahead) + 1) if ahead else UNFRAMED
    if frame.stance is not None:
        return frame.stance
    if not beyond:
        return None
    # Another conversation may follow; a remark of a line or two is about this one.
    text = f"\n{beyond}"
    judgement = last_judgement(text, text.lower(), 0, len(text), Setting("text"), UNFRAMED)
    is_mark = marked_behind(text.lower(), 0, len(text), Setting("text"))
    return Stance.DENIED if is_mark else judgement


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
