"""Lines of a batch's results, in the words of each provider: an answer's document, or why there is none.

The same reader serves batches that are collected here and files of batches that somebody else ran.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.judges.endpoint.answers import encoded, mapping, text_or_none


class LineFormat(StrEnum):
    """How a line is written; OpenAI's is also that of Mistral, of vLLM and of the hosts that speak alike."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"


class LineFailure(NamedTuple):
    """`status` is the HTTP status that a call at once would have met; None where only the batch is to blame."""

    words: str
    status: int | None = None
    body: bytes = b""


class ResultLine(NamedTuple):
    """One of the two is there."""

    custom_id: str
    document: Mapping[str, Any] | None = None
    failure: LineFailure | None = None


# What Anthropic's kinds of errors are as statuses.
_ANTHROPIC_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
# Google's own numbers, which stand where others write a status.
_GOOGLE_STATUSES = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 13: 500, 14: 503, 16: 401}


def _read_openai(row: Mapping[str, Any]) -> ResultLine:
    name, response, error = text_or_none(row.get("custom_id")) or "", mapping(row.get("response")), row.get("error")
    if not response or error:
        # A word stands in its code, and never a status.
        details = mapping(error)
        words = ": ".join(filter(None, map(text_or_none, (details.get("code"), details.get("message")))))
        return ResultLine(name, failure=LineFailure(words or text_or_none(error) or "no response"))
    status, body = response.get("status_code", 200), response.get("body")
    if status != 200:
        number = status if isinstance(status, int) else None
        failed = encoded(body) if isinstance(body, dict) else str(body or "").encode()
        refusal = mapping(mapping(body).get("error"))
        plain = mapping(body).get("error") or mapping(body).get("message")
        words = text_or_none(refusal.get("message")) or text_or_none(plain) or "no message"
        return ResultLine(name, failure=LineFailure(f"status {status}: {words}", number, failed))
    if not isinstance(body, dict):
        return ResultLine(name, failure=LineFailure("an empty answer"))
    return ResultLine(name, body)


def _read_anthropic(row: Mapping[str, Any]) -> ResultLine:
    name, result = text_or_none(row.get("custom_id")) or "", mapping(row.get("result"))
    kind, message = text_or_none(result.get("type")) or "no result", result.get("message")
    if kind == "succeeded" and isinstance(message, dict):
        return ResultLine(name, message)
    if kind != "errored":
        return ResultLine(name, failure=LineFailure("an empty answer" if kind == "succeeded" else kind))
    # Wrapped once more by the API, not by everybody who speaks alike.
    error = mapping(result.get("error"))
    error = mapping(error.get("error")) or error
    sort = text_or_none(error.get("type")) or ""
    words = ": ".join(filter(None, (kind, sort, text_or_none(error.get("message")))))
    return ResultLine(name, failure=LineFailure(words, _ANTHROPIC_STATUSES.get(sort), encoded({"error": error})))


def _read_gemini(row: Mapping[str, Any]) -> ResultLine:
    # Inline answers have their key among their metadata.
    name = text_or_none(row.get("key")) or text_or_none(mapping(row.get("metadata")).get("key")) or ""
    response, error = row.get("response"), mapping(row.get("error"))
    if isinstance(response, dict) and response and not error:
        return ResultLine(name, response)
    code = error.get("code")
    number = _GOOGLE_STATUSES.get(code, code) if isinstance(code, int) else None
    words = ": ".join(str(word) for word in (code, error.get("message")) if word) or "no response"
    status = number if number is not None and 400 <= number < 600 else None
    return ResultLine(name, failure=LineFailure(words, status, encoded({"error": error})))


_READERS: Mapping[LineFormat, Callable[[Mapping[str, Any]], ResultLine]] = {
    LineFormat.OPENAI: _read_openai,
    LineFormat.ANTHROPIC: _read_anthropic,
    LineFormat.GEMINI: _read_gemini,
}


def read_line(line_format: LineFormat, row: Mapping[str, Any]) -> ResultLine:
    """Never raises, whatever the row."""
    return _READERS[line_format](row)
