"""A scenario in a browser that hangs says at which line, soon; one that goes on is left alone. Needs no browser."""

import asyncio
import itertools

import pytest
from tests.browser.driving import WAIT_SECONDS, what_waits, within_bounds
from tests.waiting import PATIENCE_SECONDS


async def wait_for_nothing(never: asyncio.Event) -> None:
    await never.wait()  # the innermost line


def test_a_wait_that_is_not_met_names_its_lines() -> None:
    """Of the scenario and of what it called, in the words that stand there."""

    async def scenario() -> None:
        await asyncio.sleep(0)
        await wait_for_nothing(asyncio.Event())

    with pytest.raises(pytest.fail.Exception) as failed:
        asyncio.run(within_bounds(scenario(), 0.1))

    lines = str(failed.value).splitlines()
    assert lines[0] == "waited 0.1 s at"
    assert lines[1].endswith(" in scenario: await wait_for_nothing(asyncio.Event())")
    assert lines[2].endswith(" in wait_for_nothing: await never.wait()  # the innermost line")
    # After seconds, and later than a wait that knows by itself what it is for.
    assert PATIENCE_SECONDS < WAIT_SECONDS < 60


def test_a_loop_that_comes_by_again_is_no_hang() -> None:
    """The line is the same, what it waits for is not."""

    async def scenario(events: list[asyncio.Event]) -> None:
        for event in events:
            await wait_for_nothing(event)

    async def look() -> list[bool]:
        events = [asyncio.Event() for _ in range(3)]
        task = asyncio.ensure_future(scenario(events))
        chains = []
        for event in events:
            await asyncio.sleep(0)
            chains.append(what_waits(task))
            event.set()
            await asyncio.sleep(0)
        await task
        return [first == second for first, second in itertools.pairwise(chains)]

    assert asyncio.run(look()) == [False, False]
    assert asyncio.run(within_bounds(asyncio.sleep(0, "done"))) == "done"
