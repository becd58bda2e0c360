"""Runs of LangSmith, as its client lists them: trees, flat runs, or roots alone; one thread is one conversation."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.groups import grouped
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.contexts import contexts_of_value
from mixseek.datasets.importers.samples.messages import is_message, messages_of
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import error_text
from mixseek.datasets.importers.samples.times import seconds_of
from mixseek.datasets.importers.samples.turns import Unread, describe_unread, result_text
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.datasets.importers.spans.payloads import messages_in, reply_in
from mixseek.datasets.importers.spans.timeline import Span, SpanKind, Trace, conversations_of, sample_of, traces_of
from mixseek.datasets.step_columns import read_arguments
from mixseek.errors import DatasetError

_TREE_COLUMNS = ("trace_id", "dotted_order", "parent_run_id", "child_runs", "reference_example_id")
_SIGNATURES = tuple(in_row("run_type", "inputs", column) for column in _TREE_COLUMNS)
_KINDS = {"llm": SpanKind.MODEL, "tool": SpanKind.TOOL, "retriever": SpanKind.RETRIEVER}
# Any of them in the metadata names the thread of a run.
_THREADS = ("thread_id", "session_id", "conversation_id")
_ROOT_FIELDS = ("name", "trace_id", "reference_example_id")
# How LangChain writes messages into a prompt that is a text.
_SYSTEM, _HUMAN = "System: ", "Human: "
# Of each step of a dotted order the name follows its time.
_TIME_END = "Z"
# A tree of this depth is none that somebody ran.
_DEEPEST = 100

# The trace that a run belongs to, and the run.
Run = tuple[str, Mapping[str, Any]]


def read_langsmith_runs(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """The run at the root answers; those below it are its steps."""
    unread, reading_notices = Unread(), list[str]()
    samples = without_root = 0

    def rows() -> Iterator[Run]:
        reading_notices.clear()
        for number, row in sniffed.rows(reading_notices):
            if "run_type" not in row:
                raise DatasetError(f"{sniffed.path}: row {number}: a LangSmith run without `run_type`")
            yield trace_name(row) or str(number), row

    for runs in grouped(rows, lambda run: run[0], lambda run: thread_of(run[1])):
        traces = traces_of(span for trace, row in runs for span in spans_of(row, parent_of(row), trace))
        complete = [trace for trace in traces if any(span.parent is None for span in trace.spans)]
        without_root += sum(len(trace.spans) for trace in traces if trace not in complete)
        thread = next(filter(None, (thread_of(row) for _, row in runs)), None)
        for conversation in conversations_of(complete):
            samples += 1
            yield sample_of(conversation, unread, **described(conversation, thread))
    notices.extend(reading_notices)
    if without_root and not samples:
        raise DatasetError(
            f"{sniffed.path}: LangSmith runs without a root: only steps, which are no answers; list the roots"
        )
    if without_root:
        notices.append(f"{without_root:,} runs are steps of runs that are not in the file, and are left out")
    notices.extend(describe_unread(unread))


def thread_of(row: Mapping[str, Any]) -> str | None:
    """The thread that the metadata of a run names."""
    metadata = as_table(as_table(read_cell(row.get("extra"))).get("metadata"))
    return next((as_text(metadata[name]) for name in _THREADS if metadata.get(name)), None)


def described(conversation: list[Trace], thread: str | None) -> dict[str, Any]:
    """Name and metadata: a thread is called by its own, a single run by its id."""
    roots = [trace.root for trace in conversation if trace.root is not None]
    return {
        "question_id": thread or roots[0].id,
        "metadata": {**roots[-1].metadata, **({"runs": [root.id for root in roots]} if thread else {})},
    }


def spans_of(row: Mapping[str, Any], parent: str | None, trace: str, depth: int = 0) -> Iterator[Span]:
    """The run, and those in its tree."""
    identity = as_text(row.get("id")) or f"{trace}/{depth}"
    yield span_of(row, identity, parent, trace)
    for child in as_rows(read_cell(row.get("child_runs"))) if depth < _DEEPEST else ():
        yield from spans_of(child, identity, trace, depth + 1)


def span_of(row: Mapping[str, Any], identity: str, parent: str | None, trace: str) -> Span:
    inputs, outputs = read_cell(row.get("inputs")), read_cell(row.get("outputs"))
    kind = _KINDS.get(str(row.get("run_type")), SpanKind.OTHER)
    extra = as_table(read_cell(row.get("extra")))
    metadata = as_table(extra.get("metadata"))
    error = plain_error(row.get("error"))
    requests, replies = (
        (asked_of(inputs), reply_in(outputs)) if kind is SpanKind.MODEL else (messages_in(inputs), messages_in(outputs))
    )
    message = tool_message(outputs) if kind is SpanKind.TOOL else {}
    if error is None and message.get("status") == "error":
        error = as_text(message.get("content")) or ""
    return Span(
        id=identity,
        trace=trace,
        kind=kind,
        parent=parent,
        begin=seconds_of(row.get("start_time")),
        end=seconds_of(row.get("end_time")),
        name=as_text(row.get("name")),
        error=error,
        request_messages=requests,
        reply_messages=replies,
        given=inputs,
        gave=outputs or None,
        model=as_text(metadata.get("ls_model_name")),
        call_id=as_text(message.get("tool_call_id")) or as_text(extra.get("tool_call_id")),
        arguments=arguments_of(inputs) if kind in (SpanKind.TOOL, SpanKind.RETRIEVER) else None,
        result=result_of(outputs, message) if kind in (SpanKind.TOOL, SpanKind.RETRIEVER) else None,
        contexts=contexts_of_value(as_table(outputs).get("documents")) if kind is SpanKind.RETRIEVER else (),
        metadata={name: row[name] for name in _ROOT_FIELDS if row.get(name)},
    )


def asked_of(inputs: Any) -> list[Mapping[str, Any]]:
    """Messages, also those that LangChain wrote into a text, of which only the system prompt can be told apart."""
    if messages := messages_in(inputs):
        return messages
    prompt = next((text for text in as_table(inputs).get("prompts") or () if isinstance(text, str)), None)
    if prompt is None:
        return []
    if prompt.startswith(_SYSTEM) and f"\n{_HUMAN}" in prompt:
        system = prompt[len(_SYSTEM) : prompt.index(f"\n{_HUMAN}")]
        return [{"role": "system", "content": system}]
    return [] if prompt.startswith(_HUMAN) else [{"role": "user", "content": prompt}]


def tool_message(outputs: Any) -> Mapping[str, Any]:
    """The message that LangChain makes of a result."""
    output = as_table(outputs).get("output")
    return next(iter(messages_of([output])), {}) if isinstance(output, Mapping) else {}


def result_of(outputs: Any, message: Mapping[str, Any]) -> str | None:
    table = as_table(outputs)
    if is_message(message):
        return result_text(message.get("content"))
    if table.get("documents") is not None:
        return result_text(table["documents"])
    return result_text(table.get("output", table or None))


def arguments_of(inputs: Any) -> Any:
    """A tool's input may be the text of its arguments."""
    table = as_table(inputs)
    return read_arguments(table["input"] if list(table) == ["input"] else inputs)


def plain_error(error: Any) -> str | None:
    """The error without the traceback that LangChain writes behind it."""
    text = error_text(error)
    if not text:
        return None
    return text.partition("Traceback (most recent call last)")[0].strip() or text


def parent_of(row: Mapping[str, Any]) -> str | None:
    """The run above; None for a root, by whichever of its columns says so."""
    if row.get("parent_run_id"):
        return as_text(row["parent_run_id"])
    order = row.get("dotted_order")
    if isinstance(order, str) and "." in order:
        return order.split(".")[-2].partition(_TIME_END)[2] or order
    is_other = bool(row.get("trace_id")) and bool(row.get("id")) and row["trace_id"] != row["id"]
    return as_text(row["trace_id"]) if is_other else None


def trace_name(row: Mapping[str, Any]) -> str | None:
    """The root that a run belongs to."""
    order = row.get("dotted_order")
    first = order.split(".")[0].partition(_TIME_END)[2] if isinstance(order, str) else ""
    return as_text(row.get("trace_id")) or first or as_text(row.get("parent_run_id")) or as_text(row.get("id"))


FORMAT = LogFormat("langsmith_runs", "LangSmith runs", _SIGNATURES, opening(read_langsmith_runs), has_scores=False)
