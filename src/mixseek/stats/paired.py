"""Two systems on the same questions: the mean difference, and tests of whether there is one.

One value a question and system; what several items of one question say is averaged before it comes here.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from mixseek.stats.association import PairCounts, pearson
from mixseek.stats.distributions import binomial_two_sided, mid_p, student_two_sided
from mixseek.stats.intervals import Interval, IntervalMethod, student_quantile

# Within this many assignments of signs all are looked at; beyond, so many are drawn.
_MOST_ASSIGNMENTS = 1 << 12
_DRAWS = 1_999
# Of work: draws times different sizes of a difference. Beyond it, t and the signs test the same to three digits.
_MOST_STEPS = 8_000_000
# A sum as far from nought as the observed one is counted as such, in spite of rounding.
_TOLERANCE = 1e-9


class DifferenceTest(StrEnum):
    """Named with every p-value of a difference."""

    MCNEMAR = "McNemar mid-p"
    SIGN_FLIP = "sign-flip permutation"
    STUDENT = "paired Student t"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Of the first system minus the second. `interval` and `t_p` are None where nothing varies, or with one question.

    `exact_p` and `mid_p` (McNemar) are of right-or-wrong values only; `p_value` is the one to quote, by `method`.
    """

    questions: int
    mean: float
    better: int
    worse: int
    p_value: float
    method: DifferenceTest
    se: float | None = None
    interval: Interval | None = None
    t_p: float | None = None
    correlation: float | None = None
    exact_p: float | None = None
    mid_p: float | None = None

    @property
    def is_clear(self) -> bool:
        """Interval and test say the same: a p-value below .05 beside an interval that holds nought is no finding."""
        beyond = self.interval is not None and not self.interval.low <= 0 <= self.interval.high
        return beyond and self.p_value < 0.05


def paired_test(pairs: PairCounts, *, rng: Random, level: float = 0.95) -> PairedTest | None:
    """From values of the first and the second system on the same questions, counted; None without a question."""
    differences = Counter[float]()
    for (x, y), count in pairs.items():
        differences[x - y] += count
    n = differences.total()
    if not n:
        return None
    mean = math.fsum(d * count for d, count in differences.items()) / n
    better = sum(count for d, count in differences.items() if d > 0)
    worse = sum(count for d, count in differences.items() if d < 0)
    is_binary = all(value in (0, 1) for pair in pairs for value in pair)
    squares = math.fsum(count * (d - mean) ** 2 for d, count in differences.items())
    se = math.sqrt(squares / (n - 1) / n) if n > 1 else None
    interval = t_p = None
    if se is not None and se > 1e-12:
        half = student_quantile((1 + level) / 2, n - 1) * se
        interval = Interval(mean - half, mean + half, level, IntervalMethod.STUDENT)
        t_p = student_two_sided(mean / se, n - 1)
    p_value, method = t_p, DifferenceTest.STUDENT
    if is_binary:
        p_value, method = mid_p(better, better + worse), DifferenceTest.MCNEMAR
    elif (flipped := sign_flip_p(differences, rng=rng)) is not None:
        p_value, method = flipped, DifferenceTest.SIGN_FLIP
    return PairedTest(
        n,
        mean,
        better,
        worse,
        1.0 if p_value is None else p_value,
        method,
        se=se,
        interval=interval,
        t_p=t_p,
        correlation=pearson(pairs),
        exact_p=binomial_two_sided(better, better + worse) if is_binary else None,
        mid_p=mid_p(better, better + worse) if is_binary else None,
    )


def sign_flip_p(differences: Mapping[float, int], *, rng: Random) -> float | None:
    """How often random signs give a sum as far from nought; exact for few questions. None where it would take long.

    Differences of one size flip together: how many of them are positive is a binomial number.
    """
    sizes = Counter[float]()
    for difference, count in differences.items():
        if abs(difference) > _TOLERANCE:
            sizes[abs(difference)] += count
    questions = sizes.total()
    if not questions:
        return 1.0
    observed = abs(math.fsum(d * count for d, count in differences.items())) * (1 - _TOLERANCE) - _TOLERANCE
    assignments = math.prod(count + 1 for count in sizes.values()) if len(sizes) < 64 else math.inf
    if assignments <= _MOST_ASSIGNMENTS:
        return _exact_p(sizes, observed)
    bits = sum(max(1, count // 64) for count in sizes.values())
    if bits * _DRAWS > _MOST_STEPS:
        return None
    parts = list(sizes.items())
    reached = 0
    for _ in range(_DRAWS):
        total = sum(size * (2 * rng.getrandbits(count).bit_count() - count) for size, count in parts)
        reached += abs(total) >= observed
    return (reached + 1) / (_DRAWS + 1)


def _exact_p(sizes: Mapping[float, int], observed: float) -> float:
    """Over the number of positive signs among the differences of each size."""
    sums = Counter[float]({0.0: 1})
    for size, count in sizes.items():
        grown = Counter[float]()
        for total, ways in sums.items():
            for positive in range(count + 1):
                grown[total + size * (2 * positive - count)] += ways * math.comb(count, positive)
        sums = grown
    reached = sum(ways for total, ways in sums.items() if abs(total) >= observed)
    return reached / float(2 ** sum(sizes.values()))
