"""Test runs of DeepEval: its file, the copy `.latest_test_run.json`, or a dumped EvaluationResult."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mixseek.datasets.importers.log_format import Log, LogFormat, Notices, in_object
from mixseek.datasets.importers.reading.json_stream import Steps, walk_file
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.question_names import QuestionNames
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.errors import DatasetError

_CASES: tuple[Steps, ...] = (("testCases",), ("testRunData", "testCases"), ("test_results",))


_SIGNATURES = (
    in_object("confident_link", "test_results"),
    in_object("metricsScores", "testCases"),
    in_object("testRunData"),
)


def open_deepeval(sniffed: Sniffed) -> Log:
    steps = next((steps for steps in _CASES if sniffed.outline.get(steps, b"")[:1] == b"["), None)
    if steps is None:
        raise DatasetError(f"{sniffed.path}: a DeepEval test run without a list of test cases")
    hyperparameters = sniffed.value(*steps[:-1], "hyperparameters")
    model = as_text(as_table(hyperparameters).get("model"))
    return Log(partial(read_deepeval, sniffed, steps, model))


def read_deepeval(sniffed: Sniffed, steps: Steps, model: str | None, notices: Notices) -> Iterator[LoggedSample]:
    """Camel case in its own files, snake case in what Python dumps."""
    names = QuestionNames()
    conversations = 0
    conversational = (*steps[:-1], "conversationalTestCases")
    for number, (place, case) in enumerate(walk_file(sniffed.path, {steps: True, conversational: True}, notices), 1):
        case = as_table(case)
        if place == conversational or case.get("conversational") is True:
            conversations += 1
            continue
        question, metrics = case.get("input"), case.get("metricsData", case.get("metrics_data"))
        if question is None and metrics is None:
            raise DatasetError(f"{sniffed.path}: test case {number}: a DeepEval case without `input`")
        order = case.get("order", case.get("index", number - 1))
        expected = case.get("expectedOutput", case.get("expected_output"))
        metadata = case.get("metadata", case.get("additionalMetadata"))
        yield LoggedSample(
            question_id=names.name(as_text(case.get("name")) or f"case {order}", question, expected),
            question=question_text(question),
            response=as_text(case.get("actualOutput", case.get("actual_output"))),
            targets=target_texts(expected),
            target_model=model,
            scores={str(metric.get("name")): deepeval_score(metric) for metric in as_rows(metrics)},
            metadata={**as_table(metadata), **({"tags": case["tags"]} if case.get("tags") else {})},
        )
    if conversations:
        notices.append(f"{conversations:,} conversational test cases are left out: they have no single response")


def deepeval_score(metric: Mapping[str, Any]) -> LoggedScore:
    """An error leaves no score, and the test `success: false` all the same."""
    error, success = as_text(metric.get("error")), metric.get("success")
    if error is not None or metric.get("score") is None:
        return LoggedScore(None, problem=error or "the metric has no score")
    passed = success if isinstance(success, bool) else None
    return read_grade(metric["score"], passed=passed, reason=as_text(metric.get("reason")))


FORMAT = LogFormat("deepeval", "DeepEval test run", _SIGNATURES, open_deepeval)
