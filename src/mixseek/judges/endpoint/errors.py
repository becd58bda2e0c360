"""Every way in which a call can fail, turned into "worth another try" or "asking again changes nothing"."""

import os
import re
import ssl
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import orjson
from aiohttp.http_exceptions import HttpProcessingError

from mixseek.errors import PermanentJudgeError, TransientJudgeError
from mixseek.judges.keys import Redaction

# How long an endpoint asks to be left alone, in any of the ways in which endpoints say it.

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
# Larger numbers are moments since 1970, not durations: nobody asks for a wait of thirty years.
_EPOCH_FROM = 1e9
_EPOCH_MILLISECONDS_FROM = 1e12


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now`, never negative; None where the endpoint named no time that can be read."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    if "retry-after" in headers:
        seconds = _wait(headers["retry-after"], now)
        if seconds is not None:
            return seconds
    resets = {name.lower(): value.strip() for name, value in headers.items() if "ratelimit" in name.lower()}
    waits = {name: wait for name in resets if "reset" in name and (wait := _wait(resets[name], now)) is not None}
    # Only a limit that is used up has to be waited for; the others recover in the background.
    exhausted = [wait for name, wait in waits.items() if resets.get(name.replace("reset", "remaining"), "") == "0"]
    return max(exhausted) if exhausted else min(waits.values(), default=None)


def _wait(value: str, now: datetime) -> float | None:
    value = value.strip()
    number = _number(value)
    if number is not None:
        if number >= _EPOCH_MILLISECONDS_FROM:
            number = number / 1000 - now.timestamp()
        elif number >= _EPOCH_FROM:
            number -= now.timestamp()
        return max(0.0, number)
    if value and _DURATION.sub("", value) == "":
        return sum(float(amount) * _UNIT_SECONDS[unit] for amount, unit in _DURATION.findall(value))
    moment = _moment(value)
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _number(value: str) -> float | None:
    value = value.strip()
    # float() would also read "nan", "inf", "1_0" and digits of other scripts.
    return float(value) if re.fullmatch(r"[0-9]{1,16}(\.[0-9]{1,16})?", value) else None


def _moment(value: str) -> datetime | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None


# What an endpoint says about a request that it refuses, and what the refusal is about.

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

    def _says(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(f"{self.code} {self.message}") is not None

    @property
    def is_context_overflow(self) -> bool:
        """This prompt is too long; others may fit."""
        return self._says(_CONTEXT_OVERFLOW)

    @property
    def is_about_content(self) -> bool:
        """A filter objected to this sample's text."""
        return self._says(_CONTENT)

    @property
    def is_out_of_money(self) -> bool:
        """Waiting does not help; paying does."""
        return self._says(_NO_MONEY)

    @property
    def names_model(self) -> bool:
        """The model is unknown there, or not for this key."""
        return self.parameter == "model" or self._says(_UNKNOWN_MODEL)

    @property
    def names_schema(self) -> bool:
        """The way in which the reply's shape was asked for is what it objects to."""
        if self.is_context_overflow or self.is_about_content:
            return False
        return self._says(_SCHEMA_NAMES) or _SCHEMA_NAMES.search(self.parameter or "") is not None

    def names_any(self, parameters: Iterable[str]) -> bool:
        """True when one of the parameters that were sent is blamed; the sample's own text does not count."""
        if self.parameter is not None:
            return self.parameter in set(parameters) - _SAMPLE_PARAMETERS
        names = [re.escape(name) for name in parameters if name not in _SAMPLE_PARAMETERS and name != "model"]
        return bool(names) and self._says(re.compile(rf"\b({'|'.join(names)})\b"))


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


_ERRNO = re.compile(r"\[Errno (\d+)\]")
# What a request may raise; asyncio.CancelledError is not a failure and passes through.
FOREIGN_ERRORS = (aiohttp.ClientError, HttpProcessingError, TimeoutError, OSError)
_OVERLOAD_STATUSES = frozenset({429, 503, 529})
_TRANSIENT_STATUSES = frozenset({408, 409, 425, *_OVERLOAD_STATUSES})
# Shorter ones are kept without a word.
_LONG_WAIT_SECONDS = 60.0
# A refusal of what was sent; whether it blames this sample or every sample is in its words.
_REQUEST_STATUSES = frozenset({400, 413, 422})
_CERTIFICATE_ERRORS = (ssl.CertificateError, aiohttp.ClientConnectorCertificateError, aiohttp.ServerFingerprintMismatch)
_ADDRESS_ERRORS = (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, aiohttp.RedirectClientError)


@dataclass(frozen=True, slots=True)
class Place:
    """Who was asked where: every message begins with it."""

    judge: str
    endpoint: str
    redaction: Redaction
    key_hint: str = ""

    def line(self, text: str) -> str:
        """One line that names judge and endpoint and shows no key."""
        # A spec that holds its address has named the endpoint already.
        at = "" if self.endpoint in self.judge else f" at {self.endpoint}"
        return self.redaction.line(f"judge {self.judge}{at}: {text}", limit=500)


class StatusError(Exception):
    """The cause of an error that an HTTP status stands behind; for whoever explains it."""

    def __init__(self, status: int, refusal: Refusal) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.refusal = refusal


def map_exception(error: Exception, place: Place, timeout_seconds: float) -> TransientJudgeError | PermanentJudgeError:
    """For an error on the way to the endpoint or back; raise the result from `error`."""
    is_permanent = False
    match error:
        case aiohttp.ClientConnectorDNSError():
            # A laptop may be offline for a moment; `judges check` explains it if it is not.
            words = "its host name cannot be resolved; offline, or misspelt?"
        case _ if isinstance(error, _CERTIFICATE_ERRORS):
            words, is_permanent = f"its TLS certificate is not trusted ({_reason(error)})", True
        case aiohttp.ClientSSLError() | ssl.SSLError():
            words = f"TLS failed ({_reason(error)})"
        case _ if isinstance(error, _ADDRESS_ERRORS):
            words, is_permanent = "the base URL is not usable; correct it", True
        case aiohttp.ClientHttpProxyError():
            words = f"the proxy answered {error.status} {error.message}"
            is_permanent = error.status in (401, 403, 407)
        case aiohttp.ConnectionTimeoutError():
            words = "no connection within the time limit"
        case TimeoutError():
            words = f"no complete answer within {timeout_seconds:g} s"
        case aiohttp.ClientPayloadError():
            words = f"the answer broke off ({_reason(error)})"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientConnectionResetError() | ConnectionResetError():
            words = "the connection was dropped before an answer came"
        case aiohttp.ClientConnectorError() | ConnectionRefusedError():
            words = f"cannot connect ({_reason(error)})"
        case aiohttp.ClientResponseError():
            words = f"what came back is not HTTP ({_reason(error)})"
        case _:
            words = f"the call failed ({_reason(error)})"
    line = place.line(words)
    return PermanentJudgeError(line, concerns_everything=True) if is_permanent else TransientJudgeError(line)


def map_status(
    status: int, headers: Mapping[str, str], body: bytes, place: Place, *, parameters: Collection[str], now: datetime
) -> TransientJudgeError | PermanentJudgeError:
    """For an answer that is not a 200; `parameters` are the names that the request's body held."""
    refusal = read_refusal(place.redaction.body(body))
    words = refusal.message.strip() or "no explanation"
    failure: TransientJudgeError | PermanentJudgeError
    if status == 429 and refusal.is_out_of_money:
        failure = PermanentJudgeError(place.line(f"answered 429: {words}"), concerns_everything=True)
    elif status < 300:
        # 204, 101 and their like hold no reply: a proxy's slip in the middle of a run, as a 502 is.
        failure = TransientJudgeError(place.line(f"answered {status} without a reply"))
    elif status in _TRANSIENT_STATUSES or status >= 500:
        is_overload = status in _OVERLOAD_STATUSES
        wait = retry_after_seconds(headers, now) if is_overload or "retry-after" in headers else None
        asked = f" (asks to wait {wait:.0f} s)" if wait is not None and wait >= _LONG_WAIT_SECONDS else ""
        failure = TransientJudgeError(
            place.line(f"answered {status}: {words}{asked}"), retry_after_seconds=wait, is_overload=is_overload
        )
    elif 300 <= status < 400:
        # Not followed: it would carry the key to another host.
        target = headers.get("location", "nowhere")
        failure = PermanentJudgeError(
            place.line(f"answered {status}, a redirect to {target}; use the final address as base URL"),
            concerns_everything=True,
        )
    else:
        concerns_everything = _concerns_everything(status, refusal, parameters)
        hint = f"; {place.key_hint}" if status == 401 and place.key_hint else ""
        failure = PermanentJudgeError(
            place.line(f"answered {status}: {place.redaction.line(words)}{hint}"),
            concerns_everything=concerns_everything,
        )
    failure.__cause__ = StatusError(status, refusal)
    return failure


def _concerns_everything(status: int, refusal: Refusal, parameters: Collection[str]) -> bool:
    if status in _REQUEST_STATUSES:
        if refusal.is_context_overflow or refusal.is_about_content or status == 413:
            return False
        return refusal.is_out_of_money or refusal.names_model or refusal.names_any(parameters)
    # A gateway's moderation answers 403 for one prompt; every other 403 is about the key.
    return not (status in (403, 451) and refusal.is_about_content)


def _reason(error: Exception) -> str:
    """The shortest text that says what happened; aiohttp's own begin with the address that we name already."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(inner, ssl.SSLError):
        return inner.strerror or str(inner)
    if isinstance(inner, OSError):
        # asyncio writes "Connect call failed" over the system's own words, once per address that was tried.
        number = inner.errno or next((int(found) for found in _ERRNO.findall(str(inner))), 0)
        if number > 0:
            return os.strerror(number)
        return inner.strerror or str(inner) or type(inner).__name__
    if isinstance(inner, aiohttp.ClientResponseError):
        return inner.message or type(inner).__name__
    return str(inner) or type(inner).__name__
