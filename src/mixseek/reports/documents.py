"""Reports, lists of runs and comparisons for programs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from mixseek.analysis.run import model, report_data
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.scored_details import document_of
from mixseek.reports.accounts import call_documents
from mixseek.reports.cascades import route_document
from mixseek.reports.checked import check_documents
from mixseek.reports.confidence import confidence_document
from mixseek.reports.headline import headline_document, score_document
from mixseek.reports.labels import corrected_document
from mixseek.reports.pair_words import pairs_document
from mixseek.reports.summary import first_replies_document
from mixseek.reports.trust import agreement_document, consistency_documents


def report_document(report: report_data.ReportData, html: Path | None) -> dict[str, Any]:
    """The report's numbers for programs; the rows are what `mixseek export` is for."""
    return {
        "schema": schema_id(DocumentName.REPORT),
        **document_of(report.run, run_id="run"),
        "judges": [
            {
                "judge": judge.judge,
                "model": report.models.get(judge.judge),
                **score_document(judge.score),
                "control": score_document(judge.control) if judge.control else None,
                "asked_again": judge.asked_again,
                "first_replies": first_replies_document(judge.first_replies),
                **{
                    kind: {tally.name: tally.count for tally in getattr(judge, kind)}
                    for kind in ("warnings", "verdicts", "error_types")
                },
                "reasoning": reasoning_document(judge.reasoning),
                "tasks": [{"task": part.name, **group_document(part)} for part in judge.tasks],
                "targets": [{"target": part.name, **group_document(part)} for part in judge.targets],
                "rules": [asdict(usage) for usage in judge.rules],
                "flags": [document_of(flag, kind="flag") for flag in judge.flags],
                "reasons": [document_of(reason, kind="status") for reason in judge.reasons],
            }
            for judge in report.judges
        ],
        "headline": headline_document(report.headline) if report.headline else None,
        "agreement": agreement_document(report.agreement),
        "consistency": consistency_documents(report.consistency),
        "scored": asdict(report.scored) if report.scored else None,
        "calls": call_documents(report.calls),
        "corrected": corrected_document(report.corrected) if report.corrected else None,
        "confidences": [confidence_document(line) for line in report.confidences],
        "pairs": pairs_document(report.pairs) if report.pairs else None,
        "checks": check_documents(report.checks),
        "route": route_document(report.route),
        "html": str(html) if html is not None else None,
    }


def group_document(group: model.GroupSummary) -> dict[str, Any]:
    return {**score_document(group.score), "reasoning": reasoning_document(group.reasoning)}


def reasoning_document(reasoning: model.ReasoningSummary | None) -> dict[str, Any] | None:
    """Null where no reasoning was assessed: rules do not."""
    if reasoning is None:
        return None
    fields = asdict(reasoning)
    bars = fields.pop("bars")
    return {**fields, "counts": {str(bar["score"]): {of: bar[of] for of in ("correct", "incorrect")} for bar in bars}}
