"""The loopback judge in a thread of this process: the command line talks to it, the test looks into it."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mixseek.judges.mock_server import MockOptions, MockServer, running_mock

START_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Loopback:
    """A running mock, seen from another thread."""

    server: MockServer

    @property
    def base_url(self) -> str:
        return self.server.base_url

    @property
    def spec(self) -> str:
        return f"openai:mock@{self.server.base_url}"

    def stats(self) -> dict[str, Any]:
        return self.server.stats()

    @property
    def requests(self) -> int:
        return self.server.records.requests


@contextlib.contextmanager
def loopback(options: MockOptions | None = None, port: int = 0) -> Iterator[Loopback]:
    """Serves as long as the block lasts."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    done = asyncio.Event()
    started: list[Loopback] = []

    async def serve() -> None:
        async with running_mock(options or MockOptions(), port=port) as server:
            started.append(Loopback(server))
            ready.set()
            await done.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(START_SECONDS)
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(START_SECONDS)
        loop.close()
