"""A loopback provider whose clock a test sets, and calls to it as the providers' references show them."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
from tests.unit.judges.mock_requests import PROTOCOL, a_sample, anthropic_body, openai_body
from tests.unit.protocols.nonces import NONCES
from tests.waiting import PATIENCE_SECONDS

from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_server import LOOPBACK, MockOptions, MockServer

CHAT = "/v1/chat/completions"
NUMBERS = range(6)
GEMINI = "/v1beta/models/mock:batchGenerateContent"


class ClockedServer(MockServer):
    """Batches of such a server age when a test says so."""

    clock = 1_800_000_000.0

    def now(self) -> float:
        return self.clock


class Provider:
    """A client of a running server."""

    def __init__(self, server: ClockedServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session

    def let_pass(self, seconds: float) -> None:
        self.server.clock += seconds

    async def raw(self, method: str, path: str, **options: Any) -> tuple[int, bytes, dict[str, str]]:
        """Status 0 is a connection that was cut before the end of its answer."""
        url = path if path.startswith("http") else f"http://{LOOPBACK}:{self.server.port}{path}"
        try:
            async with self.session.request(method, url, **options) as answer:
                return answer.status, await answer.read(), dict(answer.headers)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError):
            return 0, b"", {}

    async def call(self, method: str, path: str, document: Any = None, **options: Any) -> tuple[int, Any]:
        status, body, _ = await self.raw(
            method, path, **({"json": document} if document is not None else {}), **options
        )
        return status, json.loads(body) if body else None

    async def get(self, path: str) -> Any:
        """The document of an answer that must be one."""
        status, document = await self.call("GET", path)

        assert status == 200, document
        return document

    async def upload(self, lines: Sequence[Any], purpose: str = "batch") -> tuple[int, Any]:
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return await self.upload_bytes(content, purpose)

    async def upload_bytes(self, content: bytes, purpose: str = "batch") -> tuple[int, Any]:
        form = aiohttp.FormData()
        form.add_field("purpose", purpose)
        form.add_field("file", content, filename="batch.jsonl", content_type="application/jsonl")
        return await self.call("POST", "/v1/files", data=form)

    async def content(self, file_id: str) -> list[Any]:
        status, body, _ = await self.raw("GET", f"/v1/files/{file_id}/content")

        assert status == 200, body
        return lines_of(body)

    async def ledger(self) -> Any:
        return await self.get("/ledger")

    async def create_openai(self, lines: Sequence[Any], **fields: Any) -> tuple[int, Any]:
        _, stored = await self.upload(lines)
        document = {"input_file_id": stored["id"], "endpoint": CHAT, "completion_window": "24h", **fields}
        return await self.call("POST", "/v1/batches", document)

    async def create_anthropic(self, requests: Sequence[Any]) -> tuple[int, Any]:
        return await self.call("POST", "/v1/messages/batches", {"requests": requests})

    async def create_mistral(self, lines: Sequence[Any], **fields: Any) -> tuple[int, Any]:
        _, stored = await self.upload(lines)
        document = {"input_files": [stored["id"]], "endpoint": CHAT, "model": "mock", **fields}
        return await self.call("POST", "/v1/batch/jobs", document)

    async def create_gemini(self, requests: Sequence[Any]) -> tuple[int, Any]:
        config = {"requests": {"requests": requests}}
        return await self.call("POST", GEMINI, {"batch": {"display_name": "ours", "input_config": config}})


def play(scenario: Callable[[Provider], Awaitable[None]], batches: BatchOptions, **options: Any) -> None:
    """Lets the scenario talk to a server with these options."""

    async def run() -> None:
        # However slow the machine, what is due is there at the next look.
        patient = replace(batches, longest_wait_seconds=math.inf)
        server = ClockedServer(MockOptions(**{"batches": patient, "drip_seconds": 0.0, **options}), LOOPBACK)
        await server.start()
        try:
            timeout = aiohttp.ClientTimeout(total=PATIENCE_SECONDS)
            async with aiohttp.ClientSession(timeout=timeout) as session:
                await scenario(Provider(server, session))
        finally:
            await server.stop()

    asyncio.run(run())


def lines_of(body: bytes) -> list[Any]:
    return [json.loads(line) for line in body.splitlines()]


def openai_line(number: int, custom_id: str | None = None, url: str = CHAT) -> dict[str, Any]:
    body = openai_body(a_sample(number))
    return {"custom_id": custom_id or f"r{number}", "method": "POST", "url": url, "body": body}


def responses_body(number: int) -> dict[str, Any]:
    system, user = openai_body(a_sample(number))["messages"]
    return {"model": "mock", "instructions": system["content"], "input": user["content"]}


def anthropic_request(number: int) -> dict[str, Any]:
    return {"custom_id": f"r{number}", "params": anthropic_body(a_sample(number))}


def mistral_line(number: int) -> dict[str, Any]:
    return {"custom_id": f"r{number}", "body": {"messages": openai_body(a_sample(number))["messages"]}}


def gemini_body(number: int) -> dict[str, Any]:
    system, user = PROTOCOL.messages(a_sample(number), NONCES)
    contents = [{"role": "user", "parts": [{"text": user.content}]}]
    return {"contents": contents, "system_instruction": {"parts": [{"text": system.content}]}}


def gemini_request(number: int) -> dict[str, Any]:
    return {"request": gemini_body(number), "metadata": {"key": f"r{number}"}}


async def live_text(provider: Provider, number: int) -> str:
    """What the live wire says of the same sample."""
    _, answer = await provider.call("POST", CHAT, openai_body(a_sample(number)))
    return str(answer["choices"][0]["message"]["content"])


def always(*faults: BatchFault, **options: Any) -> BatchOptions:
    """Whatever can be struck is struck."""
    return BatchOptions(faults=faults, fault_rate=1.0, **options)


async def openai_batch(provider: Provider, numbers: Sequence[int] = NUMBERS) -> Any:
    """What becomes of a batch, seen after its end."""
    _, created = await provider.create_openai([openai_line(number) for number in numbers])
    return await provider.get(f"/v1/batches/{created['id']}")


async def output_of(provider: Provider, batch: Any) -> bytes:
    return (await provider.raw("GET", f"/v1/files/{batch['output_file_id']}/content"))[1]


async def anthropic_results(provider: Provider) -> tuple[Any, list[Any]]:
    _, created = await provider.create_anthropic([anthropic_request(number) for number in NUMBERS])
    ended = await provider.get(f"/v1/messages/batches/{created['id']}")
    return ended, lines_of((await provider.raw("GET", ended["results_url"]))[1])


async def mistral_job(provider: Provider) -> Any:
    _, created = await provider.create_mistral([mistral_line(number) for number in NUMBERS])
    return await provider.get(f"/v1/batch/jobs/{created['id']}")


async def gemini_operation(provider: Provider) -> Any:
    _, created = await provider.create_gemini([gemini_request(number) for number in NUMBERS])
    return await provider.get(f"/v1beta/{created['name']}")
