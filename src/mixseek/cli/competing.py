"""What `mixseek compete` does between its options and its exit code."""

import os
from dataclasses import dataclass
from pathlib import Path

from mixseek.cli.compete_progress import one_line, show_teams
from mixseek.cli.documents import print_json
from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.interrupts import stopping_on_signals
from mixseek.cli.notices import notify_plainly
from mixseek.cli.streams import print_result
from mixseek.cli.terminal import print_rendered
from mixseek.composition.compete import Competition, run_competition
from mixseek.composition.compete_plans import CompeteRequest
from mixseek.domain.rounds import ExecutionStatus
from mixseek.settings.load import load_settings


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
            configured=settings.configured_judges(),
            environment=os.environ,
        )


def run_compete(arguments: CompeteArguments, *, as_json: bool, quiet: bool, is_dry_run: bool) -> ExitCode:
    """Check or play, print, decide."""
    request = arguments.to_request()
    if is_dry_run:
        return print_forecast(request, as_json=as_json)
    tell = (lambda _: None) if quiet else notify_plainly
    with stopping_on_signals() as stop, show_teams(quiet) as watcher:
        competition = run_competition(request, watcher, stop, tell)
    print_competition(competition, as_json=as_json)
    return decide_exit(competition)


def print_forecast(request: CompeteRequest, *, as_json: bool) -> ExitCode:
    """What would be asked."""
    from mixseek.composition.compete_forecasts import describe_forecast, forecast_competition, forecast_document

    forecast = forecast_competition(request)
    if as_json:
        print_json(forecast_document(forecast))
    else:
        print_result(describe_forecast(forecast))
    return ExitCode.OK


def print_competition(competition: Competition, *, as_json: bool) -> None:
    """The leader board, also of a competition that is not over."""
    from mixseek.reporting.leaderboard import leader_board_document
    from mixseek.reporting.leaderboard_terminal import print_leader_board

    if as_json:
        sent = {name: competition.counts.get(name, 0) for name in ("calls", "cached")}
        cost = competition.counts.get("cost_millionths", 0) / 1_000_000
        document = leader_board_document(competition.board)
        print_json({**document, "reason": competition.result.reason, "sent": {**sent, "cost_usd": cost}})
    else:
        print_rendered(lambda console: print_leader_board(competition.board, console))


def decide_exit(competition: Competition) -> ExitCode:
    """Who was not ended by a decision may try again; so say why."""
    result = competition.result
    if result.status is ExecutionStatus.INTERRUPTED:
        if result.reason is not None:
            notify_plainly(f"stopped: {result.reason}")
            return ExitCode.INCOMPLETE
        notify_plainly("interrupted; everything so far is stored: run the same command again to resume")
        return ExitCode.INTERRUPTED
    for end in result.accidents:
        notify_plainly(f"team {end.team_id}: {end.stop_reason.value}: {one_line(end.message)}")
    if result.without_score:
        notify_plainly(
            f"rounds without a score: {result.without_score}; their judge's reply is there and cannot be used, "
            "or it refuses the submission: running again changes nothing"
        )
    if result.awaiting_score:
        notify_plainly(f"rounds without a score: {result.awaiting_score}; their metrics are missing")
    if result.is_open:
        notify_plainly("run the same command again: failed rounds are played again, missing replies asked for")
        return ExitCode.INCOMPLETE
    return ExitCode.OK
