"""Pages as files: a run's report, and a comparison, written beside what they are about."""

import re
from collections.abc import Sequence
from pathlib import Path

from mixseek.analysis.comparing.comparison import Comparison
from mixseek.analysis.report_data import ReportData
from mixseek.reports.pages.html import stream_html
from mixseek.storage.durable import write_page
from mixseek.storage.workspace import RunDirectory, Workspace


def write_html(report: ReportData, target: Path) -> None:
    """One self-contained file, whole or not at all."""
    write_page(stream_html(report), target, "report.html")


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
    from mixseek.analysis.comparing.pairs import read_listed
    from mixseek.reports.pages.comparison import render_comparison

    write_page(render_comparison(comparison, read_listed(root, comparison, runs)), target, "compare.html")
