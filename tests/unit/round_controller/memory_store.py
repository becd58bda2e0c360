"""A store in memory that may die before or after any of its steps, and teams and metrics that do as they are told."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from mixseek.domain.judgments import Missing
from mixseek.domain.rounds import (
    BoardEntry,
    Execution,
    ExecutionStatus,
    Opinion,
    RankedTeam,
    RoundDecision,
    RoundKey,
    RoundProgress,
    StopReason,
    TeamProgress,
    rank_teams,
)
from mixseek.evaluator.metrics import BaseMetric, MetricSetting
from mixseek.evaluator.scores import EvaluationRequest, MetricScore, MissingMetric
from mixseek.round_controller.team import FailedSubmission, Submission, TeamEvent

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class CrashError(BaseException):
    """kill -9, as far as a test can have it."""


@dataclass
class MemoryStore:
    """Refuses what the real one refuses: an evaluation without a submission, another text, another score."""

    teams: dict[str, TeamProgress] = field(default_factory=dict)
    status: ExecutionStatus | None = None
    steps: int = 0
    crash_before: int | None = None
    crash_after: int | None = None
    written: list[str] = field(default_factory=list)

    async def begin_execution(
        self, execution_id: str, task: str, configuration: Mapping[str, Any], started_at: datetime
    ) -> None:
        self.status = ExecutionStatus.RUNNING

    async def save_submission(
        self, key: RoundKey, team_name: str, text: str, usage: Mapping[str, Any], at: datetime
    ) -> None:
        team = self.teams.get(key.team, TeamProgress(key.team, team_name))
        assert key.round == len(team.rounds) + 1
        one = RoundProgress(key.round, text, usage, at)
        self._write(f"submission {key.round}", replace(team, rounds=(*team.rounds, one)))

    async def save_evaluation(
        self, key: RoundKey, score: float | None, details: Mapping[str, Any], at: datetime
    ) -> None:
        last = self.teams[key.team].rounds[key.round - 1]
        assert last.score is None
        self._change("evaluation", key, {"score": score, "details": details, "evaluated_at": at})

    async def save_decision(
        self, key: RoundKey, opinion: Opinion | None, decision: RoundDecision, at: datetime
    ) -> None:
        last = self.teams[key.team].rounds[key.round - 1]
        assert last.evaluated_at is not None
        assert last.decision is None or last.decision.stop_reason is StopReason.JUDGE_OUT
        self._change("decision", key, {"opinion": opinion, "decision": decision, "decided_at": at})

    async def finish_team(
        self,
        execution_id: str,
        team_id: str,
        stop_reason: StopReason,
        message: str,
        at: datetime,
        *,
        team_name: str | None = None,
    ) -> None:
        team = self.teams.get(team_id, TeamProgress(team_id, team_name or team_id))
        self._write(f"end {stop_reason}", replace(team, stop_reason=stop_reason, message=message, finished_at=at))

    async def finish_execution(self, execution_id: str, status: ExecutionStatus, at: datetime) -> None:
        self.status = status

    async def progress(self, execution_id: str) -> Mapping[str, TeamProgress]:
        return dict(self.teams)

    async def ranking(self, execution_id: str) -> Sequence[RankedTeam]:
        return rank_teams(
            BoardEntry(team.team_id, team.team_name, one.round_number, one.score)
            for team in self.teams.values()
            for one in team.rounds
        )

    async def executions(self) -> Sequence[Execution]:
        return ()

    def _change(self, step: str, key: RoundKey, changes: Mapping[str, Any]) -> None:
        team = self.teams[key.team]
        rounds = [replace(one, **changes) if one.round_number == key.round else one for one in team.rounds]
        self._write(f"{step} {key.round}", replace(team, rounds=tuple(rounds)))

    def _write(self, what: str, team: TeamProgress) -> None:
        self.steps += 1
        if self.steps == self.crash_before:
            raise CrashError
        self.teams[team.team_id] = team
        self.written.append(what)
        if self.steps == self.crash_after:
            raise CrashError


@dataclass
class ScriptedTeam:
    """Submits `text in round N`, or fails, or takes its time, by round."""

    team_id: str = "alpha"
    failures: Mapping[int, str] = field(default_factory=dict)
    seconds: Mapping[int, float] = field(default_factory=dict)
    text: str = "text"
    target_model: str | None = None
    submitted: list[int] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    cancelled: list[int] = field(default_factory=list)

    @property
    def team_name(self) -> str:
        return self.team_id.title()

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        self.submitted.append(round_number)
        self.prompts.append(prompt)
        try:
            await asyncio.sleep(self.seconds.get(round_number, 0.0))
        except asyncio.CancelledError:
            self.cancelled.append(round_number)
            raise
        if round_number in self.failures:
            return FailedSubmission(self.failures[round_number])
        return Submission(f"{self.text} in round {round_number}", {"calls": 1})


class ScriptedMetric(BaseMetric):
    """A score by round; None is a metric that is missing, a text is why it is missing for good."""

    def __init__(self, scores: Sequence[float | str | None]) -> None:
        super().__init__(MetricSetting("m"))
        self.scores = list(scores)
        self.evaluated: list[tuple[str, int]] = []

    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        self.evaluated.append((request.team_id, request.round_number))
        await asyncio.sleep(0)
        score = self.scores[request.round_number - 1]
        if isinstance(score, str):
            return self.missing(Missing(score, is_permanent=True))
        return self.missing("out of order") if score is None else self.scored(score, "a remark")


@dataclass
class Diary:
    """What a watcher was told."""

    events: list[TeamEvent] = field(default_factory=list)

    def __call__(self, event: TeamEvent) -> None:
        self.events.append(event)
