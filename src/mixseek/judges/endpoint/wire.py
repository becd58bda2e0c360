"""The two wire formats, OpenAI chat completions and Anthropic messages: requests out, answers in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.domain.calls import Answer, Call, Usage
from mixseek.domain.judgments import Reply
from mixseek.domain.ports import Message
from mixseek.judges.endpoint.address import Target
from mixseek.judges.endpoint.errors import Refusal
from mixseek.settings.models import JudgeSettings, WireFormat

_NO_MORE: Mapping[str, Any] = {}


class SchemaMode(StrEnum):
    """How the reply's shape is asked for, from the strictest to none."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one model behind one endpoint turned out to understand."""

    schema: SchemaMode
    limit_parameter: str


class ReadAnswer(NamedTuple):
    """An answer's document, read. `extra` goes to the reply's details."""

    text: str
    finish_reason: str | None
    usage: Usage
    model: str | None
    request_id: str | None
    extra: Mapping[str, Any] = _NO_MORE


class NoReplyError(Exception):
    """The document is well-formed and holds no reply; `status` is the HTTP status it would have deserved."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def count(value: Any) -> int | None:
    """A number of tokens as an endpoint wrote it; None for everything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def text_or_none(value: Any) -> str | None:
    """None for what is not text or is empty."""
    return value if isinstance(value, str) and value else None


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one: endpoints write null, lists and text in its place."""
    return value if isinstance(value, dict) else {}


def decoding(settings: JudgeSettings, take: int) -> dict[str, Any]:
    """Only what was set: an endpoint's defaults stay its own."""
    given = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": settings.max_tokens,
        # The same seed would make the repeats of a judgment one and the same reply.
        "seed": None if settings.seed is None else settings.seed + take - 1,
    }
    return {name: value for name, value in given.items() if value is not None}


class JudgeIdentity(NamedTuple):
    """`model` says who judged, whatever the judge is called: self-judging is derived from it."""

    name: str
    model: str


def make_answer(
    call: Call,
    judge: JudgeIdentity,
    reading: ReadAnswer,
    latency_seconds: float,
    schema: SchemaMode,
    requests: int = 1,
) -> Answer:
    """An answer as the engine and the journal want it."""
    usage = reading.usage
    details: dict[str, Any] = {
        "take": call.take,
        "ask": call.ask,
        "usage": usage._asdict(),
        "latency_seconds": round(latency_seconds, 4),
        "finish_reason": reading.finish_reason,
        "request_id": reading.request_id,
        "model": reading.model,
        "judge_model": judge.model,
        "schema": schema.value,
        "requests": requests,
        **reading.extra,
    }
    reply = Reply(reading.text, judge.name, attempt=call.ask, details=details)
    return Answer(reply, usage, latency_seconds, reading.finish_reason, reading.request_id, reading.model)


# The chat completions wire format: OpenAI, vLLM, Ollama, llama.cpp, OpenRouter, Azure and their likes.

# OpenRouter and newer vLLM say `reasoning`, DeepSeek, SGLang and llama.cpp `reasoning_content`.
_REASONING_NAMES = ("reasoning_content", "reasoning")


class OpenAIChat:
    """POST {base_url}/chat/completions."""

    path = "/chat/completions"
    models_path = "/models"
    # Every step is accepted by somebody who refuses the one before.
    schema_modes = (SchemaMode.JSON_SCHEMA, SchemaMode.JSON_OBJECT, SchemaMode.NONE)

    def headers(self, target: Target) -> dict[str, str]:
        """Bearer token, or the bare key in the header that the endpoint names."""
        if target.key is None:
            return {}
        key = target.key.reveal()
        return {target.key_header: f"Bearer {key}" if target.key_header == "Authorization" else key}

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """The request; extra body entries of the settings win."""
        body: dict[str, Any] = {
            "model": target.model,
            "messages": [{"role": message.role, "content": message.content} for message in call.messages],
            **decoding(target.settings, call.take),
        }
        if "max_tokens" in body:
            body[dialect.limit_parameter] = body.pop("max_tokens")
        if call.reply_schema and dialect.schema is SchemaMode.JSON_OBJECT:
            body["response_format"] = {"type": "json_object"}
        elif call.reply_schema and dialect.schema is SchemaMode.JSON_SCHEMA:
            body["response_format"] = schema_format(call.reply_schema)
        body.update(target.settings.body)
        return body

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """What the endpoint counted, also where the document holds no reply."""
        usage = mapping(document.get("usage"))
        cached = count(mapping(usage.get("prompt_tokens_details")).get("cached_tokens"))
        if cached is None:
            cached = count(usage.get("prompt_cache_hit_tokens"))  # DeepSeek
        return Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")), cached)

    def read(self, document: Mapping[str, Any]) -> ReadAnswer:
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
        text, extra = _text_of(message.get("content")), _openai_extra(message)
        refusal = text_or_none(message.get("refusal")) or _refusal_part(message.get("content"))
        if refusal is not None and not text:
            text, finish_reason = refusal, "refusal"
        elif "tool_calls" in extra and not text:
            finish_reason = "tool_calls"
        return ReadAnswer(
            text=text,
            finish_reason=finish_reason,
            usage=self.usage(document),
            model=text_or_none(document.get("model")),
            request_id=text_or_none(document.get("id")),
            extra=extra,
        )


def schema_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A `response_format` that the reply must fit."""
    return {"type": "json_schema", "json_schema": {"name": "judgment", "strict": True, "schema": schema}}


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


def _openai_extra(message: Mapping[str, Any]) -> dict[str, Any]:
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


def _error_in(holder: Mapping[str, Any]) -> NoReplyError:
    """Gateways wrap an upstream failure into a 200; its code is the status that was meant."""
    error = holder["error"]
    if not isinstance(error, dict):
        return NoReplyError(str(error))
    code = error.get("code")
    is_status = isinstance(code, int) and 400 <= code < 600
    return NoReplyError(str(error.get("message") or error), code if is_status else None)


# The Anthropic Messages wire format.

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
    # There is no mode between a schema and nothing.
    schema_modes = (SchemaMode.JSON_SCHEMA, SchemaMode.NONE)

    def headers(self, target: Target) -> dict[str, str]:
        """The version is part of every request."""
        headers = {"anthropic-version": API_VERSION}
        if target.key is not None:
            headers["x-api-key"] = target.key.reveal()
        return headers

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """System turns stand apart; the format has no seed."""
        turns: dict[bool, list[Message]] = {True: [], False: []}
        for message in call.messages:
            turns[message.role == "system"].append(message)
        body: dict[str, Any] = {
            "model": target.model,
            "max_tokens": DEFAULT_MAX_TOKENS,
            "messages": [{"role": message.role, "content": message.content} for message in turns[False]],
            **decoding(target.settings, call.take),
        }
        body.pop("seed", None)
        if turns[True]:
            body["system"] = "\n\n".join(message.content for message in turns[True])
        if call.reply_schema and dialect.schema is SchemaMode.JSON_SCHEMA:
            body["output_config"] = {"format": {"type": "json_schema", "schema": call.reply_schema}}
        body.update(target.settings.body)
        return body

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """`input_tokens` counts what was neither read from nor written to the cache; ours counts the whole prompt."""
        usage = mapping(document.get("usage"))
        fresh = count(usage.get("input_tokens"))
        read = count(usage.get("cache_read_input_tokens"))
        written = count(usage.get("cache_creation_input_tokens"))
        total = None if fresh is None else fresh + (read or 0) + (written or 0)
        return Usage(total, count(usage.get("output_tokens")), read)

    def read(self, document: Mapping[str, Any]) -> ReadAnswer:
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
        return ReadAnswer(
            text=_joined(blocks, "text", "text"),
            finish_reason=_FINISH_REASONS.get(stop_reason or "", stop_reason),
            usage=self.usage(document),
            model=text_or_none(document.get("model")),
            request_id=text_or_none(document.get("id")),
            extra=_anthropic_extra(blocks),
        )


def _joined(blocks: list[Mapping[str, Any]], kind: str, name: str) -> str:
    texts = (block.get(name) for block in blocks if block.get("type") == kind)
    return "".join(text for text in texts if isinstance(text, str))


def _anthropic_extra(blocks: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What was paid for beside the text: kept, never taken for the reply."""
    extra: dict[str, Any] = {}
    thinking = _joined(blocks, "thinking", "thinking")
    if thinking:
        extra["reasoning"] = thinking
    tools = [block for block in blocks if block.get("type") == "tool_use"]
    if tools:
        extra["tool_calls"] = [{"name": block.get("name"), "arguments": block.get("input")} for block in tools]
    return extra


Wire = OpenAIChat | AnthropicMessages


# What each model behind each endpoint understands: learnt from its refusals, remembered for the process.

_TOKEN_PARAMETERS = ("max_tokens", "max_completion_tokens")
_SCHEMA_PARAMETERS = frozenset({"response_format", "output_config", "output_format"})


class DialectMemory:
    """Starts with the most that a wire format offers, and takes back what an endpoint refuses by name."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Dialect] = {}
        self._switched: set[tuple[str, str]] = set()

    def of(self, target: Target, wire: Wire) -> Dialect:
        """What is believed now."""
        known = self._known.get((target.base_url, target.model))
        return known or Dialect(wire.schema_modes[0], target.limit_parameter)

    def learn(self, target: Target, wire: Wire, used: Dialect, refusal: Refusal) -> Dialect | None:
        """The dialect to try next after a 400 to a request in `used`; None when the refusal is about something else."""
        current = self.of(target, wire)
        if current != used:
            return current  # another call was refused first and has learnt already
        learnt = self._after(target, wire, used, refusal)
        if learnt is not None:
            self._known[target.base_url, target.model] = learnt
        return learnt

    def _after(self, target: Target, wire: Wire, used: Dialect, refusal: Refusal) -> Dialect | None:
        key = (target.base_url, target.model)
        has_two_names = target.wire is WireFormat.OPENAI and target.settings.max_tokens is not None
        if has_two_names and self._is_about_limit_parameter(used, refusal):
            if key in self._switched:
                return None  # refused both ways: the value is wrong, not the name
            self._switched.add(key)
            other = next(name for name in _TOKEN_PARAMETERS if name != used.limit_parameter)
            return replace(used, limit_parameter=other)
        if _SCHEMA_PARAMETERS & target.settings.body.keys():
            return None  # the user's own wish, sent as it stands whatever we would choose
        modes = wire.schema_modes
        position = modes.index(used.schema)
        if refusal.names_schema and position + 1 < len(modes):
            return replace(used, schema=modes[position + 1])
        return None

    @staticmethod
    def _is_about_limit_parameter(used: Dialect, refusal: Refusal) -> bool:
        if refusal.is_context_overflow:
            return False
        if refusal.parameter in _TOKEN_PARAMETERS:
            return refusal.parameter == used.limit_parameter and "unsupported" in refusal.code + refusal.message.lower()
        other = next(name for name in _TOKEN_PARAMETERS if name != used.limit_parameter)
        words = refusal.message.lower()
        return used.limit_parameter in words and (other in words or "unsupported" in words or "unrecognized" in words)


PROCESS_MEMORY = DialectMemory()
