"""`mixseek audit`: variants of drawn samples before one judge, as ordinary runs, and the card that they make."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mixseek.analysis.run.judged import judge_dataset
from mixseek.analysis.run.summary import RunSummary
from mixseek.audits.card import make_card
from mixseek.audits.plan import AuditRequest, plan_audit
from mixseek.audits.views import render_card_page
from mixseek.comparison.views.unusable import explain_missing
from mixseek.domain.judgments import JudgedRow
from mixseek.domain.kinds import read_kind
from mixseek.index.run import open_run_index
from mixseek.runs.cards import Card
from mixseek.runs.dry_run import DryRun
from mixseek.runs.forecast import forecast_run
from mixseek.runs.judge import Interruption
from mixseek.runs.live import ProgressMaker
from mixseek.runs.requests.given_options import several
from mixseek.runs.requests.request import JudgeRequest
from mixseek.stats.audits import Audit
from mixseek.storage.durable import write_page
from mixseek.storage.workspace import Workspace

CARD_FILE = "card.json"


def forecast_audit(request: AuditRequest) -> list[DryRun]:
    """Calls, tokens and cost of every run; nothing is sent."""
    return [forecast_run(run) for run in plan_audit(request).runs()]


def run_audit(
    request: AuditRequest, show_progress: ProgressMaker, stop: Callable[[], bool], notify: Callable[[str], None]
) -> tuple[Card, Path] | Interruption:
    """Ask what was not asked yet, and write the card beside the main run: with the place where it is."""
    audit, started = plan_audit(request), datetime.now(UTC)
    summaries: list[RunSummary] = []
    for run_request in audit.runs():
        result = judge_dataset(run_request, show_progress, stop, notify)
        if isinstance(result, Interruption):
            return result
        if not result.is_complete:
            return Interruption(result.header.run_id, str(result.journal), explain_missing(result))
        summaries.append(result)
    workspace = Workspace(request.judging.workspace)
    rows = [read_rows(workspace, summary) for summary in summaries]
    card = make_card(audit, rows, [summary.header.run_id for summary in summaries])
    if request.since is not None and card.created_at < started:
        notify(f"this look was finished at {card.created_at:%Y-%m-%d %H:%M} UTC; for a new one, give it a name (--run)")
    path = workspace.run(card.runs[0]).path / CARD_FILE
    write_card(card, path)
    return card, path


def write_card(card: Card, path: Path) -> None:
    """Writes a page where the name ends so, else as what `read_card` reads."""
    is_page = path.suffix == ".html"
    text = render_card_page(card) if is_page else json.dumps(card.to_document(), ensure_ascii=False, indent=2) + "\n"
    write_page(text, path, "card.html" if is_page else CARD_FILE)


def audit_request(request: JudgeRequest, options: Mapping[str, Any]) -> AuditRequest:
    """The request from options by the names of the table, whichever door they came through."""
    return AuditRequest(
        request,
        items=options.get("n", 100),
        seed=options.get("seed", 0),
        only=read_audits(several(options.get("only", ()))),
        since=Path(options["since"]) if "since" in options else None,
        own_name=options.get("own_name"),
    )


def read_audits(names: Sequence[str]) -> tuple[Audit, ...]:
    """The audits by name; raises ConfigurationError with the nearest one for a slip."""
    return tuple(read_kind(Audit, name, "--only") for name in names)


def read_rows(workspace: Workspace, summary: RunSummary) -> dict[str, JudgedRow]:
    with open_run_index(workspace, workspace.run(summary.header.run_id)) as index:
        return {row.id: row for row in index.rows()}
