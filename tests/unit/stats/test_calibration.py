"""Whether a judge is as often right as it says: small cases by hand, chance by enumeration, refusals by name."""

import math
from collections.abc import Sequence
from itertools import permutations
from random import Random

import pytest
from tests.cases import each

from mixseek.stats.calibration import (
    Binning,
    CalibrationState,
    Forecast,
    absolute_deviation,
    brier_score,
    calibrate,
    calibration_error,
    reliability_bins,
    residual_effect,
)
from mixseek.stats.intervals import mean_over_questions
from mixseek.stats.risk_coverage import Decision, risk_area, risk_coverage


def forecasts_of(*pairs: tuple[float, float]) -> list[Forecast]:
    """Each a question of its own."""
    return [Forecast(chance, label, str(number)) for number, (chance, label) in enumerate(pairs)]


def drawn(rng: Random, count: int, *, bias: float = 0.0, per_question: int = 1) -> list[Forecast]:
    """Labels that come true as often as foretold, or more often by so much."""
    chances = [rng.random() for _ in range(count)]
    return [
        Forecast(chance, float(rng.random() < chance + bias), str(number // per_question))
        for number, chance in enumerate(chances)
    ]


def error_of(forecasts: Sequence[Forecast], binning: Binning = Binning.EQUAL_WIDTH) -> float:
    return calibration_error(reliability_bins(forecasts, binning)).value


def test_bins_of_equal_width_leave_out_the_empty_ones() -> None:
    """1 belongs to the last tenth, and a tenth begins with its lower end."""
    bins = [cell.shown for cell in reliability_bins(forecasts_of((0.1, 0), (0.15, 1), (0.2, 0), (1.0, 1)))]

    assert [(cell.low, cell.high, cell.labels) for cell in bins] == [(0.1, 0.2, 2), (0.2, 0.3, 1), (0.9, 1.0, 1)]
    assert [cell.chance for cell in bins] == pytest.approx([0.125, 0.2, 1.0])
    assert [cell.label for cell in bins] == [0.5, 0, 1]
    assert [cell.share for cell in bins] == [0.5, 0.25, 0.25]


def test_bins_of_equal_mass_keep_equal_forecasts_together() -> None:
    """Six alike are one bin, however many there should be in one."""
    pairs = [(0.5, 0.0)] * 6 + [(0.6, 1.0), (0.7, 1.0), (0.8, 1.0), (0.9, 1.0)]

    sizes = [cell.shown.labels for cell in reliability_bins(forecasts_of(*pairs), Binning.EQUAL_MASS, 5)]

    assert sizes == [6, 2, 2]


def test_the_calibration_error_by_hand() -> None:
    """Two tenths: |.5 − .125| with half of the weight, |1 − .95| with the other."""
    forecasts = forecasts_of((0.1, 0), (0.15, 1), (0.95, 1), (0.95, 1))

    assert error_of(forecasts) == pytest.approx(0.5 * 0.375 + 0.5 * 0.05)


@each(("trials", "mean", "around"), [(1, 0.3, 0.3), (7, 0.5, 0.5), (9, 0.2, 0.6), (12, 0.0, 0.25), (5, 1.0, 0.9)])
def test_what_chance_gives_is_exact(trials: int, mean: float, around: float) -> None:
    """Against the sum over all outcomes."""
    chances = [math.comb(trials, k) * mean**k * (1 - mean) ** (trials - k) for k in range(trials + 1)]
    distances = [abs(k / trials - around) for k in range(trials + 1)]
    expected = math.fsum(chance * distance for chance, distance in zip(chances, distances, strict=True))
    squares = math.fsum(chance * distance**2 for chance, distance in zip(chances, distances, strict=True))

    assert absolute_deviation(trials, mean, around) == pytest.approx((expected, squares - expected**2), abs=1e-12)


def test_nobody_has_an_error_of_nought_and_chance_says_so() -> None:
    """Over 300 judges without a fault the mean ECE is what chance was said to give, and few are accused."""
    rng, values, chances, accused = Random(5), [], [], 0
    for _ in range(300):
        forecasts = drawn(rng, 60)
        error = calibration_error(reliability_bins(forecasts), residual_effect(forecasts))
        values.append(error.value)
        chances.append(error.by_chance)
        accused += error.interval.low > 0

    assert math.fsum(values) / 300 == pytest.approx(math.fsum(chances) / 300, rel=0.05)
    assert math.fsum(values) / 300 > 0.1
    assert accused <= 18


def test_the_interval_of_the_error_holds_it() -> None:
    """A judge that is a tenth too modest everywhere: 200 draws of 150 labels."""
    rng, held = Random(11), 0
    for _ in range(200):
        forecasts = [
            Forecast(chance, float(rng.random() < chance + 0.1), str(number))
            for number, chance in enumerate(rng.uniform(0.2, 0.8) for _ in range(150))
        ]
        interval = calibration_error(reliability_bins(forecasts), residual_effect(forecasts)).interval
        held += interval.low <= 0.1 <= interval.high

    assert held >= 180


def test_labels_of_one_question_count_for_fewer() -> None:
    """Ten labels of each question that say the same are worth about one: chance gives more, and intervals are wider."""
    rng = Random(2)
    alike = [Forecast(0.6, float(rng.random() < 0.6), "") for _ in range(20)]
    repeated = [Forecast(each.chance, each.label, str(number)) for number, each in enumerate(alike) for _ in range(10)]
    apart = [Forecast(each.chance, each.label, str(number)) for number, each in enumerate(repeated)]

    assert residual_effect(apart) == 1.0
    assert residual_effect(repeated) == pytest.approx(10.0)
    first, second = (calibration_error(reliability_bins(rows), residual_effect(rows)) for rows in (apart, repeated))
    assert first.value == pytest.approx(second.value)
    assert second.by_chance > 2.5 * first.by_chance
    assert second.interval.high > first.interval.high


def test_the_brier_score_by_hand() -> None:
    """Against the base rate of three in four, .1875."""
    score = brier_score(forecasts_of((0.9, 1), (0.8, 1), (0.6, 1), (0.3, 0)))

    assert score.value == pytest.approx((0.01 + 0.04 + 0.16 + 0.09) / 4)
    assert score.reference == pytest.approx(0.1875)
    assert score.skill == pytest.approx(1 - 0.075 / 0.1875)


def test_people_who_differ_are_asked_one_by_one() -> None:
    """Half of them say so: whatever is foretold misses one of the two."""
    assert brier_score(forecasts_of((0.5, 0.5), (0.5, 0.5))).value == pytest.approx(0.25)


def test_nobody_is_more_skilful_than_a_base_rate_without_a_miss() -> None:
    score = brier_score(forecasts_of((0.9, 1), (0.8, 1)))

    assert (score.reference, score.skill, score.skill_interval) == (0.0, None, None)


def test_risk_and_coverage_by_hand() -> None:
    """Decided one by one the risks are 0, 1/2 and 1/3."""
    curve = risk_coverage([Decision(0.9, 0, "a"), Decision(0.8, 1, "b"), Decision(0.7, 0, "c")])

    assert [(point.threshold, point.labels) for point in curve.points] == [(0.9, 1), (0.8, 2), (0.7, 3)]
    assert [point.risk for point in curve.points] == pytest.approx([0, 1 / 2, 1 / 3])
    assert [point.coverage for point in curve.points] == pytest.approx([1 / 3, 2 / 3, 1])
    assert curve.area == pytest.approx((0 + 1 / 2 + 1 / 3) / 3)
    assert curve.by_chance == pytest.approx(1 / 3)
    assert curve.best == pytest.approx((0 + 0 + 1 / 3) / 3)


def test_equal_confidences_are_decided_in_no_order() -> None:
    """The area is the mean over all orders that ties leave open, in whichever order rows stand."""
    rows = [(0.9, 1.0), (0.8, 0.0), (0.8, 1.0), (0.8, 0.0), (0.5, 1.0)]
    areas = []
    for order in permutations(rows[1:4]):
        confidences = [1.0, 0.9, 0.8, 0.7, 0.6]
        risks = [rows[0][1], *(risk for _, risk in order), rows[4][1]]
        areas.append(risk_area([Decision(c, r, str(c)) for c, r in zip(confidences, risks, strict=True)]) or 0.0)

    together = risk_area([Decision(confidence, risk, "") for confidence, risk in rows])

    assert together == pytest.approx(math.fsum(areas) / len(areas))
    assert [point.labels for point in risk_coverage([Decision(*row, "") for row in rows]).points] == [1, 4, 5]


def test_a_confidence_that_says_nothing_has_the_area_of_chance() -> None:
    curve = risk_coverage([Decision(0.7, float(number % 3 == 0), str(number)) for number in range(30)])

    assert curve.area == pytest.approx(curve.by_chance)
    assert len(curve.points) == 1


def test_a_label_of_twice_the_weight_counts_as_two() -> None:
    """Points, not intervals: two labels are more evidence than one that stands for two."""
    rng = Random(8)
    plain = drawn(rng, 40)
    weighted = [Forecast(each.chance, each.label, each.question, 1.0 + number % 2) for number, each in enumerate(plain)]
    doubled = [each for number, each in enumerate(plain) for _ in range(1 + number % 2)]

    assert error_of(weighted) == pytest.approx(error_of(doubled))
    assert brier_score(weighted).value == pytest.approx(brier_score(doubled).value)
    assert brier_score(weighted).reference == pytest.approx(brier_score(doubled).reference)
    first = risk_coverage([Decision(each.chance, 1 - each.label, each.question, each.weight) for each in weighted])
    second = risk_coverage([Decision(each.chance, 1 - each.label, each.question) for each in doubled])
    assert [point.risk for point in first.points][-1] == pytest.approx([point.risk for point in second.points][-1])
    assert first.by_chance == pytest.approx(second.by_chance)


def test_unequal_weights_are_worth_fewer_labels() -> None:
    """Kish: the interval is wider than that of as many equal ones."""
    even = [(float(number % 2), str(number), 1.0) for number in range(60)]
    uneven = [(value, question, 10.0 if int(question) < 6 else 1.0) for value, question, _ in even]
    (_, first), (_, second) = mean_over_questions(even), mean_over_questions(uneven)

    assert first is not None
    assert second is not None
    assert second.high - second.low > 1.3 * (first.high - first.low)


@each(
    ("rows", "per_question", "state"),
    [
        (0, 1, CalibrationState.NO_LABELS),
        (14, 1, CalibrationState.TOO_FEW_LABELS),
        (40, 10, CalibrationState.FEW_QUESTIONS),
        (40, 8, CalibrationState.MEASURED),
    ],
)
def test_what_few_labels_cannot_show_is_refused(rows: int, per_question: int, state: CalibrationState) -> None:
    found = calibrate(drawn(Random(1), rows, per_question=per_question))

    assert found.state is state
    assert (found.error is None, found.brier is None, found.bins == ()) == (state is not CalibrationState.MEASURED,) * 3
    assert found.labels == rows


def test_everything_about_a_judge_at_once() -> None:
    rng = Random(3)
    forecasts = drawn(rng, 200)
    decisions = [
        Decision(max(each.chance, 1 - each.chance), abs(float(each.chance >= 0.5) - each.label), each.question)
        for each in forecasts
    ]

    found = calibrate(forecasts, decisions)

    assert sum(cell.share for cell in found.bins) == pytest.approx(1)
    assert sum(cell.share for cell in found.equal_mass_bins) == pytest.approx(1)
    assert found.risk is not None
    assert found.risk.area < found.risk.by_chance
    assert found.risk.interval is not None
    assert found.risk.interval.low < found.risk.area < found.risk.interval.high
    assert len(found.risk.points) == 20
