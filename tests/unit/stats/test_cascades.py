"""Who may decide what without people: tests from the most confident down, and a name where nothing is shown."""

import math
from random import Random

import pytest
from tests.cases import each

from mixseek.stats.cascades import (
    MOST_THRESHOLDS,
    CascadeItem,
    Evidence,
    Reading,
    TierState,
    fewest_labels,
    miss_p,
    more_labels,
    plan_cascade,
    thresholds_of,
)


def item(
    number: int, *readings: tuple[float, float] | None, question: str | None = None, is_labelled: bool = True
) -> CascadeItem:
    """An item whose tiers are so sure, and so wrong."""
    known = tuple(
        None if reading is None else Reading(reading[0], reading[1] if is_labelled else None) for reading in readings
    )
    return CascadeItem(question or str(number), known, is_labelled=is_labelled)


def binomial_tail(wrong: int, trials: int, share: float) -> float:
    return math.fsum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(wrong + 1))


@each(("delta", "labels"), [(0.05, 59), (0.1, 45)])
def test_so_many_labels_without_an_error_show_95_percent(delta: float, labels: int) -> None:
    """Fewer are too few, not a no."""
    assert fewest_labels(0.05, delta) == labels


@each(("wrong", "trials"), [(0, 59), (1, 93), (3, 40), (12, 200), (5, 6)])
def test_the_test_is_the_binomial_one(wrong: int, trials: int) -> None:
    """For whole numbers; between them it is continuous."""
    evidence = Evidence(trials, float(trials), float(wrong))

    assert miss_p(evidence, 0.05) == pytest.approx(binomial_tail(wrong, trials, 0.05), rel=1e-9)


def test_fewest_labels_are_the_first_that_show_it() -> None:
    """With an error among them, too."""
    for wrong in (0, 1, 2, 5):
        labels = fewest_labels(0.1, 0.05, wrong)
        assert binomial_tail(wrong, labels, 0.1) <= 0.05 < binomial_tail(wrong, labels - 1, 0.1)


def test_a_sure_judge_decides_alone_and_hands_on_the_rest() -> None:
    """It is always right where it is sure, and a coin where it is not; the second judge is right there."""
    rng = Random(1)
    items = [item(n, (0.9, 0.0), (1.0, 0.0)) for n in range(200)]
    items += [item(n, (0.5, float(rng.random() < 0.5)), (1.0, 0.0)) for n in range(200, 400)]

    plan = plan_cascade(items, 0.95, 0.1)

    assert [(tier.state, tier.threshold, tier.reached, tier.decided) for tier in plan.tiers] == [
        (TierState.DECIDES, 0.9, 400, 200),
        (TierState.DECIDES, 1.0, 200, 200),
    ]
    assert plan.decided_share == 1.0
    assert plan.evidence.labelled == 400


def test_nobody_decides_where_nobody_is_right_often_enough() -> None:
    """The answer is no, and how far the best of them gets."""
    items = [item(n, (1.0, float(n % 8 == 0)), (1.0, float(n % 10 == 0))) for n in range(400)]

    plan = plan_cascade(items, 0.95, 0.1)

    assert [tier.state for tier in plan.tiers] == [TierState.NOT_SHOWN, TierState.NOT_SHOWN]
    assert (plan.decided, plan.evidence.interval(0.95)) == (0, None)
    assert plan.best == pytest.approx(0.9)
    assert [tier.labels_needed for tier in plan.tiers] == [None, None]


def test_too_few_labels_are_not_a_no() -> None:
    """It says how many more, of those that are there, it takes to begin."""
    items = [item(n, (1.0, 0.0), is_labelled=n < 30) for n in range(400)]

    plan = plan_cascade(items, 0.95, 0.1)

    assert plan.tiers[0].state is TierState.TOO_FEW_LABELS
    assert plan.tiers[0].labels_needed == 45 - 30


def test_the_first_threshold_that_is_not_shown_ends_the_sequence() -> None:
    """What stands below it is not looked at, however well it would look: that is what makes the test honest."""
    items = [item(n, (0.9, 0.0)) for n in range(60)]
    items += [item(n, (0.8, 1.0)) for n in range(60, 80)]
    items += [item(n, (0.7, 0.0)) for n in range(80, 2000)]

    (tier,) = plan_cascade(items, 0.95, 0.1).tiers

    assert (tier.threshold, tier.decided) == (0.9, 60)
    assert [threshold for threshold, _ in tier.tested] == [0.9, 0.8]


def test_where_the_sequence_begins_does_not_depend_on_what_people_said() -> None:
    """Else the most flattering beginning would be tested."""
    rng = Random(3)
    confidences = [rng.random() for _ in range(600)]
    begun = {
        plan_cascade(
            [item(n, (confidence, float(rng.random() < share))) for n, confidence in enumerate(confidences)], 0.95, 0.1
        )
        .tiers[0]
        .tested[0][0]
        for share in (0.0, 0.02, 0.3, 1.0)
    }

    assert len(begun) == 1


def test_whole_questions_count_for_less_than_rows_drawn_one_by_one() -> None:
    """Rows of one question that err together are hardly more than one observation."""
    wrong = {number for number in range(100) if number % 30 == 0}
    rows = [(question, row) for question in range(100) for row in range(5)]
    by_question = [
        item(n, (1.0, float(question in wrong)), question=str(question), is_labelled=question < 40)
        for n, (question, row) in enumerate(rows)
    ]
    one_by_one = [
        item(n, (1.0, float(question in wrong)), question=str(question), is_labelled=(row + question) % 5 < 2)
        for n, (question, row) in enumerate(rows)
    ]

    whole, single = (plan_cascade(items, 0.9, 0.1).tiers[0].evidence for items in (by_question, one_by_one))

    assert (whole.labelled, single.labelled) == (200, 200)
    assert whole.effective < 70
    assert single.effective > 150


def test_unequal_weights_make_fewer() -> None:
    """A label that stands for many rows is one label."""
    items = [
        CascadeItem(str(n), (Reading(1.0, 0.0),), weight=9.0 if n < 20 else 1.0, is_labelled=True) for n in range(200)
    ]

    (tier,) = plan_cascade(items, 0.95, 0.1).tiers

    assert tier.evidence.effective == pytest.approx((20 * 9 + 180) ** 2 / (20 * 81 + 180))


def test_a_judge_without_a_verdict_hands_on() -> None:
    """No verdict is not a sure one; the item reaches the next tier."""
    items = [item(n, None if n % 2 else (1.0, 0.0), (1.0, 0.0)) for n in range(400)]

    plan = plan_cascade(items, 0.95, 0.1)

    assert [(tier.reached, tier.decided) for tier in plan.tiers] == [(400, 200), (200, 200)]


def test_a_tier_is_tested_with_all_that_is_decided_before_it() -> None:
    """What is promised is about all of it: a tier a little worse than was asked for may stand behind a sure one."""
    sure = [item(n, (1.0, 0.0), (1.0, 0.0)) for n in range(200)]
    rest = [item(n, None, (1.0, float(n % 15 == 0))) for n in range(200, 260)]

    plan = plan_cascade([*sure, *rest], 0.95, 0.1)
    (alone,) = plan_cascade([item(n, (1.0, float(n % 15 == 0))) for n in range(200, 260)], 0.95, 0.1).tiers

    assert [tier.state for tier in plan.tiers] == [TierState.DECIDES, TierState.DECIDES]
    assert plan.tiers[1].evidence.agreement == pytest.approx(1 - 4 / 60)
    assert plan.evidence.agreement == pytest.approx(1 - 4 / 260)
    assert alone.state is TierState.NOT_SHOWN


def test_a_tier_is_not_let_in_by_the_labels_of_others_alone() -> None:
    """Ten of its own at least; it says how many labels more that takes."""
    sure = [item(n, (1.0, 0.0), None) for n in range(200)]
    rest = [item(n, None, (1.0, 0.0), is_labelled=n % 10 == 0) for n in range(200, 250)]

    plan = plan_cascade([*sure, *rest], 0.95, 0.1)

    assert [tier.state for tier in plan.tiers] == [TierState.DECIDES, TierState.TOO_FEW_LABELS]
    assert plan.tiers[1].labels_needed == 205


def test_a_share_of_delta_that_nobody_used_is_handed_on() -> None:
    """By a tier that could not be tested, and by one that never failed; not by one that failed."""
    tested = [item(n, (1.0, 0.0)) for n in range(50)]
    untested = [item(n, None, (1.0, 0.0)) for n in range(50)]
    failing = [item(n, (1.0, float(n % 3 == 0)), (1.0, 0.0) if n < 50 else None) for n in range(80)]

    # 50 labels show 95 % at .1, and not at half of it.
    assert plan_cascade(tested, 0.95, 0.1).tiers[0].state is TierState.DECIDES
    assert plan_cascade(untested, 0.95, 0.1).tiers[1].state is TierState.DECIDES
    assert [tier.state for tier in plan_cascade(failing, 0.95, 0.1).tiers] == [
        TierState.NOT_SHOWN,
        TierState.TOO_FEW_LABELS,
    ]


def test_more_labels_are_told_where_they_would_do() -> None:
    """With as good a result, so many; with one that is no better than what was asked, none would."""
    evidence = Evidence(100, 100.0, 3.0)
    more = more_labels(evidence, 0.05, 0.1)

    assert more is not None
    factor = 1 + more
    assert miss_p(Evidence(0, 100 * factor, 3 * factor), 0.05) <= 0.1
    assert more_labels(Evidence(100, 100.0, 5.0), 0.05, 0.1) is None


def test_of_many_confidences_those_at_even_shares_are_tried() -> None:
    """The last is the lowest: a judge may decide everything."""
    rng = Random(2)
    confidences = [rng.random() for _ in range(1_000)]
    thresholds = thresholds_of(confidences)

    assert thresholds == sorted(thresholds, reverse=True)
    assert len(thresholds) == MOST_THRESHOLDS
    assert thresholds[-1] == min(confidences)
    assert thresholds_of([0.5, 1.0, 0.5]) == [1.0, 0.5]
    assert plan_cascade([], 0.95, 0.1).tiers == ()
