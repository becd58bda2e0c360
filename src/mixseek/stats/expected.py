"""Whether the expected score of a distribution is nearer to people than the one score that a judge gives.

one home of the formulas: root mean square error; Spearman 1904; jackknife over questions for their differences
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.estimates import FEWEST_CLUSTERS
from mixseek.stats.intervals import Interval, jackknife, question_groups
from mixseek.stats.ordering import spearman


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """One item on the judge's scale: the mean of its distribution, the score that it gave, its likeliest level where
    levels are known, and what people say: the mean of those who rated it."""

    expected: float
    given: float
    likeliest: float | None
    people: float
    question: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Closeness:
    """How near scores are to people's; Spearman's coefficient is None where one of the two never varies."""

    rmse: float
    spearman: float | None


@dataclass(frozen=True, slots=True)
class Gain:
    """How much better the expected score is: positive where it is nearer to people, or orders items more alike."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class ExpectedScores:
    """The expected score beside the given one and the likeliest level, against people. `gains` are over the given
    score; intervals are over questions, and absent where there are fewer than five."""

    items: int
    questions: int
    expected: Closeness
    given: Closeness
    likeliest: Closeness | None
    rmse_gain: Gain
    spearman_gain: Gain
    unlike: int  # items whose given score is not the likeliest level


def compare_expected(items: Sequence[ScoredItem]) -> ExpectedScores | None:
    """None without an item that people rated."""
    if not items:
        return None
    expected, given = closeness(items, _expected), closeness(items, _given)
    likeliest = None if any(item.likeliest is None for item in items) else closeness(items, _likeliest)
    groups = question_groups(items, lambda item: item.question)
    questions = len({item.question for item in items})
    rests: list[Sequence[ScoredItem]] = []
    if questions >= FEWEST_CLUSTERS:
        rests = [[item for other in groups if other is not group for item in other] for group in groups]
    without = [(closeness(rest, _expected), closeness(rest, _given)) for rest in rests]
    rmse = given.rmse - expected.rmse
    order = _difference(expected.spearman, given.spearman)
    return ExpectedScores(
        len(items),
        questions,
        expected,
        given,
        likeliest,
        Gain(rmse, jackknife(rmse, [given.rmse - expected.rmse for expected, given in without], most=math.inf)),
        Gain(order, jackknife(order, [_difference(expected.spearman, given.spearman) for expected, given in without])),
        sum(item.likeliest is not None and item.given != item.likeliest for item in items),
    )


def closeness(items: Sequence[ScoredItem], score: Callable[[ScoredItem], float]) -> Closeness:
    """Against people, by the weights of their labels."""
    total = math.fsum(item.weight for item in items)
    squares = math.fsum(item.weight * (score(item) - item.people) ** 2 for item in items)
    pairs: Counter[tuple[float, float]] = Counter()
    is_even = all(item.weight == items[0].weight for item in items)
    if is_even:
        pairs.update((score(item), item.people) for item in items)
        return Closeness(math.sqrt(squares / total), spearman(pairs))
    weights: defaultdict[tuple[float, float], float] = defaultdict(float)
    scale = len(items) / total
    for item in items:
        weights[score(item), item.people] += item.weight * scale
    return Closeness(math.sqrt(squares / total), spearman(weights))


def _expected(item: ScoredItem) -> float:
    return item.expected


def _given(item: ScoredItem) -> float:
    return item.given


def _likeliest(item: ScoredItem) -> float:
    return item.given if item.likeliest is None else item.likeliest


def _difference(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second
