"""What checks made of the samples of a run: how often each failed, of how many it applied to."""

from collections.abc import Iterable

from mixseek.analysis.checked_model import CheckedGroup, CheckSummary
from mixseek.analysis.run.build import grouped, in_order
from mixseek.domain.counts import CheckCount


def summarise_checks(cells: Iterable[CheckCount]) -> tuple[CheckSummary, ...]:
    """The check that failed most often first."""
    summaries = []
    for check, of_check in grouped(cells, lambda cell: cell.check).items():
        by_target = grouped(of_check, lambda cell: cell.target)
        groups = tuple(group_of(name, by_target[name]) for name in in_order(by_target))
        is_named = any(name is not None for name in by_target)
        summaries.append(CheckSummary(check, group_of(None, of_check), groups if is_named else ()))
    return tuple(sorted(summaries, key=lambda summary: (-(summary.whole.share or 0.0), summary.check)))


def group_of(name: str | None, cells: Iterable[CheckCount]) -> CheckedGroup:
    """The sums of some counts under one name."""
    counted = list(cells)
    failed = sum(cell.failed for cell in counted)
    passed = sum(cell.passed for cell in counted)
    return CheckedGroup(name, failed, failed + passed, sum(cell.not_applicable for cell in counted))
