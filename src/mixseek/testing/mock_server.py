"""A judge on loopback: the wire formats of providers, think time, and faults on demand, the same in every run.

POST /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/M:generateContent
                                                         a verdict that the prompt decides (see replies)
POST /v1/decisions, /v1/systemone                        the probability of each answer to each question
GET /v1/models · GET /stats · GET /ledger · POST /reset   what is there, what was asked, what it cost, forget it
Batches, where they are served, have a package of their own.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web
from pydantic import ValidationError

from mixseek.engine.stop_signals import stop_signals
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.testing.batches.endpoints import CallManners
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.batches.outcomes import Refusal
from mixseek.testing.batches.provider import add_batch_routes
from mixseek.testing.batches.store import BatchStore
from mixseek.testing.ledger import Ledger, Tokens
from mixseek.testing.mock_probabilities import (
    ProbabilityFault,
    pick_probability_fault,
    refuse_logprobs,
    spoil_answers,
    with_answers,
    with_logprobs,
)
from mixseek.testing.mock_records import MockRecords
from mixseek.testing.mock_replies import Fault, MockReply, Reading, pick_fault, say, share_of
from mixseek.testing.mock_wire import DECISION_FORMATS, MODELS, WIRE_FORMATS, WireFormat
from mixseek.testing.prompt_cache import PromptCache
from mixseek.testing.prompts import Prompt
from mixseek.testing.reading_mock import Defect, ReadingMock

LOOPBACK = "127.0.0.1"
_FORMATS = {**WIRE_FORMATS, **DECISION_FORMATS}
_BACKLOG = 4096
_DRIPS = 20
# Room for a long context, or for a batch; aiohttp's own limit is a megabyte.
_MAX_BODY_BYTES = 1 << 28
# For handlers of connections that were cut.
_FAREWELL_SECONDS = 1.0
_FAILURES = {
    Fault.RATE_LIMIT: (429, "Rate limit reached for the mock judge."),
    Fault.SERVER_ERROR: (500, "The mock judge had an error while processing your request."),
}


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
    # Verdicts are not drawn but read from the texts, with this defect of this size; see defects.
    defect: Defect | None = None
    defect_size: float = 0.25
    # JSONL, one line when a request came and one when it was answered or abandoned.
    log: Path | None = None
    # Beginnings of prompts are taken from a cache; told to, and billed of, those who speak as OpenAI does.
    caches_prompts: bool = False
    # Batch interfaces are served where it says how.
    batches: BatchOptions | None = None
    # What goes wrong with probabilities, and in what share of the requests.
    probability_faults: tuple[ProbabilityFault, ...] = ()
    probability_fault_rate: float = 1.0

    def probability_fault(self, prompt: Prompt) -> ProbabilityFault | None:
        """What goes wrong with those of a request."""
        return pick_probability_fault(prompt, self.seed, self.probability_faults, self.probability_fault_rate)


@dataclass(frozen=True, slots=True)
class _PendingRequest:
    """A request that is being thought about."""

    number: int
    prompt: Prompt
    wire: WireFormat
    fault: Fault | None
    times_seen: int = 0

    @property
    def headers(self) -> dict[str, str]:
        return {self.wire.request_id_header: f"req_mock_{self.number}"}


class MockServer:
    """Listens from `start` to `stop`; `base_url` is what follows the @ of a judge spec."""

    def __init__(self, options: MockOptions, host: str = LOOPBACK, port: int = 0) -> None:
        self.options = options
        self.host, self.port = host, port
        self.records = MockRecords(options.log)
        self.ledger = Ledger()
        self.prompt_cache = PromptCache()
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        for end in _FORMATS:
            app.router.add_post(f"/{{before:.*}}{{wire:{end}}}", self._receive_prompt)
        self.batches = None if options.batches is None else self._add_batches(app.router, options.batches)
        app.router.add_route("*", "/{path:.*}", self._receive_other)
        # Cancellation tells who left before the answer.
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0)
        self._site: web.TCPSite | None = None
        self._outage: asyncio.Task[None] | None = None

    def _add_batches(self, router: web.UrlDispatcher, batches: BatchOptions) -> BatchStore:
        options = self.options
        manners = CallManners(options.retry_after_seconds, options.drip_seconds, options.refuses_keys)
        store = BatchStore(batches, options.seed, self.ledger, self._say_in_batch, self.now)
        add_batch_routes(router, store, manners)
        return store

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
            words = f"cannot listen on {self.host}:{self.port} ({error.strerror})"
            raise ConfigurationError(f"{words}; choose another --port, or 0 for a free one") from error
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

    def now(self) -> float:
        """Seconds since 1970, as the provider's clock has them."""
        return time.time()

    async def _hang_up(self) -> None:
        """Hangs up as a crash would: no goodbye."""
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

    async def wait_for_turn(self, seconds: float) -> None:
        """What passes between a request and its answer."""
        if seconds > 0:
            await asyncio.sleep(seconds)

    async def _receive_other(self, request: web.Request) -> web.Response:
        match request.method, request.path:
            case "GET", "/v1/models":
                return _json(200, MODELS)
            case "GET", "/stats":
                shown = orjson.dumps(self.stats(), option=orjson.OPT_INDENT_2)
                return web.Response(body=shown, content_type="application/json")
            case "GET", "/ledger":
                if self.batches is not None:
                    await self.batches.settle_all()
                shown = orjson.dumps(self.ledger.summary(), option=orjson.OPT_INDENT_2)
                return web.Response(body=shown, content_type="application/json")
            case "POST", "/reset":
                self.records.reset()
                return _json(200, {})
            case _:
                return _json(404, {"error": {"message": f"no {request.path} here"}})

    async def _receive_prompt(self, request: web.Request) -> web.StreamResponse:
        options, records = self.options, self.records
        wire = _FORMATS[request.match_info["wire"]]
        try:
            prompt = wire.read(await request.read(), _model_in(request.path))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "body"
            return _json(400, wire.error(400, f"{place}: {first['msg']}"))
        digest = prompt.digest(options.seed)
        number, times_seen = records.received(digest, wire.name, prompt.model, prompt.section("QUESTION"))
        refused = _refusal(request, wire, prompt, options, len(records.in_flight))
        fault = None if refused else pick_fault(digest, times_seen, options.fault_rate, options.faults)
        question = _PendingRequest(number, prompt, wire, fault, times_seen)
        due = options.down_after_requests
        if due is not None and self._outage is None and records.requests >= due:
            # Once in a server's life.
            self._outage = asyncio.get_running_loop().create_task(self._be_down())
        if refused is not None:
            return self._answer_error(question, *refused)
        try:
            wait = options.latency_seconds + options.jitter_seconds * share_of(digest[8:])
            await self.wait_for_turn(wait)
            failed = _FAILURES.get(fault) if fault else None
            return self._answer_error(question, *failed) if failed else await self._answer(request, question)
        except (asyncio.CancelledError, ConnectionError):
            # The client left, or was cut off.
            records.abandoned(number)
            raise

    async def _answer(self, request: web.Request, question: _PendingRequest) -> web.StreamResponse:
        options = self.options
        if question.fault is Fault.DROP:
            self.records.answered(question.number, 0, question.fault, None)
            if request.transport is not None:
                request.transport.abort()
            # Goes nowhere: there is no connection left.
            return web.Response()
        reply = self._say(question.prompt, question.fault, question.times_seen)
        answer: Mapping[str, Any] = question.wire.answer(question.prompt, reply, question.number)
        if question.prompt.questions:
            answer = spoil_answers(answer, options.probability_fault(question.prompt))
        response: web.StreamResponse = _json(200, answer, question.headers)
        if question.fault is Fault.SLOW_DRIP and options.drip_seconds > 0:
            response = await _drip(request, orjson.dumps(answer), question.headers, options.drip_seconds)
        self.records.answered(question.number, 200, question.fault, reply.is_correct)
        self.ledger.bill(question.wire.name, Tokens(reply.input_tokens, reply.cached_tokens, reply.output_tokens))
        return response

    def _say(self, prompt: Prompt, fault: Fault | None, times_seen: int) -> MockReply:
        options, reading = self.options, None
        if options.defect is not None:
            reader = ReadingMock(options.defect, options.defect_size)
            came = self.records.requests
            read = partial(reader.quality, prompt, times_seen=times_seen, requests=came)
            reading = Reading(read, reader.favours_first(prompt))
        reply = say(prompt, fault, seed=options.seed, correct_share=options.correct_share, reading=reading)
        if prompt.questions:
            reply = with_answers(prompt, reply, options.seed, options.correct_share)
        reply = with_logprobs(prompt, reply, options.seed, options.probability_fault(prompt))
        return reply._replace(cached_tokens=self.prompt_cache.take(prompt)) if options.caches_prompts else reply

    def _say_in_batch(self, prompt: Prompt) -> MockReply | Refusal:
        """What a live call would be told, as far as a line can say it; no line drops or drips."""
        options = self.options
        refusal = _prompt_refusal(prompt, options)
        if refusal is not None:
            return Refusal(*refusal)
        if options.fault_rate == 0 and options.defect is None:
            # A fifth of the work on a batch is spared where nothing depends on who came before.
            return self._say(prompt, None, 0)
        digest = prompt.digest(options.seed)
        times_seen = self.records.answered_in_batch(digest)
        fault = pick_fault(digest, times_seen, options.fault_rate, options.faults)
        if fault in _FAILURES:
            return Refusal(*_FAILURES[fault])
        return self._say(prompt, None if fault in (Fault.DROP, Fault.SLOW_DRIP) else fault, times_seen)

    def _answer_error(self, question: _PendingRequest, status: int, message: str) -> web.Response:
        later = {"Retry-After": f"{self.options.retry_after_seconds:g}"} if status == 429 else {}
        self.records.answered(question.number, status, question.fault, None)
        return _json(status, question.wire.error(status, message), question.headers | later)


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


def _json(status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> web.Response:
    # NaN is no JSON, and is written all the same by those who play an endpoint that does.
    body = json.dumps(document).encode() if "answers" in document else orjson.dumps(document)
    return web.Response(status=status, body=body, headers=headers, content_type="application/json")


def _refusal(
    request: web.Request, wire: WireFormat, prompt: Prompt, options: MockOptions, in_flight: int
) -> tuple[int, str] | None:
    """What is answered at once, before any thinking: status and message."""
    if options.refuses_keys:
        key = request.headers.get(wire.key_header, "").removeprefix("Bearer ")
        return 401, f"Incorrect API key provided: {key}."
    refusal = _prompt_refusal(prompt, options)
    if refusal is not None:
        return refusal
    if options.capacity is not None and in_flight > options.capacity:
        return 429, "Too many requests at once for the mock judge."
    return None


def _prompt_refusal(prompt: Prompt, options: MockOptions) -> tuple[int, str] | None:
    """Why a prompt is not answered, whenever it comes."""
    if options.refuses_schemas and prompt.schema is not None:
        return 400, "This model does not support the parameter 'response_format' of type 'json_schema'."
    if (refused := refuse_logprobs(prompt, options.probability_fault(prompt))) is not None:
        return refused
    length = sum(len(text) for _, text in prompt.turns)
    if options.context_characters is not None and length > options.context_characters:
        return 400, f"This model's maximum context length is {options.context_characters} tokens. Reduce the length."
    return None


def _model_in(path: str) -> str:
    """The model where the path names it, as Gemini's do; blank otherwise."""
    before, _, method = path.rpartition(":")
    return before.rpartition("models/")[2] if method == "generateContent" else ""


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
    """Until Ctrl-C, SIGTERM or SIGHUP; prints one line when ready, for people and for scripts that wait for it."""

    async def run() -> None:
        done = asyncio.Event()
        for signum in stop_signals():
            asyncio.get_running_loop().add_signal_handler(signum, done.set)
        async with running_mock(options, host, port) as server:
            print(f"ready: mock judge at {server.base_url} (--judge openai:mock@{server.base_url})", flush=True)
            await done.wait()

    asyncio.run(run())
