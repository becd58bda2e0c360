"""One endpoint in good times and bad, on a clock that costs nothing."""

import asyncio
from collections.abc import Callable

import pytest
from tests.unit.engine.live_stubs import Court, ScriptedJudge

from mixseek.domain.ports import Answer, Call, Message
from mixseek.engine.endpoint import Attempts, Endpoint, EndpointDownError, HaltedError
from mixseek.engine.retry import RetryPolicy
from mixseek.errors import PermanentJudgeError, TransientJudgeError


def ask(number: int = 0) -> Call:
    return Call(str(number), (Message("user", "?"),), {})


async def call_through(
    endpoint: Endpoint,
    judge: ScriptedJudge,
    call: Call,
    permit: Callable[[], None] = lambda: None,
    keep: Callable[[], None] = lambda: None,
) -> Attempts:
    """One call as the engine makes it: turn after turn until there is an answer."""
    attempts = Attempts()
    while True:
        async with endpoint.turn() as turn:
            permit()
            answer = await turn.ask(judge, call, attempts)
            if isinstance(answer, Answer):
                keep()
                return attempts
        await endpoint.rest(answer)


def call_many(court: Court, endpoint: Endpoint, judge: ScriptedJudge, count: int) -> list[Attempts | BaseException]:
    async def work() -> list[Attempts | BaseException]:
        calls = (call_through(endpoint, judge, ask(number)) for number in range(count))
        return await asyncio.gather(*calls, return_exceptions=True)

    return court.time.run(work)


def failing_until(court: Court, seconds: float, error: Callable[[], Exception]) -> ScriptedJudge:
    """Fails before that time, answers afterwards."""
    return ScriptedJudge(lambda call, times: error() if court.time.now < seconds else "good", court.time)


def test_no_more_calls_are_in_flight_than_the_limit() -> None:
    """First come, first served; all of them in the end."""
    court = Court(maximum=4)
    judge = ScriptedJudge(lambda call, times: "good", court.time)

    results = call_many(court, court.endpoint(), judge, 20)

    assert all(isinstance(result, Attempts) and result.tries == 1 for result in results)
    assert judge.most_in_flight == 4
    assert court.time.now == pytest.approx(5.0)
    assert [call.sample_key for call in judge.calls] == [str(number) for number in range(20)]


def test_a_failure_is_tried_again_after_a_while() -> None:
    """And the number of tries is told."""
    court = Court()
    judge = ScriptedJudge(lambda call, times: TransientJudgeError("boom") if times < 3 else "good", court.time)

    (result,) = call_many(court, court.endpoint(), judge, 1)

    assert isinstance(result, Attempts)
    assert result.tries == 3
    # Three calls of a second each, and half of 0.5 s and of 1 s in between.
    assert court.time.now == pytest.approx(3.75)


def test_one_request_that_always_fails_is_given_up_while_others_succeed() -> None:
    """Its tries are its own; the endpoint is not taken for down."""
    court = Court(maximum=8)
    judge = ScriptedJudge(
        lambda call, times: TransientJudgeError("poison") if call.sample_key == "0" else "good", court.time
    )

    results = call_many(court, court.endpoint(), judge, 200)

    assert isinstance(results[0], TransientJudgeError)
    assert all(isinstance(result, Attempts) for result in results[1:])
    assert judge.times[("0", 1, 1)] == court.policy.tries
    assert not court.told


def test_an_endpoint_that_comes_back_after_thirty_seconds_loses_nothing() -> None:
    """Everybody waits, one probe at a time knocks, and all of them are answered."""
    court = Court(maximum=16)
    judge = failing_until(court, 30.0, lambda: TransientJudgeError("refused"))

    results = call_many(court, court.endpoint(), judge, 50)

    assert all(isinstance(result, Attempts) for result in results)
    assert court.time.now < 60.0
    assert len(court.told) == 2
    assert "does not answer (refused)" in court.told[0]
    assert "answers again" in court.told[1]
    # The first sixteen, a few probes, then fifty.
    assert len(judge.calls) < 16 + 10 + 50


def test_patience_ends() -> None:
    """With the endpoint's last word, and how to go on."""
    court = Court(policy=RetryPolicy(patience_seconds=60.0))
    judge = failing_until(court, 1e9, lambda: TransientJudgeError("refused"))

    results = call_many(court, court.endpoint(), judge, 3)

    downs = [result for result in results if isinstance(result, EndpointDownError)]
    assert downs
    assert "--patience is 60 s (refused)" in str(downs[0])
    assert "resume" in str(downs[0])
    assert 60.0 <= court.time.now < 90.0


@pytest.mark.parametrize("count", [1, 3, 50])
def test_an_endpoint_that_never_answered_is_given_up_after_seconds(count: int) -> None:
    """It is more likely misspelt, or not started, than down; how to wait for it is said, and how long it takes."""
    court = Court(maximum=16, policy=RetryPolicy.of_patience(None))
    judge = ScriptedJudge(lambda call, times: TransientJudgeError("refused"), court.time, latency_seconds=0.0)
    endpoint = court.endpoint()

    async def work() -> BaseException:
        """The first one ends the run for all."""
        calls = [asyncio.ensure_future(call_through(endpoint, judge, ask(number))) for number in range(count)]
        done, rest = await asyncio.wait(calls, return_when=asyncio.FIRST_EXCEPTION)
        for call in rest:
            call.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        (failed,) = done
        error = failed.exception()
        assert error is not None
        return error

    down = court.time.run(work)

    assert isinstance(down, EndpointDownError)
    assert "http://stub: nothing has answered for 10 s (refused); correct the address" in str(down)
    assert "add --patience 600" in str(down)
    assert 10.0 <= court.time.now <= 11.0
    assert all("at most 10 s (--patience)" in notice for notice in court.told)
    assert len(court.told) == (count > 1)


def test_an_endpoint_that_has_answered_once_is_worth_the_whole_patience() -> None:
    court = Court(policy=RetryPolicy.of_patience(None))
    judge = ScriptedJudge(
        lambda call, times: "good" if call.sample_key == "0" else TransientJudgeError("refused"), court.time
    )

    results = call_many(court, court.endpoint(), judge, 12)

    assert "--patience is 600 s" in next(str(result) for result in results if isinstance(result, EndpointDownError))
    assert "at most 600 s (--patience)" in court.told[0]
    assert court.time.now >= 600.0


def test_an_endpoint_that_answered_when_the_run_was_judged_before_is_waited_for() -> None:
    court = Court(policy=RetryPolicy.of_patience(None))
    endpoint = court.endpoint()
    endpoint.has_answered = True
    judge = failing_until(court, 60.0, lambda: TransientJudgeError("refused"))

    assert all(isinstance(result, Attempts) for result in call_many(court, endpoint, judge, 3))


def test_a_first_answer_may_take_its_time_while_other_requests_fail() -> None:
    """A model that thinks for a minute is there, whatever a gateway drops beside it."""
    court = Court(maximum=3, policy=RetryPolicy.of_patience(None))

    class Thinking(ScriptedJudge):
        async def call(self, call: Call) -> Answer:
            if call.sample_key == "0":
                await court.time.sleep(60.0)
            return await super().call(call)

    judge = Thinking(
        lambda call, times: "good" if call.sample_key == "0" or court.time.now > 59.0 else TransientJudgeError("reset"),
        court.time,
        latency_seconds=0.1,
    )

    assert all(isinstance(result, Attempts) for result in call_many(court, court.endpoint(), judge, 3))


def test_a_busy_endpoint_is_there() -> None:
    """503 is what servers say while they load their model."""
    court = Court(policy=RetryPolicy.of_patience(None))
    judge = failing_until(court, 120.0, lambda: TransientJudgeError("loading", is_overload=True))

    assert all(isinstance(result, Attempts) for result in call_many(court, court.endpoint(), judge, 3))


def test_a_patience_that_is_given_holds_from_the_first_request_on() -> None:
    court = Court(policy=RetryPolicy.of_patience(60.0))
    judge = failing_until(court, 40.0, lambda: TransientJudgeError("refused"))

    assert all(isinstance(result, Attempts) for result in call_many(court, court.endpoint(), judge, 3))


def test_retry_after_holds_for_everybody() -> None:
    """Nobody knocks before the time that one was told."""
    court = Court(maximum=1)
    moments: list[float] = []

    def script(call: Call, times: int) -> str | Exception:
        moments.append(court.time.now)
        first = len(moments) == 1
        return TransientJudgeError("slow down", retry_after_seconds=20.0, is_overload=True) if first else "good"

    results = call_many(court, court.endpoint(), ScriptedJudge(script, court.time, latency_seconds=0.0), 3)

    assert all(isinstance(result, Attempts) for result in results)
    assert moments[0] == 0.0
    assert all(moment >= 20.0 for moment in moments[1:])


def test_a_stray_retry_after_holds_only_for_whoever_was_told() -> None:
    """One 429 among hundreds of good answers is no reason for the others to wait."""
    court = Court(maximum=64)

    def script(call: Call, times: int) -> str | Exception:
        is_stray = call.sample_key == "100" and times == 1
        return TransientJudgeError("slow down", retry_after_seconds=20.0, is_overload=True) if is_stray else "good"

    ends: list[float] = []
    judge = ScriptedJudge(script, court.time)
    endpoint = court.endpoint()

    async def work() -> None:
        async def one(number: int) -> None:
            await call_through(endpoint, judge, ask(number))
            ends.append(court.time.now)

        await asyncio.gather(*map(one, range(640)))

    court.time.run(work)

    assert len(ends) == 640
    assert sorted(ends)[-2] <= 12.0
    assert ends[-1] >= 20.0


def test_a_wait_beyond_patience_is_not_kept() -> None:
    """The sample is missing, and the next run asks for it; nobody sits before a bar for a day."""
    court = Court(maximum=64, policy=RetryPolicy(patience_seconds=60.0))

    def script(call: Call, times: int) -> str | Exception:
        if call.sample_key == "100":
            return TransientJudgeError("tomorrow", retry_after_seconds=86_400.0, is_overload=True)
        return "good"

    results = call_many(court, court.endpoint(), ScriptedJudge(script, court.time), 300)

    assert isinstance(results[100], TransientJudgeError)
    assert all(isinstance(result, Attempts) for number, result in enumerate(results) if number != 100)
    assert court.time.now < 60.0


def test_overloads_do_not_use_up_tries() -> None:
    """An endpoint that takes ten at once is asked by ten, however many want to."""
    court = Court(maximum=64)
    judge = ScriptedJudge(lambda call, times: "good", court.time)
    capacity = 10

    def script(call: Call, times: int) -> str | Exception:
        return TransientJudgeError("busy", is_overload=True) if judge.in_flight >= capacity else "good"

    judge.script = script

    results = call_many(court, court.endpoint(), judge, 300)

    assert all(isinstance(result, Attempts) for result in results)


def test_a_refusal_is_not_tried_again() -> None:
    """Asking again changes nothing."""
    court = Court()
    judge = ScriptedJudge(lambda call, times: PermanentJudgeError("too long"), court.time)

    (result,) = call_many(court, court.endpoint(), judge, 1)

    assert isinstance(result, PermanentJudgeError)
    assert len(judge.calls) == 1


def test_a_halt_ends_waiting_but_not_what_is_in_flight() -> None:
    """Those who have a place come home; those in the queue and those resting are sent away."""
    court = Court(maximum=2)
    judge = ScriptedJudge(
        lambda call, times: TransientJudgeError("boom") if call.sample_key == "0" else "good", court.time
    )
    endpoint = court.endpoint()

    async def halt_later() -> None:
        await court.time.sleep(1.1)
        endpoint.halt()

    async def work() -> list[Attempts | BaseException | None]:
        calls = (call_through(endpoint, judge, ask(number)) for number in range(6))
        return await asyncio.gather(*calls, halt_later(), return_exceptions=True)

    results = court.time.run(work)

    assert isinstance(results[0], HaltedError)
    assert isinstance(results[1], Attempts)
    assert all(isinstance(result, Attempts) for result in results[2:4])
    assert all(isinstance(result, HaltedError) for result in results[4:6])
    assert endpoint.in_flight == 0


def test_a_permit_that_is_refused_gives_the_place_back() -> None:
    """Or the endpoint would be blocked for ever."""
    court = Court(maximum=1)
    judge = ScriptedJudge(lambda call, times: "good", court.time)
    endpoint = court.endpoint()

    def refuse() -> None:
        raise LookupError("no")

    async def work() -> Attempts:
        with pytest.raises(LookupError):
            await call_through(endpoint, judge, ask(), refuse)
        return await call_through(endpoint, judge, ask())

    assert court.time.run(work).tries == 1
    assert endpoint.in_flight == 0


def test_a_place_is_free_when_the_answer_is_kept() -> None:
    """So what was asked and is not kept is never more than the limit: a kill costs no more than that."""
    court = Court(maximum=4)
    kept = 0
    most_unkept = 0
    judge = ScriptedJudge(lambda call, times: "good", court.time)
    endpoint = court.endpoint()

    def keep() -> None:
        nonlocal kept, most_unkept
        most_unkept = max(most_unkept, len(judge.calls) - kept)
        kept += 1

    async def work() -> None:
        await asyncio.gather(*(call_through(endpoint, judge, ask(number), keep=keep) for number in range(40)))

    court.time.run(work)

    assert (kept, most_unkept) == (40, 4)
