"""A judge in this process: a GGUF model run by llama.cpp (extra `embedded`)."""

import asyncio
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import orjson

from mixseek.domain.ports import Answer, Call
from mixseek.errors import ConfigurationError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.answers import SchemaMode, count, decoding, make_answer, mapping
from mixseek.judges.endpoint.control_tokens import ControlTokens, split_control_tokens
from mixseek.judges.endpoint.openai_chat import OpenAIChat, schema_format, turns_of
from mixseek.judges.gguf import GgufHeader, read_header, weights_digest
from mixseek.judges.keys.redaction import Redaction
from mixseek.judges.keys.shapes import without_credentials
from mixseek.judges.stored_models import find_installed, warning_for
from mixseek.lazy_dataclass import dataclass
from mixseek.settings.models import DEFAULT_TIMEOUT_SECONDS, JudgeSettings

SPEC_PREFIX = "gguf:"
INSTALL_COMMAND = "pip install 'mixseek[embedded]'"
# Enough for a long answer under judgment beside the prompt; a model's own limit is lower at times and then holds.
DEFAULT_CONTEXT_TOKENS = 8192
# A judgment is a few hundred tokens; a small model that has lost its way would write until the context is full.
DEFAULT_MAX_TOKENS = 1024
# In [judges.NAME] body: read when the model is loaded, by llama.cpp's names for them.
_CONTEXT_KEY, _THREADS_KEY = "n_ctx", "n_threads"


class Runtime(Protocol):
    """The one method of xllamacpp.Server that is used: chunks go to `receive` until it returns True."""

    def handle_chat_completions(self, request: Mapping[str, Any], receive: Callable[[Any], bool], /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Loading:
    """What is decided once, when the weights are read."""

    path: Path
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    threads: int = 1
    concurrency: int = 1


def _merged(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A generation that streamed in, as if it had come in one piece."""
    whole: dict[str, Any] = {
        name: chunk[name] for chunk in chunks for name in ("id", "usage", "error") if chunk.get(name) is not None
    }
    choices = [choice for chunk in chunks for choice in chunk.get("choices") or ()]
    deltas = [choice.get("delta") or {} for choice in choices]
    message = {kind: "".join(delta.get(kind) or "" for delta in deltas) for kind in ("content", "reasoning_content")}
    ends = [choice["finish_reason"] for choice in choices if choice.get("finish_reason")]
    return {**whole, "choices": [{"message": message, "finish_reason": ends[-1] if ends else None}]}


@dataclass(eq=False, repr=False)
class EmbeddedJudge:
    """Waited for like an endpoint; one copy of the weights, loaded at the first call."""

    name: str
    loading: Loading
    settings: JudgeSettings
    header: GgufHeader
    digest: str
    load: Callable[[Loading], Runtime]

    def __post_init__(self) -> None:
        # Two judges on one model share the machine anyway.
        self.endpoint = f"{SPEC_PREFIX}{self.loading.path.name}"
        # Calls at a time; more only wait in line.
        self.concurrency = self.loading.concurrency
        self._runtime: Runtime | None = None
        self._loading_lock = threading.Lock()
        self._slots = asyncio.Semaphore(self.concurrency)
        self._threads = ThreadPoolExecutor(self.concurrency, thread_name_prefix="mixseek-gguf")
        # The longest first, so that no token is defused as a part of another.
        tokens = sorted((token for token in self.header.control_tokens if len(token) > 1), key=len, reverse=True)
        self._control = ControlTokens((re.compile("|".join(map(re.escape, tokens))),) if tokens else ())
        # Turned off for good when the runtime cannot make a grammar of the schema.
        self._constrains = True
        # Part of the fingerprint: another llama.cpp may write another reply.
        distributions = importlib.metadata.distributions(name="xllamacpp")
        self._version = next((distribution.version for distribution in distributions), "unknown")

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the weights and not of their path: a model that is moved keeps its cached replies."""
        decisive = {
            "wire": "gguf",
            "weights": self.digest,
            "runtime": self._version,
            "context_tokens": self.loading.context_tokens,
            "decoding": self._decoding(take=1),
        }
        return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """What a run records of the judge, with a warning where the weights are known to judge at chance."""
        described: dict[str, Any] = {
            "provider": "gguf",
            "model": self.loading.path.stem,
            "model_name": self.header.model_name,
            "architecture": self.header.architecture,
            "weights_digest": self.digest,
            "runtime": f"xllamacpp {self._version}",
            "context_tokens": self.loading.context_tokens,
            **without_credentials(self._decoding(take=1)),
        }
        warning = warning_for(self.digest)
        return described if warning is None else {**described, "warning": warning}

    async def call(self, call: Call) -> Answer:
        """The blocking generation runs in a thread; cancelling stops it at its next token."""
        seconds = self.settings.timeout_seconds
        async with self._slots:
            stop = threading.Event()
            loop = asyncio.get_running_loop()
            try:
                # The default is meant for endpoints: what a slow machine takes is no failure, and trying again no help.
                async with asyncio.timeout(None if seconds == DEFAULT_TIMEOUT_SECONDS else seconds):
                    return await loop.run_in_executor(self._threads, self._answer, call, stop)
            except TimeoutError as error:
                late = f"no reply within {seconds:g} s; raise timeout_seconds"
                raise TransientJudgeError(f"judge {self.name}: {late}") from error
            finally:
                stop.set()

    async def close(self) -> None:
        """Frees the weights; a judge that is closed cannot be called again."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._runtime = None

    def _decoding(self, take: int, max_tokens: int | None = None) -> dict[str, Any]:
        """Greedy unless told otherwise: the same sample gets the same judgment."""
        body = {key: value for key, value in self.settings.body.items() if key not in (_CONTEXT_KEY, _THREADS_KEY)}
        greedy = {"temperature": 0.0, "max_tokens": DEFAULT_MAX_TOKENS, "seed": take - 1}
        return {**greedy, **decoding(self.settings, take, max_tokens), **body}

    def _answer(self, call: Call, stop: threading.Event) -> Answer:
        runtime = self._loaded()
        started = time.perf_counter()
        # Half a surrogate pair cannot be written as UTF-8: the model sees the replacement character.
        readable = [
            replace(message, content=message.content.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
            for message in call.messages
        ]
        # llama.cpp reads its tokens in a message as such: judged text could close its turn and open the system's.
        messages, defused = split_control_tokens(readable, self._control)
        request = {**self._decoding(call.take, call.max_tokens), "messages": turns_of(messages)}
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        is_constrained = self._constrains and bool(call.reply_schema)
        if is_constrained:
            request["response_format"] = schema_format(dict(call.reply_schema))
        chunks: list[Mapping[str, Any]] = []

        def receive(chunk: Any) -> bool:
            # Total on purpose: an exception in here would be lost inside the runtime.
            chunks.extend([chunk] if isinstance(chunk, dict) else [])
            return stop.is_set()

        try:
            runtime.handle_chat_completions(request, receive)
        except (RuntimeError, TypeError, ValueError) as error:
            if not (is_constrained and isinstance(error, ValueError) and "schema" in str(error).lower()):
                raise self._refused(str(error)) from error
            # Refused before a token was written: nothing is asked twice.
            self._constrains = False
            return self._answer(call, stop)
        whole = _merged(chunks)
        if "error" in whole:
            raise self._failed(whole["error"])
        reading = OpenAIChat().read(whole)
        extra = {**reading.extra, "defused_control_tokens": defused} if defused else reading.extra
        reading = reading._replace(model=self.loading.path.stem, extra=extra)
        schema = SchemaMode.JSON_SCHEMA if is_constrained else SchemaMode.NONE
        who = (self.name, f"gguf:{self.loading.path.stem}")
        return make_answer(call, who, reading, time.perf_counter() - started, schema)

    def _loaded(self) -> Runtime:
        with self._loading_lock:
            if self._runtime is None:
                try:
                    self._runtime = self.load(self.loading)
                except (RuntimeError, ValueError, OSError, MemoryError) as error:
                    failed = f"{self.loading.path} cannot be loaded ({Redaction(()).line(str(error))})"
                    why = "is it complete, is there memory for it, does this llama.cpp know its architecture?"
                    line = f"judge {self.name}: {failed}; {why}"
                    raise PermanentJudgeError(line, concerns_everything=True) from error
            return self._runtime

    def _refused(self, words: str) -> PermanentJudgeError:
        return PermanentJudgeError(f"judge {self.name}: the runtime refused the request: {Redaction(()).line(words)}")

    def _failed(self, error: Any) -> PermanentJudgeError | TransientJudgeError:
        details = mapping(error)
        if details.get("type") == "exceed_context_size_error":
            return PermanentJudgeError(
                f"judge {self.name}: the prompt's {details.get('n_prompt_tokens')} tokens exceed the context of "
                f"{details.get('n_ctx')}; raise n_ctx in the judge's body, or use a model with a longer context"
            )
        words = Redaction(()).line(str(details.get("message") or error))
        is_passing = (count(details.get("code")) or 0) >= 500
        return TransientJudgeError(f"judge {self.name}: {words}") if is_passing else self._refused(words)


def make_embedded_judge(
    spec: str, environment: Mapping[str, str], settings: JudgeSettings | None = None, name: str | None = None
) -> EmbeddedJudge:
    """`gguf:PATH`, or `gguf:smollm2` once it is installed. The file is checked here, and loaded at the first call."""
    settings = settings or JudgeSettings()
    place = spec.removeprefix(SPEC_PREFIX)
    if not place:
        raise ConfigurationError(f"judge {spec!r}: no model; write gguf:PATH with the path of a GGUF file")
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigurationError(f"judge {spec!r}: the embedded runtime is not installed; {INSTALL_COMMAND}")
    path = find_installed(place, environment) or Path(place).expanduser()
    context_tokens = _positive(settings, _CONTEXT_KEY, DEFAULT_CONTEXT_TOKENS, spec)
    threads = _positive(settings, _THREADS_KEY, default_threads(), spec)
    loading = Loading(path, context_tokens, threads, settings.concurrency or 1)
    return EmbeddedJudge(name or spec, loading, settings, read_header(path), weights_digest(path), load_runtime)


def load_runtime(loading: Loading) -> Runtime:
    """A llama.cpp server object; calls to it do not pass through its socket."""
    xllamacpp = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(loading.path)
    parameters.n_ctx = loading.context_tokens * loading.concurrency  # shared out among the slots
    parameters.n_parallel = loading.concurrency
    parameters.cpuparams.n_threads = loading.threads
    parameters.cpuparams_batch.n_threads = loading.threads
    parameters.warmup = False
    parameters.verbosity = -1
    # It listens on a loopback port that nobody asked for: a key that nobody knows keeps others out.
    parameters.api_keys = [secrets.token_urlsafe(32)]
    server: Runtime = xllamacpp.Server(parameters)
    return server


def default_threads() -> int:
    """One core fewer than there are: llama.cpp's threads wait for each other, and one that is displaced stalls all."""
    # Measured on two cores with other work beside it: 3 tokens a second with two threads, 55 with one.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)


def _positive(settings: JudgeSettings, key: str, default: int, spec: str) -> int:
    value = settings.body.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"judge {spec!r}: {key} is {value!r}; give a whole number above 0")
    return value
