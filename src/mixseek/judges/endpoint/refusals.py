"""What an endpoint says about a request that it refuses, and what the refusal is about."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from mixseek.lazy_dataclass import dataclass

_REFUSALS = tomllib.loads((Path(__file__).parent / "refusals.toml").read_text(encoding="utf-8"))
_WORDINGS = {subject: re.compile("|".join(wordings), re.IGNORECASE) for subject, wordings in _REFUSALS.items()}
_LEADING_NAME = re.compile(r"^([a-z_]{2,}(?:\.[\w.-]+|\[\d+\][\w.]*)?): ")
# Before a number: the most that an endpoint allows ("<= 20", "less than or equal to 5", "max allowed: 20", "[0, 5]").
_ALLOWED = re.compile(
    r"(?:[<≤]=?|less than or equal to|at most|up to|max(?:imum)?(?: value)?(?: allowed)?(?: is| of|:)?|no more than"
    r"|(?:between|from) \d+ (?:and|to)|not exceed|not be (?:greater|more|larger) than|[\[(]\d+,)\s*(\d{1,3})\b",
    re.IGNORECASE,
)
_BODY_ROOT = re.compile(r"[.\[]")
_TITLE, _END_OF_TITLE = re.compile(r"<title>", re.IGNORECASE), re.compile(r"</title>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
# What a refusal is about stands in its first words; behind them may come megabytes of what was sent.
_READ_CHARACTERS = 20_000
# What differs from sample to sample: a complaint about it concerns one sample.
_SAMPLE_PARAMETERS = frozenset({"messages", "message", "system", "input", "prompt", "contents", "content"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body, read: the endpoint's own words and what it blames."""

    message: str
    code: str = ""
    parameter: str | None = None

    def is_about(self, subject: str) -> bool:
        """One of the subjects of refusals.toml."""
        return _WORDINGS[subject].search(f"{self.code} {self.message}") is not None

    @property
    def is_about_this_sample(self) -> bool:
        return self.is_about("context_overflow") or self.is_about("content")

    @property
    def names_model(self) -> bool:
        return self.parameter == "model" or self.is_about("unknown_model")

    @property
    def names_schema(self) -> bool:
        """The way in which the reply's shape was asked for is what it objects to."""
        is_named = _WORDINGS["schema"].search(self.parameter or "") is not None
        return (is_named or self.is_about("schema")) and not self.is_about_this_sample

    @property
    def names_logprobs(self) -> bool:
        """Probabilities of tokens, or how many of them, are what it objects to."""
        if self.parameter is not None and _WORDINGS["logprobs"].search(self.parameter):
            return True
        return self.is_about("logprobs") and not self.is_about_this_sample

    @property
    def allowed_logprobs(self) -> int | None:
        """How many alternatives of a token it says that there may be."""
        limit = _ALLOWED.search(self.message)
        return None if limit is None else int(limit[1])

    def names_any(self, parameters: Iterable[str]) -> bool:
        """True when one of the parameters that were sent is blamed; the sample's own text does not count."""
        if self.parameter is not None:
            return self.parameter in set(parameters) - _SAMPLE_PARAMETERS
        names = [re.escape(name) for name in parameters if name not in _SAMPLE_PARAMETERS and name != "model"]
        return bool(names) and bool(re.search(rf"\b({'|'.join(names)})\b", f"{self.code} {self.message}"))


def read_refusal(body: bytes) -> Refusal:
    """Reads any shape in use: {"error": {…}}, {"error": "…"}, {"detail": …}, {"message": …}, or plain text."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return Refusal(_plain(body[:_READ_CHARACTERS].decode("utf-8", "replace")))
    if isinstance(document, list) and document:
        document = document[0]  # Gemini wraps its errors into a list
    if not isinstance(document, dict):
        return Refusal(_plain(str(document)[:_READ_CHARACTERS]))
    error = document.get("error")
    holder = error if isinstance(error, dict) else document
    message = _message(holder, error)[:_READ_CHARACTERS]
    code = " ".join(str(holder[name]) for name in ("type", "code", "status") if isinstance(holder.get(name), str | int))
    code = code[:_READ_CHARACTERS]
    parameter = holder.get("param")
    if not isinstance(parameter, str) or not parameter:
        leading = _LEADING_NAME.match(message)
        parameter = leading.group(1) if leading else None
    return Refusal(message, code, None if parameter is None else _BODY_ROOT.split(parameter)[0])


def _message(holder: Mapping[str, Any], error: Any) -> str:
    messages = (holder.get(name) for name in ("message", "detail", "error_message", "msg"))
    value = error if isinstance(error, str) and error else next(filter(None, messages), holder or "")
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, dict) and "msg" in item for item in value):
        # A validator's complaints; they also repeat the input, and with it the judged text.
        places = [item["loc"] if isinstance(item.get("loc"), list) else ["request"] for item in value]
        named = [".".join(str(part) for part in place if part != "body") for place in places]
        return "; ".join(f"{place}: {item['msg']}" for place, item in zip(named, value, strict=True))
    return orjson.dumps(value, default=str).decode()


def _plain(text: str) -> str:
    """A page for browsers loses its tags; its title is what there is to read."""
    if "<" not in text:
        return text
    # One search for each end: an opening without an end must not be looked for again from each that follows.
    title = _TITLE.search(text)
    end = None if title is None else _END_OF_TITLE.search(text, title.end())
    return text[title.end() : end.start()] if title and end else _TAG.sub(" ", text)
