"""Who is stronger, from comparisons of two at a time: Bradley–Terry, a tie counting half for each.

The chance that i beats j is 1/(1 + e^-(θ_i − θ_j)); strengths θ are centred, so that 0 is the average of those on the
board. Comparisons of one question resemble each other: intervals come from the sandwich over questions, with Student's
t; where questions show next to no difference, as where every pair is a tie, from what they may have failed to show.
Without a chain of wins from everyone to everyone the maximum lies at infinity: that is a state, never a number.

one home of the formulas: Bradley & Terry 1952; Ford 1957 (when there is a maximum); Liang & Zeger 1986 (sandwich);
Mogstad, Romano, Shaikh & Wilhelm 2024 (rank ranges from tested differences)
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import combinations

from mixseek.domain.counts import UnitSums
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import student_quantile, student_two_sided
from mixseek.stats.intervals import Interval, IntervalMethod, unit_interval, with_questions
from mixseek.stats.ordering import kendall_tau_b
from mixseek.stats.regression import Matrix, inverse, logistic, sandwich, times
from mixseek.stats.uneven import holm_adjusted
from mixseek.text.messages import Message, message

_MOST_STEPS = 200
# In logits: what is left after such a step is its square.
_SMALL_STEP = 1e-11
# Strengths that differ by less are as strong: the rounding of two that won as much.
_EQUAL = 1e-9
# With fewer questions there is no telling how much they differ; with fewer than the second number their spread may come
# out next to nothing by chance, and is at least that of independent comparisons.
_FEWEST_QUESTIONS = 5
_FEW_QUESTIONS = 20
# Where a system won or lost something on fewer questions than this, ties hide how much its questions differ.
_FEW_DECIDED = 5
# Of the variance that independent comparisons would have: less is the rounding of questions that are all alike.
_NO_SPREAD = 1e-9
# Names that a sentence can hold, and how much of each.
_MOST_NAMED, _NAME_CHARACTERS = 8, 60


class StrengthState(StrEnum):
    """Whether there are strengths at all."""

    ESTIMATED = "estimated"
    NOTHING = "nothing compared"
    APART = "parts that never met"
    ONE_SIDED = "one side won everything"
    # Only beside a covariate: it tells wins from losses without an exception, or says no more than the names do.
    SEPARATED = "length decides everything"
    CONFOUNDED = "length goes with the system"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One verdict about two: `score` is 1 where the first was better, 0 where the second was, 0.5 for a tie.

    `length` is ln of the first one's length minus ln of the second one's; without it, one counts as long as the other.
    """

    question: str
    first: str
    second: str
    score: float
    length: float | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """One on the board. Ranks begin with 1 and are shared by equals; `best` to `worst` holds the true one with 95 %.

    Without strengths there are only the counts, and what follows from strengths is None; with fewer than five questions
    nothing says how far to trust one, and `se` and `interval` are None. `decided` are the questions on which it won or
    lost something; `win_interval` is over questions, None with one question.
    """

    name: str
    comparisons: int
    questions: int
    won: float  # ties are half a win
    ties: int
    decided: int = 0
    win_interval: Interval | None = None
    strength: float | None = None
    se: float | None = None  # over questions
    fisher_se: float | None = None  # as if every comparison were independent
    interval: Interval | None = None
    rank: int | None = None
    best: int | None = None
    worst: int | None = None

    @property
    def win_rate(self) -> float:
        return self.won / self.comparisons


@dataclass(frozen=True, slots=True)
class Strengths:
    """The board, strongest first; by win rate where there are no strengths, and `sentence` says why.

    `parts` are the groups that a refusal names. `wins[i, j]` is what i won against j. `length_slope` is how much one
    unit of `length` moves the logit. `certainties[k - 1]`: at least so certain are the first k the strongest ones, in
    whatever order.
    """

    state: StrengthState
    sentence: Message
    standings: Sequence[Standing]
    comparisons: int
    questions: int
    wins: Mapping[tuple[str, str], float]
    # Of the share that i won against j, over the questions on which they met; None with one question.
    win_intervals: Mapping[tuple[str, str], Interval | None]
    parts: Sequence[Sequence[str]] = ()
    names: Sequence[str] = ()
    certainties: Sequence[float] = ()
    length_slope: float | None = None
    length_se: float | None = None

    @property
    def values(self) -> dict[str, float]:
        """Strengths by name; empty where there are none."""
        return {standing.name: standing.strength for standing in self.standings if standing.strength is not None}


def fit_strengths(comparisons: Sequence[Comparison], *, with_length: bool = False, level: float = 0.95) -> Strengths:
    """The board of all comparisons; `with_length`: what the difference in length explains is taken out."""
    wins: defaultdict[tuple[str, str], float] = defaultdict(float)
    scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    meetings: defaultdict[tuple[str, str], defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for comparison in comparisons:
        for name, other, score in (
            (comparison.first, comparison.second, comparison.score),
            (comparison.second, comparison.first, 1 - comparison.score),
        ):
            scores[name][comparison.question].append(score)
            wins[name, other] += score
            meetings[name, other][comparison.question].append(score)
    names = sorted(scores)
    plain = [_counted(name, scores[name], level) for name in names]
    plain.sort(key=lambda standing: -standing.win_rate)
    questions = len({comparison.question for comparison in comparisons})
    state, sentence, parts = _existence(names, wins)
    intervals = {pair: unit_interval(_win_sums(by_question), level) for pair, by_question in meetings.items()}
    board = Strengths(state, sentence, plain, len(comparisons), questions, dict(wins), intervals, parts, names)
    if state is not StrengthState.ESTIMATED:
        return board
    fit = _newton(comparisons, names, with_length=with_length)
    if isinstance(fit, StrengthState):
        return replace(board, state=fit, sentence=_WITHOUT[fit])
    return _ranked(board, fit, level)


def _win_sums(scores: Mapping[str, Sequence[float]]) -> UnitSums:
    """The sums of scores by question."""
    values = [score for question_scores in scores.values() for score in question_scores]
    sums = UnitSums(
        samples=len(values),
        scored=len(values),
        total=math.fsum(values),
        total_of_squares=math.fsum(score * score for score in values),
    )
    return with_questions(
        sums, [(len(question_scores), math.fsum(question_scores), 1) for question_scores in scores.values()]
    )


def _counted(name: str, scores: Mapping[str, Sequence[float]], level: float) -> Standing:
    """What one has won, from its scores by question."""
    sums = _win_sums(scores)
    return Standing(
        name,
        comparisons=sums.scored,
        questions=len(scores),
        won=sums.total,
        ties=sum(question_scores.count(0.5) for question_scores in scores.values()),
        decided=sum(any(score != 0.5 for score in question_scores) for question_scores in scores.values()),
        win_interval=unit_interval(sums, level),
    )


_WITHOUT = {
    StrengthState.SEPARATED: message(
        "board.separated", "no strengths beside length: the difference in length tells every win from every loss"
    ),
    StrengthState.CONFOUNDED: message(
        "board.confounded", "no strengths beside length: it cannot be told from who wrote the response"
    ),
}


# When there is a maximum.


def _existence(
    names: Sequence[str], wins: Mapping[tuple[str, str], float]
) -> tuple[StrengthState, Message, list[list[str]]]:
    """The state, why there are no strengths, and which groups stand against each other."""
    if not names:
        return StrengthState.NOTHING, message("board.nothing", "no strengths: nothing was compared"), []
    beats: dict[str, set[str]] = {name: set() for name in names}
    meets: dict[str, set[str]] = {name: set() for name in names}
    for (winner, loser), score in wins.items():
        meets[winner].add(loser)
        if score > 0:
            beats[winner].add(loser)
    islands = _parts(names, meets)
    if len(islands) > 1:
        groups = "; ".join(listed(part) for part in islands)
        why = "no strengths: these were never compared with each other: {groups}"
        return StrengthState.APART, message("board.apart", why, groups=groups), islands
    parts = _parts(names, beats)
    if len(parts) == 1:
        how = message("board.estimated", "strengths by Bradley and Terry, ties as half a win")
        return StrengthState.ESTIMATED, how, []
    # One that none of the rest ever took half a point from; there is one, as the parts have no cycle.
    first = next(part for part in parts if not any(beats[name] & set(part) for name in names if name not in part))
    words = "no strengths: {names} won everything against the rest, which no strength is great enough for"
    why = message("board.one_sided", words, names=listed(first))
    return StrengthState.ONE_SIDED, why, [first, *(part for part in parts if part is not first)]


def _parts(names: Sequence[str], edges: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Groups in which everyone reaches everyone along edges, in the order of names."""
    backwards: dict[str, set[str]] = {name: set() for name in names}
    for name, targets in edges.items():
        for other in targets:
            backwards[other].add(name)
    groups: list[list[str]] = []
    placed: set[str] = set()
    for name in names:
        if name not in placed:
            together = _reached(name, edges) & _reached(name, backwards)
            placed |= together
            groups.append(sorted(together))
    return groups


def _reached(start: str, edges: Mapping[str, Collection[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        fresh = set(edges[waiting.pop()]) - reached
        reached |= fresh
        waiting += fresh
    return reached


def listed(names: Sequence[str]) -> str:
    """The first few, shortened, for a sentence; a line break or an escape sequence is shown by its codes."""
    printable = [name if name.isprintable() else repr(name) for name in names[:_MOST_NAMED]]
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return (
        ", ".join(name if len(name) <= _NAME_CHARACTERS else f"{name[:_NAME_CHARACTERS]}…" for name in printable) + more
    )


# The maximum.


@dataclass(frozen=True, slots=True)
class _Maximum:
    """Parameters, the inverse of their information, and the covariance over questions (None with one question).

    The last parameter is the slope of length where there is one; strengths sum to nought in all three. `open[i][j]` is
    how much more than expected i would have won, had it won every comparison with j.
    """

    values: Sequence[float]
    bread: Matrix
    covariance: Matrix | None
    has_slope: bool
    open: Matrix


def _newton(comparisons: Sequence[Comparison], names: Sequence[str], *, with_length: bool) -> _Maximum | StrengthState:
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
        if with_length and longest > _EQUAL:
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
    return _Maximum(values, bread, covariance, with_length, _open_wins(grouped, values, strengths))


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


# The board.


def _ranked(board: Strengths, fit: _Maximum, level: float) -> Strengths:
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
        if first_of_rank - value > _EQUAL:
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

    fit: _Maximum
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


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How alike two boards order those that stand on both; `same` of `pairs` two of them."""

    names: int
    pairs: int
    same: int
    tau_b: float | None


def order_agreement(first: Mapping[str, float], second: Mapping[str, float]) -> OrderAgreement:
    """How far two boards agree, from strengths or means of any scale.

    Two that are as strong on both boards stand in the same order.
    """
    names = sorted(first.keys() & second.keys())
    places = {name: (_level(first, name), _level(second, name)) for name in names}
    same = sum(
        (left[0] > right[0], left[0] < right[0]) == (left[1] > right[1], left[1] < right[1])
        for left, right in combinations(places.values(), 2)
    )
    return OrderAgreement(len(names), math.comb(len(names), 2), same, kendall_tau_b(Counter(places.values())))


def _level(strengths: Mapping[str, float], name: str) -> float:
    """The least of those that are as strong."""
    return min(value for value in strengths.values() if value > strengths[name] - _EQUAL)


# The firsts whose certainty is told.
_TOPS = (1, 3)


@dataclass(frozen=True, slots=True)
class Board:
    """Strengths of systems; beside them with length taken out, and by people, where there is what that needs."""

    source: str
    judges: Sequence[str]
    strengths: Strengths
    controlled: Strengths | None = None
    human: Strengths | None = None
    agreement: OrderAgreement | None = None
    notes: Sequence[str] = ()
    # The rule by which several judges are one, and how many pairs are ties because it found no winner.
    panel: str | None = None
    split: int = 0

    @property
    def certainties(self) -> dict[int, float]:
        """How certain it is that the first ones are the strongest, in whatever order."""
        known = self.strengths.certainties
        return {count: known[count - 1] for count in _TOPS if count <= len(known)}
