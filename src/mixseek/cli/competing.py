"""What `mixseek compete` does between its options and its exit code."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixseek.cli.compete_progress import one_line, show_teams
from mixseek.cli.documents import print_json
from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.interrupts import stopping_on_signals
from mixseek.cli.notices import notify_plainly
from mixseek.cli.streams import print_result
from mixseek.cli.terminal import print_rendered
from mixseek.competition.orchestrator import CompetitionResult
from mixseek.composition.compete import Competition, run_competition
from mixseek.composition.compete_plans import CompeteRequest
from mixseek.domain.rounds import ExecutionStatus
from mixseek.settings.load import load_settings

_REASON_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class CompeteArguments:
    """As typed."""

    race: Path
    workspace: Path | None
    execution: str | None
    concurrency: int
    max_calls: int | None
    max_cost: float | None
    use_cache: bool
    patience_seconds: float
    retry_invalid: bool = False

    def to_request(self) -> CompeteRequest:
        """The command line wins over the settings."""
        settings = load_settings()
        return CompeteRequest(
            race=self.race,
            workspace=self.workspace or settings.workspace,
            execution=self.execution,
            concurrency=self.concurrency,
            max_calls=self.max_calls,
            max_cost_usd=self.max_cost,
            use_cache=self.use_cache,
            patience_seconds=self.patience_seconds,
            retry_invalid=self.retry_invalid,
            configured=settings.configured_judges(),
            environment=os.environ,
        )


@dataclass(frozen=True, slots=True)
class RaceGates:
    """What a finished race must keep: points of the best score, a share of all metric replies. None is no gate."""

    fail_under: float | None = None
    max_invalid: float | None = None

    def check(self, result: CompetitionResult) -> list[tuple[dict[str, Any], str]]:
        """For each gate that is set: its result for programs, and what is said if it is not met."""
        checked: list[tuple[dict[str, Any], str]] = []
        if self.fail_under is not None:
            best = result.best_score
            is_met = best is not None and best >= self.fail_under
            said = "no round has a score" if best is None else f"best score {best:.2f}"
            document = {"gate": "fail_under", "limit": self.fail_under, "actual": best, "met": is_met}
            checked.append((document, f"{said}, under the limit of {self.fail_under:g}"))
        if self.max_invalid is not None:
            counts = result.evaluations
            share = counts["invalid"] / counts.total() if counts.total() else 0.0
            document = {"gate": "max_invalid", "limit": self.max_invalid, "actual": share}
            document["met"] = share <= self.max_invalid
            said = f"{counts['invalid']} of {counts.total()} metric replies cannot be used ({share:.2%})"
            checked.append((document, f"{said}, over the limit of {self.max_invalid:.2%}"))
        return checked


def run_compete(
    arguments: CompeteArguments, gates: RaceGates, *, as_json: bool, quiet: bool, is_dry_run: bool
) -> ExitCode:
    """Check or play, print, decide."""
    request = arguments.to_request()
    if is_dry_run:
        return print_forecast(request, as_json=as_json)
    tell = (lambda _: None) if quiet else notify_plainly
    with stopping_on_signals() as stop, show_teams(quiet) as watcher:
        competition = run_competition(request, watcher, stop, tell)
    checked = gates.check(competition.result)
    print_competition(competition, [document for document, _ in checked], as_json=as_json)
    return decide_exit(competition, [(document["gate"], said) for document, said in checked if not document["met"]])


def print_forecast(request: CompeteRequest, *, as_json: bool) -> ExitCode:
    """What would be asked."""
    from mixseek.composition.compete_forecasts import describe_forecast, forecast_competition, forecast_document

    forecast = forecast_competition(request)
    if as_json:
        print_json(forecast_document(forecast))
    else:
        print_result(describe_forecast(forecast))
    return ExitCode.OK


def print_competition(competition: Competition, gates: list[dict[str, Any]], *, as_json: bool) -> None:
    """The leader board, also of a competition that is not over."""
    from mixseek.reporting.leaderboard import leader_board_document
    from mixseek.reporting.leaderboard_terminal import print_leader_board

    if as_json:
        sent = {name: competition.counts.get(name, 0) for name in ("calls", "cached")}
        cost = competition.counts.get("cost_millionths", 0) / 1_000_000
        document = leader_board_document(competition.board)
        told = {"evaluations": dict(competition.result.evaluations), "gates": gates}
        print_json({**document, **told, "reason": competition.result.reason, "sent": {**sent, "cost_usd": cost}})
    else:
        print_rendered(lambda console: print_leader_board(competition.board, console))


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
