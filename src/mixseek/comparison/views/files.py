"""The page of a comparison as a file, beside the journal of B."""

import re
from collections.abc import Sequence
from pathlib import Path

from mixseek.comparison.model import Comparison
from mixseek.storage.durable import write_page
from mixseek.storage.workspace import RunDirectory, Workspace

_STEM_CHARACTERS = 80


def default_page(root: Path, comparison: Comparison) -> Path:
    """The page beside the journal of B, named after A, and after the targets or variants where those are compared."""
    a, b = comparison.a, comparison.b
    names = [a.run] if a.run != b.run else []
    names += [name for side in (a, b) for name in (side.target, side.variant) if name is not None]
    stem = re.sub(r"[^\w.-]+", "-", "-".join(names) or a.run).strip("-.")[:_STEM_CHARACTERS]
    return Workspace(root).run(b.run).path / f"compare-{stem}.html"


def write_comparison(root: Path, comparison: Comparison, target: Path, runs: Sequence[RunDirectory] = ()) -> None:
    """One self-contained file, whole or not at all."""
    # Here and not above: a report of one run compares nothing.
    from mixseek.comparison.pairs import read_listed
    from mixseek.comparison.views.page import render_comparison

    write_page(render_comparison(comparison, read_listed(root, comparison, runs)), target, "compare.html")
