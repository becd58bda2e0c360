"""Two systems on the same questions: interval and tests."""

import math

import pytest

from mixseek.stats.distributions import binomial_two_sided, mid_p, student_two_sided
from mixseek.stats.paired_test import DifferenceTest, paired_test


def test_t_tails_are_those_of_tables() -> None:
    """Also far out, where one minus a share would be nothing."""
    assert student_two_sided(2.776445105, 4) == pytest.approx(0.05, abs=1e-9)
    assert student_two_sided(0.0, 10) == 1
    # One degree of freedom is Cauchy's: the tail is 2/pi * atan(1/t).
    assert student_two_sided(1e9, 1) == pytest.approx(2 / math.pi * math.atan(1e-9), rel=1e-9)


def test_many_throws_have_the_same_tail_as_few_by_another_way() -> None:
    """1,000 throws are counted in whole numbers, 1,002 by the beta distribution: the tail moves on smoothly."""
    assert binomial_two_sided(450, 1000) == pytest.approx(0.0017305, rel=1e-4)
    assert binomial_two_sided(451, 1002) == pytest.approx(0.0017352, rel=1e-2)
    assert mid_p(500_000, 1_000_000) == pytest.approx(1, abs=1e-9)
    assert binomial_two_sided(498_000, 1_000_000) == pytest.approx(6.38e-5, rel=0.01)


def test_right_or_wrong_values_are_tested_by_mcnemar() -> None:
    pairs = {(1.0, 0.0): 18, (0.0, 1.0): 1, (1.0, 1.0): 50, (0.0, 0.0): 8}
    found = paired_test(pairs)

    assert found is not None
    assert (found.questions, found.better, found.worse) == (77, 18, 1)
    assert found.mean == pytest.approx(17 / 77)
    assert (found.method, found.p_value) == (DifferenceTest.MCNEMAR, found.mid_p)
    assert found.exact_p == pytest.approx(2 * 20 / 2**19)
    assert found.is_clear


def test_graded_values_are_tested_by_sign_flips() -> None:
    """Five differences of one size in one direction: two of 32 assignments are as far."""
    found = paired_test({(3.0, 2.0): 5, (2.0, 2.0): 4})

    assert found is not None
    assert found.method is DifferenceTest.SIGN_FLIP
    assert found.p_value == pytest.approx(2 / 32)


def test_where_thousands_moved_the_test_is_student_t() -> None:
    found = paired_test({(3.0, 2.0): 700, (2.0, 3.0): 600})

    assert found is not None
    assert (found.method, found.p_value) == (DifferenceTest.STUDENT, found.t_p)


def test_no_spread_is_no_interval_and_no_finding() -> None:
    """Every question moved by the same amount: a width of nought would claim certainty."""
    found = paired_test({(3.0, 2.0): 4})

    assert found is not None
    assert (found.mean, found.interval, found.t_p) == (1, None, None)
    assert not found.is_clear
    assert paired_test({}) is None


def test_a_small_p_beside_an_interval_that_holds_nought_is_no_finding() -> None:
    found = paired_test({(1.0, 0.0): 5, (0.0, 0.0): 3})

    assert found is not None
    assert found.interval is not None
    assert found.is_clear == (found.p_value < 0.05 and found.interval.low > 0)
