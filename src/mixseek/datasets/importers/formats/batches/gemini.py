"""Batches of Gemini."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.formats.batches.joining import Provider, Request, batch_format
from mixseek.datasets.importers.log_format import in_row
from mixseek.datasets.importers.samples.answers import describe_calls
from mixseek.datasets.importers.samples.messages import conversation_text
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.judges.batches.lines import LineFormat, read_line


def is_gemini_output(row: Mapping[str, Any]) -> bool:
    response = as_table(row.get("response"))
    is_answer = bool({"candidates", "promptFeedback", "usageMetadata"} & response.keys())
    is_failure = "error" in row and not {"custom_id", "request", "response"} & row.keys()
    return "key" in row and (is_answer or is_failure)


def is_gemini_request(row: Mapping[str, Any]) -> bool:
    return "key" in row and "contents" in as_table(row.get("request")) and "response" not in row


def read_gemini_request(row: Mapping[str, Any]) -> Request:
    request = as_table(row.get("request"))
    turns = [
        {
            "role": turn.get("role", "user"),
            "content": [{"text": part.get("text")} for part in as_rows(turn.get("parts"))],
        }
        for turn in as_rows(request.get("contents"))
    ]
    return conversation_text(turns), as_text(request.get("model"))


def read_gemini_output(row: Mapping[str, Any]) -> LoggedSample:
    """Blocked prompts have no candidate; thoughts are no part of the answer."""
    # The same reader as of batches that are collected here.
    line = read_line(LineFormat.GEMINI, row)
    name, response = line.custom_id or as_text(row.get("key")) or "", as_table(line.document)
    if line.failure is not None:
        return LoggedSample(question_id=name, error=line.failure.words)
    model, candidates = as_text(response.get("modelVersion")), as_rows(response.get("candidates"))
    if not candidates:
        reason = as_text(as_table(response.get("promptFeedback")).get("blockReason"))
        return LoggedSample(question_id=name, error=f"the prompt was blocked: {reason}", target_model=model)
    parts = as_rows(as_table(candidates[0].get("content")).get("parts"))
    text = "".join(as_text(part.get("text")) or "" for part in parts if part.get("thought") is not True)
    stop = as_text(candidates[0].get("finishReason"))
    calls = [part for part in parts if isinstance(part.get("functionCall"), Mapping)]
    withheld = describe_calls(calls) if calls else None
    return LoggedSample(question_id=name, response=text, withheld=withheld, target_model=model, stop_reason=stop)


_SIGNATURES = (in_row("key", "response"), in_row("key", "error"), in_row("key", "request"))
FORMAT = batch_format(
    Provider("Gemini", "key", _SIGNATURES, is_gemini_output, is_gemini_request, read_gemini_request, read_gemini_output)
)
