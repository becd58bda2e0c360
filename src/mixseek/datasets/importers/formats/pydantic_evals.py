"""Reports of pydantic-evals, as JSON: cases with what their task gave, and failures that gave nothing."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.formats.traces.pydantic_ai import is_history, transcript_of_history
from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_object
from mixseek.datasets.importers.reading.json_stream import Steps, walk_file
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import Answer, answered, read_answer
from mixseek.datasets.importers.samples.contexts import contexts_in
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.question_names import QuestionNames
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.transcript import conversation_fields, transcript_of
from mixseek.datasets.importers.samples.turns import Unread, describe_unread, turns_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.errors import DatasetError

_CASES: Steps = ("cases",)
_FAILURES: Steps = ("failures",)
_SIGNATURES = (in_object("cases", "name"), in_object("cases", "failures"))
# What an evaluator may give, by the kind of its value.
_GRADES = ("scores", "assertions", "labels")
# Where the messages of an agent may stand in what a task returns, or in its attributes.
_HISTORIES = ("messages", "all_messages", "message_history", "history")


def has_cases(sniffed: Sniffed) -> bool:
    """Any file may have cases: those of a report have inputs. One in which all failed has failures only."""
    if sniffed.outline.get(_CASES, b"")[:1] != b"[":
        return False
    first = next(walk_file(sniffed.path, {_CASES: True, _FAILURES: True}, []), None)
    return first is not None and "inputs" in as_table(first[1])


def open_report(sniffed: Sniffed) -> Log:
    return Log(partial(read_report, sniffed, as_text(sniffed.value("name"))))


def read_report(sniffed: Sniffed, task: str | None, notices: Notices) -> Iterator[LoggedSample]:
    """Cases and failures in the order of the file; a case that was repeated has the name of its source."""
    names, unread = QuestionNames(), Unread()
    wanted = {_CASES: True, _FAILURES: True}
    for number, (place, value) in enumerate(walk_file(sniffed.path, wanted, notices), 1):
        case = as_table(value)
        if not case:
            continue
        if "inputs" not in case:
            raise DatasetError(f"{sniffed.path}: case {number}: a pydantic-evals case without `inputs`")
        expected, name = case.get("expected_output"), as_text(case.get("source_case_name") or case.get("name"))
        error = None
        if place == _FAILURES or case.get("error_message"):
            error = as_text(case.get("error_message")) or "the task failed without a word"
        fields = {"question": question_text(case["inputs"]), **output_fields(case, error, unread)}
        yield LoggedSample(
            question_id=names.name(name, case["inputs"], expected),
            error=error,
            targets=target_texts(expected),
            task_name=task,
            scores=report_scores(case),
            contexts=report_contexts(case),
            metadata={**as_table(case.get("metadata")), **as_table(case.get("attributes"))},
            **fields,
        )
    notices.extend(describe_unread(unread))


def output_fields(case: Mapping[str, Any], error: str | None, unread: Unread) -> dict[str, Any]:
    """The answer, with the steps before it where the task returns the messages of its agent, too."""
    output = case.get("output")
    if error is not None:
        return answered(Answer(None))
    places = (as_table(output), as_table(case.get("attributes")), {"messages": output})
    history = next((of[name] for of in places for name in _HISTORIES if as_rows(of.get(name))), None)
    if history is None:
        return answered(read_answer(output))
    is_agent = is_history(history)
    transcript = transcript_of_history(history, unread) if is_agent else transcript_of(turns_of(history, unread))
    if not transcript.entries:
        return answered(read_answer(output))
    rest = {name: value for name, value in as_table(output).items() if name not in _HISTORIES}
    spoken = transcript.answer()
    if not isinstance(output, Mapping):
        rest = {} if isinstance(output, list) else {"answer": output}
    answer = read_answer(rest) if rest else spoken
    if answer.text is None and answer.withheld is None:
        answer = spoken
    fields = conversation_fields(
        transcript, Answer(answer.text, answer.withheld, answer.begun, answer.stop or spoken.stop)
    )
    asked = question_text(case["inputs"])
    is_spoken = asked.strip() in [text.strip() for text in transcript.user_texts]
    return fields if is_spoken or not asked else {**fields, "question": asked}


def report_contexts(case: Mapping[str, Any]) -> Any:
    """Documents in what went in or came out."""
    places = (as_table(case.get("output")), as_table(case.get("inputs")), as_table(case.get("attributes")))
    return next((contexts for of in places if (contexts := contexts_in(of)[1])), ())


def report_scores(case: Mapping[str, Any]) -> dict[str, LoggedScore]:
    """Scores, assertions and labels by evaluator; one that raised is a grade that cannot be used."""
    scores = {}
    for kind in _GRADES:
        for name, result in as_table(case.get(kind)).items():
            given = as_table(result)
            reason = as_text(given.get("reason"))
            scores[str(name)] = read_grade(given.get("value") if given else result, reason=reason)
    for failure in as_rows(case.get("evaluator_failures")):
        problem = as_text(failure.get("error_message")) or "the evaluator failed"
        scores.setdefault(as_text(failure.get("name")) or "evaluator", LoggedScore(None, problem=problem))
    return scores


FORMAT = LogFormat("pydantic_evals", "pydantic-evals report", _SIGNATURES, open_report, has_cases)
