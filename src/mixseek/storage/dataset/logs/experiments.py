"""Results of experiment trackers (MLflow `genai.evaluate`, LangSmith, Braintrust), chats, and tables."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.errors import DatasetError
from mixseek.storage.dataset.logs.reading import Shape, Sniffed, read_cell
from mixseek.storage.dataset.logs.record import (
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
    opening,
    question_text,
    read_grade,
    response_text,
    role_of,
    target_texts,
)

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
            response=response_text(answer),
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
            response=None if error else response_text(outputs) if outputs else "",
            error=error,
            targets=target_texts(below(row, _REFERENCE) or None),
            scores={name: read_grade(table_value(value)) for name, value in feedback.items()},
            metadata={"run_id": row["id"]} if row.get("id") else {},
        )


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
            response=None if error is not None else response_text(row.get("output")),
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
        messages = as_rows(read_cell(row.get("messages", row.get("conversations"))))
        if not messages:
            raise DatasetError(f"{sniffed.path}: row {number}: a chat without `messages`")
        last = messages[-1]
        is_answered = role_of(last) == "assistant"
        yield LoggedSample(
            question=conversation_text(messages[:-1] if is_answered else messages),
            response=content_text(last.get("content", last.get("value"))) if is_answered else None,
            error=None if is_answered else "the chat ends without an answer of the assistant",
            **common_fields(row, number, ("messages", "conversations")),
        )


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
            response=None if error is not None else response_text(answer),
            error=error,
            **fields,
        )


FORMATS = (
    LogFormat("mlflow", "MLflow results", is_mlflow, opening(read_mlflow)),
    LogFormat("langsmith", "LangSmith results", is_langsmith, opening(read_langsmith)),
    LogFormat("braintrust", "Braintrust results", is_braintrust, opening(read_braintrust)),
    LogFormat("chat", "chat", is_chat, opening(read_chat)),
    LogFormat("inputs_outputs", "table of inputs and outputs", is_table, open_table),
)
