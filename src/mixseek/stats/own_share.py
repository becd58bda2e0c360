"""How far a judge agrees with itself: how much of the spread of its scores is its own doing."""

import math
from collections.abc import Sequence
from dataclasses import replace

from mixseek.domain.counts import TakeSums
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Interval, jackknife


@dataclass(frozen=True, slots=True)
class OwnShare:
    """The judge's own part of the variance, 0..1; None where scores do not vary, or nothing was judged twice."""

    value: float | None
    interval: Interval | None


def own_share_of_variance(groups: Sequence[TakeSums], level: float = 0.95) -> OwnShare:
    """One minus the intraclass correlation of one-way analysis of variance, over groups of questions.

    Of scores that differ because samples differ, a judge asked again gives the same; the rest is its own. The interval
    leaves out one group at a time (jackknife, Student's t with groups - 1 degrees of freedom).
    """
    value = _share(groups)
    without = [_share([*groups[:number], *groups[number + 1 :]]) for number in range(len(groups))]
    interval = jackknife(value, without, level)
    return OwnShare(value, replace(interval, low=max(0.0, interval.low)) if interval else None)


def _share(groups: Sequence[TakeSums]) -> float | None:
    samples, takes = sum(group.samples for group in groups), sum(group.takes for group in groups)
    if samples < 2 or takes <= samples:
        return None
    within = math.fsum(group.within for group in groups) / (takes - samples)
    total = math.fsum(group.total for group in groups)
    between = (math.fsum(group.between for group in groups) - total * total / takes) / (samples - 1)
    # Takes of a sample on average, where samples have different numbers of them.
    size = (takes - math.fsum(group.squares_of_takes for group in groups) / takes) / (samples - 1)
    of_samples = max(0.0, (between - within) / size)
    whole = within + of_samples
    return within / whole if whole > 1e-12 else None
