"""A judge behind an HTTP endpoint: one call becomes one request, and its answer a reply."""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

import orjson
from multidict import CIMultiDict
from yarl import URL

from mixseek.domain.calls import Answer, Call
from mixseek.domain.judgments import Reply
from mixseek.errors import ConfigurationError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.anthropic_messages import AnthropicMessages
from mixseek.judges.control_tokens import split_control_tokens
from mixseek.judges.deadlines import Deadlines
from mixseek.judges.dialects import PROCESS_MEMORY, DialectMemory
from mixseek.judges.endpoints import Target, WireFormat
from mixseek.judges.errors_map import FOREIGN_ERRORS, Place, StatusError, map_exception, map_status
from mixseek.judges.http import Connection, connect_timeout, proxy_for, read_body
from mixseek.judges.keys import Redaction, Secret, looks_like_credential, without_credentials
from mixseek.judges.openai_chat import OpenAIChat
from mixseek.judges.wire import Dialect, NoReplyError, Reading, Wire

_WIRES: Mapping[WireFormat, Wire] = {
    WireFormat.OPENAI: OpenAIChat(),
    WireFormat.ANTHROPIC: AnthropicMessages(),
}
_REQUEST_ID_HEADERS = ("x-request-id", "request-id", "apim-request-id")
# Schema → object → none, and the other name for the token limit: no endpoint can send us round more often.
_MAX_DIALECTS = 4
_FROM_ENVIRONMENT = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)")


class _Received(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


class EndpointJudge:
    """Implements LiveJudge for both wire formats. The key is in the headers, and the headers are nobody's to see."""

    def __init__(
        self,
        target: Target,
        environment: Mapping[str, str],
        *,
        dialects: DialectMemory = PROCESS_MEMORY,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.target = target
        self._wire = _WIRES[target.wire]
        self._dialects = dialects
        self._clock = clock
        self._connection = Connection()
        self._url = URL(target.url(self._wire.path), encoded=True)
        self._timeout = connect_timeout(target.settings.timeout_seconds)
        self._deadlines = Deadlines(target.settings.timeout_seconds)
        extra = _resolved_headers(target, environment)
        self._headers = CIMultiDict({"Content-Type": "application/json"} | self._wire.headers(target))
        self._headers.update(extra)
        self._proxy = proxy_for(target.base_url, environment) if target.settings.use_proxy else None
        redaction = Redaction(_secrets(target, extra, self._proxy))
        self._redaction = redaction
        self._place = Place(target.name, target.endpoint, redaction, target.key_hint)

    def __repr__(self) -> str:
        return f"EndpointJudge({self.target.name!r}, model={self.target.model!r}, base_url={self.target.base_url!r})"

    @property
    def name(self) -> str:
        """The spec, or the name of its table in the settings."""
        return self.target.name

    @property
    def endpoint(self) -> str:
        """Scheme, host and port."""
        return self.target.endpoint

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """What it takes to ask the same judge again; parameters that are not sent are left out."""
        target, settings = self.target, self.target.settings
        headers = {name: value for name, value in settings.headers.items() if not looks_like_credential(name)}
        decoding = {
            "temperature": settings.temperature,
            "top_p": settings.top_p,
            "max_tokens": settings.max_tokens,
            "seed": settings.seed,
            "headers": headers or None,
            "body": without_credentials(settings.body) or None,
        }
        return {
            "provider": target.provider,
            "wire": target.wire.value,
            "base_url": target.base_url,
            "model": target.model,
            **{name: value for name, value in decoding.items() if value is not None},
        }

    @cached_property
    def fingerprint(self) -> str:
        """Of what is sent, whatever the provider is called here; the body counts whole, described or not."""
        asked = {name: value for name, value in self.description.items() if name != "provider"}
        asked["body"] = self.target.settings.body
        asked["control_tokens"] = "sent" if self.target.escapes_control_tokens else "split"
        text = json.dumps(asked, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    async def call(self, call: Call) -> Answer:
        """One reply. A request that is refused for how it was put is put in another way: that is no retry."""
        started = self._clock()
        split = 0
        if not self.target.escapes_control_tokens:
            messages, split = split_control_tokens(call.messages)
            call = replace(call, messages=messages) if split else call
        dialect = self._dialects.of(self.target, self._wire)
        requests = 1
        while True:
            body = self._wire.body(call, self.target, dialect)
            received = await self._send(_encoded(body))
            if received.status == 200:
                break
            failure = self._failure(received, body.keys())
            learnt = self._learn(dialect, failure)
            if learnt is None or requests == _MAX_DIALECTS:
                raise failure
            dialect = learnt
            requests += 1
        reading = self._read(received, body.keys())
        if split:
            reading = reading._replace(extra={**reading.extra, "defused_control_tokens": split})
        return self._answer(call, reading, received, self._clock() - started, (dialect, requests))

    async def list_models(self) -> tuple[str, ...]:
        """What the endpoint says it serves; raises like `call`."""
        url = URL(self.target.url(self._wire.models_path), encoded=True)
        received = await self._send(None, url)
        if received.status != 200:
            raise self._failure(received, ())
        document = self._document(received)
        rows = document.get("data") or document.get("models") or []
        names = [row.get("id") or row.get("name") for row in rows if isinstance(row, dict)]
        return tuple(name for name in names if isinstance(name, str))

    async def close(self) -> None:
        """Give connections back; the next call would open them anew."""
        await self._connection.close()

    async def _send(self, body: bytes | None, url: URL | None = None) -> _Received:
        task = self._deadlines.begin()
        try:
            return await self._exchange(body, url or self._url)
        except asyncio.CancelledError:
            if not self._deadlines.was_reached(task):
                raise
            late = TimeoutError()
            raise map_exception(late, self._place, self.target.settings.timeout_seconds) from late
        except FOREIGN_ERRORS as error:
            raise map_exception(error, self._place, self.target.settings.timeout_seconds) from error
        finally:
            self._deadlines.end(task)

    async def _exchange(self, body: bytes | None, url: URL) -> _Received:
        response = await self._connection.session().request(
            "GET" if body is None else "POST",
            url,
            data=body,
            headers=self._headers,
            timeout=self._timeout,
            allow_redirects=False,
            proxy=self._proxy,
        )
        if response.status < 200:
            # 101: what follows belongs to another protocol, and has no end.
            response.close()
            return _Received(response.status, response.headers, b"")
        try:
            return _Received(response.status, response.headers, await read_body(response))
        except BaseException:
            # Half an answer is left in it: nobody else may have this connection.
            response.close()
            raise

    def _failure(self, received: _Received, parameters: Any) -> TransientJudgeError | PermanentJudgeError:
        return map_status(
            received.status,
            received.headers,
            received.body,
            self._place,
            parameters=tuple(parameters),
            now=datetime.now(UTC),
        )

    def _learn(self, used: Dialect, failure: TransientJudgeError | PermanentJudgeError) -> Dialect | None:
        cause = failure.__cause__
        if not isinstance(failure, PermanentJudgeError) or not isinstance(cause, StatusError):
            return None
        # OpenRouter says 404 when no provider of a model supports the parameters.
        if cause.status not in (400, 404, 422):
            return None
        return self._dialects.learn(self.target, self._wire, used, cause.refusal)

    def _document(self, received: _Received) -> Mapping[str, Any]:
        body = self._redaction.body(received.body)
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError:
            document = self._unusual_document(body, received)
        if not isinstance(document, dict):
            raise TransientJudgeError(
                self._place.line(f"answered 200 with a JSON {type(document).__name__}, no object")
            )
        return document

    def _unusual_document(self, body: bytes, received: _Received) -> Any:
        """Half a surrogate pair, bytes that are not UTF-8 and a byte order mark are read; orjson refuses them."""
        try:
            return json.loads(body.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError) as error:
            kind = received.headers.get("content-type", "no content type").partition(";")[0]
            start = self._redaction.line(body[:200].decode("utf-8", "replace"), limit=80)
            raise TransientJudgeError(
                self._place.line(f"answered 200 with {kind} that is not whole JSON ({start or 'empty'})")
            ) from error

    def _read(self, received: _Received, parameters: Any) -> Reading:
        document = self._document(received)
        try:
            return self._wire.read(document)
        except NoReplyError as error:
            if error.status is not None:
                raise self._failure(_Received(error.status, received.headers, received.body), parameters) from error
            usage = self._wire.usage(document)
            billed = usage if usage.input_tokens or usage.output_tokens else None
            raise TransientJudgeError(self._place.line(f"answered 200: {error}"), billed_tokens=billed) from error

    def _answer(
        self, call: Call, reading: Reading, received: _Received, latency: float, put: tuple[Dialect, int]
    ) -> Answer:
        dialect, requests = put
        usage, headers = reading.usage, received.headers
        given = next((headers[name] for name in _REQUEST_ID_HEADERS if name in headers), None)
        request_id = given or reading.request_id
        details: dict[str, Any] = {
            "take": call.take,
            "ask": call.ask,
            "usage": {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
                "cached_input_tokens": usage.cached_input_tokens,
            },
            "latency_seconds": round(latency, 4),
            "finish_reason": reading.finish_reason,
            "request_id": request_id,
            "model": reading.model,
            # Who judged, whatever the judge is called in the settings: self-judging is derived from it.
            "judge_model": f"{self.target.provider}:{self.target.model}",
            "schema": dialect.schema.value,
            "requests": requests,
            **reading.extra,
        }
        reply = Reply(reading.text, self.target.name, attempt=call.ask, details=details)
        return Answer(reply, usage, latency, reading.finish_reason, request_id, reading.model)


def _encoded(body: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:
        # Half a surrogate pair in a judged text, or a mapping that is no dict: JSON's own escapes hold both.
        return json.dumps(body, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot stand in a request")


def _resolved_headers(target: Target, environment: Mapping[str, str]) -> dict[str, str]:
    resolved = {}
    for name, value in target.settings.headers.items():
        variable = _FROM_ENVIRONMENT.fullmatch(value)
        if variable is not None:
            value = environment.get(variable[1], "")
            if not value:
                raise ConfigurationError(
                    f"judge {target.name!r}: header {name} needs the environment variable {variable[1]}; set it"
                )
        if not value.isprintable() or not name.isprintable():
            raise ConfigurationError(f"judge {target.name!r}: header {name!r} holds what no header can carry")
        resolved[name] = value
    return resolved


def _secrets(target: Target, headers: Mapping[str, str], proxy: str | None) -> list[Secret]:
    secrets = [] if target.key is None else [target.key]
    for name, value in headers.items():
        if looks_like_credential(name) or value != target.settings.headers[name]:
            secrets += [Secret(value), Secret(value.rpartition(" ")[2])]
    password = URL(proxy).password if proxy else None
    return [*secrets, Secret(password)] if password else secrets
