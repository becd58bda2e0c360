"""Small regressions in closed form: least squares, logistic by Newton, and the errors that clusters leave.

one home of the formulas: HC3 (MacKinnon & White 1985), the cluster sandwich (Liang & Zeger 1986)
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import student_quantile
from mixseek.stats.intervals import Interval, IntervalMethod

Matrix = list[list[float]]
# Newton's steps; twenty are plenty where there is a maximum at all.
_MOST_STEPS = 100
_SMALL_STEP = 1e-11
# A pivot below this share of its own diagonal: columns that say the same.
_SINGULAR = 1e-11


def inverse(matrix: Sequence[Sequence[float]]) -> Matrix | None:
    """The inverse of a symmetric positive definite matrix, by Cholesky; None where it is singular."""
    size = len(matrix)
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            rest = matrix[i][j] - sum(map(float.__mul__, lower[i][:j], lower[j][:j]))
            if i != j:
                lower[i][j] = rest / lower[j][j]
            elif rest <= _SINGULAR * abs(matrix[i][i]) or matrix[i][i] <= 0:
                return None
            else:
                lower[i][i] = math.sqrt(rest)
    # Columns of the triangle's inverse, then their products.
    columns = [[0.0] * size for _ in range(size)]
    for k in range(size):
        columns[k][k] = 1 / lower[k][k]
        for i in range(k + 1, size):
            columns[k][i] = -sum(map(float.__mul__, lower[i][k:i], columns[k][k:i])) / lower[i][i]
    return [
        [sum(map(float.__mul__, columns[i][max(i, j) :], columns[j][max(i, j) :])) for j in range(size)]
        for i in range(size)
    ]


def times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    """The matrix applied to the vector."""
    return [math.fsum(map(float.__mul__, row, vector)) for row in matrix]


def sandwich(bread: Sequence[Sequence[float]], scores: Iterable[Mapping[int, float]]) -> Matrix:
    """Bread · Σ s sᵀ · bread; each score is sparse, by the place of its parameter."""
    size = len(bread)
    meat = [[0.0] * size for _ in range(size)]
    for score in scores:
        for i, first in score.items():
            row = meat[i]
            for j, second in score.items():
                row[j] += first * second
    half = [times(meat, row) for row in bread]
    return [times(bread, row) for row in half]


def logistic(value: float) -> float:
    """The logistic function, without overflow however far out."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    small = math.exp(value)
    return small / (1 + small)


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients with standard errors: of independent rows (of a line also HC3), and over clusters."""

    n: int
    clusters: int
    coefficients: Sequence[float]
    se: Sequence[float]
    clustered_se: Sequence[float]
    hc3: Sequence[float] | None = None

    def interval(self, place: int, level: float = 0.95) -> Interval | None:
        """The interval over clusters, with the factor for few of them; None with one cluster, which has no spread."""
        if self.clusters < 2 or not self.clustered_se[place]:
            return None
        few = math.sqrt(self.clusters / (self.clusters - 1))
        half = student_quantile((1 + level) / 2, self.clusters - 1) * few * self.clustered_se[place]
        middle = self.coefficients[place]
        return Interval(middle - half, middle + half, level, IntervalMethod.SANDWICH)


@dataclass(frozen=True, slots=True)
class Row:
    """One observation: its predictors with the 1 of the intercept, its value, and what it resembles."""

    x: Sequence[float]
    y: float
    cluster: Hashable = None


def least_squares(rows: Sequence[Row]) -> Fit | None:
    """None with fewer rows than coefficients and one, or where predictors say the same."""
    if not rows or len(rows) <= len(rows[0].x):
        return None
    size, n = len(rows[0].x), len(rows)
    bread = inverse([[math.fsum(row.x[i] * row.x[j] for row in rows) for j in range(size)] for i in range(size)])
    if bread is None:
        return None
    coefficients = times(bread, [math.fsum(row.x[i] * row.y for row in rows) for i in range(size)])
    left, inflated = 0.0, list[dict[int, float]]()
    scores: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0] * size)
    for row in rows:
        residual = row.y - math.fsum(map(float.__mul__, row.x, coefficients))
        left += residual * residual
        leverage = math.fsum(map(float.__mul__, row.x, times(bread, row.x)))
        if leverage >= 1 - _SINGULAR:
            # A point that the line must go through says nothing about how far others stray from it.
            return None
        inflated.append({i: residual * x / (1 - leverage) for i, x in enumerate(row.x)})
        scores[row.cluster] = [score + residual * x for score, x in zip(scores[row.cluster], row.x, strict=True)]
    variance = left / (n - size)
    return Fit(
        n,
        len(scores),
        coefficients,
        [math.sqrt(variance * bread[i][i]) for i in range(size)],
        _roots(sandwich(bread, [dict(enumerate(score)) for score in scores.values()])),
        _roots(sandwich(bread, inflated)),
    )


def _roots(covariance: Matrix) -> list[float]:
    return [math.sqrt(max(0.0, covariance[i][i])) for i in range(len(covariance))]


def logit(rows: Sequence[Row]) -> Fit | None:
    """The fit of y in 0..1, by Newton.

    None where predictors say the same, or part the outcomes without an exception.
    """
    if not rows:
        return None
    size = len(rows[0].x)
    coefficients = [0.0] * size
    for _ in range(_MOST_STEPS):
        chances = [logistic(math.fsum(map(float.__mul__, row.x, coefficients))) for row in rows]
        hessian = [
            [
                math.fsum(p * (1 - p) * row.x[i] * row.x[j] for p, row in zip(chances, rows, strict=True))
                for j in range(size)
            ]
            for i in range(size)
        ]
        bread = inverse(hessian)
        if bread is None:
            return None
        gradient = [
            math.fsum((row.y - p) * row.x[i] for p, row in zip(chances, rows, strict=True)) for i in range(size)
        ]
        step = times(bread, gradient)
        longest = max(abs(math.fsum(map(float.__mul__, row.x, step))) for row in rows)
        if longest < _SMALL_STEP:
            break
        # Two logits at most: a first leap must not land where everything is certain.
        shrink = min(1.0, 2.0 / longest)
        coefficients = [value + shrink * change for value, change in zip(coefficients, step, strict=True)]
    else:
        # Where the outcomes are told apart without an exception, steps to infinity never end.
        return None
    scores: defaultdict[Hashable, list[float]] = defaultdict(lambda: [0.0] * size)
    for p, row in zip(chances, rows, strict=True):
        scores[row.cluster] = [score + (row.y - p) * x for score, x in zip(scores[row.cluster], row.x, strict=True)]
    clustered = sandwich(bread, [dict(enumerate(score)) for score in scores.values()])
    return Fit(len(rows), len(scores), coefficients, _roots(bread), _roots(clustered))
