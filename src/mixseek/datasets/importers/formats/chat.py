"""Chats that any tool may write: rows with `messages` or `conversations`, or lists of messages themselves."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_item, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.columns import common_fields
from mixseek.datasets.importers.samples.contexts import contexts_in
from mixseek.datasets.importers.samples.messages import messages_of, role_of
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import error_text
from mixseek.datasets.importers.samples.transcript import conversation_fields, transcript_of
from mixseek.datasets.importers.samples.turns import Turn, Unread, describe_unread, result_text, turns_of
from mixseek.datasets.importers.samples.values import as_text
from mixseek.domain.steps import StepRole
from mixseek.errors import DatasetError

_RESPONSES = ("response", "output", "completion", "prediction", "response_path", "reply", "raw_output", "raw")
_STOPS = ("stop_reason", "finish_reason")
# Anthropic has the system prompt beside the messages.
_SYSTEMS = ("system", "system_prompt", "instructions")


_COLUMNS = ("messages", "conversations", "conversation")
# A file may be one conversation: a list of messages.
_SIGNATURES = (*(in_row(column) for column in _COLUMNS), in_item("role", "content"))


def is_chat(sniffed: Sniffed) -> bool:
    """A list of messages with roles, and no column that is a response already."""
    if is_one_chat(sniffed):
        return True
    is_plain = any(name in sniffed.first for name in _RESPONSES)
    listed = [messages_of(read_cell(sniffed.first.get(column))) for column in _COLUMNS]
    return not is_plain and any(role_of(message) for messages in listed for message in messages)


def is_one_chat(sniffed: Sniffed) -> bool:
    """A list whose items are the messages of one conversation."""
    return (
        sniffed.is_list_of("role", "content")
        and isinstance(role_of(sniffed.first), str)
        and bool(role_of(sniffed.first))
    )


def read_chat(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """The final answer is the response; what was said up to the last word of a user is the question."""
    unread = Unread()
    for number, row in sniffed.conversations("messages", notices) if is_one_chat(sniffed) else sniffed.rows(notices):
        column = next((name for name in _COLUMNS if row.get(name) is not None), _COLUMNS[0])
        messages = messages_of(read_cell(row.get(column)))
        if not messages:
            raise DatasetError(f"{sniffed.path}: row {number}: a chat without `messages`")
        transcript = transcript_of([*system_of(row), *turns_of(messages, unread)])
        stop = next((as_text(row[name]) for name in _STOPS if row.get(name)), None)
        transcript.end(stop)
        fields = conversation_fields(transcript)
        fields["stop_reason"] = fields["stop_reason"] or stop
        error = error_text(row.get("error"))
        if not transcript.entries or transcript.entries[-1].role in (StepRole.USER, StepRole.SYSTEM):
            error = error or "the chat ends without an answer of the assistant"
        context_column, contexts = contexts_in(row)
        used = (column, *_STOPS, *((context_column,) if context_column else ()))
        yield LoggedSample(error=error, contexts=contexts, **fields, **common_fields(row, number, used))
    notices.extend(describe_unread(unread))


def system_of(row: Mapping[str, Any]) -> list[Turn]:
    """The prompt that stands beside the messages."""
    text = next((result_text(row[name]) for name in _SYSTEMS if isinstance(row.get(name), str | list)), None)
    return [Turn(StepRole.SYSTEM, "", text)] if text else []


FORMAT = LogFormat("chat", "chat", _SIGNATURES, opening(read_chat), is_chat, has_scores=False)
