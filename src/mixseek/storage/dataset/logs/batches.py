"""Output files of batch endpoints: OpenAI (chat and responses), Anthropic, Gemini; questions are joined from the input.

A request has no target and no score; where a batch was asked to judge, its imported file serves as recorded replies.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.errors import DatasetError
from mixseek.storage.dataset.logs.reading import Shape, Sniffed, sniff, walk_file
from mixseek.storage.dataset.logs.record import (
    Log,
    LogFormat,
    LoggedSample,
    Notices,
    as_rows,
    as_table,
    as_text,
    content_text,
    conversation_text,
)

Request = tuple[str, str | None]  # the question, and the model that was asked
# What files of one batch are called; the output of OpenAI is split into what came and what failed.
_REQUEST_WORDS = ("input", "requests", "request")
_OUTPUT_WORDS = ("output", "results", "result")
_ERROR_WORDS = ("error", "errors")


@dataclass(frozen=True, slots=True)
class Provider:
    """How one provider writes a batch: the name of a request, its two kinds of rows, and what each says."""

    name: str
    key: str
    is_output: Callable[[Mapping[str, Any]], bool]
    is_request: Callable[[Mapping[str, Any]], bool]
    read_request: Callable[[Mapping[str, Any]], Request]
    read_output: Callable[[Mapping[str, Any]], LoggedSample]


def is_batch(provider: Provider, sniffed: Sniffed) -> bool:
    """Output rows, request rows, or Anthropic's object of requests."""
    if sniffed.shape is Shape.OBJECT and sniffed.outline.get(("requests",), b"")[:1] == b"[":
        first = next((row for row in read_requests_object(sniffed.path, [])), {})
        return provider.is_request(first)
    return sniffed.is_rows() and (provider.is_output(sniffed.first) or provider.is_request(sniffed.first))


def open_batch(provider: Provider, sniffed: Sniffed) -> Log:
    """Output with the questions of its input beside it; an input with every output that is found beside it."""
    path = sniffed.path
    if sniffed.is_rows() and provider.is_output(sniffed.first):
        requests = find_beside(provider, path, (*_OUTPUT_WORDS, *_ERROR_WORDS), _REQUEST_WORDS, provider.is_request)
        notices = [] if requests else ["the file of its requests is not beside it, so there are no questions"]
        others = find_beside(provider, path, _OUTPUT_WORDS, _ERROR_WORDS, provider.is_output)
        if others:
            notices.append(f"requests that failed stand in {others[0].name}; import {requests_name(requests)} for all")
        samples = partial(read_outputs, provider, [path], requests)
        return Log(samples, companions=tuple(requests), notices=tuple(notices))
    outputs = find_beside(provider, path, _REQUEST_WORDS, (*_OUTPUT_WORDS, *_ERROR_WORDS), provider.is_output)
    if not outputs:
        raise DatasetError(
            f"{path}: requests of a batch ({provider.name}), without a response; its output is not beside it "
            f"under the same name with {_OUTPUT_WORDS[0]} for {_REQUEST_WORDS[0]}: give the output file instead"
        )
    return Log(partial(read_outputs, provider, outputs, [path]), companions=tuple(outputs))


def requests_name(requests: list[Path]) -> str:
    return requests[0].name if requests else "that file, too,"


def find_beside(
    provider: Provider,
    path: Path,
    words: tuple[str, ...],
    wanted: tuple[str, ...],
    fits: Callable[[Mapping[str, Any]], bool],
) -> list[Path]:
    """Files of the same batch, by their names with another word in it; their content has to fit, too."""
    found: dict[Path, None] = {}
    for word in words:
        if word not in path.name:
            continue
        start, _, end = path.name.rpartition(word)
        for other in wanted:
            for suffix in dict.fromkeys((end, ".jsonl", ".json")):
                beside = path.with_name(f"{start}{other}{suffix}")
                if beside != path and beside.is_file() and beside not in found and fits(first_row(beside)):
                    found[beside] = None
        break
    return list(found)


def first_row(path: Path) -> Mapping[str, Any]:
    sniffed = sniff(path)
    if sniffed is None:
        return {}
    if sniffed.shape is Shape.OBJECT and ("requests",) in sniffed.outline:
        return next(read_requests_object(path, []), {})
    return sniffed.first


def read_requests_object(path: Path, notices: Notices) -> Iterator[Mapping[str, Any]]:
    yield from (as_table(row) for _, row in walk_file(path, {("requests",): True}, notices))


def rows_of(path: Path, notices: Notices) -> Iterator[Mapping[str, Any]]:
    """Of an output, or of requests in either shape."""
    sniffed = sniff(path)
    if sniffed is None:
        raise DatasetError(f"{path}: cannot be read as a file of a batch")
    if sniffed.shape is Shape.OBJECT and ("requests",) in sniffed.outline:
        return read_requests_object(path, notices)
    return (row for _, row in sniffed.rows(notices))


def read_outputs(
    provider: Provider, outputs: list[Path], requests: list[Path], notices: Notices
) -> Iterator[LoggedSample]:
    """Each output with its question; what was asked and never came back is told."""
    asked: dict[str, Request] = {}
    for path in requests:
        for row in rows_of(path, notices):
            asked[str(row.get(provider.key))] = provider.read_request(row)
    total = len(asked)
    for path in outputs:
        for number, row in enumerate(rows_of(path, notices), 1):
            if not provider.is_output(row):
                raise DatasetError(
                    f"{path}: row {number}: not the output of a {provider.name} batch, as the first row is"
                )
            sample = provider.read_output(row)
            question, model = asked.pop(sample.question_id, ("", None))
            yield with_question(sample, question, model)
    if asked and len(asked) < total:
        notices.append(f"{len(asked):,} of {total:,} requests have no output here")


def with_question(sample: LoggedSample, question: str, model: str | None) -> LoggedSample:
    """The model that answered is named with its date, which says more than the name that was asked for."""
    return LoggedSample(
        question_id=sample.question_id,
        question=question,
        response=sample.response,
        error=sample.error,
        target_model=sample.target_model or model,
        stop_reason=sample.stop_reason,
        metadata=sample.metadata,
    )


# OpenAI.


def is_openai_output(row: Mapping[str, Any]) -> bool:
    return {"custom_id", "response", "error"} <= row.keys()


def is_openai_request(row: Mapping[str, Any]) -> bool:
    return {"custom_id", "method", "url", "body"} <= row.keys()


def read_openai_request(row: Mapping[str, Any]) -> Request:
    body = as_table(row.get("body"))
    given = body.get("messages", body.get("input", body.get("prompt")))
    return (given if isinstance(given, str) else conversation_text(given)), as_text(body.get("model"))


def read_openai_output(row: Mapping[str, Any]) -> LoggedSample:
    """Chat, responses or the older completions, told by what stands in the body."""
    response = as_table(row.get("response"))
    body, failed = as_table(response.get("body")), as_table(row.get("error"))
    name, model = as_text(row.get("custom_id")) or "", as_text(body.get("model"))
    status = response.get("status_code")
    if failed or not response:
        error = ": ".join(filter(None, (as_text(failed.get("code")), as_text(failed.get("message"))))) or "no response"
        return LoggedSample(question_id=name, error=error)
    told = as_table(body.get("error"))
    if status != 200 or told:
        words = as_text(told.get("message")) or as_text(body.get("error")) or "no message"
        return LoggedSample(question_id=name, error=f"status {status}: {words}", target_model=model)
    if isinstance(body.get("output"), list):
        text, stop = read_responses_body(body)
    else:
        choice = as_table(next(iter(as_rows(body.get("choices"))), {}))
        message = as_table(choice.get("message"))
        refusal = as_text(message.get("refusal"))
        text = content_text(message.get("content")) or refusal or as_text(choice.get("text"))
        text = "" if text is None and choice.get("finish_reason") == "stop" else text
        stop = "refusal" if refusal else as_text(choice.get("finish_reason"))
    return LoggedSample(question_id=name, response=text, target_model=model, stop_reason=stop)


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


# Anthropic.


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
        told = as_table(result.get("error"))
        told = as_table(told.get("error")) or told
        words = (kind, as_text(told.get("type")), as_text(told.get("message")))
        return LoggedSample(question_id=name, error=": ".join(word for word in words if word))
    message = as_table(result.get("message"))
    parts = as_rows(message.get("content"))
    text = content_text(parts) if any(part.get("type") == "text" for part in parts) else ""
    stop = as_text(message.get("stop_reason"))
    return LoggedSample(question_id=name, response=text, target_model=as_text(message.get("model")), stop_reason=stop)


# Gemini.


def is_gemini_output(row: Mapping[str, Any]) -> bool:
    told = as_table(row.get("response"))
    is_answer = bool({"candidates", "promptFeedback", "usageMetadata"} & told.keys())
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
    name, response = as_text(row.get("key")) or "", as_table(row.get("response"))
    failed = as_table(row.get("error"))
    if failed or not response:
        words = (as_text(failed.get("code")), as_text(failed.get("message")))
        return LoggedSample(question_id=name, error=": ".join(word for word in words if word) or "no response")
    model, candidates = as_text(response.get("modelVersion")), as_rows(response.get("candidates"))
    if not candidates:
        reason = as_text(as_table(response.get("promptFeedback")).get("blockReason"))
        return LoggedSample(question_id=name, error=f"the prompt was blocked: {reason}", target_model=model)
    parts = as_rows(as_table(candidates[0].get("content")).get("parts"))
    text = "".join(as_text(part.get("text")) or "" for part in parts if part.get("thought") is not True)
    stop = as_text(candidates[0].get("finishReason"))
    return LoggedSample(question_id=name, response=text, target_model=model, stop_reason=stop)


_PROVIDERS = (
    Provider("OpenAI", "custom_id", is_openai_output, is_openai_request, read_openai_request, read_openai_output),
    Provider(
        "Anthropic",
        "custom_id",
        is_anthropic_output,
        is_anthropic_request,
        read_anthropic_request,
        read_anthropic_output,
    ),
    Provider("Gemini", "key", is_gemini_output, is_gemini_request, read_gemini_request, read_gemini_output),
)


# The object that a provider keeps about a batch holds no responses, and says so instead of looking like a row.


def is_batch_object(sniffed: Sniffed) -> bool:
    is_openai = sniffed.first.get("object") == "batch" and sniffed.has("input_file_id")
    return sniffed.is_rows() and (is_openai or sniffed.first.get("type") == "message_batch")


def open_batch_object(sniffed: Sniffed) -> Log:
    raise DatasetError(f"{sniffed.path}: the description of a batch, which holds no responses; give its output file")


FORMATS = (
    LogFormat("batch", "batch", is_batch_object, open_batch_object),
    *(
        LogFormat(
            f"{provider.name.lower()}_batch",
            f"{provider.name} batch",
            partial(is_batch, provider),
            partial(open_batch, provider),
        )
        for provider in _PROVIDERS
    ),
)
