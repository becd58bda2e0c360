"""`make coverage`: how often our intervals hold the truth, and how wide they are, in the settings of the field.

Each line simulates judged items with known truth, draws labels as named, and counts how often the 95 % interval of the
estimator that mixseek chooses holds the truth. Beside it what is reachable, and what truescore, ppi-python and judgy
reach on some of the same draws, where they are installed (`pip install truescore ppi-python judgy`).
"""

import argparse
import importlib
import math
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from random import Random
from types import ModuleType
from typing import Any

from bench.corners import ALARM, CORNERS
from bench.draws import SETTINGS, Draw
from mixseek.domain.counts import UnitSums
from mixseek.domain.scored_counts import VariantSums
from mixseek.stats.difference import paired_difference
from mixseek.stats.estimates import Drawing, State
from mixseek.stats.intervals import unit_interval, with_questions

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


# Settings in which intervals once failed.


def corner_line(name: str, replications: int, seed: int) -> str:
    """One of them: how often the interval holds the truth, or how often a random draw is called none."""
    corner = next(one for one in CORNERS if one.name == name)
    rng = Random(f"{seed}:{corner.name}")
    tally, states = Tally(), Counter[str]()
    for _ in range(replications):
        outcome = corner.draw(rng)
        states[outcome.state] += 1
        is_told = outcome.low is not None and outcome.high is not None
        tally.add(outcome.truth, (outcome.low or 0.0, outcome.high or 0.0) if is_told else None)
    said = ", ".join(f"{state} {number / replications:.1%}" for state, number in states.most_common())
    numbers = f"{states[ALARM] / replications:5.3f} alarm" if corner.is_alarm else tally.text()
    return f"{corner.what:40} {numbers:>11}  {said}"


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
    interval = unit_interval(with_questions(UnitSums(n, n, 0, total, total), [(size, right, 1) for right in sums]))
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
    """Print the three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=10_000)
    parser.add_argument("--peers", type=int, default=200, help="replications that other packages see")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", nargs="*", default=[], help="settings by their letters; without it all, and those below"
    )
    parser.add_argument("--corners", type=int, default=500, help="replications of each setting that once failed")
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
        corners = pool.map(
            partial(corner_line, replications=options.corners, seed=options.seed),
            [] if options.only or not options.corners else [corner.name for corner in CORNERS],
        )
        heads = "".join(f"  {name:>11}" for name in (peers() if options.peers else ()))
        print(f"{'setting':34} {'cover width':>11} {'reachable':>9}{heads}  states", flush=True)
        for line in lines:
            print(line, flush=True)
        for place, line in enumerate(plain):
            print(line if place else f"{'without labels':34} {'cover width':>11}\n{line}", flush=True)
        for place, line in enumerate(corners):
            print(line if place else f"{'settings that once failed':40} {'cover width':>11}\n{line}", flush=True)


if __name__ == "__main__":
    main()
