"""Spans as the GenAI conventions of OpenTelemetry name their attributes, as their first versions and OpenLLMetry do."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.samples.contexts import contexts_of_value
from mixseek.datasets.importers.samples.messages import messages_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.datasets.importers.spans.otlp import RawSpan, unflatten
from mixseek.datasets.importers.spans.timeline import Span, SpanKind
from mixseek.datasets.step_columns import read_arguments

CONVERSATION = "gen_ai.conversation.id"
_OPERATION = "gen_ai.operation.name"
_MODEL_OPERATIONS = frozenset({"chat", "text_completion", "generate_content", "completion", "responses"})
_KINDS = {"execute_tool": SpanKind.TOOL, "retrieval": SpanKind.RETRIEVER}
_INPUT, _OUTPUT, _INSTRUCTIONS = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
# What is only sometimes called as the conventions say.
_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "traceloop.entity.input", "input.value")
_RESULTS = ("gen_ai.tool.call.result", "tool_response", "traceloop.entity.output", "output.value")
_ASKED_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
# Where the messages of a request stand when they are too long for attributes.
_DETAILS = "gen_ai.client.inference.operation.details"


def is_genai(span: RawSpan) -> bool:
    """Any attribute of these conventions."""
    return any(name.startswith(("gen_ai.", "traceloop.")) for name in span.attributes)


def read_genai(span: RawSpan) -> Span:
    about = {**span.attributes, **next((details for name, details in span.events if name == _DETAILS), {})}
    kind = kind_of_span(about)
    requests, replies = asked_in(about, span.events), said_in(about, span.events)
    stops = about.get("gen_ai.response.finish_reasons")
    # Some writers name the error, and leave the status unset.
    error = span.error if span.error is not None else as_text(about.get("error.type"))
    arguments = next((about[name] for name in _ARGUMENTS if about.get(name) is not None), None)
    result = next((about[name] for name in _RESULTS if about.get(name) is not None), None)
    return Span(
        id=span.id,
        trace=span.trace,
        kind=kind,
        parent=span.parent,
        begin=span.begin,
        end=span.end,
        name=as_text(about.get("gen_ai.tool.name")) or as_text(about.get("traceloop.entity.name")) or span.name,
        error=error,
        request_messages=requests,
        reply_messages=replies,
        stop=as_text(stops[0]) if isinstance(stops, list) and stops else as_text(stops or None),
        model=as_text(about.get("gen_ai.request.model")) or as_text(about.get("gen_ai.response.model")),
        call_id=as_text(about.get("gen_ai.tool.call.id")),
        arguments=read_arguments(arguments),
        result=as_text(result),
        contexts=contexts_of_value(about.get("gen_ai.retrieval.documents")) if kind is SpanKind.RETRIEVER else (),
    )


def kind_of_span(attributes: Mapping[str, Any]) -> SpanKind:
    """The kind by the operation, which older spans do not name."""
    operation = as_text(attributes.get(_OPERATION))
    if operation in _KINDS:
        return _KINDS[operation]
    if operation in _MODEL_OPERATIONS:
        return SpanKind.MODEL
    if operation is not None:
        return SpanKind.OTHER
    if attributes.get("gen_ai.tool.name") or attributes.get("traceloop.span.kind") == "tool":
        return SpanKind.TOOL
    is_request = "gen_ai.request.model" in attributes or "gen_ai.prompt.0.role" in attributes
    return SpanKind.MODEL if is_request or attributes.get("llm.request.type") else SpanKind.OTHER


def asked_in(attributes: Mapping[str, Any], events: tuple[tuple[str, Mapping[str, Any]], ...]) -> list[Any]:
    """What a model was told, with the instructions that stand apart."""
    instructions = read_cell(attributes.get(_INSTRUCTIONS))
    system = [{"role": "system", "parts": instructions}] if as_rows(instructions) else []
    if isinstance(instructions, str) and instructions:
        system = [{"role": "system", "content": instructions}]
    messages = list(messages_of(read_cell(attributes.get(_INPUT))))
    if not messages and attributes.get("pydantic_ai.all_messages") is not None:
        messages = list(messages_of(read_cell(attributes["pydantic_ai.all_messages"])))
    if not messages:
        messages = [event_message(about, _ASKED_EVENTS[name]) for name, about in events if name in _ASKED_EVENTS]
    if not messages:
        messages = [numbered_message(item) for item in as_rows(unflatten(attributes, "gen_ai.prompt"))]
    return [*system, *messages] if messages else []


def said_in(attributes: Mapping[str, Any], events: tuple[tuple[str, Mapping[str, Any]], ...]) -> list[Any]:
    """What it replied; of several choices the first."""
    messages = list(messages_of(read_cell(attributes.get(_OUTPUT))))
    if not messages:
        choices = [about for name, about in events if name == "gen_ai.choice"]
        for about in choices[:1]:
            inside = as_table(read_cell(about.get("message")))
            messages = [
                {**event_message({**about, **inside}, "assistant"), "finish_reason": about.get("finish_reason")}
            ]
    if not messages:
        completions = as_rows(unflatten(attributes, "gen_ai.completion"))
        messages = [numbered_message({"role": "assistant", **item}) for item in completions[:1]]
    return messages


def event_message(attributes: Mapping[str, Any], role: str) -> dict[str, Any]:
    """A message that is an event."""
    message = {"role": as_text(attributes.get("role")) or role, "content": read_cell(attributes.get("content"))}
    if not isinstance(message["content"], list):
        message["content"] = as_text(attributes.get("content"))
    calls = as_rows(read_cell(attributes.get("tool_calls")))
    if calls:
        message["tool_calls"] = calls
    if role == "tool" and attributes.get("id"):
        message["tool_call_id"] = attributes["id"]
    return message


def numbered_message(item: Mapping[str, Any]) -> dict[str, Any]:
    """A message of OpenLLMetry, whose content may be the JSON of parts."""
    content = read_cell(item.get("content"))
    is_parts = bool(as_rows(content)) and all("type" in part for part in as_rows(content))
    return {**item, "content": content if is_parts else as_text(item.get("content"))}
