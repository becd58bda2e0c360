"""Differences over pairs: the textbook's interval where pairs are independent, an honest one where they are not."""

import statistics
from random import Random

import pytest

from mixseek.domain.scored_counts import VariantSums
from mixseek.stats.difference import paired_difference
from mixseek.stats.intervals import IntervalMethod


def sums_of(clusters: list[list[float]]) -> VariantSums:
    """What a database returns for these differences."""
    return VariantSums(
        measure=None,
        base="A",
        other="B",
        questions=len(clusters),
        pairs=sum(len(own) for own in clusters),
        total=sum(sum(own) for own in clusters),
        total_of_squares=sum(sum(own) ** 2 for own in clusters),
        total_of_products=sum(len(own) * sum(own) for own in clusters),
        pairs_of_squares=sum(len(own) ** 2 for own in clusters),
    )


def test_one_pair_a_question_is_the_ordinary_paired_interval() -> None:
    """Student's t with n − 1 degrees of freedom: t(0.975, 4) = 2.776445."""
    values = [0.1, -0.2, 0.3, 0.05, 0.0]
    difference = paired_difference(sums_of([[value] for value in values]))
    half = 2.776445 * statistics.stdev(values) / 5**0.5

    assert difference is not None
    assert difference.interval is not None
    assert difference.interval.method is IntervalMethod.CLUSTERED
    assert difference.mean == pytest.approx(0.05)
    assert (difference.interval.low, difference.interval.high) == pytest.approx((0.05 - half, 0.05 + half), rel=1e-5)
    assert not difference.is_clear


def test_repeating_every_pair_does_not_narrow_the_interval() -> None:
    """Nine judges who say the same are one observation, not nine."""
    once = paired_difference(sums_of([[0.1], [0.3], [0.2]]))
    nine = paired_difference(sums_of([[0.1] * 9, [0.3] * 9, [0.2] * 9]))

    assert once is not None
    assert nine is not None
    assert once.interval is not None
    assert nine.interval is not None
    assert (nine.pairs, nine.clusters) == (27, 3)
    assert nine.interval.low == pytest.approx(once.interval.low)


def test_what_cannot_be_known_has_no_interval() -> None:
    """No pairs: nothing. One question, or the same difference everywhere: a mean without an interval."""
    one, same = paired_difference(sums_of([[0.1, 0.5]])), paired_difference(sums_of([[0.25], [0.25]]))

    assert paired_difference(sums_of([])) is None
    assert one is not None
    assert one.mean == pytest.approx(0.3)
    assert (one.interval, one.is_clear) == (None, False)
    assert same is not None
    assert same.interval is None


def test_intervals_hold_what_they_promise_when_pairs_of_a_question_resemble_each_other() -> None:
    """Simulated with a shift a question: 95 % intervals hold the truth at least about that often."""
    rng = Random(3)
    held = 0
    for _ in range(400):
        clusters = []
        for _ in range(12):
            shift = rng.gauss(0.0, 0.15)
            clusters.append([0.1 + shift + rng.gauss(0.0, 0.05) for _ in range(6)])
        difference = paired_difference(sums_of(clusters))
        interval = difference.interval if difference else None
        held += interval is not None and interval.low <= 0.1 <= interval.high

    assert held / 400 >= 0.92
