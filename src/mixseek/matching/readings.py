"""What a kind of ground truth makes of a stated answer."""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import ClassVar, NamedTuple

from mixseek.domain.judgments import ErrorType, Span


class Decision(StrEnum):
    """UNDECIDED is honest: what the rules decide must be right."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNDECIDED = "undecided"


class Comparison(NamedTuple):
    """A decision on a text and the rules that led there; the span is within the text, None where silence decided."""

    decision: Decision
    span: Span | None
    rules: tuple[str, ...]


class MatchResult(NamedTuple):
    """The decision, the exact place in the original response, and the rules that led there, in order."""

    decision: Decision
    extracted_answer: str | None
    span: Span | None
    rules: tuple[str, ...]
    # None while undecided, and for a wrong answer: why it is wrong, rules cannot know.
    error_type: ErrorType | None


# The rule of an answer that only a comparer of algebra could decide, where there is none.
NEEDS_MATHS = "needs_maths"


# Values that are made for every response are tuples: a frozen dataclass takes four times as long to make.
class Reading(NamedTuple):
    """A value read in a piece of text, already compared; offsets are within the piece."""

    decision: Decision
    start: int
    end: int
    rule: str

    def left_open(self, rule: str) -> "Reading":
        return self._replace(decision=Decision.UNDECIDED, rule=rule)


class Reader(ABC):
    """Knows one ground truth; reads pieces of responses against it."""

    kind: ClassVar[str]
    spans_lines: ClassVar[bool] = False  # whether an answer of this kind may be written over several lines
    question: str = ""

    @abstractmethod
    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """None when the piece states no value of this kind. `firm`: the piece stands behind a firm cue."""

    @abstractmethod
    def is_other(self, text: str, place: int) -> bool:
        """Whether a value of this kind begins at `place` that is not the ground truth."""

    def is_absent(self, text: str) -> bool:
        """Whether the ground truth stands nowhere in the text; False for kinds of which that cannot be seen."""
        return False
