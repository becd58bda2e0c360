"""Slow things, done once in a thread and kept: whoever asks waits a moment, then is told that it is under way."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import release_freed_memory

T = TypeVar("T")
# A page answers within 0.3 s, whatever it shows.
_WAIT_SECONDS = 0.15
# What is older than the journal is shown for so long, or five times as long as it takes to make.
_PATIENCE_SECONDS = 3.0
_KEPT = 6
_THREADS = 4


@dataclass(frozen=True, slots=True)
class Pending:
    """Not there yet; begun so many seconds ago. A search says how many samples it has been through, and of how many."""

    seconds: float
    searched: int | None = None
    samples: int | None = None


@dataclass(slots=True)
class _Entry:
    value: Any = None
    previous: Any = None
    version: Hashable = None
    has_value: bool = False
    made_at: float = 0.0
    took_seconds: float = 0.0
    began_at: float = 0.0
    task: "asyncio.Task[Any] | None" = None


class SlowWork(Generic[T]):
    """Results by key, the few used last; a result that is left out is handed to `drop`."""

    def __init__(self, drop: Callable[[T], None] = lambda value: None) -> None:
        self._entries: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="mixseek-view")
        self._drop = drop

    async def get(
        self,
        key: Hashable,
        version: Hashable,
        make: Callable[[], T],
        *,
        is_growing: bool = False,
        is_late_enough: Callable[[Any], bool] = lambda version: True,
    ) -> T | Pending:
        """The value of this version; while it grows, maybe an older one; or Pending. Raises what `make` raises.

        `is_late_enough` says of a version whether whoever asks could find in it what they have seen already.
        """
        entry = self._entries.setdefault(key, _Entry())
        self._entries.move_to_end(key)
        now = time.monotonic()
        is_fresh = entry.has_value and entry.version == version
        is_recent = now - entry.made_at < max(_PATIENCE_SECONDS, 5 * entry.took_seconds)
        is_bearable = entry.has_value and is_growing and is_recent and is_late_enough(entry.version)
        if not is_fresh and not is_bearable and entry.task is None:
            entry.began_at = now
            entry.task = asyncio.create_task(self._make(entry, version, make))
        if entry.task is not None and not is_fresh:
            task = entry.task
            await asyncio.wait([task], timeout=_WAIT_SECONDS)
            if task.done():
                if entry.task is task:
                    entry.task = None
                task.result()
        self._forget()
        # What will not change any more is shown as it is, or not yet: nobody would look for a newer one.
        is_outdated = entry.version != version and not (is_growing and is_late_enough(entry.version))
        if not entry.has_value or is_outdated:
            return Pending(time.monotonic() - entry.began_at)
        value: T = entry.value
        return value

    async def _make(self, entry: _Entry, version: Hashable, make: Callable[[], T]) -> None:
        began = time.monotonic()
        value = await asyncio.get_running_loop().run_in_executor(self._threads, make_and_tidy, make)
        # Somebody may still be reading the one that is replaced: it goes when the next one comes.
        if entry.previous is not None:
            self._drop(entry.previous)
        entry.previous = entry.value if entry.has_value else None
        entry.value, entry.version, entry.has_value = value, version, True
        entry.made_at = time.monotonic()
        entry.took_seconds = entry.made_at - began

    def _forget(self) -> None:
        done = [key for key, entry in self._entries.items() if entry.task is None and entry.has_value]
        for key in done[:-_KEPT]:
            self._let_go(self._entries.pop(key))

    async def close(self) -> None:
        """Nobody waits for what is under way: it changes nothing that stays."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for entry in self._entries.values():
            if entry.task is not None:
                entry.task.cancel()
            self._let_go(entry)

    def _let_go(self, entry: _Entry) -> None:
        for value in (entry.previous, entry.value):
            if value is not None:
                self._drop(value)


def make_and_tidy(make: Callable[[], T]) -> T:
    """A server stays for days: what was needed to make a list goes when the list is there."""
    try:
        return make()
    finally:
        release_freed_memory()
