"""How far two variants differ on the same questions."""

import math
from dataclasses import dataclass

from mixseek.domain.counts import VariantSums
from mixseek.stats.intervals import Interval, IntervalMethod, student_quantile

# How far two ways of asking differ, over pairs that share a question: pairs of one question are not independent.


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """`interval` is None with one cluster: one observation has no spread."""

    mean: float
    interval: Interval | None
    pairs: int
    clusters: int

    @property
    def is_clear(self) -> bool:
        """The interval leaves no doubt about the direction."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


def paired_difference(sums: VariantSums, level: float = 0.95) -> PairedDifference | None:
    """The mean difference with a cluster-robust Student t interval; None without pairs.

    With one pair a cluster this is the ordinary paired t interval. Treating the pairs of one question as independent
    would promise more than a handful of questions can hold.
    """
    if sums.pairs == 0:
        return None
    mean = sums.total / sums.pairs
    if sums.questions < 2:
        return PairedDifference(mean, None, sums.pairs, sums.questions)
    # Σ (s − n·mean)², multiplied out.
    squares = sums.total_of_squares - 2 * mean * sums.total_of_products + mean * mean * sums.pairs_of_squares
    variance = max(0.0, squares) * sums.questions / (sums.questions - 1) / sums.pairs**2
    half = student_quantile((1 + level) / 2, sums.questions - 1) * math.sqrt(variance)
    if half < 1e-9:
        # Every question moved by the same amount: a width of nought would claim certainty.
        return PairedDifference(mean, None, sums.pairs, sums.questions)
    low, high = max(-1.0, mean - half), min(1.0, mean + half)
    return PairedDifference(mean, Interval(low, high, level, IntervalMethod.CLUSTERED), sums.pairs, sums.questions)
