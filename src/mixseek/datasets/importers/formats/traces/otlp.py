"""Traces of OpenTelemetry, as exporters and collectors write them: OTLP in JSON, one request or one a line."""

from collections.abc import Iterator

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_object, in_row, opening
from mixseek.datasets.importers.reading.groups import grouped
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.turns import Unread, describe_unread
from mixseek.datasets.importers.samples.values import as_text
from mixseek.datasets.importers.spans.genai import CONVERSATION, is_genai, read_genai
from mixseek.datasets.importers.spans.openinference import SESSION, is_openinference, read_openinference
from mixseek.datasets.importers.spans.otlp import RESOURCES, RawSpan, read_spans
from mixseek.datasets.importers.spans.timeline import Span, SpanKind, conversations_of, sample_of, traces_of
from mixseek.errors import DatasetError

_SIGNATURES = (*(in_object(name) for name in RESOURCES), *(in_row(name) for name in RESOURCES))


def read_traces(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Each conversation is a sample: the traces with its name, or a trace without one."""
    unread, reading_notices = Unread(), list[str]()
    counts = {"traces": 0, "silent": 0, "rootless": 0}

    def spans() -> Iterator[RawSpan]:
        reading_notices.clear()
        return read_spans(sniffed, reading_notices)

    for members in grouped(spans, lambda span: span.trace, thread_of):
        traces = traces_of(map(span_of, members))
        # Traces of what is no agent stand in the same files: requests to a server, queries of a database.
        telling = [trace for trace in traces if any(span.kind is not SpanKind.OTHER for span in trace.spans)]
        counts["silent"] += len(traces) - len(telling)
        counts["rootless"] += sum(trace.root is None or trace.root.parent is not None for trace in telling)
        thread = next(filter(None, map(thread_of, members)), None)
        for conversation in conversations_of(telling):
            counts["traces"] += len(conversation)
            names = [trace.spans[0].trace for trace in conversation]
            yield sample_of(
                conversation,
                unread,
                question_id=thread or names[0],
                metadata={"trace_id": names[0] if len(names) == 1 else names},
            )
    notices.extend(reading_notices)
    if counts["silent"] and not counts["traces"]:
        raise DatasetError(
            f"{sniffed.path}: {counts['silent']:,} OpenTelemetry traces without a request to a model or a tool; "
            "export the spans of an instrumentation of GenAI or OpenInference"
        )
    if counts["silent"]:
        notices.append(f"{counts['silent']:,} traces have neither a model nor a tool in them, and are no samples")
    if counts["rootless"]:
        notices.append(f"the root of {counts['rootless']:,} traces is not in the file, which may be a part of the log")
    notices.extend(describe_unread(unread))


def thread_of(span: RawSpan) -> str | None:
    """The conversation that a span names, under either convention."""
    return next((as_text(span.attributes[name]) for name in (SESSION, CONVERSATION) if span.attributes.get(name)), None)


def span_of(raw: RawSpan) -> Span:
    """The span in our words, read by whichever conventions it follows."""
    if is_openinference(raw):
        return read_openinference(raw)
    if is_genai(raw):
        return read_genai(raw)
    return Span(raw.id, raw.trace, SpanKind.OTHER, raw.parent, raw.begin, raw.end, raw.name, raw.error)


FORMAT = LogFormat("otlp", "OpenTelemetry traces", _SIGNATURES, opening(read_traces), has_scores=False)
