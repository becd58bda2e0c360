"""What a workspace has paid for calls: each run's journals, added up by month, judge and run."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from mixseek.errors import MixseekError
from mixseek.index.spending import Spending, read_spending
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import ANSWERS, RunDirectory, Workspace


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of one judge of one run in one month; sums are over what is known."""

    month: str
    judge: str
    run: str
    calls: int
    unpriced: int
    cost_usd: Decimal
    saved_by_cache_usd: Decimal
    saved_by_batch_usd: Decimal


def read_spent(root: Path) -> tuple[list[Spent], list[str]]:
    """The latest month first, and a line about each run that cannot be read."""
    workspace = Workspace(root)
    named = [(run.name, run) for run in workspace.runs()]
    named += [(f"{ANSWERS}:{run.name}", run) for run in workspace.answer_runs()]
    spent: list[Spent] = []
    problems: list[str] = []
    for name, run in named:
        try:
            spent += spent_by(name, run, read_spending(run, workspace.scratch))
        except MixseekError as error:
            problems.append(str(error))
    return sorted(spent, key=lambda row: (row.month, row.cost_usd, row.run), reverse=True), problems


def spent_by(name: str, run: RunDirectory, rows: Iterable[Spending]) -> list[Spent]:
    """Requests whose reply never came say no month: they belong to the one in which the run began."""
    began = read_manifest(run.manifest).started_at.strftime("%Y-%m")
    sums: dict[tuple[str, str], list[Spending]] = defaultdict(list)
    for row in rows:
        sums[row.month or began, row.judge].append(row)
    return [
        Spent(
            month,
            judge,
            name,
            sum(row.calls for row in parts),
            sum(row.unpriced for row in parts),
            sum((row.cost_usd for row in parts), Decimal(0)),
            sum((row.saved_by_cache_usd for row in parts), Decimal(0)),
            sum((row.saved_by_batch_usd for row in parts), Decimal(0)),
        )
        for (month, judge), parts in sums.items()
    ]
