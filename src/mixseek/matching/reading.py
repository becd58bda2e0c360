"""What a kind of ground truth makes of a stated answer."""

from typing import NamedTuple, Protocol

from mixseek.matching.outcome import Decision

# The rule of an answer that only a comparer of algebra could decide, where there is none.
NEEDS_MATHS = "needs_maths"


# Values that are made for every response are tuples: a frozen dataclass takes four times as long to make.
class Reading(NamedTuple):
    """A value read in a piece of text, already compared; offsets are within the piece."""

    decision: Decision
    start: int
    end: int
    rule: str


class Reader(Protocol):
    """Knows one ground truth; reads pieces of responses against it."""

    @property
    def kind(self) -> str: ...
    @property
    def spans_lines(self) -> bool:
        """Whether an answer of this kind may be written over several lines."""
        ...

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """None when the piece states no value of this kind. `firm`: the piece stands behind a firm cue."""
        ...

    def is_other(self, text: str, place: int) -> bool:
        """Whether a value of this kind begins at `place` that is not the ground truth."""
        ...

    def is_absent(self, text: str) -> bool:
        """Whether the ground truth stands nowhere in the text, in any writing this kind can read."""
        ...
