"""Whether B differs from A on what both were asked: the mean difference, its interval, a test, and what limits them.

The unit is the question: pairs of one question are one observation. The interval is a cluster-robust Student t; the
test asks how often chance alone, which may swap A and B in every question, gives so large a difference.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from mixseek.domain.pair_counts import SMALLEST_DIFFERENCE, DifferenceSums
from mixseek.domain.scored_counts import VariantSums
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import mid_p, student_quantile
from mixseek.stats.intervals import Bounds, Interval, IntervalMethod


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """`interval` is None with one cluster: one observation has no spread."""

    mean: float
    interval: Interval | None
    pairs: int
    clusters: int

    @property
    def is_clear(self) -> bool:
        """The interval leaves no doubt about the direction."""
        return self.interval is not None and self.interval.leaves_out_nought


def paired_difference(sums: VariantSums, level: float = 0.95) -> PairedDifference | None:
    """The mean difference with a cluster-robust Student t interval; None without pairs.

    With one pair a cluster this is the ordinary paired t interval. Treating the pairs of one question as independent
    would promise more than a handful of questions can hold.
    """
    if sums.pairs == 0:
        return None
    mean = sums.total / sums.pairs
    if sums.questions < 2:
        return PairedDifference(mean, None, sums.pairs, sums.questions)
    # Σ (s − n·mean)², multiplied out.
    squares = sums.total_of_squares - 2 * mean * sums.total_of_products + mean * mean * sums.pairs_of_squares
    variance = max(0.0, squares) * sums.questions / (sums.questions - 1) / sums.pairs**2
    half = student_quantile((1 + level) / 2, sums.questions - 1) * math.sqrt(variance)
    if half < 1e-9:
        # Every question moved by the same amount: a width of nought would claim certainty.
        return PairedDifference(mean, None, sums.pairs, sums.questions)
    low, high = max(-1.0, mean - half), min(1.0, mean + half)
    return PairedDifference(mean, Interval(low, high, level, IntervalMethod.CLUSTERED), sums.pairs, sums.questions)


# So many questions that moved are flipped exactly; beyond, the sum of the flips is normal to four digits.
MOST_FLIPPED = 1_000
# Steps of the lattice that scores are put on where they are on none of their own; and bits that stay a moment's work.
_FINEST_STEPS = 1_024
_MOST_BITS = 40_000_000
_ON_LATTICE = 1e-6


class FlipMethod(StrEnum):
    """Named with every p-value."""

    MCNEMAR = "McNemar mid-p"
    SIGN_FLIP = "sign flips of questions, exact"
    NORMAL = "sign flips of questions, normal limit"


class DifferenceState(StrEnum):
    """What can be said; each but the first has a sentence that says why there is no more."""

    ESTIMATED = "estimated"
    # The sides share no sample.
    NO_PAIRS = "no_pairs"
    # They share samples, but none of them has a score on both sides.
    NOTHING_SCORED = "nothing_scored"
    # One question has no spread: a difference, but neither interval nor test.
    ONE_QUESTION = "one_question"
    # No score changed.
    ALL_EQUAL = "all_equal"
    # Not two sides but one, looked at twice.
    ITSELF = "itself"
    # Every question moved by the same amount.
    ALL_ALIKE = "all_alike"


class Direction(StrEnum):
    """What interval and test say together."""

    BETTER = "better"
    WORSE = "worse"
    UNCLEAR = "unclear"
    # One of them says that there is a difference, and the other does not.
    BORDERLINE = "borderline"


@dataclass(frozen=True, slots=True)
class FlipTest:
    """`changed` is what the test rests on: pairs for McNemar's, questions for sign flips."""

    p_value: float
    method: FlipMethod
    changed: int


@dataclass(frozen=True, slots=True)
class Difference:
    """B minus A over the scored pairs; `bounds` are over all pairs, what has no score included."""

    state: DifferenceState
    sums: DifferenceSums
    mean: float | None = None
    interval: Interval | None = None
    test: FlipTest | None = None
    bounds: Bounds | None = None

    @property
    def mean_a(self) -> float | None:
        """A's mean over the scored pairs, so that B's minus A's is the difference."""
        return self.sums.total_a / self.sums.scored if self.sums.scored else None

    @property
    def mean_b(self) -> float | None:
        return self.sums.total_b / self.sums.scored if self.sums.scored else None

    @property
    def equal(self) -> int:
        return self.sums.scored - self.sums.better - self.sums.worse

    @property
    def unscored(self) -> int:
        """Pairs in common without a score on one side or both."""
        return self.sums.pairs - self.sums.scored

    @property
    def direction(self) -> Direction:
        """Clear only where the interval leaves out nought and the test agrees at the same level."""
        if self.interval is None or self.test is None or self.mean is None:
            return Direction.UNCLEAR
        is_significant = self.test.p_value < 1 - self.interval.level
        if self.interval.leaves_out_nought != is_significant:
            return Direction.BORDERLINE
        if not is_significant:
            return Direction.UNCLEAR
        return Direction.BETTER if self.mean > 0 else Direction.WORSE


def estimate_difference(
    sums: DifferenceSums, moves: Sequence[float], level: float = 0.95, *, is_itself: bool = False
) -> Difference:
    """`moves` are the sums of the questions that moved; where they are more than MOST_FLIPPED they may be left out."""
    if sums.pairs == 0:
        return Difference(DifferenceState.NO_PAIRS, sums)
    bounds = Bounds(sums.lowest / sums.pairs, sums.highest / sums.pairs)
    if sums.scored == 0:
        return Difference(DifferenceState.NOTHING_SCORED, sums, bounds=bounds)
    mean = 0.0 if not sums.better and not sums.worse else sums.total / sums.scored
    if is_itself:
        return Difference(DifferenceState.ITSELF, sums, mean, bounds=bounds)
    if sums.questions == 1:
        return Difference(DifferenceState.ONE_QUESTION, sums, mean, bounds=bounds)
    test = flip_test(sums, moves)
    as_variants = VariantSums(
        None, "A", "B", sums.questions, sums.scored, sums.total, sums.question_squares, sums.question_products,
        sums.question_sizes,
    )  # fmt: skip
    paired = paired_difference(as_variants, level)
    if paired is not None and paired.interval is not None:
        # With one pair a question it is the ordinary paired interval, and called so.
        method = IntervalMethod.STUDENT if sums.questions == sums.scored else IntervalMethod.CLUSTERED
        interval = replace(paired.interval, method=method)
        return Difference(DifferenceState.ESTIMATED, sums, mean, interval, test, bounds)
    is_equal = not sums.better and not sums.worse
    state = DifferenceState.ALL_EQUAL if is_equal else DifferenceState.ALL_ALIKE
    return Difference(state, sums, mean, unvaried_interval(mean, sums.questions, level), test, bounds)


def unvaried_interval(mean: float, questions: int, level: float = 0.95) -> Interval:
    """The interval where every question moved by the same amount: a width of nought would claim certainty.

    If a share of all questions is different, none of `questions` shows it with the chance (1 − share)^questions. The
    share that still has the chance 1 − level (about three in `questions`) may differ in any direction.
    """
    share = 1 - (1 - level) ** (1 / questions)
    low, high = mean - share * (mean + 1), mean + share * (1 - mean)
    return Interval(low, high, level, IntervalMethod.RULE_OF_THREE)


def needs_moves(sums: DifferenceSums) -> bool:
    """Whether a test flips single questions; else the sums say all."""
    return not is_one_to_one(sums) and 0 < sums.moved_questions <= MOST_FLIPPED


def is_one_to_one(sums: DifferenceSums) -> bool:
    """Right-or-wrong scores with one pair a question: what McNemar's test is for."""
    return sums.is_binary and sums.questions == sums.scored


def flip_test(sums: DifferenceSums, moves: Sequence[float]) -> FlipTest:
    """McNemar's mid-p for right-or-wrong scores with one pair a question, else sign flips of the questions."""
    if is_one_to_one(sums):
        changed = sums.better + sums.worse
        return FlipTest(mid_p(sums.better, changed), FlipMethod.MCNEMAR, changed)
    if sums.moved_questions <= MOST_FLIPPED:
        return FlipTest(sign_flip_p(moves), FlipMethod.SIGN_FLIP, sums.moved_questions)
    p_value = math.erfc(abs(sums.total) / math.sqrt(2 * sums.question_squares))
    return FlipTest(p_value, FlipMethod.NORMAL, sums.moved_questions)


def sign_flip_p(moves: Sequence[float]) -> float:
    """The share of all ways to swap A and B, question by question, that give a difference as large as the observed.

    Exact for scores on a lattice (right or wrong, 0..8, means of a few judges), else on a lattice that is fine enough.
    The number of ways to reach each sum is one digit of a large integer: a question of size v adds the integer to
    itself, v digits further on.
    """
    steps = on_lattice([move for move in moves if abs(move) > SMALLEST_DIFFERENCE])
    digit_bits = len(steps) + 1
    ways = 1
    for step in steps:
        ways += ways << (abs(step) * digit_bits)
    # Sums run from -largest to largest by twos. Those at or below -observed are the lowest digits, and by symmetry as
    # many sums are at or above it.
    largest, observed = sum(map(abs, steps)), abs(sum(steps))
    if observed == 0:
        return 1.0
    lowest = ways & ((1 << (((largest - observed) // 2 + 1) * digit_bits)) - 1)
    # The digits of a number in base b add up to the number modulo b - 1, as long as their sum is smaller than that.
    reached = lowest % ((1 << digit_bits) - 1)
    return min(1.0, 2 * reached / (1 << len(steps)))


def on_lattice(moves: Sequence[float]) -> list[int]:
    """The moves as whole numbers of one step; the step is theirs where they have one, else as small as time allows."""
    if not moves:
        return []
    largest = max(map(abs, moves))
    most = _MOST_BITS // (len(moves) * (len(moves) + 1))
    for scale in range(1, _FINEST_STEPS + 1):
        if largest * scale > max(most, 1):
            break
        if all(abs(move * scale - round(move * scale)) < _ON_LATTICE for move in moves):
            return [round(move * scale) for move in moves]
    steps = min(_FINEST_STEPS, max(most, 1))
    return [round(move / largest * steps) for move in moves]
