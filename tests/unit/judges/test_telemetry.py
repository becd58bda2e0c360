"""Spans around calls; what needs opentelemetry is skipped without the extra and runs in `make test-all`."""

import asyncio
import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any

import pytest
from tests.cases import each

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import Answer, Call, LiveJudge, Message, Usage
from mixseek.errors import ConfigurationError, PermanentJudgeError
from mixseek.judges.telemetry import TracedJudge, is_configured, open_tracing, traced

CONTENT = "the judged text nobody else may read"
KEY = "sk-canary-0123456789"
CALL = Call("sample-key", (Message("user", CONTENT),), {}, take=2, ask=3)


class StubJudge:
    """Answers, or raises what it is given."""

    name = "openai:m"
    endpoint = "https://judge.example:8443"
    fingerprint = "f"
    concurrency = 3

    def __init__(self, failure: BaseException | None = None) -> None:
        self.failure = failure
        self.is_closed = False

    @property
    def description(self) -> Mapping[str, Any]:
        return {"provider": "openai", "model": "m", "temperature": 0.5, "seed": 1, "headers": {"x": KEY}}

    async def call(self, call: Call) -> Answer:
        if self.failure is not None:
            raise self.failure
        return Answer(Reply(CONTENT, self.name), Usage(10, 5, None), 0.1, "stop", "r-1", "m-2026")

    async def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def spans() -> Any:
    """A tracer and the exporter behind it."""
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    memory = importlib.import_module("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    yield provider.get_tracer("test"), exporter
    provider.shutdown()


@each(
    ("environment", "expected"),
    [
        ({}, False),
        ({"OTEL_SERVICE_NAME": "x"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "console"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, False),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "console"}, False),
    ],
)
def test_only_a_configured_exporter_turns_tracing_on(environment: dict[str, str], expected: bool) -> None:
    assert is_configured(environment) is expected


def test_without_a_tracer_the_judge_is_itself() -> None:
    """Off costs nothing: no wrapper, no import."""
    judge = StubJudge()

    assert traced(judge, None) is judge


def test_off_means_that_opentelemetry_is_not_even_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, *rest: Any) -> Any:
        raise AssertionError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    monkeypatch.setattr(importlib.util, "find_spec", refuse)

    assert open_tracing({}) is None


def test_a_configured_exporter_without_the_extra_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """OTEL_* may be meant for another program: it is no mistake not to have the extra."""

    def absent(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib.util, "find_spec", absent)

    assert open_tracing({"OTEL_TRACES_EXPORTER": "otlp"}) is None


def test_a_call_is_a_span_by_the_conventions_and_holds_no_content(spans: Any) -> None:
    tracer, exporter = spans
    judge: LiveJudge = traced(StubJudge(), tracer)

    answer = asyncio.run(judge.call(CALL))

    [span] = exporter.get_finished_spans()
    assert answer.reply.text == CONTENT
    assert span.name == "chat m"
    assert span.kind.name == "CLIENT"
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.type": "json",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.seed": 1,
        "gen_ai.response.model": "m-2026",
        "gen_ai.response.id": "r-1",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "server.address": "judge.example",
        "server.port": 8443,
        "mixseek.judge": "openai:m",
        "mixseek.sample_key": "sample-key",
        "mixseek.take": 2,
        "mixseek.ask": 3,
    }
    assert CONTENT not in span.to_json()
    assert KEY not in span.to_json()


class StandInStatusError(Exception):
    """As the HTTP judges attach it: the status that stood behind an error."""

    status = 401


def test_the_names_of_the_attributes_are_those_of_the_conventions(spans: Any) -> None:
    conventions = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    tracer, exporter = spans
    asyncio.run(traced(StubJudge(), tracer).call(CALL))

    names = {name for name in exporter.get_finished_spans()[0].attributes if name.startswith("gen_ai.")}
    assert names <= {value for value in vars(conventions).values() if isinstance(value, str)}


@pytest.mark.parametrize(
    ("failure", "cause", "expected"),
    [
        (PermanentJudgeError(f"refused: {CONTENT} {KEY}"), None, "PermanentJudgeError"),
        (PermanentJudgeError("401"), StandInStatusError(), "401"),
        (asyncio.CancelledError(), None, "CancelledError"),
    ],
)
def test_a_failed_call_names_its_kind_and_not_its_words(
    spans: Any, failure: BaseException, cause: Exception | None, expected: str
) -> None:
    tracer, exporter = spans
    failure.__cause__ = cause

    with pytest.raises(type(failure)):
        asyncio.run(traced(StubJudge(failure), tracer).call(CALL))

    [span] = exporter.get_finished_spans()
    assert span.attributes["error.type"] == expected
    assert span.status.status_code.name == "ERROR"
    assert span.events == ()
    assert CONTENT not in span.to_json()
    assert KEY not in span.to_json()


def test_a_traced_judge_is_the_judge_in_all_else(spans: Any) -> None:
    judge = StubJudge()
    watched = traced(judge, spans[0])

    asyncio.run(watched.close())

    assert isinstance(watched, TracedJudge)
    assert (watched.name, watched.endpoint, watched.fingerprint) == (judge.name, judge.endpoint, judge.fingerprint)
    assert watched.description == judge.description
    assert watched.concurrency == 3
    assert judge.is_closed


def test_the_console_exporter_keeps_standard_output_free(spans: Any, capsys: pytest.CaptureFixture[str]) -> None:
    tracing = open_tracing({"OTEL_TRACES_EXPORTER": "console"})

    assert tracing is not None
    asyncio.run(traced(StubJudge(), tracing.tracer).call(CALL))
    tracing.shutdown()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert '"gen_ai.request.model": "m"' in captured.err
    assert '"service.name": "mixseek"' in captured.err


def test_an_exporter_that_is_not_installed_is_one_line(spans: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"no exporter 'zipkin' is installed; pip install 'mixseek\[otel\]'"):
        open_tracing({"OTEL_TRACES_EXPORTER": "zipkin"})


def test_the_otlp_exporter_is_found_by_its_protocol(spans: Any) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    tracing = open_tracing({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})

    assert tracing is not None
    assert type(tracing.provider).__name__ == "TracerProvider"
    tracing.shutdown()


def test_an_application_that_traces_already_keeps_its_provider(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    api = importlib.import_module("opentelemetry.trace")
    own = importlib.import_module("opentelemetry.sdk.trace").TracerProvider()
    monkeypatch.setattr(api, "get_tracer_provider", lambda: own)

    tracing = open_tracing({"OTEL_TRACES_EXPORTER": "otlp"})

    assert tracing is not None
    assert tracing.provider is None
