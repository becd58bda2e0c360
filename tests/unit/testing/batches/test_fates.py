"""What may become of a whole batch, planted where a test asks for it, on each wire that has it."""

from tests.unit.testing.batches.provider_calls import (
    NUMBERS,
    Provider,
    always,
    anthropic_request,
    anthropic_results,
    gemini_operation,
    gemini_request,
    mistral_job,
    mistral_line,
    openai_batch,
    openai_line,
    play,
)

from mixseek.testing.batches.faults import BatchFault


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
