"""Chats that any tool may write: rows with `messages` or `conversations`."""

from collections.abc import Iterator

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import Answer, answer_of_messages, answered
from mixseek.datasets.importers.samples.columns import common_fields
from mixseek.datasets.importers.samples.messages import conversation_text, messages_of, role_of
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import error_text
from mixseek.datasets.importers.samples.values import as_rows, as_text
from mixseek.errors import DatasetError

_RESPONSES = ("response", "output", "completion", "prediction", "response_path", "reply", "raw_output", "raw")
_STOPS = ("stop_reason", "finish_reason")


_COLUMNS = ("messages", "conversations")
_SIGNATURES = tuple(in_row(column) for column in _COLUMNS)


def is_chat(sniffed: Sniffed) -> bool:
    """A list of messages with roles, and no column that is a response already."""
    is_plain = any(name in sniffed.first for name in _RESPONSES)
    listed = [as_rows(read_cell(sniffed.first.get(column))) for column in _COLUMNS]
    return not is_plain and any(role_of(message) for messages in listed for message in messages)


def read_chat(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """The last message is the response if the assistant wrote it; what stands before is the question."""
    for number, row in sniffed.rows(notices):
        messages = messages_of(read_cell(row.get("messages", row.get("conversations"))))
        if not messages:
            raise DatasetError(f"{sniffed.path}: row {number}: a chat without `messages`")
        is_answered = role_of(messages[-1]) == "assistant"
        answer = answered(answer_of_messages(messages) if is_answered else Answer(None))
        answer["stop_reason"] = answer["stop_reason"] or next(
            (as_text(row[name]) for name in _STOPS if row.get(name)), None
        )
        error = error_text(row.get("error"))
        yield LoggedSample(
            question=conversation_text(messages[:-1] if is_answered else messages),
            error=error if is_answered or error else "the chat ends without an answer of the assistant",
            **answer,
            **common_fields(row, number, ("messages", "conversations", *_STOPS)),
        )


FORMAT = LogFormat("chat", "chat", _SIGNATURES, opening(read_chat), is_chat)
