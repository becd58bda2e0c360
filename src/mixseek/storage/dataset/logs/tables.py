"""Rows that any tool may write: chats as `messages`, and tables of `inputs` and `outputs`."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.errors import DatasetError
from mixseek.storage.dataset.logs.experiments import below, read_cell
from mixseek.storage.dataset.logs.formats import Log, LogFormat, Notices
from mixseek.storage.dataset.logs.reading import Sniffed
from mixseek.storage.dataset.logs.record import (
    LoggedSample,
    as_rows,
    as_table,
    as_text,
    content_text,
    conversation_text,
    question_text,
    response_text,
    role_of,
    target_texts,
)

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
        and any(any(role_of(one) for one in as_rows(sniffed.first.get(name))) for name in ("messages", "conversations"))
    )


def open_chat(sniffed: Sniffed) -> Log:
    return Log(partial(read_chat, sniffed))


def read_chat(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """The last message is the response if the assistant wrote it; what stands before is the question."""
    for number, row in sniffed.rows(notices):
        messages = as_rows(row.get("messages", row.get("conversations")))
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
    LogFormat("chat", "chat", is_chat, open_chat),
    LogFormat("inputs_outputs", "table of inputs and outputs", is_table, open_table),
)
