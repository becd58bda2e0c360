"""Traces of MLflow, as `Trace.to_json()` writes them: information about the whole, and its spans."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.groups import grouped
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.contexts import contexts_of_value
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.messages import messages_of
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import target_texts
from mixseek.datasets.importers.samples.times import seconds_of
from mixseek.datasets.importers.samples.turns import Unread, describe_unread, result_text
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.datasets.importers.spans.payloads import messages_in, reply_in
from mixseek.datasets.importers.spans.timeline import Span, SpanKind, conversations_of, sample_of, traces_of
from mixseek.datasets.step_columns import read_arguments
from mixseek.errors import DatasetError

_SIGNATURES = (in_row("info", "data"),)
_KINDS = {
    "CHAT_MODEL": SpanKind.MODEL,
    "LLM": SpanKind.MODEL,
    "TOOL": SpanKind.TOOL,
    "RETRIEVER": SpanKind.RETRIEVER,
}
_FAILED = frozenset({"ERROR", "STATUS_CODE_ERROR"})
_SESSIONS = ("mlflow.trace.session", "mlflow.chat.session")


def has_spans(sniffed: Sniffed) -> bool:
    """`data` holds them; both may be the text of an object."""
    return "spans" in as_table(read_cell(sniffed.first.get("data"))) and bool(
        as_table(read_cell(sniffed.first.get("info")))
    )


def read_mlflow_traces(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """One trace is one sample, unless several are of one session."""
    unread, reading_notices = Unread(), list[str]()
    empty = 0

    def rows() -> Iterator[tuple[int, Mapping[str, Any]]]:
        reading_notices.clear()
        yield from sniffed.rows(reading_notices)

    for members in grouped(rows, lambda item: name_of(sniffed, *item), lambda item: session_of(item[1])):
        by_name = {name_of(sniffed, *item): item for item in members}
        for conversation in conversations_of(
            traces_of(span for name, (_, row) in by_name.items() for span in spans_of(row, name))
        ):
            infos = [as_table(read_cell(by_name[trace.spans[0].trace][1]["info"])) for trace in conversation]
            yield sample_of(conversation, unread, **described(infos, [trace.spans[0].trace for trace in conversation]))
        empty += sum(not as_rows(as_table(read_cell(row.get("data"))).get("spans")) for _, row in members)
    notices.extend(reading_notices)
    if empty:
        notices.append(f"{empty:,} traces have no spans, and are no samples")
    notices.extend(describe_unread(unread))


def name_of(sniffed: Sniffed, number: int, row: Mapping[str, Any]) -> str:
    info = as_table(read_cell(row.get("info")))
    name = as_text(info.get("trace_id")) or as_text(info.get("request_id"))
    if not name:
        raise DatasetError(f"{sniffed.path}: row {number}: an MLflow trace without `info.trace_id`")
    return name


def session_of(row: Mapping[str, Any]) -> str | None:
    """Several traces of one session are one conversation."""
    info = as_table(read_cell(row.get("info")))
    places = (as_table(info.get("trace_metadata")), as_table(info.get("request_metadata")), as_table(info.get("tags")))
    return next((as_text(of[name]) for of in places for name in _SESSIONS if of.get(name)), None)


def described(infos: list[Mapping[str, Any]], names: list[str]) -> dict[str, Any]:
    """Name, tags, and what was assessed: of several traces the last one's."""
    last = infos[-1]
    tags = as_table(last.get("tags"))
    assessments = as_rows(last.get("assessments"))
    expected = [as_table(item.get("expectation")).get("value") for item in assessments if item.get("expectation")]
    scores = {
        as_text(item.get("assessment_name")) or "assessment": assessed(item)
        for item in assessments
        if item.get("feedback")
    }
    given_tags = {name: value for name, value in tags.items() if not name.startswith("mlflow.")}
    return {
        "question_id": session_of({"info": last}) or names[0],
        "targets": target_texts(expected[0]) if expected else (),
        "scores": scores,
        "metadata": {**given_tags, "trace_id": names[0] if len(names) == 1 else names},
    }


def assessed(item: Mapping[str, Any]) -> LoggedScore:
    feedback, reason = as_table(item.get("feedback")), as_text(item.get("rationale"))
    problem = as_text(as_table(feedback.get("error")).get("error_message"))
    return (
        LoggedScore(None, reason=reason, problem=problem)
        if problem
        else read_grade(feedback.get("value"), reason=reason)
    )


def spans_of(row: Mapping[str, Any], trace: str) -> Iterator[Span]:
    """Spans of the third schema, and of the second, which writes ids and times elsewhere."""
    for number, span in enumerate(as_rows(as_table(read_cell(row.get("data"))).get("spans")), 1):
        about = {name: read_value(value) for name, value in as_table(span.get("attributes")).items()}
        context = as_table(span.get("context"))
        kind = _KINDS.get(str(about.get("mlflow.spanType")), SpanKind.OTHER)
        inputs, outputs = about.get("mlflow.spanInputs"), about.get("mlflow.spanOutputs")
        is_model = kind is SpanKind.MODEL
        choice = next(iter(as_rows(as_table(outputs).get("choices"))), {})
        begin, end = (
            seconds_of(next((span[name] for name in names if span.get(name) is not None), None))
            for names in (("start_time_unix_nano", "start_time"), ("end_time_unix_nano", "end_time"))
        )
        yield Span(
            id=as_text(span.get("span_id")) or as_text(context.get("span_id")) or str(number),
            trace=trace,
            kind=kind,
            parent=as_text(span.get("parent_span_id")) or as_text(span.get("parent_id")),
            begin=begin,
            end=end,
            name=as_text(about.get("mlflow.spanFunctionName"))
            if about.get("mlflow.spanFunctionName")
            else as_text(span.get("name")),
            error=error_of(span),
            request_messages=messages_in(inputs) or request_input(inputs),
            reply_messages=reply_in(outputs) if is_model else messages_in(outputs),
            given=inputs,
            gave=outputs,
            stop=as_text(choice.get("finish_reason")),
            model=as_text(as_table(inputs).get("model")),
            call_id=as_text(about.get("tool_call_id")),
            arguments=read_arguments(inputs),
            result=result_text(outputs),
            contexts=contexts_of_value(outputs) if kind is SpanKind.RETRIEVER else (),
        )


def request_input(inputs: Any) -> list[Mapping[str, Any]]:
    """A request to Responses has its messages in `input`, which may be a text."""
    value = as_table(inputs).get("input")
    return [{"role": "user", "content": value}] if isinstance(value, str) and "model" in inputs else messages_of(value)


def read_value(value: Any) -> Any:
    """Attributes are the JSON of their values."""
    value = read_cell(value)
    return value[1:-1] if isinstance(value, str) and value[:1] == value[-1:] == '"' and len(value) > 1 else value


def error_of(span: Mapping[str, Any]) -> str | None:
    status = span.get("status")
    code = as_table(status).get("code") or span.get("status_code") or status
    if code not in _FAILED:
        return None
    raised = next(
        (
            as_table(event.get("attributes"))
            for event in as_rows(span.get("events"))
            if event.get("name") == "exception"
        ),
        {},
    )
    message = as_text(as_table(status).get("message")) or as_text(span.get("status_message"))
    return message or as_text(raised.get("exception.message")) or ""


FORMAT = LogFormat("mlflow_traces", "MLflow traces", _SIGNATURES, opening(read_mlflow_traces), has_spans)
