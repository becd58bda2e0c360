"""What of a run cannot be used, and why: reasons with an example each for a person, records for a program."""

from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from mixseek.composition.summaries import RunSummary
from mixseek.domain.judgments import Status
from mixseek.reporting import wording
from mixseek.reporting.model import ScoreSummary
from mixseek.storage.run_index import JudgedRow, RowQuery, UnusableGroup, open_run_index
from mixseek.storage.workspace import Workspace

SHOWN = 10
REASONS_SHOWN = 5
_WHY_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Unusable:
    """One sample under one judge."""

    id: str
    judge: str
    status: Status
    why: tuple[str, ...]

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


def unusable_groups(summary: RunSummary) -> tuple[UnusableGroup, ...]:
    """All reasons, the most frequent first; none costs nothing."""
    counts = summary.all_by_judge.values()
    if not any(count.invalid or count.missing for count in counts):
        return ()
    with open_run_index(Workspace(summary.workspace), summary.run) as index:
        return tuple(index.unusable_groups())


def describe_groups(groups: Sequence[UnusableGroup], summary: RunSummary) -> list[str]:
    """A line for each of the commonest reasons, and how many records have others."""
    has_several = len(summary.by_judge) > 1
    lines = [describe_group(group, with_judge=has_several) for group in groups[:REASONS_SHOWN]]
    rest = groups[REASONS_SHOWN:]
    if rest:
        name, workspace = summary.manifest.run, summary.workspace
        lines.append(
            f"and {sum(group.count for group in rest):,} more for {len(rest):,} other reasons; "
            f"`mixseek export {quote(name)} --workspace {quote(str(workspace))} --to FILE` lists them all"
        )
    return lines


def describe_group(group: UnusableGroup, *, with_judge: bool) -> str:
    """One line, whatever the judge wrote."""
    told = " ".join(group.why.split())
    cut = f"{told[:_WHY_CHARACTERS]}…" if len(told) > _WHY_CHARACTERS else told
    by = f" by {group.judge}" if with_judge else ""
    first = "such as" if group.count > 1 else "sample"
    return f"{group.count:,} {group.status.value}{by}: {cut} ({first} {group.sample_id})"


def explain_nothing_valid(summary: RunSummary, groups: Sequence[UnusableGroup]) -> list[str]:
    """A line for each headline that no valid judgment stands behind, with the commonest reason."""
    lines = []
    for judge, score in summary.headlines.items():
        counts = score.counts
        if counts.valid or not counts.total:
            continue
        who = "" if judge is None else f" by {judge}"
        if is_all_undecided(score):
            lines.append(
                f"no valid judgment{who}: rules decided none of {wording.plural(counts.total, 'sample')}; "
                "ask a model for them: --cascade --judge rules --judge PROVIDER:MODEL"
            )
            continue
        reasons = [group for group in groups if judge in (None, group.judge)]
        commonest = f"; the commonest reason: {describe_group(reasons[0], with_judge=False)}" if reasons else ""
        lines.append(f"no valid judgment{who} among {wording.plural(counts.total, 'judgment')}{commonest}")
    return lines


def is_all_undecided(score: ScoreSummary) -> bool:
    """Declining is what rules are for: an honest end of a run, though one without a number."""
    return score.counts.total > 0 and score.counts.undecided == score.counts.total


def has_nothing_valid(summary: RunSummary) -> bool:
    """A headline without a number to trust, for another reason than rules that declined."""
    return any(
        score.counts.total and not score.counts.valid and not is_all_undecided(score)
        for score in summary.headlines.values()
    )
