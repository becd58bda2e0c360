"""How far a judge agrees with itself: how much of the spread of its scores is its own doing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mixseek.domain.counts import TakeSums
from mixseek.stats.intervals import Interval, IntervalMethod, student_quantile


@dataclass(frozen=True, slots=True)
class OwnShare:
    """The judge's own part of the variance, 0..1; None where scores do not vary, or nothing was judged twice."""

    value: float | None
    interval: Interval | None


def own_share_of_variance(hands: Sequence[TakeSums], level: float = 0.95) -> OwnShare:
    """One minus the intraclass correlation of one-way analysis of variance, over hands of questions.

    Of scores that differ because samples differ, a judge asked again gives the same; the rest is its own. The interval
    leaves out one hand at a time (jackknife, Student's t with hands - 1 degrees of freedom).
    """
    value = _share(hands)
    if value is None or len(hands) < 2:
        return OwnShare(value, None)
    without = [_share([*hands[:number], *hands[number + 1 :]]) for number in range(len(hands))]
    found = [one for one in without if one is not None]
    if len(found) < len(hands):
        return OwnShare(value, None)
    mean = math.fsum(found) / len(found)
    variance = (len(found) - 1) / len(found) * math.fsum((one - mean) ** 2 for one in found)
    half = student_quantile((1 + level) / 2, len(found) - 1) * math.sqrt(variance)
    if half < 1e-12:
        # Every hand alike: a width of nought would claim certainty.
        return OwnShare(value, None)
    return OwnShare(value, Interval(max(0.0, value - half), min(1.0, value + half), level, IntervalMethod.JACKKNIFE))


def _share(hands: Sequence[TakeSums]) -> float | None:
    samples, takes = sum(one.samples for one in hands), sum(one.takes for one in hands)
    if samples < 2 or takes <= samples:
        return None
    within = math.fsum(one.within for one in hands) / (takes - samples)
    total = math.fsum(one.total for one in hands)
    between = (math.fsum(one.between for one in hands) - total * total / takes) / (samples - 1)
    # Takes of a sample on average, where samples have different numbers of them.
    size = (takes - math.fsum(one.squares_of_takes for one in hands) / takes) / (samples - 1)
    of_samples = max(0.0, (between - within) / size)
    whole = within + of_samples
    return within / whole if whole > 1e-12 else None
