"""Test runs of DeepEval: its file, the copy `.latest_test_run.json`, a dumped EvaluationResult, or cases as rows."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_object, in_row
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.json_stream import Steps, walk_file
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.contexts import contexts_of_value, distinct
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.question_names import QuestionNames
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.transcript import conversation_fields, transcript_of
from mixseek.datasets.importers.samples.turns import (
    Call,
    Result,
    Turn,
    Unread,
    describe_unread,
    result_text,
    status_of_text,
    turns_of,
)
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.domain.steps import Context, StepRole
from mixseek.errors import DatasetError

_CASES: tuple[Steps, ...] = (("testCases",), ("testRunData", "testCases"), ("test_results",))
# Of a test run, and of cases that stand by themselves as rows.
_SIGNATURES = (
    in_object("confident_link", "test_results"),
    in_object("metricsScores", "testCases"),
    in_object("testRunData"),
    in_row("actual_output", "input"),
    in_row("actualOutput", "input"),
    in_row("turns"),
)
_JOINED_BY = "|"
# What a turn holds beside its text and its tools.
_UNREAD = ("mcp_tools_called", "mcp_resources_called", "mcp_prompts_called")


def is_deepeval(sniffed: Sniffed) -> bool:
    """A conversation is a list of turns with roles."""
    turns = as_rows(read_cell(sniffed.first.get("turns")))
    return "turns" not in sniffed.first or "input" in sniffed.first or any("role" in turn for turn in turns)


def open_deepeval(sniffed: Sniffed) -> Log:
    steps = next((steps for steps in _CASES if sniffed.outline.get(steps, b"")[:1] == b"["), None)
    if steps is None and sniffed.has("input") | sniffed.has("turns"):
        return Log(partial(read_dataset, sniffed))
    if steps is None:
        raise DatasetError(f"{sniffed.path}: a DeepEval test run without a list of test cases")
    hyperparameters = sniffed.value(*steps[:-1], "hyperparameters")
    model = as_text(as_table(hyperparameters).get("model"))
    return Log(partial(read_deepeval, sniffed, steps, model))


def read_deepeval(sniffed: Sniffed, steps: Steps, model: str | None, notices: Notices) -> Iterator[LoggedSample]:
    """Test cases and conversations in the order of the file."""
    conversational = (*steps[:-1], "conversationalTestCases")
    cases = (value for _, value in walk_file(sniffed.path, {steps: True, conversational: True}, notices))
    return read_cases(sniffed, map(as_table, cases), model, notices)


def read_dataset(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Cases that are rows: nobody scored them yet."""
    return read_cases(sniffed, (row for _, row in sniffed.rows(notices)), None, notices)


def read_cases(
    sniffed: Sniffed, cases: Iterable[Mapping[str, Any]], model: str | None, notices: Notices
) -> Iterator[LoggedSample]:
    """Camel case in its own files, snake case in what Python dumps."""
    names, unread = QuestionNames(), Unread()
    without_turns = 0
    for number, case in enumerate(cases, 1):
        question, metrics = case.get("input"), field_of(case, "metrics_data")
        turns = as_rows(read_cell(case.get("turns")))
        if question is None and not turns and (case.get("conversational") is not False and metrics is None):
            if "name" not in case and "turns" not in case:
                raise DatasetError(f"{sniffed.path}: test case {number}: a DeepEval case without `input`")
            without_turns += 1
            continue
        order = case.get("order", case.get("index", number - 1))
        expected = field_of(case, "expected_output") or field_of(case, "expected_outcome")
        metadata = as_table(case.get("metadata") or field_of(case, "additional_metadata"))
        fields = said_in_turns(turns, unread) if turns else said_in_case(case)
        yield LoggedSample(
            question_id=names.name(
                as_text(case.get("name")) or f"case {order}", question or fields["question"], expected
            ),
            targets=target_texts(expected),
            target_model=model,
            scores={str(metric.get("name")): deepeval_score(metric) for metric in as_rows(read_cell(metrics))},
            metadata={**metadata, **kept_fields(case)},
            **fields,
        )
    if without_turns:
        notices.append(f"{without_turns:,} conversational test cases are left out: they have no turns")
    notices.extend(describe_unread(unread))


def field_of(case: Mapping[str, Any], name: str) -> Any:
    """A field by its name in Python, or as its files write it."""
    first, *rest = name.split("_")
    return case.get(name) if case.get(name) is not None else case.get(first + "".join(map(str.title, rest)))


def kept_fields(case: Mapping[str, Any]) -> dict[str, Any]:
    """What else a case says that somebody may want to group by, or to hold against the answer."""
    names = ("tags", "scenario", "context", "expected_tools", "comments")
    fields = {name: field_of(case, name) for name in names}
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def said_in_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """One question and one answer, with the tools that were called between them."""
    question, response = question_text(case.get("input")), as_text(field_of(case, "actual_output"))
    turns = [Turn(StepRole.USER, "user", question), *tool_turns(case)]
    transcript = transcript_of([*turns, Turn(StepRole.ASSISTANT, "assistant", response)] if response else turns)
    given = field_of(case, "retrieval_context")
    # A table has them in one cell, as DeepEval writes it.
    is_joined = isinstance(given, str) and isinstance(read_cell(given), str)
    contexts = contexts_of_value(given.split(_JOINED_BY) if is_joined else given)
    return {"question": question, "response": response, "steps": transcript.steps, "contexts": contexts}


def said_in_turns(turns: list[Mapping[str, Any]], unread: Unread) -> dict[str, Any]:
    """A conversation: the tools of a turn were called for what it says."""
    listed: list[Turn] = []
    contexts: list[Context] = []
    for turn in turns:
        listed += [*tool_turns(turn), *turns_of([turn], unread)]
        contexts += contexts_of_value(field_of(turn, "retrieval_context"))
        unread.update({name: 1 for name in _UNREAD if field_of(turn, name)})
    # Each turn numbers its own documents.
    numbered = contexts_of_value([context.text for context in contexts])
    is_numbered = all(context.id.isdecimal() for context in contexts)
    return {**conversation_fields(transcript_of(listed)), "contexts": distinct(numbered if is_numbered else contexts)}


def tool_turns(of: Mapping[str, Any]) -> list[Turn]:
    """Calls with their outputs, in the order in which they are listed."""
    turns = []
    for number, item in enumerate(as_rows(read_cell(field_of(of, "tools_called")))):
        name, identity = as_text(item.get("name")) or "unknown", f"{id(of)}:{number}"
        turns.append(
            Turn(StepRole.ASSISTANT, "assistant", calls=(Call(name, field_of(item, "input_parameters"), identity),))
        )
        if item.get("output") is not None:
            text = result_text(item["output"])
            turns.append(Turn(StepRole.TOOL, "tool", results=(Result(text, status_of_text(text), identity, name),)))
    return turns


def deepeval_score(metric: Mapping[str, Any]) -> LoggedScore:
    """An error leaves no score, and the test `success: false` all the same."""
    error, success = as_text(metric.get("error")), metric.get("success")
    if error is not None or metric.get("score") is None:
        return LoggedScore(None, problem=error or "the metric has no score")
    passed = success if isinstance(success, bool) else None
    return read_grade(metric["score"], passed=passed, reason=as_text(metric.get("reason")))


FORMAT = LogFormat("deepeval", "DeepEval test run", _SIGNATURES, open_deepeval, is_deepeval)
