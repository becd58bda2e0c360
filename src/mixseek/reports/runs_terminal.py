"""Several runs: what a workspace holds, and runs of one protocol side by side."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from mixseek.analysis import model, several_runs
from mixseek.domain import counts
from mixseek.reports import wording
from mixseek.reports.sections import QUIET
from mixseek.reports.tables import Cell, fitted, table_of
from mixseek.reports.terminal import COUNT_HEADS, SHORT_HEADS
from mixseek.reports.wording import NOTHING, percent
from mixseek.text.visible import make_visible

_SHORT_COUNTS = tuple(f">{SHORT_HEADS.get(name, name)}" for name in COUNT_HEADS)
_WIDE_RUNS = 110


def print_runs(runs: Sequence[model.RunLine], console: Console) -> None:
    if not runs:
        console.print(Text("No runs in this workspace yet; start one with `mixseek judge`.", style=QUIET))
        return
    is_wide = console.width >= _WIDE_RUNS
    # With room, the run's name stays whole, because it is what is typed next; datasets and judges give way.
    heads = ("|run", "|protocol", "dataset", "judges") if is_wide else ("run", "|protocol")
    heads += (">score", *_SHORT_COUNTS, *(("|started",) if is_wide else ()))
    rows = [_run_cells(run, is_wide=is_wide) for run in runs]
    console.print(fitted(table_of(heads, rows), console.width))


def _run_cells(run: model.RunLine, *, is_wide: bool) -> list[Cell]:
    name = Text(make_visible(run.run_id))
    if not run.is_sealed:
        name.append(" (running)" if run.is_running else " (interrupted, resumable)", style="yellow")
    if run.problem is not None:
        name.append(" (not counted)" if run.counts is None else " (counted earlier)", style="yellow")
    score = [NOTHING if run.mean is None else percent(run.mean), *_count_cells(run.counts)]
    if not is_wide:
        return [name, run.protocol, *score]
    protocol, judges = f"{run.protocol} {run.protocol_hash[:8]}", ", ".join(run.judges)
    return [name, protocol, run.dataset, judges, *score, (wording.moment_text(run.started_at) or NOTHING, QUIET)]


def _count_cells(counts: counts.StatusCounts | None) -> list[str]:
    return [NOTHING if counts is None else f"{getattr(counts, name):,}" for name in COUNT_HEADS]


def print_comparison(comparison: several_runs.RunComparison, console: Console) -> None:
    title = f"{comparison.protocol} [{comparison.protocol_hash[:8]}]: {len(comparison.runs)} runs"
    console.print(Text(make_visible(title), style="bold"))
    console.print()
    rows: list[Sequence[Cell]] = [
        (run.run_id, run.dataset, ", ".join(run.judges), *_score_cells(run.score)) for run in comparison.runs
    ]
    rows.append((("all runs", "bold"), "", "", *_score_cells(comparison.pooled)))
    heads = ("run", "dataset", "judges", ">score", ">95% interval", *_SHORT_COUNTS)
    console.print(fitted(table_of(heads, rows), console.width))
    for line in (wording.bounds_sentence(comparison.pooled), *comparison.notes):
        if line:
            console.print(Text(line, style=QUIET))


def _score_cells(score: model.ScoreSummary) -> list[Cell]:
    mean, interval = (wording.score_text(score), "bold"), (wording.interval_text(score), QUIET)
    return [mean, interval, *_count_cells(score.counts)]
