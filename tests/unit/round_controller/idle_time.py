"""An event loop whose time passes while everybody waits, and not while a busy machine works: limits of time that a
test sets are reached by those who sleep, and by nobody else."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Watch(selectors.DefaultSelector):
    """Does not wait for the next timer: it is that time then."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(None if timeout is None else 0)
        if not found and timeout:
            self.now += timeout
        return found


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._watch = _Watch()
        super().__init__(self._watch)

    def time(self) -> float:
        return self._watch.now


def run_in_idle_time(work: Coroutine[Any, Any, T]) -> T:
    """As `asyncio.run`, for what needs no thread and no other process."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
