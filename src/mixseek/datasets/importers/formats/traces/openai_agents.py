"""Runs of the Agents SDK of OpenAI, and responses of its Responses API: items that are messages, calls and outputs."""

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
from mixseek.datasets.importers.samples.transcript import conversation_fields, transcript_of
from mixseek.datasets.importers.samples.turns import Turn, Unread, describe_unread, result_text, turns_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.domain.steps import StepRole
from mixseek.errors import DatasetError

# What was given to a run, or all of its items; and what it added to them.
_INPUTS = ("input", "input_list", "to_input_list", "items", "history", "original_input", "messages")
_OUTPUTS = ("output", "new_items")
_FINAL = "final_output"
# Kinds of items that only this API has.
_KINDS = frozenset(
    {
        *("function_call", "function_call_output", "reasoning", "web_search_call", "file_search_call", "mcp_call"),
        *("computer_call", "code_interpreter_call", "custom_tool_call", "local_shell_call", "image_generation_call"),
    }
)
# `input` alone is what any table may call its questions; a list that begins with a message is a chat.
_SIGNATURES = (
    in_row(_FINAL),
    in_row("object", "output"),
    in_row("input_list"),
    in_row("to_input_list"),
    in_row("new_items"),
    in_item("type", "call_id"),
)


def holds_items(sniffed: Sniffed) -> bool:
    """A run says its final output beside its items; items alone are told by their kinds."""
    row = sniffed.first
    if sniffed.is_list_of("type", "call_id"):
        return True
    is_response = row.get("object") == "response" and bool(as_rows(read_cell(row.get("output"))))
    has_messages = any(is_item(item) for name in (*_INPUTS, *_OUTPUTS) for item in items_of(row.get(name)))
    return is_response or (_FINAL in row and has_messages) or any(map(is_telling, all_items(row)))


def all_items(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [item for name in (*_INPUTS, *_OUTPUTS) for item in items_of(row.get(name))]


def items_of(value: Any) -> list[Mapping[str, Any]]:
    """Items of a list, which a run keeps within objects of its own."""
    value = read_cell(value)
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [as_table(item.get("raw_item")) or item for item in as_rows(value)]


def is_item(item: Mapping[str, Any]) -> bool:
    return "role" in item or is_telling(item)


def is_telling(item: Mapping[str, Any]) -> bool:
    return item.get("type") in _KINDS and "role" not in item


def read_runs(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """The final output of a run is its answer; without one, what the assistant said last."""
    unread = Unread()
    is_bare = sniffed.is_list_of("type", "call_id")
    for number, row in sniffed.conversations(_INPUTS[0], notices) if is_bare else sniffed.rows(notices):
        used = [name for name in (*_INPUTS, *_OUTPUTS) if any(map(is_item, items_of(row.get(name))))]
        # One list may hold the other: all items begin with the input.
        kept = used[:1] + [name for name in used[1:] if name in _OUTPUTS]
        if not kept:
            raise DatasetError(f"{sniffed.path}: row {number}: a run of the Agents SDK without its items")
        turns = [turn for name in kept for turn in turns_of(items_of(row.get(name)), unread)]
        prompt = result_text(row["instructions"]) if isinstance(row.get("instructions"), str | list) else None
        transcript = transcript_of([*([Turn(StepRole.SYSTEM, "", prompt)] if prompt else []), *turns])
        stop = as_text(as_table(row.get("incomplete_details")).get("reason")) or as_text(row.get("finish_reason"))
        transcript.end(stop)
        answer = Answer(as_text(row[_FINAL]), stop=transcript.answer().stop) if row.get(_FINAL) is not None else None
        error = error_text(row.get("error"))
        column, contexts = contexts_in(row)
        aside = (_FINAL, "instructions", "incomplete_details", *((column,) if column else ()))
        fields = common_fields(row, number, (*used, *aside))
        if is_bare:
            fields["question_id"] = digest_name(transcript.question)
        yield LoggedSample(
            error=error,
            is_final=answer is not None,
            contexts=contexts,
            **conversation_fields(transcript, answer),
            **fields,
        )
    notices.extend(describe_unread(unread))


FORMAT = LogFormat(
    "openai_agents", "runs of the OpenAI Agents SDK", _SIGNATURES, opening(read_runs), holds_items, has_scores=False
)
