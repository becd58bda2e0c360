"""Runs of one protocol side by side, on a terminal and for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from mixseek.analysis import model, several_runs
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.reports import wording
from mixseek.reports.headline import score_document
from mixseek.reports.render.tables import Cell, fitted, table_of
from mixseek.reports.run_list import SHORT_COUNTS, count_cells
from mixseek.reports.sections import QUIET
from mixseek.text.visible import make_visible


def comparison_document(comparison: several_runs.RunComparison) -> dict[str, Any]:
    return {
        "schema": schema_id(DocumentName.SIDE_BY_SIDE),
        "protocol": comparison.protocol,
        "protocol_hash": comparison.protocol_hash,
        "runs": [
            {
                "run": run.run_id,
                "dataset": run.dataset,
                "judges": list(run.judges),
                **score_document(run.score),
                "control": asdict(run.control.counts),
            }
            for run in comparison.runs
        ],
        "pooled": score_document(comparison.pooled),
        "notes": list(comparison.notes),
    }


def print_comparison(comparison: several_runs.RunComparison, console: Console) -> None:
    title = f"{comparison.protocol} [{comparison.protocol_hash[:8]}]: {len(comparison.runs)} runs"
    console.print(Text(make_visible(title), style="bold"))
    console.print()
    rows: list[Sequence[Cell]] = [
        (run.run_id, run.dataset, ", ".join(run.judges), *_score_cells(run.score)) for run in comparison.runs
    ]
    rows.append((("all runs", "bold"), "", "", *_score_cells(comparison.pooled)))
    heads = ("run", "dataset", "judges", ">score", ">95% interval", *SHORT_COUNTS)
    console.print(fitted(table_of(heads, rows), console.width))
    for line in (wording.bounds_sentence(comparison.pooled), *comparison.notes):
        if line:
            console.print(Text(line, style=QUIET))


def _score_cells(score: model.ScoreSummary) -> list[Cell]:
    mean, interval = (wording.score_text(score), "bold"), (wording.interval_text(score), QUIET)
    return [mean, interval, *count_cells(score.counts)]
