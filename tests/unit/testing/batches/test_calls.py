"""How calls about batches go wrong: refused, answered late or never, downloads that end in the middle."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

from tests.cases import each
from tests.unit.testing.batches.provider_calls import (
    NUMBERS,
    Provider,
    always,
    anthropic_request,
    gemini_body,
    openai_batch,
    openai_line,
    play,
)

from mixseek.testing.batches.anthropic import AnthropicBatches
from mixseek.testing.batches.endpoints import CallManners
from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions


def test_too_much_at_once_is_429_twice_at_most() -> None:
    """Uploads and creations are refused; who comes again is let in."""

    async def scenario(provider: Provider) -> None:
        uploads = [(await provider.upload([openai_line(1)]))[0] for _ in range(3)]
        creations = [(await provider.create_anthropic([anthropic_request(1)]))[0] for _ in range(3)]
        _, _, headers = await provider.raw("POST", "/v1/messages/batches", json={"requests": [anthropic_request(2)]})

        assert uploads == [429, 429, 200]
        assert creations == [429, 429, 200]
        assert float(headers["Retry-After"]) > 0

    play(scenario, always(BatchFault.TOO_MANY))


def test_a_refused_upload_to_gemini_may_come_again() -> None:
    """The address of an upload stays good."""

    async def scenario(provider: Provider) -> None:
        content = json.dumps({"key": "a", "request": gemini_body(1)}).encode()
        start = {"X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start"}
        _, _, headers = await provider.raw("POST", "/upload/v1beta/files", json={}, headers=start)
        last = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload, finalize"}
        url = headers["X-Goog-Upload-URL"]
        statuses = [(await provider.raw("POST", url, data=content, headers=last))[0] for _ in range(3)]

        assert statuses == [429, 429, 200]

    play(scenario, always(BatchFault.TOO_MANY))


def test_an_answer_may_be_lost_although_the_batch_is_made() -> None:
    """The list has it; who sends it again has two under way, and the ledger says so."""

    async def scenario(provider: Provider) -> None:
        requests = [anthropic_request(1)]
        status, _ = await provider.create_anthropic(requests)
        orphans = (await provider.get("/v1/messages/batches"))["data"]
        before = (await provider.ledger())["in_flight_twice"]
        await provider.create_anthropic(requests)
        after = (await provider.ledger())["in_flight_twice"]

        assert (status, len(orphans), before) == (0, 1, [])
        assert [(notice["custom_id"], len(notice["batches"])) for notice in after] == [("r1", 2)]

    play(scenario, always(BatchFault.LOST_ANSWER, seconds=100))


def test_an_answer_may_come_late() -> None:
    """The batch is there before it is announced, and stays there if nobody waits for that."""

    async def scenario(provider: Provider) -> None:
        status, created = await provider.create_anthropic([anthropic_request(1)])

        assert (status, created["processing_status"]) == (200, "in_progress")
        assert (await provider.ledger())["faults"] == {"slow-post": 1}

    play(scenario, always(BatchFault.SLOW_POST, seconds=100))


async def download_openai(provider: Provider) -> list[int]:
    batch = await openai_batch(provider)
    return await statuses_of(provider, f"/v1/files/{batch['output_file_id']}/content")


async def download_anthropic(provider: Provider) -> list[int]:
    _, created = await provider.create_anthropic([anthropic_request(number) for number in NUMBERS])
    return await statuses_of(provider, f"/v1/messages/batches/{created['id']}/results")


async def statuses_of(provider: Provider, path: str) -> list[int]:
    """0 for a download that ended before its length."""
    return [(await provider.raw("GET", path))[0] for _ in range(3)]


@each("download", [download_openai, download_anthropic])
def test_a_download_may_end_in_the_middle(download: Callable[[Provider], Awaitable[list[int]]]) -> None:
    """It ends before the length that was announced; the third time it is whole."""

    async def scenario(provider: Provider) -> None:
        assert await download(provider) == [0, 0, 200]

    play(scenario, always(BatchFault.CUT_DOWNLOAD))


def test_a_batch_is_there_although_its_client_left_before_it_heard_of_it() -> None:
    """Whoever is killed between sending and hearing finds it in the list."""

    async def scenario(provider: Provider) -> None:
        sending = asyncio.create_task(provider.create_anthropic([anthropic_request(1)]))
        while not (await provider.get("/v1/messages/batches"))["data"]:
            await asyncio.sleep(0)
        sending.cancel()
        await asyncio.wait([sending])
        listed = (await provider.get("/v1/messages/batches"))["data"]

        assert sending.cancelled()
        assert [batch["processing_status"] for batch in listed] == ["in_progress"]

    play(scenario, always(BatchFault.SLOW_POST, seconds=100), drip_seconds=3_600.0)


def test_what_was_begun_is_done_although_its_client_left() -> None:
    """A provider does not stop in the middle of a creation."""

    async def scenario(provider: Provider) -> None:
        store = provider.server.batches
        assert store is not None
        endpoints, gate = AnthropicBatches(store, CallManners()), asyncio.Event()
        done: list[bool] = []

        async def work() -> None:
            done.append(await gate.wait())

        waiting = asyncio.create_task(endpoints.complete(work()))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        gate.set()
        for _ in range(5):
            await asyncio.sleep(0)

        assert waiting.cancelled()
        assert done == [True]

    play(scenario, BatchOptions())


def test_a_look_does_not_wait_for_ever_for_what_is_due() -> None:
    """The batch is finishing until its results are written; nobody sees half of them."""

    async def scenario(provider: Provider) -> None:
        _, created = await provider.create_anthropic([anthropic_request(number) for number in NUMBERS])
        path = f"/v1/messages/batches/{created['id']}"
        # In a server of its own hurry; those of other tests wait.
        store = provider.server.batches
        assert store is not None
        store.options = replace(store.options, longest_wait_seconds=0.0)
        seen = [await provider.get(path)]
        while seen[-1]["processing_status"] != "ended":
            seen.append(await provider.get(path))

        assert {batch["request_counts"]["succeeded"] for batch in seen[:-1]} <= {0}
        assert seen[-1]["request_counts"]["succeeded"] == len(NUMBERS)

    play(scenario, BatchOptions())
