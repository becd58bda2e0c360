"""Whether two raters order items alike, against values worked out by hand and by definition."""

import itertools
import math
from collections import Counter
from random import Random

import pytest

from mixseek.stats.ordering import auc, brier, kendall_tau_b, mean_difference, pearson, spearman
from mixseek.stats.raters import Scale, krippendorff_alpha


def tau_by_definition(items: list[tuple[float, float]]) -> float:
    """Every pair of items, one by one."""
    balance = untied_x = untied_y = 0
    for (x, y), (u, v) in itertools.combinations(items, 2):
        balance += ((x > u) - (x < u)) * ((y > v) - (y < v))
        untied_x += x != u
        untied_y += y != v
    return balance / math.sqrt(untied_x * untied_y)


def test_tau_b_is_what_its_definition_says_with_ties_on_both_sides() -> None:
    rng = Random(2)
    items = [(float(rng.randrange(5)), float(rng.randrange(4))) for _ in range(60)]

    assert kendall_tau_b(Counter(items)) == pytest.approx(tau_by_definition(items), abs=1e-12)


def test_ranks_do_not_care_how_far_values_are_apart() -> None:
    pairs = Counter([(1.0, 1.0), (2.0, 8.0), (3.0, 27.0), (4.0, 64.0)])

    assert spearman(pairs) == pytest.approx(1)
    assert kendall_tau_b(pairs) == pytest.approx(1)
    assert pearson(pairs) == pytest.approx(0.9513, abs=1e-4)
    assert mean_difference(pairs) == pytest.approx(-22.5)


def test_scores_against_right_and_wrong() -> None:
    """The area is the share of pairs of a right and a wrong one in which the right one has more, a tie half."""
    pairs = Counter({(1.0, 0.9): 2, (1.0, 0.4): 1, (0.0, 0.4): 1, (0.0, 0.1): 1})

    assert auc(pairs) == pytest.approx((2 * 2 + 0.5 + 1) / 6)
    assert brier(pairs) == pytest.approx((2 * 0.01 + 0.36 + 0.16 + 0.01) / 5)
    assert auc(Counter({(1.0, 0.9): 2})) is None
    assert auc(Counter({(1.0, 0.9): 2, (0.5, 0.1): 1, (0.0, 0.1): 1})) is None
    assert brier(Counter({(1.0, 9.0): 2})) is None
    assert brier(Counter()) is None


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_units_do_not_matter(unit: float) -> None:
    pairs = Counter([(1.0, 1.0), (2.0, 8.0), (3.0, 27.0), (4.0, 64.0)])
    scaled = Counter({(x * unit, y * unit): count for (x, y), count in pairs.items()})

    assert pearson(scaled) == pytest.approx(pearson(pairs))
    whole, small = (krippendorff_alpha(dict(one.items()), Scale.INTERVAL) for one in (pairs, scaled))
    assert small == pytest.approx(whole)
    assert pearson(Counter({(0.1 * unit, 1.0): 3, (0.1 * unit, 2.0): 4})) is None


def test_a_rater_that_never_varies_orders_nothing() -> None:
    pairs = Counter([(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)])

    assert (pearson(pairs), spearman(pairs), kendall_tau_b(pairs)) == (None, None, None)
    assert (pearson({}), mean_difference({})) == (None, None)
