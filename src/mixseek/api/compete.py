"""`mixseek.compete` and `mixseek.acompete`: a competition, and a word after each round."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from mixseek.api.loops import run_to_end
from mixseek.api.options import check_options, live_options
from mixseek.competition.orchestrator import CompetitionResult
from mixseek.composition.competitions import compete as composition
from mixseek.composition.competitions.compete import CompetitionObserver
from mixseek.composition.competitions.leaderboards import write_leader_board
from mixseek.composition.competitions.race import CompeteRequest
from mixseek.domain.rounds import ExecutionStatus
from mixseek.reporting.html import render_table
from mixseek.reporting.leaderboard import LeaderBoard, TeamView, leader_board_document, points_text
from mixseek.round_controller.controller import AfterRound
from mixseek.settings.load import load_settings
from mixseek.settings.race import RaceFile, make_race


class CompeteOptions(TypedDict, total=False):
    """Every option of `mixseek compete`; what is left out is as on the command line."""

    workspace: str | Path
    """Where the competition is stored and resumed. Default: as on the command line, .mixseek or what is set."""
    execution: str
    """Name of the execution. Default: the same for the same race."""
    directory: str | Path
    """Where paths and modules of a race begin that is no file. Default: the current directory."""
    concurrency: int
    """Calls at once to an endpoint, at most. Default: 32."""
    max_calls: int
    """Stop after so many requests; resumable."""
    max_cost: float
    """Stop before more US dollars are spent; resumable."""
    cache: bool
    """False: evaluate again even what the workspace has a reply for."""
    patience: float
    """Wait so many seconds for an endpoint that is down. Default: 600."""
    retry_invalid: bool
    """Ask again for metric replies that cannot be used; nobody plays again."""


@dataclass(frozen=True, slots=True)
class Competition:
    """How a competition stands: the leader board as every view shows it, and what this call sent."""

    result: CompetitionResult
    board: LeaderBoard
    sent: Mapping[str, int | float]

    @property
    def execution(self) -> str:
        return self.board.execution_id

    @property
    def status(self) -> ExecutionStatus:
        return self.result.status

    @property
    def reason(self) -> str | None:
        """A sentence where it stopped by itself before its end."""
        return self.result.reason

    @property
    def is_open(self) -> bool:
        """Whether the same call would try anything again."""
        return self.status is ExecutionStatus.INTERRUPTED or self.result.is_open

    @property
    def teams(self) -> tuple[TeamView, ...]:
        """In the order of their places, with all of their rounds."""
        return self.board.teams

    @property
    def leader(self) -> TeamView | None:
        return self.board.leader

    @property
    def best_score(self) -> float | None:
        return self.result.best_score

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows of the leader board, flat."""
        return [
            {
                "rank": team.rank,
                "team_id": team.team_id,
                "team_name": team.team_name,
                "best_score": team.best_score,
                "best_round": team.best_round,
                "rounds": len(team.rounds),
                "ended": team.ending,
                "message": team.message,
            }
            for team in self.teams
        ]

    def to_document(self) -> dict[str, Any]:
        """All of it, as `mixseek leaderboard --json` prints it."""
        return leader_board_document(self.board)

    def report(self, path: str | Path) -> Path:
        """Write the page with curves, submissions, remarks and opinions."""
        write_leader_board(self.board, Path(path))
        return Path(path)

    def _repr_html_(self) -> str:
        heads = ("#", "team", "best", "round", "rounds", "ended")
        rows = [
            [
                str(team.rank or ""),
                team.team_name,
                points_text(team.best_score),
                str(team.best_round or ""),
                str(len(team.rounds)),
                team.ending,
            ]
            for team in self.teams
        ]
        return render_table(heads, rows, f"{self.execution}: {self.status.value}")


RaceLike = str | Path | Mapping[str, Any] | RaceFile


def compete(race: RaceLike, *, after_round: AfterRound | None = None, **options: Unpack[CompeteOptions]) -> Competition:
    """Let teams compete, as `mixseek compete` does: the same store, and the same call again resumes.

    `race` is a file, or what would stand in it. `after_round` is told a `RoundRecord` when a round is stored, scored
    and decided upon; it may be async. Its team waits for it, the others play on, and it is not told of rounds that an
    earlier call had played. If it raises, what is in flight comes home, the competition stops, resumable after that
    round, and AfterRoundError is raised from what it raised.

    A team that fails does not raise: see `is_open` and the rows. Works inside a running event loop, too; there
    `acompete` does not block it.
    """
    return run_to_end(lambda stop: _compete(race, after_round, options, stop))


async def acompete(
    race: RaceLike, *, after_round: AfterRound | None = None, **options: Unpack[CompeteOptions]
) -> Competition:
    """As `compete`, awaited."""
    return await _compete(race, after_round, options, lambda: False)


async def _compete(
    race: RaceLike, after_round: AfterRound | None, options: CompeteOptions, stop: Callable[[], bool]
) -> Competition:
    given = check_options(dict(options), CompeteOptions.__annotations__, "compete")
    settings = load_settings()
    directory = Path(given.get("directory", ".")).resolve()
    request = CompeteRequest(
        race=Path(race)
        if isinstance(race, str | Path)
        else make_race(race, name="race", directory=directory, where="race"),
        workspace=Path(given.get("workspace", settings.workspace)),
        execution=given.get("execution"),
        live=live_options(given),
        configured=settings.judges,
        environment=os.environ,
    )
    played = await composition.compete(request, CompetitionObserver(stop=stop, after_round=after_round))
    return Competition(played.result, played.board, played.counts.sent)
