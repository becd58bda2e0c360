"""Every foreign failure has a place in the tree of judge call errors."""

import asyncio
import errno
import inspect
import socket
import ssl
from datetime import UTC, datetime
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import client_exceptions, http_exceptions
from aiohttp.client_reqrep import ConnectionKey, RequestInfo
from multidict import CIMultiDict, CIMultiDictProxy
from tests.cases import each
from tests.unit.judges.loopback import CANARY
from tests.unit.judges.wire_documents import openai_error
from yarl import URL

from mixseek.errors import PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.errors import FOREIGN_ERRORS, Place, StatusError, map_exception, map_status
from mixseek.judges.keys.redaction import Redaction
from mixseek.judges.keys.secret import Secret

PLACE = Place("openai:m", "https://api.x", Redaction([Secret(CANARY)]), "set the environment variable K")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_KEY = ConnectionKey("api.x", 443, True, True, None, None, None)
_INFO = RequestInfo(URL("https://api.x"), "POST", CIMultiDictProxy(CIMultiDict()), URL("https://api.x"))


def example_of(kind: type[Exception]) -> Exception:
    """An instance, made as aiohttp makes it."""
    if issubclass(kind, aiohttp.ClientConnectorCertificateError):
        return kind(_KEY, ssl.SSLCertVerificationError(1, f"self-signed certificate {CANARY}"))
    if issubclass(kind, client_exceptions.UnixClientConnectorError):
        return kind("/tmp/socket", _KEY, OSError(errno.ECONNREFUSED, "Connection refused"))  # noqa: S108 - not opened
    if issubclass(kind, aiohttp.ClientConnectorError):
        return kind(_KEY, OSError(errno.ECONNREFUSED, f"Connection refused {CANARY}"))
    if issubclass(kind, aiohttp.ClientResponseError):
        return kind(_INFO, (), status=502, message=f"bad {CANARY}")
    if issubclass(kind, aiohttp.ServerFingerprintMismatch):
        return kind(b"a", b"b", "api.x", 443)
    if issubclass(kind, http_exceptions.BadHttpMessage):
        return http_exceptions.BadHttpMessage(f"bad {CANARY}")
    return kind(f"words {CANARY}\nof two lines")


CLIENT_ERRORS = [
    kind
    for _, kind in inspect.getmembers(client_exceptions, inspect.isclass)
    if issubclass(kind, Exception) and kind.__module__ == client_exceptions.__name__
]
SYSTEM_ERRORS = [
    asyncio.TimeoutError,
    OSError,
    ConnectionResetError,
    ConnectionRefusedError,
    BrokenPipeError,
    socket.gaierror,
    ssl.SSLError,
    ssl.SSLCertVerificationError,
    ssl.SSLZeroReturnError,
    http_exceptions.BadHttpMessage,
]


@each("kind", [*CLIENT_ERRORS, *SYSTEM_ERRORS])
def test_every_foreign_exception_is_caught_and_mapped(kind: type[Exception]) -> None:
    """A websocket's type error is no HTTP failure; all others are what a call may meet."""
    error = example_of(kind)
    mapped = map_exception(error, PLACE, 120.0)

    assert isinstance(error, FOREIGN_ERRORS) or kind is aiohttp.WSMessageTypeError
    assert isinstance(mapped, TransientJudgeError | PermanentJudgeError)
    assert str(mapped).startswith("judge openai:m at https://api.x: ")
    assert "\n" not in str(mapped)
    assert CANARY not in str(mapped)


def test_there_are_client_errors_to_map() -> None:
    assert len(CLIENT_ERRORS) >= 25


@each(
    ("kind", "is_permanent"),
    [
        (aiohttp.ClientConnectorDNSError, False),
        (aiohttp.ClientConnectorSSLError, False),
        (aiohttp.ClientConnectorCertificateError, True),
        (aiohttp.ServerFingerprintMismatch, True),
        (ssl.SSLCertVerificationError, True),
        (aiohttp.InvalidURL, True),
        (aiohttp.ServerDisconnectedError, False),
        (aiohttp.ClientPayloadError, False),
        (asyncio.TimeoutError, False),
    ],
)
def test_only_what_no_waiting_mends_is_permanent_and_then_it_concerns_every_sample(
    kind: type[Exception], is_permanent: bool
) -> None:
    mapped = map_exception(example_of(kind), PLACE, 120.0)

    assert isinstance(mapped, PermanentJudgeError) is is_permanent
    assert getattr(mapped, "concerns_everything", False) is is_permanent


@pytest.mark.parametrize(("status", "is_permanent"), [(407, True), (403, True), (502, False)])
def test_a_proxy_that_refuses_is_permanent(status: int, is_permanent: bool) -> None:
    mapped = map_exception(aiohttp.ClientHttpProxyError(_INFO, (), status=status, message="no"), PLACE, 1.0)

    assert isinstance(mapped, PermanentJudgeError) is is_permanent


def mapped_status(
    status: int, document: Any = None, headers: dict[str, str] | None = None, parameters: tuple[str, ...] = ("model",)
) -> TransientJudgeError | PermanentJudgeError:
    body = document if isinstance(document, bytes) else orjson.dumps(document or openai_error("words"))
    return map_status(status, headers or {}, body, PLACE, parameters=parameters, now=NOW)


@each("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529])
def test_statuses_that_pass_are_transient_and_too_many_at_once_is_overload(status: int) -> None:
    failure = mapped_status(status, headers={"retry-after": "7"})

    assert isinstance(failure, TransientJudgeError)
    assert failure.is_overload is (status in (429, 503, 529))
    assert failure.retry_after_seconds == 7.0
    assert str(failure) == f"judge openai:m at https://api.x: answered {status}: words"


@each("status", [401, 402, 403, 404, 405, 410, 301, 307])
def test_statuses_about_the_key_the_model_or_the_address_stop_the_run(status: int) -> None:
    failure = mapped_status(status)

    assert isinstance(failure, PermanentJudgeError)
    assert failure.concerns_everything
    assert isinstance(failure.__cause__, StatusError)


SAMPLE_ONLY = [
    (400, openai_error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded")),
    (400, {"error": {"code": 400, "message": "the request exceeds the available context size", "type": "exceed_x"}}),
    (400, {"object": "error", "message": "max_tokens must be at least 1: maximum context length is 8", "code": 400}),
    (400, openai_error("Invalid 'messages[1].content': string too long", param="messages[1].content")),
    (400, openai_error("The response was filtered", code="content_filter")),
    (400, openai_error("Could not parse the input")),
    (403, openai_error("Your input was flagged by moderation")),
    (413, b"<html><title>413 Request Entity Too Large</title></html>"),
    (422, {"detail": [{"loc": ["body", "messages", 0], "msg": "too odd"}]}),
]
EVERYTHING = [
    (400, openai_error("The model `m` does not exist", code="model_not_found")),
    (400, openai_error("invalid model ID")),
    (400, openai_error("Unsupported value: 'temperature' does not support 0", param="temperature")),
    (400, openai_error("Unrecognized request argument supplied: top_k")),
    (404, {"error": 'model "m" not found, try pulling it first'}),
    (422, {"detail": [{"loc": ["body", "temperature"], "msg": "Input should be less than 2"}]}),
    (429, openai_error("You exceeded your current quota", kind="insufficient_quota", code="insufficient_quota")),
    (400, [{"error": {"code": 400, "message": "Unknown model: m", "status": "INVALID_ARGUMENT"}}]),
]


@each(
    ("status", "document", "concerns_everything"),
    [(status, document, False) for status, document in SAMPLE_ONLY]
    + [(status, document, True) for status, document in EVERYTHING],
)
def test_a_refusal_stops_the_run_only_if_every_sample_would_meet_it(
    status: int, document: Any, concerns_everything: bool
) -> None:
    failure = mapped_status(status, document, parameters=("model", "messages", "temperature", "max_tokens", "top_k"))

    assert isinstance(failure, PermanentJudgeError)
    assert failure.concerns_everything is concerns_everything


@each(
    ("document", "words"),
    [
        (b"", "no explanation"),
        (b"<html><head><title>502 Bad\nGateway</title></head></html>", "502 Bad Gateway"),
        (b"upstream connect error", "upstream connect error"),
        ({"detail": "Not authenticated"}, "Not authenticated"),
        ({"message": {"a": 1}}, '{"a":1}'),
        ({"error": {}}, "no explanation"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b'"text"', "text"),
    ],
)
def test_the_endpoints_own_words_are_found_in_every_shape(document: Any, words: str) -> None:
    assert words in str(mapped_status(500, document))


def test_an_echoed_key_is_masked_in_every_spelling() -> None:
    spelled = CANARY.replace("/", "%2F").replace("+", "%2B")
    document = openai_error(f"Incorrect key {CANARY} or {spelled} or sk-ca****Zz19; header Bearer {CANARY}")
    text = str(mapped_status(401, document))

    assert "canary" not in text
    assert "Zz19" not in text
    assert text.endswith("; set the environment variable K")


def test_a_long_body_is_cut_and_a_key_across_the_cut_does_not_survive() -> None:
    text = str(mapped_status(500, openai_error("x" * 450 + CANARY * 3)))

    assert len(text) <= 500
    assert "canary" not in text


def test_a_redirect_is_not_followed_but_named() -> None:
    text = str(mapped_status(308, b"", headers={"location": "https://api.x/v1"}))

    assert "a redirect to https://api.x/v1; use the final address as base URL" in text
