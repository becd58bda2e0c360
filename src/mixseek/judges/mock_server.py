"""A judge on loopback: OpenAI and Anthropic wire formats, think time, and faults on demand, the same in every run.

    POST /v1/chat/completions, /v1/messages     a verdict that the prompt decides (see mock_answers)
    GET /v1/models · GET /stats · POST /reset    what is there, what was asked, forget it

Faults are drawn from the seed, the request and how often that request came; so a retry may succeed, and two runs see
the same whatever the order of their requests.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import orjson

from mixseek.errors import ConfigurationError
from mixseek.judges.mock_answers import Fault, Prompt, pick_fault, say, section, share_of
from mixseek.judges.mock_http import BadRequestError, Request, RequestReader, response
from mixseek.judges.mock_records import MockRecords
from mixseek.judges.mock_wire import WIRE_FORMATS, WireFormat, list_models

LOOPBACK = "127.0.0.1"
_BACKLOG = 4096
_DRIPS = 20


@dataclass(frozen=True, slots=True)
class MockOptions:
    """How the mock behaves; the defaults answer at once and never fail."""

    latency_seconds: float = 0.0
    # Up to so much more, drawn from the request.
    jitter_seconds: float = 0.0
    fault_rate: float = 0.0
    faults: tuple[Fault, ...] = tuple(Fault)
    seed: int = 0
    retry_after_seconds: float = 1.0
    drip_seconds: float = 2.0
    # Share of verdicts that say "correct".
    correct_share: float = 0.5
    # Every request is answered 401, with the key in the message: careless endpoints do that.
    refuses_keys: bool = False
    # Every request with a JSON schema is answered 400.
    refuses_schemas: bool = False
    # Longer prompts are answered 400, as a model's context has an end.
    context_characters: int | None = None
    # More at once are answered 429.
    capacity: int | None = None
    # After so many requests the server is gone for `down_seconds`: open connections die, new ones are refused.
    down_after_requests: int | None = None
    down_seconds: float = 5.0
    # JSONL, one line when a request came and one when it was answered or abandoned.
    log: Path | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that is being thought about."""

    number: int
    times_seen: int
    digest: bytes
    prompt: Prompt
    wire: WireFormat
    fault: Fault | None


class MockServer:
    """Listens from `start` to `stop`; `base_url` is what follows the @ of a judge spec."""

    def __init__(self, options: MockOptions, host: str = LOOPBACK, port: int = 0) -> None:
        self.options = options
        self.host, self.port = host, port
        self.records = MockRecords(options.log)
        self._connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None
        self._outage: asyncio.Task[None] | None = None

    @property
    def base_url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    async def start(self) -> None:
        """Raises ConfigurationError when the port is taken."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: _Connection(self), self.host, self.port, backlog=_BACKLOG, reuse_address=True
            )
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {self.host}:{self.port} ({error.strerror}); "
                "choose another --port, or 0 for a free one"
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Open connections are cut: a client that waits must notice."""
        if self._outage is not None:
            self._outage.cancel()
        self._close()
        # One turn of the loop, so that what was cut is in the log, and transports are gone before the loop is.
        await asyncio.sleep(0)
        self.records.close()

    def begin_outage_if_due(self) -> None:
        """Once in a server's life."""
        due = self.options.down_after_requests
        if due is not None and self._outage is None and self.records.requests >= due:
            self._outage = asyncio.get_running_loop().create_task(self._be_down())

    def stats(self) -> dict[str, Any]:
        return self.records.summary()

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._connections):
            connection.abort()

    async def _be_down(self) -> None:
        self._close()
        await asyncio.sleep(self.options.down_seconds)
        await self.start()

    def opened(self, connection: "_Connection") -> None:
        self._connections.add(connection)

    def closed(self, connection: "_Connection") -> None:
        self._connections.discard(connection)


class _Connection(asyncio.Protocol):
    """One client. Its requests are answered one after the other, as HTTP/1.1 has it."""

    def __init__(self, server: MockServer) -> None:
        self._server = server
        self._reader = RequestReader()
        self._transport: asyncio.Transport | None = None
        self._asked: _Asked | None = None
        self._keeps_alive = True
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._server.closed(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._asked is not None:
            asked, self._asked = self._asked, None
            self._server.records.abandoned(asked.number)

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        self._go_on()

    def abort(self) -> None:
        """As a crash would: no goodbye."""
        if self._transport is not None:
            self._transport.abort()

    def _go_on(self) -> None:
        """Take up the next request unless one is being thought about."""
        try:
            while self._asked is None and self._transport is not None:
                if self._reader.waits_for_continue():
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                request = self._reader.take()
                if request is None:
                    return
                self._keeps_alive = request.keeps_alive
                self._receive(request)
        except BadRequestError as error:
            self._keeps_alive = False
            self._send(error.status, orjson.dumps({"error": {"message": str(error)}}))

    def _receive(self, request: Request) -> None:
        wire = next((wire for end, wire in WIRE_FORMATS.items() if request.path.endswith(end)), None)
        match request.method, request.path:
            case "POST", _ if wire is not None:
                self._receive_prompt(request, wire)
            case "GET", "/v1/models":
                self._send(HTTPStatus.OK, list_models())
            case "GET", "/stats":
                self._send(HTTPStatus.OK, orjson.dumps(self._server.stats(), option=orjson.OPT_INDENT_2))
            case "POST", "/reset":
                self._server.records.reset()
                self._send(HTTPStatus.OK, b"{}")
            case _:
                self._send(HTTPStatus.NOT_FOUND, orjson.dumps({"error": {"message": f"no {request.path} here"}}))

    def _receive_prompt(self, request: Request, wire: WireFormat) -> None:
        options, records = self._server.options, self._server.records
        try:
            payload = orjson.loads(request.body)
            if not isinstance(payload, dict):
                raise ValueError("the body is not a JSON object")  # noqa: TRY004, TRY301  answered below, like the rest
            prompt = wire.read(payload)
        except ValueError as error:
            self._send(HTTPStatus.BAD_REQUEST, wire.error(400, str(error)))
            return
        digest = prompt.digest(options.seed)
        number, times_seen = records.received(digest, wire.name, prompt.model, section(prompt, "QUESTION"))
        refused = _refusal(request, wire, prompt, options, records.in_flight)
        fault = pick_fault(digest, times_seen, options.fault_rate, options.faults) if refused is None else None
        self._asked = asked = _Asked(number, times_seen, digest, prompt, wire, fault)
        self._server.begin_outage_if_due()
        if refused is not None:
            self._answer_error(asked, *refused)
            return
        wait = options.latency_seconds + options.jitter_seconds * share_of(digest[8:])
        if wait > 0:
            self._timer = asyncio.get_running_loop().call_later(wait, self._answer, asked)
        else:
            self._answer(asked)

    def _answer(self, asked: _Asked) -> None:
        options = self._server.options
        match asked.fault:
            case Fault.RATE_LIMIT:
                self._answer_error(asked, 429, "Rate limit reached for the mock judge.")
            case Fault.SERVER_ERROR:
                self._answer_error(asked, 500, "The mock judge had an error while processing your request.")
            case Fault.DROP:
                self._finish(asked, status=0)
                self.abort()
            case _:
                said = say(asked.prompt, asked.fault, seed=options.seed, correct_share=options.correct_share)
                body = asked.wire.answer(asked.prompt, said, asked.number)
                head, body = response(200, body, keeps_alive=self._keeps_alive, headers=_identity(asked))
                if asked.fault is Fault.SLOW_DRIP and options.drip_seconds > 0:
                    self._drip(asked, head, body, said.is_correct)
                    return
                self._write(head + body)
                self._finish(asked, status=200, is_correct=said.is_correct)
                self._end()

    def _answer_error(self, asked: _Asked, status: int, message: str) -> None:
        headers = _identity(asked)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            headers["Retry-After"] = f"{self._server.options.retry_after_seconds:g}"
        self._finish(asked, status=status)
        self._send(status, asked.wire.error(status, message), headers)

    def _drip(self, asked: _Asked, head: bytes, rest: bytes, is_correct: bool) -> None:
        """A piece now, the others later."""
        size = max(1, len(rest) // _DRIPS)
        self._write(head + rest[:size])
        if len(rest) > size:
            pause = self._server.options.drip_seconds / _DRIPS
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(pause, self._drip, asked, b"", rest[size:], is_correct)
            return
        self._finish(asked, status=200, is_correct=is_correct)
        self._end()

    def _finish(self, asked: _Asked, *, status: int, is_correct: bool | None = None) -> None:
        self._asked = None
        self._server.records.answered(asked.number, status, asked.fault, is_correct)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._write(b"".join(response(status, body, keeps_alive=self._keeps_alive, headers=headers)))
        self._end()

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def _end(self) -> None:
        """After an answer: hang up when asked to, else see whether the next request is already here."""
        self._timer = None
        if self._transport is not None and not self._keeps_alive:
            self._transport.close()
        elif self._asked is None:
            asyncio.get_running_loop().call_soon(self._go_on)


def _identity(asked: _Asked) -> dict[str, str]:
    return {asked.wire.request_id_header: f"req_mock_{asked.number}"}


def _refusal(
    request: Request, wire: WireFormat, prompt: Prompt, options: MockOptions, in_flight: int
) -> tuple[int, str] | None:
    """What is answered at once, before any thinking: status and message."""
    if options.refuses_keys:
        return 401, f"Incorrect API key provided: {wire.key_in(request.headers)}."
    if options.refuses_schemas and prompt.wants_schema:
        return 400, "This model does not support the parameter 'response_format' of type 'json_schema'."
    length = sum(len(text) for _, text in prompt.turns)
    if options.context_characters is not None and length > options.context_characters:
        return 400, f"This model's maximum context length is {options.context_characters} tokens. Reduce the length."
    if options.capacity is not None and in_flight > options.capacity:
        return 429, "Too many requests at once for the mock judge."
    return None


@contextlib.asynccontextmanager
async def running_mock(options: MockOptions, host: str = LOOPBACK, port: int = 0) -> AsyncIterator[MockServer]:
    """A server for as long as the block lasts; port 0 takes a free one."""
    server = MockServer(options, host, port)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


def serve(host: str, port: int, options: MockOptions) -> None:
    """Until Ctrl-C or SIGTERM; prints one line when ready, for people and for scripts that wait for it."""
    asyncio.run(_serve(host, port, options))


async def _serve(host: str, port: int, options: MockOptions) -> None:
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, done.set)
    async with running_mock(options, host, port) as server:
        print(f"ready: mock judge at {server.base_url} (--judge openai:mock@{server.base_url})", flush=True)
        await done.wait()
