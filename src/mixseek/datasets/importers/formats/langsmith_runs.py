"""Runs of LangSmith, as its client lists them: a tree of steps below each call, of which the root has the answer."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.datasets.importers.log_format import LogFormat, Notices, in_row, opening
from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.reading.sniffing import Sniffed
from mixseek.datasets.importers.samples.answers import Answer, answered, read_answer
from mixseek.datasets.importers.samples.record import LoggedSample
from mixseek.datasets.importers.samples.texts import error_text, question_text
from mixseek.datasets.importers.samples.values import as_text
from mixseek.errors import DatasetError

_TREE_COLUMNS = ("trace_id", "dotted_order", "parent_run_id", "child_runs", "reference_example_id")
_SIGNATURES = tuple(in_row("run_type", "inputs", column) for column in _TREE_COLUMNS)


def read_langsmith_runs(sniffed: Sniffed, notices: Notices) -> Iterator[LoggedSample]:
    """Steps are no samples: a call of a model or a tool within a run answers nobody's question."""
    roots = steps = 0
    for number, row in sniffed.rows(notices):
        if "run_type" not in row:
            raise DatasetError(f"{sniffed.path}: row {number}: a LangSmith run without `run_type`")
        if not is_root(row):
            steps += 1
            continue
        roots += 1
        error = error_text(row.get("error")) or None
        yield LoggedSample(
            question_id=as_text(row.get("id")) or "",
            question=question_text(read_cell(row.get("inputs"))),
            **answered(Answer(None) if error else read_answer(read_cell(row.get("outputs")))),
            error=error,
            metadata={name: row[name] for name in ("name", "trace_id", "reference_example_id") if row.get(name)},
        )
    if steps and not roots:
        raise DatasetError(
            f"{sniffed.path}: LangSmith runs without a root: only steps, which are no answers; list the roots"
        )
    if steps:
        notices.append(f"{steps:,} runs are steps of {roots:,} others, so they are no samples; steps are not read yet")


def is_root(row: Mapping[str, Any]) -> bool:
    """Whether a run is a root, by whichever of its columns says so.

    The dotted order of a step has its parents before it.
    """
    if row.get("parent_run_id"):
        return False
    order = row.get("dotted_order")
    is_below = isinstance(order, str) and "." in order
    is_other = bool(row.get("trace_id")) and bool(row.get("id")) and row["trace_id"] != row["id"]
    return not (is_below or is_other)


FORMAT = LogFormat("langsmith_runs", "LangSmith runs", _SIGNATURES, opening(read_langsmith_runs))
