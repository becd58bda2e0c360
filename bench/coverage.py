"""`make coverage`: how often our intervals hold the truth, and how wide they are, in the settings of the field.

Each line simulates judged items with known truth, draws labels as named, and counts how often the 95 % interval of the
estimator that mixseek chooses holds the truth. Beside it what is reachable, and what truescore, ppi-python and judgy
reach on some of the same draws, where they are installed (`pip install truescore ppi-python judgy`).
"""

import argparse
import importlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from random import Random
from statistics import NormalDist
from types import ModuleType
from typing import Any

from mixseek.domain.counts import UnitSums, VariantSums
from mixseek.stats.corrected import (
    Cell,
    Corrected,
    Drawing,
    LabelledItems,
    PairSums,
    State,
    ValueScale,
    corrected_difference,
    corrected_mean,
)
from mixseek.stats.difference import paired_difference
from mixseek.stats.intervals import unit_interval

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

    def result(self) -> Corrected:
        """What mixseek says."""
        size = self.group_size
        groups = [self.pairs[at : at + size] for at in range(0, len(self.pairs), size)] if size > 1 else []
        items = LabelledItems(
            self.drawing,
            self.is_binary,
            self.scale,
            PairSums.of(self.pairs),
            Counter((f, y) for f, y in self.pairs if y is not None),
            cells_of(self.pairs),
            [cells_of(group) for group in groups],
            [PairSums.of(group) for group in groups] if not self.is_binary else (),
        )
        return corrected_difference(items) if self.is_difference else corrected_mean(items)


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

# Others, on the same draws.

Limits = tuple[float, float]


def installed(name: str) -> ModuleType | None:
    """None where somebody has not installed it: nothing here needs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def peers() -> dict[str, Callable[[Draw], Limits | None]]:
    """The interval of each package that is there; None where it refuses."""
    found: dict[str, Callable[[Draw], Limits | None]] = {}
    truescore, ppi, judgy = installed("truescore"), installed("ppi_py"), installed("judgy")
    if truescore is not None:
        found["truescore"] = lambda draw: truescore_limits(truescore, draw)
    if ppi is not None:
        found["ppi-python"] = lambda draw: ppi_limits(ppi, draw)
    if judgy is not None:
        found["judgy"] = lambda draw: judgy_limits(judgy, draw)
    return found


def columns_of(draw: Draw) -> tuple[list[float], list[float], list[float]]:
    """Labels, the judge's scores beside them, and the judge's other scores."""
    known = [(f, y) for f, y in draw.pairs if y is not None]
    return [y for _, y in known], [f for f, _ in known], [f for f, y in draw.pairs if y is None]


def truescore_limits(truescore: Any, draw: Draw) -> Limits | None:
    """Its PPI++; its sensitivity and specificity where labels come from elsewhere."""
    places = [place for place, (_, y) in enumerate(draw.pairs) if y is not None]
    labels = [draw.pairs[place][1] for place in places]
    scores = [f for f, _ in draw.pairs]
    is_whole = all(
        len({draw.pairs[place][1] is None for place in range(at, at + draw.group_size)}) == 1
        for at in range(0, len(scores), draw.group_size)
    )
    # It takes clusters only where they are labelled as a whole.
    clusters = [place // draw.group_size for place in range(len(scores))] if draw.group_size > 1 and is_whole else None
    try:
        if draw.drawing is Drawing.ELSEWHERE:
            found = truescore.rogan_gladen_estimate(scores, labels, places)
        else:
            found = truescore.ppi_estimate(scores, labels, places, clusters=clusters)
    except ValueError:
        return None
    return float(found.low), float(found.high)


def ppi_limits(ppi: Any, draw: Draw) -> Limits | None:
    """With the level that we use; its own default is 90 %."""
    numpy = importlib.import_module("numpy")
    low, high = ppi.ppi_mean_ci(*map(numpy.array, columns_of(draw)), alpha=0.05)
    return float(low[0]), float(high[0])


def judgy_limits(judgy: Any, draw: Draw) -> Limits | None:
    """Right or wrong only; fewer bootstrap draws than its default, which would take hours here."""
    if not draw.is_binary:
        return None
    try:
        _, low, high = judgy.estimate_success_rate(*columns_of(draw), bootstrap_iterations=1000)
    except ValueError:
        return None
    return (float(low), float(high)) if math.isfinite(low) and math.isfinite(high) else None


@dataclass
class Tally:
    """How often limits held the truth, and how wide they were."""

    hits: int = 0
    counted: int = 0
    drawn: int = 0
    width: float = 0.0

    def add(self, truth: float, limits: Limits | None) -> None:
        self.drawn += 1
        if limits is not None:
            self.counted += 1
            self.hits += limits[0] <= truth <= limits[1]
            self.width += limits[1] - limits[0]

    def text(self) -> str:
        if not self.counted:
            return "    –     –"
        refused = f" ({1 - self.counted / self.drawn:.0%} refused)" if self.counted < self.drawn else ""
        return f"{self.hits / self.counted:5.3f} {self.width / self.counted:5.3f}{refused}"


def corrected_line(name: str, replications: int, seed: int, peer_replications: int) -> str:
    """One setting."""
    setting = next(one for one in SETTINGS if one.name == name)
    others = peers() if peer_replications else {}
    rng = Random(f"{seed}:{setting.name}")
    ours, theirs = Tally(), {peer: Tally() for peer in others}
    states = Counter[State]()
    count = max(1, round(replications * setting.share))
    for number in range(count):
        draw = setting.draw(rng)
        result = draw.result()
        states[result.state] += 1
        is_told = result.low is not None and result.high is not None
        ours.add(draw.truth, (result.low or 0.0, result.high or 0.0) if is_told else None)
        if number < peer_replications:
            for peer, limits in others.items():
                theirs[peer].add(draw.truth, limits(draw))
    said = ", ".join(f"{state.value} {number / count:.0%}" for state, number in states.most_common())
    reachable = f"{setting.width:9.3f}" if setting.width else f"{'–':>9}"
    beside = "".join(f"  {tally.text():>11}" for tally in theirs.values())
    return f"{setting.name + ': ' + setting.what:34} {ours.text():>11} {reachable}{beside}  {said}"


# Without labels.


PLAIN = [
    (kind, clusters, size, similarity)
    for clusters, size in ((20, 5), (50, 4), (200, 3))
    for similarity in (0.0, 0.1, 0.3, 0.5)
    for kind in ("mean", "paired")
]


def plain_line(setting: tuple[str, int, int, float], replications: int, seed: int) -> str:
    """A mean or a paired difference, clustered by question."""
    kind, clusters, size, similarity = setting
    run = _mean if kind == "mean" else _paired
    rng = Random(f"{seed}:{clusters}:{similarity}:{kind}")
    tally = Tally()
    for _ in range(replications):
        truth, low, high = run(rng, clusters, size, similarity)
        tally.add(truth, (low, high))
    return f"{f'{kind}, {clusters} questions x {size}, ICC {similarity}':34} {tally.text():>11}"


def _shares(rng: Random, similarity: float, mean: float) -> float:
    total = 1 / similarity - 1 if similarity else 0.0
    return rng.betavariate(mean * total, (1 - mean) * total) if similarity else mean


def _mean(rng: Random, clusters: int, size: int, similarity: float) -> tuple[float, float, float]:
    sums = []
    for _ in range(clusters):
        share = _shares(rng, similarity, 0.6)
        sums.append(sum(rng.random() < share for _ in range(size)))
    total, n = float(sum(sums)), clusters * size
    squares = float(sum(one * one for one in sums))
    interval = unit_interval(UnitSums(n, n, clusters, total, total, squares, size * total, float(n * size)))
    assert interval is not None
    return 0.6, interval.low, interval.high


def _paired(rng: Random, clusters: int, size: int, similarity: float) -> tuple[float, float, float]:
    sums = []
    for _ in range(clusters):
        first, second = _shares(rng, similarity, 0.65), _shares(rng, similarity, 0.6)
        sums.append(sum((rng.random() < first) - (rng.random() < second) for _ in range(size)))
    total, n = float(sum(sums)), clusters * size
    squares = float(sum(one * one for one in sums))
    found = paired_difference(
        VariantSums(None, "first", "second", clusters, n, total, squares, size * total, float(n * size))
    )
    assert found is not None
    assert found.interval is not None
    return 0.05, found.interval.low, found.interval.high


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=10_000)
    parser.add_argument("--peers", type=int, default=200, help="replications that other packages see")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", nargs="*", default=[], help="settings by their letters; without it all, and those below"
    )
    options = parser.parse_args()
    names = [setting.name for setting in SETTINGS if not options.only or setting.name in options.only]
    told = partial(
        corrected_line, replications=options.replications, seed=options.seed, peer_replications=options.peers
    )
    with ProcessPoolExecutor() as pool:
        lines = pool.map(told, names)
        plain = pool.map(
            partial(plain_line, replications=round(0.4 * options.replications), seed=options.seed),
            [] if options.only else PLAIN,
        )
        heads = "".join(f"  {name:>11}" for name in (peers() if options.peers else ()))
        print(f"{'setting':34} {'cover width':>11} {'reachable':>9}{heads}  states", flush=True)
        for line in lines:
            print(line, flush=True)
        for place, line in enumerate(plain):
            print(line if place else f"{'without labels':34} {'cover width':>11}\n{line}", flush=True)


if __name__ == "__main__":
    main()
