"""Results of a LangSmith experiment, as a table."""

from collections.abc import Iterator
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed
from mixseek.datasets.importers.samples.answers import Answer, answered, read_answer
from mixseek.datasets.importers.samples.columns import below
from mixseek.datasets.importers.samples.grades import read_grade
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.values import as_text
from mixseek.errors import DatasetError

_INPUTS, _OUTPUTS, _REFERENCE, _FEEDBACK = "inputs.", "outputs.", "reference.", "feedback."


_SIGNATURES = (in_row("example_id", _INPUTS),)


def read_langsmith(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Rows with one `example_id` are repeats, in the order of the file."""
    for number, row in sniffed.rows(notices):
        if not row.get("example_id"):
            raise DatasetError(f"{sniffed.path}: row {number}: a LangSmith result without `example_id`")
        outputs = below(row, _OUTPUTS)
        feedback = {name: value for name, value in below(row, _FEEDBACK).items() if value not in (None, "")}
        error = as_text(row.get("error")) or None
        is_table = sniffed.shape is Shape.TABLE
        # CSV cannot say null: of several output columns, the empty ones are not there.
        outputs = {name: value for name, value in outputs.items() if value not in (None, "")} if is_table else outputs
        yield LoggedSample(
            question_id=str(row["example_id"]),
            question=question_text(below(row, _INPUTS)),
            **answered(Answer(None) if error else read_answer(outputs) if outputs else Answer("")),
            error=error,
            targets=target_texts(below(row, _REFERENCE) or None),
            scores={name: read_grade(table_value(value)) for name, value in feedback.items()},
            metadata={"run_id": row["id"]} if row.get("id") else {},
        )


def table_value(value: Any) -> Any:
    """Text of a cell as what it was: True and False are written as Python has them."""
    return {"True": True, "False": False}.get(value, value) if isinstance(value, str) else value


FORMAT = LogFormat("langsmith", "LangSmith results", _SIGNATURES, opening(read_langsmith))
