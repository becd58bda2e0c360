"""Every way in which a call can fail, turned into "worth another try" or "asking again changes nothing"."""

import os
import re
import ssl
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson
from aiohttp.http_exceptions import HttpProcessingError

from mixseek.errors import PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.keys import Redaction

# How long an endpoint asks to be left alone, in any of the ways in which endpoints say it.

_DURATION = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|h|m|s)")
# float() would also read "nan", "inf", "1_0" and digits of other scripts.
_NUMBER = re.compile(r"[0-9]{1,16}(\.[0-9]{1,16})?")
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
# Larger numbers are moments since 1970, not durations: nobody asks for a wait of thirty years.
_EPOCH_FROM = 1e9
_EPOCH_MILLISECONDS_FROM = 1e12


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds from `now`, never negative; None where the endpoint named no time that can be read."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    seconds = _wait(headers.get("retry-after", ""), now)
    if seconds is not None:
        return seconds
    resets = {name.lower(): value.strip() for name, value in headers.items() if "ratelimit" in name.lower()}
    waits = {name: wait for name in resets if "reset" in name and (wait := _wait(resets[name], now)) is not None}
    # Only a limit that is used up has to be waited for; the others recover in the background.
    exhausted = [wait for name, wait in waits.items() if resets.get(name.replace("reset", "remaining"), "") == "0"]
    return max(exhausted) if exhausted else min(waits.values(), default=None)


def _wait(value: str, now: datetime) -> float | None:
    value = value.strip()
    if _NUMBER.fullmatch(value):
        number = float(value)
        if number >= _EPOCH_FROM:
            number = number / (1000 if number >= _EPOCH_MILLISECONDS_FROM else 1) - now.timestamp()
        return max(0.0, number)
    if value and _DURATION.sub("", value) == "":
        return sum(float(amount) * _UNIT_SECONDS[unit] for amount, unit in _DURATION.findall(value))
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - now).total_seconds())
    return None


# What an endpoint says about a request that it refuses, and what the refusal is about.

_REFUSALS = tomllib.loads((Path(__file__).parent / "refusals.toml").read_text(encoding="utf-8"))
_WORDINGS = {subject: re.compile("|".join(wordings), re.IGNORECASE) for subject, wordings in _REFUSALS.items()}
_LEADING_NAME = re.compile(r"^([a-z_]{2,}(?:\.[\w.-]+|\[\d+\][\w.]*)?): ")
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

    def names_any(self, parameters: Iterable[str]) -> bool:
        """True when one of the parameters that were sent is blamed; the sample's own text does not count."""
        if self.parameter is not None:
            return self.parameter in set(parameters) - _SAMPLE_PARAMETERS
        names = [re.escape(name) for name in parameters if name not in _SAMPLE_PARAMETERS and name != "model"]
        return bool(names) and bool(re.search(rf"\b({'|'.join(names)})\b", f"{self.code} {self.message}"))


def read_refusal(body: bytes) -> Refusal:
    """From any of the shapes in use: {"error": {…}}, {"error": "…"}, {"detail": …}, {"message": …}, or plain text."""
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
    told = (holder.get(name) for name in ("message", "detail", "error_message", "msg"))
    value = error if isinstance(error, str) and error else next(filter(None, told), holder or "")
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


_ERRNO = re.compile(r"\[Errno (\d+)\]")
# What a request may raise; asyncio.CancelledError is not a failure and passes through.
FOREIGN_ERRORS = (aiohttp.ClientError, HttpProcessingError, TimeoutError, OSError)
_OVERLOAD_STATUSES = frozenset({429, 503, 529})
_TRANSIENT_STATUSES = frozenset({408, 409, 425, *_OVERLOAD_STATUSES})
# Shorter ones are kept without a word.
_LONG_WAIT_SECONDS = 60.0
# A refusal of what was sent; whether it blames this sample or every sample is in its words.
_REQUEST_STATUSES = frozenset({400, 413, 422})


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


class Mishap(NamedTuple):
    """An error on the way: what is said of it in a run ({reason}, {seconds}, {error}), and what a check advises."""

    kinds: tuple[type[BaseException], ...]
    words: str
    advice: str | None = None
    is_permanent: bool = False


_LATE = "no answer in time: the host is slow, loading its model, or behind a firewall; see timeout_seconds"
_CLOSED = "the server closed the connection: look into its log; does the port speak http?"
# The first kind that fits.
_MISHAPS = (
    Mishap(
        (aiohttp.ClientConnectorDNSError,),
        # A laptop may be offline for a moment.
        "its host name cannot be resolved; offline, or misspelt?",
        "DNS: the host name does not resolve; check its spelling and that this machine is online",
    ),
    Mishap(
        (ssl.CertificateError, aiohttp.ClientConnectorCertificateError, aiohttp.ServerFingerprintMismatch),
        "its TLS certificate is not trusted ({reason})",
        "TLS: the certificate is not trusted here; install its authority (SSL_CERT_FILE), or mend the host",
        is_permanent=True,
    ),
    Mishap(
        (aiohttp.ClientSSLError, ssl.SSLError),
        "TLS failed ({reason})",
        "TLS: the handshake failed; does the port speak https, or should the base URL begin with http://?",
    ),
    Mishap(
        (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError, aiohttp.RedirectClientError),
        "the base URL is not usable; correct it",
        is_permanent=True,
    ),
    Mishap((aiohttp.ClientHttpProxyError,), "the proxy answered {error.status} {error.message}"),
    Mishap((aiohttp.ConnectionTimeoutError,), "no connection within the time limit", _LATE),
    Mishap((TimeoutError,), "no complete answer within {seconds:g} s", _LATE),
    Mishap((aiohttp.ClientPayloadError,), "the answer broke off ({reason})", _CLOSED),
    Mishap(
        (aiohttp.ServerDisconnectedError, aiohttp.ClientConnectionResetError, ConnectionResetError),
        "the connection was dropped before an answer came",
        _CLOSED,
    ),
    Mishap(
        (aiohttp.ClientConnectorError, ConnectionRefusedError),
        "cannot connect ({reason})",
        "nothing listens there: start the server, or correct host and port of the base URL",
    ),
    Mishap((aiohttp.ClientResponseError,), "what came back is not HTTP ({reason})"),
    Mishap((BaseException,), "the call failed ({reason})"),
)


def mishap_of(error: BaseException) -> Mishap:
    """Which of them it is."""
    return next(mishap for mishap in _MISHAPS if isinstance(error, mishap.kinds))


def map_exception(error: Exception, place: Place, timeout_seconds: float) -> TransientJudgeError | PermanentJudgeError:
    """For an error on the way to the endpoint or back; raise the result from `error`."""
    mishap = mishap_of(error)
    line = place.line(mishap.words.format(reason=_reason(error), seconds=timeout_seconds, error=error))
    is_refused = isinstance(error, aiohttp.ClientHttpProxyError) and error.status in (401, 403, 407)
    if mishap.is_permanent or is_refused:
        return PermanentJudgeError(line, concerns_everything=True)
    return TransientJudgeError(line)


def map_status(
    status: int, headers: Mapping[str, str], body: bytes, place: Place, *, parameters: Collection[str], now: datetime
) -> TransientJudgeError | PermanentJudgeError:
    """For an answer that is not a 200; `parameters` are the names that the request's body held."""
    refusal = read_refusal(body)
    words = refusal.message.strip() or "no explanation"
    failure: TransientJudgeError | PermanentJudgeError
    is_broke = status == 429 and refusal.is_about("out_of_money")
    if status < 300:
        # 204, 101 and their like hold no reply: a proxy's slip in the middle of a run, as a 502 is.
        failure = TransientJudgeError(place.line(f"answered {status} without a reply"))
    elif (status in _TRANSIENT_STATUSES or status >= 500) and not is_broke:
        is_overload = status in _OVERLOAD_STATUSES
        wait = retry_after_seconds(headers, now) if is_overload or "retry-after" in headers else None
        asked = f" (asks to wait {wait:.0f} s)" if wait is not None and wait >= _LONG_WAIT_SECONDS else ""
        failure = TransientJudgeError(
            place.line(f"answered {status}: {words}{asked}"), retry_after_seconds=wait, is_overload=is_overload
        )
    elif 300 <= status < 400:
        # Not followed: it would carry the key to another host.
        target = headers.get("location", "nowhere")
        line = place.line(f"answered {status}, a redirect to {target}; use the final address as base URL")
        failure = PermanentJudgeError(line, concerns_everything=True)
    else:
        hint = f"; {place.key_hint}" if status == 401 and place.key_hint else ""
        line = place.line(f"answered {status}: {place.redaction.line(words)}{hint}")
        failure = PermanentJudgeError(line, concerns_everything=_concerns_everything(status, refusal, parameters))
    failure.__cause__ = StatusError(status, refusal)
    return failure


def _concerns_everything(status: int, refusal: Refusal, parameters: Collection[str]) -> bool:
    if status in _REQUEST_STATUSES:
        if refusal.is_about_this_sample or status == 413:
            return False
        return refusal.is_about("out_of_money") or refusal.names_model or refusal.names_any(parameters)
    # A gateway's moderation answers 403 for one prompt; every other 403 is about the key.
    return not (status in (403, 451) and refusal.is_about("content"))


def _reason(error: Exception) -> str:
    """The shortest text that says what happened; aiohttp's own begin with the address that we name already."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return str(error.certificate_error)
    inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(inner, OSError) and not isinstance(inner, ssl.SSLError):
        # asyncio writes "Connect call failed" over the system's own words, once per address that was tried.
        number = inner.errno or next((int(found) for found in _ERRNO.findall(str(inner))), 0)
        if number > 0:
            return os.strerror(number)
    said = (getattr(inner, name, None) for name in ("strerror", "message"))
    return str(next(filter(None, said), inner)) or type(inner).__name__
