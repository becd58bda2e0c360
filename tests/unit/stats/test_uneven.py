"""Tests of an even spread: published values, exact against drawn, and how often they cry wolf."""

from random import Random

import pytest
from tests.cases import each
from tests.unit.reports.counting import Unit, sums_of

from mixseek.stats.uneven import PValueMethod, Rate, chi_square_tail, design_effect, holm_adjusted, uneven_spread_test


@each(
    ("statistic", "degrees", "tail"),
    [
        (3.841459, 1, 0.05),
        (6.634897, 1, 0.01),
        (5.991465, 2, 0.05),
        (7.814728, 3, 0.05),
        (9.487729, 4, 0.05),
        (18.307038, 10, 0.05),
        (24.995790, 15, 0.05),
        (10.827566, 1, 0.001),
        (124.342113, 100, 0.05),
    ],
)
def test_chi_square_tails_are_those_of_the_tables(statistic: float, degrees: int, tail: float) -> None:
    """Even and odd degrees of freedom, to six digits."""
    assert chi_square_tail(statistic, degrees) == pytest.approx(tail, rel=1e-5)


def test_chi_square_tails_stay_within_nought_and_one() -> None:
    """Beyond the range of a float, too."""
    assert chi_square_tail(0, 3) == 1.0
    assert chi_square_tail(1e6, 7) == 0.0
    assert chi_square_tail(1e-12, 9) <= 1.0


def test_small_tables_get_the_exact_p_value() -> None:
    """Fisher's lady tasting tea: three of four cups against one of four."""
    test = uneven_spread_test([Rate(3, 4), Rate(1, 4)], rng=Random(1))

    assert test is not None
    assert test.method is PValueMethod.EXACT
    assert test.p_value == pytest.approx(34 / 70)


def test_exact_p_values_of_three_groups() -> None:
    """All hits in one of three groups of three: 3 of the 84 ways to place them."""
    test = uneven_spread_test([Rate(3, 3), Rate(0, 3), Rate(0, 3)], rng=Random(1))

    assert test is not None
    assert test.p_value == pytest.approx(3 / 84)
    assert test.effect == pytest.approx(1.0)


def test_large_tables_use_the_distribution() -> None:
    """60 of 200 against 90 of 200: chi-square 9.6 without correction."""
    test = uneven_spread_test([Rate(60, 200), Rate(90, 200)], rng=Random(1))

    assert test is not None
    assert test.method is PValueMethod.CHI_SQUARE
    assert test.statistic == pytest.approx(9.6)
    assert test.p_value == pytest.approx(0.001946, rel=1e-3)


def test_middling_tables_are_permuted() -> None:
    """Many small groups; the same seed gives the same p-value."""
    rates = [Rate(4, 6), *[Rate(1, 6)] * 9]
    test, again = (uneven_spread_test(rates, rng=Random(7)) for _ in range(2))

    assert test is not None
    assert test == again
    assert test.method is PValueMethod.PERMUTATION


def test_permutation_and_enumeration_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a table that both can do."""
    rates = [Rate(5, 9), Rate(1, 8), Rate(2, 10)]
    exact = uneven_spread_test(rates, rng=Random(1))
    monkeypatch.setattr("mixseek.stats.uneven._MAX_TABLES", 0)
    drawn = uneven_spread_test(rates, rng=Random(1))

    assert exact is not None
    assert drawn is not None
    assert (exact.method, drawn.method) == (PValueMethod.EXACT, PValueMethod.PERMUTATION)
    assert drawn.p_value == pytest.approx(exact.p_value, abs=0.04)


def test_a_few_tiny_groups_among_a_million_are_taken_together() -> None:
    """Neither drawn for minutes nor trusted to a distribution that does not fit."""
    test = uneven_spread_test([Rate(100_000, 500_000), Rate(100_000, 499_990), Rate(4, 6), Rate(3, 4)], rng=Random(1))

    assert test is not None
    assert test.method is PValueMethod.CHI_SQUARE
    assert test.degrees == 2


@pytest.mark.parametrize(
    "rates", [[], [Rate(1, 2)], [Rate(0, 4), Rate(0, 9)], [Rate(4, 4), Rate(9, 9)], [Rate(1, 2), Rate(0, 0)]]
)
def test_without_a_contrast_there_is_no_test(rates: list[Rate]) -> None:
    """One group, no hits or nothing but hits: no p-value is better than 1."""
    assert uneven_spread_test(rates, rng=Random(1)) is None


def test_an_even_spread_rarely_seems_uneven_and_an_uneven_one_rarely_even() -> None:
    """Simulated: at most about 5 % false alarms at the 5 % level, and power where rates are 10 % and 60 %."""
    rng = Random(20)

    def share_of_alarms(*chances: float) -> float:
        alarms = 0
        for _ in range(400):
            rates = [Rate(sum(rng.random() < chance for _ in range(20)), 20) for chance in chances]
            test = uneven_spread_test(rates, rng=rng)
            alarms += test is not None and test.p_value <= 0.05
        return alarms / 400

    assert share_of_alarms(0.15, 0.15) <= 0.075
    assert share_of_alarms(0.1, 0.6) >= 0.85


def test_holm_adjusts_step_by_step() -> None:
    """The textbook example: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02; order is kept."""
    assert holm_adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm_adjusted([0.9, 0.8]) == [1.0, 1.0]
    assert holm_adjusted([]) == []


def test_samples_of_one_question_are_worth_fewer_than_independent_ones() -> None:
    """Ten questions whose four samples always end alike are worth about ten samples; without repeats, each counts."""
    alike = [Unit(f"q{number // 4}", float(number // 4 < 3)) for number in range(40)]
    apart = [Unit(f"q{number}", float(number < 12)) for number in range(40)]

    assert design_effect(sums_of(alike)) == pytest.approx(4 * 39 / 36, rel=1e-9)
    assert design_effect(sums_of(apart)) == pytest.approx(1.0)
    assert design_effect(sums_of([Unit("q", 1.0)])) == 1.0
