"""Answers in the shapes that endpoints really use, written for these tests."""

from typing import Any

TEXT = '{"is_correct": true}'


def completion(message: dict[str, Any], finish_reason: str | None = "stop", **changes: Any) -> dict[str, Any]:
    """A chat completion around one assistant message."""
    return {
        "id": "chatcmpl-B1",
        "object": "chat.completion",
        "created": 1760000000,
        "model": "m-2026-01-01",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "annotations": [], **message},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
        "usage": {
            "prompt_tokens": 120,
            "completion_tokens": 30,
            "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 12},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_1",
    } | changes


def openai_error(message: str, kind: str = "invalid_request_error", **fields: Any) -> dict[str, Any]:
    """An error as OpenAI writes it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None} | fields}


def message(content: Any, stop_reason: str | None = "end_turn", **changes: Any) -> dict[str, Any]:
    """An Anthropic message around content blocks."""
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": "m-20260101",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 20,
            "cache_creation_input_tokens": 30,
            "cache_read_input_tokens": 50,
            "output_tokens": 9,
            "service_tier": "standard",
        },
    } | changes


def anthropic_error(kind: str, text: str) -> dict[str, Any]:
    """An error as Anthropic writes it."""
    return {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_1"}
