"""A leader board of systems that were compared two by two, as data that can be printed."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from mixseek.domain.counts import ResponseCounts
from mixseek.domain.shown import Shown
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.strengths.model import Strengths
from mixseek.stats.strengths.order import OrderAgreement

# The firsts whose certainty is told.
_TOPS = (1, 3)


@dataclass(frozen=True, slots=True)
class Board:
    """Strengths of systems; beside them with length taken out, and by people, where there is what that needs."""

    source: str
    judges: Sequence[str]
    strengths: Strengths
    controlled: Strengths | None = None
    human: Strengths | None = None
    agreement: OrderAgreement | None = None
    notes: Sequence[str] = ()
    # How responses ended, by system, where not all are finished.
    responses: Mapping[str, ResponseCounts] = field(default_factory=dict)
    # The rule by which several judges are one, and how many pairs are ties because it found no winner.
    panel: str | None = None
    split: int = 0

    @property
    def certainties(self) -> dict[int, float]:
        """How certain it is that the first ones are the strongest, in whatever order."""
        known = self.strengths.certainties
        return {count: known[count - 1] for count in _TOPS if count <= len(known)}


@dataclass(frozen=True, slots=True)
class SystemBoard(Shown, Board):
    """A board as `mixseek.leaderboard` gives it: `print` shows it."""
