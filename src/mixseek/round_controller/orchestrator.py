"""All teams in parallel: nobody waits for another, and a stop leaves everything resumable."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from mixseek.domain.rounds import ExecutionStatus, RankedTeam, RoundProgress, StopReason, TeamProgress
from mixseek.engine.budget import BudgetSpentError
from mixseek.engine.endings import all_of
from mixseek.engine.endpoint import EndpointDownError, HaltedError
from mixseek.errors import AfterRoundError, MixseekError, PermanentJudgeError
from mixseek.lazy_dataclass import dataclass
from mixseek.round_controller.controller import RoundController, RoundParts, TeamEnd, awaits_score, end_of, store_end
from mixseek.round_controller.team import Stage, Team, TeamEvent

# A signal is looked for this often.
_GLANCE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class CompetitionResult:
    """How a competition stands; `reason` is a sentence where it stopped by itself before its end."""

    execution_id: str
    status: ExecutionStatus
    ranking: tuple[RankedTeam, ...]
    ends: tuple[TeamEnd, ...]
    progress: Mapping[str, TeamProgress]
    reason: str | None = None

    @property
    def _evaluated(self) -> list[RoundProgress]:
        return [
            progress for team in self.progress.values() for progress in team.rounds if progress.evaluated_at is not None
        ]

    @property
    def awaiting_score(self) -> int:
        """Rounds whose evaluation was tried and gave no score; the same command tries again."""
        return sum(map(awaits_score, self._evaluated))

    @property
    def without_score(self) -> int:
        """Rounds that were evaluated as far as they can be, and have no score."""
        return sum(progress.score is None and not awaits_score(progress) for progress in self._evaluated)

    @property
    def evaluations(self) -> Counter[str]:
        """Metrics of all evaluated rounds: `scored`, `invalid` (a reply that cannot be used) or `missing`."""
        counts = Counter(scored=0, invalid=0, missing=0)
        for progress in self._evaluated:
            counts["scored"] += len(progress.details.get("metrics") or ())
            counts.update(
                "invalid" if metric.get("invalid") else "missing" for metric in progress.details.get("missing") or ()
            )
        return counts

    @property
    def best_score(self) -> float | None:
        return self.ranking[0].best_score if self.ranking else None

    @property
    def self_scored(self) -> int:
        """Rounds whose score is the team's own model's; it ranks nobody."""
        return sum(progress.score is not None and progress.is_self_judged for progress in self._evaluated)

    @property
    def commonest_reason(self) -> str | None:
        """Why rounds have no score, or teams no rounds, in the words that were used most often."""
        missing = [metric for progress in self._evaluated for metric in progress.details.get("missing") or ()]
        reasons = Counter(str(metric["reason"]) for metric in missing)
        reasons = reasons or Counter(end.message or end.stop_reason.value for end in self.accidents)
        return reasons.most_common(1)[0][0] if reasons else None

    @property
    def accidents(self) -> tuple[TeamEnd, ...]:
        """Teams that were not ended by a decision."""
        return tuple(end for end in self.ends if not end.is_decided)

    @property
    def is_open(self) -> bool:
        """Whether the same command would try anything again."""
        return self.awaiting_score > 0 or not all(end.is_final for end in self.ends)


class Orchestrator:
    """Runs one execution, from its beginning or from wherever an earlier process had come."""

    def __init__(
        self,
        parts: RoundParts,
        teams: Sequence[Team],
        configuration: Mapping[str, Any],
        *,
        parallel_teams: int = 8,
        halt: Callable[[], None] = lambda: None,
    ) -> None:
        self._parts = parts
        self._teams = tuple(teams)
        self._configuration = configuration
        self._places = asyncio.Semaphore(parallel_teams)
        self._halt = halt
        # Why it stops by itself; the first reason counts.
        self._reason: StopReason | None = None
        self._message: str | None = None
        self._failure: MixseekError | None = None

    async def compete(self) -> CompetitionResult:
        """Raises what makes going on pointless (a disk, a configuration); everything stored before stays."""
        parts = self._parts
        await parts.store.begin_execution(parts.execution_id, parts.task, self._configuration, parts.clock())
        before = await parts.store.progress(parts.execution_id)
        watching = asyncio.create_task(self._watch(), name="watch")
        try:
            ends = await self._play_all(before)
        except BaseException:
            with suppress(MixseekError):
                await parts.store.finish_execution(parts.execution_id, ExecutionStatus.INTERRUPTED, parts.clock())
            raise
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        return await self._conclude(ends)

    async def _play_all(self, before: Mapping[str, TeamProgress]) -> list[TeamEnd]:
        ends = await all_of([self._play(team, before.get(team.team_id)) for team in self._teams])
        if self._failure is not None:
            raise self._failure
        return ends

    async def _play(self, team: Team, before: TeamProgress | None) -> TeamEnd:
        self._parts.watcher(TeamEvent(team.team_id, team.team_name, 0, Stage.WAITING))
        try:
            async with self._places:
                self._check_stop()
                return await RoundController(self._parts, team, before).play()
        except HaltedError:
            reason = self._reason or StopReason.INTERRUPTED
        except BudgetSpentError as error:
            reason = self._stop_all(StopReason.BUDGET, str(error))
        except EndpointDownError as error:
            reason = self._stop_all(StopReason.INTERRUPTED, str(error))
        except (PermanentJudgeError, AfterRoundError) as error:
            # A judge that refuses everybody, or a caller who cannot be told: what is in flight elsewhere still comes
            # home, then it is said.
            self._failure = self._failure or error
            reason = self._stop_all(StopReason.INTERRUPTED, str(error))
        retries = self._parts.retries_invalid
        ended = None if before is None else end_of(before, retries_invalid=retries)
        if before is not None and ended is not None:
            # It was over before: a stop that finds it waiting, or while a lost score is asked for, does not undo that.
            is_undone = any(awaits_score(progress, retries_invalid=retries) for progress in before.rounds)
            return replace(ended, stop_reason=reason, is_for_good=False) if is_undone else ended
        end = TeamEnd(team.team_id, team.team_name, reason)
        await store_end(self._parts, end)
        return end

    def _check_stop(self) -> None:
        if self._reason is not None or self._parts.stop():
            raise HaltedError("stopping")

    def _stop_all(self, reason: StopReason, message: str) -> StopReason:
        if self._reason is None:
            self._reason, self._message = reason, message
            self._halt()
        return self._reason

    async def _watch(self) -> None:
        while not self._parts.stop():
            await asyncio.sleep(_GLANCE_SECONDS)
        self._halt()

    async def _conclude(self, ends: Sequence[TeamEnd]) -> CompetitionResult:
        parts = self._parts
        stopped = any(end.stop_reason in (StopReason.INTERRUPTED, StopReason.BUDGET) for end in ends)
        ranking = tuple(await parts.store.ranking(parts.execution_id))
        status = ExecutionStatus.INTERRUPTED if stopped else ExecutionStatus.FINISHED
        if not stopped and not ranking:
            status = ExecutionStatus.FAILED
        known = {execution.execution_id: execution.status for execution in await parts.store.executions()}
        # A competition that is only shown again ended when it ended.
        if not known.get(parts.execution_id) is status is ExecutionStatus.FINISHED:
            await parts.store.finish_execution(parts.execution_id, status, parts.clock())
        progress = await parts.store.progress(parts.execution_id)
        return CompetitionResult(parts.execution_id, status, ranking, tuple(ends), progress, self._message)
