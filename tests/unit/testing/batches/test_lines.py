"""What may become of the lines of a batch: other tools lost what they paid for by each of these."""

import json

import pytest
from tests.unit.testing.batches.provider_calls import (
    NUMBERS,
    Provider,
    always,
    anthropic_results,
    gemini_operation,
    lines_of,
    mistral_job,
    openai_batch,
    output_of,
    play,
)

from mixseek.testing.batches.faults import BatchFault


def test_lines_may_come_in_any_order() -> None:
    """Each is there once."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        ids = [line["custom_id"] for line in lines_of(await output_of(provider, batch))]

        assert sorted(ids) == [f"r{number}" for number in NUMBERS]
        assert ids != sorted(ids)

    play(scenario, always(BatchFault.SHUFFLED))


def test_a_line_may_be_there_that_nobody_asked_for() -> None:
    """It looks like an answer, and is not billed."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        ids = [line["custom_id"] for line in lines_of(await output_of(provider, batch))]

        assert ids[:-1] == [f"r{number}" for number in NUMBERS]
        assert ids[-1].startswith("unknown-")
        assert (await provider.ledger())["billed"]["openai-batch"]["requests"] == 6

    play(scenario, always(BatchFault.UNKNOWN_LINE))


def test_lines_may_be_torn_and_the_file_goes_on() -> None:
    """What stood there is billed, and lost; the second time it is whole."""

    async def scenario(provider: Provider) -> None:
        torn = (await output_of(provider, await openai_batch(provider))).splitlines()
        for _ in range(2):
            batch = await openai_batch(provider)
        whole = await provider.content(batch["output_file_id"])
        ledger = await provider.ledger()

        assert len(torn) == 6
        for line in torn:
            with pytest.raises(json.JSONDecodeError):
                json.loads(line)
        assert [line["custom_id"] for line in whole] == [f"r{number}" for number in NUMBERS]
        assert ledger["billed"]["openai-batch"]["requests"] == 18
        assert ledger["billed_unreadable"]["openai-batch"]["requests"] == 12
        assert ledger["submitted_again_after_success"] == []

    play(scenario, always(BatchFault.TORN_LINE))


def test_lines_may_be_missing_although_they_are_billed() -> None:
    """The counts of the batch do not say so."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        ledger = await provider.ledger()

        assert (batch["status"], batch["output_file_id"], batch["error_file_id"]) == ("completed", None, None)
        assert batch["request_counts"]["completed"] == 6
        assert ledger["billed_unreadable"] == ledger["billed"]

    play(scenario, always(BatchFault.MISSING_LINE))


def test_a_line_may_come_twice() -> None:
    """It is billed once."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        ids = [line["custom_id"] for line in lines_of(await output_of(provider, batch))]

        assert ids == [f"r{number}" for number in NUMBERS] * 2
        assert (await provider.ledger())["billed"]["openai-batch"]["requests"] == 6

    play(scenario, always(BatchFault.TWICE))


def test_lines_may_have_errors_whose_code_is_a_word() -> None:
    """They stand in the error file; Google's have a number that is no HTTP status."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        errors = await provider.content(batch["error_file_id"])
        job = await mistral_job(provider)
        _, results = await anthropic_results(provider)
        responses = (await gemini_operation(provider))["response"]["inlinedResponses"]["inlinedResponses"]

        assert batch["output_file_id"] is None
        for line in (*errors, *await provider.content(job["error_file"])):
            assert line["response"] is None
            assert line["error"]["code"] in ("server_error", "rate_limit_exceeded")
        assert {line["result"]["error"]["error"]["type"] for line in results} == {"api_error"}
        assert {line["error"]["code"] for line in responses} == {13}

    play(scenario, always(BatchFault.LINE_ERRORS))


def test_lines_may_be_refused_with_a_status_of_their_own() -> None:
    """Some stand among the answers, others in the error file."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider, range(20))
        among_answers = await provider.content(batch["output_file_id"])
        among_errors = await provider.content(batch["error_file_id"])
        _, results = await anthropic_results(provider)

        statuses = {line["response"]["status_code"] for line in (*among_answers, *among_errors)}
        assert statuses == {429, 500, 503}
        assert len(among_answers) + len(among_errors) == 20
        assert all("error" in line["response"]["body"] for line in among_answers)
        assert {line["result"]["type"] for line in results} == {"errored"}
        assert (await provider.ledger())["billed"] == {}

    play(scenario, always(BatchFault.REFUSED_LINES))


def test_a_text_may_be_empty_where_a_request_failed() -> None:
    """The line calls itself a success; it counts as no answer, and its usage is what is billed."""

    async def scenario(provider: Provider) -> None:
        lines = lines_of(await output_of(provider, await openai_batch(provider)))
        bodies = [line["response"]["body"] for line in lines]
        await openai_batch(provider)
        ledger = await provider.ledger()

        assert {body["choices"][0]["message"]["content"] for body in bodies} == {""}
        assert {body["usage"]["completion_tokens"] for body in bodies} == {0}
        assert ledger["billed"]["openai-batch"]["output_tokens"] == 0
        assert ledger["billed"]["openai-batch"]["input_tokens"] == 2 * sum(
            body["usage"]["prompt_tokens"] for body in bodies
        )
        assert ledger["submitted_again_after_success"] == []

    play(scenario, always(BatchFault.EMPTY_TEXT))
