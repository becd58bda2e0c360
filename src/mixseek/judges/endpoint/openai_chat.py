"""The chat completions wire format: OpenAI, vLLM, Ollama, llama.cpp, OpenRouter, Azure and their likes."""

from collections.abc import Iterable, Mapping, Sequence
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
from mixseek.judges.endpoint.openai_responses import is_response, read_response, response_usage
from mixseek.judges.endpoint.prompt_cache import Piece, pieces_of, prefix_key, wants_breakpoints

# OpenRouter and newer vLLM say `reasoning`, DeepSeek, SGLang and llama.cpp `reasoning_content`.
_REASONING_NAMES = ("reasoning_content", "reasoning")


class OpenAIChat:
    """POST {base_url}/chat/completions."""

    path = "/chat/completions"
    models_path = "/models"
    # Every step is accepted by somebody who refuses the one before.
    schema_modes = (SchemaMode.JSON_SCHEMA, SchemaMode.JSON_OBJECT, SchemaMode.NONE)
    headers: Mapping[str, str] = {}

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """The request; extra body entries of the settings win."""
        sampling = decoding(target.settings, call.take, call.max_tokens)
        body: dict[str, Any] = {"model": target.model, "messages": turns_of(call.messages), **sampling}
        if dialect.marks_prefix:
            body |= _marking(call.messages, target.model)
        if "max_tokens" in body:
            body[dialect.limit_parameter] = body.pop("max_tokens")
        if call.reply_schema and dialect.schema is not SchemaMode.NONE:
            is_whole = dialect.schema is SchemaMode.JSON_SCHEMA
            body["response_format"] = schema_format(call.reply_schema) if is_whole else {"type": "json_object"}
        # Of a reply whose verdict stands in no field of its own they would say nothing.
        if call.verdict_fields and (most := min(target.top_logprobs, dialect.most_logprobs)):
            body |= {"logprobs": True, "top_logprobs": most}
        return {**body, **target.settings.body}

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """What the endpoint counted, also where the document holds no reply."""
        if is_response(document):
            return response_usage(document)
        usage = mapping(document.get("usage"))
        details = mapping(usage.get("prompt_tokens_details"))
        cached, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
        if cached is None:
            cached = count(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
        thought = count(mapping(usage.get("completion_tokens_details")).get("reasoning_tokens"))
        sums = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        return Usage(*sums, cached, written, thought or None)

    def read(self, document: Mapping[str, Any]) -> ReadAnswer:
        """The first choice; a refusal's own words are its text."""
        if document.get("error"):
            raise error_in(document)
        if is_response(document):
            return read_response(document)
        choice = next(iter(items(document.get("choices"))), {})
        if choice.get("error"):
            raise error_in(choice)
        message = mapping(choice.get("message"))
        if not message:
            raise NoReplyError("answered without any choice that holds a message")
        finish_reason = text_or_none(choice.get("finish_reason"))
        functions = [mapping(call.get("function")) for call in items(message.get("tool_calls"))]
        calls = [{"name": function.get("name"), "arguments": function.get("arguments")} for function in functions]
        content = message.get("content")
        thought = first_text((*map(message.get, _REASONING_NAMES), thinking_of(content)))
        text, extra = text_of(content), extra_of(thought, calls)
        if not text:
            refusal = first_text(part.get("refusal") for part in (message, *items(message.get("content"))))
            if refusal is not None:
                text, finish_reason = refusal, "refusal"
            elif calls:
                finish_reason = "tool_calls"
        reading = reading_of(document, text, finish_reason, self.usage(document), extra)
        return reading._replace(logprobs=mapping(choice.get("logprobs")).get("content"))


def _marking(messages: Sequence[Message], model: str) -> dict[str, Any]:
    """Prompts that begin alike go to one machine; newer models are told where the beginning ends, and cache no more."""
    key = prefix_key(messages)
    if key is None:
        return {}
    marking: dict[str, Any] = {"prompt_cache_key": key}
    if wants_breakpoints(model):
        turns = zip(messages, pieces_of(messages, model), strict=True)
        marking["prompt_cache_options"] = {"mode": "explicit"}
        marking["messages"] = [{"role": turn.role, "content": _content_of(turn, pieces)} for turn, pieces in turns]
    return marking


def _content_of(message: Message, pieces: Sequence[Piece]) -> str | list[dict[str, Any]]:
    """Text, unless a part of it is marked."""
    if not any(piece.is_marked for piece in pieces):
        return message.content
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    return [{"type": "text", "text": piece.text, **(mark if piece.is_marked else {})} for piece in pieces]


def turns_of(messages: Iterable[Message]) -> list[dict[str, str]]:
    """The turns as both formats, and llama.cpp, want them."""
    return [{"role": message.role, "content": message.content} for message in messages]


def schema_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A `response_format` that the reply must fit."""
    return {"type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": schema}}


def text_of(content: Any) -> str:
    """A string, or the text parts of a list in order; everything else is no text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return joined(part if isinstance(part, str) else mapping(part).get("text") for part in content)


def thinking_of(content: Any) -> str:
    """What stands in the thinking parts of a list, as Mistral gives it: a text, or text parts again."""
    return joined(text_of(part.get("thinking")) for part in items(content))


def first_text(values: Iterable[Any]) -> str | None:
    return next((text for value in values if (text := text_or_none(value))), None)


def reading_of(
    document: Mapping[str, Any], text: str, finish_reason: str | None, usage: Usage, extra: Mapping[str, Any]
) -> ReadAnswer:
    model, request_id = text_or_none(document.get("model")), text_or_none(document.get("id"))
    return ReadAnswer(text, finish_reason, usage, model, request_id, extra)


def extra_of(reasoning: str | None, tool_calls: list[dict[str, Any]]) -> dict[str, Any]:
    """What was paid for beside the text: kept, never taken for the reply."""
    extra: dict[str, Any] = {"reasoning": reasoning} if reasoning else {}
    if tool_calls:
        extra["tool_calls"] = tool_calls
    return extra


def error_in(holder: Mapping[str, Any]) -> NoReplyError:
    """Gateways wrap an upstream failure into a 200; its code is the status that was meant."""
    error = holder.get("error") or "answered with an error"
    details = mapping(error)
    code = count(details.get("code"))
    return NoReplyError(str(details.get("message") or error), code if code and 400 <= code < 600 else None)
