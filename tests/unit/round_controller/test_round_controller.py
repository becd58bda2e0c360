"""One team from first to last round: each step stored before the next, resumed where it was, cut off in time."""

import asyncio
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from tests.cases import each
from tests.unit.round_controller.idle_time import run_in_idle_time
from tests.unit.round_controller.memory_store import NOW, CrashError, Diary, MemoryStore, ScriptedMetric, ScriptedTeam

from mixseek.domain.rounds import ImprovementJudgment, NoOpinion, Opinion, RoundProgress, StopReason
from mixseek.engine.endpoint import HaltedError
from mixseek.evaluator.evaluator import Evaluator
from mixseek.evaluator.scores import EvaluationRequest, MetricScore, MissingMetric
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import PromptBuilderSettings
from mixseek.round_controller.controller import RoundController, RoundParts, TeamEnd, awaits_score
from mixseek.round_controller.judgment_client import JudgmentClient
from mixseek.round_controller.team import Submission
from mixseek.settings.race import OutagePolicy, RoundsTable

RISING = (10.0, 20.0, 30.0, 40.0, 50.0)
PROMPTS = UserPromptBuilder(settings=PromptBuilderSettings())


class ScriptedJudge(JudgmentClient):
    """An opinion for each round."""

    def __init__(self, *opinions: Opinion) -> None:
        self.opinions = list(opinions)
        self.asked: list[int] = []

    async def judge_improvement_prospects(self, user_query: str, round_history: Any, **team: Any) -> Any:
        self.asked.append(len(round_history))
        return self.opinions[len(round_history) - 1]


def parts(store: MemoryStore, metric: ScriptedMetric | None = None, **more: Any) -> RoundParts:
    made = RoundParts("race", "the task", store, PROMPTS, Evaluator([metric or ScriptedMetric(RISING)]))
    return replace(made, clock=lambda: NOW, **{"stopwatch": lambda: 0.0, **more})


def play(given: RoundParts, team: ScriptedTeam | None = None) -> TeamEnd:
    async def work() -> TeamEnd:
        before = (await given.store.progress("race")).get("alpha")
        return await RoundController(given, team or ScriptedTeam(), before).play()

    return run_in_idle_time(work())


def test_a_metric_is_told_of_which_execution_the_submission_is_part() -> None:
    """One that keeps books of its own must be able to tell two races apart."""
    requests: list[EvaluationRequest] = []

    class Bookkeeper(ScriptedMetric):
        async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
            requests.append(request)
            return await super().evaluate(request)

    play(parts(MemoryStore(), Bookkeeper(RISING), rules=RoundsTable(min=1, max=2)))

    assert [(request.execution_id, request.team_id, request.round_number) for request in requests] == [
        ("race", "alpha", 1),
        ("race", "alpha", 2),
    ]


def test_a_submission_is_stored_before_it_is_evaluated_and_evaluated_before_it_is_judged() -> None:
    """Round by round, and the end at the end."""
    store = MemoryStore()
    end = play(parts(store, rules=RoundsTable(min=1, max=2)))

    assert end == TeamEnd("alpha", "Alpha", StopReason.MAX_ROUNDS)
    assert store.written == [
        "submission 1",
        "evaluation 1",
        "decision 1",
        "submission 2",
        "evaluation 2",
        "decision 2",
        "end max_rounds",
    ]


@each("when", ["crash_before", "crash_after"])
@each("step", range(1, 8))
def test_wherever_it_dies_it_ends_the_same_and_nothing_stored_is_done_again(when: str, step: int) -> None:
    """All steps of two rounds, before and after each."""
    calm = MemoryStore()
    play(parts(calm, rules=RoundsTable(min=1, max=2)))
    store, metric, team = MemoryStore(), ScriptedMetric(RISING), ScriptedTeam()
    setattr(store, when, step)
    with pytest.raises(CrashError):
        play(parts(store, metric, rules=RoundsTable(min=1, max=2)), team)
    stored = list(store.written)
    store.crash_before = store.crash_after = None
    end = play(parts(store, metric, rules=RoundsTable(min=1, max=2)), team)

    assert end.stop_reason is StopReason.MAX_ROUNDS
    assert (store.teams, store.written) == (calm.teams, calm.written)
    lost = calm.written[len(stored)] if when == "crash_before" else ""
    for number in (1, 2):
        assert team.submitted.count(number) == 1 + (lost == f"submission {number}")
        assert metric.evaluated.count(("alpha", number)) == 1 + (lost == f"evaluation {number}")


def test_a_team_that_has_ended_is_only_reported() -> None:
    """Nobody is asked for anything."""
    store = MemoryStore()
    play(parts(store))
    team = ScriptedTeam()
    diary = Diary()

    assert play(parts(store, watcher=diary), team).stop_reason is StopReason.MAX_ROUNDS
    assert team.submitted == []
    assert [event.text for event in diary.events] == ["max_rounds"]


def test_what_the_judge_says_is_stored_beside_what_is_decided() -> None:
    """In the last round the controller decides, whatever the opinion; both are kept."""
    store = MemoryStore()
    more = ImprovementJudgment(True, "more", 0.9)
    judge = ScriptedJudge(more, more)
    play(parts(store, judgment=judge, rules=RoundsTable(min=1, max=2)))
    last = store.teams["alpha"].rounds[-1]

    assert judge.asked == [1, 2]
    assert last.opinion == more
    assert last.decision is not None
    assert (last.decision.stop_reason, last.decision.decided_by) == (StopReason.MAX_ROUNDS, "controller")


@pytest.mark.parametrize(
    ("opinion", "policy", "reason", "rounds"),
    [
        (ImprovementJudgment(False, "enough", 1.0), "continue", StopReason.JUDGED_ENOUGH, 2),
        (NoOpinion("out"), "continue", StopReason.MAX_ROUNDS, 3),
        (NoOpinion("out"), "stop", StopReason.JUDGE_OUT, 2),
    ],
)
def test_the_opinion_or_the_policy_ends_it(
    opinion: Opinion, policy: OutagePolicy, reason: StopReason, rounds: int
) -> None:
    """From the minimum of rounds on; a judge that is out is recorded as such."""
    store = MemoryStore()
    judge = ScriptedJudge(opinion, opinion, opinion)
    end = play(parts(store, judgment=judge, rules=RoundsTable(min=2, max=3), on_judge_outage=policy))
    stored = store.teams["alpha"].rounds

    assert (end.stop_reason, len(stored)) == (reason, rounds)
    assert [one.opinion for one in stored] == [None, *[opinion] * (rounds - 1)]


def test_a_judge_that_was_out_is_asked_again_by_the_next_command() -> None:
    """The round it had reached is neither submitted nor evaluated again."""
    store, team = MemoryStore(), ScriptedTeam()
    stops: Any = {"rules": RoundsTable(min=2, max=3), "on_judge_outage": "stop"}
    first = play(parts(store, judgment=ScriptedJudge(*[NoOpinion("out")] * 2), **stops), team)
    enough = ImprovementJudgment(False, "enough", 1.0)
    end = play(parts(store, judgment=ScriptedJudge(*[enough] * 2), **stops), team)

    assert (first.stop_reason, first.is_final) == (StopReason.JUDGE_OUT, False)
    assert (end.stop_reason, end.is_final) == (StopReason.JUDGED_ENOUGH, True)
    assert len(team.submitted) == 2
    assert store.teams["alpha"].rounds[-1].opinion == enough


def test_no_gain_ends_it_without_a_model() -> None:
    """Two rounds without a better score."""
    store = MemoryStore()
    end = play(
        parts(store, ScriptedMetric([50.0, 40.0, 45.0, 90.0]), rules=RoundsTable(min=1, max=5, no_gain_rounds=2))
    )

    assert end.stop_reason is StopReason.NO_GAIN
    assert [one.score for one in store.teams["alpha"].rounds] == [50, 40, 45]


def test_a_team_that_fails_keeps_its_best_and_may_try_again() -> None:
    """It dies in round 3; the same command takes that round up once more."""
    store = MemoryStore()
    end = play(parts(store), ScriptedTeam(failures={3: "no words left"}))
    ranked = asyncio.run(store.ranking("race"))

    assert (end.stop_reason, end.message, end.is_final) == (
        StopReason.TEAM_FAILED,
        "round 3: no words left",
        False,
    )
    assert [(one.best_score, one.best_round) for one in ranked] == [(20, 2)]

    again = ScriptedTeam()
    assert play(parts(store), again).stop_reason is StopReason.MAX_ROUNDS
    assert again.submitted == [3, 4, 5]


def test_an_empty_submission_is_a_failure_and_not_a_score() -> None:
    """Whatever kind of team it comes from."""

    class Silent(ScriptedTeam):
        async def submit(self, prompt: str, round_number: int) -> Any:
            return Submission(" \n")

    end = play(parts(MemoryStore()), Silent())

    assert (end.stop_reason, end.message) == (StopReason.TEAM_FAILED, "round 1: the submission is empty")


@pytest.mark.parametrize(("given", "kept"), [("a \ud800 b", "a \ufffd b"), ("😀 \x00 ok", "😀 \x00 ok")])
def test_half_a_character_is_replaced_before_it_is_stored(given: str, kept: str) -> None:
    """What is evaluated is what is stored, now and on resume; whole characters stay."""

    class Odd(ScriptedTeam):
        async def submit(self, prompt: str, round_number: int) -> Any:
            return Submission(given)

    store = MemoryStore()
    end = play(parts(store, rules=RoundsTable(min=1, max=2)), Odd())

    assert end.stop_reason is StopReason.MAX_ROUNDS
    assert {one.submission for one in store.teams["alpha"].rounds} == {kept}


def test_a_round_that_takes_too_long_is_cut_off() -> None:
    """The team is cancelled, and what it had stays."""
    store, team = MemoryStore(), ScriptedTeam(seconds={2: 30.0})
    end = play(parts(store, rules=RoundsTable(round_timeout_seconds=0.05)), team)

    assert (end.stop_reason, end.message) == (StopReason.ROUND_TIMEOUT, "round 2: no submission within 0.05 s")
    assert team.cancelled == [2]
    assert len(store.teams["alpha"].rounds) == 1


def test_a_teams_time_is_added_up_over_rounds_and_restarts() -> None:
    """What is stored counts: dying does not buy time."""
    ticks = count(0, 100)
    store, team = MemoryStore(), ScriptedTeam()
    rules = RoundsTable(round_timeout_seconds=900, team_timeout_seconds=250)
    end = play(parts(store, rules=rules, stopwatch=lambda: float(next(ticks))), team)
    again = play(parts(store, rules=rules), team)

    assert end == again
    assert (end.stop_reason, end.message) == (StopReason.TEAM_TIMEOUT, "round 4: the team's 250 s are used up")
    assert [one.usage["seconds"] for one in store.teams["alpha"].rounds] == [100, 100, 100]


def test_a_time_limit_does_not_swallow_a_timeout_of_the_teams_own() -> None:
    """A bug in a team is not the clock's fault."""

    class Odd(ScriptedTeam):
        async def submit(self, prompt: str, round_number: int) -> Any:
            raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        play(parts(MemoryStore(), rules=RoundsTable(round_timeout_seconds=30)), Odd())


def test_without_a_score_the_round_counts_as_played_and_the_team_goes_on() -> None:
    """None, not 0; the reason is stored."""
    store = MemoryStore()
    end = play(parts(store, ScriptedMetric([None, 20.0]), rules=RoundsTable(min=1, max=2)))
    first = store.teams["alpha"].rounds[0]

    assert end.stop_reason is StopReason.MAX_ROUNDS
    assert first.score is None
    assert first.details["missing"] == [{"name": "m", "reason": "out of order"}]


def test_a_round_without_a_score_is_evaluated_again_by_the_next_command() -> None:
    """Missing is nothing yet, also for a team that has ended; what was decided meanwhile stays decided."""
    store, metric, team = MemoryStore(), ScriptedMetric([None, 20.0]), ScriptedTeam()
    play(parts(store, metric, rules=RoundsTable(min=1, max=2)), team)
    still = play(parts(store, metric, rules=RoundsTable(min=1, max=2), on_missing_metric="stop"), team)
    metric.scores[0] = 15.0
    end = play(parts(store, metric, rules=RoundsTable(min=1, max=2)), team)

    assert still.stop_reason is end.stop_reason is StopReason.MAX_ROUNDS
    assert [one.score for one in store.teams["alpha"].rounds] == [15, 20]
    assert metric.evaluated.count(("alpha", 2)) == 1
    assert team.submitted == [1, 2]


def test_where_the_policy_says_so_a_missing_metric_stops_the_team_and_is_tried_again() -> None:
    """The submission waits for the evaluation; it is not made again."""
    store, metric, team = MemoryStore(), ScriptedMetric([None, 20.0]), ScriptedTeam()
    given = parts(store, metric, rules=RoundsTable(min=1, max=2), on_missing_metric="stop")
    end = play(given, team)
    metric.scores[0] = 10.0
    again = play(given, team)

    assert (end.stop_reason, end.message) == (StopReason.EVALUATION_FAILED, "round 1: m: out of order")
    assert again.stop_reason is StopReason.MAX_ROUNDS
    assert [one.score for one in store.teams["alpha"].rounds] == [10, 20]
    assert team.submitted == [1, 2]


@pytest.mark.parametrize(
    ("policy", "reason", "rounds"),
    [
        ("continue", StopReason.MAX_ROUNDS, ["too long", 20.0]),
        ("stop", StopReason.EVALUATION_FAILED, ["too long"]),
    ],
)
def test_what_is_missing_for_good_is_not_tried_again(
    policy: OutagePolicy, reason: StopReason, rounds: list[Any]
) -> None:
    """The next command only shows how it ended, whichever way the policy has it."""
    store, metric, team = MemoryStore(), ScriptedMetric(["too long", 20.0]), ScriptedTeam()
    given = parts(store, metric, rules=RoundsTable(min=1, max=2), on_missing_metric=policy)
    ends = [play(given, team) for _ in range(2)]

    assert ends[0] == ends[1]
    assert (ends[0].stop_reason, ends[0].is_final) == (reason, True)
    assert [number for _, number in metric.evaluated] == list(range(1, len(rounds) + 1))
    assert store.teams["alpha"].rounds[0].details["missing"] == [{"name": "m", "reason": "too long", "permanent": True}]


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ([], True),
        ([{"name": "m"}], True),
        ([{"name": "m", "permanent": True}], False),
        # What is still to be had would not give it a score.
        ([{"name": "m", "permanent": True}, {"name": "n"}], False),
    ],
)
def test_a_round_awaits_its_score_while_asking_again_may_give_it_one(missing: list[Any], expected: bool) -> None:
    """Details of before that are without the word: it may be had."""
    evaluated = RoundProgress(1, "text", {}, NOW, None, {"missing": missing}, NOW)

    assert awaits_score(evaluated) is expected
    assert not awaits_score(replace(evaluated, score=1.0))
    assert not awaits_score(replace(evaluated, evaluated_at=None))


def test_teams_see_scores_and_remarks_but_not_what_they_cost() -> None:
    """The second prompt holds the first round's evaluation."""
    team = ScriptedTeam()
    play(parts(MemoryStore(), rules=RoundsTable(min=1, max=2)), team)

    assert "まだ過去の提出はありません。" in team.prompts[0]
    assert "a remark" in team.prompts[1]
    assert "### スコア: 10.00/100" in team.prompts[1]
    assert "text in round 1" in team.prompts[1]
    assert "cost_usd" not in team.prompts[1]


@pytest.mark.parametrize("after", range(6))
def test_a_stop_is_obeyed_between_any_two_steps(after: int) -> None:
    """And what was stored by then is whole steps."""
    store = MemoryStore()
    with pytest.raises(HaltedError):
        play(parts(store, rules=RoundsTable(min=1, max=3), stop=lambda: store.steps >= after))
    end = play(parts(store, rules=RoundsTable(min=1, max=3)))

    assert end.stop_reason is StopReason.MAX_ROUNDS
    assert len(store.written) == 10
