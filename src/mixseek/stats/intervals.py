"""How far a mean of scores can be trusted: from sampling, from what was never judged, and from uneven groups."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from statistics import NormalDist
from typing import TypeVar

from mixseek.domain.counts import UnitSums
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import student_quantile

_Item = TypeVar("_Item")
# Groups of questions that a jackknife leaves out one by one: more of them change the width by less than a hundredth.
MOST_GROUPS = 200
# Items that are read anew for one interval at most: beyond it questions are put into fewer groups.
_MOST_READ, _FEWEST_GROUPS = 20_000, 40
_FEW_QUESTIONS = 20
_NO_VARIANCE = 1e-18
# Leverage raises a residual's square to at most this power of 1 / (1 − h) (Cribari-Neto 2004).
_MOST_LEVERAGE = 4.0
# A draw shows less skewness than large questions bring: about half, and the less the fewer there are. Both numbers were
# found by simulation (`make coverage`).
_UNSEEN_SKEWNESS = 2.0
_UNSEEN_OF_FEW = 10.0
_CARRIED_BY_FEW = 0.5


class IntervalMethod(StrEnum):
    """Named in every report: an interval without its method cannot be compared."""

    WILSON = "Wilson"
    # Wilson's form with as many trials as the variance of graded scores is worth.
    GRADED_WILSON = "graded Wilson"
    STUDENT = "Student t"
    # Knows that observations of one question resemble each other.
    CLUSTERED = "clustered Student t"
    CLUSTERED_WILSON = "clustered Wilson"
    JACKKNIFE = "jackknife over questions"
    SANDWICH = "sandwich over questions"
    # Gaps of a calibration curve made smaller and larger, against the chances of their counts.
    GAPS = "scaled gaps"
    # Every question moved by the same amount.
    RULE_OF_THREE = "rule-of-three"
    # Of the labels that a certificate rests on, as many as they are worth.
    CLOPPER_PEARSON = "Clopper–Pearson"


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval for a mean in 0..1, or for a difference of such means."""

    low: float
    high: float
    level: float
    method: IntervalMethod

    @property
    def leaves_out_nought(self) -> bool:
        """No doubt about the direction of a difference."""
        return not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the mean would be if every judgment without a score were wrong (worst) or right (best).

    Unverified ones, which rest on an answer that the response does not give, are wrong in the worst case too.
    """

    worst: float
    best: float


def wilson_interval(successes: float, trials: int, level: float = 0.95) -> Interval:
    """Wilson's score interval, of at least one trial.

    Unlike the textbook normal interval it neither leaves 0..1 nor shrinks to a point at 0 % and 100 %.
    `successes` may be a sum of fractional scores: their variance is at most that of a coin with the same mean
    (Bhatia-Davis), so the interval is then too wide, never too narrow.
    """
    low, high = wilson_limits(successes / trials, trials, NormalDist().inv_cdf((1 + level) / 2))
    return Interval(low, high, level, IntervalMethod.WILSON)


def unit_interval(sums: UnitSums, level: float = 0.95) -> Interval | None:
    """The interval of the mean over samples; None below two units, because one observation has no spread.

    All have Wilson's form with as many trials as the variance is worth: Student's t leaves the scale at its ends, and
    is too short there. Where questions repeat, they are the units, with their degrees of freedom.
    """
    if sums.questions < 2:
        return None
    count, total, squares = sums.scored, sums.total, sums.total_of_squares
    # The subtraction may come out a hair below zero where all scores are equal.
    variance = max(0.0, (squares - total * total / count) / (count - 1))
    if sums.questions < count:
        # With few questions their spread may come out next to nothing by chance; with many, a floor would only widen.
        return clustered_interval(sums, level, variance / count if sums.questions < _FEW_QUESTIONS else 0.0)
    if sums.is_binary or variance <= 1e-12:
        # Without any spread, too: a t interval of width zero would claim certainty.
        return wilson_interval(total, count, level)
    quantile = student_quantile((1 + level) / 2, count - 1)
    low, high = effective_limits(total / count, variance / count, quantile)
    return Interval(low, high, level, IntervalMethod.GRADED_WILSON)


def clustered_interval(sums: UnitSums, level: float = 0.95, least_variance: float = 0.0) -> Interval | None:
    """The interval with questions as clusters; `least_variance`: a floor, such as what independent samples would have.

    With questions of unequal size squares grow with leverage (HC4) and Student's t has the freedom of as many questions
    of equal size (Kish). There, and near an end of the scale, the limit on the side of the skewness moves outwards.
    """
    mean = sums.mean
    if mean is None or sums.questions < 2:
        return None
    # Σ (s − n·mean)², multiplied out.
    squares = sums.question_squares - 2 * mean * sums.question_products + mean * mean * sums.question_sizes
    leveraged = sums.leveraged_squares
    if leveraged is None:
        leveraged = squares * sums.questions / (sums.questions - 1)
    variance = max(least_variance, leveraged / sums.scored**2)
    if variance <= 1e-12:
        # Every question alike: a width of nought would claim certainty, so each of them is one trial.
        return wilson_interval(mean * sums.questions, sums.questions, level)
    quantile = student_quantile((1 + level) / 2, max(1, round(sums.effective_questions - 1)))
    low, high = effective_limits(mean, variance, quantile)
    if squares > _NO_VARIANCE and sums.question_cubes:
        skewness = sums.question_cubes / squares**1.5
        # Near an end of the scale: what is left of it beside that of single right-or-wrong samples, which Wilson's
        # form knows.
        beyond = abs(1 - 2 * mean) * (skewness - (1 - 2 * mean) * math.sqrt(variance / (mean * (1 - mean))))
        sizes = QuestionSizes(sums.questions, sums.effective_questions)
        margin = skewed_margin(math.sqrt(variance), sizes.unseen * skewness + beyond, quantile)
        low, high = max(0.0, low + min(0.0, margin)), min(1.0, high + max(0.0, margin))
    return Interval(low, high, level, IntervalMethod.CLUSTERED_WILSON)


@dataclass(frozen=True, slots=True)
class QuestionSizes:
    """How many questions there are, and how many of equal size would carry as much (Kish)."""

    questions: int
    effective: float

    @property
    def unevenness(self) -> float:
        """0 where all sizes are equal, towards 1 where one question carries everything."""
        if self.questions < 2:
            return 0.0
        return min(1.0, max(0.0, 1 - (self.effective - 1) / (self.questions - 1)))

    @property
    def is_carried_by_few(self) -> bool:
        """Worth less than half as many questions of equal size: a reader must know."""
        return self.effective < _CARRIED_BY_FEW * self.questions

    @property
    def unseen(self) -> float:
        """How many times the skewness of a draw counts: where large questions are worse than others, a draw that lacks
        them has a mean too high and a spread too small. 0 with equal sizes."""
        return _UNSEEN_SKEWNESS * (1 + _UNSEEN_OF_FEW / self.effective) * self.unevenness


def sizes_of(sizes: Sequence[tuple[float, int]]) -> QuestionSizes:
    """The sizes of questions with so many samples each, counted."""
    count = sum(times for size, times in sizes if size)
    total = math.fsum(size * times for size, times in sizes)
    squares = math.fsum(size * size * times for size, times in sizes)
    return QuestionSizes(count, total * total / squares if squares else float(count))


def skewed_margin(se: float, skewness: float, quantile: float) -> float:
    """How far the limit on the side of the skewness (its sign) lies beyond the symmetric one (Johnson 1978).

    `skewness` is Σ e³ / (Σ e²)^1.5 over questions: that of their mean, not of a single one.
    """
    return se * skewness / 6 * (1 + 2 * quantile * quantile)


def with_questions(sums: UnitSums, questions: Sequence[tuple[float, float, int]]) -> UnitSums:
    """The same samples with what a clustered interval needs: number and sum of each question's, and how many have them.

    `unit_sums` of the index computes the same in the database.
    """
    counted = [(n, s, times) for n, s, times in questions if n]
    count, trials = sum(times for _, _, times in counted), math.fsum(n * times for n, _, times in counted)
    mean = math.fsum(s * times for _, s, times in counted) / trials if trials else 0.0
    leveraged = cubes = 0.0
    for n, s, times in counted:
        deviation, share = s - n * mean, n / trials
        leveraged += times * deviation**2 / max(1e-9, 1 - share) ** min(_MOST_LEVERAGE, share * count)
        cubes += times * deviation**3
    return replace(
        sums,
        questions=count,
        question_squares=math.fsum(s * s * times for _, s, times in counted),
        question_products=math.fsum(n * s * times for n, s, times in counted),
        question_sizes=math.fsum(n * n * times for n, _, times in counted),
        leveraged_squares=leveraged,
        question_cubes=cubes,
    )


def effective_limits(mean: float, variance: float, quantile: float) -> tuple[float, float]:
    """Wilson's form with as many trials as the variance of this mean in 0..1 is worth."""
    # A mean at an end has no variance; rounding may leave a trace of it.
    return wilson_limits(mean, max(mean * (1 - mean) / variance, 1e-9), quantile)


@dataclass(frozen=True, slots=True)
class StandardErrors:
    """Errors of one mean, under four names that papers use; where questions repeat, only the clustered ones are honest.

    `cr1` is `cr0` with the factor for few questions; `miller` (Miller 2024) takes the variance of single samples with
    n − 1 and adds what samples of one question share; `iid` knows no questions.
    """

    iid: float
    cr0: float
    cr1: float
    miller: float


def standard_errors(sums: UnitSums) -> StandardErrors | None:
    """None below two questions: one observation has no spread."""
    mean, n = sums.mean, sums.scored
    if mean is None or sums.questions < 2:
        return None
    between = max(0.0, sums.question_squares - 2 * mean * sums.question_products + mean * mean * sums.question_sizes)
    within = max(0.0, sums.total_of_squares - n * mean * mean)
    cr0 = math.sqrt(between) / n
    return StandardErrors(
        iid=math.sqrt(within / (n - 1) / n),
        cr0=cr0,
        cr1=cr0 * math.sqrt(sums.questions / (sums.questions - 1)),
        miller=math.sqrt(max(0.0, within / (n - 1) / n + (between - within) / n**2)),
    )


def scaled_sums(sums: UnitSums, least: float, greatest: float) -> UnitSums:
    """The same samples with their values brought from that scale to 0..1."""
    width = (greatest - least) or 1.0
    n, sizes = sums.scored, sums.question_sizes
    return replace(
        sums,
        total=(sums.total - n * least) / width,
        total_of_squares=(sums.total_of_squares - 2 * least * sums.total + n * least**2) / width**2,
        question_squares=(sums.question_squares - 2 * least * sums.question_products + least**2 * sizes) / width**2,
        question_products=(sums.question_products - least * sizes) / width,
        lowest=(sums.lowest - sums.samples * least) / width,
        highest=(sums.highest - sums.samples * least) / width,
        # Deviations from the mean do not move with the scale's beginning.
        leveraged_squares=None if sums.leveraged_squares is None else sums.leveraged_squares / width**2,
        question_cubes=None if sums.question_cubes is None else sums.question_cubes / width**3,
    )


def mean_over_questions(values: Sequence[tuple[float, str, float]]) -> tuple[float, Interval | None]:
    """The weighted mean of values in 0..1 that stand with their question and weight, and its interval."""
    total = math.fsum(weight for _, _, weight in values)
    mean = math.fsum(weight * value for value, _, weight in values) / total
    squares = math.fsum(weight * weight for _, _, weight in values)
    # Where all weights are equal, this is exact; else labels count as many as they are worth (Kish).
    is_even = math.isclose(total * total, squares * len(values), rel_tol=1e-9)
    trials = len(values) if is_even else max(min(2, len(values)), int(total * total / squares))
    scale = trials / total
    sums = UnitSums(
        len(values),
        trials,
        trials,
        mean * trials,
        scale * math.fsum(weight * value * value for value, _, weight in values),
    )
    questions: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for value, question, weight in values:
        questions[question][0] += weight * scale
        questions[question][1] += weight * scale * value
    sums = with_questions(sums, [(size, total_said, 1) for size, total_said in questions.values()])
    return mean, unit_interval(sums)


def question_groups(items: Sequence[_Item], question_of: Callable[[_Item], str]) -> list[list[_Item]]:
    """Groups of whole questions for a jackknife, as even as they come; many where there is time for many."""
    order: dict[str, int] = {}
    most = max(_FEWEST_GROUPS, min(MOST_GROUPS, _MOST_READ // max(1, len(items))))
    groups: defaultdict[int, list[_Item]] = defaultdict(list)
    for item in items:
        number = order.setdefault(question_of(item), len(order))
        groups[number % most].append(item)
    return [groups[number] for number in sorted(groups)]


def jackknife(
    value: float | None, without: Sequence[float | None], level: float = 0.95, most: float = 1.0
) -> Interval | None:
    """The interval from values without each group of questions; Student t with the groups' freedom, at most `most`.

    None with fewer than two groups, where there is no value without one of them, or where all are alike.
    """
    values = [estimate for estimate in without if estimate is not None]
    if value is None or len(values) < 2 or len(values) < len(without):
        return None
    mean = math.fsum(values) / len(values)
    variance = (len(values) - 1) / len(values) * math.fsum((estimate - mean) ** 2 for estimate in values)
    if variance < _NO_VARIANCE:
        # Every group alike: a width of nought would claim certainty.
        return None
    half = student_quantile((1 + level) / 2, len(values) - 1) * math.sqrt(variance)
    return Interval(value - half, min(most, value + half), level, IntervalMethod.JACKKNIFE)


def unit_bounds(sums: UnitSums) -> Bounds | None:
    """The mean over *all* samples under the two extreme stories; None without samples.

    An interval speaks about sampling only; when many samples carry no score, these bounds say
    how much of the headline rests on which samples happened to be judged.
    """
    return Bounds(sums.lowest / sums.samples, sums.highest / sums.samples) if sums.samples else None


def wilson_limits(share: float, trials: float, z: float) -> tuple[float, float]:
    """`trials` need not be whole: an effective number of them may not be."""
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    middle = share + z * z / (2 * trials)
    scale = 1 + z * z / trials
    # At the ends the formula gives exactly 0 or 1; rounding must not say otherwise.
    low = 0.0 if share <= 0 else max(0.0, (middle - spread) / scale)
    return low, 1.0 if share >= 1 else min(1.0, (middle + spread) / scale)
