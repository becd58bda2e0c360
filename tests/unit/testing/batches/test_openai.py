"""OpenAI's batches at the loopback provider: from the upload to the files, as its reference tells it."""

import json
from typing import Any

from tests.cases import each
from tests.unit.testing.batches.provider_calls import (
    CHAT,
    Provider,
    live_text,
    openai_line,
    play,
    responses_body,
)

from mixseek.testing.batches.jobs import BatchOptions

NUMBERS = range(4)


def test_a_batch_goes_from_upload_to_answers_that_are_the_live_ones() -> None:
    """Its file names every request once, in the shape of recorded files."""

    async def scenario(provider: Provider) -> None:
        status, stored = await provider.upload([openai_line(number) for number in NUMBERS])
        fields = {"input_file_id": stored["id"], "endpoint": CHAT, "completion_window": "24h", "metadata": {"run": "x"}}
        _, created = await provider.call("POST", "/v1/batches", fields)
        batch = await provider.get(f"/v1/batches/{created['id']}")
        lines = await provider.content(batch["output_file_id"])

        assert (status, stored["object"], stored["purpose"], stored["status"]) == (200, "file", "batch", "processed")
        assert (created["object"], created["metadata"], created["input_file_id"]) == (
            "batch",
            {"run": "x"},
            stored["id"],
        )
        assert (batch["status"], batch["error_file_id"], batch["errors"]) == ("completed", None, None)
        assert batch["request_counts"] == {"total": 4, "completed": 4, "failed": 0}
        assert [line["custom_id"] for line in lines] == [f"r{number}" for number in NUMBERS]
        for number, line in zip(NUMBERS, lines, strict=True):
            body = line["response"]["body"]

            assert (line["error"], line["response"]["status_code"]) == (None, 200)
            assert body["choices"][0]["message"]["content"] == await live_text(provider, number)
            assert body["usage"]["prompt_tokens"] > 0

    play(scenario, BatchOptions())


def test_a_batch_of_the_responses_interface_says_the_same() -> None:
    """The endpoint decides how a line is read, not what is thought of it."""

    async def scenario(provider: Provider) -> None:
        lines = [{**openai_line(1, url="/v1/responses"), "body": responses_body(1)}]
        _, created = await provider.create_openai(lines, endpoint="/v1/responses")
        batch = await provider.get(f"/v1/batches/{created['id']}")
        (line,) = await provider.content(batch["output_file_id"])
        status, live = await provider.call("POST", "/v1/responses", responses_body(1))

        body = line["response"]["body"]
        assert status == 200
        assert body["output"] == [{**live["output"][0], "id": body["output"][0]["id"]}]
        assert body["output"][0]["content"][0]["text"] == await live_text(provider, 1)

    play(scenario, BatchOptions())


def test_a_batch_lives_as_long_as_it_is_told() -> None:
    """Every state has its moment, and no file is there before the end."""

    async def scenario(provider: Provider) -> None:
        _, created = await provider.create_openai([openai_line(number) for number in NUMBERS])
        seen = [created["status"]]
        for _ in range(4):
            provider.let_pass(30)
            batch = await provider.get(f"/v1/batches/{created['id']}")
            seen.append(batch["status"])
            assert (batch["output_file_id"] is None) == (batch["status"] != "completed")

        assert seen == ["validating", "in_progress", "in_progress", "finalizing", "completed"]
        assert batch["created_at"] < batch["in_progress_at"] < batch["finalizing_at"] < batch["completed_at"]

    play(scenario, BatchOptions(seconds=100))


def test_a_batch_that_is_cancelled_keeps_what_was_done() -> None:
    """What was never looked at stands in the error file; a batch that ended cannot be cancelled."""

    async def scenario(provider: Provider) -> None:
        _, created = await provider.create_openai([openai_line(number) for number in NUMBERS])
        provider.let_pass(50)
        path = f"/v1/batches/{created['id']}"
        _, cancelling = await provider.call("POST", f"{path}/cancel")
        batch = await provider.get(path)
        again, _ = await provider.call("POST", f"{path}/cancel")
        done = await provider.content(batch["output_file_id"])
        left = await provider.content(batch["error_file_id"])

        assert (cancelling["status"], batch["status"], again) == ("cancelling", "cancelled", 409)
        assert [line["custom_id"] for line in done] == ["r0", "r1"]
        assert [(line["custom_id"], line["error"]["code"]) for line in left] == [
            ("r2", "batch_cancelled"),
            ("r3", "batch_cancelled"),
        ]

    play(scenario, BatchOptions(seconds=100))


def test_the_list_shows_the_newest_first_in_pages() -> None:
    """The cursor is the last id of a page."""

    async def scenario(provider: Provider) -> None:
        made = [(await provider.create_openai([openai_line(number)]))[1]["id"] for number in NUMBERS]
        first = await provider.get("/v1/batches?limit=3")
        second = await provider.get(f"/v1/batches?limit=3&after={first['last_id']}")

        assert [batch["id"] for batch in (*first["data"], *second["data"])] == made[::-1]
        assert (first["has_more"], second["has_more"]) == (True, False)

    play(scenario, BatchOptions())


@each(
    ("lines", "code"),
    [
        ([b"{torn"], "invalid_json_line"),
        ([b""], "empty_file"),
        ([openai_line(1), openai_line(1)], "duplicate_custom_id"),
        ([openai_line(1), {**openai_line(2), "body": {"model": "other", "messages": []}}], "model_mismatch"),
        ([openai_line(1, url="/v1/responses")], "mismatched_endpoint"),
        ([{"custom_id": "a", "method": "POST", "url": CHAT}], "missing_required_parameter"),
    ],
)
def test_a_file_that_is_wrong_makes_a_batch_that_fails(lines: list[Any], code: str) -> None:
    """Creation succeeds; the reason stands in the batch."""

    async def scenario(provider: Provider) -> None:
        content = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
        _, stored = await provider.upload_bytes(content)
        fields = {"input_file_id": stored["id"], "endpoint": CHAT, "completion_window": "24h"}
        status, created = await provider.call("POST", "/v1/batches", fields)
        batch = await provider.get(f"/v1/batches/{created['id']}")

        assert (status, batch["status"], batch["output_file_id"]) == (200, "failed", None)
        assert [error["code"] for error in batch["errors"]["data"]] == [code]

    play(scenario, BatchOptions())


@each(
    "change",
    [
        {"input_file_id": "file-none"},
        {"endpoint": "/v1/embeddings"},
        {"completion_window": "1h"},
        {"metadata": {str(number): "x" for number in range(17)}},
        {"metadata": {"a": "x" * 513}},
        {"metadata": {"a": 1}},
    ],
)
def test_a_creation_that_is_wrong_is_400(change: dict[str, Any]) -> None:
    """And no batch is made."""

    async def scenario(provider: Provider) -> None:
        status, answer = await provider.create_openai([openai_line(1)], **change)

        assert status == 400
        assert answer["error"]["message"]
        assert (await provider.get("/v1/batches"))["data"] == []

    play(scenario, BatchOptions())


def test_files_are_shown_and_removed_and_what_is_not_there_is_404() -> None:
    """The content of an upload is what was sent."""

    async def scenario(provider: Provider) -> None:
        _, stored = await provider.upload([openai_line(1)])
        path = f"/v1/files/{stored['id']}"

        assert await provider.get(path) == stored
        assert await provider.content(stored["id"]) == [openai_line(1)]
        _, _, headers = await provider.raw("GET", f"{path}/content")
        # Mistral's own client takes nothing else.
        assert headers["Content-Type"] == "application/octet-stream"
        assert [file["id"] for file in (await provider.get("/v1/files"))["data"]] == [stored["id"]]
        assert (await provider.call("DELETE", path))[1]["deleted"] is True
        for method, missing in (("GET", path), ("GET", f"{path}/content"), ("DELETE", path), ("GET", "/v1/batches/b")):
            assert (await provider.call(method, missing))[0] == 404

    play(scenario, BatchOptions())


def test_a_line_that_the_live_wire_would_refuse_is_refused_alone() -> None:
    """Its HTTP status stands within the line, and the other lines are answered."""

    async def scenario(provider: Provider) -> None:
        odd = {**openai_line(2), "body": {"model": "mock", "messages": []}}
        _, created = await provider.create_openai([openai_line(1), odd])
        batch = await provider.get(f"/v1/batches/{created['id']}")
        (refused,) = await provider.content(batch["error_file_id"])

        assert batch["request_counts"] == {"total": 2, "completed": 1, "failed": 1}
        assert (refused["custom_id"], refused["response"]["status_code"], refused["error"]) == ("r2", 400, None)

    play(scenario, BatchOptions())
