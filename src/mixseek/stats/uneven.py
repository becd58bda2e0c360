"""Whether a rate differs between groups, or only seems to: an even spread is tested, with honest p-values."""

import bisect
import itertools
import math
from collections.abc import Sequence
from enum import StrEnum
from random import Random

from mixseek.domain.counts import UnitSums
from mixseek.lazy_dataclass import dataclass

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
    """Pearson's statistic of a table with two rows, hits and the rest; the columns are the groups."""
    rate = hits / trials
    return sum(
        (count - size * rate) ** 2 / (size * rate * (1 - rate)) for count, size in zip(counts, sizes, strict=True)
    )


def _exact_p(observed: float, sizes: Sequence[int], hits: int) -> float:
    """The chance over all tables with these margins, each weighted by its chance."""
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
    """The test of thousands of hits with a few tiny groups: those together, so that the distribution fits."""
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
