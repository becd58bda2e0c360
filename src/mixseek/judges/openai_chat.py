"""The chat completions wire format: OpenAI, vLLM, Ollama, llama.cpp, OpenRouter, Azure and their likes."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.calls import Call, Usage
from mixseek.judges.endpoints import Target
from mixseek.judges.wire import Dialect, NoReplyError, Reading, SchemaMode, count, mapping, text_or_none

_SCHEMA_NAME = "judgment"
# OpenRouter and newer vLLM say `reasoning`, DeepSeek, SGLang and llama.cpp `reasoning_content`.
_REASONING_NAMES = ("reasoning_content", "reasoning")


class OpenAIChat:
    """POST {base_url}/chat/completions."""

    path = "/chat/completions"
    models_path = "/models"

    def headers(self, target: Target) -> dict[str, str]:
        """Bearer token, or the bare key in the header that the endpoint names."""
        if target.key is None:
            return {}
        key = target.key.reveal()
        return {target.key_header: f"Bearer {key}" if target.key_header == "Authorization" else key}

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """Only what was set is sent: an endpoint's defaults stay its own."""
        settings = target.settings
        body: dict[str, Any] = {
            "model": target.model,
            "messages": [{"role": message.role, "content": message.content} for message in call.messages],
        }
        if settings.temperature is not None:
            body["temperature"] = settings.temperature
        if settings.top_p is not None:
            body["top_p"] = settings.top_p
        if settings.max_tokens is not None:
            body[dialect.limit_parameter] = settings.max_tokens
        if settings.seed is not None:
            # The same seed would make the repeats of a judgment one and the same reply.
            body["seed"] = settings.seed + call.take - 1
        if call.reply_schema and dialect.schema is not SchemaMode.NONE:
            body["response_format"] = _response_format(call.reply_schema, dialect.schema)
        body.update(settings.body)
        return body

    def schema_modes(self) -> tuple[SchemaMode, ...]:
        """Every step is accepted by somebody who refuses the one before."""
        return (SchemaMode.JSON_SCHEMA, SchemaMode.JSON_OBJECT, SchemaMode.NONE)

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """As it stands in the document."""
        return _usage(mapping(document.get("usage")))

    def read(self, document: Mapping[str, Any]) -> Reading:
        """The first choice; a refusal's own words are its text."""
        if document.get("error"):
            raise _error_in(document)
        choices = document.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            raise NoReplyError("answered without any choice")
        choice: dict[str, Any] = choices[0]
        if choice.get("error"):
            raise _error_in(choice)
        message = mapping(choice.get("message"))
        if not message:
            raise NoReplyError("answered with a choice that holds no message")
        finish_reason = text_or_none(choice.get("finish_reason"))
        text, extra = _text_of(message.get("content")), _extra(message)
        refusal = text_or_none(message.get("refusal")) or _refusal_part(message.get("content"))
        if refusal is not None and not text:
            text, finish_reason = refusal, "refusal"
        elif "tool_calls" in extra and not text:
            finish_reason = "tool_calls"
        return Reading(
            text=text,
            finish_reason=finish_reason,
            usage=self.usage(document),
            model=text_or_none(document.get("model")),
            request_id=text_or_none(document.get("id")),
            extra=extra,
        )


def _response_format(schema: Mapping[str, Any], mode: SchemaMode) -> dict[str, Any]:
    if mode is SchemaMode.JSON_OBJECT:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": _SCHEMA_NAME, "strict": True, "schema": schema}}


def _text_of(content: Any) -> str:
    """A string, or the text parts of a list in order; everything else is no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part if isinstance(part, str) else mapping(part).get("text") for part in content)
    return "".join(part for part in parts if isinstance(part, str))


def _refusal_part(content: Any) -> str | None:
    if not isinstance(content, list):
        return None
    return next((text for part in content if (text := text_or_none(mapping(part).get("refusal")))), None)


def _extra(message: Mapping[str, Any]) -> dict[str, Any]:
    """What was paid for beside the text: kept, never taken for the reply."""
    extra: dict[str, Any] = {}
    reasoning = next((text for name in _REASONING_NAMES if (text := text_or_none(message.get(name)))), None)
    if reasoning is not None:
        extra["reasoning"] = reasoning
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        functions = [mapping(mapping(call).get("function")) for call in calls]
        extra["tool_calls"] = [{"name": f.get("name"), "arguments": f.get("arguments")} for f in functions]
    return extra


def _usage(usage: Mapping[str, Any]) -> Usage:
    cached = count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
    if cached is None:
        cached = count(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
    return Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")), cached)


def _error_in(holder: Mapping[str, Any]) -> NoReplyError:
    """Gateways wrap an upstream failure into a 200; its code is the status that was meant."""
    error = holder["error"]
    if not isinstance(error, dict):
        return NoReplyError(str(error))
    code = error.get("code")
    is_status = isinstance(code, int) and 400 <= code < 600
    return NoReplyError(str(error.get("message") or error), code if is_status else None)
