"""How far strengths can be told apart: intervals, ranges of ranks and how certain the first ones are.

Intervals come from the sandwich over questions, with Student's t; where questions show next to no difference, as where
every pair is a tie, from what they may have failed to show. Ranges of ranks come from tested differences (Mogstad,
Romano, Shaikh & Wilhelm 2024).
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import student_quantile, student_two_sided
from mixseek.stats.intervals import Interval, IntervalMethod
from mixseek.stats.regression import Matrix, times
from mixseek.stats.strengths.maximum import Maximum
from mixseek.stats.strengths.model import EQUAL, Standing, Strengths
from mixseek.stats.uneven import holm_adjusted

# With fewer questions there is no telling how much they differ; with fewer than the second number their spread may come
# out next to nothing by chance, and is at least that of independent comparisons.
_FEWEST_QUESTIONS = 5
_FEW_QUESTIONS = 20
# Where a system won or lost something on fewer questions than this, ties hide how much its questions differ.
_FEW_DECIDED = 5
# Of the variance that independent comparisons would have: less is the rounding of questions that are all alike.
_NO_SPREAD = 1e-9


def rank_systems(board: Strengths, fit: Maximum, level: float) -> Strengths:
    """The board in the order of its strengths, with what can be said of each place."""
    order = sorted(range(len(board.names)), key=lambda place: (-round(fit.values[place], 9), board.names[place]))
    plain = {standing.name: standing for standing in board.standings}
    known = [plain[name] for name in board.names]
    differences = _Differences(
        fit, [standing.questions for standing in known], [standing.decided for standing in known], level
    )
    standings: list[Standing] = []
    rank, first_of_rank = 0, math.inf
    for number, place in enumerate(order, 1):
        value = fit.values[place]
        if first_of_rank - value > EQUAL:
            rank, first_of_rank = number, value
        better, worse = differences.clearly_apart(place, 1 - level)
        standing = replace(
            plain[board.names[place]],
            strength=value,
            fisher_se=math.sqrt(max(0.0, fit.bread[place][place])),
            rank=rank,
            best=1 + better,
            worst=len(order) - worse,
        )
        spread = differences.spread(place)
        if spread is not None:
            half = student_quantile((1 + level) / 2, spread.degrees) * spread.se
            interval = Interval(value - half, value + half, level, spread.method)
            standing = replace(standing, se=spread.se, interval=interval)
        standings.append(standing)
    slope_se = math.sqrt(max(0.0, fit.covariance[-1][-1])) if fit.has_slope and fit.covariance is not None else None
    return replace(
        board,
        standings=standings,
        length_slope=fit.values[-1] if fit.has_slope else None,
        length_se=slope_se,
        certainties=differences.certainties(order),
    )


@dataclass(frozen=True, slots=True)
class _Spread:
    """The standard error of one strength, or of the difference of two; what follows it has Student's t."""

    se: float
    degrees: int
    method: IntervalMethod


@dataclass(frozen=True, slots=True)
class _Differences:
    """How far single strengths, and any two of them, can be told apart; `questions` and `decided` ones of each."""

    fit: Maximum
    questions: Sequence[int]
    decided: Sequence[int]
    level: float

    def spread(self, *places: int) -> _Spread | None:
        """The spread of one strength, or of the difference of two; None: unknown."""
        question_count = min(self.questions[place] for place in places)
        if self.fit.covariance is None or question_count < _FEWEST_QUESTIONS:
            return None
        variance, independent = (variance_of(matrix, *places) for matrix in (self.fit.covariance, self.fit.bread))
        if question_count < _FEW_QUESTIONS:
            variance = max(variance, independent)
        se, method = math.sqrt(variance), IntervalMethod.SANDWICH
        if variance <= _NO_SPREAD * independent or max(self.decided[place] for place in places) < _FEW_DECIDED:
            unseen = self._unseen(question_count, *places) / student_quantile((1 + self.level) / 2, question_count - 1)
            if unseen > se:
                se, method = unseen, IntervalMethod.RULE_OF_THREE
        return _Spread(se, question_count - 1, method)

    def _unseen(self, question_count: int, *places: int) -> float:
        """How far a strength, or the difference of two, would move if some questions are unlike those that were asked.

        A share of questions that `asked` of them fail to show with the chance 1 − level, all won by the first and lost
        by the second, or the other way round.
        """
        share = 1 - math.pow(1 - self.level, 1 / question_count)
        first, second = places[0], places[-1]
        ways = ((first, second), (second, first)) if first != second else ((first, None), (None, first))
        return share * max(abs(self._moved(places, winner, loser)) for winner, loser in ways)

    def _moved(self, places: Sequence[int], winner: int | None, loser: int | None) -> float:
        size = len(self.questions)
        gained = [0.0] * len(self.fit.values)
        for place in range(size):
            if winner is not None and place != winner:
                gained[winner] += self.fit.open[winner][place]
                gained[place] -= self.fit.open[winner][place]
            if loser is not None and place not in (winner, loser):
                gained[loser] -= self.fit.open[place][loser]
                gained[place] += self.fit.open[place][loser]
        moved = times(self.fit.bread, gained)
        return moved[places[0]] - (moved[places[-1]] if len(places) > 1 else 0.0)

    def p_value(self, first: int, second: int) -> float:
        """Two-sided, that two are as strong."""
        spread = self.spread(first, second)
        if spread is None or spread.se <= 1e-9:
            return 1.0
        return student_two_sided((self.fit.values[first] - self.fit.values[second]) / spread.se, spread.degrees)

    def clearly_apart(self, place: int, error: float) -> tuple[int, int]:
        """How many of the others are better, and how many worse; all of these tests together err in 5 % (Holm)."""
        values = self.fit.values
        others = [other for other in range(len(self.questions)) if other != place]
        tested = holm_adjusted([self.p_value(place, other) for other in others])
        clear = [values[other] - values[place] for other, p in zip(others, tested, strict=True) if p < error]
        return sum(lead > 0 for lead in clear), sum(lead < 0 for lead in clear)

    def certainties(self, order: Sequence[int]) -> tuple[float, ...]:
        """Bonferroni: the chances of each wrong order across the line, together, are what is left to doubt."""
        wrong = {(i, j): self.p_value(i, j) / 2 for place, i in enumerate(order) for j in order[place + 1 :]}
        return tuple(
            max(0.0, 1 - math.fsum(wrong[i, j] for i in order[:count] for j in order[count:]))
            for count in range(1, len(order))
        )


def variance_of(covariance: Matrix, *places: int) -> float:
    """The variance of one strength, or of the difference of two."""
    first, second = places[0], places[-1]
    if first == second:
        return max(0.0, covariance[first][first])
    return max(0.0, covariance[first][first] + covariance[second][second] - 2 * covariance[first][second])
