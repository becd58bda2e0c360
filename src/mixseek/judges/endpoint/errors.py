"""Every way in which a call can fail, turned into "worth another try" or "asking again changes nothing"."""

import os
import re
import ssl
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from mixseek.errors import PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.refusals import Refusal, read_refusal
from mixseek.judges.endpoint.retry_after import retry_after_seconds
from mixseek.judges.keys.redaction import Redaction
from mixseek.lazy_dataclass import dataclass

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
    """The failure for an error on the way to the endpoint or back; raise the result from `error`."""
    mishap = mishap_of(error)
    line = place.line(mishap.words.format(reason=_reason(error), seconds=timeout_seconds, error=error))
    is_refused = isinstance(error, aiohttp.ClientHttpProxyError) and error.status in (401, 403, 407)
    if mishap.is_permanent or is_refused:
        return PermanentJudgeError(line, concerns_everything=True)
    return TransientJudgeError(line)


def map_status(
    status: int, headers: Mapping[str, str], body: bytes, place: Place, *, parameters: Collection[str], now: datetime
) -> TransientJudgeError | PermanentJudgeError:
    """The failure for an answer that is not a 200; `parameters` are the names that the request's body held."""
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
        failure = PermanentJudgeError(
            line,
            concerns_everything=_concerns_everything(status, refusal, parameters),
            is_withheld=refusal.is_about("content"),
        )
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
        number = inner.errno or next((int(digits) for digits in _ERRNO.findall(str(inner))), 0)
        if number > 0:
            return os.strerror(number)
    texts = (getattr(inner, name, None) for name in ("strerror", "message"))
    return str(next(filter(None, texts), inner)) or type(inner).__name__
