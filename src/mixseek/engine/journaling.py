"""Group commit: lines gather for a moment, then one write and one fsync make them all durable."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor

from mixseek.domain.ports import Journal, ProgressSink
from mixseek.errors import StorageError

# Long enough to gather the replies of many calls, short beside any model's think time.
GATHER_SECONDS = 0.025
GATHER_LINES = 256
# Whoever writes faster than the disk waits here: memory stays flat. A "line" may be a whole batch of them.
MAX_WAITING_BYTES = 4 << 20


class GroupCommit:
    """One writer in front of one journal. Counts reach `progress` only when what they count is on disk."""

    def __init__(self, journal: Journal, progress: ProgressSink, gather_seconds: float = GATHER_SECONDS) -> None:
        self._journal = journal
        self._progress = progress
        self._gather_seconds = gather_seconds
        self._lines: list[bytes] = []
        self._waiting_bytes = 0
        self._counts: Counter[str] = Counter()
        self._done: asyncio.Future[None] | None = None
        self._arrived = asyncio.Event()
        self._full = asyncio.Event()
        self._is_closing = False
        self._failure: StorageError | None = None
        self._writer: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Needs a running loop."""
        self._writer = asyncio.create_task(self._write(), name="journal")

    def add(self, lines: Sequence[bytes], counts: Mapping[str, int] | None = None) -> None:
        """Queue without waiting: durable at the next commit, in the order of adding."""
        if self._failure is not None:
            raise self._failure
        for line in lines:
            self._lines.append(line)
            self._waiting_bytes += len(line)
        if counts:
            self._counts.update(counts)
        self._arrived.set()
        if len(self._lines) >= GATHER_LINES or self._waiting_bytes >= MAX_WAITING_BYTES:
            self._full.set()

    async def commit(self, lines: Sequence[bytes], counts: Mapping[str, int] | None = None) -> None:
        """On disk before returning; raises StorageError when it is not."""
        self.add(lines, counts)
        if self._done is None:
            self._done = asyncio.get_running_loop().create_future()
        await asyncio.shield(self._done)

    async def make_room(self) -> None:
        """Returns at once unless the disk lags behind."""
        # Again after waiting: many may have waited, and the first ones take the room.
        while self._waiting_bytes >= MAX_WAITING_BYTES:
            await self.commit(())

    async def close(self) -> None:
        """Write what is left; raises StorageError when any of it could not be written."""
        self._is_closing = True
        self._arrived.set()
        self._full.set()
        if self._writer is not None:
            await self._writer
        if self._failure is not None:
            raise self._failure

    async def _write(self) -> None:
        with ThreadPoolExecutor(1, thread_name_prefix="journal") as thread:
            while self._failure is None:
                await self._arrived.wait()
                if not self._is_closing and len(self._lines) < GATHER_LINES:
                    await self._gather()
                await self._append(thread)
                if self._is_closing and not (self._lines or self._counts or self._done):
                    return

    async def _gather(self) -> None:
        handle = asyncio.get_running_loop().call_later(self._gather_seconds, self._full.set)
        await self._full.wait()
        handle.cancel()

    async def _append(self, thread: Executor) -> None:
        lines, counts, done = self._lines, self._counts, self._done
        self._lines, self._waiting_bytes, self._counts, self._done = [], 0, Counter(), None
        self._arrived.clear()
        self._full.clear()
        append: Callable[[Sequence[bytes]], None] = self._journal.append
        try:
            if lines:
                await asyncio.get_running_loop().run_in_executor(thread, append, lines)
        except StorageError as error:
            self._failure = error
            for waiting in (done, self._done):
                if waiting is not None and not waiting.done():
                    waiting.set_exception(error)
                    # Somebody may have stopped waiting; an error that nobody asks for is no news then.
                    waiting.exception()
            return
        if done is not None and not done.done():
            done.set_result(None)
        if counts:
            self._progress.advance(counts)
