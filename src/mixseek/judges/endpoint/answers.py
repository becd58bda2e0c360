"""What every wire format shares: dialects, answers that were read, and replies that are none."""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

import orjson

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import Answer, Call, Usage
from mixseek.judges.keys.redaction import Redaction
from mixseek.settings.models import JudgeSettings


class SchemaMode(StrEnum):
    """How the reply's shape is asked for, from the strictest to none."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT = "json_object"
    NONE = "none"


class Dialect(NamedTuple):
    """What one model behind one endpoint turned out to understand."""

    schema: SchemaMode
    limit_parameter: str
    # Whether it takes what says which part of a prompt is constant.
    marks_prefix: bool = True
    # How many alternatives of a token it gives at most; 0 where it gives no probabilities at all.
    most_logprobs: int = 20


class ReadAnswer(NamedTuple):
    """An answer's document, read. `extra` goes to the reply's details."""

    text: str
    finish_reason: str | None
    usage: Usage
    model: str | None
    request_id: str | None
    extra: Mapping[str, Any]
    # Tokens with their probabilities, as the endpoint wrote them.
    logprobs: Any = None


class NoReplyError(Exception):
    """The document is well-formed and holds no reply; `status` is the HTTP status it would have deserved."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def count(value: Any) -> int | None:
    """A number of tokens as an endpoint wrote it; None for everything else."""
    return value if type(value) is int and value >= 0 else None


def text_or_none(value: Any) -> str | None:
    """None for what is not text or is empty."""
    return value if isinstance(value, str) and value else None


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one: endpoints write null, lists and text in its place."""
    return value if isinstance(value, dict) else {}


def decoding(settings: JudgeSettings, take: int, max_tokens: int | None = None) -> dict[str, Any]:
    """Only what was set: an endpoint's defaults stay its own. `max_tokens` is a limit of this one call."""
    given = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": max_tokens or settings.max_tokens,
        "reasoning_effort": settings.reasoning_effort,
        # The same seed would make the repeats of a judgment one and the same reply.
        "seed": None if settings.seed is None else settings.seed + take - 1,
    }
    return {name: value for name, value in given.items() if value is not None}


def without_keys(reading: ReadAnswer, redaction: Redaction) -> ReadAnswer:
    """The same without the keys that the endpoint has repeated, and in which parts it did; decoded, they are plain."""
    masked = [part if part is reading.usage or part is None else redaction.document(part) for part in reading]
    if masked == list(reading):
        return reading
    held = [name for name, part, before in zip(reading._fields, masked, reading, strict=True) if part != before]
    answer = ReadAnswer._make(masked)
    return answer._replace(extra={**answer.extra, "masked_keys_in": held})


def make_answer(
    call: Call, who: tuple[str, str], reading: ReadAnswer, seconds: float | None, schema: SchemaMode, requests: int = 1
) -> Answer:
    """The answer that engine and journal want. `who`: the judge, and its model, from which self-judging is derived.

    `seconds` is None where nobody waited.
    """
    ending = {"finish_reason": reading.finish_reason, "request_id": reading.request_id, "model": reading.model}
    details: dict[str, Any] = {
        "take": call.take,
        "ask": call.ask,
        "usage": reading.usage.document(),
        "latency_seconds": None if seconds is None else round(seconds, 4),
        **ending,
        "schema": schema.value,
        "requests": requests,
        **reading.extra,
    }
    reply = Reply.by_model(who[1], reading.text, who[0], details, attempt=call.ask)
    return Answer(reply, reading.usage, seconds, **ending)


def joined(pieces: Iterable[Any]) -> str:
    """The texts among them, one after the other."""
    return "".join(piece for piece in pieces if isinstance(piece, str))


def items(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; none where there is no list."""
    return [mapping(item) for item in value] if isinstance(value, list) else []


def encoded(body: Mapping[str, Any]) -> bytes:
    """JSON, whatever stands in the judged text."""
    try:
        return orjson.dumps(body)
    except TypeError:
        # Half a surrogate pair in a judged text, or a mapping that is no dict: JSON's own escapes hold both.
        return json.dumps(body, default=dict).encode()
