"""What a provider takes at once: requests in a batch, tokens in its queue, and batches under way."""

from typing import Any

from tests.unit.testing.batches.provider_calls import (
    Provider,
    anthropic_request,
    gemini_request,
    mistral_line,
    openai_line,
    play,
)

from mixseek.testing.batches.jobs import BatchOptions


async def openai_codes(provider: Provider, created: Any) -> list[str]:
    batch = await provider.get(f"/v1/batches/{created['id']}")
    return [error["code"] for error in (batch["errors"] or {"data": []})["data"]]


def test_a_batch_of_too_many_requests_is_refused() -> None:
    """OpenAI makes a batch that fails, the others none."""

    async def scenario(provider: Provider) -> None:
        _, fitting = await provider.create_openai([openai_line(1), openai_line(2)])
        _, large = await provider.create_openai([openai_line(number) for number in range(3)])
        statuses = [
            (await provider.create_anthropic([anthropic_request(number) for number in range(3)]))[0],
            (await provider.create_gemini([gemini_request(number) for number in range(3)]))[0],
            (await provider.create_mistral([mistral_line(number) for number in range(3)]))[0],
        ]

        assert await openai_codes(provider, fitting) == []
        assert await openai_codes(provider, large) == ["too_many_requests_in_batch"]
        assert statuses == [400, 400, 400]

    play(scenario, BatchOptions(request_limit=2))


def test_a_full_queue_refuses_until_there_is_room() -> None:
    """A batch that ended holds no tokens."""

    async def scenario(provider: Provider) -> None:
        lines = [openai_line(1), openai_line(2)]
        _, first = await provider.create_openai(lines)
        _, second = await provider.create_openai([openai_line(3), openai_line(4)])
        provider.let_pass(100)
        _, third = await provider.create_openai([openai_line(5), openai_line(6)])
        provider.let_pass(100)

        assert await openai_codes(provider, first) == []
        assert await openai_codes(provider, second) == ["token_limit_exceeded"]
        assert await openai_codes(provider, third) == []

    async def elsewhere(provider: Provider) -> None:
        statuses = [(await provider.create_gemini([gemini_request(number)]))[0] for number in range(4)]

        assert statuses[0] == 200
        assert statuses[-1] == 429

    play(scenario, BatchOptions(seconds=100, queue_tokens=3_000))
    play(elsewhere, BatchOptions(seconds=100, queue_tokens=3_000))


def test_files_beyond_those_at_once_are_429_until_a_batch_ends() -> None:
    """As where a client sends ten files and the fourth is refused."""

    async def scenario(provider: Provider) -> None:
        for number in range(3):
            await provider.create_openai([openai_line(number)])
        fourth, _ = await provider.upload([openai_line(4)])
        elsewhere, _ = await provider.create_anthropic([anthropic_request(1)])
        provider.let_pass(100)
        again, _ = await provider.upload([openai_line(4)])

        assert (fourth, elsewhere, again) == (429, 200, 200)

    play(scenario, BatchOptions(seconds=100, files_at_once=3))


def test_a_refused_key_is_refused_everywhere() -> None:
    """As live, the key stands in the message."""

    async def scenario(provider: Provider) -> None:
        calls = [("/v1/batches", "Authorization"), ("/v1/messages/batches", "x-api-key")]
        calls += [("/v1/batch/jobs", "Authorization"), ("/v1beta/batches", "x-goog-api-key")]
        for path, header in calls:
            status, body, _ = await provider.raw("GET", path, headers={header: "secret"})

            assert status == 401
            assert b"secret" in body

    play(scenario, BatchOptions(), refuses_keys=True)
