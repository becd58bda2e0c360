"""Mistral's batch jobs at the loopback provider, as its reference shows them."""

from typing import Any

from tests.cases import each
from tests.unit.testing.batches.provider_calls import Provider, live_text, mistral_line, play

from mixseek.testing.batches.jobs import BatchOptions

PATH = "/v1/batch/jobs"
NUMBERS = range(4)


def test_a_job_goes_from_upload_to_answers_that_are_the_live_ones() -> None:
    """Its lines name no model: the job does."""

    async def scenario(provider: Provider) -> None:
        lines = [mistral_line(number) for number in NUMBERS]
        status, created = await provider.create_mistral(lines, metadata={"run": "x"}, timeout_hours=24)
        seen = [created["status"]]
        for _ in range(2):
            provider.let_pass(50)
            job = await provider.get(f"{PATH}/{created['id']}")
            seen.append(job["status"])
        answers = await provider.content(job["output_file"])

        assert (status, created["metadata"], created["total_requests"]) == (200, {"run": "x"}, 4)
        assert seen == ["QUEUED", "RUNNING", "SUCCESS"]
        assert (job["succeeded_requests"], job["failed_requests"], job["error_file"]) == (4, 0, None)
        for number, line in zip(NUMBERS, answers, strict=True):
            body = line["response"]["body"]

            assert (line["custom_id"], line["response"]["status_code"]) == (f"r{number}", 200)
            assert body["model"] == "mock"
            assert body["choices"][0]["message"]["content"] == await live_text(provider, number)

    play(scenario, BatchOptions(seconds=100))


def test_requests_may_come_with_the_job_and_answers_with_it_too() -> None:
    """A job with requests needs no file."""

    async def scenario(provider: Provider) -> None:
        document = {"requests": [mistral_line(1)], "endpoint": "/v1/chat/completions", "model": "mock"}
        _, created = await provider.call("POST", PATH, document)
        job = await provider.get(f"{PATH}/{created['id']}?inline=true")

        assert job["input_files"] == []
        assert [line["custom_id"] for line in job["outputs"]] == ["r1"]

    play(scenario, BatchOptions())


def test_a_job_that_is_cancelled_leaves_no_line_for_what_was_not_done() -> None:
    """What was done by then is in the output file."""

    async def scenario(provider: Provider) -> None:
        _, created = await provider.create_mistral([mistral_line(number) for number in NUMBERS])
        provider.let_pass(50)
        _, requested = await provider.call("POST", f"{PATH}/{created['id']}/cancel")
        job = await provider.get(f"{PATH}/{created['id']}")

        assert (requested["status"], job["status"]) == ("CANCELLATION_REQUESTED", "CANCELLED")
        assert [line["custom_id"] for line in await provider.content(job["output_file"])] == ["r0", "r1"]
        assert job["error_file"] is None

    play(scenario, BatchOptions(seconds=100))


def test_the_list_has_pages_by_number() -> None:
    """Pages count from 0, and the newest job comes first."""

    async def scenario(provider: Provider) -> None:
        made = [(await provider.create_mistral([mistral_line(number)]))[1]["id"] for number in NUMBERS]
        pages = [await provider.get(f"{PATH}?page={page}&page_size=3") for page in (0, 1)]

        assert [job["id"] for page in pages for job in page["data"]] == made[::-1]
        assert pages[0]["total"] == 4

    play(scenario, BatchOptions())


@each(
    ("change", "status"),
    [
        ({"endpoint": "/v1/other"}, 422),
        ({"model": None}, 422),
        ({"metadata": "x"}, 422),
        ({"input_files": []}, 422),
        ({"input_files": ["none"]}, 404),
    ],
)
def test_a_job_that_is_wrong_is_refused_at_its_creation(change: dict[str, Any], status: int) -> None:
    """And no job is made."""

    async def scenario(provider: Provider) -> None:
        answer = await provider.create_mistral([mistral_line(1)], **change)

        assert (answer[0], answer[1]["object"]) == (status, "error")
        assert (await provider.get(PATH))["total"] == 0

    play(scenario, BatchOptions())
