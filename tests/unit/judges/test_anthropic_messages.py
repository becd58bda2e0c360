"""The Messages format against a real server."""

import asyncio
from typing import Any

import orjson
import pytest
from tests.cases import each
from tests.unit.judges.loopback import CALL, CANARY, SCHEMA, Scripted, ask, judge_at, says, serving
from tests.unit.judges.wire_documents import TEXT, anthropic_error, message

from mixseek.domain.ports import Answer, Usage
from mixseek.errors import PermanentJudgeError, TransientJudgeError


def run_script(*script: Scripted, path: str = "", **settings: Any) -> tuple[Answer, list[Any], list[Any], list[str]]:
    async def run() -> tuple[Answer, list[Any], list[Any], list[str]]:
        async with serving(*script) as endpoint:
            answer = await ask(judge_at(endpoint.url + path, "anthropic", **settings))
            bodies = [orjson.loads(body) if isinstance(body, bytes) else body for body in endpoint.bodies]
            return answer, bodies, list(endpoint.headers), endpoint.paths

    return asyncio.run(run())


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
def test_system_stands_apart_and_both_forms_of_the_base_url_work(path: str) -> None:
    _, bodies, headers, paths = run_script(says(message([{"type": "text", "text": TEXT}])), path=path)

    assert paths == ["/v1/messages"]
    assert (headers[0]["x-api-key"], headers[0]["anthropic-version"]) == (CANARY, "2023-06-01")
    assert "Authorization" not in headers[0]
    assert bodies == [
        {
            "model": "m",
            "max_tokens": 4096,
            "system": "Judge.",
            "messages": [{"role": "user", "content": CALL.messages[1].content}],
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        }
    ]


def test_decoding_parameters_and_extra_body_are_sent() -> None:
    reply = says(message([{"type": "text", "text": TEXT}]))
    _, bodies, _, _ = run_script(reply, temperature=0.2, top_p=0.8, max_tokens=99, seed=3, body={"service_tier": "x"})

    sent = {name: bodies[0][name] for name in ("temperature", "top_p", "max_tokens", "service_tier")}
    assert sent == {"temperature": 0.2, "top_p": 0.8, "max_tokens": 99, "service_tier": "x"}
    assert "seed" not in bodies[0]


THINKING = [
    {"type": "thinking", "thinking": "Let me see.", "signature": "s"},
    {"type": "text", "text": "a"},
    {"type": "text", "text": "b"},
]


@each(
    ("document", "text", "finish_reason"),
    [
        (message(THINKING), "ab", "stop"),
        (message([{"type": "text", "text": "x"}], "stop_sequence"), "x", "stop"),
        (message([{"type": "text", "text": "x"}], "max_tokens"), "x", "length"),
        (message([{"type": "text", "text": "x"}], "model_context_window_exceeded"), "x", "length"),
        (message([], "refusal"), "", "refusal"),
        (message([{"type": "text", "text": "No."}], "refusal"), "No.", "refusal"),
        (message([], "end_turn"), "", "stop"),
        (message([{"type": "tool_use", "name": "grade", "input": {"a": 1}}], "tool_use"), "", "tool_calls"),
        (message([{"type": "text", "text": "é🙂"}], "pause_turn"), "é🙂", "pause_turn"),
        (message("plain"), "plain", "stop"),
    ],
)
def test_blocks_and_stop_reasons_are_read(document: Any, text: str, finish_reason: str) -> None:
    answer, _, _, _ = run_script(says(document))

    assert (answer.reply.text, answer.finish_reason) == (text, finish_reason)


def test_thinking_and_tools_are_kept_beside_the_reply() -> None:
    tool = {"type": "tool_use", "name": "grade", "input": {"a": 1}}
    answer, _, _, _ = run_script(says(message([*THINKING, tool])))

    assert answer.reply.details["reasoning"] == "Let me see."
    assert answer.reply.details["tool_calls"] == [{"name": "grade", "arguments": {"a": 1}}]


def test_input_tokens_count_the_whole_prompt_cache_included() -> None:
    answer, _, _, _ = run_script(says(message([{"type": "text", "text": TEXT}]), headers={"request-id": "req_7"}))

    assert answer.usage == Usage(100, 9, 50, 30)
    assert (answer.request_id, answer.model) == ("req_7", "m-20260101")


def test_a_model_without_structured_output_is_asked_without_it_from_then_on() -> None:
    refusal = says(anthropic_error("invalid_request_error", "output_config: Extra inputs are not permitted"), 400)
    answer, bodies, _, _ = run_script(refusal, says(message([{"type": "text", "text": TEXT}])))

    assert ["output_config" in body for body in bodies] == [True, False]
    assert (answer.reply.details["schema"], answer.reply.details["requests"]) == ("none", 2)


@pytest.mark.parametrize(
    ("status", "document", "is_overload"),
    [
        (529, anthropic_error("overloaded_error", "Overloaded"), True),
        (429, anthropic_error("rate_limit_error", "This request would exceed your rate limit"), True),
        (500, anthropic_error("api_error", "Internal server error"), False),
        (200, message([], None), False),
        (200, message(None), False),
        (200, anthropic_error("api_error", "late failure"), False),
    ],
)
def test_what_passes_is_worth_another_try(status: int, document: Any, is_overload: bool) -> None:
    with pytest.raises(TransientJudgeError) as caught:
        run_script(says(document, status))

    assert caught.value.is_overload is is_overload


@each(
    ("status", "document", "concerns_everything"),
    [
        (401, anthropic_error("authentication_error", "invalid x-api-key"), True),
        (403, anthropic_error("permission_error", "Your API key does not have permission"), True),
        (404, anthropic_error("not_found_error", "model: m"), True),
        (413, anthropic_error("request_too_large", "Request exceeds the maximum size"), False),
        (400, anthropic_error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), False),
        (400, anthropic_error("invalid_request_error", "messages.0.content: text is empty"), False),
        (400, anthropic_error("invalid_request_error", "max_tokens: 9999999 > 8192, the maximum allowed"), True),
        (400, anthropic_error("invalid_request_error", "Your credit balance is too low"), True),
    ],
)
def test_what_stays_stops_the_run_or_loses_its_sample(status: int, document: Any, concerns_everything: bool) -> None:
    with pytest.raises(PermanentJudgeError) as caught:
        run_script(says(document, status))

    assert caught.value.concerns_everything is concerns_everything
    assert document["error"]["message"] in str(caught.value)
