"""What calls of a workspace cost, by month, judge and run."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from mixseek.analysis.workspace.spending import Spent
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.presentation.sections import Cell, Head, Section, TableRows, notes
from mixseek.reports.accounts import known_cost_text, usd_text
from mixseek.reports.wording.numbers import NOTHING

_SUMS = ("cost_usd", "saved_by_cache_usd", "saved_by_batch_usd")
_WIDE = 110


def spending_document(rows: Sequence[Spent]) -> dict[str, Any]:
    """Amounts are the known part; `unpriced_calls` says how many calls they leave out."""
    lines = [asdict(row) | {name: float(getattr(row, name)) for name in _SUMS} for row in rows]
    for line in lines:
        line["unpriced_calls"] = line.pop("unpriced")
    sums = {name: float(_total(rows, name)) for name in _SUMS}
    document = {"spent": lines, **sums, "unpriced_calls": sum(row.unpriced for row in rows)}
    return with_schema(DocumentName.RUNS_COST, document)


def spending_sections(rows: Sequence[Spent]) -> Iterator[Section]:
    """A line for each judge of each run in each month, and the sum of the workspace."""
    if not rows:
        yield Section(None, notes(["No judge that had to be waited for was asked in this workspace."]))
        return
    heads = (
        *(Head("|month", "months"), Head("judge"), Head("run"), ">calls", ">paid", ">saved by caches"),
        ">saved by batches",
    )
    total = ["all", "", "", *_amounts(sum(row.calls for row in rows), rows)]
    lines: list[Sequence[Cell]] = [[row.month, row.judge, row.run, *_amounts(row.calls, [row])] for row in rows]
    yield Section(None, [TableRows(heads, lines, total=total if len(rows) > 1 else None, wide=_WIDE)])


def _amounts(calls: int, rows: Sequence[Spent]) -> list[Cell]:
    paid = known_cost_text(calls, sum(row.unpriced for row in rows), _total(rows, "cost_usd"))
    return [f"{calls:,}", paid, *(saved_text(_total(rows, name)) for name in _SUMS[1:])]


def _total(rows: Sequence[Spent], name: str) -> Decimal:
    return sum((getattr(row, name) for row in rows), Decimal(0))


def saved_text(amount: Decimal) -> str:
    """A dash for nothing; a cache may have cost more than it saved."""
    if not amount:
        return NOTHING
    return usd_text(amount) if amount > 0 else f"−{usd_text(-amount)}"
