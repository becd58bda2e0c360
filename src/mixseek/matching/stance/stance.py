"""What a response does with the answer found in it."""

from mixseek.matching.stance.before import frame_before
from mixseek.matching.stance.behind import last_judgement, said_of_another
from mixseek.matching.stance.sentences import Setting, labelled
from mixseek.matching.stance.within import named_within
from mixseek.matching.stance.words import BLANK, MATTERS, POLAR_NO, Stance, split_words


def stance_on(lowered: str, start: int, end: int, cut: int, kind: str) -> Stance:
    """What the response does with the answer at [start, end) of its lower-case text, of which [0, cut) counts."""
    frame = frame_before(lowered, start, cut)
    behind: Stance | None = None
    if lowered[end:].strip(BLANK):
        is_no = kind == "boolean" and not POLAR_NO.isdisjoint(split_words(lowered[start:end]))
        setting = Setting(
            kind, is_no, frame.reach >= 0, MATTERS if kind == "boolean" else frozenset(), labelled(lowered, 0)
        )
        behind = last_judgement(lowered, end, cut, setting, frame)
    if behind is None and kind == "boolean":
        behind = said_of_another(lowered, start, end, cut)
    within = named_within(lowered, start, end, cut) if kind == "text" else None
    return behind or frame.stance or within or Stance.ASSERTED
