"""Every way in which a call can fail, turned into "worth another try" or "asking again changes nothing"."""

import asyncio
import os
import re
import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from mixseek.errors import PermanentJudgeError, TransientJudgeError
from mixseek.judges.error_bodies import Refusal, read_refusal
from mixseek.judges.keys import Redaction
from mixseek.judges.retry_times import retry_after_seconds

_ERRNO = re.compile(r"\[Errno (\d+)\]")
# What a request may raise; asyncio.CancelledError is not a failure and passes through.
FOREIGN_ERRORS = (aiohttp.ClientError, HttpProcessingError, asyncio.TimeoutError, OSError)
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
    match error:
        case aiohttp.ClientConnectorDNSError():
            # A laptop may be offline for a moment; `judges check` explains it if it is not.
            return TransientJudgeError(place.line("its host name cannot be resolved; offline, or misspelt?"))
        case _ if isinstance(error, _CERTIFICATE_ERRORS):
            return PermanentJudgeError(
                place.line(f"its TLS certificate is not trusted ({_reason(error)})"), concerns_everything=True
            )
        case aiohttp.ClientSSLError() | ssl.SSLError():
            return TransientJudgeError(place.line(f"TLS failed ({_reason(error)})"))
        case _ if isinstance(error, _ADDRESS_ERRORS):
            return PermanentJudgeError(place.line("the base URL is not usable; correct it"), concerns_everything=True)
        case aiohttp.ClientHttpProxyError():
            is_refused = error.status in (401, 403, 407)
            text = place.line(f"the proxy answered {error.status} {error.message}")
            return PermanentJudgeError(text, concerns_everything=True) if is_refused else TransientJudgeError(text)
        case aiohttp.ConnectionTimeoutError():
            return TransientJudgeError(place.line("no connection within the time limit"))
        case asyncio.TimeoutError():
            return TransientJudgeError(place.line(f"no complete answer within {timeout_seconds:g} s"))
        case aiohttp.ClientPayloadError():
            return TransientJudgeError(place.line(f"the answer broke off ({_reason(error)})"))
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientConnectionResetError() | ConnectionResetError():
            return TransientJudgeError(place.line("the connection was dropped before an answer came"))
        case aiohttp.ClientConnectorError() | ConnectionRefusedError():
            return TransientJudgeError(place.line(f"cannot connect ({_reason(error)})"))
        case aiohttp.ClientResponseError():
            return TransientJudgeError(place.line(f"what came back is not HTTP ({_reason(error)})"))
        case _:
            return TransientJudgeError(place.line(f"the call failed ({_reason(error)})"))


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
