"""Batches of a workspace, as sections."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from mixseek.presentation.sections import QUIET, Cell, Head, Section, TableRows, Words, unbroken_lines
from mixseek.reports.wording.numbers import NOTHING
from mixseek.runs.batches.listed import BatchLine, BatchList
from mixseek.runs.progress import describe_seconds

_WIDE = 110


def batch_list_sections(listed: BatchList) -> Iterator[Section]:
    """A line each, and what to do where a person has to say."""
    if listed.cancelled is not None:
        yield unbroken_lines(
            f"{listed.cancelled}: its provider was asked to cancel it; the run's own command collects what is finished"
        )
    if listed.resubmitted is not None:
        yield unbroken_lines(f"{listed.resubmitted}: its requests are submitted again by the run's own command")
    if not listed.batches:
        yield unbroken_lines("no batches here; `mixseek judge … --batch` leaves some")
        return
    heads = (
        *(Head("|batch", "batches"), Head("run", "runs"), Head("provider"), Head("state")),
        *(">requests", ">age", ">estimated", ">at once", ">billed", Head("results")),
    )
    yield Section(None, [TableRows(heads, [list(cells_of(line)) for line in listed.batches], wide=_WIDE)])
    for line in listed.batches:
        if line.is_in_doubt:
            yield unbroken_lines(
                f"{line.run}/{line.batch}: nobody knows whether it was submitted; the run's own command looks for it, "
                f"and `mixseek batches --resubmit {line.run}/{line.batch}` submits its requests again, at their price"
            )


def batches_document(listed: BatchList) -> dict[str, Any]:
    """The same for programs; moments as ISO 8601."""
    document = asdict(listed)
    document["batches"] = [line | {"began_at": line["began_at"].isoformat()} for line in document["batches"]]
    return document


def cells_of(line: BatchLine) -> Iterator[Cell]:
    """What is known; a dash where nothing is."""
    name = line.id or f"{line.run}/{line.batch}"
    yield Words([name, *([(" (in doubt)", "yellow")] if line.is_in_doubt else [])])
    yield line.run
    yield f"{line.provider} {line.model}"
    yield f"{line.stage} ({line.state})" if line.state and line.state != line.stage else line.stage
    yield f"{line.requests:,}"
    yield describe_seconds(line.age_seconds)
    for cost in (line.estimated_usd, line.live_usd, line.cost_usd):
        yield NOTHING if cost is None else f"${cost:,.4f}"
    yield line.results or line.reason or NOTHING, QUIET
