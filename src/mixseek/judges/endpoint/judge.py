"""A judge behind an HTTP endpoint: one call becomes one request, and its answer a reply."""

import asyncio
import difflib
import hashlib
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

import aiohttp
import orjson
from multidict import CIMultiDict
from yarl import URL

from mixseek.domain.ports import Answer, Call, LiveJudge, Message
from mixseek.errors import ConfigurationError, JudgeCallError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.address import DECISION_WIRES, Target
from mixseek.judges.endpoint.answers import (
    Dialect,
    NoReplyError,
    ReadAnswer,
    decoding,
    encoded,
    items,
    make_answer,
    without_keys,
)
from mixseek.judges.endpoint.anthropic_messages import AnthropicMessages
from mixseek.judges.endpoint.connection import CONNECT_TIMEOUT_SECONDS, open_session, proxy_for, read_body
from mixseek.judges.endpoint.control_tokens import split_control_tokens
from mixseek.judges.endpoint.decisions import OpenAIDecisions, SystemOne
from mixseek.judges.endpoint.dialects import PROCESS_MEMORY, DialectMemory, Wire
from mixseek.judges.endpoint.errors import FOREIGN_ERRORS, Place, StatusError, map_exception, map_status
from mixseek.judges.endpoint.logprobs import NO_FIELDS, compact_logprobs
from mixseek.judges.endpoint.openai_chat import OpenAIChat
from mixseek.judges.endpoint.pictures import with_pictures
from mixseek.judges.endpoint.prompt_cache import prefix_names
from mixseek.judges.endpoint.refusals import read_refusal
from mixseek.judges.keys.redaction import Redaction
from mixseek.judges.keys.secret import Secret
from mixseek.judges.keys.shapes import looks_like_credential, names_variable, without_credentials
from mixseek.protocols.questions import digest_of_usual_words
from mixseek.protocols.replies.token_shares import LOGPROBS
from mixseek.settings.models import WireFormat

_WIRES: Mapping[WireFormat, Wire] = {
    WireFormat.OPENAI: OpenAIChat(),
    WireFormat.ANTHROPIC: AnthropicMessages(),
    WireFormat.DECISIONS: OpenAIDecisions(),
    WireFormat.SYSTEMONE: SystemOne(),
}
_SHOWN_MODELS = 12
_WRONG_PATH = "the path may be wrong: a base URL often ends in /v1"
_REQUEST_ID_HEADERS = ("x-request-id", "request-id", "apim-request-id")
# Schema → object → none, the other name for the token limit, fewer alternatives of a token and none: no endpoint can
# send us round more often.
_MAX_DIALECTS = 6
# Endings of replies that are none: their tokens are elsewhere, or nowhere.
_NO_REPLY = ("refusal", "content_filter", "tool_calls")


class Received(NamedTuple):
    """An HTTP answer, as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Prepared(NamedTuple):
    """One request's body, what it was put in, and what had to be split before it may be sent."""

    body: dict[str, Any]
    dialect: Dialect
    split: int


class Access(NamedTuple):
    """What it takes to ask the same host for something else than a reply, such as a batch. Never to be shown."""

    headers: Mapping[str, str]
    proxy: str | None
    redaction: Redaction
    place: Place


class EndpointJudge:
    """Implements LiveJudge for both wire formats. The key is in the headers, and the headers are nobody's to see."""

    def __init__(
        self, target: Target, environment: Mapping[str, str], *, dialects: DialectMemory = PROCESS_MEMORY
    ) -> None:
        self.target = target
        self.name, self.endpoint = target.name, target.endpoint
        self.wire = _WIRES[target.wire]
        self._dialects = dialects
        self._session: aiohttp.ClientSession | None = None
        self._advising: asyncio.Future[str] | None = None
        self._notify: Callable[[str], None] | None = None
        self._told_limits: set[int] = set()
        self._url = URL(target.url(self.wire.path), encoded=True)
        # For connecting alone: aiohttp's own limit for a whole call costs a sixth of it, asyncio's next to nothing.
        connect_seconds = min(CONNECT_TIMEOUT_SECONDS, target.settings.timeout_seconds)
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds)
        extra = _resolved_headers(target, environment)
        self._headers = CIMultiDict({"Content-Type": "application/json", **self.wire.headers})
        if target.key is not None:
            bearer = "Bearer " if target.key_header == "Authorization" else ""
            self._headers[target.key_header] = f"{bearer}{target.key.reveal()}"
        self._headers.update(extra)
        self._proxy = proxy_for(target.base_url, environment) if target.settings.use_proxy else None
        self._redaction = Redaction(_secrets(target, extra, self._proxy))
        self._place = Place(target.name, target.endpoint, self._redaction, target.key_hint)

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """What it takes to ask the same judge again; parameters that are not sent are left out."""
        target, settings = self.target, self.target.settings
        headers = {name: value for name, value in settings.headers.items() if not looks_like_credential(name)}
        extra = {"headers": headers, "body": without_credentials(settings.body)}
        description = {
            "provider": target.provider,
            "wire": target.wire.value,
            "base_url": target.base_url,
            "model": target.model,
            **decoding(settings, take=1),
            **({"images": True} if settings.images else {}),
            **({"logprobs": True} if settings.logprobs else {}),
            **({} if settings.top_logprobs is None else {"top_logprobs": settings.top_logprobs}),
            **{name: value for name, value in extra.items() if value},
        }
        # Keys in a table are refused; one that stands in a model's name is at least not written down.
        return dict(self._redaction.document(description))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what is sent, whatever the provider is called here; the body counts whole, described or not."""
        asked = {name: value for name, value in self.description.items() if name != "provider"}
        asked["body"] = self.target.settings.body
        if self.asks_questions:
            asked["questions"] = digest_of_usual_words()
        asked["control_tokens"] = "sent" if self.target.escapes_control_tokens else "split"
        text = json.dumps(asked, sort_keys=True, separators=(",", ":"), default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def asks_questions(self) -> bool:
        """Whether it is asked a protocol's questions, and gives probabilities for a text."""
        return self.target.wire in DECISION_WIRES

    async def call(self, call: Call) -> Answer:
        """One reply. A request that is refused for how it was put is put in another way: that is no retry."""
        if self.asks_questions and not call.questions:
            words = "answers questions, and what it is asked here has none; name a judge that writes"
            raise PermanentJudgeError(self._place.line(words), concerns_everything=True)
        started = time.perf_counter()
        requests = 1
        while True:
            prepared = self.prepare(call)
            received = await self._send(encoded(prepared.body))
            if received.status == 200:
                break
            failure = self._failure(received, prepared.body.keys())
            if self._learn(prepared.dialect, failure) is None or requests == _MAX_DIALECTS:
                raise await self._with_advice(failure)
            requests += 1
        reading = self._read(received, prepared.body.keys())
        if given_id := next(filter(None, map(received.headers.get, _REQUEST_ID_HEADERS)), None):
            reading = reading._replace(request_id=given_id)
        return self._answer(call, prepared, reading, time.perf_counter() - started, requests)

    def cached_prefixes(self, messages: Sequence[Message]) -> Sequence[str]:
        """Beginnings of the prompt that the endpoint caches, by name, the shortest first; none where it is not told."""
        is_told = self._dialects.of(self.target, self.wire).marks_prefix
        return prefix_names(messages, self.target.model) if is_told else ()

    def prepare(self, call: Call, wire: Wire | None = None) -> Prepared:
        """What is sent for it, in the dialect that is believed now; `wire` is the judge's own unless given."""
        wire, split = wire or self.wire, 0
        if not self.target.escapes_control_tokens:
            messages, split = split_control_tokens(call.messages)
            call = replace(call, messages=messages) if split else call
        dialect = self._dialects.of(self.target, wire)
        body = wire.body(call, self.target, dialect)
        if self.target.settings.images and wire is self.wire:
            body = with_pictures(body, call.messages, self.target.wire)
        return Prepared(body, dialect, split)

    def read_document(self, call: Call, document: Mapping[str, Any], wire: Wire) -> Answer:
        """The answer out of a batch's result; raises like `call`."""
        prepared = self.prepare(call, wire)
        return self._answer(call, prepared, self._read_in(document, wire, prepared.body.keys()), None)

    def read_failure(
        self, call: Call, status: int, body: bytes, wire: Wire
    ) -> TransientJudgeError | PermanentJudgeError:
        """Why a request in a batch got no reply; one that is put in another way from now on may be tried again."""
        prepared = self.prepare(call, wire)
        failure = self._failure(Received(status, {}, body), prepared.body.keys())
        if self._learn(prepared.dialect, failure, wire) is not None:
            return TransientJudgeError(str(failure))
        return failure

    @property
    def access(self) -> Access:
        """What other requests to the same host need."""
        return Access(self._headers, self._proxy, self._redaction, self._place)

    def _answer(
        self, call: Call, prepared: Prepared, reading: ReadAnswer, seconds: float | None, requests: int = 1
    ) -> Answer:
        if prepared.split:
            reading = reading._replace(extra={**reading.extra, "defused_control_tokens": prepared.split})
        reading = without_keys(self._with_verdict_tokens(call, prepared, reading), self._redaction)
        who = (self.target.name, f"{self.target.provider}:{self.target.model}")
        return make_answer(call, who, reading, seconds, prepared.dialect.schema, requests)

    def tell_to(self, notify: Callable[[str], None]) -> None:
        """Who is told, once, what the endpoint turned out not to have."""
        self._notify = notify

    def _with_verdict_tokens(self, call: Call, prepared: Prepared, reading: ReadAnswer) -> ReadAnswer:
        """Keeps the tokens that a verdict is read from; where none came, that is learnt."""
        given, reading = reading.logprobs, reading._replace(logprobs=None)
        if not self.target.settings.logprobs:
            return reading
        if not call.verdict_fields:
            return reading._replace(extra={**reading.extra, LOGPROBS: {"problem": NO_FIELDS}})
        kept = compact_logprobs(reading.text, given, call.verdict_fields)
        was_asked = "logprobs" in prepared.body
        if was_asked and not items(given) and reading.text and reading.finish_reason not in _NO_REPLY:
            self._dialects.forget_logprobs(self.target, self.wire)
        self._tell_of_logprobs()
        return reading._replace(extra={**reading.extra, LOGPROBS: kept})

    def _tell_of_logprobs(self) -> None:
        """Says it once for each number of alternatives that turned out to be the most."""
        wanted = self.target.top_logprobs
        most = min(wanted, self._dialects.of(self.target, self.wire).most_logprobs)
        if (most and most == wanted) or most in self._told_limits or self._notify is None:
            return
        self._told_limits.add(most)
        if most:
            self._notify(
                f"gives at most {most} alternatives of a token, not {wanted}: top_logprobs is {most} from now on"
            )
        else:
            self._notify(
                "gives no token probabilities (logprobs): it judges without, and without a confidence from them"
            )

    async def _with_advice(self, failure: JudgeCallError) -> JudgeCallError:
        """A wrong path or model ends the run: with the words that a check would have for it."""
        cause = failure.__cause__
        if not (isinstance(failure, PermanentJudgeError) and failure.concerns_everything):
            return failure
        if not isinstance(cause, StatusError) or not (cause.status in (404, 405) or cause.refusal.names_model):
            return failure
        if self._advising is None:
            # Once, however many requests meet it at the same time.
            self._advising = asyncio.ensure_future(models_advice(self))
        advice = await asyncio.shield(self._advising)
        advised = PermanentJudgeError(f"{failure}; {advice}", concerns_everything=True)
        advised.__cause__ = cause
        return advised

    async def list_models(self) -> list[str]:
        """What the endpoint says it serves; raises like `call`."""
        received = await self._send(None, URL(self.target.url(self.wire.models_path), encoded=True))
        if received.status != 200:
            raise self._failure(received, ())
        document = self._document(received)
        names = [row.get("id") or row.get("name") for row in items(document.get("data") or document.get("models"))]
        return [self._redaction.reply(name) for name in names if isinstance(name, str)]

    async def close(self) -> None:
        """Give connections back; the next call would open them anew."""
        if self._advising is not None:
            self._advising.cancel()
            self._advising = None
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _send(self, body: bytes | None, url: URL | None = None) -> Received:
        seconds = self.target.settings.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(body, url or self._url)
        except FOREIGN_ERRORS as error:
            raise map_exception(error, self._place, seconds) from error

    async def _exchange(self, body: bytes | None, url: URL) -> Received:
        if self._session is None:
            # Of the running loop: a judge that was closed in one may be asked in another.
            self._session = open_session()
        async with self._session.request(
            "GET" if body is None else "POST",
            url,
            data=body,
            headers=self._headers,
            timeout=self._timeout,
            allow_redirects=False,
            proxy=self._proxy,
        ) as response:
            # After 101 comes another protocol, without end. Nobody else gets a connection with half an answer in it.
            content = await read_body(response) if response.status >= 200 else b""
            return Received(response.status, response.headers, content)

    def _failure(self, received: Received, parameters: Collection[str]) -> TransientJudgeError | PermanentJudgeError:
        return map_status(*received, self._place, parameters=parameters, now=datetime.now(UTC))

    def _learn(
        self, used: Dialect, failure: TransientJudgeError | PermanentJudgeError, wire: Wire | None = None
    ) -> Dialect | None:
        cause = failure.__cause__
        # OpenRouter says 404 when no provider of a model supports the parameters.
        if isinstance(cause, StatusError) and cause.status in (400, 404, 422):
            learnt = self._dialects.learn(self.target, wire or self.wire, used, cause.refusal)
            if learnt is not None and self.target.top_logprobs:
                self._tell_of_logprobs()
            return learnt
        return None

    def _document(self, received: Received) -> Mapping[str, Any]:
        try:
            document = _decoded(received.body)
        except (ValueError, RecursionError) as error:
            kind = received.headers.get("content-type", "no content type").partition(";")[0]
            if kind == "text/html" or received.body.lstrip()[:1] == b"<":
                title = self._redaction.line(read_refusal(received.body).message, limit=80) or "empty"
                words = f"answered with a page for browsers ({title}), which no API does: {_WRONG_PATH}"
                raise TransientJudgeError(self._place.line(words)) from error
            start = self._redaction.line(received.body[:1000].decode("utf-8", "replace"), limit=80) or "empty"
            line = self._place.line(f"answered 200 with {kind} that is not whole JSON ({start})")
            raise TransientJudgeError(line) from error
        if isinstance(document, dict):
            return document
        raise TransientJudgeError(self._place.line(f"answered 200 with a JSON {type(document).__name__}, no object"))

    def _read(self, received: Received, parameters: Collection[str]) -> ReadAnswer:
        reading = self._read_in(self._document(received), self.wire, parameters, received)
        # Answers are kept to the letter.
        return reading._replace(text=received.body.decode("utf-8", "replace")) if self.asks_questions else reading

    def _read_in(
        self, document: Mapping[str, Any], wire: Wire, parameters: Collection[str], received: Received | None = None
    ) -> ReadAnswer:
        try:
            return wire.read(document)
        except NoReplyError as error:
            if error.status is not None:
                headers, body = (received.headers, received.body) if received else ({}, encoded(document))
                raise self._failure(Received(error.status, headers, body), parameters) from error
            usage = wire.usage(document)
            billed = usage if usage.input_tokens or usage.output_tokens else None
            raise TransientJudgeError(self._place.line(f"answered 200: {error}"), billed_tokens=billed) from error


def _decoded(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # Half a surrogate pair, bytes that are not UTF-8 and a byte order mark are read all the same.
        return json.loads(body.decode("utf-8-sig", "replace"))


def _resolved_headers(target: Target, environment: Mapping[str, str]) -> dict[str, str]:
    resolved = dict(target.settings.headers)
    for name, value in target.settings.headers.items():
        variable = names_variable(value)
        if variable is not None:
            resolved[name] = environment.get(variable, "")
            if not resolved[name]:
                missing = f"header {name} needs the environment variable {variable}; set it"
                raise ConfigurationError(f"judge {target.name!r}: {missing}")
        if not resolved[name].isprintable() or not name.isprintable():
            raise ConfigurationError(f"judge {target.name!r}: header {name!r} holds what no header can carry")
    return resolved


def _secrets(target: Target, headers: Mapping[str, str], proxy: str | None) -> list[Secret]:
    secrets = [] if target.key is None else [target.key]
    for name, value in headers.items():
        if looks_like_credential(name) or value != target.settings.headers[name]:
            secrets += [Secret(value), Secret(value.rpartition(" ")[2])]
    password = URL(proxy).password if proxy else None
    return [*secrets, Secret(password)] if password else secrets


async def models_advice(judge: LiveJudge) -> str:
    """What to do about a path or a model that the endpoint does not know: whether it is listed there, and what is."""
    # It may stand inside another, which gives it a system prompt.
    judge = getattr(judge, "judge", judge)
    if not isinstance(judge, EndpointJudge):
        return _WRONG_PATH
    try:
        models = await judge.list_models()
    except JudgeCallError:
        return f"no list of models could be had either; {_WRONG_PATH}"
    if not models:
        return "the endpoint lists no models; load one first"
    wanted = judge.target.model
    if wanted in models:
        return f"the model is listed there, so {_WRONG_PATH}"
    close = difflib.get_close_matches(wanted, models, n=3, cutoff=0.5)
    shown = [*close, *(name for name in sorted(models) if name not in close)][:_SHOWN_MODELS]
    more = f" and {len(models) - len(shown)} more" if len(models) > len(shown) else ""
    return f"model {wanted!r} is not served there; available: {', '.join(shown)}{more}"
