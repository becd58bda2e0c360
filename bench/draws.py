"""What `make coverage` simulates: judged items with known truth, some of them labelled, in settings of the field."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from statistics import NormalDist

from mixseek.stats.corrected import LabelledItems, PairSums, ValueScale, corrected_difference, corrected_mean
from mixseek.stats.estimates import Cell, Corrected, Drawing

Pair = tuple[float, float | None]


@dataclass(frozen=True)
class Draw:
    """One replication: scores of all items with labels of some, and the truth; items of one question stand together."""

    truth: float
    pairs: Sequence[Pair]
    drawing: Drawing = Drawing.RANDOM
    scale: ValueScale = field(default_factory=ValueScale)
    is_binary: bool = True
    is_difference: bool = False
    group_size: int = 1
    sizes: Sequence[int] = ()  # of questions, where they differ

    @property
    def groups(self) -> list[Sequence[Pair]]:
        """Items of each question; none where no question repeats."""
        if self.group_size == 1 and not self.sizes:
            return []
        sizes = self.sizes or [self.group_size] * (len(self.pairs) // self.group_size)
        ends = list(accumulate(sizes))
        return [self.pairs[end - size : end] for size, end in zip(sizes, ends, strict=True)]

    @property
    def items(self) -> LabelledItems:
        """As the one rule takes them."""
        groups = self.groups
        return LabelledItems(
            self.drawing,
            self.is_binary,
            self.scale,
            PairSums.of(self.pairs),
            Counter((f, y) for f, y in self.pairs if y is not None),
            cells_of(self.pairs),
            [cells_of(group) for group in groups],
            [PairSums.of(group) for group in groups] if not self.is_binary else (),
        )

    def result(self) -> Corrected:
        """What mixseek says."""
        return corrected_difference(self.items) if self.is_difference else corrected_mean(self.items)


@dataclass(frozen=True)
class Setting:
    """`width` is what is reachable, where somebody has shown it."""

    name: str
    what: str
    width: float | None
    draw: Callable[[Random], Draw]
    share: float = 1.0  # of the replications: some take long


def cells_of(pairs: Sequence[Pair]) -> Mapping[str, Cell]:
    """By verdict."""
    items, labels, positive = Counter[float](), Counter[float](), Counter[float]()
    for verdict, label in pairs:
        items[verdict] += 1
        if label is not None:
            labels[verdict] += 1
            positive[verdict] += int(label)
    return {f"{verdict:g}": Cell(items[verdict], labels[verdict], positive[verdict]) for verdict in items}


def items_of(
    rng: Random, count: int, prevalence: float, sensitivity: float = 0.9, specificity: float = 0.8
) -> list[tuple[float, float]]:
    """Verdict and truth of right-or-wrong items, by a judge with these two rates."""
    items = []
    for _ in range(count):
        truth = rng.random() < prevalence
        items.append((float(rng.random() < (sensitivity if truth else 1 - specificity)), float(truth)))
    return items


def labelled(items: Sequence[tuple[float, float]], chosen: set[int]) -> list[Pair]:
    """Labels of the chosen ones only."""
    return [(f, y if place in chosen else None) for place, (f, y) in enumerate(items)]


def simple(prevalence: float, labels: int) -> Callable[[Random], Draw]:
    """Settings a, b, c: labels at random."""

    def draw(rng: Random) -> Draw:
        items = items_of(rng, 1000, prevalence)
        return Draw(prevalence, labelled(items, set(rng.sample(range(1000), labels))))

    return draw


def clustered(labelled_clusters: int | None) -> Callable[[Random], Draw]:
    """Settings d and d': 100 questions with ten items each, similar within (ICC .3)."""
    size, prevalence = 10, 0.7
    # Beta-distributed question means have an intra-class correlation of 1 / (a + b + 1).
    total = 1 / 0.3 - 1

    def draw(rng: Random) -> Draw:
        items: list[tuple[float, float]] = []
        for _ in range(100):
            share = rng.betavariate(prevalence * total, (1 - prevalence) * total)
            items += items_of(rng, size, share)
        if labelled_clusters is None:
            chosen = set(rng.sample(range(1000), 100))
        else:
            whole = rng.sample(range(100), labelled_clusters)
            chosen = {cluster * size + place for cluster in whole for place in range(size)}
        return Draw(prevalence, labelled(items, chosen), group_size=size)

    return draw


def only_judged_correct(rng: Random) -> Draw:
    """Setting e: labels only of items that the judge called correct."""
    items = items_of(rng, 1000, 0.7)
    positive = [place for place, (verdict, _) in enumerate(items) if verdict]
    return Draw(0.7, labelled(items, set(rng.sample(positive, 100))))


def graded(labels: int) -> Callable[[Random], Draw]:
    """Setting f: 0 to 8 points with a ceiling, a judge that is 0.6 too kind."""

    def score(rng: Random) -> tuple[float, float]:
        quality = rng.gauss(6.5, 1.8)
        human = min(8.0, max(0.0, float(round(quality + rng.gauss(0, 0.6)))))
        judge = min(8.0, max(0.0, float(round(quality + 0.6 + rng.gauss(0, 0.8)))))
        return judge, human

    # Exact: the mean of whole points from 0 to 8 is the sum of the chances to reach each of them.
    human_scores = NormalDist(6.5, math.hypot(1.8, 0.6))
    truth = math.fsum(1 - human_scores.cdf(points - 0.5) for points in range(1, 9))

    def draw(rng: Random) -> Draw:
        items = [score(rng) for _ in range(1000)]
        pairs = labelled(items, set(rng.sample(range(1000), labels)))
        return Draw(truth, pairs, scale=ValueScale(0.0, 8.0), is_binary=False)

    return draw


def prevalence_shift(rng: Random) -> Draw:
    """Setting g: labels of the same judge on a set with another share of right answers."""
    known = items_of(rng, 100, 0.4)
    return Draw(0.7, [*labelled(items_of(rng, 1000, 0.7), set()), *known], Drawing.ELSEWHERE)


def verdict_shift(rng: Random) -> Draw:
    """Setting g': as many labels of either verdict, whatever their share."""
    items = items_of(rng, 1000, 0.7)
    by_verdict = [[place for place, (verdict, _) in enumerate(items) if verdict == kind] for kind in (0, 1)]
    chosen = set(rng.sample(by_verdict[0], 50)) | set(rng.sample(by_verdict[1], 50))
    return Draw(0.7, labelled(items, chosen), Drawing.STRATIFIED)


def paired(labels: int) -> Callable[[Random], Draw]:
    """Setting h: two systems on the same questions, 100 labelled pairs."""

    def draw(rng: Random) -> Draw:
        pairs = []
        for _ in range(1000):
            hard = rng.random()
            is_alike = rng.random() < 0.5
            truths = [(hard if is_alike else rng.random()) < share for share in (0.7, 0.6)]
            verdicts = [rng.random() < (0.9 if truth else 0.2) for truth in truths]
            pairs.append((float(verdicts[0] - verdicts[1]), float(truths[0] - truths[1])))
        chosen = set(rng.sample(range(1000), labels))
        return Draw(0.1, labelled(pairs, chosen), scale=ValueScale(-1.0, 1.0), is_binary=False, is_difference=True)

    return draw


SETTINGS = (
    Setting("a", "100 random labels", 0.135, simple(0.7, 100)),
    Setting("b", "prevalence .97", 0.064, simple(0.97, 100)),
    Setting("c", "30 labels", 0.242, simple(0.7, 30)),
    Setting("b+c", "prevalence .97, 30 labels", 0.130, simple(0.97, 30)),
    Setting("d", "100 questions x 10, ICC .3", 0.171, clustered(None), 0.4),
    Setting("d'", "20 whole questions labelled", 0.202, clustered(20), 0.4),
    Setting("d''", "10 whole questions labelled", None, clustered(10), 0.4),
    Setting("e", "labels of judged-correct only", None, only_judged_correct),
    Setting("f", "scores 0-8 with ceiling", 0.39, graded(100), 0.4),
    Setting("g", "labels of another prevalence", 0.247, prevalence_shift),
    Setting("g'", "labels by verdict", 0.144, verdict_shift),
    Setting("h", "paired difference, 100 pairs", 0.178, paired(100), 0.4),
)
