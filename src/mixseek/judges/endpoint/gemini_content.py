"""Gemini's own wire format: the only one in which it takes batches."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.ports import Call, Usage
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
from mixseek.judges.endpoint.openai_chat import error_in, extra_of

_FINISH_REASONS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    **dict.fromkeys(("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION"), "content_filter"),
}
_PARAMETERS = {"temperature": "temperature", "top_p": "topP", "max_tokens": "maxOutputTokens", "seed": "seed"}


class GeminiContent:
    """POST {root}/models/MODEL:generateContent, and the `request` of a line in a batch."""

    path = ":generateContent"
    models_path = "/models"
    schema_modes = (SchemaMode.JSON_SCHEMA, SchemaMode.JSON_OBJECT, SchemaMode.NONE)
    headers: Mapping[str, str] = {}

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """Answers of a conversation are `model` turns here; a table's extra body is added as it stands."""
        system = [message.content for message in call.messages if message.role == "system"]
        turns = [message for message in call.messages if message.role != "system"]
        contents = [
            {"role": "model" if turn.role == "assistant" else "user", "parts": [{"text": turn.content}]}
            for turn in turns
        ]
        sampling = decoding(target.settings, call.take, call.max_tokens)
        config: dict[str, Any] = {_PARAMETERS[name]: value for name, value in sampling.items() if name in _PARAMETERS}
        if (effort := sampling.get("reasoning_effort")) is not None:
            config["thinkingConfig"] = {"thinkingLevel": effort}
        if call.reply_schema and dialect.schema is not SchemaMode.NONE:
            config["responseMimeType"] = "application/json"
            if dialect.schema is SchemaMode.JSON_SCHEMA:
                config["responseJsonSchema"] = call.reply_schema
        body: dict[str, Any] = {"contents": contents}
        if system:
            body["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
        if config:
            body["generationConfig"] = config
        return {**body, **target.settings.body}

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """Thoughts are billed as output and counted apart."""
        usage = mapping(document.get("usageMetadata"))
        sent, cached = count(usage.get("promptTokenCount")), count(usage.get("cachedContentTokenCount"))
        written, thought = count(usage.get("candidatesTokenCount")), count(usage.get("thoughtsTokenCount"))
        # Where nothing was written the field is left out.
        output = None if sent is None else (written or 0) + (thought or 0)
        return Usage(sent, output, cached, reasoning_tokens=thought)

    def read(self, document: Mapping[str, Any]) -> ReadAnswer:
        """The parts of the first candidate; thoughts are kept beside them."""
        if document.get("error"):
            raise error_in(document)
        candidate = next(iter(items(document.get("candidates"))), {})
        blocked = text_or_none(mapping(document.get("promptFeedback")).get("blockReason"))
        if not candidate and blocked is None:
            raise NoReplyError("answered without any candidate")
        parts = items(mapping(candidate.get("content")).get("parts"))
        text = joined(part.get("text") for part in parts if not part.get("thought"))
        thought = joined(part.get("text") for part in parts if part.get("thought"))
        reason = text_or_none(candidate.get("finishReason"))
        finish_reason = "content_filter" if blocked else _FINISH_REASONS.get(reason or "", reason)
        model, request_id = text_or_none(document.get("modelVersion")), text_or_none(document.get("responseId"))
        return ReadAnswer(text, finish_reason, self.usage(document), model, request_id, extra_of(thought, []))
