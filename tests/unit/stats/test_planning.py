"""Plans: wide enough, not much more, and honest about what is assumed."""

import math
import random

import pytest

from mixseek.stats.corrected import ASSURANCE, PairSums, ValueScale, expected_half_width, regression
from mixseek.stats.label_planning import (
    ASSUMED_RESIDUAL,
    PlannedVerdict,
    binary_width,
    graded_width,
    plan_labels,
    spread_of,
)

VERDICTS = (PlannedVerdict("0", 0.3, 0.2, 40), PlannedVerdict("1", 0.7, 0.9, 60))
SHARES = [(one.weight, one.share) for one in VERDICTS]


def test_a_plan_is_wide_enough_and_not_much_more() -> None:
    plan = plan_labels(binary_width(VERDICTS, 5_000), 5_000, 0.05)

    assert plan.needed is not None
    assert expected_half_width(SHARES, 5_000, plan.needed) < 0.05 < expected_half_width(SHARES, 5_000, plan.needed // 2)
    assert plan_labels(binary_width(VERDICTS, 50), 50, 0.001).needed is None


def test_a_curve_falls_and_ends_with_everything_labelled() -> None:
    plan = plan_labels(binary_width(VERDICTS, 400), 400, 0.05)

    widths = [width for _, width in plan.curve]
    assert widths == sorted(widths, reverse=True)
    assert plan.curve[-1][0] == 400


def test_clusters_need_as_many_times_more_as_they_are_worth_less() -> None:
    alone = plan_labels(binary_width(VERDICTS, 100_000), 100_000, 0.03)
    clustered = plan_labels(binary_width(VERDICTS, 100_000), 100_000, 0.03, design_effect=2.0)

    assert (clustered.needed or 0) == pytest.approx(2 * (alone.needed or 0), rel=0.02)


def test_a_graded_plan_comes_true() -> None:
    """Planned from a hundred labels; drawn again with as many as planned, the interval is about as wide as asked."""
    rng = random.Random(5)
    scores = [rng.random() for _ in range(4_000)]
    labels = [min(1.0, max(0.0, 0.6 * f + 0.1 + rng.gauss(0, 0.1))) for f in scores]
    pairs = list(enumerate(zip(scores, labels, strict=True)))
    spread = spread_of(PairSums.of([(f, y if n < 100 else None) for n, (f, y) in pairs]))
    plan = plan_labels(graded_width(spread, 4_000), 4_000, 0.015)
    assert plan.needed is not None
    least = math.ceil(plan.needed / ASSURANCE)

    found = regression([(f, y if n < least else None) for n, (f, y) in pairs], ValueScale())

    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(0.015, rel=0.15)


def test_without_labels_a_spread_is_assumed_and_says_so() -> None:
    spread = spread_of(PairSums.of([(0.5, None), (1.0, None)]))

    assert (spread.slope, spread.residual, spread.labels, spread.is_assumed) == (1.0, ASSUMED_RESIDUAL, 0, True)
    assert spread.score_spread == pytest.approx(math.sqrt(0.125))
