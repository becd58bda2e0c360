"""OpenTelemetry spans around judge calls, by the GenAI semantic conventions; off unless an exporter is configured."""

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from mixseek.domain.ports import Answer, Call, LiveJudge
from mixseek.errors import ConfigurationError, JudgeCallError
from mixseek.lazy_dataclass import dataclass

_EXPORTER_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_EXPORTER_GROUP = "opentelemetry_traces_exporter"
_PACKAGES = {"http/protobuf": "otlp_proto_http", "http/json": "otlp_proto_http", "grpc": "otlp_proto_grpc"}
# What a judge's description says, and what the conventions call it.
_REQUEST_NAMES = {"provider": "gen_ai.provider.name"} | {
    name: f"gen_ai.request.{name}" for name in ("model", "temperature", "top_p", "max_tokens", "seed")
}


@dataclass(frozen=True, slots=True)
class Tracing:
    """A tracer and what must be flushed before the process ends; `provider` is None where somebody else does it."""

    tracer: Any
    provider: Any = None

    def shutdown(self) -> None:
        if self.provider is not None:
            self.provider.shutdown()


class TracedJudge:
    """The same judge, with one span a call. Prompts, replies and error texts are not recorded: they are content."""

    def __init__(self, judge: LiveJudge, tracer: Any) -> None:
        self._judge = judge
        self._tracer = tracer
        self.name, self.endpoint = judge.name, judge.endpoint
        # Being watched does not change a reply.
        self.fingerprint, self.description = judge.fingerprint, judge.description
        trace = importlib.import_module("opentelemetry.trace")
        self._kind = trace.SpanKind.CLIENT
        self._failure = trace.Status(trace.StatusCode.ERROR)
        self._attributes = _request_attributes(judge)
        self._span_name = f"chat {self._attributes.get('gen_ai.request.model', judge.name)}"

    async def call(self, call: Call) -> Answer:
        """Each try is a span of its own: the engine retries outside of it."""
        asked = {f"mixseek.{name}": getattr(call, name) for name in ("sample_key", "take", "ask")}
        with self._tracer.start_as_current_span(
            self._span_name,
            kind=self._kind,
            attributes=self._attributes | asked,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                answer = await self._judge.call(call)
            except BaseException as error:
                # A cancelled call was sent and may have been paid for: its span says so too. Messages may quote the
                # prompt, and stay out.
                status = getattr(error.__cause__, "status", None) if isinstance(error, JudgeCallError) else None
                span.set_attribute("error.type", str(status) if isinstance(status, int) else type(error).__name__)
                span.set_status(self._failure)
                raise
            span.set_attributes(_response_attributes(answer))
            return answer

    async def close(self) -> None:
        await self._judge.close()

    def __getattr__(self, name: str) -> Any:
        # What a judge offers beyond the port (such as `concurrency`) stays visible to whoever asks for it.
        return getattr(self._judge, name)


def traced(judge: LiveJudge, tracer: Any | None) -> LiveJudge:
    """The judge itself when `tracer` is None: nothing is wrapped, nothing is paid."""
    return judge if tracer is None else TracedJudge(judge, tracer)


def open_tracing(environment: Mapping[str, str]) -> Tracing | None:
    """None unless OTEL_* names an exporter and opentelemetry is installed; an application's own provider goes first."""
    try:
        if not is_configured(environment) or importlib.util.find_spec("opentelemetry.sdk.trace") is None:
            return None
    except ModuleNotFoundError:
        return None
    api = importlib.import_module("opentelemetry.trace")
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    version = importlib.metadata.version("mixseek")
    current = api.get_tracer_provider()
    if isinstance(current, sdk.TracerProvider):
        return Tracing(current.get_tracer("mixseek", version))
    exporter = _exporter(environment)
    resources = importlib.import_module("opentelemetry.sdk.resources")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    named = {} if environment.get("OTEL_SERVICE_NAME") else {"service.name": "mixseek"}
    provider = sdk.TracerProvider(resource=resources.Resource.create(named))
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    return Tracing(provider.get_tracer("mixseek", version), provider)


def is_configured(environment: Mapping[str, str]) -> bool:
    """True when the standard variables ask for traces to be sent somewhere."""
    exporter = _exporter_name(environment)
    if exporter == "none" or environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    # `otlp` alone is the default of the specification: only an address or an explicit wish turns it on.
    return bool(exporter) or any(environment.get(variable) for variable in _EXPORTER_VARIABLES)


def _exporter_name(environment: Mapping[str, str]) -> str:
    return environment.get("OTEL_TRACES_EXPORTER", "").split(",")[0].strip().lower()


def _exporter(environment: Mapping[str, str]) -> Any:
    name = _exporter_name(environment) or "otlp"
    if name == "console":
        # Standard output belongs to results.
        return importlib.import_module("opentelemetry.sdk.trace.export").ConsoleSpanExporter(out=sys.stderr)
    variables = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
    protocol = next(filter(None, map(environment.get, variables)), "http/protobuf")
    entry = _PACKAGES.get(protocol, protocol) if name == "otlp" else name
    exporters = importlib.metadata.entry_points(group=_EXPORTER_GROUP, name=entry)
    if not exporters:
        remedy = "pip install 'mixseek[otel]', or unset the OTEL_* variables"
        raise ConfigurationError(f"OTEL_TRACES_EXPORTER: no exporter {entry!r} is installed; {remedy}")
    # It reads the other variables (headers, certificates, sampling) from the process itself.
    return next(iter(exporters)).load()()


def _request_attributes(judge: LiveJudge) -> dict[str, Any]:
    attributes = {convention: judge.description.get(name) for name, convention in _REQUEST_NAMES.items()}
    parts = urlsplit(judge.endpoint)
    if parts.hostname:
        attributes["server.address"] = parts.hostname
        attributes["server.port"] = parts.port or (80 if parts.scheme == "http" else 443)
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.type": "json",
        "mixseek.judge": judge.name,
        **{name: value for name, value in attributes.items() if isinstance(value, str | int | float)},
    }


def _response_attributes(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    attributes = {
        "gen_ai.response.model": answer.model,
        "gen_ai.response.id": answer.request_id,
        "gen_ai.response.finish_reasons": None if answer.finish_reason is None else [answer.finish_reason],
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
    }
    return {name: value for name, value in attributes.items() if value is not None}
