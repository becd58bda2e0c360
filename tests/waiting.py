"""Waiting for what a test has caused: as long as it takes, and whoever waits in vain is told what for after seconds."""

import asyncio
import contextlib
import inspect
import os
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

# A busy machine takes its time; what has not come by then does not come.
PATIENCE_SECONDS = 45.0
_LOOK_EVERY_SECONDS = 0.002
# Of CPU, in so long: a command that waits with a progress bar takes less, one that is starved more.
_AT_WORK_SECONDS = 0.5


def wait_for(
    condition: Callable[[], bool],
    is_over: Callable[[], bool] = lambda: False,
    seconds: float = PATIENCE_SECONDS,
    worker: int | None = None,
) -> bool:
    """Whether it came true; false where something else was over before that. What never comes fails by its name.

    As long as the process `worker` is at work, it may still come: on a starved machine that takes its time.
    """
    deadline, watched = time.monotonic() + seconds, Watched(worker)
    while not condition():
        if is_over():
            return condition()
        if time.monotonic() > deadline:
            if not watched.has_worked():
                pytest.fail(f"waited {seconds:g} s for {describe_condition(condition)}")
            deadline = time.monotonic() + seconds
        time.sleep(_LOOK_EVERY_SECONDS)
    return True


class Watched:
    """A process, and those of its session: who waits for one that does nothing waits in vain."""

    def __init__(self, pid: int | None) -> None:
        self.pid = pid
        self.spent_seconds = self._spent_seconds()

    def has_worked(self) -> bool:
        """Since it was asked last."""
        before, self.spent_seconds = self.spent_seconds, self._spent_seconds()
        return self.spent_seconds - before > _AT_WORK_SECONDS

    def _spent_seconds(self) -> float:
        if self.pid is None:
            return 0.0
        ticks = 0
        for directory in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                fields = (directory / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                if self.pid in (int(directory.name), int(fields[3])):
                    ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")


def finish(process: "subprocess.Popen[str]", given: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Its end and what it wrote, however long it works; one that does nothing is killed. A session is its own."""
    watched = Watched(process.pid)
    while True:
        try:
            out, err = process.communicate(given, timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            # What was given is on its way, and is not given twice.
            given = None
            if not watched.has_worked():
                process.kill()
                process.communicate()
                pytest.fail(f"waited {PATIENCE_SECONDS:g} s for the end of {process.args!r}, which does nothing")
        else:
            return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@contextlib.asynccontextmanager
async def patiently(what: str, seconds: float = PATIENCE_SECONDS) -> AsyncIterator[None]:
    """A part of a coroutine that asks again and again; what it asks for in vain is named."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        pytest.fail(f"waited {seconds:g} s for {what}")


def is_asleep(pid: int) -> bool:
    """Whether no thread of a process has anything to do: a signal that was sent before has been handled then.

    A signal makes a thread runnable before `kill` returns, and its handler runs before anything else of that thread.
    """
    try:
        texts = [path.read_text(encoding="utf-8") for path in Path(f"/proc/{pid}/task").glob("*/stat")]
    except OSError:
        # A thread has ended meanwhile.
        return False
    return {text.rpartition(")")[2].split()[0] for text in texts} == {"S"}


def describe_condition(condition: Callable[[], bool]) -> str:
    """The words of the test that waits; of a function, its name."""
    function = getattr(condition, "func", condition)
    try:
        words = " ".join(inspect.getsource(function).split())
    except (OSError, TypeError):
        return repr(condition)
    return words if function.__name__ == "<lambda>" else f"{function.__name__} {getattr(condition, 'args', ())}"
