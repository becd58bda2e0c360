"""Results of a Braintrust experiment."""

from collections.abc import Iterator, Mapping

from mixseek.datasets.importers.log_format import LogFormat, Notices, Summary, in_object, in_row, opening
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import Answer, answered, read_answer
from mixseek.datasets.importers.samples.grades import read_grade
from mixseek.datasets.importers.samples.question_names import QuestionNames
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import question_text, target_texts
from mixseek.datasets.importers.samples.values import as_table, as_text
from mixseek.errors import DatasetError

_SIGNATURES = (in_row("expected", "scores", "input", "output"),)
_SUMMARY_NAMES = ("experiment_name", "project_name")


def has_scores(sniffed: Sniffed) -> bool:
    """Whether the cell holds scores by scorer, or none."""
    return isinstance(sniffed.first.get("scores"), Mapping | None)


def read_braintrust(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """A scorer that raised is absent, one that skipped is null: neither is a score."""
    names = QuestionNames()
    for number, row in sniffed.rows(notices):
        if "input" not in row:
            raise DatasetError(f"{sniffed.path}: row {number}: a Braintrust result without `input`")
        metadata = as_table(row.get("metadata"))
        wanted = as_text(metadata.get("id")) or as_text(row.get("id") if "dataset_record_id" not in row else None)
        error = as_text(row.get("error"))
        yield LoggedSample(
            question_id=names.name(wanted, row["input"], row.get("expected")),
            question=question_text(row["input"]),
            **answered(Answer(None) if error is not None else read_answer(row.get("output"))),
            error=error,
            targets=target_texts(row.get("expected")),
            scores={
                name: read_grade(value) for name, value in as_table(row.get("scores")).items() if value is not None
            },
            metadata={**metadata, **({"tags": row["tags"]} if row.get("tags") else {})},
        )


FORMAT = LogFormat("braintrust", "Braintrust results", _SIGNATURES, opening(read_braintrust), has_scores)
SUMMARY = Summary(
    "a summary of a Braintrust experiment",
    (in_row(*_SUMMARY_NAMES), in_object(*_SUMMARY_NAMES)),
    "give its results as JSON lines",
)
