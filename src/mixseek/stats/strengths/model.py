"""What is compared, where each stands, and the strengths of all; or the state that there are none."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Interval
from mixseek.text.messages import Message

# Strengths that differ by less are as strong: the rounding of two that won as much.
EQUAL = 1e-9


class StrengthState(StrEnum):
    """Whether there are strengths at all."""

    ESTIMATED = "estimated"
    NOTHING = "nothing compared"
    APART = "parts that never met"
    ONE_SIDED = "one side won everything"
    # Only beside a covariate: it tells wins from losses without an exception, or says no more than the names do.
    SEPARATED = "length decides everything"
    CONFOUNDED = "length goes with the system"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One verdict about two: `score` is 1 where the first was better, 0 where the second was, 0.5 for a tie.

    `length` is ln of the first one's length minus ln of the second one's; without it, one counts as long as the other.
    """

    question: str
    first: str
    second: str
    score: float
    length: float | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One on the board. Ranks begin with 1 and are shared by equals; `best` to `worst` holds the true one with 95 %.

    Without strengths there are only the counts, and what follows from strengths is None; with fewer than five questions
    nothing says how far to trust one, and `se` and `interval` are None. `decided` are the questions on which it won or
    lost something; `win_interval` is over questions, None with one question.
    """

    name: str
    comparisons: int
    questions: int
    won: float  # ties are half a win
    ties: int
    decided: int = 0
    win_interval: Interval | None = None
    strength: float | None = None
    se: float | None = None  # over questions
    fisher_se: float | None = None  # as if every comparison were independent
    interval: Interval | None = None
    rank: int | None = None
    best: int | None = None
    worst: int | None = None

    @property
    def win_rate(self) -> float:
        return self.won / self.comparisons


@dataclass(frozen=True, slots=True)
class Strengths:
    """The board, strongest first; by win rate where there are no strengths, and `sentence` says why.

    `parts` are the groups that a refusal names. `wins[i, j]` is what i won against j. `length_slope` is how much one
    unit of `length` moves the logit. `certainties[k - 1]`: at least so certain are the first k the strongest ones, in
    whatever order.
    """

    state: StrengthState
    sentence: Message
    standings: Sequence[Standing]
    comparisons: int
    questions: int
    wins: Mapping[tuple[str, str], float]
    # Of the share that i won against j, over the questions on which they met; None with one question.
    win_intervals: Mapping[tuple[str, str], Interval | None]
    parts: Sequence[Sequence[str]] = ()
    names: Sequence[str] = ()
    certainties: Sequence[float] = ()
    length_slope: float | None = None
    length_se: float | None = None

    @property
    def values(self) -> dict[str, float]:
        """Strengths by name; empty where there are none."""
        return {standing.name: standing.strength for standing in self.standings if standing.strength is not None}
