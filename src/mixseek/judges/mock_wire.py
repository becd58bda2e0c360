"""The two wire formats that the loopback judge speaks, both ways: requests read, answers and errors written."""

from collections.abc import Mapping
from typing import Any, Protocol

import orjson

from mixseek.judges.mock_answers import Prompt, Said, make_prompt

_OPENAI_ERRORS: Mapping[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    429: ("rate_limit_exceeded", "rate_limit_exceeded"),
}
_ANTHROPIC_ERRORS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
}
_STOP_REASONS: Mapping[str, str] = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}


class WireFormat(Protocol):
    """One dialect. `read` raises ValueError with a line for the caller when a request is not of this dialect."""

    @property
    def name(self) -> str: ...

    @property
    def request_id_header(self) -> str: ...

    def read(self, payload: Mapping[str, Any]) -> Prompt: ...

    def key_in(self, headers: Mapping[str, str]) -> str: ...

    def answer(self, prompt: Prompt, said: Said, number: int) -> bytes: ...

    def error(self, status: int, message: str) -> bytes: ...


class OpenAIChat:
    """POST /v1/chat/completions."""

    name = "openai"
    request_id_header = "x-request-id"

    def read(self, payload: Mapping[str, Any]) -> Prompt:
        form = payload.get("response_format")
        wants_schema = isinstance(form, dict) and form.get("type") == "json_schema"
        schema = _mapping(_mapping(_mapping(form).get("json_schema")).get("schema")) if wants_schema else None
        return make_prompt(_model(payload), _turns(payload), schema)

    def key_in(self, headers: Mapping[str, str]) -> str:
        return headers.get("Authorization", "").removeprefix("Bearer ")

    def answer(self, prompt: Prompt, said: Said, number: int) -> bytes:
        refused = said.finish_reason == "refusal"
        message = {
            "role": "assistant",
            "content": None if refused else said.text,
            "refusal": said.text if refused else None,
        }
        finish = "stop" if refused else said.finish_reason
        return orjson.dumps(
            {
                "id": f"chatcmpl-mock-{number}",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": prompt.model,
                "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
                "usage": {
                    "prompt_tokens": said.input_tokens,
                    "completion_tokens": said.output_tokens,
                    "total_tokens": said.input_tokens + said.output_tokens,
                    "prompt_tokens_details": {"cached_tokens": 0},
                },
            }
        )

    def error(self, status: int, message: str) -> bytes:
        kind, code = _OPENAI_ERRORS.get(status, ("server_error", None))
        return orjson.dumps({"error": {"message": message, "type": kind, "param": None, "code": code}})


class AnthropicMessages:
    """POST /v1/messages."""

    name = "anthropic"
    request_id_header = "request-id"

    def read(self, payload: Mapping[str, Any]) -> Prompt:
        if not isinstance(payload.get("max_tokens"), int):
            raise ValueError("max_tokens: Field required")  # noqa: TRY004  the caller's mistake, told over the wire
        turns = _turns(payload)
        if any(role == "system" for role, _ in turns):
            raise ValueError(
                "messages: Unexpected role 'system'; the Messages API takes a top-level `system` parameter"
            )
        turns.insert(0, ("system", _text(payload.get("system", ""))))
        form = payload.get("output_format", _mapping(payload.get("output_config")).get("format"))
        wants_schema = any(name in payload for name in ("output_config", "output_format"))
        return make_prompt(_model(payload), turns, _mapping(_mapping(form).get("schema")) if wants_schema else None)

    def key_in(self, headers: Mapping[str, str]) -> str:
        return headers.get("x-api-key", "")

    def answer(self, prompt: Prompt, said: Said, number: int) -> bytes:
        return orjson.dumps(
            {
                "id": f"msg_mock_{number}",
                "type": "message",
                "role": "assistant",
                "model": prompt.model,
                "content": [{"type": "text", "text": said.text}],
                "stop_reason": _STOP_REASONS[said.finish_reason],
                "stop_sequence": None,
                "usage": {
                    "input_tokens": said.input_tokens,
                    "output_tokens": said.output_tokens,
                    "cache_read_input_tokens": 0,
                    "cache_creation_input_tokens": 0,
                },
            }
        )

    def error(self, status: int, message: str) -> bytes:
        kind = _ANTHROPIC_ERRORS.get(status, "api_error")
        return orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})


WIRE_FORMATS: Mapping[str, WireFormat] = {"/chat/completions": OpenAIChat(), "/messages": AnthropicMessages()}


def list_models() -> bytes:
    """GET /v1/models: any model name is answered, one is listed."""
    return orjson.dumps({"object": "list", "data": [{"id": "mock", "object": "model", "owned_by": "mixseek"}]})


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _model(payload: Mapping[str, Any]) -> str:
    model = payload.get("model")
    if not isinstance(model, str) or not model:
        raise ValueError("you must provide a model parameter")
    if payload.get("stream"):
        raise ValueError("the mock judge does not stream; leave `stream` out")
    return model


def _turns(payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    messages = payload.get("messages")
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages: at least one message is required")
    if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
        raise ValueError("messages: every message needs a role")
    return [(message["role"], _text(message.get("content"))) for message in messages]


def _text(content: Any) -> str:
    """A string, or the text of a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return ""
