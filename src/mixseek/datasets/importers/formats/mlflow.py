"""Results of MLflow's `genai.evaluate`."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import answered, read_answer
from mixseek.datasets.importers.samples.grades import LoggedScore, read_grade
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.errors import DatasetError

_VALUE, _RATIONALE, _ERROR = "/value", "/rationale", "/error_message"
_EXPECTATION = re.compile(r"^(expected|expectation|guidelines|ground_truth|reference|target)")


_SIGNATURES = (in_row("trace_id", "request", "response"),)


def read_mlflow(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Rows that the tool lost on the way leave no trace: there is nothing to count them by."""
    for number, row in sniffed.rows(notices):
        if not row.get("trace_id"):
            raise DatasetError(f"{sniffed.path}: row {number}: an MLflow result without `trace_id`")
        expectations = expectation_names(row)
        tags = as_table(read_cell(row.get("tags")))
        state = as_text(row.get("state")) or "OK"
        request, answer = read_cell(row.get("request")), read_cell(row.get("response"))
        is_failed = state == "ERROR" or answer in (None, "")
        yield LoggedSample(
            question_id=str(row["trace_id"]),
            question=question_text(request),
            **answered(read_answer(answer)),
            error=f"the traced call ended with state {state} and without a response" if is_failed else None,
            targets=target_texts({name: read_cell(row.get(name + _VALUE)) for name in expectations} or None),
            scores=dict(mlflow_scores(row, expectations)),
            metadata={name: value for name, value in tags.items() if not name.startswith("mlflow.")},
        )


def expectation_names(row: Mapping[str, Any]) -> list[str]:
    """Told by the assessments where they are there, else by how expectations are usually called."""
    assessments = as_rows(read_cell(row.get("assessments")))
    expectations = {str(assessment.get("assessment_name")) for assessment in assessments if "expectation" in assessment}
    columns = [name.removesuffix(_VALUE) for name in row if name.endswith(_VALUE)]
    return [name for name in columns if (name in expectations if assessments else _EXPECTATION.match(name))]


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


FORMAT = LogFormat("mlflow", "MLflow results", _SIGNATURES, opening(read_mlflow))
