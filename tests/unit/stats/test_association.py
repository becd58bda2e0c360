"""Whether two raters order items alike, against values worked out by hand and by definition."""

import itertools
import math
from collections import Counter
from random import Random

import pytest

from mixseek.stats.raters import kendall_tau_b, mean_difference, pearson, spearman


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


def test_a_rater_that_never_varies_orders_nothing() -> None:
    pairs = Counter([(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)])

    assert (pearson(pairs), spearman(pairs), kendall_tau_b(pairs)) == (None, None, None)
    assert (pearson({}), mean_difference({})) == (None, None)
