"""Where intervals once failed: few labels, labels that are no random draw, uneven questions, ends of a scale."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from bench.corners import CORNERS, Corner
from bench.draws import Draw, Pair, labelled

from mixseek.domain.counts import UnitSums
from mixseek.stats.corrected import (
    LabelledItems,
    PairSums,
    ValueScale,
    corrected_mean,
    labels_beside,
    post_stratified,
    regression,
)
from mixseek.stats.distributions import student_quantile
from mixseek.stats.estimates import Cell, Drawing, Estimator, State
from mixseek.stats.intervals import standard_errors, unit_interval, wilson_limits, with_questions

# A random draw of nine labels would not have eight of the rare verdict.
ODD = {"0": Cell(100, 8, 2), "1": Cell(900, 1, 1)}
QUICK = [corner for corner in CORNERS if not corner.name.startswith("sizes, labels")]


@pytest.mark.thorough
@pytest.mark.parametrize("corner", QUICK, ids=lambda corner: corner.name)
def test_settings_that_once_failed_hold_the_truth_or_say_why_not(corner: Corner) -> None:
    """Of 120 draws: chance alone moves 95 % by four points, and few labels are discrete."""
    rng = Random(f"test {corner.name}")
    outcomes = [corner.draw(rng) for _ in range(120)]
    if corner.is_alarm:
        assert sum(outcome.state == State.NOT_RANDOM for outcome in outcomes) <= 5
        return
    held = sum((outcome.low or 0) <= outcome.truth <= (outcome.high or 0) for outcome in outcomes)

    assert 0.89 <= held / len(outcomes) <= 1
    if corner.name.startswith("few"):
        assert {outcome.state for outcome in outcomes} == {State.LABELS_ONLY}


@pytest.mark.parametrize("drawing", [Drawing.STRATIFIED, Drawing.WEIGHTED])
def test_few_labels_drawn_by_verdict_are_weighted_by_verdict(drawing: Drawing) -> None:
    """Seven of each verdict, although nineteen in twenty items have one of them."""
    found = post_stratified({"0": Cell(50, 7, 0), "1": Cell(950, 7, 7)}, drawing=drawing)

    assert found.point == pytest.approx(0.95)
    assert found.low is not None
    assert found.low < 0.95
    assert (found.state, found.estimator) == (State.LABELS_ONLY, Estimator.LABELS_BY_VERDICT)
    assert "each verdict weighted" in found.sentence


def test_few_labels_that_are_no_random_draw_are_said_to_be_none() -> None:
    found = post_stratified(ODD)

    assert found.random_p is not None
    assert found.random_p < 1e-4
    assert found.state is State.NOT_RANDOM
    assert found.point == pytest.approx(0.1 * 0.25 + 0.9)


def graded_items(labelled_scores: list[float]) -> LabelledItems:
    """A thousand items from 0 to 8, most of them high; labels equal the scores."""
    scores = [float(8 - place % 3) for place in range(900)] + [float(place % 3) for place in range(100)]
    left = Counter(labelled_scores)
    pairs = []
    for score in scores:
        known = left[score] > 0
        left[score] -= known
        pairs.append((score, score if known else None))
    return replace(
        Draw(0.0, pairs, scale=ValueScale(0.0, 8.0), is_binary=False).items,
        drawing=Drawing.RANDOM,
    )


def test_a_graded_mean_of_few_labels_that_are_no_random_draw_is_refused() -> None:
    """The labels' mean is 1.1 and the truth above 6; no judge's score makes up for it."""
    found = corrected_mean(graded_items([0.0, 1.0, 2.0] * 3 + [2.0]))

    assert (found.state, found.point, found.low, found.high) == (State.NOT_RANDOM, None, None, None)
    assert found.sentence.startswith("no corrected number: a random draw would look different")


def test_labels_alone_are_told_with_what_they_are_not_about() -> None:
    """In the state of what stands beside them, where labels are not like the rest."""
    alone = post_stratified({"all": Cell(1000, 9, 3)}, drawing=Drawing.WEIGHTED)
    assert alone.label_caveat is None

    odd = labels_beside(alone, post_stratified(ODD))
    assert (odd.point, odd.state) == (alone.point, State.NOT_RANDOM)
    assert odd.label_caveat is not None
    bounds = post_stratified({"0": Cell(100), "1": Cell(900, 20, 15)})
    assert "verdicts that have a label" in (labels_beside(alone, bounds).label_caveat or "")
    # All labels of one verdict are no random draw either: bounds say so, and so do the labels.
    one_sided = post_stratified({"0": Cell(300), "1": Cell(700, 100, 60)})
    assert one_sided.state is State.BOUNDS
    assert "a random draw would look different" in one_sided.sentence
    assert labels_beside(alone, one_sided).state is State.NOT_RANDOM


def elsewhere(*, is_clustered: bool) -> LabelledItems:
    """Forty questions with ten items each that are all alike; the labelled half is another population."""
    judged: list[Pair] = [(float(place % 3 > 0), None) for place in range(20) for _ in range(10)]
    known: list[Pair] = []
    for place in range(20):
        known += [*[(float(place % 2), float(place % 2))] * 9, (1.0, 0.0)]
    draw = Draw(0.0, [*judged, *known], Drawing.ELSEWHERE, group_size=10 if is_clustered else 1)
    return draw.items


def test_labels_from_elsewhere_know_that_questions_repeat() -> None:
    """Ten items of one question that end alike are nearly one observation."""
    alone, clustered = corrected_mean(elsewhere(is_clustered=False)), corrected_mean(elsewhere(is_clustered=True))

    assert alone.point == clustered.point
    assert alone.low is not None
    assert alone.high is not None
    assert clustered.low is not None
    assert clustered.high is not None
    assert clustered.high - clustered.low > 1.8 * (alone.high - alone.low)
    assert clustered.design_effect > 3
    assert clustered.clusters == 20


def test_labels_of_few_questions_from_elsewhere_are_refused() -> None:
    items = elsewhere(is_clustered=True)
    few = replace(items, clusters=[*items.clusters[:20], *items.clusters[20:24]])

    assert corrected_mean(few).state is State.FEW_CLUSTERS


def uneven(sizes: list[int], right: list[int]) -> UnitSums:
    n, total = sum(sizes), float(sum(right))
    return with_questions(UnitSums(n, n, 0, total, total), [(n, s, 1) for n, s in zip(sizes, right, strict=True)])


def test_questions_of_equal_size_keep_their_interval() -> None:
    """In the middle of the scale nothing but the standard error that everybody computes, and Student's t."""
    sums = uneven([4] * 30, [0, 1, 2, 3, 4] * 6)
    errors, interval = standard_errors(sums), unit_interval(sums)

    assert errors is not None
    assert interval is not None
    limits = wilson_limits(0.5, 0.25 / errors.cr1**2, student_quantile(0.975, 29))
    assert (interval.low, interval.high) == pytest.approx(limits)


def test_large_questions_that_are_worse_move_the_lower_limit_down() -> None:
    """Two of forty questions hold most samples, and most of these are wrong: other draws have more of them."""
    sums = uneven([5] * 38 + [150, 200], [4] * 38 + [60, 70])
    errors, interval = standard_errors(sums), unit_interval(sums)

    assert errors is not None
    assert interval is not None
    plain = wilson_limits(sums.mean or 0, (sums.mean or 0) * (1 - (sums.mean or 0)) / errors.cr1**2, 2.0227)
    assert interval.low < plain[0] - 0.1
    # A draw shows less of their skewness than there is: that much the limit lies beyond a symmetric one.
    symmetric = unit_interval(replace(sums, question_cubes=None))
    assert symmetric is not None
    assert interval.low < symmetric.low - 0.01
    assert interval.high == pytest.approx(symmetric.high)
    assert sums.effective_questions == pytest.approx(540**2 / (38 * 25 + 150**2 + 200**2))


def test_whole_questions_that_were_drawn_at_random_are_a_random_draw() -> None:
    """Ten items of a question have one score: five questions of forty are five draws, and not fifty."""
    scores = [float(question % 5) for question in range(40) for _ in range(10)]
    chosen = (0, 5, 10, 1, 2)
    pairs = [(score, score if place // 10 in chosen else None) for place, score in enumerate(scores)]
    draw = Draw(0.0, pairs, scale=ValueScale(0.0, 4.0), is_binary=False, group_size=10)
    clustered = corrected_mean(replace(draw.items, drawing=Drawing.RANDOM))
    alone = corrected_mean(replace(draw.items, drawing=Drawing.RANDOM, clusters=(), parts=()))

    assert alone.random_p is not None
    assert alone.random_p < 1e-4
    assert clustered.random_p is not None
    assert clustered.random_p > 0.05
    assert clustered.state is not State.NOT_RANDOM


def test_labels_that_differ_need_no_pseudo_pair() -> None:
    """Half a pair each way is what labels that all agree have instead of a width, not something to add to others."""
    rng = Random(5)
    pairs = [(rng.choice([-1.0, 0.0, 1.0]), None) for _ in range(300)]
    known = [(f, f if place % 3 else 0.0) for place, (f, _) in enumerate(pairs[:40])]
    items = [*known, *pairs[40:]]
    scale = ValueScale(-1.0, 1.0)
    found, plain = regression(items, scale, is_difference=True), regression(items, scale)
    equal = regression([(0.0, 0.0)] * 40 + [(0.0, None)] * 260, scale, is_difference=True)

    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    assert equal.low is not None
    assert equal.high is not None
    assert equal.high - equal.low > 0.05


def test_sums_of_labelled_pairs_are_what_the_rule_takes() -> None:
    """The draw that tests are made of holds what a table would give."""
    items = Draw(0.5, labelled([(1.0, 1.0), (0.0, 1.0)], {0}), group_size=1).items

    assert items.sums == PairSums.of([(1.0, 1.0), (0.0, None)])
