"""Two systems on the same questions: the mean difference, and tests of whether there is one.

One value a question and system; what several items of one question say is averaged before it comes here."""

import math
from collections import Counter
from enum import StrEnum

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.difference import MOST_FLIPPED, sign_flip_p
from mixseek.stats.distributions import binomial_two_sided, mid_p, student_quantile, student_two_sided
from mixseek.stats.intervals import Interval, IntervalMethod
from mixseek.stats.ordering import PairCounts, pearson


class DifferenceTest(StrEnum):
    """Named with every p-value of a difference."""

    MCNEMAR = "McNemar mid-p"
    SIGN_FLIP = "sign-flip permutation"
    STUDENT = "paired Student t"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The first system minus the second. `interval` and `t_p` are None where nothing varies, or with one question.

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
        beyond = self.interval is not None and self.interval.leaves_out_nought
        return beyond and self.p_value < 0.05


def paired_test(pairs: PairCounts, level: float = 0.95) -> PairedTest | None:
    """The test of values of the first and the second system on the same questions, counted; None without a question."""
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
    elif better + worse <= MOST_FLIPPED:
        moves = [difference for difference, count in differences.items() for _ in range(count)]
        p_value, method = sign_flip_p(moves), DifferenceTest.SIGN_FLIP
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
