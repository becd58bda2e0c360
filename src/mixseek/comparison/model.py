"""B against A as plain data, and how much worse than a baseline a run may be."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import ResponseCounts
from mixseek.domain.judgments import JudgedRow
from mixseek.domain.pair_counts import Pair, StatusPairs
from mixseek.domain.shown import Shown
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.difference import Difference
from mixseek.text.messages import Message


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """`name` is what tells it from the other side: a run, a target, a variant."""

    letter: str
    name: str
    run: str
    dataset: str
    judges: tuple[str, ...]
    samples: int
    unpaired: int
    unpaired_ids: tuple[str, ...]  # the first ones, or all for a program
    target: str | None = None
    variant: str | None = None
    panel: str | None = None  # the rule that its judges become one by
    responses: ResponseCounts = ResponseCounts()  # how they ended, of all its samples


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """Pairs that share a task, a target or a variant; `p_adjusted` is Holm's, over all groups of its factor."""

    name: str | None
    difference: Difference
    p_adjusted: float | None


@dataclass(frozen=True, slots=True)
class Drift:
    """Pairs whose judged text is byte for byte the same: whatever changed there is the judge's doing."""

    shift: Difference | None  # over these pairs alone; None where there are none
    changed: int  # another score, or a score on one side only
    lost_scores: int  # of `changed`: with a score on one side only
    part: float | None  # of the headline, in its unit: what their changes add to it
    without: Difference  # over all pairs but the changed ones of these
    pairs: tuple[Pair, ...]

    @property
    def same_texts(self) -> int:
        return self.shift.sums.pairs if self.shift else 0


@dataclass(frozen=True, slots=True)
class ChangedSample:
    """A pair with everything that was said about it on both sides."""

    pair: Pair
    rows_a: tuple[JudgedRow, ...]
    rows_b: tuple[JudgedRow, ...]


@dataclass(frozen=True, slots=True)
class Comparison(Shown):
    """The result of B against A."""

    protocol: str
    protocol_hash: str
    a: ComparedSide
    b: ComparedSide
    paired_by: tuple[str, ...]
    difference: Difference
    groups: Mapping[str, tuple[GroupDifference, ...]]  # factor to its groups, where there are several
    drift: Drift
    statuses: tuple[StatusPairs, ...]
    better: tuple[Pair, ...]
    worse: tuple[Pair, ...]
    unscored: tuple[Pair, ...]
    notes: tuple[Message, ...] = ()
    # What a reader knows the judges of both sides by.
    labels: Mapping[str, str] = field(default_factory=dict)
    # Of all pairs of each kind and all samples without a partner, where a program asked.
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)
    counting: Counting = USUAL  # what both means take
    finished: Difference | None = None  # over pairs finished on both sides; None where all are

    @property
    def is_binary(self) -> bool:
        return self.difference.sums.is_binary


class GateEnd(StrEnum):
    """What is held against the limit."""

    POINT = "point"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class DropGate:
    """`limit` in 0..1: 0.02 lets the mean score fall by two points of a hundred."""

    limit: float
    on: GateEnd = GateEnd.POINT


@dataclass(frozen=True, slots=True)
class DropResult:
    """A gate with its numbers; `actual` is None where there is nothing to hold against the limit."""

    name: str
    limit: float
    actual: float | None
    is_met: bool
    on: GateEnd
    baseline: str
    why: str

    def describe(self) -> str:
        """One line for stderr."""
        return f"gate --max-drop {'met' if self.is_met else 'not met'} against {self.baseline}: {self.why}"
