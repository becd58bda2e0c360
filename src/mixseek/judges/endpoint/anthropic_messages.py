"""The Anthropic Messages wire format."""

from collections.abc import Mapping, Sequence
from typing import Any

from mixseek.domain.ports import Call, Message, Usage
from mixseek.judges.endpoint.address import Target
from mixseek.judges.endpoint.answers import (
    Dialect,
    NoReplyError,
    ReadAnswer,
    SchemaMode,
    count,
    decoding,
    items,
    joined,
    mapping,
    text_or_none,
)
from mixseek.judges.endpoint.openai_chat import error_in, extra_of, reading_of, turns_of
from mixseek.judges.endpoint.prompt_cache import Piece, pieces_of

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


def _marking(messages: Sequence[Message], model: str) -> dict[str, Any]:
    """System and messages in blocks, where there is an end of a constant beginning to mark; nothing where not."""
    pieces = pieces_of(messages, model)
    if not any(piece.is_marked for parts in pieces for piece in parts):
        return {}
    turns = list(zip(messages, pieces, strict=True))
    system = [block for message, parts in turns if message.role == "system" for block in _blocks(parts)]
    others = [
        # Text where nothing is marked in it, as everybody takes it.
        {"role": turn.role, "content": _blocks(parts) if any(part.is_marked for part in parts) else turn.content}
        for turn, parts in turns
        if turn.role != "system"
    ]
    return {"messages": others, **({"system": system} if system else {})}


def _blocks(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    mark = {"cache_control": {"type": "ephemeral"}}
    return [{"type": "text", "text": piece.text, **(mark if piece.is_marked else {})} for piece in pieces]


class AnthropicMessages:
    """POST {base_url}/v1/messages."""

    path = "/v1/messages"
    models_path = "/v1/models"
    # There is no mode between a schema and nothing.
    schema_modes = (SchemaMode.JSON_SCHEMA, SchemaMode.NONE)
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """System turns stand apart; the format has no seed."""
        system = [message.content for message in call.messages if message.role == "system"]
        body: dict[str, Any] = {
            "model": target.model,
            "max_tokens": DEFAULT_MAX_TOKENS,
            "messages": turns_of(message for message in call.messages if message.role != "system"),
            **decoding(target.settings, call.take, call.max_tokens),
        }
        body.pop("seed", None)
        effort = body.pop("reasoning_effort", None)
        if system:
            body["system"] = "\n\n".join(system)
        if dialect.marks_prefix:
            body |= _marking(call.messages, target.model)
        if call.reply_schema and dialect.schema is SchemaMode.JSON_SCHEMA:
            body["output_config"] = {"format": {"type": "json_schema", "schema": call.reply_schema}}
        if effort is not None:
            body["output_config"] = {**body.get("output_config", {}), "effort": effort}
        return {**body, **target.settings.body}

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """`input_tokens` counts what was neither read from nor written to the cache; ours counts the whole prompt."""
        usage = mapping(document.get("usage"))
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        fresh, read, written = (count(usage.get(name)) for name in names)
        total = None if fresh is None else fresh + (read or 0) + (written or 0)
        return Usage(total, count(usage.get("output_tokens")), read, written)

    def read(self, document: Mapping[str, Any]) -> ReadAnswer:
        """The text blocks in order; thinking and tool blocks are kept beside them."""
        if document.get("type") == "error" or document.get("error"):
            raise error_in(document)
        content, stop_reason = document.get("content"), text_or_none(document.get("stop_reason"))
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        if not isinstance(content, str | list) or not (blocks or stop_reason):
            raise NoReplyError("answered without any content and no reason to stop")
        used = [block for block in blocks if block.get("type") == "tool_use"]
        tools = [{"name": block.get("name"), "arguments": block.get("input")} for block in used]
        text = joined(block.get("text") for block in blocks if block.get("type") == "text")
        thinking = joined(block.get("thinking") for block in blocks if block.get("type") == "thinking")
        finish_reason = _FINISH_REASONS.get(stop_reason or "", stop_reason)
        return reading_of(document, text, finish_reason, self.usage(document), extra_of(thinking, tools))
