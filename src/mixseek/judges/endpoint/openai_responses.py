"""Answers of OpenAI's Responses interface, which other tools' batches hold; asked for is always a chat completion."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.ports import Usage
from mixseek.judges.endpoint.answers import NoReplyError, ReadAnswer, count, items, joined, mapping, text_or_none

_REASONS = {"max_output_tokens": "length", "content_filter": "content_filter"}


def is_response(document: Mapping[str, Any]) -> bool:
    return document.get("object") == "response" and isinstance(document.get("output"), list)


def response_usage(document: Mapping[str, Any]) -> Usage:
    """The same counts under other names."""
    usage = mapping(document.get("usage"))
    sent, replied = mapping(usage.get("input_tokens_details")), mapping(usage.get("output_tokens_details"))
    return Usage(
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        count(sent.get("cached_tokens")),
        count(sent.get("cache_write_tokens")) or None,
        count(replied.get("reasoning_tokens")) or None,
    )


def read_response(document: Mapping[str, Any]) -> ReadAnswer:
    """The text parts of its messages in order; a refusal's own words are its text."""
    outputs = items(document.get("output"))
    parts = [part for item in outputs if item.get("type") == "message" for part in items(item.get("content"))]
    status = text_or_none(document.get("status"))
    incomplete = text_or_none(mapping(document.get("incomplete_details")).get("reason"))
    if not parts and status == "completed":
        raise NoReplyError("answered without any message")
    text = joined(part.get("text") for part in parts if part.get("type") == "output_text")
    refusal = joined(part.get("refusal") for part in parts if part.get("type") == "refusal")
    reason = "refusal" if refusal else _REASONS.get(incomplete or "", incomplete) or "stop"
    names = text_or_none(document.get("model")), text_or_none(document.get("id"))
    tokens = [token for part in parts for token in items(part.get("logprobs"))]
    return ReadAnswer(text or refusal, reason, response_usage(document), *names, {}, tokens or None)
