"""The loopback judge in a thread of this process: the command line talks to it, the test looks into it."""

import asyncio
import contextlib
import json
import math
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mixseek.testing.mock_server import LOOPBACK, MockOptions, MockServer

START_SECONDS = 60.0


class HeldServer(MockServer):
    """A mock that answers when a test says so: what is in flight stays there, however slow or quick the machine is."""

    def __init__(self, options: MockOptions, host: str, port: int) -> None:
        super().__init__(options, host, port)
        self.is_free, self.permits, self.holds = True, 0, 0
        self.changed = asyncio.Condition()
        self.is_back = asyncio.Event()

    async def wait_for_turn(self, seconds: float) -> None:
        await super().wait_for_turn(seconds)
        async with self.changed:
            held = self.holds
            await self.changed.wait_for(lambda: self.is_free or self.permits > 0 or self.holds != held)
            if not self.is_free and self.holds == held:
                self.permits -= 1

    async def _be_down(self) -> None:
        """For ever is until it is told to come back."""
        if math.isfinite(self.options.down_seconds):
            return await super()._be_down()
        await self._hang_up()
        await self.is_back.wait()
        return await self.start()


@dataclass(frozen=True, slots=True)
class Loopback:
    """A running mock, seen from another thread."""

    server: HeldServer
    loop: asyncio.AbstractEventLoop

    def hold(self, after: int = 0) -> None:
        """Whoever waits goes on, and so many more; those that come then are taken in, and wait."""
        self._change(is_free=False, permits=after, holds=self.server.holds + 1)

    def let_through(self, count: int) -> None:
        """So many of those that are held, or come, are answered."""
        self._change(is_free=False, permits=self.server.permits + count, holds=self.server.holds)

    def release(self) -> None:
        """All that were held are answered now, and whatever comes."""
        self._change(is_free=True, permits=0, holds=self.server.holds)

    def come_back(self) -> None:
        """Where it is down for ever."""
        self.loop.call_soon_threadsafe(self.server.is_back.set)

    def _change(self, *, is_free: bool, permits: int, holds: int) -> None:
        async def change() -> None:
            async with self.server.changed:
                self.server.is_free, self.server.permits, self.server.holds = is_free, permits, holds
                self.server.changed.notify_all()

        asyncio.run_coroutine_threadsafe(change(), self.loop).result(START_SECONDS)

    @property
    def base_url(self) -> str:
        return self.server.base_url

    @property
    def spec(self) -> str:
        return f"openai:mock@{self.server.base_url}"

    def stats(self) -> dict[str, Any]:
        return self.server.stats()

    def answer_at_once(self) -> None:
        """From the next request on: what had to be slow to be disturbed may now be quick."""
        self.server.options = replace(self.server.options, latency_seconds=0.0, jitter_seconds=0.0)

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
        server = HeldServer(options or MockOptions(), LOOPBACK, port)
        await server.start()
        try:
            started.append(Loopback(server, loop))
            ready.set()
            await done.wait()
        finally:
            await server.stop()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(START_SECONDS)
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(START_SECONDS)
        loop.close()


class Asked(NamedTuple):
    """One request as it came in; `number` counts from 1."""

    number: int
    path: str
    body: bytes
    at_once: int  # requests in hand, this one included


# Status, headers and body; where it has to be thought about first, a coroutine.
Given = tuple[int, Mapping[str, str], bytes]
Answering = Callable[[Asked], "Given | Awaitable[Given]"]


@dataclass(slots=True)
class Hand:
    """An endpoint whose every answer a test writes itself, byte for byte."""

    answer: Answering
    port: int = 0
    requests: int = 0
    at_once: int = 0
    most_at_once: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def spec(self) -> str:
        return f"openai:hand@{self.base_url}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                lines = head.lower().split("\r\n")
                length = next((int(line[15:]) for line in lines if line[:15] == "content-length:"), 0)
                self.requests += 1
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    body = await reader.readexactly(length)
                    given = self.answer(Asked(self.requests, head.split(" ", 2)[1], body, self.at_once))
                    status, headers, text = given if isinstance(given, tuple) else await given
                finally:
                    self.at_once -= 1
                lines = [f"HTTP/1.1 {status} {status}", *(f"{name}: {value}" for name, value in headers.items())]
                if status >= 200 and status != 204:
                    lines.append(f"Content-Length: {len(text)}")
                writer.write("\r\n".join([*lines, "", ""]).encode() + text)
                await writer.drain()
        writer.close()


def completion(text: str, *, input_tokens: int = 100, output_tokens: int = 50) -> Given:
    """A reply in the form of chat completions."""
    usage = {"prompt_tokens": input_tokens, "completion_tokens": output_tokens}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    document = {"id": "x", "model": "hand", "choices": [choice], "usage": usage}
    return 200, {"Content-Type": "application/json"}, json.dumps(document).encode()


def refusal(status: int, words: str, **headers: str) -> Given:
    """An error in the form of chat completions."""
    return status, {"Content-Type": "application/json", **headers}, json.dumps({"error": {"message": words}}).encode()


@contextlib.contextmanager
def answering(answer: Answering, port: int = 0) -> Iterator[Hand]:
    """Serves as long as the block lasts."""
    hand = Hand(answer)
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    done = asyncio.Event()

    async def serve() -> None:
        server = await asyncio.start_server(hand.serve, "127.0.0.1", port)
        hand.port = server.sockets[0].getsockname()[1]
        ready.set()
        await done.wait()
        server.close()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(START_SECONDS)
    try:
        yield hand
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(START_SECONDS)
