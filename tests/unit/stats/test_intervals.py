"""Intervals agree with published values and never claim more than the data says."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each
from tests.unit.reports.counting import Unit, sums_of

from mixseek.domain.counts import NO_UNITS, UnitSums
from mixseek.stats.distributions import student_quantile
from mixseek.stats.intervals import Bounds, IntervalMethod, unit_bounds, unit_interval, wilson_interval, wilson_limits


def units(*values: float | None, questions: str = "") -> UnitSums:
    """One sample for each value; a letter of `questions` for each names what it was asked."""
    names = questions or [str(place) for place in range(len(values))]
    return sums_of(Unit(name, value, value or 0.0, 1.0) for name, value in zip(names, values, strict=True))


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe 1998, table I, method 3 (score interval without continuity correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # The closed form at all successes: n / (n + z^2).
        (10, 10, 10 / (10 + 1.959963985**2), 1.0),
        (29, 29, 29 / (29 + 1.959963985**2), 1.0),
    ],
)
def test_wilson_agrees_with_published_values(successes: int, trials: int, low: float, high: float) -> None:
    interval = wilson_interval(successes, trials)

    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)
    assert interval.method is IntervalMethod.WILSON


def test_wilson_solves_the_equation_that_defines_it() -> None:
    """Both ends lie exactly z standard errors from the observed share, the error taken at the end itself."""
    interval = wilson_interval(37, 50, level=0.9)

    for end in (interval.low, interval.high):
        assert abs(37 / 50 - end) / math.sqrt(end * (1 - end) / 50) == pytest.approx(1.6448536269514722)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_stays_in_range(case: tuple[int, int]) -> None:
    successes, trials = case

    interval = wilson_interval(successes, trials)

    assert 0 <= interval.low <= successes / trials <= interval.high <= 1
    assert interval.low < interval.high


@each(
    ("degrees", "at_95", "at_975", "at_995"),
    [  # Fisher & Yates table III, as printed in any textbook.
        (1, 6.314, 12.706, 63.657),
        (2, 2.920, 4.303, 9.925),
        (3, 2.353, 3.182, 5.841),
        (4, 2.132, 2.776, 4.604),
        (10, 1.812, 2.228, 3.169),
        (30, 1.697, 2.042, 2.750),
        (120, 1.658, 1.980, 2.617),
        (1000, 1.646, 1.962, 2.581),
    ],
)
def test_student_quantiles_agree_with_the_table(degrees: int, at_95: float, at_975: float, at_995: float) -> None:
    actual = [student_quantile(probability, degrees) for probability in (0.95, 0.975, 0.995)]

    assert actual == pytest.approx([at_95, at_975, at_995], abs=6e-4)


def test_series_and_expansion_meet_where_one_hands_over_to_the_other() -> None:
    assert student_quantile(0.975, 200) == pytest.approx(student_quantile(0.975, 201), abs=1e-4)


def test_graded_scores_get_wilsons_form_with_the_trials_that_their_variance_is_worth() -> None:
    """0.2, 0.4, 0.6, 0.8: mean 0.5, squared error 0.2 / 3 / 4, so 15 trials, with Student's t of three degrees."""
    interval = unit_interval(units(0.2, 0.4, 0.6, 0.8))

    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(wilson_limits(0.5, 15, student_quantile(0.975, 3)))
    assert interval.method is IntervalMethod.GRADED_WILSON


def test_a_graded_mean_at_the_end_of_its_scale_reaches_away_from_it() -> None:
    """Twenty-nine full marks and one at a half: Student's t would end at the scale, and begin as near."""
    interval = unit_interval(units(*[1.0] * 29, 0.5))

    assert interval is not None
    mean = 29.5 / 30
    assert interval.high < 1
    assert mean - interval.low > 2 * (interval.high - mean)


def test_right_or_wrong_scores_get_wilson() -> None:
    assert unit_interval(units(1.0, 0.0, 1.0)) == wilson_interval(2, 3)


@pytest.mark.parametrize("scores", [[0.5] * 2, [0.5] * 20, [0.3] * 7])
def test_scores_without_spread_do_not_claim_certainty(scores: list[float]) -> None:
    interval = unit_interval(units(*scores))

    assert interval is not None
    assert interval.high - interval.low > 0.2


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_any_scores_have_an_interval_around_their_mean(scores: list[float]) -> None:
    interval = unit_interval(units(*scores))

    assert interval is not None
    mean = sum(scores) / len(scores)
    assert -1e-12 <= interval.low <= mean + 1e-9
    assert mean - 1e-9 <= interval.high <= 1 + 1e-12


@pytest.mark.parametrize(
    ("scores", "is_binary"), [([], True), ([0.0, 1.0], True), ([1.0] * 3, True), ([0.5], False), ([1.0, 0.99], False)]
)
def test_binary_is_recognised_from_sums(scores: list[float], is_binary: bool) -> None:
    assert units(*scores).is_binary is is_binary


def test_mean_of_nothing_is_not_zero() -> None:
    assert NO_UNITS.mean is None


def test_bounds_are_the_two_extreme_stories() -> None:
    """Sums over all samples, the ones without a score included; None without any."""
    assert unit_bounds(UnitSums(samples=100, scored=90, lowest=80, highest=90)) == Bounds(0.8, 0.9)
    assert unit_bounds(UnitSums(samples=7, highest=7)) == Bounds(0.0, 1.0)
    assert unit_bounds(NO_UNITS) is None


def test_samples_of_different_questions_are_independent() -> None:
    assert unit_interval(units(1.0, 1.0, 0.0, None)) == wilson_interval(2, 3)


def test_one_unit_has_no_interval() -> None:
    """Be it a sample, or a question that several samples ask."""
    assert unit_interval(units(1.0)) is None
    assert unit_interval(units(1.0, 0.0, 1.0, questions="qqq")) is None
    assert unit_interval(NO_UNITS) is None


def test_graded_samples_of_one_question_are_one_cluster() -> None:
    """By hand: cluster sums 0.6 and 1.4 of 2 samples each, mean 0.5, Σ(s−n·mean)² = 0.32, so variance 0.04."""
    interval = unit_interval(units(0.2, 0.4, 0.6, 0.8, questions="aabb"))

    assert interval is not None
    assert interval.method is IntervalMethod.CLUSTERED_WILSON
    assert (interval.low, interval.high) == pytest.approx(wilson_limits(0.5, 0.25 / 0.04, student_quantile(0.975, 1)))


def test_right_or_wrong_samples_of_one_question_keep_wilsons_form_with_fewer_trials() -> None:
    """Two questions of five that always end alike are no ten samples."""
    clustered = unit_interval(units(*([1.0] * 10 + [0.0] * 10), questions="aaaaabbbbbcccccddddd"))
    independent = wilson_interval(10, 20)

    assert clustered is not None
    assert clustered.method is IntervalMethod.CLUSTERED_WILSON
    assert 0 <= clustered.low < independent.low
    assert independent.high < clustered.high <= 1


def test_questions_that_all_end_alike_do_not_claim_certainty() -> None:
    assert unit_interval(units(*[1.0] * 6, questions="aabbcc")) == wilson_interval(3, 3)


def test_clusters_are_never_better_than_independent_samples() -> None:
    """Questions that happen to have the same mean."""
    interval = unit_interval(units(1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, questions="aabbccdd"))
    independent = wilson_interval(4, 8)

    assert interval is not None
    assert interval.low <= independent.low
    assert interval.high >= independent.high
