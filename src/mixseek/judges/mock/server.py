"""A judge on loopback: OpenAI and Anthropic wire formats, think time, and faults on demand, the same in every run.

    POST /v1/chat/completions, /v1/messages     a verdict that the prompt decides (see replies)
    GET /v1/models · GET /stats · POST /reset    what is there, what was asked, forget it

Faults are drawn from the seed, the request and how often that request came; so a retry may succeed, and two runs see
the same whatever the order of their requests.
"""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from mixseek.errors import ConfigurationError
from mixseek.judges.mock.replies import Fault, Prompt, pick_fault, say, share_of
from mixseek.judges.mock.wire import MODELS, WIRE_FORMATS, MockRecords, WireFormat

LOOPBACK = "127.0.0.1"
_BACKLOG = 4096
_DRIPS = 20
# Room for a long context; aiohttp's own limit is a megabyte.
_MAX_BODY_BYTES = 1 << 26
# For handlers of connections that were cut.
_FAREWELL_SECONDS = 1.0


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
    prompt: Prompt
    wire: WireFormat
    fault: Fault | None

    @property
    def headers(self) -> dict[str, str]:
        return {self.wire.request_id_header: f"req_mock_{self.number}"}


class MockServer:
    """Listens from `start` to `stop`; `base_url` is what follows the @ of a judge spec."""

    def __init__(self, options: MockOptions, host: str = LOOPBACK, port: int = 0) -> None:
        self.options = options
        self.host, self.port = host, port
        self.records = MockRecords(options.log)
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        for end in WIRE_FORMATS:
            app.router.add_post(f"/{{before:.*}}{{wire:{end}}}", self._receive_prompt)
        app.router.add_get("/v1/models", self._show_models)
        app.router.add_get("/stats", self._show_stats)
        app.router.add_post("/reset", self._reset)
        app.router.add_route("*", "/{path:.*}", self._refuse_path)
        # Cancellation tells who left before the answer.
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0)
        self._site: web.TCPSite | None = None
        self._outage: asyncio.Task[None] | None = None

    @property
    def base_url(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    async def start(self) -> None:
        """Raises ConfigurationError when the port is taken."""
        if self._runner.server is None:
            await self._runner.setup()
        self._site = web.TCPSite(self._runner, self.host, self.port, backlog=_BACKLOG, reuse_address=True)
        try:
            await self._site.start()
        except OSError as error:
            raise ConfigurationError(
                f"cannot listen on {self.host}:{self.port} ({error.strerror}); "
                "choose another --port, or 0 for a free one"
            ) from error
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Open connections are cut: a client that waits must notice."""
        if self._outage is not None:
            self._outage.cancel()
        await self._hang_up()
        # Handlers of what was cut are cancelled in the next turns of the loop, and write that into the log.
        deadline = asyncio.get_running_loop().time() + _FAREWELL_SECONDS
        while self.records.in_flight and asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.001)
        await self._runner.cleanup()
        self.records.close()

    def stats(self) -> dict[str, Any]:
        return self.records.summary()

    async def _hang_up(self) -> None:
        """As a crash would: no goodbye."""
        if self._site is not None:
            await self._site.stop()
            self._site = None
        for connection in [] if self._runner.server is None else self._runner.server.connections:
            if connection.transport is not None:
                connection.transport.abort()

    async def _be_down(self) -> None:
        await self._hang_up()
        await asyncio.sleep(self.options.down_seconds)
        await self.start()

    async def _show_models(self, _: web.Request) -> web.Response:
        return _json(200, MODELS)

    async def _show_stats(self, _: web.Request) -> web.Response:
        return _json(200, orjson.dumps(self.stats(), option=orjson.OPT_INDENT_2))

    async def _reset(self, _: web.Request) -> web.Response:
        self.records.reset()
        return _json(200, b"{}")

    async def _refuse_path(self, request: web.Request) -> web.Response:
        return _json(404, orjson.dumps({"error": {"message": f"no {request.path} here"}}))

    async def _receive_prompt(self, request: web.Request) -> web.StreamResponse:
        options, records = self.options, self.records
        wire = WIRE_FORMATS[request.match_info["wire"]]
        try:
            prompt = wire.read(orjson.loads(await request.read()))
        except ValueError as error:
            return _json(400, wire.error(400, str(error)))
        digest = prompt.digest(options.seed)
        number, times_seen = records.received(digest, wire.name, prompt.model, prompt.section("QUESTION"))
        refused = _refusal(request, wire, prompt, options, records.in_flight)
        fault = None if refused else pick_fault(digest, times_seen, options.fault_rate, options.faults)
        asked = _Asked(number, prompt, wire, fault)
        due = options.down_after_requests
        if due is not None and self._outage is None and records.requests >= due:
            # Once in a server's life.
            self._outage = asyncio.get_running_loop().create_task(self._be_down())
        if refused is not None:
            return self._answer_error(asked, *refused)
        try:
            wait = options.latency_seconds + options.jitter_seconds * share_of(digest[8:])
            if wait > 0:
                await asyncio.sleep(wait)
            return await self._answer(request, asked)
        except (asyncio.CancelledError, ConnectionError):
            # The client left, or was cut off.
            records.abandoned(number)
            raise

    async def _answer(self, request: web.Request, asked: _Asked) -> web.StreamResponse:
        options = self.options
        match asked.fault:
            case Fault.RATE_LIMIT:
                return self._answer_error(asked, 429, "Rate limit reached for the mock judge.")
            case Fault.SERVER_ERROR:
                return self._answer_error(asked, 500, "The mock judge had an error while processing your request.")
            case Fault.DROP:
                self.records.answered(asked.number, 0, asked.fault, None)
                if request.transport is not None:
                    request.transport.abort()
                # Goes nowhere: there is no connection left.
                return web.Response()
            case _:
                said = say(asked.prompt, asked.fault, seed=options.seed, correct_share=options.correct_share)
                body = asked.wire.answer(asked.prompt, said, asked.number)
                if asked.fault is Fault.SLOW_DRIP and options.drip_seconds > 0:
                    response = await _drip(request, body, asked.headers, options.drip_seconds)
                else:
                    response = _json(200, body, asked.headers)
                self.records.answered(asked.number, 200, asked.fault, said.is_correct)
                return response

    def _answer_error(self, asked: _Asked, status: int, message: str) -> web.Response:
        headers = asked.headers
        if status == web.HTTPTooManyRequests.status_code:
            headers["Retry-After"] = f"{self.options.retry_after_seconds:g}"
        self.records.answered(asked.number, status, asked.fault, None)
        return _json(status, asked.wire.error(status, message), headers)


async def _drip(request: web.Request, body: bytes, headers: Mapping[str, str], seconds: float) -> web.StreamResponse:
    """A piece now, the others later."""
    response = web.StreamResponse(headers={**headers, "Content-Length": str(len(body))})
    response.content_type = "application/json"
    await response.prepare(request)
    size = max(1, len(body) // _DRIPS)
    for start in range(0, len(body), size):
        if start:
            await asyncio.sleep(seconds / _DRIPS)
        await response.write(body[start : start + size])
    await response.write_eof()
    return response


def _json(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=status, body=body, headers=headers, content_type="application/json")


def _refusal(
    request: web.Request, wire: WireFormat, prompt: Prompt, options: MockOptions, in_flight: int
) -> tuple[int, str] | None:
    """What is answered at once, before any thinking: status and message."""
    if options.refuses_keys:
        return 401, f"Incorrect API key provided: {wire.key_in(request.headers)}."
    if options.refuses_schemas and prompt.schema is not None:
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
