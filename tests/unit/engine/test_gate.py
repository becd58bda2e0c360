"""Limits that several holders share are those of one process: places, rates, budget and breaker."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import Answer, Call, Message, Usage
from mixseek.engine.adaptive_limit import AdaptiveLimit
from mixseek.engine.budget import BudgetSpentError
from mixseek.engine.endpoint import Endpoint, EndpointDownError, Environment, HaltedError
from mixseek.engine.gate import Entry, GatedJudge, OpenLimit, Pass, Report, SharedLimits, Turnstile, patient
from mixseek.engine.retry import RetryPolicy
from mixseek.engine.slots import unpriced
from mixseek.errors import MixseekError, TransientJudgeError

T = TypeVar("T")
OVER = Report(is_reply=True)


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            await asyncio.sleep(0)
            self.now = min(until, self.now + 0.001)


def turnstile(
    clock: Clock, calls: int = 100, rpm: int | None = None, max_calls: int | None = None, patience: float = 600.0
) -> Turnstile:
    limits = SharedLimits({"here": calls}, {"judge": ("here", rpm, None)}, max_calls, None)
    around = Environment(lambda: clock.now, clock.sleep, lambda: 0.5, lambda _: None)
    policy = RetryPolicy(patience_seconds=patience)
    return Turnstile(limits, lambda name, limit: Endpoint(name, limit, policy, around))


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


async def settled(gate: Turnstile, holder: str) -> list[tuple[int, Pass | MixseekError]]:
    """What came after everybody has had a turn."""
    for _ in range(20):
        await asyncio.sleep(0)
    return await gate.replies(holder, 0.001)


def ask(gate: Turnstile, holder: str, tickets: range) -> None:
    for ticket in tickets:
        gate.enter(holder, ticket, Entry("judge", f"{holder}-{ticket}", 0.0, 0))


def test_holders_share_the_places_of_an_endpoint_and_one_that_dies_gives_its_back() -> None:
    """Three places for both; the rest waits until somebody is over, or gone."""

    async def share() -> tuple[list[int], ...]:
        gate = turnstile(Clock(), calls=3)
        ask(gate, "a", range(2))
        ask(gate, "b", range(4))
        first = await settled(gate, "a"), await settled(gate, "b")
        gate.forget("a")
        second = await settled(gate, "b")
        gate.leave("b", 0, OVER)
        third = await settled(gate, "b")
        assert gate.in_flight == 3
        return tuple([ticket for ticket, _ in replies] for replies in (*first, second, third))

    assert run(share()) == ([0, 1], [0], [1, 2], [3])


def test_a_rate_is_held_by_all_holders_together() -> None:
    """Sixty a minute, one second's worth at once, whoever asks."""

    async def share() -> int:
        clock = Clock()
        gate = turnstile(clock, rpm=60)
        for holder in "abcd":
            ask(gate, holder, range(5))
        while clock.now < 10:
            await asyncio.sleep(0)
            clock.now += 0.0001
        return sum([len(await settled(gate, holder)) for holder in "abcd"])

    assert run(share()) in (11, 12)


def test_a_budget_is_passed_by_nobody() -> None:
    """The one that would be too many is told so, whoever asks."""

    async def spend() -> list[Pass | MixseekError]:
        gate = turnstile(Clock(), max_calls=5)
        ask(gate, "a", range(4))
        ask(gate, "b", range(4))
        return [reply for holder in "ab" for _, reply in await settled(gate, holder)]

    replies = run(spend())

    assert [isinstance(reply, Pass) for reply in replies].count(True) == 5
    assert [str(reply) for reply in replies if isinstance(reply, BudgetSpentError)] == [
        "--max-calls 5 is reached; run the same command with more to go on from here"
    ] * 3


def test_an_endpoint_that_is_down_is_probed_once_for_all_and_given_up_for_all() -> None:
    """Failures of one holder close the gate for the others; beyond patience everybody is told why."""

    async def fail() -> tuple[list[bool], list[Pass | MixseekError]]:
        clock = Clock()
        gate = turnstile(clock, calls=10, patience=30.0)
        down = Report(TransientJudgeError("500"))
        ask(gate, "a", range(6))
        await settled(gate, "a")
        for ticket in range(6):
            gate.leave("a", ticket, down)
        ask(gate, "b", range(3))
        probes: list[bool] = []
        replies: list[tuple[int, Pass | MixseekError]] = []
        while not any(isinstance(reply, MixseekError) for _, reply in replies):
            replies = await settled(gate, "b")
            for ticket, reply in replies:
                if isinstance(reply, Pass):
                    probes.append(reply.is_probe)
                    gate.leave("b", ticket, down)
                    gate.enter("b", 100 + len(probes), Entry("judge", "b", 0.0, 0))
            clock.now += 0.05
        return probes, [reply for _, reply in replies]

    probes, told = run(fail())

    assert probes
    assert all(probes)
    assert {type(reply) for reply in told} == {EndpointDownError}


class OneJudge:
    """Answers, or fails as it is told."""

    name, endpoint, fingerprint = "judge", "here", "f"
    description: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def __init__(self, error: TransientJudgeError | None = None) -> None:
        self.error = error

    async def call(self, call: Call) -> Answer:
        if self.error is not None:
            raise self.error
        return Answer(Reply("yes", "judge", 1), Usage(), 0.1)

    async def close(self) -> None:
        pass


class ClosedGate:
    """Lets nobody out, or everybody as a probe."""

    def __init__(self, is_open: bool) -> None:
        self.is_open = is_open
        self.reports: list[Report] = []

    async def enter(self, entry: Entry) -> Pass:
        if not self.is_open:
            await asyncio.Event().wait()
        return Pass(1, is_probe=True)

    def leave(self, granted: Pass, report: Report) -> None:
        self.reports.append(report)


def gated(judge: OneJudge, gate: ClosedGate) -> tuple[GatedJudge, Endpoint]:
    around = Environment(lambda: 0.0, asyncio.sleep, lambda: 0.5, lambda _: None)
    place = Endpoint("here", OpenLimit(4), patient(RetryPolicy()), around)
    return GatedJudge(judge, place, gate, unpriced, False), place


CALL = Call("k", (Message("user", "?"),), {})


def test_who_waits_at_the_gate_leaves_when_the_run_halts() -> None:
    """Nothing is sent after a stop."""

    async def halt() -> None:
        judge, place = gated(OneJudge(), ClosedGate(is_open=False))
        waiting = asyncio.ensure_future(judge.call(CALL))
        # Long enough to come to the gate: it needs no time, only turns.
        for _ in range(10):
            await asyncio.sleep(0)
        place.halt()
        await waiting

    with pytest.raises(HaltedError):
        run(halt())


def test_a_request_that_fails_while_the_endpoint_is_down_has_lost_none_of_its_tries() -> None:
    """It was sent to find out; and the gate is told of every end."""
    gate = ClosedGate(is_open=True)
    judge, _ = gated(OneJudge(TransientJudgeError("503 at the door")), gate)

    with pytest.raises(TransientJudgeError) as failed:
        run(judge.call(CALL))

    assert failed.value.is_overload
    assert [str(report.error) for report in gate.reports] == ["503 at the door"]


def test_an_open_limit_learns_nothing() -> None:
    """Waiting for leave is no sign of a slow endpoint."""
    limit: AdaptiveLimit = OpenLimit(4)
    for moment in range(100):
        limit.succeeded(float(moment), 50.0 * moment)
        limit.overloaded(float(moment), 50.0 * moment)

    assert limit.calls == 4
