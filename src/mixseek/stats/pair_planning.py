"""Which pairs to compare next, so that the order of the systems is known from few comparisons.

Each next pair is the one that takes most doubt away: doubt about the order of two systems is the chance that it is
the other way round, and a comparison narrows whatever it tells about, not only its own two. Pairs are chosen round by
round, each round from what all earlier rounds said; the same answers and the same seed give the same pairs."""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from hashlib import sha256
from statistics import NormalDist

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.regression import Matrix, inverse, logistic, times
from mixseek.stats.strengths.maximum import derivatives, group_comparisons
from mixseek.stats.strengths.model import Comparison
from mixseek.stats.strengths.ranks import variance_of

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
    pairs = [(match.first, match.second) for match in comparisons] + [
        (match.first, match.second) for match in candidates
    ]
    names = sorted({name for pair in pairs for name in pair})
    places = {name: place for place, name in enumerate(names)}
    waiting = _Waiting(comparisons, candidates, places, seed)
    values, spread = _fit(comparisons, places)
    doubt = _doubt(values, spread, top)
    chosen: list[Candidate] = []
    while len(chosen) < count and waiting.pairs:
        half = [times(doubt, row) for row in spread]
        worth = [times(spread, row) for row in half]
        pair = max(waiting.pairs, key=lambda pair: (_gain(pair, values, spread, worth), waiting.lot[pair]))
        chosen.append(waiting.take(pair))
        spread = _spread_after(spread, pair, values)
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
        for comparison in comparisons:
            self._note(comparison.question, places[comparison.first], places[comparison.second])
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
        """The one of its questions where these two, then any, were compared least: each shows something else."""
        i, j = pair
        candidates = self.pairs[pair]
        used = self._used
        best = min(
            candidates,
            key=lambda candidate: (
                used[candidate.question, i] + used[candidate.question, j],
                used[candidate.question],
                _drawn(self._seed, candidate.key),
            ),
        )
        candidates.remove(best)
        if not candidates:
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


def _spread_after(spread: Matrix, pair: tuple[int, int], values: Sequence[float]) -> Matrix:
    """How far strengths may be off once the two have been compared (Sherman and Morrison)."""
    i, j = pair
    chance = logistic(values[i] - values[j])
    weight = chance * (1 - chance)
    moved = [row[i] - row[j] for row in spread]
    scale = weight / (1 + weight * (moved[i] - moved[j]))
    return [[cell - scale * moved[a] * moved[b] for b, cell in enumerate(row)] for a, row in enumerate(spread)]
