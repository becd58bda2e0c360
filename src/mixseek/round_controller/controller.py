"""One team from its first round to its last. Each step is stored before the next: a death costs one step."""

import asyncio
import inspect
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from mixseek.domain.rounds import (
    ExecutionStore,
    NoOpinion,
    Opinion,
    RoundDecision,
    RoundKey,
    RoundProgress,
    RoundState,
    StopReason,
    TeamProgress,
    counts_as_self_judged,
    methods_of,
)
from mixseek.engine.endpoint import HaltedError
from mixseek.errors import AfterRoundError
from mixseek.evaluator.evaluator import Evaluator, describe_failure
from mixseek.evaluator.scores import EvaluationRequest
from mixseek.lazy_dataclass import dataclass
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.formatters import read_clock
from mixseek.prompt_builder.models import RoundPromptContext
from mixseek.round_controller.decisions import FINAL_REASONS, decide, wants_opinion
from mixseek.round_controller.judgment_client import JudgmentClient
from mixseek.round_controller.team import (
    AfterRound,
    FailedSubmission,
    RoundRecord,
    Stage,
    Submission,
    Team,
    TeamEvent,
    Watcher,
    watch_nothing,
)
from mixseek.settings.race import OutagePolicy, RoundsTable


@dataclass(frozen=True, slots=True)
class RoundParts:
    """What all teams of a competition share."""

    execution_id: str
    task: str
    store: ExecutionStore
    prompts: UserPromptBuilder
    evaluator: Evaluator
    judgment: JudgmentClient | None = None
    rules: RoundsTable = field(default_factory=RoundsTable)
    on_judge_outage: OutagePolicy = "continue"
    asks_after_last_round: bool = True
    on_missing_metric: OutagePolicy = "continue"
    # Rounds whose judge has spoken without giving a score are evaluated again as well.
    retries_invalid: bool = False
    watcher: Watcher = watch_nothing
    after_round: AfterRound | None = None
    stop: Callable[[], bool] = lambda: False
    clock: Callable[[], datetime] = read_clock
    stopwatch: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class TeamEnd:
    """Why a team plays no further round, with a sentence where somebody would ask."""

    team_id: str
    team_name: str
    stop_reason: StopReason
    message: str = ""
    # An accident that the same command would only repeat.
    is_for_good: bool = False

    @property
    def is_decided(self) -> bool:
        """False for an accident."""
        return self.stop_reason in FINAL_REASONS

    @property
    def is_final(self) -> bool:
        """False where the same command would try again."""
        return self.is_decided or self.is_for_good


async def store_end(parts: RoundParts, end: TeamEnd) -> None:
    """Stores the last word on the team, for now."""
    await parts.store.finish_team(
        parts.execution_id, end.team_id, end.stop_reason, end.message, parts.clock(), team_name=end.team_name
    )


class _EndedError(Exception):
    """Leaves the rounds from any depth; never seen outside."""

    def __init__(self, end: TeamEnd) -> None:
        super().__init__(end.message)
        self.end = end


class RoundController:
    """Plays the rounds of one team."""

    def __init__(self, parts: RoundParts, team: Team, before: TeamProgress | None = None) -> None:
        self._parts = parts
        self._team = team
        self._before = before
        self._rounds: list[RoundProgress] = list(before.rounds) if before is not None else []
        # The judge's word on the last round, on which an earlier process stopped, was none.
        self._asks_anew = False

    async def play(self) -> TeamEnd:
        """Plays on from wherever an earlier process had come. Raises HaltedError and what concerns all teams.

        Resumable.
        """
        await self._evaluate_again()
        ended = None if self._before is None else end_of(self._before, retries_invalid=self._parts.retries_invalid)
        if ended is not None:
            return self._tell_end(ended)
        self._forget_outage()
        try:
            while True:
                await self._play_round()
        except _EndedError as left:
            end = left.end
        await store_end(self._parts, end)
        return self._tell_end(end)

    async def _evaluate_again(self) -> None:
        """Rounds that an earlier process could not score: missing is nothing yet. What followed from it stays."""
        for place, progress in enumerate(self._rounds):
            if awaits_score(progress, retries_invalid=self._parts.retries_invalid) and progress.decision is not None:
                self._check_stop()
                self._rounds[place] = await self._evaluate(progress)

    def _forget_outage(self) -> None:
        """A judge that was out may be back: its round is reached, its opinion is not had."""
        last = self._rounds[-1] if self._rounds else None
        if last is not None and last.decision is not None and last.decision.stop_reason is StopReason.JUDGE_OUT:
            self._rounds[-1] = replace(last, opinion=None, decision=None, decided_at=None)
            self._asks_anew = True

    async def _play_round(self) -> None:
        last = self._rounds[-1] if self._rounds else None
        if last is None or (last.decision is not None and last.decision.continues):
            self._check_stop()
            last = await self._submit(len(self._rounds) + 1)
            self._rounds.append(last)
        # Tried without a score and not gone on from there: worth another try.
        if last.evaluated_at is None or (last.score is None and last.decision is None):
            self._check_stop()
            last = self._rounds[-1] = await self._evaluate(last)
        if last.decision is None:
            self._check_stop()
            last = self._rounds[-1] = await self._decide(last)
        if last.decision is not None and last.decision.stop_reason is not None:
            reason = last.opinion.reason if isinstance(last.opinion, NoOpinion) else ""
            is_out = last.decision.stop_reason is StopReason.JUDGE_OUT
            raise self._ended(last.decision.stop_reason, reason if is_out else "")

    async def _submit(self, number: int) -> RoundProgress:
        parts, team = self._parts, self._team
        self._tell(number, Stage.WORKING)
        context = RoundPromptContext(
            user_prompt=parts.task,
            round_number=number,
            round_history=self._history(),
            team_id=team.team_id,
            team_name=team.team_name,
            execution_id=parts.execution_id,
            store=parts.store,
        )
        prompt = await parts.prompts.build_team_prompt(context)
        began = parts.stopwatch()
        submission = await self._within_limits(team.submit(prompt, number))
        if isinstance(submission, FailedSubmission):
            raise self._ended(StopReason.TEAM_FAILED, f"round {number}: {submission.reason}")
        if not submission.text.strip():
            raise self._ended(StopReason.TEAM_FAILED, f"round {number}: the submission is empty")
        text = without_surrogates(submission.text)
        usage = {**submission.usage, "seconds": round(parts.stopwatch() - began, 3)}
        at = parts.clock()
        await parts.store.save_submission(self._key(number), team.team_name, text, usage, at)
        return RoundProgress(number, text, usage, at)

    def _key(self, number: int) -> RoundKey:
        return RoundKey(self._parts.execution_id, self._team.team_id, number)

    async def _within_limits(
        self, work: Coroutine[Any, Any, Submission | FailedSubmission]
    ) -> Submission | FailedSubmission:
        """The team's work, cut off when its time is up; which limit it was decides the reason."""
        for_round, for_team = self._parts.rules.round_timeout_seconds, self._parts.rules.team_timeout_seconds
        used = sum(float(progress.usage.get("seconds") or 0.0) for progress in self._rounds)
        left = None if for_team is None else max(0.0, for_team - used)
        allowed = min((limit for limit in (for_round, left) if limit is not None), default=None)
        number = len(self._rounds) + 1
        timer = asyncio.timeout(allowed)
        try:
            async with timer:
                return await work
        except TimeoutError:
            if not timer.expired():
                raise
            if allowed == left:
                message = f"round {number}: the team's {for_team:g} s are used up"
                raise self._ended(StopReason.TEAM_TIMEOUT, message) from None
            message = f"round {number}: no submission within {for_round:g} s"
            raise self._ended(StopReason.ROUND_TIMEOUT, message) from None

    async def _evaluate(self, current: RoundProgress) -> RoundProgress:
        parts, team = self._parts, self._team
        self._tell(current.round_number, Stage.EVALUATING)
        request = EvaluationRequest(
            parts.task,
            current.submission,
            team.team_id,
            current.round_number,
            team.target_model,
            parts.execution_id,
        )
        result = await parts.evaluator.evaluate(request)
        details, at = result.details(), parts.clock()
        score = result.overall_score
        await parts.store.save_evaluation(self._key(current.round_number), score, details, at)
        missing = "; ".join(f"{metric.name}: {metric.reason}" for metric in result.missing)
        text = f"no score ({missing})" if missing else ""
        if score is not None and counts_as_self_judged(methods_of(details).values()):
            text = f"{score:.2f}, by its own model: shown apart, not ranked"
        self._tell(current.round_number, Stage.SCORED, score, text)
        if score is None and current.decision is None and parts.on_missing_metric == "stop":
            message = f"round {current.round_number}: {missing}"
            is_for_good = any(metric.is_permanent for metric in result.missing)
            raise self._ended(StopReason.EVALUATION_FAILED, message, is_for_good=is_for_good)
        return replace(current, score=score, details=details, evaluated_at=at)

    async def _decide(self, current: RoundProgress) -> RoundProgress:
        parts, team = self._parts, self._team
        scores = [progress.score for progress in self._rounds]
        opinion: Opinion | None = None
        if parts.judgment is not None and wants_opinion(
            scores, parts.rules, after_last_round=parts.asks_after_last_round
        ):
            opinion = await parts.judgment.judge_improvement_prospects(
                parts.task,
                self._history(),
                team_id=team.team_id,
                team_name=team.team_name,
                execution_id=parts.execution_id,
                asks_anew=self._asks_anew,
            )
        self._asks_anew = False
        decision, at = decide(scores, opinion, parts.rules, parts.on_judge_outage), parts.clock()
        await parts.store.save_decision(self._key(current.round_number), opinion, decision, at)
        self._tell(current.round_number, Stage.DECIDED, current.score)
        await self._tell_round(current, opinion, decision)
        return replace(current, opinion=opinion, decision=decision, decided_at=at)

    async def _tell_round(self, current: RoundProgress, opinion: Opinion | None, decision: RoundDecision) -> None:
        """Raises AfterRoundError for whatever the user's function raises: the round is stored by now."""
        parts, team, number = self._parts, self._team, current.round_number
        if parts.after_round is None:
            return
        who = parts.execution_id, team.team_id, team.team_name, number
        feedback = feedback_of(current.details)
        record = RoundRecord(*who, current.submission, current.score, feedback, opinion, decision)
        try:
            outcome = parts.after_round(record)
            if inspect.isawaitable(outcome):
                await outcome
        except Exception as error:
            where = f"team {team.team_id}, round {number}"
            raise AfterRoundError(
                f"after_round failed ({where}): {describe_failure(error)}; everything played is stored, "
                "and the same call goes on from here"
            ) from error

    def _history(self) -> list[RoundState]:
        return [
            RoundState(
                progress.round_number,
                progress.submission,
                progress.score,
                shown_details(progress.details),
                progress.submitted_at,
                progress.evaluated_at,
            )
            for progress in self._rounds
        ]

    def _ended(self, reason: StopReason, message: str = "", *, is_for_good: bool = False) -> _EndedError:
        return _EndedError(TeamEnd(self._team.team_id, self._team.team_name, reason, message, is_for_good))

    def _check_stop(self) -> None:
        if self._parts.stop():
            raise HaltedError("stopping")

    def _tell(self, number: int, stage: Stage, score: float | None = None, text: str = "") -> None:
        self._parts.watcher(TeamEvent(self._team.team_id, self._team.team_name, number, stage, score, text))

    def _tell_end(self, end: TeamEnd) -> TeamEnd:
        best = max((progress.score for progress in self._rounds if progress.score is not None), default=None)
        text = f"{end.stop_reason.value}: {end.message}" if end.message else end.stop_reason.value
        self._tell(len(self._rounds), Stage.ENDED, best, text)
        return end


def awaits_score(progress: RoundProgress, *, retries_invalid: bool = False) -> bool:
    """Whether evaluating again may give a score; an invalid reply stays so, unless `retries_invalid` asks again."""
    if progress.evaluated_at is None or progress.score is not None:
        return False
    missing: Sequence[Mapping[str, Any]] = progress.details.get("missing") or ()
    return retries_invalid or not any(metric.get("permanent") for metric in missing)


def end_of(team: TeamProgress, *, retries_invalid: bool = False) -> TeamEnd | None:
    """How an earlier process left a team that is over; None where there is something to play or to try again."""
    reason = team.stop_reason
    if reason is None:
        return None
    is_open = bool(team.rounds) and awaits_score(team.rounds[-1], retries_invalid=retries_invalid)
    is_for_good = reason is StopReason.EVALUATION_FAILED and bool(team.rounds) and not is_open
    end = TeamEnd(team.team_id, team.team_name, reason, team.message, is_for_good)
    return end if end.is_final else None


def without_surrogates(text: str) -> str:
    """Half a surrogate pair, which a model's JSON may hold and no UTF-8 can: U+FFFD in its place, here and for ever."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def feedback_of(details: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Score and comment of each metric; of a missing one, why it is."""
    feedback = {
        metric["name"]: {"score": metric["score"], "comment": metric["comment"]}
        for metric in details.get("metrics", ())
    }
    return feedback | {
        metric["name"]: {"score": None, "comment": metric["reason"]} for metric in details.get("missing", ())
    }


def shown_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """What teams and judges read of an evaluation: scores and remarks, not what they cost."""
    metrics: Sequence[Mapping[str, Any]] = details.get("metrics", ())
    missing: Sequence[Mapping[str, Any]] = details.get("missing", ())
    shown: dict[str, Any] = {
        metric["name"]: {"score": metric["score"], "comment": metric["comment"]} for metric in metrics
    }
    return shown | {metric["name"]: {"score": None} for metric in missing}
