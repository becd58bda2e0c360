"""Group commit: a reply is written at once, one fsync makes many durable, and only then are they read and counted."""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Protocol

from mixseek.domain.ports import ProgressSink
from mixseek.errors import StorageError

# Long enough to gather the replies of many calls, short beside any model's think time.
GATHER_SECONDS = 0.025
GATHER_LINES = 256
# So many replies of a group are read in one turn of the loop, or as many as leave this number of turns for a large one:
# the next requests leave in between.
_READ_AT_ONCE = 3
_READING_TURNS = 32
# Whoever writes faster than the disk waits here: memory stays flat. A "line" may be a whole batch of them.
MAX_WAITING_BYTES = 4 << 20


class SyncedJournal(Protocol):
    """A journal whose two halves of an append can be had apart."""

    def write(self, lines: Iterable[bytes]) -> None:
        """Out of this process before returning."""
        ...

    def sync(self) -> None:
        """All that was written before is on disk when this returns; called from another thread than `write`."""
        ...


class GroupCommit:
    """One writer in front of one journal. Counts reach `progress` only when what they count is on disk."""

    def __init__(self, journal: SyncedJournal, progress: ProgressSink, gather_seconds: float = GATHER_SECONDS) -> None:
        self._journal = journal
        self._progress = progress
        self._gather_seconds = gather_seconds
        self._queued: list[bytes] = []
        # Of this group, queued or written.
        self._lines = 0
        self._bytes = 0
        self._counts: dict[str, int] = {}
        # One each for who waits for this group: a future that all of them share would have to be shielded from each.
        self._waiting: list[asyncio.Future[None]] = []
        self._arrived = asyncio.Event()
        self._full = asyncio.Event()
        # Replies that were waited for, so far.
        self.kept = 0
        self._is_closing = False
        self._failure: StorageError | None = None
        self._syncing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Needs a running loop."""
        self._syncing = asyncio.create_task(self._sync_groups(), name="journal")

    def check(self) -> None:
        """Raises StorageError where nothing can be kept any more: what would come back need not be asked for."""
        if self._failure is not None:
            raise self._failure

    def add(self, lines: Sequence[bytes], counts: Mapping[str, int] | None = None) -> None:
        """Queue without waiting: written and durable with the next group, in the order of adding."""
        self.check()
        for line in lines:
            self._queued.append(line)
            self._lines += 1
            self._bytes += len(line)
        if counts:
            before = self._counts
            for name, count in counts.items():
                before[name] = before.get(name, 0) + count
        self._arrived.set()
        if self._lines >= GATHER_LINES or self._bytes >= MAX_WAITING_BYTES:
            self._full.set()

    def keep(self, lines: Sequence[bytes], counts: Mapping[str, int] | None = None) -> "asyncio.Future[None]":
        """Written before returning, so that a kill cannot take it; the future is done, or fails, when it is synced."""
        self.add(lines, counts)
        self._write_queued()
        self.kept += 1
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        return waiting

    async def commit(self, lines: Sequence[bytes], counts: Mapping[str, int] | None = None) -> None:
        """The lines are on disk when this returns; raises StorageError when they are not."""
        await self.keep(lines, counts)

    async def settle(self) -> None:
        """Whoever waited before this has got its reply, or knows that it could not be kept."""
        with contextlib.suppress(StorageError):
            await self.commit(())

    async def make_room(self) -> None:
        """Returns at once unless the disk lags behind."""
        # Again after waiting: many may have waited, and the first ones take the room.
        while self._bytes >= MAX_WAITING_BYTES:
            await self.commit(())

    async def close(self) -> None:
        """Write what is left; raises StorageError when any of it could not be written."""
        self._is_closing = True
        self._arrived.set()
        self._full.set()
        if self._syncing is not None:
            await self._syncing
        self.check()

    def _write_queued(self) -> None:
        lines, self._queued = self._queued, []
        if not lines:
            return
        try:
            self._journal.write(lines)
        except StorageError as error:
            self._fail(error, self._waiting)
            raise

    async def _sync_groups(self) -> None:
        with ThreadPoolExecutor(1, thread_name_prefix="journal") as thread:
            while self._failure is None:
                await self._arrived.wait()
                if not self._is_closing and self._lines < GATHER_LINES:
                    await self._gather()
                if self._failure is None:
                    await self._sync_group(thread)
                if self._is_closing and not (self._lines or self._counts or self._waiting):
                    return

    async def _gather(self) -> None:
        handle = asyncio.get_running_loop().call_later(self._gather_seconds, self._full.set)
        await self._full.wait()
        handle.cancel()

    async def _sync_group(self, thread: Executor) -> None:
        has_lines, counts, waiting = self._lines > 0, self._counts, self._waiting
        self._lines, self._bytes, self._counts, self._waiting = 0, 0, {}, []
        self._arrived.clear()
        self._full.clear()
        try:
            self._write_queued()
            if has_lines:
                await asyncio.get_running_loop().run_in_executor(thread, self._journal.sync)
        except StorageError as error:
            self._fail(error, waiting)
            self._fail(error, self._waiting)
            return
        at_once = max(_READ_AT_ONCE, len(waiting) // _READING_TURNS)
        for place, future in enumerate(waiting, start=1):
            if not future.done():
                future.set_result(None)
            if place % at_once == 0:
                # Whoever reads a reply keeps the loop from its sockets.
                await asyncio.sleep(0)
        if counts:
            self._progress.advance(counts)

    def _fail(self, error: StorageError, waiting: "Iterable[asyncio.Future[None]]") -> None:
        self._failure = error
        self._arrived.set()
        self._full.set()
        for future in waiting:
            if not future.done():
                future.set_exception(error)
                # Somebody may have stopped waiting; an error that nobody asks for is no news then.
                future.exception()
