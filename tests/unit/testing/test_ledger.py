"""The provider's account: what it billed, live and in batches, and what it was asked twice."""

from typing import Any

from tests.unit.judges.mock_requests import a_sample, openai_body
from tests.unit.testing.batches.provider_calls import CHAT, Provider, anthropic_request, openai_line, play

from mixseek.testing.batches.jobs import BatchOptions


async def notices(provider: Provider, name: str) -> list[tuple[str, int]]:
    """Whom a notice names, and in how many batches it was."""
    return [(notice["custom_id"], len(notice["batches"])) for notice in (await provider.ledger())[name]]


def test_what_is_billed_is_what_the_answers_say() -> None:
    """Live and in batches apart, by wire."""

    async def scenario(provider: Provider) -> None:
        _, live = await provider.call("POST", CHAT, openai_body(a_sample(1)))
        _, created = await provider.create_openai([openai_line(number) for number in range(3)])
        batch = await provider.get(f"/v1/batches/{created['id']}")
        usages = [line["response"]["body"]["usage"] for line in await provider.content(batch["output_file_id"])]
        ledger = await provider.ledger()

        def account(answers: list[Any]) -> dict[str, int]:
            return {
                "requests": len(answers),
                "input_tokens": sum(usage["prompt_tokens"] for usage in answers),
                "cached_tokens": 0,
                "output_tokens": sum(usage["completion_tokens"] for usage in answers),
            }

        assert ledger["billed"] == {"openai": account([live["usage"]]), "openai-batch": account(usages)}
        assert (ledger["batches"], ledger["requests_in_batches"]) == ({"openai-batch": 1}, {"openai-batch": 3})

    play(scenario, BatchOptions())


def test_a_batch_is_billed_when_it_is_due_though_nobody_looks() -> None:
    """A client that died pays all the same."""

    async def scenario(provider: Provider) -> None:
        await provider.create_anthropic([anthropic_request(1)])
        before = (await provider.ledger())["billed"]
        provider.let_pass(100)

        assert before == {}
        assert (await provider.ledger())["billed"]["anthropic-batch"]["requests"] == 1

    play(scenario, BatchOptions(seconds=100))


def test_a_request_that_is_under_way_twice_is_named() -> None:
    """However its body is written; another id is another request."""

    async def scenario(provider: Provider) -> None:
        line = openai_line(1, "a")
        rewritten = {**line, "body": dict(reversed(line["body"].items()))}
        await provider.create_openai([line])
        await provider.create_openai([openai_line(1, "b"), openai_line(2, "a")])
        calm = await notices(provider, "in_flight_twice")
        await provider.create_openai([rewritten])

        assert calm == []
        assert await notices(provider, "in_flight_twice") == [("a", 2)]
        assert await notices(provider, "submitted_again_after_success") == []

    play(scenario, BatchOptions(seconds=100))


def test_a_request_that_has_its_answer_and_is_sent_again_is_named() -> None:
    """Whether or not anybody fetched the answer."""

    async def scenario(provider: Provider) -> None:
        await provider.create_openai([openai_line(1), openai_line(2)])
        await provider.create_openai([openai_line(2), openai_line(3)])

        assert await notices(provider, "submitted_again_after_success") == [("r2", 2)]
        assert await notices(provider, "in_flight_twice") == []

    play(scenario, BatchOptions())


def test_what_a_cancelled_batch_left_undone_may_be_sent_again() -> None:
    """Only what was done is done."""

    async def scenario(provider: Provider) -> None:
        lines = [openai_line(number) for number in range(4)]
        _, created = await provider.create_openai(lines)
        provider.let_pass(50)
        await provider.call("POST", f"/v1/batches/{created['id']}/cancel")
        await provider.create_openai(lines[2:])
        calm = await provider.ledger()
        await provider.create_openai(lines[1:2])

        assert (calm["in_flight_twice"], calm["submitted_again_after_success"]) == ([], [])
        assert await notices(provider, "submitted_again_after_success") == [("r1", 2)]

    play(scenario, BatchOptions(seconds=100))
