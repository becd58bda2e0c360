"""The corrected headline: estimators against values worked out elsewhere, and every refusal."""

import math
import random
import statistics
from collections import Counter
from random import Random

import pytest

from mixseek.stats.corrected import (
    LabelledItems,
    PairSums,
    ValueScale,
    corrected_mean,
    post_stratified,
    prediction_powered,
    regression,
)
from mixseek.stats.distributions import beta_quantile, hypergeometric_p, jeffreys_limits, mid_p
from mixseek.stats.estimates import Cell, Cells, Drawing, Estimator, State
from mixseek.stats.known_judge import KnownJudge, rogan_gladen

UNIT = ValueScale()


def test_beta_quantiles_are_those_of_tables() -> None:
    # Beta(1, b) and Beta(2, 2) have closed forms.
    assert beta_quantile(0.3, 1, 4) == pytest.approx(1 - 0.7**0.25, abs=1e-14)
    assert beta_quantile(0.5, 7.5, 7.5) == pytest.approx(0.5, abs=1e-14)
    x = beta_quantile(0.1, 2, 2)
    assert 3 * x**2 - 2 * x**3 == pytest.approx(0.1, abs=1e-13)
    # Brown, Cai and DasGupta 2001, table of Jeffreys limits: n = 10, x = 3.
    assert jeffreys_limits(3, 10) == pytest.approx((0.092, 0.606), abs=1e-3)
    assert jeffreys_limits(0, 10)[0] == 0
    assert jeffreys_limits(10, 10)[1] == 1


def test_mid_p_counts_half_of_what_was_seen() -> None:
    assert mid_p(1, 19) == pytest.approx((2 * (1 + 19) - 19) / 2**19)
    assert mid_p(0, 0) == 1


def test_labels_of_everything_need_no_judge() -> None:
    """With every item labelled the point is the labels' own mean, whatever the judge said."""
    found = post_stratified({"0": Cell(40, 40, 10), "1": Cell(60, 60, 50)})
    assert found.point == pytest.approx(0.6)
    assert (found.state, found.estimator) == (State.CORRECTED, Estimator.POST_STRATIFIED)
    fixed = post_stratified({"0": Cell(40, 40, 10), "1": Cell(60, 60, 50)}, is_fixed=True)
    assert (fixed.low, fixed.high) == pytest.approx((0.6, 0.6))


def test_a_generous_judge_is_corrected_downwards() -> None:
    found = post_stratified({"0": Cell(100, 10, 1), "1": Cell(900, 90, 60)})
    assert found.point == pytest.approx(0.1 * 0.1 + 0.9 * 60 / 90)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.61 < found.high < 0.9


@pytest.mark.parametrize(
    ("cells", "state"),
    [
        ({}, State.NO_LABELS),
        ({"0": Cell(40), "1": Cell(60)}, State.NO_LABELS),
        ({"0": Cell(40, 5, 2), "1": Cell(60, 9, 4)}, State.LABELS_ONLY),
        ({"1": Cell(60, 30, 20)}, State.LABELS_ONLY),
        ({"0": Cell(40), "1": Cell(60, 30, 20)}, State.BOUNDS),
        ({"0": Cell(400, 50, 5), "1": Cell(600, 10, 9)}, State.NOT_RANDOM),
    ],
)
def test_each_refusal_is_a_state_with_a_sentence(cells: dict[str, Cell], state: State) -> None:
    found = post_stratified(cells)
    assert found.state is state
    assert found.sentence
    assert (found.point is None) == (state in {State.NO_LABELS, State.BOUNDS})


def test_a_verdict_without_labels_gives_bounds_that_hold_both_stories() -> None:
    found = post_stratified({"0": Cell(400), "1": Cell(600, 100, 90)})
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.6 * 0.9 < 0.6 * 0.9 + 0.4 < found.high


def test_labels_of_few_questions_are_refused() -> None:
    clusters = [{"0": Cell(10, 10, 2), "1": Cell(10, 10, 9)} for _ in range(4)]
    found = post_stratified({"0": Cell(40, 40, 8), "1": Cell(40, 40, 36)}, clusters=clusters)
    assert found.state is State.FEW_CLUSTERS
    assert found.point is None


def test_labels_that_all_agree_still_have_a_width() -> None:
    clusters = [{"0": Cell(2, 1, 1), "1": Cell(8, 4, 4)} for _ in range(10)]
    found = post_stratified({"0": Cell(20, 10, 10), "1": Cell(80, 40, 40)}, clusters=clusters)
    assert (found.point, found.high) == (1, 1)
    assert found.low is not None
    assert found.low < 0.96
    same = regression([(1.0, 1.0)] * 30, UNIT)
    assert same.low is not None
    assert same.low < 0.95
    alike = regression([(0.0, 0.0)] * 30, ValueScale(-1, 1), is_difference=True)
    assert alike.low is not None
    assert alike.high is not None
    assert alike.low < 0 < alike.high


def test_clusters_widen_the_interval_and_never_narrow_it() -> None:
    rng = Random(3)
    groups, total = [], {"0": Cell(), "1": Cell()}
    for _ in range(30):
        hard = rng.random() < 0.5
        cells = {"0": Cell(6, 3, 0 if hard else 3), "1": Cell(4, 2, 0 if hard else 2)}
        groups.append(cells)
        total = {name: total[name] + cell for name, cell in cells.items()}
    alone, together = post_stratified(total), post_stratified(total, clusters=groups)
    assert together.design_effect > 2
    assert None not in (alone.low, alone.high, together.low, together.high)
    assert math.dist((together.low or 0,), (together.high or 0,)) > math.dist((alone.low or 0,), (alone.high or 0,))


def test_rogan_gladen_inverts_the_judges_errors_or_refuses() -> None:
    found = rogan_gladen(690, 1000, KnownJudge(50, 45, 50, 40))
    assert found.point == pytest.approx((0.69 + 0.8 - 1) / 0.7)
    assert found.state is State.CORRECTED
    assert rogan_gladen(690, 1000, KnownJudge(4, 4, 50, 40)).state is State.NO_SIGNAL
    assert rogan_gladen(690, 1000, KnownJudge(50, 25, 50, 25)).state is State.NO_SIGNAL
    assert rogan_gladen(0, 0, KnownJudge(50, 45, 50, 40)).state is State.NO_LABELS


def test_a_perfect_judge_makes_few_labels_worth_many() -> None:
    rng = Random(4)
    truth = [float(rng.randrange(9)) for _ in range(1000)]
    pairs = [(value, value if place < 40 else None) for place, value in enumerate(truth)]
    found = regression(pairs, ValueScale(0, 8))
    assert found.point == pytest.approx(sum(truth) / 1000)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low < 0.4


def test_a_judge_that_says_the_opposite_is_not_used() -> None:
    pairs = [(float(place % 2), float(1 - place % 2) if place < 100 else None) for place in range(400)]
    found = regression(pairs, UNIT)
    assert (found.state, found.estimator) == (State.LABELS_ONLY, Estimator.LABELS_ONLY)
    assert found.point == pytest.approx(0.5)


def test_ppi_is_the_mean_of_labels_plus_a_weighted_correction() -> None:
    pairs: list[tuple[float, float | None]] = [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 0.0), (1.0, None), (1.0, None)]
    found = prediction_powered(PairSums.of(pairs), weight=1.0)
    assert found is not None
    assert found.point == pytest.approx(1.0 - 0.25)
    assert prediction_powered(PairSums.of([(1.0, 1.0)])) is None


def test_a_draw_by_verdict_is_not_random() -> None:
    assert hypergeometric_p([50, 50], [300, 700]) < 0.001
    assert hypergeometric_p([30, 70], [300, 700]) > 0.9
    assert hypergeometric_p([100], [1000]) == 1


def test_labels_drawn_by_verdict_on_purpose_are_no_surprise() -> None:
    """What we drew ourselves, as many of either verdict, is known and right; the same of unknown origin is not."""
    cells = {"0": Cell(400, 50, 5), "1": Cell(600, 10, 9)}
    assert post_stratified(cells).state is State.NOT_RANDOM
    assert post_stratified(cells, drawing=Drawing.STRATIFIED).state is State.CORRECTED


def labelled(drawing: Drawing, *, is_binary: bool = True, labels: int = 40) -> LabelledItems:
    """A hundred items of either verdict, the first ones labelled; the judge is right nine times of ten."""
    pairs = [
        (float(verdict), float(verdict if place % 10 else 1 - verdict) if place < labels else None)
        for verdict in (0, 1)
        for place in range(100)
    ]
    known = Counter((f, y) for f, y in pairs if y is not None)
    cells = {
        str(verdict): Cell(100, labels, sum(n * y for (f, y), n in known.items() if f == verdict)) for verdict in (0, 1)
    }
    return LabelledItems(drawing, is_binary, UNIT, PairSums.of(pairs), known, cells)


@pytest.mark.parametrize(
    ("drawing", "is_binary", "state", "estimator"),
    [
        (Drawing.RANDOM, True, State.CORRECTED, Estimator.POST_STRATIFIED),
        (Drawing.STRATIFIED, True, State.CORRECTED, Estimator.POST_STRATIFIED),
        (Drawing.ELSEWHERE, True, State.CORRECTED, Estimator.ROGAN_GLADEN),
        (Drawing.UNKNOWN, True, State.UNKNOWN_DRAWING, None),
        (Drawing.RANDOM, False, State.CORRECTED, Estimator.REGRESSION),
        (Drawing.STRATIFIED, False, State.NOT_BINARY, None),
        (Drawing.ELSEWHERE, False, State.NOT_BINARY, None),
    ],
)
def test_one_rule_chooses_the_estimator(
    drawing: Drawing, is_binary: bool, state: State, estimator: Estimator | None
) -> None:
    found = corrected_mean(labelled(drawing, is_binary=is_binary))

    assert (found.state, found.estimator) == (state, estimator)
    assert (found.point is None) == (estimator is None)


def test_what_is_labelled_through_needs_no_word_about_its_drawing() -> None:
    assert corrected_mean(labelled(Drawing.UNKNOWN, labels=100)).point == pytest.approx(0.5)
    assert corrected_mean(labelled(Drawing.UNKNOWN, labels=0)).state is State.NO_LABELS


def test_sums_give_what_single_items_give() -> None:
    rng = Random(8)
    pairs = [(float(f), float(min(8, f + rng.randrange(2))) if rng.random() < 0.2 else None) for f in range(9)] * 20
    halves = [pairs[:90], pairs[90:]]
    assert PairSums.total(map(PairSums.of, halves)) == PairSums.of(pairs)
    found = prediction_powered(PairSums.of(pairs))
    assert found is not None
    known = [(f, y) for f, y in pairs if y is not None]
    others = [f for f, y in pairs if y is None]
    by_hand = statistics.fmean(y - found.weight * f for f, y in known) + found.weight * statistics.fmean(others)
    assert found.point == pytest.approx(by_hand)


def test_questions_that_are_alike_may_be_counted_instead_of_listed() -> None:
    """Two hundred questions, of which most have no label: the same interval from a few kinds of them."""
    rng = random.Random(4)
    listed: list[Cells] = []
    for number in range(200):
        right = rng.choice((0, 2, 4))
        cells = {"1": Cell(right), "0": Cell(4 - right)}
        if number < 30:
            cells = {name: cell + Cell(0, min(1, cell.items), min(1, cell.items) * 0.5) for name, cell in cells.items()}
        listed.append(cells)
    kinds = Counter(tuple((name, cell.items) for name, cell in one.items()) for one in listed[30:])
    counted = [*listed[:30], *({name: Cell(items) for name, items in kind} for kind in kinds)]
    whole = {name: sum((one[name] for one in listed), Cell()) for name in ("1", "0")}

    plain = post_stratified(whole, clusters=listed)
    short = post_stratified(whole, clusters=counted, repeats=[*[1] * 30, *kinds.values()])

    assert len(counted) < 40
    assert (short.low, short.high, short.design_effect, short.random_p) == pytest.approx(
        (plain.low, plain.high, plain.design_effect, plain.random_p)
    )
