"""Histories of pydantic-ai: requests and responses with their parts, as `all_messages_json()` gives them."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_item, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import Answer
from mixseek.datasets.importers.samples.columns import common_fields
from mixseek.datasets.importers.samples.contexts import contexts_in
from mixseek.datasets.importers.samples.question_names import digest_name
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import error_text
from mixseek.datasets.importers.samples.transcript import Transcript, conversation_fields, transcript_of
from mixseek.datasets.importers.samples.turns import Unread, describe_unread, turns_of
from mixseek.datasets.importers.samples.values import as_rows, as_text
from mixseek.errors import DatasetError

_COLUMNS = ("messages", "all_messages", "message_history", "history", "new_messages")
# What a run gave in the end, which may be an object.
_OUTPUTS = ("output", "result", "data", "response")
_SIGNATURES = (in_item("parts", "kind"), *(in_row(column) for column in _COLUMNS))


def is_history(value: Any) -> bool:
    """A list of messages that have parts, and are a request or a response."""
    messages = as_rows(read_cell(value))
    return bool(messages) and all("parts" in message and "kind" in message for message in messages[:4])


def holds_history(sniffed: Sniffed) -> bool:
    return sniffed.is_list_of("parts", "kind") or history_column(sniffed.first) is not None


def history_column(row: Mapping[str, Any]) -> str | None:
    """The column that holds the messages."""
    return next((name for name in _COLUMNS if is_history(row.get(name))), None)


def transcript_of_history(messages: Any, unread: Unread) -> Transcript:
    """What was said and called; a retry is what marks a failure there, and an outcome in later versions."""
    return transcript_of(turns_of(read_cell(messages), unread, marks_failures=True))


def read_histories(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """One history a row, a line or a file; the run's own output is its final answer."""
    unread = Unread()
    is_bare = sniffed.is_list_of("parts", "kind")
    for number, row in sniffed.conversations(_COLUMNS[0], notices) if is_bare else sniffed.rows(notices):
        column = history_column(row)
        error = error_text(row.get("error"))
        if column is None and not (error and any(name in row for name in _COLUMNS)):
            raise DatasetError(f"{sniffed.path}: row {number}: a pydantic-ai run without its `messages`")
        transcript = transcript_of_history(row.get(column or _COLUMNS[0]), unread)
        output = next((name for name in _OUTPUTS if row.get(name) is not None), None)
        answer = None if output is None else Answer(as_text(row[output]), stop=transcript.answer().stop)
        contexts, given = contexts_in(row)
        used = tuple(name for name in (column, output, contexts, *_OUTPUTS[:1]) if name is not None)
        fields = common_fields(row, number, used)
        if is_bare:
            fields["question_id"] = digest_name(transcript.question)
        yield LoggedSample(
            error=error,
            is_final=output is not None,
            contexts=given,
            **conversation_fields(transcript, answer),
            **fields,
        )
    notices.extend(describe_unread(unread))


FORMAT = LogFormat(
    "pydantic_ai", "pydantic-ai runs", _SIGNATURES, opening(read_histories), holds_history, has_scores=False
)
