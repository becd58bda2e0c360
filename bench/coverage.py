"""`make coverage`: how often our intervals hold the truth, and how wide they are, in the settings of the field.

Each line simulates judged items with known truth, draws labels as named, and counts how often the 95 % interval of
the estimator that mixseek would choose holds the truth. The last columns are what is reachable and what truescore,
ppi-python and judgy reach, when they are installed.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from mixseek.domain.counts import UnitSums, VariantSums
from mixseek.stats.agreement import paired_difference
from mixseek.stats.corrected import (
    Cell,
    Corrected,
    Drawing,
    KnownJudge,
    State,
    ValueScale,
    post_stratified,
    regression,
    rogan_gladen,
)
from mixseek.stats.intervals import unit_interval

_UNIT = ValueScale()
Item = tuple[int, int]  # verdict, truth


@dataclass(frozen=True)
class Setting:
    """`width` is what is reachable; `draw` gives the truth and the interval of one replication, or a refusal."""

    name: str
    what: str
    width: float | None
    draw: Callable[[Random], tuple[float, Corrected]]
    is_refused: bool = False


def items_of(
    rng: Random, count: int, prevalence: float, sensitivity: float = 0.9, specificity: float = 0.8
) -> list[Item]:
    """Right-or-wrong items and a judge with these two rates."""
    items = []
    for _ in range(count):
        truth = int(rng.random() < prevalence)
        items.append((int(rng.random() < (sensitivity if truth else 1 - specificity)), truth))
    return items


def cells_of(items: Sequence[Item], labelled: set[int]) -> dict[str, Cell]:
    """What estimator 1 needs."""
    cells: dict[str, Cell] = {}
    for place, (verdict, truth) in enumerate(items):
        is_known = place in labelled
        cells[str(verdict)] = cells.get(str(verdict), Cell()) + Cell(1, int(is_known), truth if is_known else 0)
    return cells


def simple(prevalence: float, labels: int) -> Callable[[Random], tuple[float, Corrected]]:
    """Settings a, b, c: labels at random."""

    def draw(rng: Random) -> tuple[float, Corrected]:
        items = items_of(rng, 1000, prevalence)
        return prevalence, post_stratified(cells_of(items, set(rng.sample(range(1000), labels))))

    return draw


def clustered(labelled_clusters: int | None) -> Callable[[Random], tuple[float, Corrected]]:
    """Settings d and d': 100 questions with ten items each, similar within (ICC .3)."""
    size, prevalence = 10, 0.7
    # Beta-distributed question means have an intra-class correlation of 1 / (a + b + 1).
    total = 1 / 0.3 - 1

    def draw(rng: Random) -> tuple[float, Corrected]:
        items: list[Item] = []
        for _ in range(100):
            share = rng.betavariate(prevalence * total, (1 - prevalence) * total)
            items += items_of(rng, size, share)
        if labelled_clusters is None:
            chosen = set(rng.sample(range(1000), 100))
        else:
            whole = rng.sample(range(100), labelled_clusters)
            chosen = {cluster * size + place for cluster in whole for place in range(size)}
        groups = [
            cells_of(items[at : at + size], {place - at for place in chosen if at <= place < at + size})
            for at in range(0, 1000, size)
        ]
        return prevalence, post_stratified(cells_of(items, chosen), clusters=groups)

    return draw


def only_judged_correct(rng: Random) -> tuple[float, Corrected]:
    """Setting e: labels only of items that the judge called correct."""
    items = items_of(rng, 1000, 0.7)
    positive = [place for place, (verdict, _) in enumerate(items) if verdict]
    return 0.7, post_stratified(cells_of(items, set(rng.sample(positive, 100))))


def graded(labels: int) -> Callable[[Random], tuple[float, Corrected]]:
    """Setting f: 0 to 8 points with a ceiling, a judge that is 0.6 too kind."""

    scale = ValueScale(0.0, 8.0)

    def score(rng: Random) -> tuple[float, float]:
        quality = rng.gauss(6.5, 1.8)
        human = min(8.0, max(0.0, float(round(quality + rng.gauss(0, 0.6)))))
        judge = min(8.0, max(0.0, float(round(quality + 0.6 + rng.gauss(0, 0.8)))))
        return judge, human

    pool = Random(7)
    truth = math.fsum(score(pool)[1] for _ in range(400_000)) / 400_000

    def draw(rng: Random) -> tuple[float, Corrected]:
        pairs = [score(rng) for _ in range(1000)]
        chosen = set(rng.sample(range(1000), labels))
        return truth, regression([(f, y if place in chosen else None) for place, (f, y) in enumerate(pairs)], scale)

    return draw


def prevalence_shift(rng: Random) -> tuple[float, Corrected]:
    """Setting g: labels of the same judge on a set with another share of right answers."""
    items = items_of(rng, 1000, 0.7)
    known = items_of(rng, 100, 0.4)
    positive = [verdict for verdict, truth in known if truth]
    negative = [verdict for verdict, truth in known if not truth]
    judge = KnownJudge(len(positive), sum(positive), len(negative), sum(1 - verdict for verdict in negative))
    return 0.7, rogan_gladen(sum(verdict for verdict, _ in items), len(items), judge)


def verdict_shift(rng: Random) -> tuple[float, Corrected]:
    """Setting g': as many labels of either verdict, whatever their share."""
    items = items_of(rng, 1000, 0.7)
    by_verdict = [[place for place, (verdict, _) in enumerate(items) if verdict == kind] for kind in (0, 1)]
    chosen = set(rng.sample(by_verdict[0], 50)) | set(rng.sample(by_verdict[1], 50))
    return 0.7, post_stratified(cells_of(items, chosen), drawing=Drawing.STRATIFIED)


def paired(labels: int) -> Callable[[Random], tuple[float, Corrected]]:
    """Setting h: two systems on the same questions, 100 labelled pairs."""

    def draw(rng: Random) -> tuple[float, Corrected]:
        pairs = []
        for _ in range(1000):
            hard = rng.random()
            truths = (
                [int(hard < share) for share in (0.7, 0.6)]
                if rng.random() < 0.5
                else [int(rng.random() < share) for share in (0.7, 0.6)]
            )
            verdicts = [int(rng.random() < (0.9 if truth else 0.2)) for truth in truths]
            pairs.append((float(verdicts[0] - verdicts[1]), float(truths[0] - truths[1])))
        chosen = set(rng.sample(range(1000), labels))
        known = [(f, y if place in chosen else None) for place, (f, y) in enumerate(pairs)]
        return 0.1, regression(known, ValueScale(-1.0, 1.0), is_difference=True)

    return draw


SETTINGS = (
    Setting("a", "100 random labels", 0.135, simple(0.7, 100)),
    Setting("b", "prevalence .97", 0.064, simple(0.97, 100)),
    Setting("c", "30 labels", 0.242, simple(0.7, 30)),
    Setting("b+c", "prevalence .97, 30 labels", 0.130, simple(0.97, 30)),
    Setting("d", "100 questions x 10, ICC .3", 0.171, clustered(None)),
    Setting("d'", "whole questions labelled", 0.202, clustered(10)),
    Setting("e", "labels of judged-correct only", None, only_judged_correct, is_refused=True),
    Setting("f", "scores 0-8 with ceiling", 0.39, graded(100)),
    Setting("g", "labels of another prevalence", 0.247, prevalence_shift),
    Setting("g'", "labels by verdict", 0.144, verdict_shift),
    Setting("h", "paired difference, 100 pairs", 0.178, paired(100)),
)


def corrected_lines(replications: int, seed: int, only: Sequence[str] = ()) -> Iterator[str]:
    """One line a setting."""
    yield f"{'setting':38} {'coverage':>8} {'width':>7} {'reachable':>9}  states"
    for setting in SETTINGS:
        if only and setting.name not in only:
            continue
        rng = Random(f"{seed}:{setting.name}")
        hits = counted = 0
        width = 0.0
        states: dict[State, int] = {}
        for _ in range(replications):
            truth, result = setting.draw(rng)
            states[result.state] = states.get(result.state, 0) + 1
            if result.low is None or result.high is None:
                continue
            counted += 1
            hits += result.low <= truth <= result.high
            width += result.high - result.low
        said = ", ".join(f"{state.value} {count / replications:.0%}" for state, count in sorted(states.items()))
        reachable = f"{setting.width:9.3f}" if setting.width else "   bounds"
        name = f"{setting.name}: {setting.what}"
        yield f"{name:38} {hits / counted:8.3f} {width / counted:7.3f} {reachable}  {said}"


def plain_lines(replications: int, seed: int) -> Iterator[str]:
    """Without labels: means and paired differences, clustered by question."""
    yield f"{'without labels':38} {'coverage':>8} {'width':>7}"
    for clusters, size in ((20, 5), (50, 4), (200, 3)):
        for similarity in (0.0, 0.1, 0.3, 0.5):
            for kind, run in (("mean", _mean), ("paired", _paired)):
                rng = Random(f"{seed}:{clusters}:{similarity}:{kind}")
                outcomes = [run(rng, clusters, size, similarity) for _ in range(replications)]
                hits = sum(low <= truth <= high for truth, low, high in outcomes)
                width = math.fsum(high - low for _, low, high in outcomes) / len(outcomes)
                name = f"{kind}, {clusters} questions x {size}, ICC {similarity}"
                yield f"{name:38} {hits / len(outcomes):8.3f} {width:7.3f}"


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
    found = paired_difference(
        VariantSums(
            None,
            "first",
            "second",
            clusters,
            clusters * size,
            float(sum(sums)),
            float(sum(one * one for one in sums)),
            float(size * sum(sums)),
            float(clusters * size * size),
        )
    )
    assert found is not None
    assert found.interval is not None
    return 0.05, found.interval.low, found.interval.high


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[])
    arguments = parser.parse_args()
    for line in corrected_lines(arguments.replications, arguments.seed, arguments.only):
        print(line, flush=True)
    if not arguments.only:
        for line in plain_lines(arguments.replications, arguments.seed):
            print(line, flush=True)


if __name__ == "__main__":
    main()
