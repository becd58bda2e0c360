"""What to do next for what it tells: how many labels an interval needs, and which pairs to compare."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import NormalDist

from mixseek.stats.corrected import ASSURANCE, PairSums, expected_half_width, first_holding
from mixseek.stats.estimates import FEWEST_LABELS
from mixseek.stats.intervals import student_quantile
from mixseek.stats.regression import Matrix, inverse, logistic, times
from mixseek.stats.strengths import Comparison, derivatives, group_comparisons, variance_of

# How many labels an interval of a given width needs, before they are made: from labels so far, or from assumptions.
#
# Right or wrong: estimator 1 at the counts to expect. Graded: estimator 2 with the spread of labels around the judges'
# scores. Both for a plain random draw; docs/labels.md says what is assumed where nothing is known.

# What is assumed where nobody has labelled yet: people agree with so many verdicts, and are undecided about the rest.
ASSUMED_AGREEMENT = 0.8
# Of graded labels around the judges' scores, as a share of the scale: a judge that is off by a fifth of it, typically.
ASSUMED_RESIDUAL = 0.2
# Numbers of labels that a curve shows, as far as there are texts.
_LABELS_TRIED = (15, 25, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000)


@dataclass(frozen=True, slots=True)
class PlannedVerdict:
    """Samples of one verdict: their share of all, the share that people will call right, and how many labels say so."""

    verdict: str
    weight: float
    share: float
    labels: int

    @property
    def is_assumed(self) -> bool:
        return not self.labels


@dataclass(frozen=True, slots=True)
class GradedSpread:
    """How labels lie around the judges' scores: `residual` is a standard deviation, all on a scale of 0..1."""

    slope: float
    residual: float
    score_spread: float  # standard deviation of the judges' scores
    labels: int

    @property
    def is_assumed(self) -> bool:
        return not self.labels


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """`needed` is None where not even all labels would do; `design_effect` is what clusters have shown so far."""

    items: int
    half_width: float
    needed: int | None
    curve: tuple[tuple[int, float], ...]
    design_effect: float = 1.0


def plan_labels(
    expected: Callable[[float], float], items: int, half_width: float, design_effect: float = 1.0
) -> LabelPlan:
    """`expected`: the half width to expect of so many independent labels; clustered ones are worth fewer."""

    def width(labels: int) -> float:
        return expected(max(2.0, labels / design_effect))

    steps = sorted({*(step for step in _LABELS_TRIED if step < items), items})
    curve = tuple((labels, width(labels)) for labels in steps)
    reached = first_holding(lambda labels: width(labels) <= half_width, FEWEST_LABELS, items)
    needed = None if reached is None else min(items, math.ceil(reached * ASSURANCE))
    return LabelPlan(items, half_width, needed, curve, design_effect)


def binary_width(verdicts: Sequence[PlannedVerdict], items: int, level: float = 0.95) -> Callable[[float], float]:
    """The half width to expect from a number of labels, by estimator 1."""
    shares = [(one.weight, one.share) for one in verdicts]
    return lambda labels: expected_half_width(shares, items, round(labels), level)


def graded_width(spread: GradedSpread, items: int, level: float = 0.95) -> Callable[[float], float]:
    """Of estimator 2; the judges' own mean of all items does not get better by labels."""

    def width(labels: float) -> float:
        variance = spread.residual**2 / labels + (spread.slope * spread.score_spread) ** 2 / items
        return student_quantile((1 + level) / 2, max(1, round(labels) - 2)) * math.sqrt(variance)

    return width


def spread_of(sums: PairSums) -> GradedSpread:
    """As labels so far show it, or as assumed: fifteen of them are the fewest that say anything."""
    pool = math.sqrt(max(0.0, sums.ff - sums.f**2 / sums.items) / max(1, sums.items - 1)) if sums.items else 0.0
    if sums.labels < FEWEST_LABELS:
        return GradedSpread(1.0, ASSUMED_RESIDUAL, pool, 0)
    n = sums.labels
    total = max(0.0, sums.lyy - sums.ly**2 / n)
    explained = sums.slope * (sums.lfy - sums.lf * sums.ly / n)
    residual = math.sqrt(max(0.0, total - explained) / (n - 2))
    return GradedSpread(sums.slope, residual, pool, round(n))


# Which pairs to compare next, so that the order of the systems is known from few comparisons.
#
# Each next pair is the one that takes most doubt away: doubt about the order of two systems is the chance that it is
# the other way round, and a comparison narrows whatever it tells about, not only its own two. Pairs are chosen round by
# round, each round from what all earlier rounds said; the same answers and the same seed give the same pairs.

# Before anything is known, strengths are taken to differ by about two logits; it keeps all numbers finite and fades.
_PRIOR = 0.25
_STEPS = 50
_SMALL_STEP = 1e-9
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that could be judged, known by its key."""

    key: str
    question: str
    first: str
    second: str


def next_pairs(
    comparisons: Sequence[Comparison],
    candidates: Sequence[Candidate],
    count: int,
    *,
    top: int | None = None,
    seed: int = 0,
) -> list[Candidate]:
    """At most `count` of the candidates, most telling first; `top`: only who belongs to the first so many matters.

    Of one pair of systems, the question that was used least so far; where that leaves a choice, the seed decides.
    """
    pairs = [(one.first, one.second) for one in comparisons] + [(one.first, one.second) for one in candidates]
    names = sorted({name for pair in pairs for name in pair})
    places = {name: place for place, name in enumerate(names)}
    waiting = _Waiting(comparisons, candidates, places, seed)
    values, spread = _fit(comparisons, places)
    doubt = _doubt(values, spread, top)
    chosen: list[Candidate] = []
    while len(chosen) < count and waiting.pairs:
        half = [times(doubt, row) for row in spread]
        worth = [times(spread, row) for row in half]
        pair = max(waiting.pairs, key=lambda one: (_gain(one, values, spread, worth), waiting.lot[one]))
        chosen.append(waiting.take(pair))
        spread = _told(spread, pair, values)
    return chosen


class _Waiting:
    """Candidates by pair, and how often each question was used."""

    def __init__(
        self,
        comparisons: Sequence[Comparison],
        candidates: Sequence[Candidate],
        places: Mapping[str, int],
        seed: int,
    ) -> None:
        self._used: defaultdict[Hashable, int] = defaultdict(int)
        for one in comparisons:
            self._note(one.question, places[one.first], places[one.second])
        self.pairs: dict[tuple[int, int], list[Candidate]] = {}
        for candidate in candidates:
            i, j = sorted((places[candidate.first], places[candidate.second]))
            self.pairs.setdefault((i, j), []).append(candidate)
        self.lot = {pair: _drawn(seed, f"{pair}") for pair in self.pairs}
        self._seed = seed

    def _note(self, question: str, i: int, j: int) -> None:
        for key in (question, (question, i), (question, j)):
            self._used[key] += 1

    def take(self, pair: tuple[int, int]) -> Candidate:
        """Of its questions the one where these two, then any, were compared least: each shows something else."""
        i, j = pair
        own = self.pairs[pair]
        used = self._used
        best = min(
            own,
            key=lambda one: (
                used[one.question, i] + used[one.question, j],
                used[one.question],
                _drawn(self._seed, one.key),
            ),
        )
        own.remove(best)
        if not own:
            del self.pairs[pair]
        self._note(best.question, i, j)
        return best


def _drawn(seed: int, text: str) -> bytes:
    return sha256(f"{seed}\n{text}".encode()).digest()


def _fit(comparisons: Sequence[Comparison], places: Mapping[str, int]) -> tuple[list[float], Matrix]:
    """The likeliest strengths under the prior, and how far they may be off."""
    size, grouped = len(places), group_comparisons(comparisons, places)
    values = [0.0] * size
    spread: Matrix = []
    for _ in range(_STEPS):
        gradient, information = derivatives(grouped, values, size)
        for place, value in enumerate(values):
            gradient[place] -= _PRIOR * value
            information[place][place] += _PRIOR
        spread = inverse(information) or []
        step = times(spread, gradient)
        values = [value + change for value, change in zip(values, step, strict=True)]
        if max(map(abs, step), default=0.0) < _SMALL_STEP:
            break
    return values, spread


def _doubt(values: Sequence[float], spread: Matrix, top: int | None) -> Matrix:
    """How much a narrower difference of each two would help, as the matrix of its quadratic form."""
    size = len(values)
    doubt = [[0.0] * size for _ in range(size)]
    order = sorted(range(size), key=lambda place: -values[place])
    above = set(order[:top]) if top is not None else None
    for a in range(size):
        for b in range(a):
            if above is not None and (a in above) is (b in above):
                continue
            variance = variance_of(spread, a, b)
            weight = _NORMAL.cdf(-abs(values[a] - values[b]) / math.sqrt(variance)) / variance
            doubt[a][a] += weight
            doubt[b][b] += weight
            doubt[a][b] -= weight
            doubt[b][a] -= weight
    return doubt


def _gain(pair: tuple[int, int], values: Sequence[float], spread: Matrix, worth: Matrix) -> float:
    """The doubt that one comparison of the two takes away; rounded, so that a last digit decides nothing."""
    i, j = pair
    chance = logistic(values[i] - values[j])
    weight = chance * (1 - chance)
    return round(variance_of(worth, i, j) * weight / (1 + weight * variance_of(spread, i, j)), 12)


def _told(spread: Matrix, pair: tuple[int, int], values: Sequence[float]) -> Matrix:
    """How far strengths may be off once the two have been compared (Sherman and Morrison)."""
    i, j = pair
    chance = logistic(values[i] - values[j])
    weight = chance * (1 - chance)
    moved = [row[i] - row[j] for row in spread]
    scale = weight / (1 + weight * (moved[i] - moved[j]))
    return [[cell - scale * moved[a] * moved[b] for b, cell in enumerate(row)] for a, row in enumerate(spread)]
