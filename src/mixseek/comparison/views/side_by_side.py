"""Runs of one protocol side by side, as sections and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from mixseek.analysis.run import model
from mixseek.comparison import side_by_side as several_runs
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.presentation.sections import GAP, QUIET, Cell, Section, Sentence, TableRows, notes, sections_of
from mixseek.reports.headline import score_document
from mixseek.reports.wording.scores import bounds_sentence, interval_text, score_text
from mixseek.reports.workspace.run_list import SHORT_COUNTS, count_cells


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


@sections_of.register
def side_by_side_sections(comparison: several_runs.RunComparison) -> Iterator[Section]:
    title = f"{comparison.protocol} [{comparison.protocol_hash[:8]}]: {len(comparison.runs)} runs"
    rows: list[Sequence[Cell]] = [
        (run.run_id, run.dataset, ", ".join(run.judges), *_score_cells(run.score)) for run in comparison.runs
    ]
    rows.append((("all runs", "bold"), "", "", *_score_cells(comparison.pooled)))
    heads = ("run", "dataset", "judges", ">score", ">95% interval", *SHORT_COUNTS)
    beside = (bounds_sentence(comparison.pooled) or "", *comparison.notes)
    yield Section(None, [Sentence(title, "bold"), GAP, TableRows(heads, rows), *notes(beside)])


def _score_cells(score: model.ScoreSummary) -> list[Cell]:
    mean, interval = (score_text(score), "bold"), (interval_text(score), QUIET)
    return [mean, interval, *count_cells(score.counts)]
