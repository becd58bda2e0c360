"""B minus A: the interval and the test that belong to it, and states instead of numbers that would mislead."""

import itertools
import math
from collections.abc import Sequence
from random import Random

import pytest
from tests.cases import each

from mixseek.domain.pair_counts import DifferenceSums
from mixseek.stats.difference import (
    MOST_FLIPPED,
    Difference,
    DifferenceState,
    Direction,
    FlipMethod,
    estimate_difference,
    on_lattice,
    sign_flip_p,
)
from mixseek.stats.intervals import IntervalMethod

Question = Sequence[tuple[float, float]]


def sums_of(questions: Sequence[Question]) -> tuple[DifferenceSums, list[float]]:
    """What a database returns for these scores of A and B, question by question; all pairs are scored."""
    pairs = [pair for question in questions for pair in question]
    moved = [sum(b - a for a, b in question) for question in questions]
    sizes = [len(question) for question in questions]
    total = sum(moved)
    sums = DifferenceSums(
        pairs=len(pairs),
        scored=len(pairs),
        questions=len(questions),
        better=sum(b > a for a, b in pairs),
        worse=sum(b < a for a, b in pairs),
        total=total,
        total_a=sum(a for a, _ in pairs),
        total_b=sum(b for _, b in pairs),
        squares_of_scores=sum(a * a + b * b for a, b in pairs),
        question_squares=sum(move * move for move in moved),
        question_products=sum(size * move for size, move in zip(sizes, moved, strict=True)),
        question_sizes=sum(size * size for size in sizes),
        moved_questions=sum(abs(move) > 1e-9 for move in moved),
        lowest=total,
        highest=total,
    )
    return sums, [move for move in moved if abs(move) > 1e-9]


def estimated(questions: Sequence[Question]) -> Difference:
    return estimate_difference(*sums_of(questions))


def brute_force(moves: Sequence[float]) -> float:
    """Every assignment of signs, one by one."""
    observed = abs(sum(moves)) - 1e-9
    signs = list(itertools.product((1, -1), repeat=len(moves)))
    return sum(abs(sum(s * m for s, m in zip(sign, moves, strict=True))) >= observed for sign in signs) / len(signs)


@each("seed", range(8))
def test_sign_flips_are_counted_exactly(seed: int) -> None:
    """As many as all assignments of signs give, for right-or-wrong sums, marks of eight and means of three judges."""
    rng = Random(seed)
    step = (1, 8, 24, 100)[seed % 4]
    moves = [rng.randint(-step, step) / step for _ in range(10)]

    assert sign_flip_p(moves) == pytest.approx(brute_force(moves), abs=1e-12)


def test_scores_on_no_lattice_are_put_on_a_fine_one() -> None:
    """To three digits of what all assignments give."""
    rng = Random(5)
    moves = [rng.gauss(0.2, 0.5) for _ in range(12)]

    assert sign_flip_p(moves) == pytest.approx(brute_force(moves), abs=2e-3)


def test_a_thousand_questions_are_flipped_in_a_moment_and_agree_with_the_normal_limit() -> None:
    moves = [1.0] * 530 + [-1.0] * 470
    exact = sign_flip_p(moves)
    limit = math.erfc((60 - 1) / math.sqrt(2 * 1000))

    assert len(moves) == MOST_FLIPPED
    assert exact == pytest.approx(limit, rel=0.01)
    assert max(map(abs, on_lattice(moves))) == 1


def test_nothing_that_moved_is_no_evidence() -> None:
    assert sign_flip_p([]) == 1
    assert sign_flip_p([0.0, 0.0]) == 1
    assert sign_flip_p([0.5, -0.5]) == 1
    assert sign_flip_p([0.5]) == 1


def test_right_or_wrong_with_one_pair_a_question_is_mcnemar() -> None:
    """12 against 3 of 15: the mid-p is 2·P(X ≤ 3) − P(X = 3)."""
    found = estimated([[(0, 1)]] * 12 + [[(1, 0)]] * 3 + [[(1, 1)]] * 45)

    assert found.test is not None
    assert found.test.method is FlipMethod.MCNEMAR
    assert found.test.p_value == pytest.approx((2 * 576 - 455) / 2**15)
    assert (found.mean, found.mean_a, found.mean_b) == pytest.approx((9 / 60, 48 / 60, 57 / 60))
    assert found.direction is Direction.BETTER


def test_pairs_of_one_question_are_one_observation() -> None:
    """Ten questions asked five times each say as much as ten, not as fifty."""
    moves = [(0.0, 1.0)] * 6 + [(1.0, 0.0)] + [(1.0, 1.0)] * 3
    once, repeated = estimated([[pair] for pair in moves]), estimated([[pair] * 5 for pair in moves])
    apart = estimated([[pair] for pair in moves * 5])

    assert once.interval is not None
    assert repeated.interval is not None
    assert apart.interval is not None
    assert (repeated.interval.low, repeated.interval.high) == pytest.approx((once.interval.low, once.interval.high))
    assert apart.interval.high - apart.interval.low < 0.5 * (repeated.interval.high - repeated.interval.low)
    assert repeated.test is not None
    assert repeated.test.method is FlipMethod.SIGN_FLIP
    assert repeated.test.p_value == pytest.approx(16 / 128)
    assert apart.test is not None
    assert apart.test.p_value < 0.001


def test_interval_and_test_that_differ_are_a_close_call() -> None:
    """Five of five better: t leaves out nought, but of 32 assignments two are as far."""
    found = estimated([[(0, 1)]] * 5 + [[(1, 1)]] * 3)

    assert found.interval is not None
    assert found.interval.low > 0
    assert found.test is not None
    assert found.test.p_value == pytest.approx(1 / 32)
    assert found.direction is Direction.BETTER
    graded = estimated([[(0, 0.5)]] * 5 + [[(1, 1)]] * 3)
    assert graded.test is not None
    assert graded.test.p_value == pytest.approx(1 / 16)
    assert graded.direction is Direction.BORDERLINE


def test_no_pairs_nothing_scored_and_one_question_are_states_without_an_interval() -> None:
    assert estimate_difference(DifferenceSums(), ()) == Difference(DifferenceState.NO_PAIRS, DifferenceSums())
    unscored = estimate_difference(DifferenceSums(pairs=4, lowest=-4, highest=4), ())
    assert (unscored.state, unscored.mean) == (DifferenceState.NOTHING_SCORED, None)
    assert unscored.bounds is not None
    assert (unscored.bounds.worst, unscored.bounds.best) == (-1, 1)
    one = estimated([[(0, 1), (1, 1)]])
    assert (one.state, one.mean, one.interval, one.test) == (DifferenceState.ONE_QUESTION, 0.5, None, None)


def test_all_equal_has_an_interval_as_wide_as_the_questions_are_few() -> None:
    """If 3 % of all questions differed, none of a hundred would show it with a chance of 5 %."""
    found = estimated([[(1, 1)]] * 60 + [[(0, 0)]] * 40)

    assert (found.state, found.mean) == (DifferenceState.ALL_EQUAL, 0.0)
    assert found.interval is not None
    assert found.interval.method is IntervalMethod.RULE_OF_THREE
    assert pytest.approx(0.05, abs=0.003) == 0.97**100
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.0295, 0.0295), abs=1e-4)
    assert found.direction is Direction.UNCLEAR


def test_every_question_alike_claims_no_certainty() -> None:
    found = estimated([[(0, 1)]] * 20)

    assert (found.state, found.mean) == (DifferenceState.ALL_ALIKE, 1.0)
    assert found.interval is not None
    assert found.interval.high == 1.0
    assert 0.5 < found.interval.low < 0.8
    assert found.direction is Direction.BETTER


@pytest.mark.parametrize("icc", [0.0, 0.3, 0.5])
def test_the_interval_covers_the_truth_as_often_as_it_says(icc: float) -> None:
    """30 questions of five pairs; right-or-wrong scores whose difference is 0.1 on average."""
    rng = Random(int(icc * 100) + 7)
    hits, draws = 0, 600
    for _ in range(draws):
        questions: list[Question] = []
        for _ in range(30):
            shared = rng.random() < icc
            one = (float(rng.random() < 0.6), float(rng.random() < 0.7))
            questions.append(
                [one if shared else (float(rng.random() < 0.6), float(rng.random() < 0.7)) for _ in range(5)]
            )
        found = estimated(questions)
        assert found.interval is not None
        hits += found.interval.low <= 0.1 <= found.interval.high

    assert 0.92 <= hits / draws <= 0.98
