"""One alarm for all calls of a judge."""

import asyncio
import time
from collections.abc import Awaitable

import pytest

from mixseek.judges.endpoint.judge import Deadlines


async def within(deadlines: Deadlines, work: Awaitable[str]) -> str:
    """As a judge uses it."""
    task = deadlines.begin()
    try:
        return await work
    except asyncio.CancelledError:
        if deadlines.was_reached(task):
            return "late"
        raise
    finally:
        deadlines.end(task)


async def last(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "done"


def test_only_calls_that_take_too_long_are_ended() -> None:
    """Each by its own beginning, though one alarm rings for all."""

    async def call_all() -> list[str]:
        deadlines = Deadlines(0.1)
        first = asyncio.create_task(within(deadlines, last(0.01)))
        second = asyncio.create_task(within(deadlines, last(5)))
        await asyncio.sleep(0.07)
        third = asyncio.create_task(within(deadlines, last(0.06)))
        fourth = asyncio.create_task(within(deadlines, last(5)))
        return list(await asyncio.gather(first, second, third, fourth))

    assert asyncio.run(call_all()) == ["done", "late", "done", "late"]


def test_a_task_goes_on_after_its_call_was_ended() -> None:
    """The cancellation was the alarm's own: the next call of the same task is as good as the first."""

    async def call_twice() -> tuple[list[str], int]:
        deadlines = Deadlines(0.03)

        async def work() -> tuple[list[str], int]:
            answers = [await within(deadlines, last(5)), await within(deadlines, last(0.001))]
            task = asyncio.current_task()
            assert task is not None
            return answers, task.cancelling()

        return await asyncio.create_task(work())

    assert asyncio.run(call_twice()) == (["late", "done"], 0)


def test_who_is_cancelled_by_somebody_else_stays_cancelled() -> None:
    """Before its time, and at the very moment when its time is up."""

    async def cancel(after: float) -> bool:
        deadlines = Deadlines(0.03)
        task = asyncio.create_task(within(deadlines, last(5)))
        await asyncio.sleep(after)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    async def cancel_with_the_alarm() -> bool:
        deadlines = Deadlines(0.03)
        task = asyncio.create_task(within(deadlines, last(5)))
        await asyncio.sleep(0)
        # Both are due when the loop comes back, and both come before the task runs again.
        loop = asyncio.get_running_loop()
        loop.call_later(0.03, task.cancel)
        loop.call_soon(time.sleep, 0.06)
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert asyncio.run(cancel(0.005))
    assert asyncio.run(cancel_with_the_alarm())


def test_a_cancelling_that_was_answered_in_another_way_is_taken_back() -> None:
    """With an error, or not at all: the next call of the same task is ended by its own alarm all the same."""

    async def fail_when_cancelled() -> str:
        try:
            return await last(5)
        except asyncio.CancelledError:
            raise ConnectionResetError from None

    async def finish_when_cancelled() -> str:
        try:
            return await last(5)
        except asyncio.CancelledError:
            return "done"

    async def call_thrice() -> tuple[list[str], int]:
        deadlines = Deadlines(0.02)
        answers = []
        for work in (fail_when_cancelled(), finish_when_cancelled(), last(5)):
            try:
                answers.append(await within(deadlines, work))
            except ConnectionResetError:
                answers.append("failed")
        task = asyncio.current_task()
        assert task is not None
        return answers, task.cancelling()

    assert asyncio.run(call_thrice()) == (["failed", "done", "late"], 0)


def test_another_loop_begins_anew() -> None:
    """A judge may be asked in one loop after another; an alarm of the first must not be missed in the second."""
    deadlines = Deadlines(0.02)

    assert asyncio.run(within(deadlines, last(0.001))) == "done"
    assert asyncio.run(within(deadlines, last(5))) == "late"


def test_a_call_belongs_to_a_task() -> None:
    """Without one there would be nobody to end."""
    with pytest.raises(RuntimeError, match=r"no running event loop|made by a task"):
        Deadlines(1.0).begin()
