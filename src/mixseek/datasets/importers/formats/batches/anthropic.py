"""Batches of Anthropic, whose requests may be one object."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.formats.batches.joining import Provider, Request, batch_format
from mixseek.datasets.importers.log_format import in_row
from mixseek.datasets.importers.samples.answers import calls_of, describe_calls
from mixseek.datasets.importers.samples.messages import content_text, conversation_text
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text


def is_anthropic_output(row: Mapping[str, Any]) -> bool:
    return "custom_id" in row and "type" in as_table(row.get("result"))


def is_anthropic_request(row: Mapping[str, Any]) -> bool:
    return "custom_id" in row and "messages" in as_table(row.get("params"))


def read_anthropic_request(row: Mapping[str, Any]) -> Request:
    parameters = as_table(row.get("params"))
    return conversation_text(parameters.get("messages")), as_text(parameters.get("model"))


def read_anthropic_output(row: Mapping[str, Any]) -> LoggedSample:
    result, name = as_table(row.get("result")), as_text(row.get("custom_id")) or ""
    kind = as_text(result.get("type"))
    if kind != "succeeded":
        failure = as_table(result.get("error"))
        failure = as_table(failure.get("error")) or failure
        words = (kind, as_text(failure.get("type")), as_text(failure.get("message")))
        return LoggedSample(question_id=name, error=": ".join(word for word in words if word))
    message = as_table(result.get("message"))
    parts = as_rows(message.get("content"))
    text = content_text(parts) if any(part.get("type") == "text" for part in parts) else ""
    stop, calls = as_text(message.get("stop_reason")), calls_of(message)
    return LoggedSample(
        question_id=name,
        response=text,
        withheld=describe_calls(calls) if calls else None,
        target_model=as_text(message.get("model")),
        stop_reason=stop,
    )


_SIGNATURES = (in_row("custom_id", "result"), in_row("custom_id", "params"))
FORMAT = batch_format(
    Provider(
        "Anthropic",
        "custom_id",
        _SIGNATURES,
        is_anthropic_output,
        is_anthropic_request,
        read_anthropic_request,
        read_anthropic_output,
    )
)
