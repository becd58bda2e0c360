"""Competitions and evaluations from Python: `mixseek.compete`, `mixseek.evaluate`, and both awaited."""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from mixseek.api.options import check_options, run_to_end
from mixseek.api.words import in_python_words, without_flags
from mixseek.competition import evaluation
from mixseek.competition import play as composition
from mixseek.competition.boards import write_leader_board
from mixseek.competition.evaluation import EvaluateRequest, SubmissionText
from mixseek.competition.plan import CompeteRequest
from mixseek.competition.play import CompetitionObserver
from mixseek.competition.views.board import LeaderBoard, TeamView, leader_board_document
from mixseek.competition.views.evaluation import Evaluation
from mixseek.competition.views.sections import team_table
from mixseek.domain.rounds import ExecutionStatus
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.render.html import sections_html
from mixseek.presentation.sections import Section
from mixseek.round_controller.orchestrator import CompetitionResult
from mixseek.round_controller.team import AfterRound
from mixseek.runs.requests.given_options import live_options
from mixseek.settings.load import load_settings
from mixseek.settings.options import CompeteOptions, EvaluateOptions
from mixseek.settings.race import RaceFile, make_race


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
        return None if self.result.reason is None else without_flags(self.result.reason, "judge")

    @property
    def is_open(self) -> bool:
        """Whether the same call would try anything again."""
        return self.status is ExecutionStatus.INTERRUPTED or self.result.is_open

    @property
    def teams(self) -> tuple[TeamView, ...]:
        """The teams in the order of their places, with all of their rounds."""
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
                "is_self_judged": team.is_self_judged,
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
        return sections_html([Section(f"{self.execution}: {self.status.value}", [team_table(enumerate(self.teams))])])


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
    with in_python_words("judge"):
        return run_to_end(lambda stop: _compete(race, after_round, options, stop))


async def acompete(
    race: RaceLike, *, after_round: AfterRound | None = None, **options: Unpack[CompeteOptions]
) -> Competition:
    """The same as `compete`, awaited."""
    with in_python_words("judge"):
        return await _compete(race, after_round, options, lambda: False)


async def _compete(
    race: RaceLike, after_round: AfterRound | None, options: CompeteOptions, stop: Callable[[], bool]
) -> Competition:
    given = check_options(dict(options), CompeteOptions, "compete")
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
        longest_line=settings.judge.longest_line,
    )
    played = await composition.compete(request, CompetitionObserver(stop=stop, after_round=after_round))
    return Competition(played.result, played.board, played.counts.sent)


# `mixseek.evaluate` and `mixseek.aevaluate`: the evaluator of a race, without a race.


Submissions = str | Mapping[str, str] | Iterable[str]


def evaluate(user_query: str, submissions: Submissions, **options: Unpack[EvaluateOptions]) -> Evaluation:
    """Score one submission or many: the metrics of a race and their weighted mean, on 0..100.

    `submissions` is a text, several texts, or a mapping of names to texts. A metric that gives no score is a
    `MissingMetric` with its reason, and then there is no overall score. Raises MixseekError for what concerns all of
    them: a setting, a refused key. Works inside a running event loop, too; there `aevaluate` does not block it.
    """
    with in_python_words("judge"):
        return run_to_end(lambda stop: _evaluate(user_query, submissions, options, stop))


async def aevaluate(user_query: str, submissions: Submissions, **options: Unpack[EvaluateOptions]) -> Evaluation:
    """The same as `evaluate`, awaited."""
    with in_python_words("judge"):
        return await _evaluate(user_query, submissions, options, lambda: False)


async def _evaluate(
    user_query: str, submissions: Submissions, options: EvaluateOptions, stop: Callable[[], bool]
) -> Evaluation:
    given = check_options(dict(options), EvaluateOptions, "evaluate")
    if "workspace" in given:
        return await evaluation.evaluate(make_request(user_query, submissions, given, Path(given["workspace"])), stop)
    with tempfile.TemporaryDirectory(prefix="mixseek-") as directory:
        scored = await evaluation.evaluate(make_request(user_query, submissions, given, Path(directory)), stop)
    return replace(scored, journal=None)


def make_request(
    user_query: str, submissions: Submissions, given: Mapping[str, Any], workspace: Path
) -> EvaluateRequest:
    """The request that the command line makes, too."""
    evaluator, settings = given.get("evaluator"), load_settings()
    return EvaluateRequest(
        submissions=name_submissions(submissions),
        workspace=workspace,
        user_query=user_query,
        evaluator=Path(evaluator) if isinstance(evaluator, str) else evaluator,
        judge=given.get("judge"),
        language=given.get("language"),
        live=live_options(given),
        configured=settings.judges,
        environment=os.environ,
        longest_line=settings.judge.longest_line,
    )


def name_submissions(submissions: Submissions) -> list[SubmissionText]:
    """The submissions by their own names, or by their place, from 1."""
    if isinstance(submissions, str):
        return [SubmissionText("1", submissions)]
    if not isinstance(submissions, Iterable):
        raise ConfigurationError(f"submissions: a value of type {type(submissions).__name__}; give a text, or several")
    if not isinstance(submissions, Mapping):
        submissions = {str(number): text for number, text in enumerate(submissions, 1)}
    for name, text in submissions.items():
        if not isinstance(text, str):
            raise ConfigurationError(f"submission {name!r}: a value of type {type(text).__name__}; give its text")
    return [SubmissionText(name, text) for name, text in submissions.items()]
