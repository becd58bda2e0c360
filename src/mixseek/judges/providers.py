"""Judges behind every other provider, through pydantic-ai's direct requests (extra `providers`)."""

import asyncio
import contextlib
import hashlib
import importlib
import importlib.util
import time
from collections.abc import Mapping
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

import orjson

from mixseek.domain.ports import Answer, Call, Usage
from mixseek.errors import ConfigurationError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.endpoint.answers import ReadAnswer, SchemaMode, decoding, make_answer, without_keys
from mixseek.judges.keys.redaction import Redaction
from mixseek.judges.keys.refusal import refuse_keys
from mixseek.judges.keys.secret import Secret
from mixseek.judges.keys.shapes import looks_like_credential, without_credentials
from mixseek.lazy_dataclass import dataclass
from mixseek.settings.models import JudgeSettings

SPEC_PREFIX = "pydantic-ai:"
INSTALL_COMMAND = "pip install 'mixseek[providers]'"
_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429})
# What a request may raise: pydantic-ai's own errors are RuntimeErrors, the rest is what an SDK lets slip.
_FOREIGN_ERRORS = (RuntimeError, ImportError, OSError, ValueError, TypeError, LookupError)


@dataclass(eq=False, repr=False)
class ProviderJudge:
    """One model behind pydantic-ai; the SDK's own retries are off, because the engine has the one policy."""

    name: str
    model: Any
    settings: JudgeSettings
    redaction: Redaction

    def __post_init__(self) -> None:
        self._constrains = bool(self.model.profile.get("supports_json_schema_output", False))
        self._lifetime = contextlib.AsyncExitStack()
        self._opening = asyncio.Lock()
        self._is_open = False

    @property
    def endpoint(self) -> str:
        """Scheme, host and port where the provider has them, else its name."""
        parts = urlsplit(self.model.base_url if isinstance(self.model.base_url, str) else "")
        if not parts.hostname:
            return f"{SPEC_PREFIX}{self.model.system}"
        return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

    @property
    def fingerprint(self) -> str:
        """A digest over provider, model, address, decoding parameters and extra body."""
        decisive = {
            "wire": "pydantic-ai",
            "provider": self.model.system,
            "model": self.model.model_name,
            "endpoint": self.endpoint,
            "decoding": decoding(self.settings, take=1),
            "body": dict(self.settings.body),
        }
        return hashlib.sha256(orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)).hexdigest()

    @property
    def description(self) -> Mapping[str, Any]:
        """The address is shown without path and query: some providers put keys there."""
        body = without_credentials(self.settings.body)
        return {
            "provider": self.model.system,
            "model": self.model.model_name,
            "base_url": self.endpoint,
            "through": "pydantic-ai",
            **decoding(self.settings, take=1),
            **({"body": body} if body else {}),
        }

    async def call(self, call: Call) -> Answer:
        """One request, never repeated here."""
        await self._open()
        direct = importlib.import_module("pydantic_ai.direct")
        is_constrained = self._constrains and bool(call.reply_schema)
        started = time.perf_counter()
        try:
            response = await direct.model_request(
                self.model,
                _messages(call),
                model_settings=self._model_settings(call),
                model_request_parameters=_parameters(call, is_constrained),
                instrument=False,
            )
        except _FOREIGN_ERRORS as error:
            raise self._mapped(error, is_constrained) from error
        schema = SchemaMode.JSON_SCHEMA if is_constrained else SchemaMode.NONE
        who = (self.name, f"{self.model.system}:{self.model.model_name}")
        reading = without_keys(_read(response), self.redaction)
        return make_answer(call, who, reading, time.perf_counter() - started, schema)

    async def close(self) -> None:
        """Give the provider's connections back."""
        async with self._opening:
            self._is_open = False
            await self._lifetime.aclose()

    async def _open(self) -> None:
        async with self._opening:
            if not self._is_open:
                await self._lifetime.enter_async_context(self.model)
                self._is_open = True

    def _model_settings(self, call: Call) -> dict[str, Any]:
        body = {"extra_body": dict(self.settings.body)} if self.settings.body else {}
        retries = {} if "max_retries" in self.model.unsupported_settings else {"max_retries": 0}
        sampling = decoding(self.settings, call.take, call.max_tokens)
        if (effort := sampling.pop("reasoning_effort", None)) is not None:
            # The library names it after who had it first; providers that do not know the name leave it out.
            sampling["openai_reasoning_effort"] = effort
        return {**sampling, "request_timeout": self.settings.timeout_seconds, **body, **retries}

    def _mapped(self, error: Exception, is_constrained: bool) -> TransientJudgeError | PermanentJudgeError:
        errors = importlib.import_module("pydantic_ai.exceptions")
        words = self.redaction.line(f"judge {self.name}: {str(error) or type(error).__name__}", limit=500)
        match error:
            case errors.ModelContextWindowExceededError():
                return PermanentJudgeError(words)
            case (
                errors.ModelAuthenticationError()
                | errors.ModelNotFoundError()
                | errors.ModelQuotaExceededError()
                | errors.UserError()
                | ImportError()
            ):
                # A bad key, an unknown model, an empty account, a wrong set-up: every other sample would fail likewise.
                return PermanentJudgeError(words, concerns_everything=True)
            case errors.ModelRequestRejectedError() if is_constrained and "schema" in words.lower():
                self._constrains = False
                return TransientJudgeError(f"{words}; the reply's schema is not sent any more")
            case errors.ModelRequestRejectedError():
                return PermanentJudgeError(words)
            case errors.ModelRateLimitError() | errors.ModelUnavailableError():
                return TransientJudgeError(words, retry_after_seconds=error.retry_after, is_overload=True)
            case errors.ModelHTTPError() if error.status_code >= 500 or error.status_code in _TRANSIENT_STATUSES:
                return TransientJudgeError(words, retry_after_seconds=error.retry_after)
            case errors.ModelHTTPError():
                return PermanentJudgeError(words)
            case errors.ModelAPIError() | errors.UnexpectedModelBehavior() | OSError():
                # Timeouts, dropped connections, answers that could not be read.
                return TransientJudgeError(words)
            case _:
                return PermanentJudgeError(words)


def make_provider_judge(
    spec: str, environment: Mapping[str, str], settings: JudgeSettings | None = None, name: str | None = None
) -> ProviderJudge:
    """`pydantic-ai:PROVIDER:MODEL`. The key is where that provider's SDK looks for it, in the process environment."""
    settings = settings or JudgeSettings()
    model_name = spec.removeprefix(SPEC_PREFIX)
    if not model_name.partition(":")[2]:
        raise ConfigurationError(f"judge {spec!r}: write pydantic-ai:PROVIDER:MODEL, such as pydantic-ai:bedrock:…")
    given = next((field for field in ("base_url", "api_key_env", "headers") if getattr(settings, field)), None)
    if given is not None:
        raise ConfigurationError(f"judge {name or spec!r}: {given} cannot be set for pydantic-ai providers; drop it")
    refuse_keys(name or spec, settings, environment)
    if importlib.util.find_spec("pydantic_ai") is None:
        raise ConfigurationError(f"judge {spec!r}: pydantic-ai is not installed; {INSTALL_COMMAND}")
    redaction = Redaction(Secret(value) for variable, value in environment.items() if looks_like_credential(variable))
    try:
        model = importlib.import_module("pydantic_ai.models").infer_model(model_name)
    except (RuntimeError, ImportError, ValueError) as error:
        # An unknown provider, an SDK that is not installed, or no key: pydantic-ai says which, and what to do.
        raise ConfigurationError(redaction.line(f"judge {spec!r}: {error}", limit=500)) from error
    return ProviderJudge(name or spec, model, settings, redaction)


def _messages(call: Call) -> list[Any]:
    """Neighbouring turns of ours as one request: an answer is expected after each."""
    messages = importlib.import_module("pydantic_ai.messages")
    parts = {"system": messages.SystemPromptPart, "user": messages.UserPromptPart}
    history: list[Any] = []
    for is_answer, turns in groupby(call.messages, key=lambda message: message.role == "assistant"):
        if is_answer:
            history += [messages.ModelResponse(parts=[messages.TextPart(turn.content)]) for turn in turns]
        else:
            history.append(messages.ModelRequest(parts=[parts[turn.role](turn.content) for turn in turns]))
    return history


def _parameters(call: Call, is_constrained: bool) -> Any:
    models = importlib.import_module("pydantic_ai.models")
    if not is_constrained:
        return models.ModelRequestParameters()
    output = importlib.import_module("pydantic_ai.output")
    shape = output.OutputObjectDefinition(json_schema=dict(call.reply_schema), name="judgment")
    return models.ModelRequestParameters(output_mode="native", output_object=shape)


def _read(response: Any) -> ReadAnswer:
    text, thinking = (
        "".join(part.content for part in response.parts if part.part_kind == kind) for kind in ("text", "thinking")
    )
    counted = response.usage
    # pydantic-ai counts 0 where the provider said nothing.
    usage = (
        Usage(
            counted.input_tokens, counted.output_tokens, counted.cache_read_tokens, counted.cache_write_tokens or None
        )
        if counted.has_values()
        else Usage()
    )
    extra = {"reasoning": thinking} if thinking else {}
    names = response.model_name, response.provider_response_id
    return ReadAnswer(text, response.finish_reason, usage, *names, extra)
