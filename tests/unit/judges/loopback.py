"""A scripted endpoint on loopback: what it answers stands in the test, what it was asked is kept."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from mixseek.domain.ports import Answer, Call, Message
from mixseek.judges.endpoint.address import resolve_target
from mixseek.judges.endpoint.dialects import DialectMemory
from mixseek.judges.endpoint.judge import EndpointJudge
from mixseek.settings.models import JudgeSettings

CANARY = "sk-canary-7Fq0/plus+Zz19"
SCHEMA = {
    "type": "object",
    "properties": {"is_correct": {"type": "boolean"}},
    "required": ["is_correct"],
    "additionalProperties": False,
}
CALL = Call("0" * 32, (Message("system", "Judge."), Message("user", "Is 2 + 2 = 4? 是")), SCHEMA)

Scripted = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Loopback:
    """Answers in the order of the script; the last answer is repeated."""

    script: list[Scripted]
    url: str = ""
    paths: list[str] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        self.paths.append(request.path_qs)
        self.headers.append(dict(request.headers))
        self.bodies.append(orjson.loads(raw) if raw and raw.isascii() and b"\\ud" not in raw else raw)
        answer = self.script[min(len(self.paths), len(self.script)) - 1]
        return await answer(request)


def says(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Scripted:
    """A JSON answer; bytes are sent as they are."""
    body = document if isinstance(document, bytes) else orjson.dumps(document)

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, body=body, headers={"Content-Type": "application/json", **(headers or {})})

    return answer


async def drops(request: web.Request) -> web.StreamResponse:
    """The connection is closed without a word."""
    assert request.transport is not None
    request.transport.close()
    return web.Response()


def breaks_off(body: bytes, after: int) -> Scripted:
    """Promises the whole body, sends its beginning, and goes."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
        await response.prepare(request)
        await response.write(body[:after])
        assert request.transport is not None
        request.transport.close()
        return response

    return answer


def drips(body: bytes, seconds: float) -> Scripted:
    """A byte at a time: the connection lives, the answer does not come."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": str(len(body))})
        await response.prepare(request)
        for position in range(len(body)):
            try:
                await response.write(body[position : position + 1])
            except ConnectionError:
                break
            await asyncio.sleep(seconds)
        return response

    return answer


@asynccontextmanager
async def serving(*script: Scripted) -> AsyncIterator[Loopback]:
    """The endpoint, for as long as the block lasts."""
    loopback = Loopback(list(script))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", loopback.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        loopback.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield loopback
    finally:
        await runner.cleanup()


def judge_at(base_url: str, wire: str | None = "openai", **settings: Any) -> EndpointJudge:
    """A judge `j` with the canary as its key and a memory of its own."""
    given = JudgeSettings(**{"model": "m", "wire": wire, "base_url": base_url, "api_key_env": "K"} | settings)
    environment = {"K": CANARY}
    target = resolve_target("j", {"j": given}, environment)
    return EndpointJudge(target, environment, dialects=DialectMemory())


async def ask(judge: EndpointJudge, call: Call = CALL) -> Answer:
    """One call, connections given back."""
    try:
        return await judge.call(call)
    finally:
        await judge.close()
