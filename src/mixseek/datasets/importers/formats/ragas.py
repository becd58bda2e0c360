"""Samples of RAGAS: a question or a whole conversation in `user_input`, with what was retrieved for it."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.columns import common_fields
from mixseek.datasets.importers.samples.contexts import contexts_in
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.messages import messages_of, role_of
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import error_text, question_text
from mixseek.datasets.importers.samples.transcript import conversation_fields, transcript_of
from mixseek.datasets.importers.samples.turns import Unread, describe_unread, turns_of
from mixseek.datasets.importers.samples.values import as_text
from mixseek.errors import DatasetError

_INPUT, _OLD_INPUT = "user_input", "question"
_RESPONSES = ("response", "answer")
_CONTEXTS = ("retrieved_contexts", "contexts")
# What RAGAS calls its metrics; other numbers beside a sample may be anything.
_METRICS = frozenset(
    {
        *("faithfulness", "answer_relevancy", "response_relevancy", "context_precision", "context_recall"),
        *("context_entity_recall", "answer_correctness", "answer_similarity", "semantic_similarity"),
        *("factual_correctness", "aspect_critic", "simple_criteria", "noise_sensitivity", "context_utilization"),
        *("tool_call_accuracy", "tool_call_f1", "agent_goal_accuracy", "topic_adherence", "rubrics_score"),
        *("llm_context_precision_with_reference", "llm_context_precision_without_reference", "bleu_score"),
        *("non_llm_context_precision_with_reference", "rouge_score", "exact_match", "string_present"),
    }
)
# Columns that only RAGAS has, and by which a file is told.
_SIGNATURES = (
    in_row(_INPUT, "response"),
    in_row(_INPUT, "reference"),
    in_row(_INPUT, "retrieved_contexts"),
    in_row(_INPUT, "reference_tool_calls"),
    in_row(_INPUT, "reference_topics"),
    in_row(_INPUT),
    in_row(_OLD_INPUT, "answer", "contexts"),
)


def is_ragas(sniffed: Sniffed) -> bool:
    """A single input needs what was answered beside it; a conversation has it within."""
    row = sniffed.first
    if _INPUT not in row:
        return "response" not in row
    return any(name in row for name in _RESPONSES) or is_conversation(row[_INPUT])


def is_conversation(value: Any) -> bool:
    return any(role_of(message) for message in messages_of(read_cell(value)))


def read_ragas(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Rows have no names: they are numbered."""
    unread = Unread()
    for number, row in sniffed.rows(notices):
        column = _INPUT if _INPUT in row else _OLD_INPUT
        if row.get(column) is None:
            raise DatasetError(f"{sniffed.path}: row {number}: a RAGAS sample without `{column}`")
        answer = next((name for name in _RESPONSES if row.get(name) is not None), None)
        context_column, contexts = contexts_in(row, _CONTEXTS)
        scores = ragas_scores(row)
        used = (column, *_RESPONSES, *scores, *((context_column,) if context_column else ()))
        fields = common_fields({name: value for name, value in row.items() if name not in _RESPONSES}, number, used)
        yield LoggedSample(
            error=error_text(row.get("error")),
            contexts=contexts,
            scores=scores,
            **said_in(row, column, answer, unread),
            **fields,
        )
    notices.extend(describe_unread(unread))


def said_in(row: Mapping[str, Any], column: str, answer: str | None, unread: Unread) -> dict[str, Any]:
    """A conversation says its answer itself, unless a response stands beside it."""
    value = read_cell(row[column])
    if not is_conversation(value):
        response = None if answer is None else as_text(row[answer])
        return {"question": question_text(value), "response": response}
    transcript = transcript_of(turns_of(value, unread))
    if answer is None:
        return conversation_fields(transcript)
    return {**conversation_fields(transcript), "response": as_text(row[answer]), "withheld": None, "is_final": True}


def ragas_scores(row: Mapping[str, Any]) -> dict[str, LoggedScore]:
    """Columns of metrics; some write their settings behind their name: `factual_correctness(mode=f1)`."""
    metrics = {name: value for name, value in row.items() if name.partition("(")[0] in _METRICS}
    return {name: read_grade(value) for name, value in metrics.items() if value not in (None, "")}


FORMAT = LogFormat("ragas", "RAGAS samples", _SIGNATURES, opening(read_ragas), is_ragas)
