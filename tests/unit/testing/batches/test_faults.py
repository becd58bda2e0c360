"""Every pitfall that others fell into with batches, planted where a test asks for it, on each wire that has it."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from tests.cases import each
from tests.unit.testing.batches.provider_calls import (
    Provider,
    anthropic_request,
    gemini_body,
    gemini_request,
    lines_of,
    mistral_line,
    openai_line,
    play,
)

from mixseek.testing.batches.faults import BatchFault, FaultPlan, Moment
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.ledger import Ledger

NUMBERS = range(6)


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


def test_a_batch_may_be_completed_with_an_error_file_only() -> None:
    """It looks like a success until somebody opens what is there."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        errors = await provider.content(batch["error_file_id"])
        job = await mistral_job(provider)
        ended, results = await anthropic_results(provider)
        operation = await gemini_operation(provider)
        responses = operation["response"]["inlinedResponses"]["inlinedResponses"]

        assert (batch["status"], batch["output_file_id"]) == ("completed", None)
        assert batch["request_counts"] == {"total": 6, "completed": 0, "failed": 6}
        assert {line["error"]["code"] for line in errors} == {"server_error"}
        assert (job["status"], job["output_file"], job["failed_requests"]) == ("SUCCESS", None, 6)
        assert (ended["request_counts"]["errored"], {line["result"]["type"] for line in results}) == (6, {"errored"})
        assert operation["metadata"]["state"] == "BATCH_STATE_SUCCEEDED"
        assert {line["error"]["code"] for line in responses} == {13}
        assert (await provider.ledger())["billed"] == {}

    play(scenario, always(BatchFault.ERROR_FILE_ONLY))


def test_what_was_done_of_an_expired_batch_is_there_and_is_billed() -> None:
    """The rest is named as expired; of Gemini's there is nothing, and nothing to pay."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        done = await provider.content(batch["output_file_id"])
        left = await provider.content(batch["error_file_id"])
        job = await mistral_job(provider)
        ended, results = await anthropic_results(provider)
        operation = await gemini_operation(provider)
        billed = (await provider.ledger())["billed"]

        assert (batch["status"], len(done), len(left)) == ("expired", 3, 3)
        assert batch["expired_at"] is not None
        assert {line["error"]["code"] for line in left} == {"batch_expired"}
        assert (job["status"], len(await provider.content(job["output_file"]))) == ("TIMEOUT_EXCEEDED", 3)
        assert [line["result"]["type"] for line in results] == ["succeeded"] * 3 + ["expired"] * 3
        assert (ended["processing_status"], ended["request_counts"]["expired"]) == ("ended", 3)
        assert operation["metadata"]["state"] == "BATCH_STATE_EXPIRED"
        assert "response" not in operation
        assert {wire: account["requests"] for wire, account in billed.items()} == {
            "openai-batch": 3,
            "mistral-batch": 3,
            "anthropic-batch": 3,
        }

    play(scenario, always(BatchFault.EXPIRED))


def test_a_whole_batch_may_fail_after_it_was_created() -> None:
    """Each provider has its own way to say so; nothing is billed."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        job = await mistral_job(provider)
        ended, _ = await anthropic_results(provider)
        operation = await gemini_operation(provider)

        assert (batch["status"], batch["output_file_id"], batch["error_file_id"]) == ("failed", None, None)
        assert [error["code"] for error in batch["errors"]["data"]] == ["server_error"]
        assert (job["status"], len(job["errors"])) == ("FAILED", 1)
        assert ended["request_counts"]["errored"] == 6
        assert (operation["metadata"]["state"], operation["error"]["code"]) == ("BATCH_STATE_FAILED", 13)
        assert (await provider.ledger())["billed"] == {}

    play(scenario, always(BatchFault.FAILED_BATCH))


def test_a_failed_batch_may_hold_the_queue_for_a_while() -> None:
    """Until then every other is refused for want of room: by OpenAI after its creation, by the others at once."""

    async def scenario(provider: Provider) -> None:
        first = await openai_batch(provider)
        second = await openai_batch(provider, range(10, 14))
        provider.let_pass(120)
        third = await openai_batch(provider, range(20, 24))
        _, _ = await provider.create_mistral([mistral_line(1)])
        refused, _ = await provider.create_mistral([mistral_line(2)])

        assert [batch["errors"]["data"][0]["code"] for batch in (first, second, third)] == [
            "server_error",
            "token_limit_exceeded",
            "server_error",
        ]
        assert refused == 429

    play(scenario, always(BatchFault.FAILED_HOLDS_QUEUE))


def test_a_batch_may_be_gone() -> None:
    """It is answered 404, or an error that is called a success; and no list has it."""

    async def scenario(provider: Provider) -> None:
        statuses = set()
        for number in range(12):
            _, created = await provider.create_openai([openai_line(number)])
            status, answer = await provider.call("GET", f"/v1/batches/{created['id']}")
            statuses.add(status)

            assert "error" in answer
            assert "id" not in answer
            assert (await provider.call("POST", f"/v1/batches/{created['id']}/cancel"))[1].keys() == {"error"}
        _, created = await provider.create_gemini([gemini_request(1)])

        assert statuses == {200, 404}
        assert "error" in (await provider.call("GET", f"/v1beta/{created['name']}"))[1]
        assert (await provider.get("/v1/batches"))["data"] == []
        assert (await provider.ledger())["billed"] == {}

    play(scenario, always(BatchFault.GONE, seconds=100))


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


def test_batches_of_another_key_stand_in_the_list() -> None:
    """They have the same size and shape, labels of their own, and answers to other questions."""

    async def scenario(provider: Provider) -> None:
        lines = [openai_line(number) for number in NUMBERS]
        _, ours = await provider.create_openai(lines, metadata={"run": "ours"})
        listed = (await provider.get("/v1/batches"))["data"]
        (stranger,) = [batch for batch in listed if batch["id"] != ours["id"]]
        provider.let_pass(100)
        ended = await provider.get(f"/v1/batches/{stranger['id']}")
        ids = {line["custom_id"] for line in await provider.content(ended["output_file_id"])}
        ledger = await provider.ledger()

        assert stranger["metadata"].keys() == {"run"}
        assert stranger["metadata"] != ours["metadata"]
        assert stranger["created_at"] == ours["created_at"]
        assert len(ids) == 6
        assert ids.isdisjoint(line["custom_id"] for line in lines)
        assert (ledger["batches"], ledger["billed"]["openai-batch"]["requests"]) == ({"openai-batch": 1}, 6)

    play(scenario, always(BatchFault.FOREIGN, seconds=100))


def test_who_cancels_a_stranger_is_named_in_the_ledger() -> None:
    """No client may do that."""

    async def scenario(provider: Provider) -> None:
        _, ours = await provider.create_anthropic([anthropic_request(1)])
        listed = (await provider.get("/v1/messages/batches"))["data"]
        (stranger,) = [batch["id"] for batch in listed if batch["id"] != ours["id"]]
        await provider.call("POST", f"/v1/messages/batches/{stranger}/cancel")

        assert (await provider.ledger())["strangers_cancelled"] == [stranger.removeprefix("msgbatch_")]

    play(scenario, always(BatchFault.FOREIGN, seconds=100))


def test_the_clock_of_a_provider_may_be_ahead() -> None:
    """All its times are in the future."""

    async def scenario(provider: Provider) -> None:
        batch = await openai_batch(provider)
        ended, _ = await anthropic_results(provider)

        assert batch["created_at"] > provider.server.now()
        assert batch["completed_at"] > provider.server.now()
        assert ended["created_at"].startswith("2027-01-15T09:")

    play(scenario, always(BatchFault.CLOCK_AHEAD))


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


Download = Callable[[Provider], Awaitable[tuple[int, bytes, dict[str, str]]]]


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


def test_whoever_asks_again_comes_to_an_end() -> None:
    """Each fault that loses answers, alone and always: after a few batches of what is left, nothing is."""

    async def scenario(provider: Provider) -> None:
        open_numbers = set(NUMBERS)
        rounds = 0
        while open_numbers:
            rounds += 1
            assert rounds < 12
            status, created = await provider.create_openai([openai_line(number) for number in sorted(open_numbers)])
            if status != 200:
                continue
            provider.let_pass(10)
            _, batch = await provider.call("GET", f"/v1/batches/{created['id']}")
            if batch.get("output_file_id"):
                open_numbers -= await answered(provider, batch)

    for fault in BatchFault:
        if fault not in (BatchFault.TOO_MANY, BatchFault.LOST_ANSWER, BatchFault.CUT_DOWNLOAD):
            play(scenario, always(fault))


async def answered(provider: Provider, batch: Any) -> set[int]:
    """The numbers of requests that have a text."""
    numbers = set()
    for line in (await output_of(provider, batch)).splitlines():
        try:
            document = json.loads(line)
        except json.JSONDecodeError:
            continue
        body = (document["response"] or {}).get("body") or {}
        if body.get("choices") and body["choices"][0]["message"]["content"]:
            numbers.add(int(document["custom_id"].removeprefix("r"))) if document["custom_id"].startswith("r") else None
    return numbers


def test_faults_are_the_same_in_every_run_of_a_seed() -> None:
    """Content and seed decide, not the order of calls."""
    contents = [bytes([number]) * 16 for number in range(60)]

    def drawn(seed: int, order: Sequence[bytes]) -> dict[bytes, BatchFault | None]:
        plan = FaultPlan(seed, 0.3, tuple(BatchFault), Ledger())
        return {content: plan.draw(Moment.LINE, content) for content in order}

    first = drawn(1, contents)

    assert first == drawn(1, contents[::-1])
    assert first != drawn(2, contents)
    assert 0 < sum(fault is not None for fault in first.values()) < 40
