"""Boards for the tests of the leader board's views."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mixseek.competition.views.board import LeaderBoard, build_leader_board
from mixseek.domain.rounds import (
    BoardEntry,
    DecidedBy,
    Execution,
    ExecutionStatus,
    ImprovementJudgment,
    Opinion,
    RoundDecision,
    RoundProgress,
    StopReason,
    TeamProgress,
    rank_teams,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ON = RoundDecision(True, None, DecidedBy.JUDGE)
LAST = RoundDecision(False, StopReason.MAX_ROUNDS, DecidedBy.CONTROLLER)
GO_ON = ImprovementJudgment(True, "there is more in it", 0.8)


def details_of(score: float | None, comment: str = "clear enough") -> dict[str, Any]:
    """As the evaluator writes them: one metric scored, and one missing where there is no score."""
    metric = {"name": "clarity", "score": score or 50.0, "weight": 0.5, "direction": "higher", "comment": comment}
    usage = {"calls": 2, "input_tokens": 100, "output_tokens": 10, "cost_usd": 0.25}
    missing = [] if score is not None else [{"name": "coverage", "reason": "503 from the endpoint"}]
    return {"metrics": [metric], "missing": missing, "usage": usage}


def round_of(
    number: int,
    score: float | None,
    *,
    submission: str = "a text",
    opinion: Opinion | None = GO_ON,
    decision: RoundDecision | None = ON,
    usage: Mapping[str, Any] | None = None,
) -> RoundProgress:
    used = {"input_tokens": 7, "output_tokens": 3, "cost_usd": 0.5} if usage is None else usage
    return RoundProgress(number, submission, used, NOON, score, details_of(score), NOON, opinion, decision, NOON)


def team_of(
    name: str, scores: Sequence[float | None], stop: StopReason | None = StopReason.MAX_ROUNDS, message: str = ""
) -> TeamProgress:
    rounds = [
        round_of(number, score, decision=LAST if number == len(scores) else ON)
        for number, score in enumerate(scores, 1)
    ]
    return TeamProgress(name.lower(), name, tuple(rounds), stop, message, NOON)


def board_of(
    *teams: TeamProgress,
    status: ExecutionStatus = ExecutionStatus.FINISHED,
    task: str = "Write a haiku.",
    execution_id: str = "race-1",
    configuration: Mapping[str, Any] | None = None,
) -> LeaderBoard:
    execution = Execution(execution_id, task, configuration or {"rounds": {"max": 5}}, status, NOON, NOON)
    entries = [
        BoardEntry(team.team_id, team.team_name, one.round_number, one.score) for team in teams for one in team.rounds
    ]
    return build_leader_board(execution, rank_teams(entries), {team.team_id: team for team in teams})
