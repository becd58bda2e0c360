"""Chat completions against a real server: what is sent, and what is made of every shape of answer."""

import asyncio
from typing import Any

import orjson
import pytest
from tests.cases import each
from tests.unit.judges.loopback import CALL, CANARY, SCHEMA, ask, judge_at, says, serving
from tests.unit.judges.wire_documents import TEXT, completion, openai_error

from mixseek.domain.ports import Answer, Call, Message, Usage
from mixseek.errors import TransientJudgeError


def answer_to(document: Any, **headers: str) -> Answer:
    async def run() -> Answer:
        async with serving(says(document, headers=headers)) as endpoint:
            return await ask(judge_at(f"{endpoint.url}/v1"))

    return asyncio.run(run())


def test_a_request_holds_what_was_set_and_nothing_else() -> None:
    """A parameter that nobody set is the endpoint's own."""

    async def run() -> tuple[Any, str, Any]:
        async with serving(says(completion({"content": TEXT}))) as endpoint:
            await ask(judge_at(f"{endpoint.url}/v1"))
            return endpoint.bodies[0], endpoint.paths[0], endpoint.headers[0]

    body, path, headers = asyncio.run(run())

    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == f"Bearer {CANARY}"
    schema = {"name": "judgment", "strict": True, "schema": SCHEMA}
    assert orjson.loads(body) == {
        "model": "m",
        "messages": [{"role": message.role, "content": message.content} for message in CALL.messages],
        "response_format": {"type": "json_schema", "json_schema": schema},
    }


def test_every_parameter_reaches_the_endpoint_and_repeats_get_seeds_of_their_own() -> None:
    async def run() -> Any:
        settings: dict[str, Any] = {
            "temperature": 0.0,
            "top_p": 0.9,
            "max_tokens": 50,
            "seed": 7,
            "headers": {"X-Team": "a"},
            "body": {"reasoning_effort": "low", "top_p": 0.5},
        }
        async with serving(says(completion({"content": TEXT}))) as endpoint:
            call = Call("k", (Message("user", "?"),), {}, take=3)
            await ask(judge_at(f"{endpoint.url}/v1", **settings), call)
            return endpoint.bodies[0] | {"team": endpoint.headers[0]["X-Team"]}

    assert asyncio.run(run()) == {
        "model": "m",
        "messages": [{"role": "user", "content": "?"}],
        "temperature": 0.0,
        "top_p": 0.5,
        "max_tokens": 50,
        "seed": 9,
        "reasoning_effort": "low",
        "team": "a",
    }


def test_an_azure_address_keeps_its_query_and_its_header() -> None:
    from mixseek.judges.endpoint.address import resolve_target
    from mixseek.settings.models import JudgeSettings

    base = "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21"
    settings = JudgeSettings(model="d", provider="azure", base_url=base)
    target = resolve_target("j", {"j": settings}, {"AZURE_OPENAI_API_KEY": CANARY})

    assert target.key_header == "api-key"
    assert (
        target.url("/chat/completions")
        == "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
    )


def test_an_answer_carries_all_that_the_endpoint_said() -> None:
    answer = answer_to(completion({"content": TEXT, "refusal": None}), **{"x-request-id": "req-9"})

    assert answer.reply.text == TEXT
    assert answer.usage == Usage(120, 30, 64, reasoning_tokens=12)
    assert (answer.finish_reason, answer.request_id, answer.model) == ("stop", "req-9", "m-2026-01-01")
    assert answer.reply.judge == "j"
    details = dict(answer.reply.details)
    assert details.pop("latency_seconds") >= 0
    assert details == {
        "take": 1,
        "ask": 1,
        "usage": {"input_tokens": 120, "output_tokens": 30, "cached_input_tokens": 64, "reasoning_tokens": 12},
        "finish_reason": "stop",
        "request_id": "req-9",
        "model": "m-2026-01-01",
        "judge_model": "endpoint:m",
        "schema": "json_schema",
        "requests": 1,
    }


PARTS = [{"type": "text", "text": '{"is_correct":'}, {"type": "text", "text": " true}"}, {"type": "image_url"}, 7]


@each(
    ("message", "finish_reason", "expected"),
    [
        ({"content": "", "refusal": None}, "stop", ("", "stop")),
        ({"content": None}, "length", ("", "length")),
        ({"content": '{"is_corr'}, "length", ('{"is_corr', "length")),
        ({"content": None}, "content_filter", ("", "content_filter")),
        ({"content": None, "refusal": "I can't help with that."}, "stop", ("I can't help with that.", "refusal")),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, "stop", ("No.", "refusal")),
        ({"content": PARTS}, "stop", ('{"is_correct": true}', "stop")),
        ({"content": ["a", {"type": "text", "text": "b"}]}, "stop", ("ab", "stop")),
        ({"content": {"is_correct": True}}, "stop", ("", "stop")),
        ({"content": "日本語 🙂 \u0000 \u2028"}, "stop", ("日本語 🙂 \u0000 \u2028", "stop")),
        ({"content": "x"}, None, ("x", None)),
    ],
)
def test_every_shape_of_content_gives_its_text_to_the_letter(
    message: dict[str, Any], finish_reason: str | None, expected: tuple[str, str | None]
) -> None:
    answer = answer_to(completion(message, finish_reason))

    assert (answer.reply.text, answer.finish_reason) == expected


def test_a_tool_call_is_kept_beside_an_empty_reply_and_never_taken_for_one() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "grade", "arguments": TEXT}}
    answer = answer_to(completion({"content": None, "tool_calls": [call]}, "tool_calls"))

    assert (answer.reply.text, answer.finish_reason) == ("", "tool_calls")
    assert answer.reply.details["tool_calls"] == [{"name": "grade", "arguments": TEXT}]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_beside_the_reply(name: str) -> None:
    answer = answer_to(completion({"content": TEXT, name: "Hmm."}))

    assert answer.reply.text == TEXT
    assert answer.reply.details["reasoning"] == "Hmm."


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"choices":[{"message":{"content":"\\ud83d x"}}]}', "\ud83d x"),
        (b'{"choices":[{"message":{"content":"\\ud83d\\ude42"}}]}', "🙂"),
        (b'{"choices":[{"message":{"content":"a\xff"}}]}', "a\ufffd"),
        (b'\xef\xbb\xbf{"choices":[{"message":{"content":"a"}}]}', "a"),
    ],
)
def test_text_that_strict_readers_refuse_is_read(raw: bytes, expected: str) -> None:
    """A reply is paid for; half a surrogate pair is no reason to lose it."""
    assert answer_to(raw).reply.text == expected


def test_half_a_surrogate_pair_in_a_prompt_is_sent_escaped() -> None:
    async def run() -> Any:
        async with serving(says(completion({"content": TEXT}))) as endpoint:
            await ask(judge_at(f"{endpoint.url}/v1"), Call("k", (Message("user", "a\ud800"),), {}))
            return endpoint.bodies[0]

    assert b'"a\\ud800"' in asyncio.run(run())


@pytest.mark.parametrize(
    "usage", [None, [], {}, {"prompt_tokens": "12", "completion_tokens": True, "prompt_tokens_details": None}]
)
def test_tokens_that_are_not_counted_are_unknown_not_zero(usage: Any) -> None:
    assert answer_to(completion({"content": TEXT}, usage=usage)).usage == Usage(None, None, None)


@each(
    ("document", "words"),
    [
        (completion({}, choices=[]), "answered 200: answered without any choice"),
        (completion({}, choices=None), "answered without any choice"),
        (completion({}, choices=[{"index": 0, "message": None}]), "without any choice that holds a message"),
        ({"object": "list", "data": []}, "answered without any choice"),
        ({"error": {"message": "upstream broke"}}, "upstream broke"),
        ({"error": {"message": "busy", "code": 502}}, "answered 502: busy"),
        (completion({}, choices=[{"error": {"message": "lost", "code": 503}}]), "answered 503"),
        ([1], "a JSON list, no object"),
        (b"", "application/json that is not whole JSON (empty)"),
        (b'{"choices":[{"message":{"conte', "that is not whole JSON"),
        (b"[" * 100_000, "that is not whole JSON"),
    ],
)
def test_an_answer_without_a_reply_is_worth_another_try(document: Any, words: str) -> None:
    with pytest.raises(TransientJudgeError) as caught:
        answer_to(document)

    assert words in str(caught.value)


def test_a_page_for_browsers_is_named_as_such() -> None:
    with pytest.raises(TransientJudgeError, match=r"answered with a page for browsers \(Sign in\)"):
        answer_to(b"<!doctype html><p>Sign in", **{"Content-Type": "text/html; charset=utf-8"})


def test_an_upstream_overload_inside_a_200_counts_as_overload() -> None:
    with pytest.raises(TransientJudgeError) as caught:
        answer_to(openai_error("Rate limited upstream", code=429))

    assert caught.value.is_overload
