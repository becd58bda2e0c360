"""Pairs with their texts, for the page."""

from collections.abc import Sequence
from pathlib import Path

from mixseek.comparison.compare import LISTED
from mixseek.comparison.model import ChangedSample, Comparison
from mixseek.domain.pair_counts import Pair
from mixseek.index.run import open_run_index
from mixseek.storage.workspace import RunDirectory, Workspace


def read_changed(
    workspace: Workspace, comparison: Comparison, pairs: Sequence[Pair], runs: Sequence[RunDirectory] = ()
) -> list[ChangedSample]:
    """Every judgment of both sides about each of the pairs, in their order; `runs` where they are elsewhere."""
    rows = []
    a, b = runs or (workspace.run(comparison.a.run), workspace.run(comparison.b.run))
    for run, keys in ((a, [p.key_a for p in pairs]), (b, [p.key_b for p in pairs])):
        with open_run_index(Workspace(run.workspace), run) as index:
            rows.append(index.rows_of(keys))
    by_a, by_b = rows
    return [ChangedSample(pair, tuple(by_a[pair.id_a]), tuple(by_b[pair.id_b])) for pair in pairs]


def read_listed(
    root: Path, comparison: Comparison, runs: Sequence[RunDirectory] = (), *, start: int = 0
) -> list[ChangedSample]:
    """Every pair that a page shows, once, with its texts; of each kind from `start` on."""
    pairs = {
        (pair.key_a, pair.key_b): pair
        for kind in (comparison.worse, comparison.better, comparison.drift.pairs, comparison.unscored)
        for pair in kind[start : start + LISTED]
    }
    return read_changed(Workspace(root), comparison, list(pairs.values()), runs)
