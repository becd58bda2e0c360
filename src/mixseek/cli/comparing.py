"""Several runs beside each other."""

from collections.abc import Sequence
from pathlib import Path

from mixseek.cli.documents import print_json
from mixseek.cli.places import workspace_path
from mixseek.cli.terminal import print_rendered
from mixseek.composition.comparisons import compare_runs, comparison_document


def print_runs_together(runs: Sequence[str], workspace: Path | None, *, as_json: bool) -> None:
    """As a table, or as one JSON document."""
    comparison = compare_runs(workspace_path(workspace), runs)
    if as_json:
        print_json(comparison_document(comparison))
    else:
        from mixseek.reporting.comparison import print_comparison

        print_rendered(lambda console: print_comparison(comparison, console))
