"""What an endpoint says about a request that it refuses, and what the refusal is about."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_CONTEXT_OVERFLOW = re.compile(
    r"context[_ -]?(length|size|window|limit)|maximum context|prompt is too long|too many (input )?tokens|"
    r"string_above_max_length|string too long|request[_ ]too[_ ]large|input (is|was) too long|reduce the length|"
    r"exceeds? the (available|maximum|model'?s?) .{0,30}(context|tokens|length)|longer than the model",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    r"content[_ ]?(filter|policy|management)|moderation|flagged|responsible ?ai|safety (system|reasons)|"
    r"usage policy|data_inspection|inappropriate content",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient[_ ](quota|balance|credits?|funds)|exceeded your current quota|credit balance is too low|"
    r"billing|payment required|out of credits",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"model_?not_?found|(unknown|invalid|unsupported|no such) model|"
    r"\bmodel\b.{0,120}?(not found|does ?n[o']t exist|not exist|is not supported|not available|is unknown|"
    r"not a valid|no access|is invalid)|not a valid model|no endpoints found",
    re.IGNORECASE | re.DOTALL,
)
_SCHEMA_NAMES = re.compile(
    r"response_format|json_?schema|json_object|json mode|structured[_ ]outputs?|output_(config|format)|guided|"
    r"grammar|must contain the word .?json",
    re.IGNORECASE,
)
_LEADING_NAME = re.compile(r"^([a-z_]{2,}(?:\.[\w.-]+|\[\d+\][\w.]*)?): ")
_BODY_ROOT = re.compile(r"[.\[]")
# What differs from sample to sample: a complaint about it concerns one sample.
_SAMPLE_PARAMETERS = frozenset({"messages", "message", "system", "input", "prompt", "contents", "content"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body, read: the endpoint's own words and what it blames."""

    message: str
    code: str = ""
    parameter: str | None = None

    @property
    def _words(self) -> str:
        return f"{self.code} {self.message}"

    @property
    def is_context_overflow(self) -> bool:
        """This prompt is too long; others may fit."""
        return bool(_CONTEXT_OVERFLOW.search(self._words))

    @property
    def is_about_content(self) -> bool:
        """A filter objected to this sample's text."""
        return bool(_CONTENT.search(self._words))

    @property
    def is_out_of_money(self) -> bool:
        """Waiting does not help; paying does."""
        return bool(_NO_MONEY.search(self._words))

    @property
    def names_model(self) -> bool:
        """The model is unknown there, or not for this key."""
        return self.parameter == "model" or bool(_UNKNOWN_MODEL.search(self._words))

    @property
    def names_schema(self) -> bool:
        """The way in which the reply's shape was asked for is what it objects to."""
        if self.is_context_overflow or self.is_about_content:
            return False
        return bool(_SCHEMA_NAMES.search(f"{self.parameter or ''} {self._words}"))

    def names_any(self, parameters: Iterable[str]) -> bool:
        """True when one of the parameters that were sent is blamed; the sample's own text does not count."""
        if self.parameter is not None:
            return self.parameter in set(parameters) - _SAMPLE_PARAMETERS
        names = [re.escape(name) for name in parameters if name not in _SAMPLE_PARAMETERS and name != "model"]
        return bool(names) and re.search(rf"\b({'|'.join(names)})\b", self._words) is not None


def read_refusal(body: bytes) -> Refusal:
    """From any of the shapes in use: {"error": {…}}, {"error": "…"}, {"detail": …}, {"message": …}, or plain text."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return Refusal(_plain(body.decode("utf-8", "replace")))
    if isinstance(document, list) and document:
        document = document[0]  # Gemini wraps its errors into a list
    if not isinstance(document, dict):
        return Refusal(_plain(str(document)))
    error = document.get("error")
    holder = error if isinstance(error, dict) else document
    message = _message(holder, error)
    code = " ".join(str(holder[name]) for name in ("type", "code", "status") if isinstance(holder.get(name), str | int))
    parameter = holder.get("param")
    if not isinstance(parameter, str) or not parameter:
        leading = _LEADING_NAME.match(message)
        parameter = leading.group(1) if leading else None
    return Refusal(message, code, None if parameter is None else _BODY_ROOT.split(parameter)[0])


def _message(holder: Mapping[str, Any], error: Any) -> str:
    if isinstance(error, str) and error:
        return error
    for name in ("message", "detail", "error_message", "msg"):
        value = holder.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and all(isinstance(item, dict) and "msg" in item for item in value):
            # A validator's complaints; they also repeat the input, and with it the judged text.
            return "; ".join(f"{_location(item)}: {item['msg']}" for item in value)
        if value:
            return orjson.dumps(value, default=str).decode()
    return orjson.dumps(holder, default=str).decode() if holder else ""


def _location(complaint: Mapping[str, Any]) -> str:
    place = complaint.get("loc")
    return ".".join(str(part) for part in place if part != "body") if isinstance(place, list) else "request"


def _plain(text: str) -> str:
    """A page for browsers loses its tags; its title is what there is to read."""
    if "<" not in text:
        return text
    title = re.search(r"<title>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    return title.group(1) if title else re.sub(r"<[^>]*>", " ", text)
