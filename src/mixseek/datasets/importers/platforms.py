"""What platforms give out: files of batch endpoints, experiment trackers, chats and tables."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.importers.answers import Answer, answer_of_messages, calls_of, describe_calls, read_answer
from mixseek.datasets.importers.reading import Shape, Sniffed, read_cell, sniff, walk_file
from mixseek.datasets.importers.record import (
    Log,
    LogFormat,
    LoggedSample,
    LoggedScore,
    Notices,
    QuestionNames,
    as_rows,
    as_table,
    as_text,
    content_text,
    conversation_text,
    messages_of,
    opening,
    question_text,
    read_grade,
    role_of,
    target_texts,
)
from mixseek.errors import DatasetError

# Output files of batch endpoints: OpenAI (chat and responses), Anthropic, Gemini; questions are joined from the input.
#
# A request has no target and no score; where a batch was asked to judge, its imported file serves as recorded replies.

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
    return replace(sample, question=question, target_model=sample.target_model or model)


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
    stop, calls = as_text(message.get("stop_reason")), calls_of(message)
    return LoggedSample(
        question_id=name,
        response=text,
        withheld=describe_calls(calls) if calls else None,
        target_model=as_text(message.get("model")),
        stop_reason=stop,
    )


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
    calls = [part for part in parts if isinstance(part.get("functionCall"), Mapping)]
    withheld = describe_calls(calls) if calls else None
    return LoggedSample(question_id=name, response=text, withheld=withheld, target_model=model, stop_reason=stop)


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


BATCHES = (
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


# Results of experiment trackers (MLflow `genai.evaluate`, LangSmith, Braintrust), chats, and tables.


def answered(answer: Answer) -> dict[str, Any]:
    """What an output says, as the fields of a sample."""
    return {
        "response": answer.said if answer.text is None else answer.text,
        "withheld": answer.withheld,
        "stop_reason": answer.stop,
    }


# MLflow.

_VALUE, _RATIONALE, _ERROR = "/value", "/rationale", "/error_message"
_EXPECTATION = re.compile(r"^(expected|expectation|guidelines|ground_truth|reference|target)")


def is_mlflow(sniffed: Sniffed) -> bool:
    return sniffed.is_rows() and sniffed.has("trace_id", "request", "response")


def read_mlflow(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Rows that the tool lost on the way leave no trace: there is nothing to count them by."""
    for number, row in sniffed.rows(notices):
        if not row.get("trace_id"):
            raise DatasetError(f"{sniffed.path}: row {number}: an MLflow result without `trace_id`")
        expectations = expectation_names(row)
        tags = as_table(read_cell(row.get("tags")))
        state = as_text(row.get("state")) or "OK"
        given, answer = read_cell(row.get("request")), read_cell(row.get("response"))
        is_failed = state == "ERROR" or answer in (None, "")
        yield LoggedSample(
            question_id=str(row["trace_id"]),
            question=question_text(given),
            **answered(read_answer(answer)),
            error=f"the traced call ended with state {state} and without a response" if is_failed else None,
            targets=target_texts({name: read_cell(row.get(name + _VALUE)) for name in expectations} or None),
            scores=dict(mlflow_scores(row, expectations)),
            metadata={name: value for name, value in tags.items() if not name.startswith("mlflow.")},
        )


def expectation_names(row: Mapping[str, Any]) -> list[str]:
    """Told by the assessments where they are there, else by how expectations are usually called."""
    assessments = as_rows(read_cell(row.get("assessments")))
    told = {str(one.get("assessment_name")) for one in assessments if "expectation" in one}
    columns = [name.removesuffix(_VALUE) for name in row if name.endswith(_VALUE)]
    return [name for name in columns if (name in told if assessments else _EXPECTATION.match(name))]


def mlflow_scores(row: Mapping[str, Any], expectations: list[str]) -> Iterator[tuple[str, LoggedScore]]:
    names = dict.fromkeys(name.removesuffix(end) for name in row for end in (_VALUE, _ERROR) if name.endswith(end))
    for name in names:
        if name in expectations:
            continue
        value, error = read_cell(row.get(name + _VALUE)), as_text(row.get(name + _ERROR))
        reason = as_text(row.get(name + _RATIONALE)) or None
        if error:
            yield name, LoggedScore(None, reason=reason, problem=error)
        elif value not in (None, ""):
            yield name, read_grade(value, reason=reason)


# LangSmith.

_INPUTS, _OUTPUTS, _REFERENCE, _FEEDBACK = "inputs.", "outputs.", "reference.", "feedback."


def is_langsmith(sniffed: Sniffed) -> bool:
    has_inputs = any(name.startswith(_INPUTS) for name in sniffed.first)
    return sniffed.is_rows() and has_inputs and sniffed.has("example_id")


def read_langsmith(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Rows with one `example_id` are repeats, in the order of the file."""
    for number, row in sniffed.rows(notices):
        if not row.get("example_id"):
            raise DatasetError(f"{sniffed.path}: row {number}: a LangSmith result without `example_id`")
        outputs = below(row, _OUTPUTS)
        feedback = {name: value for name, value in below(row, _FEEDBACK).items() if value not in (None, "")}
        error = as_text(row.get("error")) or None
        is_table = sniffed.shape is Shape.TABLE
        # CSV cannot say null: of several output columns, the empty ones are not there.
        outputs = {name: value for name, value in outputs.items() if value not in (None, "")} if is_table else outputs
        yield LoggedSample(
            question_id=str(row["example_id"]),
            question=question_text(below(row, _INPUTS)),
            **answered(Answer(None) if error else read_answer(outputs) if outputs else Answer("")),
            error=error,
            targets=target_texts(below(row, _REFERENCE) or None),
            scores={name: read_grade(table_value(value)) for name, value in feedback.items()},
            metadata={"run_id": row["id"]} if row.get("id") else {},
        )


# Runs of LangSmith, as its client lists them: a tree of steps below each call, of which the root has the answer.


def is_langsmith_runs(sniffed: Sniffed) -> bool:
    known = ("trace_id", "dotted_order", "parent_run_id", "child_runs", "reference_example_id")
    return sniffed.is_rows() and sniffed.has("run_type", "inputs") and any(map(sniffed.has, known))


def read_langsmith_runs(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Steps are no samples: a call of a model or a tool within a run answers nobody's question."""
    roots = steps = 0
    for number, row in sniffed.rows(notices):
        if "run_type" not in row:
            raise DatasetError(f"{sniffed.path}: row {number}: a LangSmith run without `run_type`")
        if not is_root(row):
            steps += 1
            continue
        roots += 1
        error = error_text(row.get("error")) or None
        yield LoggedSample(
            question_id=as_text(row.get("id")) or "",
            question=question_text(read_cell(row.get("inputs"))),
            **answered(Answer(None) if error else read_answer(read_cell(row.get("outputs")))),
            error=error,
            metadata={name: row[name] for name in ("name", "trace_id", "reference_example_id") if row.get(name)},
        )
    if steps and not roots:
        raise DatasetError(
            f"{sniffed.path}: LangSmith runs without a root: only steps, which are no answers; list the roots"
        )
    if steps:
        notices.append(f"{steps:,} runs are steps of {roots:,} others, so they are no samples; steps are not read yet")


def is_root(row: Mapping[str, Any]) -> bool:
    """By whichever of its columns says so; the dotted order of a step has its parents before it."""
    if row.get("parent_run_id"):
        return False
    order = row.get("dotted_order")
    is_below = isinstance(order, str) and "." in order
    is_other = bool(row.get("trace_id")) and bool(row.get("id")) and row["trace_id"] != row["id"]
    return not (is_below or is_other)


def table_value(value: Any) -> Any:
    """Text of a cell as what it was: True and False are written as Python has them."""
    return {"True": True, "False": False}.get(value, value) if isinstance(value, str) else value


def below(row: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The columns of one kind, without their prefix."""
    return {name.removeprefix(prefix): read_cell(value) for name, value in row.items() if name.startswith(prefix)}


# Braintrust.


def is_braintrust(sniffed: Sniffed) -> bool:
    scores = sniffed.first.get("scores")
    return (
        sniffed.is_rows()
        and sniffed.has("input", "output", "expected")
        and isinstance(scores, Mapping | None)
        and "scores" in sniffed.first
    )


def read_braintrust(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """A scorer that raised is absent, one that skipped is null: neither is a score."""
    names = QuestionNames()
    for number, row in sniffed.rows(notices):
        if "input" not in row:
            raise DatasetError(f"{sniffed.path}: row {number}: a Braintrust result without `input`")
        metadata = as_table(row.get("metadata"))
        wanted = as_text(metadata.get("id")) or as_text(row.get("id") if "dataset_record_id" not in row else None)
        error = as_text(row.get("error"))
        yield LoggedSample(
            question_id=names.name(wanted, row["input"], row.get("expected")),
            question=question_text(row["input"]),
            **answered(Answer(None) if error is not None else read_answer(row.get("output"))),
            error=error,
            targets=target_texts(row.get("expected")),
            scores={
                name: read_grade(value) for name, value in as_table(row.get("scores")).items() if value is not None
            },
            metadata={**metadata, **({"tags": row["tags"]} if row.get("tags") else {})},
        )


# Rows that any tool may write: chats as `messages`, and tables of `inputs` and `outputs`.

_RESPONSES = ("response", "output", "completion", "prediction", "response_path", "reply", "raw_output", "raw")
_IDS = ("id", "question_id", "custom_id", "example_id", "conversation_id", "uuid")
_TARGETS = (
    *("ground_truth", "target", "targets", "reference", "references", "reference_outputs", "expected"),
    *("expected_output", "expected_outputs", "expectations", "answer", "gold", "label"),
)
_MODELS = ("target_model", "model")
_STOPS = ("stop_reason", "finish_reason")


def common_fields(row: Mapping[str, Any], number: int, used: tuple[str, ...]) -> dict[str, Any]:
    """What a row says beside its texts; a row without an id is named by its number, as in any dataset."""
    name = next((as_text(row[key]) for key in _IDS if row.get(key) not in (None, "")), None)
    target = next((read_cell(row[key]) for key in _TARGETS if row.get(key) not in (None, "")), None)
    known = {*_IDS[:2], *_TARGETS, *_MODELS, *used, "metadata", "error", "task_name"}
    rest = {column: value for column, value in row.items() if column not in known and "." not in column}
    return {
        "question_id": name or str(number),
        "targets": target_texts(target),
        "target_model": next((as_text(row[key]) for key in _MODELS if row.get(key)), None),
        "task_name": as_text(row.get("task_name")),
        "metadata": {**as_table(read_cell(row.get("metadata"))), **rest},
    }


# Chats.


def is_chat(sniffed: Sniffed) -> bool:
    """A list of messages with roles, and no column that is a response already."""
    is_plain = any(name in sniffed.first for name in _RESPONSES)
    return (
        sniffed.is_rows()
        and not is_plain
        and any(
            any(role_of(one) for one in as_rows(read_cell(sniffed.first.get(name))))
            for name in ("messages", "conversations")
        )
    )


def read_chat(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """The last message is the response if the assistant wrote it; what stands before is the question."""
    for number, row in sniffed.rows(notices):
        messages = messages_of(read_cell(row.get("messages", row.get("conversations"))))
        if not messages:
            raise DatasetError(f"{sniffed.path}: row {number}: a chat without `messages`")
        is_answered = role_of(messages[-1]) == "assistant"
        told = answered(answer_of_messages(messages) if is_answered else Answer(None))
        told["stop_reason"] = told["stop_reason"] or next(
            (as_text(row[name]) for name in _STOPS if row.get(name)), None
        )
        error = error_text(row.get("error"))
        yield LoggedSample(
            question=conversation_text(messages[:-1] if is_answered else messages),
            error=error if is_answered or error else "the chat ends without an answer of the assistant",
            **told,
            **common_fields(row, number, ("messages", "conversations", *_STOPS)),
        )


def error_text(error: Any) -> str | None:
    """A text, or the message of an object; None where nothing failed."""
    return as_text(as_table(error).get("message")) or as_text(error or None)


# Tables.


def is_table(sniffed: Sniffed) -> bool:
    names = tuple(sniffed.first)
    has_columns = sniffed.has("inputs", "outputs")
    has_parts = all(any(name.startswith(prefix) for name in names) for prefix in ("inputs.", "outputs."))
    return sniffed.is_rows() and (has_columns or has_parts)


def open_table(sniffed: Sniffed) -> Log:
    return Log(partial(read_inputs, sniffed))


def read_inputs(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Each may be a text, an object, the text of one, or columns such as `inputs.question`."""
    for number, row in sniffed.rows(notices):
        given = read_cell(row["inputs"]) if "inputs" in row else below(row, "inputs.")
        answer = read_cell(row.get("outputs")) if "outputs" in row else below(row, "outputs.") or None
        fields = common_fields(row, number, ("inputs", "outputs"))
        if not fields["targets"]:
            fields["targets"] = target_texts(below(row, "reference.") or below(row, "expectations.") or None)
        error = as_text(row.get("error")) or None
        yield LoggedSample(
            question=question_text(given),
            **answered(Answer(None) if error is not None else read_answer(answer)),
            error=error,
            **fields,
        )


EXPERIMENTS = (
    LogFormat("mlflow", "MLflow results", is_mlflow, opening(read_mlflow)),
    LogFormat("langsmith", "LangSmith results", is_langsmith, opening(read_langsmith)),
    LogFormat("langsmith_runs", "LangSmith runs", is_langsmith_runs, opening(read_langsmith_runs)),
    LogFormat("braintrust", "Braintrust results", is_braintrust, opening(read_braintrust)),
    LogFormat("chat", "chat", is_chat, opening(read_chat)),
    LogFormat("inputs_outputs", "table of inputs and outputs", is_table, open_table),
)
