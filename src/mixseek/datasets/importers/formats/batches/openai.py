"""Batches of OpenAI: chat, responses, and the older completions."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.formats.batches.joining import Provider, Request, batch_format
from mixseek.datasets.importers.log_format import in_row
from mixseek.datasets.importers.samples.answers import calls_of, describe_calls
from mixseek.datasets.importers.samples.messages import content_text, conversation_text
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.judges.batches.lines import LineFormat, read_line


def is_openai_output(row: Mapping[str, Any]) -> bool:
    return {"custom_id", "response", "error"} <= row.keys()


def is_openai_request(row: Mapping[str, Any]) -> bool:
    return {"custom_id", "method", "url", "body"} <= row.keys()


def read_openai_request(row: Mapping[str, Any]) -> Request:
    body = as_table(row.get("body"))
    prompt = body.get("messages", body.get("input", body.get("prompt")))
    return (prompt if isinstance(prompt, str) else conversation_text(prompt)), as_text(body.get("model"))


def read_openai_output(row: Mapping[str, Any]) -> LoggedSample:
    """Chat, responses or the older completions, told by what stands in the body."""
    # The same reader as of batches that are collected here.
    line = read_line(LineFormat.OPENAI, row)
    body = as_table(as_table(row.get("response")).get("body"))
    name, model = line.custom_id or as_text(row.get("custom_id")) or "", as_text(body.get("model"))
    if line.failure is not None:
        return LoggedSample(question_id=name, error=line.failure.words, target_model=model)
    failure = as_table(body.get("error"))
    if failure:
        words = as_text(failure.get("message")) or "no message"
        return LoggedSample(question_id=name, error=f"status 200: {words}", target_model=model)
    calls: list[Mapping[str, Any]] = []
    if isinstance(body.get("output"), list):
        text, stop = read_responses_body(body)
        calls = calls_of({"content": body["output"]})
    else:
        choice = as_table(next(iter(as_rows(body.get("choices"))), {}))
        message = as_table(choice.get("message"))
        refusal = as_text(message.get("refusal"))
        text = content_text(message.get("content")) or refusal or as_text(choice.get("text"))
        text = "" if text is None and choice.get("finish_reason") == "stop" else text
        stop = "refusal" if refusal else as_text(choice.get("finish_reason"))
        calls = calls_of(message)
    withheld = describe_calls(calls) if calls else None
    return LoggedSample(question_id=name, response=text, withheld=withheld, target_model=model, stop_reason=stop)


def read_responses_body(body: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Text, and how it ended; a refusal is what the model said, and marked."""
    parts = [
        part
        for item in as_rows(body.get("output"))
        if item.get("type") == "message"
        for part in as_rows(item.get("content"))
    ]
    texts = [as_text(part.get("text")) or "" for part in parts if part.get("type") == "output_text"]
    refusals = [as_text(part.get("refusal")) or "" for part in parts if part.get("type") == "refusal"]
    incomplete = as_text(as_table(body.get("incomplete_details")).get("reason"))
    stop = "refusal" if refusals else incomplete or as_text(body.get("status"))
    return ("\n".join([*texts, *refusals]) if parts else None), stop


_SIGNATURES = (in_row("custom_id", "response", "error"), in_row("custom_id", "method", "url", "body"))
FORMAT = batch_format(
    Provider(
        "OpenAI", "custom_id", _SIGNATURES, is_openai_output, is_openai_request, read_openai_request, read_openai_output
    )
)
