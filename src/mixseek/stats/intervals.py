"""How far a mean of scores can be trusted: from sampling, from what was never judged, and from uneven groups."""

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from random import Random
from statistics import NormalDist

from mixseek.domain.counts import UnitSums

# Beyond this many degrees of freedom the four-term expansion is exact to eight digits, and the series costs time.
_SERIES_LIMIT = 200
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
    # Every question moved by the same amount.
    RULE_OF_THREE = "rule-of-three"


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
    """For the mean over samples; None below two units, because one observation has no spread.

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
    """With questions as clusters; `least_variance`: a floor, such as what independent samples would have.

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
    """Of questions with so many samples each, counted."""
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
    """Of one mean, under four names that papers use; where questions repeat, only the clustered ones are honest.

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


def jackknife(value: float | None, without: Sequence[float | None], level: float = 0.95) -> Interval | None:
    """From what the value would be without each group of questions; Student t with the groups' freedom, at most 1.

    None with fewer than two groups, where there is no value without one of them, or where all are alike.
    """
    values = [one for one in without if one is not None]
    if value is None or len(values) < 2 or len(values) < len(without):
        return None
    mean = math.fsum(values) / len(values)
    variance = (len(values) - 1) / len(values) * math.fsum((one - mean) ** 2 for one in values)
    if variance < _NO_VARIANCE:
        # Every group alike: a width of nought would claim certainty.
        return None
    half = student_quantile((1 + level) / 2, len(values) - 1) * math.sqrt(variance)
    return Interval(value - half, min(1.0, value + half), level, IntervalMethod.JACKKNIFE)


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


def student_quantile(probability: float, degrees: int) -> float:
    """The t value that a share `probability` of the distribution lies below; `probability` in [0.5, 1)."""
    if degrees > _SERIES_LIMIT:
        return _expanded_quantile(probability, degrees)
    low, high = 0.0, 1.0
    while _student_cdf(high, degrees) < probability:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cdf(middle, degrees) < probability else (low, middle)
    return high


def _student_cdf(t: float, degrees: int) -> float:
    """Abramowitz & Stegun 26.7.3 and 26.7.4: a finite series for whole degrees of freedom, t >= 0."""
    angle = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2 == 1
    term = cosine if odd else 1.0
    total = term if degrees > 1 else 0.0
    for step in range(3 if odd else 2, degrees - 1, 2):
        term *= cosine * cosine * (step - 1) / step
        total += term
    inside = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return 0.5 + inside / 2


def _expanded_quantile(probability: float, degrees: int) -> float:
    """Abramowitz & Stegun 26.7.5: the normal quantile with four corrections in 1/degrees."""
    x = NormalDist().inv_cdf(probability)
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + sum(term / float(degrees) ** power for power, term in enumerate(terms, start=1))


# Whether a rate differs between groups, or only seems to: an even spread is tested, with honest p-values.

# Below this expected count in any cell the chi-square distribution is no longer a good stand-in.
_SMALL_EXPECTED = 5.0
# Tables that are enumerated, and positions that are drawn at random, within a fraction of a second.
_MAX_TABLES = 50_000
_MAX_DRAWN = 4_000_000
_DRAWS = 1_999
# A table as far from even as the observed one is counted as such, in spite of rounding.
_TOLERANCE = 1e-9


class PValueMethod(StrEnum):
    """Named with every p-value."""

    EXACT = "exact"
    PERMUTATION = "permutation"
    CHI_SQUARE = "chi-square"


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `trials` in one group."""

    hits: int
    trials: int


@dataclass(frozen=True, slots=True)
class UnevenTest:
    """`p_value` is of the hypothesis that every group has the same rate; `effect` is Cramér's V, 0 even to 1."""

    statistic: float
    degrees: int
    p_value: float
    effect: float
    method: PValueMethod


def design_effect(sums: UnitSums) -> float:
    """How many samples weigh as much as one independent one, because samples of one question resemble each other.

    The clustered variance of the whole rate over that of independent samples, at least 1 (Rao and Scott 1981, first
    order): counts divided by it can be tested as if every sample were a question of its own.
    """
    rate = sums.mean
    if rate is None or not 0 < rate < 1 or sums.questions < 2:
        return 1.0
    # Σ (s − n·rate)², multiplied out.
    squares = sums.question_squares - 2 * rate * sums.question_products + rate * rate * sums.question_sizes
    clustered = squares * sums.questions / (sums.questions - 1) / sums.scored**2
    return max(1.0, clustered / (rate * (1 - rate) / (sums.scored - 1)))


def uneven_spread_test(rates: Sequence[Rate], *, rng: Random) -> UnevenTest | None:
    """Pearson's chi-square, its p-value exact or by permutation where counts are small.

    None where nothing can be told: fewer than two groups with trials, no hits, or nothing but hits.
    """
    groups = [rate for rate in rates if rate.trials > 0]
    hits, trials = sum(rate.hits for rate in groups), sum(rate.trials for rate in groups)
    if len(groups) < 2 or hits in (0, trials):
        return None
    sizes = [rate.trials for rate in groups]
    statistic = _pearson([rate.hits for rate in groups], sizes, hits, trials)
    effect = math.sqrt(min(1.0, statistic / trials))
    smallest = min(sizes) * min(hits, trials - hits) / trials
    if smallest >= _SMALL_EXPECTED:
        p_value = chi_square_tail(statistic, len(groups) - 1)
        return UnevenTest(statistic, len(groups) - 1, p_value, effect, PValueMethod.CHI_SQUARE)
    if math.prod(min(size, hits) + 1 for size in sizes[:-1]) <= _MAX_TABLES:
        return UnevenTest(statistic, len(groups) - 1, _exact_p(statistic, sizes, hits), effect, PValueMethod.EXACT)
    if min(hits, trials - hits) * _DRAWS <= _MAX_DRAWN:
        p_value = _permutation_p(statistic, sizes, hits, rng)
        return UnevenTest(statistic, len(groups) - 1, p_value, effect, PValueMethod.PERMUTATION)
    return _pooled_test(groups, effect)


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down: with several tests, the chance of even one false alarm stays below the level."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        adjusted[place] = highest
    return adjusted


def chi_square_tail(statistic: float, degrees: int) -> float:
    """The share of the chi-square distribution at or beyond `statistic`; finite sums for whole degrees of freedom."""
    if statistic <= 0:
        return 1.0
    half = statistic / 2
    # Logarithms, because both factors of a term leave the range of a float for large values.
    if degrees % 2 == 0:
        terms = [index * math.log(half) - half - math.lgamma(index + 1) for index in range(degrees // 2)]
        return min(1.0, math.fsum(math.exp(term) for term in terms))
    terms = [(index + 0.5) * math.log(half) - half - math.lgamma(index + 1.5) for index in range((degrees - 1) // 2)]
    return min(1.0, math.erfc(math.sqrt(half)) + math.fsum(math.exp(term) for term in terms))


def _pearson(counts: Sequence[int], sizes: Sequence[int], hits: int, trials: int) -> float:
    """Of a table with two rows, hits and the rest; the columns are the groups."""
    rate = hits / trials
    return sum(
        (count - size * rate) ** 2 / (size * rate * (1 - rate)) for count, size in zip(counts, sizes, strict=True)
    )


def _exact_p(observed: float, sizes: Sequence[int], hits: int) -> float:
    """Over all tables with these margins, each weighted by its chance."""
    trials = sum(sizes)
    weight = 0
    for head in itertools.product(*(range(min(size, hits) + 1) for size in sizes[:-1])):
        last = hits - sum(head)
        if 0 <= last <= sizes[-1]:
            counts = (*head, last)
            if _pearson(counts, sizes, hits, trials) >= observed - _TOLERANCE:
                weight += math.prod(math.comb(size, count) for size, count in zip(sizes, counts, strict=True))
    return weight / math.comb(trials, hits)


def _permutation_p(observed: float, sizes: Sequence[int], hits: int, rng: Random) -> float:
    """The observed table counts as one draw, so that a p-value is never nought."""
    trials = sum(sizes)
    rarer = min(hits, trials - hits)
    ends = list(itertools.accumulate(sizes))
    reached = 0
    for _ in range(_DRAWS):
        counts = [0] * len(sizes)
        for place in rng.sample(range(trials), rarer):
            counts[bisect.bisect_right(ends, place)] += 1
        reached += _pearson(counts, sizes, rarer, trials) >= observed - _TOLERANCE
    return (reached + 1) / (_DRAWS + 1)


def _pooled_test(groups: Sequence[Rate], effect: float) -> UnevenTest | None:
    """With thousands of hits and a few tiny groups: the tiny ones together, so that the distribution fits."""
    hits, trials = sum(rate.hits for rate in groups), sum(rate.trials for rate in groups)
    rarer = min(hits, trials - hits) / trials
    large = [rate for rate in groups if rate.trials * rarer >= _SMALL_EXPECTED]
    small = [rate for rate in groups if rate.trials * rarer < _SMALL_EXPECTED]
    pooled = [*large, Rate(sum(rate.hits for rate in small), sum(rate.trials for rate in small))]
    if len(pooled) < 2:
        return None
    statistic = _pearson([rate.hits for rate in pooled], [rate.trials for rate in pooled], hits, trials)
    degrees = len(pooled) - 1
    return UnevenTest(statistic, degrees, chi_square_tail(statistic, degrees), effect, PValueMethod.CHI_SQUARE)


# Distributions that the closed forms need: beta limits, and exact tests on counts. Standard library only.

# Terms of the continued fraction; it converges in a few dozen, and for millions of trials in about their square root.
_TERMS = 5_000
# Beyond so many throws binomial chances are the beta distribution's; whole numbers would have too many digits.
_MOST_THROWS = 1_000
_TINY = 1e-300
# Outcomes as unlikely as the observed one are counted with it, in spite of rounding.
_LOG_TOLERANCE = 1e-9
_NEGLIGIBLE = 1e-17


def beta_cdf(x: float, a: float, b: float) -> float:
    """The share of Beta(a, b) below x: the continued fraction of the incomplete beta function (Lentz)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_cdf(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    numerator, denominator = 1.0, 1 - (a + b) * x / (a + 1)
    denominator = 1 / (denominator if abs(denominator) > _TINY else _TINY)
    fraction = denominator
    for step in range(1, _TERMS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        before = fraction
        for term in (even, odd):
            denominator = 1 + term * denominator
            denominator = 1 / (denominator if abs(denominator) > _TINY else _TINY)
            numerator = 1 + term / numerator
            numerator = numerator if abs(numerator) > _TINY else _TINY
            fraction *= denominator * numerator
        if abs(fraction - before) < 1e-16 * abs(fraction):
            break
    return math.exp(log_front) * fraction / a


@lru_cache(maxsize=65_536)
def beta_quantile(probability: float, a: float, b: float) -> float:
    """The x that a share `probability` of Beta(a, b) lies below, by bisection to the last digit."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if beta_cdf(middle, a, b) < probability else (low, middle)
    return (low + high) / 2


def jeffreys_limits(hits: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Jeffreys' interval of a share; its lower end is 0 without hits and its upper end 1 without misses."""
    tail = (1 - level) / 2
    low = 0.0 if hits <= 0 else beta_quantile(tail, hits + 0.5, trials - hits + 0.5)
    high = 1.0 if hits >= trials else beta_quantile(1 - tail, hits + 0.5, trials - hits + 0.5)
    return low, high


def student_two_sided(t: float, degrees: float) -> float:
    """The chance of a t value at least as far from nought, also where it is tiny."""
    return min(1.0, beta_cdf(degrees / (degrees + t * t), degrees / 2, 0.5))


def binomial_two_sided(hits: int, trials: int) -> float:
    """The exact p-value of `hits` heads in `trials` throws of a fair coin; 1 without throws."""
    if trials == 0:
        return 1.0
    at_most, _ = _fewer_heads(min(hits, trials - hits), trials)
    return min(1.0, 2 * at_most)


def mid_p(hits: int, trials: int) -> float:
    """McNemar's mid-p: half of the observed outcome's own chance counts, so that the test is not too shy."""
    if trials == 0:
        return 1.0
    at_most, exactly = _fewer_heads(min(hits, trials - hits), trials)
    return min(1.0, 2 * at_most - exactly)


def _fewer_heads(heads: int, throws: int) -> tuple[float, float]:
    """The chances of at most so many heads, and of exactly so many."""
    if throws <= _MOST_THROWS:
        at_most = sum(math.comb(throws, k) for k in range(heads + 1))
        return at_most / 2**throws, math.comb(throws, heads) / 2**throws
    exactly = math.exp(log_choose(throws, heads) - throws * math.log(2))
    return beta_cdf(0.5, throws - heads, heads + 1), exactly


def hypergeometric_p(drawn: Sequence[float], pool: Sequence[int], effects: Sequence[float] = ()) -> float:
    """How likely a random draw of as many items strays from the pool's verdicts as far as this one did.

    `drawn[k]` of `pool[k]` items with verdict k. Exact with two verdicts; with more, every verdict against the rest
    and the smallest p-value times the number of verdicts (Bonferroni). `effects[k]`: how many labels are worth one,
    for verdict k, because whole questions were drawn.
    """
    each = effects or [1.0] * len(pool)
    sizes = [(n, total, effect) for n, total, effect in zip(drawn, pool, each, strict=True) if total]
    if len(sizes) < 2:
        return 1.0
    labels, items = sum(n for n, _, _ in sizes), sum(total for _, total, _ in sizes)
    tests = sizes[:1] if len(sizes) == 2 else sizes
    p_values = [
        _hypergeometric_two_sided(round(n / effect), round(labels / effect), total, items) for n, total, effect in tests
    ]
    return min(1.0, len(tests) * min(p_values))


def _hypergeometric_two_sided(observed: int, drawn: int, good: int, items: int) -> float:
    """Over all outcomes that are no likelier than the observed one: its own tail, and the other one from there on."""
    least, most = max(0, drawn - (items - good)), min(drawn, good)

    def log_chance(k: int) -> float:
        return log_choose(good, k) + log_choose(items - good, drawn - k) - log_choose(items, drawn)

    limit = log_chance(observed) + _LOG_TOLERANCE
    mode = min(most, max(least, (drawn + 1) * (good + 1) // (items + 2)))
    if log_chance(mode) <= limit:
        return 1.0
    step = 1 if observed < mode else -1
    # Chances fall from the mode on: the first outcome beyond it that is as unlikely, by bisection.
    near, far = mode, most if step == 1 else least
    if log_chance(far) > limit:
        return _tail(log_chance, observed, -step, least, most)
    while abs(far - near) > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if log_chance(middle) > limit else (near, middle)
    return min(1.0, _tail(log_chance, observed, -step, least, most) + _tail(log_chance, far, step, least, most))


def _tail(log_chance: Callable[[int], float], start: int, step: int, least: int, most: int) -> float:
    """From there outwards, for as long as there is anything to add."""
    total, k = 0.0, start
    while least <= k <= most:
        chance = math.exp(log_chance(k))
        total += chance
        if chance <= total * _NEGLIGIBLE:
            break
        k += step
    return total


def log_choose(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
