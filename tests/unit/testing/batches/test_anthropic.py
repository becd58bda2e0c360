"""Anthropic's message batches at the loopback provider, as its reference and recorded files show them."""

from typing import Any

from tests.cases import each
from tests.unit.testing.batches.provider_calls import Provider, anthropic_request, lines_of, live_text, play

from mixseek.testing.batches.jobs import BatchOptions

PATH = "/v1/messages/batches"
NUMBERS = range(4)


def test_a_batch_is_in_progress_and_then_has_results_that_are_the_live_ones() -> None:
    """Its counts stay zero until the end, and the address of the results comes with it."""

    async def scenario(provider: Provider) -> None:
        status, created = await provider.create_anthropic([anthropic_request(number) for number in NUMBERS])
        provider.let_pass(99)
        running = await provider.get(f"{PATH}/{created['id']}")
        early, _ = await provider.call("GET", f"{PATH}/{created['id']}/results")
        provider.let_pass(1)
        ended = await provider.get(f"{PATH}/{created['id']}")
        results = lines_of((await provider.raw("GET", ended["results_url"]))[1])

        assert (status, created["type"], created["processing_status"]) == (200, "message_batch", "in_progress")
        zeros = {"succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        assert running["request_counts"] == {"processing": 4, **zeros}
        assert (running["results_url"], running["ended_at"], early) == (None, None, 404)
        assert ended["processing_status"] == "ended"
        assert ended["request_counts"] == {"processing": 0, **zeros, "succeeded": 4}
        assert [line["custom_id"] for line in results] == [f"r{number}" for number in NUMBERS]
        for number, line in zip(NUMBERS, results, strict=True):
            message = line["result"]["message"]

            assert (line["result"]["type"], message["usage"]["service_tier"]) == ("succeeded", "batch")
            assert message["content"] == [{"type": "text", "text": await live_text(provider, number)}]

    play(scenario, BatchOptions(seconds=100))


def test_a_batch_that_is_cancelled_says_so_of_each_request() -> None:
    """What was done by then is among the results."""

    async def scenario(provider: Provider) -> None:
        _, created = await provider.create_anthropic([anthropic_request(number) for number in NUMBERS])
        provider.let_pass(50)
        path = f"{PATH}/{created['id']}"
        _, canceling = await provider.call("POST", f"{path}/cancel")
        ended = await provider.get(path)
        results = lines_of((await provider.raw("GET", ended["results_url"]))[1])

        assert (canceling["processing_status"], ended["processing_status"]) == ("canceling", "ended")
        assert [line["result"]["type"] for line in results] == ["succeeded", "succeeded", "canceled", "canceled"]
        assert (ended["request_counts"]["succeeded"], ended["request_counts"]["canceled"]) == (2, 2)
        assert (await provider.call("POST", f"{path}/cancel"))[0] == 400

    play(scenario, BatchOptions(seconds=100))


def test_the_list_is_read_in_both_directions() -> None:
    """The newest come first; a cursor is an id of either end."""

    async def scenario(provider: Provider) -> None:
        made = [(await provider.create_anthropic([anthropic_request(number)]))[1]["id"] for number in NUMBERS][::-1]
        first = await provider.get(f"{PATH}?limit=3")
        older = await provider.get(f"{PATH}?limit=3&after_id={first['last_id']}")
        newer = await provider.get(f"{PATH}?limit=2&before_id={made[3]}")

        assert [batch["id"] for batch in first["data"]] == made[:3]
        assert [batch["id"] for batch in older["data"]] == made[3:]
        assert [batch["id"] for batch in newer["data"]] == made[1:3]
        assert [page["has_more"] for page in (first, older, newer)] == [True, False, True]

    play(scenario, BatchOptions())


@each(
    "requests",
    [
        [],
        [{"custom_id": "a b", "params": {}}],
        [{"custom_id": "a" * 65, "params": {}}],
        [{"custom_id": "a"}],
        [anthropic_request(1), anthropic_request(1)],
    ],
)
def test_a_batch_that_is_wrong_is_400_at_its_creation(requests: list[Any]) -> None:
    """Here a whole batch is refused before it is one."""

    async def scenario(provider: Provider) -> None:
        status, answer = await provider.create_anthropic(requests)

        assert (status, answer["error"]["type"]) == (400, "invalid_request_error")
        assert (await provider.get(PATH))["data"] == []

    play(scenario, BatchOptions())


def test_a_request_that_the_live_wire_would_refuse_is_errored_alone() -> None:
    """Its parameters are looked at when its turn comes, not before."""

    async def scenario(provider: Provider) -> None:
        odd = {"custom_id": "odd", "params": {"model": "mock", "messages": []}}
        _, created = await provider.create_anthropic([anthropic_request(1), odd])
        ended = await provider.get(f"{PATH}/{created['id']}")
        _, line = lines_of((await provider.raw("GET", ended["results_url"]))[1])

        assert (line["custom_id"], line["result"]["type"]) == ("odd", "errored")
        assert line["result"]["error"]["error"]["type"] == "invalid_request_error"
        assert ended["request_counts"]["errored"] == 1

    play(scenario, BatchOptions())
