"""The list of runs that a workspace holds, on a terminal and for programs."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from mixseek.analysis import run_list
from mixseek.analysis.details import document_of
from mixseek.domain import counts
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.reports import wording
from mixseek.reports.render.tables import COUNT_HEADS, SHORT_HEADS, Cell, fitted, table_of
from mixseek.reports.sections import QUIET
from mixseek.reports.wording import NOTHING, percent
from mixseek.text.visible import make_visible


def runs_document(lines: Sequence[run_list.RunLine]) -> dict[str, Any]:
    keys = {"run_id": "run", "mean": "mean_score", "is_sealed": "sealed", "is_running": "running"}
    return {"schema": schema_id(DocumentName.RUNS), "runs": [document_of(line, **keys) for line in lines]}


SHORT_COUNTS = tuple(f">{SHORT_HEADS.get(name, name)}" for name in COUNT_HEADS)
_WIDE_RUNS = 110


def print_runs(runs: Sequence[run_list.RunLine], console: Console) -> None:
    if not runs:
        console.print(Text("No runs in this workspace yet; start one with `mixseek judge`.", style=QUIET))
        return
    is_wide = console.width >= _WIDE_RUNS
    # With room, the run's name stays whole, because it is what is typed next; datasets and judges give way.
    heads = ("|run", "|protocol", "dataset", "judges") if is_wide else ("run", "|protocol")
    heads += (">score", *SHORT_COUNTS, *(("|started",) if is_wide else ()))
    rows = [_run_cells(run, is_wide=is_wide) for run in runs]
    console.print(fitted(table_of(heads, rows), console.width))


def _run_cells(run: run_list.RunLine, *, is_wide: bool) -> list[Cell]:
    name = Text(make_visible(run.run_id))
    if not run.is_sealed:
        name.append(" (running)" if run.is_running else " (interrupted, resumable)", style="yellow")
    if run.problem is not None:
        name.append(" (not counted)" if run.counts is None else " (counted earlier)", style="yellow")
    score = [NOTHING if run.mean is None else percent(run.mean), *count_cells(run.counts)]
    if not is_wide:
        return [name, run.protocol, *score]
    protocol, judges = f"{run.protocol} {run.protocol_hash[:8]}", ", ".join(run.judges)
    return [name, protocol, run.dataset, judges, *score, (wording.moment_text(run.started_at) or NOTHING, QUIET)]


def count_cells(counts: counts.StatusCounts | None) -> list[str]:
    return [NOTHING if counts is None else f"{getattr(counts, name):,}" for name in COUNT_HEADS]
