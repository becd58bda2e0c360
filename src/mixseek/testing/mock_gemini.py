"""Gemini's wire format: its requests name the model in the path, and may spell names in either of two ways."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, Field

from mixseek.judges.endpoint.answers import mapping
from mixseek.judges.endpoint.openai_chat import text_of
from mixseek.testing.mock_replies import MockReply
from mixseek.testing.prompts import Prompt, make_prompt


class _Content(BaseModel):
    parts: Sequence[Mapping[str, Any]] = Field(min_length=1)
    # What a chat calls the assistant is the model here.
    role: Literal["user", "model"] = "user"


class _SystemInstruction(BaseModel):
    parts: Sequence[Mapping[str, Any]] = ()


class _GenerateContentRequest(BaseModel):
    """What the mock reads of a request; the rest is let through."""

    contents: Sequence[_Content] = Field(min_length=1)
    system_instruction: _SystemInstruction = Field(
        default=_SystemInstruction(), validation_alias=AliasChoices("system_instruction", "systemInstruction")
    )
    generation_config: Mapping[str, Any] = Field(
        default={}, validation_alias=AliasChoices("generation_config", "generationConfig")
    )


class GeminiContent:
    """POST /v1beta/models/MODEL:generateContent."""

    name = "gemini"
    request_id_header = "x-request-id"
    key_header = "x-goog-api-key"
    # By HTTP status; what is not here is INTERNAL.
    _statuses: Mapping[int, str] = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
        503: "UNAVAILABLE",
    }
    _finish_reasons: Mapping[str, str] = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "STOP"}

    def read(self, body: bytes, model: str = "") -> Prompt:
        """Raises ValidationError when a request is not of this format; `model` is what the path names."""
        request = _GenerateContentRequest.model_validate_json(body)
        roles = {"user": "user", "model": "assistant"}
        system = text_of(list(request.system_instruction.parts))
        turns = [("system", system)] if system else []
        turns += [(roles[content.role], text_of(list(content.parts))) for content in request.contents]
        config = snake_cased(request.generation_config)
        schema = config.get("response_json_schema") or config.get("response_schema")
        return make_prompt(model, turns, _json_schema(mapping(schema)) if schema else None)

    def answer(self, prompt: Prompt, reply: MockReply, number: int) -> dict[str, Any]:
        content = {"parts": [{"text": reply.text}], "role": "model"}
        return {
            "candidates": [{"content": content, "finishReason": self._finish_reasons[reply.finish_reason], "index": 0}],
            "usageMetadata": {
                "promptTokenCount": reply.input_tokens,
                "candidatesTokenCount": reply.output_tokens,
                "totalTokenCount": reply.input_tokens + reply.output_tokens,
            },
            "modelVersion": prompt.model,
            "responseId": f"mock-{number}",
        }

    def error(self, status: int, message: str) -> dict[str, Any]:
        return {"error": {"code": status, "message": message, "status": self._statuses.get(status, "INTERNAL")}}


def snake_cased(document: Mapping[str, Any]) -> dict[str, Any]:
    """The names of an object as the interface's own files spell them; those within it stay as they are."""
    return {re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower(): value for name, value in document.items()}


def _json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of Gemini's own kind as JSON Schema writes it: small letters, and null among the types."""
    result: dict[str, Any] = dict(schema)
    kind = schema.get("type")
    if isinstance(kind, str):
        result["type"] = [kind.lower(), "null"] if schema.get("nullable") else kind.lower()
    if isinstance(schema.get("properties"), dict):
        result["properties"] = {name: _json_schema(mapping(inner)) for name, inner in schema["properties"].items()}
    if isinstance(schema.get("items"), dict):
        result["items"] = _json_schema(schema["items"])
    return result
