"""What `mixseek compete` does between its options and its exit code."""

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.terminal.stopping import stopping_on_signals
from mixseek.competition.plan import CompeteRequest
from mixseek.competition.play import Competition, CompetitionObserver, forecast_competition, run_competition
from mixseek.competition.views.board import leader_board_document
from mixseek.competition.views.forecast import forecast_document, forecast_sections
from mixseek.competition.views.sections import leader_board_sections
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.domain.rounds import ExecutionStatus
from mixseek.lazy_dataclass import dataclass
from mixseek.round_controller.orchestrator import CompetitionResult
from mixseek.round_controller.team import Stage, TeamEvent, Watcher, watch_nothing
from mixseek.text.visible import make_visible

# Teams at work, on stderr: a line each that changes on a terminal, a line for each score elsewhere.


def one_line(text: str) -> str:
    """What others wrote, without what would break a line or hide in it."""
    return make_visible(" ".join(text.split()))


def write_event(event: TeamEvent) -> None:
    """Writes for logs: what was stored, and nothing that is only under way."""
    name = one_line(event.team_name)
    if event.stage is Stage.SCORED:
        score_text = event.text or ("no score" if event.score is None else f"{event.score:.2f}")
        notify_plainly(f"{name}: round {event.round_number}: {one_line(score_text)}")
    elif event.stage is Stage.ENDED:
        notify_plainly(f"{name}: ended after {event.round_number} rounds ({one_line(event.text)})")


@dataclass
class BarWatcher:
    """A watcher for a person: a line for each team, drawn by rich."""

    bar: Any  # rich.progress.Progress; rich is imported only when it draws
    tasks: dict[str, Any] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)

    def __call__(self, event: TeamEvent) -> None:
        if event.score is not None:
            self.best[event.team_id] = max(event.score, self.best.get(event.team_id, 0.0))
        best = self.best.get(event.team_id)
        text = event.text if event.stage is Stage.ENDED and event.text else event.stage.value
        shown = {
            "team": one_line(event.team_name),
            "round": f"round {event.round_number}" if event.round_number else "",
            "best": "" if best is None else f"best {best:.2f}",
            "text": one_line(text)[:60],
        }
        if event.team_id in self.tasks:
            self.bar.update(self.tasks[event.team_id], **shown)
        else:
            self.tasks[event.team_id] = self.bar.add_task("", total=None, **shown)


@contextlib.contextmanager
def show_teams(quiet: bool) -> Iterator[Watcher]:
    """The watcher that fits where stderr goes."""
    if quiet or not sys.stderr.isatty():
        yield watch_nothing if quiet else write_event
        return
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    columns = [TextColumn(f"{{task.fields[{name}]}}", markup=False) for name in ("team", "round", "best", "text")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield BarWatcher(bar)


_REASON_CHARACTERS = 300


def check_gates(
    result: CompetitionResult, fail_under: float | None, max_invalid: float | None
) -> list[tuple[dict[str, Any], str]]:
    """The result and the words of each gate that is set (points of the best score, a share of metric replies)."""
    checked: list[tuple[dict[str, Any], str]] = []
    if fail_under is not None:
        best = result.best_score
        is_met = best is not None and best >= fail_under
        nobody = "no team is ranked" if result.self_scored else "no round has a score"
        sentence = nobody if best is None else f"best score {best:.2f}"
        document = {"gate": "fail_under", "limit": fail_under, "actual": best, "met": is_met}
        checked.append((document, f"{sentence}, under the limit of {fail_under:g}"))
    if max_invalid is not None:
        counts = result.evaluations
        share = counts["invalid"] / counts.total() if counts.total() else 0.0
        document = {"gate": "max_invalid", "limit": max_invalid, "actual": share, "met": share <= max_invalid}
        sentence = f"{counts['invalid']} of {counts.total()} metric replies cannot be used ({share:.2%})"
        checked.append((document, f"{sentence}, over the limit of {max_invalid:.2%}"))
    return checked


def run_compete(
    request: CompeteRequest, gates: tuple[float | None, float | None], *, as_json: bool, quiet: bool, is_dry_run: bool
) -> ExitCode:
    """Check or play, print, decide."""
    if is_dry_run:
        forecast = forecast_competition(request)
        return print_answer(forecast_document(forecast), lambda: forecast_sections(forecast), as_json=as_json)
    notify = (lambda _: None) if quiet else notify_plainly
    with stopping_on_signals() as stop, show_teams(quiet) as watcher:
        competition = run_competition(request, CompetitionObserver(watcher, stop, notify))
    checked = check_gates(competition.result, *gates)
    print_competition(competition, [document for document, _ in checked], as_json=as_json)
    return decide_exit(
        competition, [(document["gate"], sentence) for document, sentence in checked if not document["met"]]
    )


def print_competition(competition: Competition, gates: list[dict[str, Any]], *, as_json: bool) -> None:
    """The leader board, also of a competition that is not over."""
    document = {
        **with_schema(DocumentName.COMPETE, leader_board_document(competition.board)),
        "evaluations": dict(competition.result.evaluations),
        "gates": gates,
        "reason": competition.result.reason,
        "sent": competition.counts.sent,
    }
    print_answer(document, lambda: leader_board_sections(competition.board), as_json=as_json)


def decide_exit(competition: Competition, failed_gates: list[tuple[str, str]]) -> ExitCode:
    """Who was not ended by a decision may try again; so say why, and say it only where that may help."""
    result = competition.result
    if result.status is ExecutionStatus.INTERRUPTED:
        if result.reason is not None:
            notify_plainly(f"stopped: {result.reason}")
            return ExitCode.INCOMPLETE
        notify_plainly("interrupted; everything so far is stored: run the same command again to resume")
        return ExitCode.INTERRUPTED
    for end in result.accidents:
        notify_plainly(f"team {end.team_id}: {end.stop_reason.value}: {one_line(end.message)}")
    tell_unscored(result)
    if result.is_open:
        notify_plainly("run the same command again: failed rounds are played again, missing replies asked for")
        return ExitCode.INCOMPLETE
    for name, sentence in failed_gates:
        notify_plainly(f"gate --{name.replace('_', '-')} not met: {sentence}")
    is_scored = result.best_score is not None or result.self_scored > 0
    return ExitCode.GATE_NOT_MET if failed_gates or not is_scored else ExitCode.OK


def tell_unscored(result: CompetitionResult) -> None:
    """How many rounds have no score, and what could be done about them."""
    if result.without_score:
        remedy = "--retry-invalid asks for it again" if result.evaluations["invalid"] else "asking again may not help"
        notify_plainly(
            f"rounds without a score: {result.without_score}; their judge's reply is there and cannot be used, "
            f"or it refuses the submission: {remedy}"
        )
    if result.awaiting_score:
        notify_plainly(f"rounds without a score: {result.awaiting_score}; their metrics are missing")
    if result.self_scored:
        notify_plainly(f"rounds scored by the team's own model: {result.self_scored}; shown apart, not ranked")
    if result.best_score is None and not result.self_scored:
        reason = one_line(result.commonest_reason or "no team has handed in anything")
        notify_plainly(f"no round got a score; the commonest reason: {reason[:_REASON_CHARACTERS]}")
