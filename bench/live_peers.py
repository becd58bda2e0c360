"""What others do with the same prompts: a bare aiohttp loop (the floor) and a naive loop over the openai SDK.

Run as `python -m bench.live_peers aiohttp|openai BASE_URL DATASET CONCURRENCY`; prints one JSON document. Neither
renders templates, checks a schema, keeps a reply or survives a crash: they send, wait, and parse.
"""

import asyncio
import importlib
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from mixseek.domain.ports import Nonces
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol

_NONCES = Nonces(question="89abcdef0123456701234567", sample="0123456789abcdef01234567")
Ask = Callable[[list[dict[str, str]]], Awaitable[str]]


def main() -> None:
    """CPU is counted from the first request on: what the loop costs, not what importing it costs."""
    peer, base_url, dataset, concurrency = sys.argv[1:]
    prompts = _prompts(Path(dataset))
    loop = {"aiohttp": _with_aiohttp, "openai": _with_openai}[peer]
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    correct = asyncio.run(loop(base_url, prompts, int(concurrency)))
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"count": len(prompts), "correct": correct, "seconds": seconds, "cpu_seconds": cpu}))


def _prompts(dataset: Path) -> list[list[dict[str, str]]]:
    """The very messages that we send: to a judge, or, of a row without a response, the question to a target."""
    protocol = load_protocol("semantic")
    with dataset.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    if "response" not in rows[0]:
        return [[{"role": "user", "content": row["question"]}] for row in rows]
    samples = [Sample(**row) for row in rows]
    return [
        [{"role": message.role, "content": message.content} for message in protocol.messages(sample, _NONCES)]
        for sample in samples
    ]


async def _with_aiohttp(base_url: str, prompts: list[list[dict[str, str]]], concurrency: int) -> int:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(messages: list[dict[str, str]]) -> str:
            body = {"model": "mock", "messages": messages}
            async with session.post(f"{base_url}/chat/completions", json=body) as answer:
                document: dict[str, Any] = await answer.json()
            return str(document["choices"][0]["message"]["content"])

        return await _ask_all(ask, prompts, concurrency)


async def _with_openai(base_url: str, prompts: list[list[dict[str, str]]], concurrency: int) -> int:
    # By name: the package is optional here, and unknown to the type checker.
    client = importlib.import_module("openai").AsyncOpenAI(api_key="bench", base_url=base_url)

    async def ask(messages: list[dict[str, str]]) -> str:
        answer = await client.chat.completions.create(model="mock", messages=messages)
        return str(answer.choices[0].message.content)

    return await _ask_all(ask, prompts, concurrency)


async def _ask_all(ask: Ask, prompts: list[list[dict[str, str]]], concurrency: int) -> int:
    """As one writes it on a first afternoon: a semaphore and a gather."""
    places = asyncio.Semaphore(concurrency)

    async def judge(messages: list[dict[str, str]]) -> bool:
        async with places:
            return bool(json.loads(await ask(messages)).get("is_correct"))

    return sum(await asyncio.gather(*map(judge, prompts)))


if __name__ == "__main__":
    main()
