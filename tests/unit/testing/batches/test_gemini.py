"""Gemini's live calls and batches at the loopback provider, as its reference, guide and recorded answers show them."""

import json
from typing import Any

from tests.cases import each
from tests.unit.testing.batches.provider_calls import (
    GEMINI,
    Provider,
    gemini_body,
    gemini_request,
    lines_of,
    live_text,
    play,
)

from mixseek.testing.batches.jobs import BatchOptions

NUMBERS = range(4)


def text_in(response: Any) -> str:
    return str(response["candidates"][0]["content"]["parts"][0]["text"])


def test_a_live_call_says_the_same_in_either_spelling() -> None:
    """The model stands in the path, names are snake or camel, and the verdict is that of every wire."""

    async def scenario(provider: Provider) -> None:
        snake = gemini_body(1)
        camel = {"contents": snake["contents"], "systemInstruction": snake["system_instruction"]}
        for body in (snake, camel):
            status, answer = await provider.call("POST", "/v1beta/models/mock:generateContent", body)

            assert (status, answer["modelVersion"]) == (200, "mock")
            assert answer["candidates"][0]["finishReason"] == "STOP"
            assert text_in(answer) == await live_text(provider, 1)
            assert answer["usageMetadata"]["promptTokenCount"] > 0

    play(scenario, BatchOptions())


def test_inline_requests_are_answered_in_the_operation() -> None:
    """It is done when it says so, and each response carries its request's key."""

    async def scenario(provider: Provider) -> None:
        _, created = await provider.create_gemini([gemini_request(number) for number in NUMBERS])
        seen = [created["metadata"]["state"]]
        for _ in range(2):
            provider.let_pass(50)
            operation = await provider.get(f"/v1beta/{created['name']}")
            seen.append(operation["metadata"]["state"])
        responses = operation["response"]["inlinedResponses"]["inlinedResponses"]

        assert seen == ["BATCH_STATE_PENDING", "BATCH_STATE_RUNNING", "BATCH_STATE_SUCCEEDED"]
        assert "done" not in created
        assert created["metadata"]["batchStats"] == {"requestCount": "4", "pendingRequestCount": "4"}
        assert operation["done"] is True
        assert operation["metadata"]["batchStats"] == {"requestCount": "4", "successfulRequestCount": "4"}
        for number, line in zip(NUMBERS, responses, strict=True):
            assert line["metadata"] == {"key": f"r{number}"}
            assert text_in(line["response"]) == await live_text(provider, number)

    play(scenario, BatchOptions(seconds=100))


def test_a_file_is_uploaded_in_pieces_and_answered_with_a_file() -> None:
    """The start names an address; the last piece makes the file."""

    async def scenario(provider: Provider) -> None:
        lines = [{"key": f"r{number}", "request": gemini_body(number)} for number in NUMBERS]
        content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        start = {"X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start"}
        start |= {"X-Goog-Upload-Header-Content-Type": "application/jsonl"}
        _, _, headers = await provider.raw(
            "POST", "/upload/v1beta/files?key=k", json={"file": {"display_name": "ours"}}, headers=start
        )
        url = headers["X-Goog-Upload-URL"]
        piece = {"X-Goog-Upload-Offset": "0", "X-Goog-Upload-Command": "upload"}
        await provider.raw("POST", url, data=content[:100], headers=piece)
        rest = {"X-Goog-Upload-Offset": "100", "X-Goog-Upload-Command": "upload, finalize"}
        _, body, final = await provider.raw("POST", url, data=content[100:], headers=rest)
        file = json.loads(body)["file"]
        config = {"displayName": "ours", "inputConfig": {"fileName": file["name"]}}
        _, created = await provider.call("POST", GEMINI, {"batch": config})
        operation = await provider.get(f"/v1beta/{created['name']}")
        results = operation["response"]["responsesFile"]
        downloads = [f"/download/v1beta/{results}:download?alt=media", f"/v1beta/{results}:download?alt=media"]
        bodies = [(await provider.raw("GET", path))[1] for path in downloads]

        assert final["X-Goog-Upload-Status"] == "final"
        assert (file["sizeBytes"], file["mimeType"], file["state"]) == (
            str(len(content)),
            "application/jsonl",
            "ACTIVE",
        )
        assert await provider.get(f"/v1beta/{file['name']}") == file
        assert bodies[0] == bodies[1]
        assert [line["key"] for line in lines_of(bodies[0])] == [f"r{number}" for number in NUMBERS]
        assert text_in(lines_of(bodies[0])[2]["response"]) == await live_text(provider, 2)

    play(scenario, BatchOptions())


def test_a_batch_that_is_cancelled_has_no_results() -> None:
    """The answer to the call is empty; the operation ends in an error, as Google's operations do."""

    async def scenario(provider: Provider) -> None:
        _, created = await provider.create_gemini([gemini_request(1)])
        _, answer = await provider.call("POST", f"/v1beta/{created['name']}:cancel")
        operation = await provider.get(f"/v1beta/{created['name']}")

        assert answer == {}
        assert (operation["metadata"]["state"], operation["error"]["code"]) == ("BATCH_STATE_CANCELLED", 1)
        assert "response" not in operation

    play(scenario, BatchOptions(seconds=100))


def test_the_list_has_names_and_labels_in_pages() -> None:
    """A client finds its own by the name that it gave."""

    async def scenario(provider: Provider) -> None:
        made = [(await provider.create_gemini([gemini_request(number)]))[1]["name"] for number in NUMBERS]
        first = await provider.get("/v1beta/batches?pageSize=3")
        second = await provider.get(f"/v1beta/batches?pageSize=3&pageToken={first['nextPageToken']}")
        operations = [*first["operations"], *second["operations"]]

        assert [operation["name"] for operation in operations] == made[::-1]
        assert {operation["metadata"]["displayName"] for operation in operations} == {"ours"}
        assert "nextPageToken" not in second

    play(scenario, BatchOptions())


@each(
    ("batch", "status"),
    [
        ({}, 400),
        ({"input_config": {"requests": {"requests": [gemini_request(1)]}}}, 400),
        ({"display_name": "x", "input_config": {}}, 400),
        ({"display_name": "x", "input_config": {"requests": {"requests": [{"contents": []}]}}}, 400),
        ({"display_name": "x", "input_config": {"file_name": "files/none"}}, 404),
    ],
)
def test_a_batch_that_is_wrong_is_refused_at_its_creation(batch: dict[str, Any], status: int) -> None:
    """Errors have a number and a word."""

    async def scenario(provider: Provider) -> None:
        answer = await provider.call("POST", GEMINI, {"batch": batch})

        assert (answer[0], answer[1]["error"]["code"]) == (status, status)
        assert await provider.get("/v1beta/batches") == {"operations": []}

    play(scenario, BatchOptions())
