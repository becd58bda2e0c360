"""`mixseek compete`: teams before one task, round after round."""

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, BadParameter, Option

from mixseek.cli.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.failures import stopping_on_signals
from mixseek.cli.options import JsonOption, MaxCalls, MaxCost, Quiet, WorkspaceOption, share_option
from mixseek.competition.orchestrator import CompetitionResult
from mixseek.composition.competitions.compete import (
    Competition,
    CompetitionObserver,
    forecast_competition,
    run_competition,
)
from mixseek.composition.competitions.race import CompeteRequest
from mixseek.domain.rounds import ExecutionStatus
from mixseek.reporting.leaderboard import leader_board_document, print_leader_board
from mixseek.reporting.summary import describe_forecast, forecast_document
from mixseek.reporting.wording import make_visible
from mixseek.round_controller.controller import Stage, TeamEvent, Watcher, watch_nothing


def parse_points(given: str | float) -> float:
    """80 and 80% are the same points of 100; 0.8 could be meant either way."""
    text = str(given)
    try:
        points = float(text.removesuffix("%"))
    except ValueError:
        raise BadParameter(f"{text!r} is not a number of points; write 80 or 80%") from None
    # Written so that NaN is refused too.
    if not 0 <= points <= 100:
        raise BadParameter(f"{text!r} is outside 0..100, the scale of scores; write 80 or 80%")
    if 0 < points <= 1 and not text.endswith("%"):
        raise BadParameter(f"{text!r} could be points or a share; write {points * 100:g} or {points:g}%")
    return points


def compete(
    race: Annotated[Path, Argument(metavar="RACE", help="A race.toml: task, teams, evaluator, rounds.")],
    workspace: WorkspaceOption = None,
    execution: Annotated[
        str | None, Option(metavar="NAME", help="Name of the execution. Default: the same for the same race.")
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check the whole race and print the calls to be expected; send nothing.")
    ] = False,
    as_json: JsonOption = False,
    quiet: Quiet = False,
    concurrency: Annotated[
        int, Option(metavar="N", min=1, max=4096, help="Calls at once to an endpoint, at most.")
    ] = 32,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    no_cache: Annotated[
        bool, Option("--no-cache", help="Evaluate again even what the workspace has a reply for.")
    ] = False,
    patience: Annotated[
        float, Option(metavar="SECONDS", min=1.0, help="Wait so long for an endpoint that is down.")
    ] = 600.0,
    retry_invalid: Annotated[
        bool, Option("--retry-invalid", help="Ask again for metric replies that cannot be used; nobody plays again.")
    ] = False,
    fail_under: Annotated[
        float | None,
        Option(metavar="POINTS", parser=parse_points, help="Exit 1 if the best score is lower: 80 or 80%."),
    ] = None,
    max_invalid: Annotated[float | None, share_option("Exit 1 if more metric replies cannot be used.")] = None,
) -> ExitCode:
    """Let teams compete on one task, and show the leader board.

    Interrupted? Run the same command again: it goes on with the round that each team had reached.

    \b
    Examples:
      mixseek compete race.toml --dry-run
      mixseek compete race.toml --max-cost 2
      mixseek compete race.toml --execution tuesday --json
      mixseek compete race.toml --retry-invalid              ask again for metric replies that cannot be used
      mixseek compete race.toml --fail-under 80 --max-invalid 5%
    """
    from mixseek.composition.competitions.race import CompeteRequest
    from mixseek.composition.request import LiveOptions
    from mixseek.settings.load import load_settings

    # The command line wins over the settings.
    settings = load_settings()
    request = CompeteRequest(
        race=race,
        workspace=workspace or settings.workspace,
        execution=execution,
        live=LiveOptions(
            concurrency=concurrency,
            max_calls=max_calls,
            max_cost_usd=max_cost,
            use_cache=not no_cache,
            patience_seconds=patience,
            retry_invalid=retry_invalid,
        ),
        configured=settings.judges,
        environment=os.environ,
    )
    return run_compete(request, (fail_under, max_invalid), as_json=as_json, quiet=quiet, is_dry_run=dry_run)


# What `mixseek compete` does between its options and its exit code.

# Teams at work, on stderr: a line each that changes on a terminal, a line for each score elsewhere.


def one_line(text: str) -> str:
    """What others wrote, without what would break a line or hide in it."""
    return make_visible(" ".join(text.split()))


def write_event(event: TeamEvent) -> None:
    """For logs: what was stored, and nothing that is only under way."""
    name = one_line(event.team_name)
    if event.stage is Stage.SCORED:
        said = event.text or ("no score" if event.score is None else f"{event.score:.2f}")
        notify_plainly(f"{name}: round {event.round_number}: {one_line(said)}")
    elif event.stage is Stage.ENDED:
        notify_plainly(f"{name}: ended after {event.round_number} rounds ({one_line(event.text)})")


@dataclass
class BarWatcher:
    """For a person: a line for each team, drawn by rich."""

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
    """For each gate that is set (points of the best score, a share of metric replies): its result, and the words."""
    checked: list[tuple[dict[str, Any], str]] = []
    if fail_under is not None:
        best = result.best_score
        is_met = best is not None and best >= fail_under
        said = "no round has a score" if best is None else f"best score {best:.2f}"
        document = {"gate": "fail_under", "limit": fail_under, "actual": best, "met": is_met}
        checked.append((document, f"{said}, under the limit of {fail_under:g}"))
    if max_invalid is not None:
        counts = result.evaluations
        share = counts["invalid"] / counts.total() if counts.total() else 0.0
        document = {"gate": "max_invalid", "limit": max_invalid, "actual": share, "met": share <= max_invalid}
        said = f"{counts['invalid']} of {counts.total()} metric replies cannot be used ({share:.2%})"
        checked.append((document, f"{said}, over the limit of {max_invalid:.2%}"))
    return checked


def run_compete(
    request: CompeteRequest, gates: tuple[float | None, float | None], *, as_json: bool, quiet: bool, is_dry_run: bool
) -> ExitCode:
    """Check or play, print, decide."""
    if is_dry_run:
        forecast = forecast_competition(request)
        return print_answer(forecast_document(forecast), describe_forecast(forecast), as_json=as_json)
    notify = (lambda _: None) if quiet else notify_plainly
    with stopping_on_signals() as stop, show_teams(quiet) as watcher:
        competition = run_competition(request, CompetitionObserver(watcher, stop, notify))
    checked = check_gates(competition.result, *gates)
    print_competition(competition, [document for document, _ in checked], as_json=as_json)
    return decide_exit(competition, [(document["gate"], said) for document, said in checked if not document["met"]])


def print_competition(competition: Competition, gates: list[dict[str, Any]], *, as_json: bool) -> None:
    """The leader board, also of a competition that is not over."""
    document = {
        **leader_board_document(competition.board),
        "evaluations": dict(competition.result.evaluations),
        "gates": gates,
        "reason": competition.result.reason,
        "sent": competition.counts.sent,
    }
    print_answer(document, lambda console: print_leader_board(competition.board, console), as_json=as_json)


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
    for name, said in failed_gates:
        notify_plainly(f"gate --{name.replace('_', '-')} not met: {said}")
    return ExitCode.GATE_NOT_MET if failed_gates or result.best_score is None else ExitCode.OK


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
    if result.best_score is None:
        reason = one_line(result.commonest_reason or "no team has handed in anything")
        notify_plainly(f"no round got a score; the commonest reason: {reason[:_REASON_CHARACTERS]}")
