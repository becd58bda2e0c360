"""The two wire formats, OpenAI chat completions and Anthropic messages: requests out, answers in."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import Answer, Call, Message, Usage
from mixseek.judges.endpoint.address import Target
from mixseek.judges.endpoint.keys import Redaction
from mixseek.judges.endpoint.refusals import Refusal
from mixseek.settings.models import JudgeSettings, WireFormat


class SchemaMode(StrEnum):
    """How the reply's shape is asked for, from the strictest to none."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


class Dialect(NamedTuple):
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
    extra: Mapping[str, Any]


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


def without_keys(reading: ReadAnswer, redaction: Redaction) -> ReadAnswer:
    """The same without the keys that the endpoint has repeated, and in which parts it did; decoded, they are plain."""
    told = {name: value for name, value in reading._asdict().items() if name != "usage"}
    masked = redaction.document(told)
    if masked == told:
        return reading
    held = [name for name in told if masked[name] != told[name]]
    return ReadAnswer(**{**masked, "usage": reading.usage, "extra": {**masked["extra"], "masked_keys_in": held}})


def make_answer(
    call: Call, who: tuple[str, str], reading: ReadAnswer, seconds: float, schema: SchemaMode, requests: int = 1
) -> Answer:
    """As the engine and the journal want it. `who`: the judge, and its model, from which self-judging is derived."""
    ending = {"finish_reason": reading.finish_reason, "request_id": reading.request_id, "model": reading.model}
    details: dict[str, Any] = {
        "take": call.take,
        "ask": call.ask,
        "usage": reading.usage._asdict(),
        "latency_seconds": round(seconds, 4),
        **ending,
        "schema": schema.value,
        "requests": requests,
        **reading.extra,
    }
    reply = Reply.by_model(who[1], reading.text, who[0], details, attempt=call.ask)
    return Answer(reply, reading.usage, seconds, **ending)


# The chat completions wire format: OpenAI, vLLM, Ollama, llama.cpp, OpenRouter, Azure and their likes.

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
        body = {"model": target.model, "messages": turns_of(call.messages), **decoding(target.settings, call.take)}
        if "max_tokens" in body:
            body[dialect.limit_parameter] = body.pop("max_tokens")
        if call.reply_schema and dialect.schema is not SchemaMode.NONE:
            is_whole = dialect.schema is SchemaMode.JSON_SCHEMA
            body["response_format"] = schema_format(call.reply_schema) if is_whole else {"type": "json_object"}
        return {**body, **target.settings.body}

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
        choice = next(iter(items(document.get("choices"))), {})
        if choice.get("error"):
            raise _error_in(choice)
        message = mapping(choice.get("message"))
        if not message:
            raise NoReplyError("answered without any choice that holds a message")
        finish_reason = text_or_none(choice.get("finish_reason"))
        functions = [mapping(call.get("function")) for call in items(message.get("tool_calls"))]
        calls = [{"name": one.get("name"), "arguments": one.get("arguments")} for one in functions]
        text, extra = text_of(message.get("content")), _extra(_first_text(map(message.get, _REASONING_NAMES)), calls)
        if not text:
            refusal = _first_text(part.get("refusal") for part in (message, *items(message.get("content"))))
            if refusal is not None:
                text, finish_reason = refusal, "refusal"
            elif calls:
                finish_reason = "tool_calls"
        return _reading(document, text, finish_reason, self.usage(document), extra)


def turns_of(messages: Iterable[Message]) -> list[dict[str, str]]:
    """As both formats, and llama.cpp, want them."""
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
    return _joined(part if isinstance(part, str) else mapping(part).get("text") for part in content)


def _joined(pieces: Iterable[Any]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def items(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; none where there is no list."""
    return [mapping(item) for item in value] if isinstance(value, list) else []


def _first_text(values: Iterable[Any]) -> str | None:
    return next((text for value in values if (text := text_or_none(value))), None)


def _reading(
    document: Mapping[str, Any], text: str, finish_reason: str | None, usage: Usage, extra: Mapping[str, Any]
) -> ReadAnswer:
    model, request_id = (text_or_none(document.get(name)) for name in ("model", "id"))
    return ReadAnswer(text, finish_reason, usage, model, request_id, extra)


def _extra(reasoning: str | None, tool_calls: list[dict[str, Any]]) -> dict[str, Any]:
    """What was paid for beside the text: kept, never taken for the reply."""
    return {name: value for name, value in (("reasoning", reasoning), ("tool_calls", tool_calls)) if value}


def _error_in(holder: Mapping[str, Any]) -> NoReplyError:
    """Gateways wrap an upstream failure into a 200; its code is the status that was meant."""
    error = holder.get("error") or "answered with an error"
    said = mapping(error)
    code = count(said.get("code"))
    return NoReplyError(str(said.get("message") or error), code if code and 400 <= code < 600 else None)


# The Anthropic Messages wire format.

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
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}

    def body(self, call: Call, target: Target, dialect: Dialect) -> dict[str, Any]:
        """System turns stand apart; the format has no seed."""
        system = [message.content for message in call.messages if message.role == "system"]
        body: dict[str, Any] = {
            "model": target.model,
            "max_tokens": DEFAULT_MAX_TOKENS,
            "messages": turns_of(message for message in call.messages if message.role != "system"),
            **decoding(target.settings, call.take),
        }
        body.pop("seed", None)
        if system:
            body["system"] = "\n\n".join(system)
        if call.reply_schema and dialect.schema is SchemaMode.JSON_SCHEMA:
            body["output_config"] = {"format": {"type": "json_schema", "schema": call.reply_schema}}
        return {**body, **target.settings.body}

    def usage(self, document: Mapping[str, Any]) -> Usage:
        """`input_tokens` counts what was neither read from nor written to the cache; ours counts the whole prompt."""
        usage = mapping(document.get("usage"))
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        fresh, read, written = (count(usage.get(name)) for name in names)
        total = None if fresh is None else fresh + (read or 0) + (written or 0)
        return Usage(total, count(usage.get("output_tokens")), read)

    def read(self, document: Mapping[str, Any]) -> ReadAnswer:
        """The text blocks in order; thinking and tool blocks are kept beside them."""
        if document.get("type") == "error" or document.get("error"):
            raise _error_in(document)
        content, stop_reason = document.get("content"), text_or_none(document.get("stop_reason"))
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        if not isinstance(content, str | list) or not (blocks or stop_reason):
            raise NoReplyError("answered without any content and no reason to stop")
        used = [block for block in blocks if block.get("type") == "tool_use"]
        tools = [{"name": block.get("name"), "arguments": block.get("input")} for block in used]
        text = _joined(block.get("text") for block in blocks if block.get("type") == "text")
        thinking = _joined(block.get("thinking") for block in blocks if block.get("type") == "thinking")
        finish_reason = _FINISH_REASONS.get(stop_reason or "", stop_reason)
        return _reading(document, text, finish_reason, self.usage(document), _extra(thinking, tools))


Wire = OpenAIChat | AnthropicMessages


# What each model behind each endpoint understands: learnt from its refusals, remembered for the process.

_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
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
        key = (target.base_url, target.model)
        has_two_names = target.wire is WireFormat.OPENAI and target.settings.max_tokens is not None
        if has_two_names and _is_about_limit_parameter(used.limit_parameter, refusal):
            if key in self._switched:
                return None  # refused both ways: the value is wrong, not the name
            self._switched.add(key)
            learnt = used._replace(limit_parameter=_OTHER_NAME[used.limit_parameter])
        else:
            later = wire.schema_modes[wire.schema_modes.index(used.schema) + 1 :]
            # What the user's own body says is sent as it stands, whatever we would choose.
            is_ours = not _SCHEMA_PARAMETERS & target.settings.body.keys()
            if not (is_ours and later and refusal.names_schema):
                return None
            learnt = used._replace(schema=later[0])
        self._known[key] = learnt
        return learnt


def _is_about_limit_parameter(name: str, refusal: Refusal) -> bool:
    words = refusal.message.lower()
    if refusal.is_about("context_overflow"):
        return False
    if refusal.parameter in _OTHER_NAME:
        return refusal.parameter == name and "unsupported" in refusal.code + words
    return name in words and any(reason in words for reason in (_OTHER_NAME[name], "unsupported", "unrecognized"))


PROCESS_MEMORY = DialectMemory()
