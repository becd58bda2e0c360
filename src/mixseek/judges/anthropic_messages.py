"""The Anthropic Messages wire format."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.calls import Call, Usage
from mixseek.judges.endpoints import Target
from mixseek.judges.wire import Dialect, NoReplyError, Reading, SchemaMode, count, mapping, text_or_none

API_VERSION = "2023-06-01"
# The format demands a number; a judgment with its reasons fits several times over.
DEFAULT_MAX_TOKENS = 4096
# One word for one thing in journals and reports, whatever the endpoint calls it.
_FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
}


class AnthropicMessages:
    """POST {base_url}/v1/messages."""

    path = "/v1/messages"
    models_path = "/v1/models"

    def headers(self, target: Target) -> dict[str, str]:
        """The version is part of every request."""
        headers = {"anthropic-version": API_VERSION}
        if target.key is not None:
            headers["x-api-key"] = target.key.reveal()
        return headers

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """System turns stand apart; the format has no seed."""
        settings = target.settings
        system = "\n\n".join(message.content for message in call.messages if message.role == "system")
        body: dict[str, Any] = {
            "model": target.model,
            "max_tokens": settings.max_tokens if settings.max_tokens is not None else DEFAULT_MAX_TOKENS,
            "messages": [
                {"role": message.role, "content": message.content}
                for message in call.messages
                if message.role != "system"
            ],
        }
        if system:
            body["system"] = system
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.top_p is not None:
            body["top_p"] = settings.top_p
        if call.reply_schema and dialect.schema is SchemaMode.JSON_SCHEMA:
            body["output_config"] = {"format": {"type": "json_schema", "schema": call.reply_schema}}
        body.update(settings.body)
        return body

    def schema_modes(self) -> tuple[SchemaMode, ...]:
        """There is no mode between a schema and nothing."""
        return (SchemaMode.JSON_SCHEMA, SchemaMode.NONE)

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """As it stands in the document."""
        return _usage(mapping(document.get("usage")))

    def read(self, document: Mapping[str, Any]) -> Reading:
        """The text blocks in order; thinking and tool blocks are kept beside them."""
        if document.get("type") == "error" or document.get("error"):
            error = mapping(document.get("error"))
            raise NoReplyError(str(error.get("message") or document.get("error") or "answered with an error"))
        content = document.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            raise NoReplyError("answered without any content")
        blocks = [mapping(block) for block in content]
        stop_reason = text_or_none(document.get("stop_reason"))
        if not blocks and stop_reason is None:
            raise NoReplyError("answered with empty content and no reason to stop")
        return Reading(
            text=_joined(blocks, "text", "text"),
            finish_reason=_FINISH_REASONS.get(stop_reason or "", stop_reason),
            usage=self.usage(document),
            model=text_or_none(document.get("model")),
            request_id=text_or_none(document.get("id")),
            extra=_extra(blocks),
        )


def _joined(blocks: list[Mapping[str, Any]], kind: str, name: str) -> str:
    texts = (block.get(name) for block in blocks if block.get("type") == kind)
    return "".join(text for text in texts if isinstance(text, str))


def _extra(blocks: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What was paid for beside the text: kept, never taken for the reply."""
    extra: dict[str, Any] = {}
    thinking = _joined(blocks, "thinking", "thinking")
    if thinking:
        extra["reasoning"] = thinking
    tools = [block for block in blocks if block.get("type") == "tool_use"]
    if tools:
        extra["tool_calls"] = [{"name": block.get("name"), "arguments": block.get("input")} for block in tools]
    return extra


def _usage(usage: Mapping[str, Any]) -> Usage:
    """`input_tokens` counts what was neither read from nor written to the cache; ours counts the whole prompt."""
    fresh = count(usage.get("input_tokens"))
    read = count(usage.get("cache_read_input_tokens"))
    written = count(usage.get("cache_creation_input_tokens"))
    total = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(total, count(usage.get("output_tokens")), read)
