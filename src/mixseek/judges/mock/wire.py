"""How the mock speaks and what it keeps count of."""

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mixseek.errors import ConfigurationError
from mixseek.judges.mock.replies import Fault, Prompt, Said, make_prompt

# What the loopback judge remembers: counters for /stats, and a log with a line for each request and each answer.

_EXCERPT = 200


class MockRecords:
    """Numbers requests from 1 on. The log is flushed line by line: a test reads it while the server runs."""

    def __init__(self, log: Path | None) -> None:
        self._log: BinaryIO | None = _open(log) if log is not None else None
        self._begun = time.monotonic()
        # Never begins again: a request that outlives a reset keeps its own number.
        self._number = 0
        self._in_flight: set[int] = set()
        self.reset()

    def reset(self) -> None:
        """Counters and memory of requests, so that the same requests meet the same faults again; the log goes on."""
        self.requests = 0
        self.max_in_flight = len(self._in_flight)
        self._abandoned = 0
        self._times_seen: dict[bytes, int] = {}
        self._faults: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()

    @property
    def in_flight(self) -> int:
        return len(self._in_flight)

    def received(self, digest: bytes, wire: str, model: str, question: str) -> tuple[int, int]:
        """The request's number, and how often this very request had come before."""
        self.requests += 1
        self._number += 1
        times_seen = self._times_seen.get(digest, 0)
        self._times_seen[digest] = times_seen + 1
        self._in_flight.add(self._number)
        self.max_in_flight = max(self.max_in_flight, len(self._in_flight))
        self._write(
            event="received",
            number=self._number,
            request=digest.hex(),
            times_seen=times_seen,
            wire=wire,
            model=model,
            question=question[:_EXCERPT],
        )
        return self._number, times_seen

    def answered(self, number: int, status: int, fault: Fault | None, is_correct: bool | None) -> None:
        """Status 0 is a dropped connection."""
        self._in_flight.discard(number)
        self._statuses[str(status)] += 1
        if fault is not None:
            self._faults[fault.value] += 1
        self._write(event="answered", number=number, status=status, fault=fault, is_correct=is_correct)

    def abandoned(self, number: int) -> None:
        """The client went away before it had its answer."""
        self._in_flight.discard(number)
        self._abandoned += 1
        self._write(event="abandoned", number=number)

    def summary(self) -> dict[str, Any]:
        """What GET /stats says. `seen`: how many requests came once, twice, …"""
        return {
            "requests": self.requests,
            "distinct": len(self._times_seen),
            "repeated": self.requests - len(self._times_seen),
            "seen": {str(times): count for times, count in sorted(Counter(self._times_seen.values()).items())},
            "answered": dict(sorted(self._statuses.items())),
            "abandoned": self._abandoned,
            "faults": dict(sorted(self._faults.items())),
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
        }

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def _write(self, **fields: Any) -> None:
        if self._log is not None:
            seconds = round(time.monotonic() - self._begun, 6)
            self._log.write(orjson.dumps({**fields, "seconds": seconds}, default=str) + b"\n")


def _open(path: Path) -> BinaryIO:
    """Unbuffered, so that what was written is there for others; appended to, so that a restart loses nothing."""
    try:
        return path.open("ab", buffering=0)
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot write the request log ({error.strerror})") from error


# The two wire formats that the loopback judge speaks, both ways: requests read, answers and errors written.

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


class OpenAIChat:
    """POST /v1/chat/completions."""

    name = "openai"
    request_id_header = "x-request-id"

    def read(self, payload: Any) -> Prompt:
        """Raises ValueError with a line for the caller when a request is not of this format."""
        model, turns = _model_and_turns(payload)
        form = _mapping(payload.get("response_format"))
        schema = _mapping(_mapping(form.get("json_schema")).get("schema"))
        return make_prompt(model, turns, schema if form.get("type") == "json_schema" else None)

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

    def read(self, payload: Any) -> Prompt:
        """Raises ValueError with a line for the caller when a request is not of this format."""
        model, turns = _model_and_turns(payload)
        if not isinstance(payload.get("max_tokens"), int):
            raise ValueError("max_tokens: Field required")  # noqa: TRY004  the caller's mistake, told over the wire
        if any(role == "system" for role, _ in turns):
            raise ValueError(
                "messages: Unexpected role 'system'; the Messages API takes a top-level `system` parameter"
            )
        turns.insert(0, ("system", _text(payload.get("system", ""))))
        form = payload.get("output_format", _mapping(payload.get("output_config")).get("format"))
        wants_schema = "output_config" in payload or "output_format" in payload
        return make_prompt(model, turns, _mapping(_mapping(form).get("schema")) if wants_schema else None)

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


WireFormat = OpenAIChat | AnthropicMessages
# By how the path of a request ends.
WIRE_FORMATS: Mapping[str, WireFormat] = {"/chat/completions": OpenAIChat(), "/messages": AnthropicMessages()}
# GET /v1/models: any model name is answered, one is listed.
MODELS = orjson.dumps({"object": "list", "data": [{"id": "mock", "object": "model", "owned_by": "mixseek"}]})


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _model_and_turns(payload: Any) -> tuple[str, list[tuple[str, str]]]:
    if not isinstance(payload, dict):
        raise ValueError("the body is not a JSON object")  # noqa: TRY004  as above
    model, messages = payload.get("model"), payload.get("messages")
    if not isinstance(model, str) or not model:
        raise ValueError("you must provide a model parameter")
    if payload.get("stream"):
        raise ValueError("the mock judge does not stream; leave `stream` out")
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages: at least one message is required")
    if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
        raise ValueError("messages: every message needs a role")
    return model, [(message["role"], _text(message.get("content"))) for message in messages]


def _text(content: Any) -> str:
    """A string, or the text of a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return ""
