"""Batches of Anthropic, whose requests may be one object."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.formats.batches.joining import Provider, Request, batch_format
from mixseek.datasets.importers.log_format import in_row
from mixseek.datasets.importers.samples.answers import calls_of, describe_calls
from mixseek.datasets.importers.samples.messages import content_text, conversation_text
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.judges.batches.lines import LineFormat, read_line


def is_anthropic_output(row: Mapping[str, Any]) -> bool:
    return "custom_id" in row and "type" in as_table(row.get("result"))


def is_anthropic_request(row: Mapping[str, Any]) -> bool:
    return "custom_id" in row and "messages" in as_table(row.get("params"))


def read_anthropic_request(row: Mapping[str, Any]) -> Request:
    parameters = as_table(row.get("params"))
    return conversation_text(parameters.get("messages")), as_text(parameters.get("model"))


def read_anthropic_output(row: Mapping[str, Any]) -> LoggedSample:
    # The same reader as of batches that are collected here.
    line = read_line(LineFormat.ANTHROPIC, row)
    name = line.custom_id or as_text(row.get("custom_id")) or ""
    if line.failure is not None:
        return LoggedSample(question_id=name, error=line.failure.words)
    message = as_table(line.document)
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
