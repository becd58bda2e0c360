"""The maximum of the likelihood by Newton's steps, and its covariance over questions.

Comparisons of one question resemble each other: the covariance is the sandwich of Liang & Zeger 1986.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.regression import Matrix, inverse, logistic, sandwich, times
from mixseek.stats.strengths.model import EQUAL, Comparison, StrengthState

_MOST_STEPS = 200
# In logits: what is left after such a step is its square.
_SMALL_STEP = 1e-11


@dataclass(frozen=True, slots=True)
class Maximum:
    """Parameters, the inverse of their information, and the covariance over questions (None with one question).

    The last parameter is the slope of length where there is one; strengths sum to nought in all three. `open[i][j]` is
    how much more than expected i would have won, had it won every comparison with j.
    """

    values: Sequence[float]
    bread: Matrix
    covariance: Matrix | None
    has_slope: bool
    open: Matrix


def find_maximum(
    comparisons: Sequence[Comparison], names: Sequence[str], *, with_length: bool
) -> Maximum | StrengthState:
    """A state where length alone tells wins from losses, or where it goes with who wrote it."""
    places = {name: place for place, name in enumerate(names)}
    grouped = group_comparisons(comparisons, places, with_length=with_length)
    strengths, size = len(names), len(names) + with_length
    values = [0.0] * size
    for number in range(_MOST_STEPS):
        gradient, inverse = _centred(grouped, values, strengths)
        if inverse is None:
            return StrengthState.SEPARATED if number else StrengthState.CONFOUNDED
        bread = inverse
        step = times(bread, gradient)
        slope = step[-1] if with_length else 0.0
        longest = max(abs(step[i] - step[j] + slope * length) for i, j, length in grouped)
        # Two logits at most: a first leap must not land where everything is certain.
        shrink = min(1.0, 2.0 / longest) if longest else 1.0
        values = [value + shrink * change for value, change in zip(values, step, strict=True)]
        if longest < _SMALL_STEP:
            break
    else:
        # Without length there is a maximum, which rounding keeps from being hit; with it, steps to infinity never end.
        if with_length and longest > EQUAL:
            return StrengthState.SEPARATED
    scores: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for comparison in comparisons:
        i, j = places[comparison.first], places[comparison.second]
        length = (comparison.length or 0.0) if with_length else 0.0
        slope = values[-1] * length
        surprise = comparison.score - logistic(values[i] - values[j] + slope)
        score = scores[comparison.question]
        score[i] += surprise
        score[j] -= surprise
        if with_length:
            score[strengths] += surprise * length
    covariance = None
    if len(scores) > 1:
        few = len(scores) / (len(scores) - 1)
        covariance = [[few * cell for cell in row] for row in sandwich(bread, scores.values())]
    return Maximum(values, bread, covariance, with_length, _open_wins(grouped, values, strengths))


def _open_wins(grouped: "Grouped", values: Sequence[float], strengths: int) -> Matrix:
    matrix = [[0.0] * strengths for _ in range(strengths)]
    for (i, j, length), (count, _) in grouped.items():
        slope = values[-1] * length if len(values) > strengths else 0.0
        chance = logistic(values[i] - values[j] + slope)
        matrix[i][j] += count * (1 - chance)
        matrix[j][i] += count * chance
    return matrix


# Places of two systems and the difference in length, to how many comparisons there were and what the first won.
Grouped = Mapping[tuple[int, int, float], Sequence[float]]


def group_comparisons(
    comparisons: Sequence[Comparison], places: Mapping[str, int], *, with_length: bool = False
) -> Grouped:
    """Those that say the same, together."""
    grouped: defaultdict[tuple[int, int, float], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for comparison in comparisons:
        cell = grouped[
            places[comparison.first], places[comparison.second], (comparison.length or 0.0) if with_length else 0.0
        ]
        cell[0] += 1
        cell[1] += comparison.score
    return grouped


def derivatives(grouped: Grouped, values: Sequence[float], strengths: int) -> tuple[list[float], Matrix]:
    """The gradient of the likelihood and its information; beyond `strengths` there is the slope of length."""
    size = len(values)
    gradient = [0.0] * size
    information = [[0.0] * size for _ in range(size)]
    for (i, j, length), (count, score) in grouped.items():
        slope = values[-1] * length if size > strengths else 0.0
        chance = logistic(values[i] - values[j] + slope)
        surprise, weight = score - count * chance, count * chance * (1 - chance)
        parts = [(i, 1.0), (j, -1.0)]
        if size > strengths:
            parts.append((strengths, length))
        for a, x in parts:
            gradient[a] += x * surprise
            for b, y in parts:
                information[a][b] += x * y * weight
    return gradient, information


def _centred(grouped: Grouped, values: Sequence[float], strengths: int) -> tuple[list[float], Matrix | None]:
    """The gradient, and the inverse information among strengths that sum to nought."""
    gradient, information = derivatives(grouped, values, strengths)
    # Adding the same to all strengths changes no chance; a ridge along that direction alone makes this invertible.
    ridge = max(information[k][k] for k in range(strengths)) / strengths
    for a in range(strengths):
        for b in range(strengths):
            information[a][b] += ridge
    bread = inverse(information)
    if bread is not None:
        for a in range(strengths):
            for b in range(strengths):
                bread[a][b] -= 1 / (ridge * strengths * strengths)
    return gradient, bread
