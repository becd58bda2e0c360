"""Connections that ask nothing: closed after a while, so that whoever forgets them does not use up the viewer.

A browser keeps connections open for its next request, and a machine that is switched off never closes any. What is
being answered, a run that is watched among it, stays for as long as the other side takes what it is sent.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable

from aiohttp import web
from aiohttp.typedefs import Middleware
from aiohttp.web_protocol import RequestHandler

from mixseek.web.security import Handler

SILENT_SECONDS = 60.0
# How long a body may take: labels are short.
BODY_SECONDS = 30.0


class SilentConnections:
    """Which connections are at rest, and since when."""

    def __init__(self, clock: Callable[[], float], silent_seconds: float = SILENT_SECONDS) -> None:
        self._clock, self.silent_seconds = clock, silent_seconds
        self._resting_since: dict[RequestHandler, float] = {}
        self._asking: set[RequestHandler] = set()

    def middleware(self) -> Middleware:
        """Notes what is being answered."""

        @web.middleware
        async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._asking.add(request.protocol)
            # Before the answer, which may be a stream to somebody who is gone.
            if request.transport is not None:
                limit_unacknowledged(request.transport, self.silent_seconds)
            try:
                return await handler(request)
            finally:
                self._asking.discard(request.protocol)
                self._resting_since[request.protocol] = self._clock()

        return note

    def close_silent(self, connections: Iterable[RequestHandler]) -> int:
        """How many were closed: those that have sent no whole request for too long."""
        now, closed = self._clock(), 0
        present = set(connections)
        self._resting_since = {
            connection: since for connection, since in self._resting_since.items() if connection in present
        }
        for connection in present:
            transport = connection.transport
            if connection in self._asking or transport is None:
                continue
            if connection not in self._resting_since:
                self._resting_since[connection] = now
            if now - self._resting_since[connection] >= self.silent_seconds:
                transport.abort()
                closed += 1
        return closed

    async def watch(self, connections: Callable[[], Iterable[RequestHandler]]) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(self.silent_seconds / 4)
            self.close_silent(connections())


def limit_unacknowledged(transport: asyncio.BaseTransport, seconds: float) -> None:
    """A peer that acknowledges nothing any more is gone: the system closes the connection, a stream's too."""
    connected = transport.get_extra_info("socket")
    if connected is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1_000))


async def read_body_bytes(request: web.Request) -> bytes:
    """Raises a 408 for a body that does not come."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError as error:
        raise web.HTTPRequestTimeout from error
