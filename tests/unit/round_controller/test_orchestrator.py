"""Teams in parallel: up to a limit, independent of each other, stopped together."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from tests.unit.round_controller.idle_time import run_in_idle_time
from tests.unit.round_controller.memory_store import NOW, MemoryStore, ScriptedMetric, ScriptedTeam

from mixseek.domain.rounds import ExecutionStatus, StopReason
from mixseek.engine.budget import BudgetSpentError
from mixseek.engine.endpoint import EndpointDownError, HaltedError
from mixseek.errors import PermanentJudgeError, StorageError
from mixseek.evaluator.evaluator import Evaluator
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import PromptBuilderSettings
from mixseek.round_controller.controller import RoundParts
from mixseek.round_controller.orchestrator import CompetitionResult, Orchestrator
from mixseek.round_controller.team import FailedSubmission, Submission
from mixseek.settings.race import OutagePolicy, RoundsTable

PROMPTS = UserPromptBuilder(settings=PromptBuilderSettings())


@dataclass
class Hall:
    """How many are at work at once."""

    now: int = 0
    most: int = 0


@dataclass
class BusyTeam(ScriptedTeam):
    """Counts itself in and out; raises what it is told to in round 2."""

    hall: Hall = field(default_factory=Hall)
    error: Exception | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        self.hall.now += 1
        self.hall.most = max(self.hall.most, self.hall.now)
        try:
            submission = await super().submit(prompt, round_number)
        finally:
            self.hall.now -= 1
        if self.error is not None and round_number == 2:
            raise self.error
        return submission


def compete(
    store: MemoryStore, teams: list[Any], *, parallel: int = 8, scores: Sequence[Any] = (10.0, 20.0, 30.0), **more: Any
) -> CompetitionResult:
    async def work() -> CompetitionResult:
        made = RoundParts("race", "t", store, PROMPTS, Evaluator([ScriptedMetric(scores)]))
        parts = replace(made, clock=lambda: NOW, rules=RoundsTable(min=1, max=3), **more)
        return await Orchestrator(parts, teams, {}, parallel_teams=parallel).compete()

    return run_in_idle_time(work())


@pytest.mark.parametrize("parallel", [1, 3, 8])
def test_so_many_teams_work_at_once_and_no_more(parallel: int) -> None:
    """All of them end."""
    hall = Hall()
    pause = dict.fromkeys((1, 2, 3), 0.01)
    teams = [BusyTeam(f"t{number}", seconds=pause, hall=hall) for number in range(6)]
    result = compete(MemoryStore(), teams, parallel=parallel)

    assert hall.most == min(parallel, 6)
    assert result.status is ExecutionStatus.FINISHED
    assert {end.stop_reason for end in result.ends} == {StopReason.MAX_ROUNDS}
    assert [team.rank for team in result.ranking] == [1, 2, 3, 4, 5, 6]


def test_a_team_that_dies_takes_nobody_along_and_keeps_its_best() -> None:
    """Its place on the leader board is that of its best round."""
    result = compete(MemoryStore(), [ScriptedTeam("dies", failures={3: "gone"}), ScriptedTeam("lives")])

    assert [(team.team_id, team.best_score) for team in result.ranking] == [("lives", 30), ("dies", 20)]
    assert [(end.team_id, end.message) for end in result.accidents] == [("dies", "round 3: gone")]


@pytest.mark.parametrize("policy", ["continue", "stop"])
@pytest.mark.parametrize(
    ("scores", "counts", "is_open"),
    [
        ((None, 20.0, 30.0), (1, 0), True),
        (("invalid", 20.0, 30.0), (0, 1), False),
        ((10.0, 20.0, 30.0), (0, 0), False),
    ],
    ids=["missing", "invalid", "scored"],
)
def test_a_competition_is_open_while_something_can_still_be_had(
    scores: Sequence[Any], counts: tuple[int, int], is_open: bool, policy: OutagePolicy
) -> None:
    """An invalid reply is a finished result, whatever the policy made of it."""
    result = compete(MemoryStore(), [ScriptedTeam("a")], scores=scores, on_missing_metric=policy)

    assert (result.awaiting_score, result.without_score) == counts
    assert result.is_open is is_open
    assert bool(result.accidents) is (policy == "stop" and counts != (0, 0))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BudgetSpentError("--max-calls 3 is reached"), StopReason.BUDGET),
        (EndpointDownError("no reply for 600 s"), StopReason.INTERRUPTED),
    ],
)
def test_what_concerns_all_stops_all_and_can_be_resumed(error: Exception, reason: StopReason) -> None:
    """With the sentence that says why; the second run ends as if nothing had been."""
    store = MemoryStore()
    teams = [BusyTeam("a", error=error), ScriptedTeam("b"), ScriptedTeam("c")]
    stopped = compete(store, teams, parallel=1)
    resumed = compete(store, [ScriptedTeam(name) for name in "abc"])

    assert (stopped.status, stopped.reason) == (ExecutionStatus.INTERRUPTED, str(error))
    assert {end.stop_reason for end in stopped.ends} == {reason}
    assert resumed.status is ExecutionStatus.FINISHED
    assert resumed.reason is None
    assert [team.best_score for team in resumed.ranking] == [30, 30, 30]


def test_a_stop_that_was_asked_for_has_no_reason_of_its_own() -> None:
    """Everybody stops at the next step."""
    store = MemoryStore()
    result = compete(store, [ScriptedTeam("a"), ScriptedTeam("b")], stop=lambda: store.steps >= 3)

    assert (result.status, result.reason) == (ExecutionStatus.INTERRUPTED, None)
    assert {end.stop_reason for end in result.ends} == {StopReason.INTERRUPTED}


def test_a_stop_does_not_undo_the_end_of_a_team_that_was_over() -> None:
    """It finds the team waiting for its turn to be reported."""
    store = MemoryStore()
    compete(store, [ScriptedTeam("a"), ScriptedTeam("b")])
    again = compete(store, [ScriptedTeam("a"), ScriptedTeam("b"), ScriptedTeam("late")], stop=lambda: True)

    assert [end.stop_reason.value for end in again.ends] == ["max_rounds", "max_rounds", "interrupted"]
    assert store.teams["a"].stop_reason is StopReason.MAX_ROUNDS
    assert again.status is ExecutionStatus.INTERRUPTED


def test_a_competition_that_is_over_stays_over_when_its_showing_is_stopped() -> None:
    """Nothing was left to interrupt."""
    store = MemoryStore()
    compete(store, [ScriptedTeam("a")])
    again = compete(store, [ScriptedTeam("a")], stop=lambda: True)

    assert (again.status, store.status) == (ExecutionStatus.FINISHED, ExecutionStatus.FINISHED)


def test_a_disk_that_fails_is_raised_and_the_others_are_cancelled() -> None:
    """Going on would be for nothing."""
    slow = ScriptedTeam("b", seconds={1: 30.0})
    with pytest.raises(StorageError):
        compete(MemoryStore(), [BusyTeam("a", error=StorageError("full")), slow])

    assert slow.cancelled == [1]


def test_a_judge_that_refuses_everybody_is_raised_when_the_others_are_home() -> None:
    """What is in flight elsewhere is paid for and comes home first."""
    store, slow = MemoryStore(), ScriptedTeam("b", seconds={1: 0.1})
    refusing = BusyTeam("a", error=PermanentJudgeError("401", concerns_everything=True))
    with pytest.raises(PermanentJudgeError, match="401"):
        compete(store, [refusing, slow], stop=lambda: refusing.submitted == [1, 2])

    assert slow.cancelled == []
    assert "submission 1" in [line for line in store.written if line.startswith("submission")]
    assert len(store.teams["b"].rounds) == 1


def test_halted_questions_mean_interrupted_and_not_failed() -> None:
    """A model that could not be asked because of the stop did nothing wrong."""
    result = compete(MemoryStore(), [BusyTeam("a", error=HaltedError("stopping"))])

    assert result.ends[0].stop_reason is StopReason.INTERRUPTED


def test_where_nobody_has_a_score_the_execution_has_failed() -> None:
    """There is no leader board to show."""
    result = compete(MemoryStore(), [ScriptedTeam("a", failures={1: "no"})])

    assert (result.status, result.ranking) == (ExecutionStatus.FAILED, ())
