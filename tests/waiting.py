"""Waiting for what a test has caused: as long as it takes, and whoever waits in vain is told what for after seconds."""

import asyncio
import contextlib
import inspect
import time
from collections.abc import AsyncIterator, Callable

import pytest

# A busy machine takes its time; what has not come by then does not come.
PATIENCE_SECONDS = 45.0
_LOOK_EVERY_SECONDS = 0.002


def wait_for(
    condition: Callable[[], bool],
    is_over: Callable[[], bool] = lambda: False,
    seconds: float = PATIENCE_SECONDS,
) -> bool:
    """Whether it came true; false where something else was over before that. What never comes fails by its name."""
    deadline = time.monotonic() + seconds
    while not condition():
        if is_over():
            return condition()
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds:g} s for {describe_condition(condition)}")
        time.sleep(_LOOK_EVERY_SECONDS)
    return True


@contextlib.asynccontextmanager
async def patiently(what: str, seconds: float = PATIENCE_SECONDS) -> AsyncIterator[None]:
    """A part of a coroutine that asks again and again; what it asks for in vain is named."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        pytest.fail(f"waited {seconds:g} s for {what}")


def describe_condition(condition: Callable[[], bool]) -> str:
    """The words of the test that waits; of a function, its name."""
    function = getattr(condition, "func", condition)
    try:
        words = " ".join(inspect.getsource(function).split())
    except (OSError, TypeError):
        return repr(condition)
    return words if function.__name__ == "<lambda>" else f"{function.__name__} {getattr(condition, 'args', ())}"
