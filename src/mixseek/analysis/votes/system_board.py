"""A leader board of systems that were compared two by two, as data that can be printed."""

from mixseek.domain.shown import Shown
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.strengths import Board


@dataclass(frozen=True, slots=True)
class SystemBoard(Shown, Board):
    """A board as `mixseek.leaderboard` gives it: `print` shows it."""
