"""The first records of a run that cannot be used, each with what is wrong: what a person looks at next."""

from dataclasses import dataclass
from typing import Any

from mixseek.composition.summaries import RunSummary
from mixseek.domain.judgments import Status
from mixseek.storage.run_index import JudgedRow, RowQuery, open_run_index
from mixseek.storage.workspace import Workspace

SHOWN = 10
_WHY_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class Unusable:
    """One sample under one judge."""

    id: str
    judge: str
    status: Status
    why: tuple[str, ...]

    def describe(self) -> str:
        """One line, whatever the judge wrote."""
        told = " ".join("; ".join(self.why).split())
        cut = f"{told[:_WHY_CHARACTERS]}…" if len(told) > _WHY_CHARACTERS else told
        return f"{self.status.value}: {self.id} by {self.judge}: {cut}"

    def to_document(self) -> dict[str, Any]:
        """For programs: nothing is cut."""
        return {"id": self.id, "judge": self.judge, "status": self.status.value, "why": list(self.why)}


def first_unusable(summary: RunSummary, limit: int = SHOWN) -> tuple[Unusable, ...]:
    """At most `limit` invalid judgments and as many missing ones, in dataset order; none costs nothing."""
    counts = [counts for _, counts in summary.all_by_judge.items()]
    wanted = [status for status in (Status.INVALID, Status.MISSING) if any(count.of(status) for count in counts)]
    if not wanted:
        return ()
    with open_run_index(Workspace(summary.workspace), summary.run) as index:
        rows = [row for status in wanted for row in index.rows(RowQuery(status=status, limit=limit))]
    return tuple(Unusable(row.id, row.judge, row.status, why(row)) for row in rows)


def why(row: JudgedRow) -> tuple[str, ...]:
    """Flags with their details, or the reason why nothing came."""
    found = tuple(f"{finding.flag.value}: {finding.detail}" for finding in row.flags)
    return found or (row.reason or "no reason recorded",)


def count_unusable(summary: RunSummary) -> int:
    """All of them, shown or not."""
    return sum(
        counts.of(status) for counts in summary.all_by_judge.values() for status in (Status.INVALID, Status.MISSING)
    )
