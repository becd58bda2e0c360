"""Spans as OpenInference names their attributes: kinds, flattened messages, retrieved documents."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.samples.contexts import contexts_of_value
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.datasets.importers.spans.otlp import RawSpan, unflatten
from mixseek.datasets.importers.spans.timeline import Span, SpanKind
from mixseek.datasets.step_columns import read_arguments
from mixseek.domain.steps import Context

SESSION = "session.id"
_KIND = "openinference.span.kind"
_KINDS = {"LLM": SpanKind.MODEL, "TOOL": SpanKind.TOOL, "RETRIEVER": SpanKind.RETRIEVER}
_INPUT, _OUTPUT = "input.value", "output.value"


def is_openinference(span: RawSpan) -> bool:
    return _KIND in span.attributes


def read_openinference(span: RawSpan) -> Span:
    """Messages from their attributes; where these were left out, from the request and reply as a whole."""
    about = span.attributes
    kind = _KINDS.get(str(about[_KIND]).upper(), SpanKind.OTHER)
    given, gave = read_cell(about.get(_INPUT)), read_cell(about.get(_OUTPUT))
    requests: list[Any] = messages_at(about, "llm.input_messages")
    replies: list[Any] = messages_at(about, "llm.output_messages")
    choice = as_table(next(iter(as_rows(as_table(gave).get("choices"))), {}))
    if kind is SpanKind.MODEL:
        requests = requests or as_rows(as_table(given).get("messages")) or prompt_of(about)
        replies = replies or ([choice["message"]] if choice.get("message") else [])
    elif kind is SpanKind.OTHER and not requests:
        requests, replies = as_rows(as_table(given).get("messages")), as_rows(as_table(gave).get("messages"))
    arguments = next((about[name] for name in (_INPUT, "tool.parameters") if about.get(name) is not None), None)
    return Span(
        id=span.id,
        trace=span.trace,
        kind=kind,
        parent=span.parent,
        begin=span.begin,
        end=span.end,
        name=as_text(about.get("tool.name")) or span.name,
        error=span.error,
        request_messages=requests,
        reply_messages=replies,
        given=None if kind is SpanKind.MODEL else given,
        gave=None if kind is SpanKind.MODEL else gave,
        stop=as_text(about.get("llm.finish_reason")) or as_text(choice.get("finish_reason")),
        model=as_text(about.get("llm.model_name")),
        call_id=as_text(about.get("tool_call.id")) or as_text(about.get("tool.id")),
        arguments=read_arguments(arguments),
        result=as_text(about.get(_OUTPUT)),
        contexts=documents_of(about) if kind is SpanKind.RETRIEVER else (),
    )


def messages_at(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """`prefix.0.message.role` and the like as messages of OpenAI."""
    listed = unflatten(attributes, prefix)
    return [plain_message(as_table(item.get("message"))) for item in as_rows(listed)]


def plain_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in objects of its own there, unwrapped."""
    plain = {name: message[name] for name in ("role", "content", "tool_call_id", "name") if name in message}
    if message.get("contents") and "content" not in plain:
        plain["content"] = [plain_part(as_table(part.get("message_content"))) for part in as_rows(message["contents"])]
    calls = [as_table(call.get("tool_call")) for call in as_rows(message.get("tool_calls"))]
    if calls:
        plain["tool_calls"] = calls
    name = message.get("function_call_name")
    if name:
        plain["function_call"] = {"name": name, "arguments": message.get("function_call_arguments_json")}
    return plain


def plain_part(part: Mapping[str, Any]) -> dict[str, Any]:
    image = as_table(as_table(part.get("image")).get("image"))
    return {"type": "image_url", "image_url": image} if image else dict(part)


def prompt_of(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The prompts of a model that takes texts."""
    prompts = unflatten(attributes, "llm.prompts")
    texts = [as_text(as_table(prompt.get("prompt")).get("text")) for prompt in as_rows(prompts)]
    return [{"role": "user", "content": text} for text in texts if text]


def documents_of(attributes: Mapping[str, Any]) -> tuple[Context, ...]:
    """The documents in their order, from their attributes or from the output as a whole."""
    listed = [as_table(item.get("document")) for item in as_rows(unflatten(attributes, "retrieval.documents"))]
    documents = [{**document, "metadata": read_cell(document.get("metadata"))} for document in listed]
    return contexts_of_value(documents) if documents else contexts_of_value(read_cell(attributes.get(_OUTPUT)))
