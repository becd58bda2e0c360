"""What checks found without a judge: how often each failed, of how many samples, target by target."""

from collections.abc import Iterator, Sequence
from typing import Any

from mixseek.analysis.checked_model import CheckedGroup, CheckSummary
from mixseek.domain.check_findings import CheckFinding, CheckState
from mixseek.presentation.sections import QUIET, Cell, Section, TableRows, number_cell, number_head
from mixseek.reports.wording.names import name_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.text.messages import Message, message

_CHECKS_SHOWN, _CHECKS_ON_PAGE = 40, 400
# On the lines of a summary.
_LISTED_CHECKS = 4
_STATES = {
    CheckState.PASSED: (message("checked.passed", "passed"), "green"),
    CheckState.FAILED: (message("checked.failed", "failed"), "red"),
    CheckState.NOT_APPLICABLE: (message("checked.not_applicable", "not applicable"), "bright_black"),
}


def checked_sections(checks: Sequence[CheckSummary]) -> Iterator[Section]:
    """Nothing where nothing was checked."""
    if not checks:
        return
    title = message("checked.title", "Checks without a judge")
    note = message(
        "checked.note",
        "findings stand beside verdicts; a check that says nothing of a sample is neither passed nor failed",
    )
    heads = (
        message("checked.check", "check"),
        message("word.target", "Target"),
        number_head(message("checked.failed", "failed")),
        number_head(message("word.of", "of")),
        number_head(message("head.share", "share")),
        number_head(message("checked.not_applicable", "not applicable")),
    )
    rows = [row for check in checks for row in _rows_of(check)]
    table = TableRows(heads, rows, _CHECKS_SHOWN, name="checks", label=title, page_limit=_CHECKS_ON_PAGE)
    yield Section(title, [table], note=note, name="checks")


def _rows_of(check: CheckSummary) -> Iterator[Sequence[Cell]]:
    yield _row(check.check, message("word.all", "all"), check.whole)
    if len(check.targets) > 1:
        for group in check.targets:
            yield _row("", name_text(group.name), group)


def _row(check: str, name: Cell, group: CheckedGroup) -> Sequence[Cell]:
    share = NOTHING if group.share is None else f"{group.share:.1%}"
    return (
        (check, "bold"),
        name,
        number_cell(group.failed, "red"),
        f"{group.applied:,}",
        share,
        (f"{group.not_applicable:,}", QUIET),
    )


def findings_section(findings: Sequence[CheckFinding]) -> Section:
    """The findings about one sample, those that failed first."""
    order = (CheckState.FAILED, CheckState.PASSED, CheckState.NOT_APPLICABLE)
    rows = [
        (finding.check, _STATES[finding.state], NOTHING if finding.step is None else str(finding.step), finding.detail)
        for finding in sorted(findings, key=lambda finding: order.index(finding.state))
    ]
    heads: tuple[str | Message, ...] = ("check", "outcome", ">step", "detail")
    return Section("Checks", [TableRows(heads, rows)])


def describe_checks(checks: Sequence[CheckSummary]) -> Iterator[str]:
    """A line for a terminal: the checks that failed, and how often."""
    if not checks:
        return
    failed = [check for check in checks if check.whole.failed]
    counted = [f"{check.check} failed in {check.whole.failed:,} of {check.whole.applied:,}" for check in failed]
    shown = counted[:_LISTED_CHECKS]
    rest = len(counted) - len(shown)
    more = [f"{rest} more"] if rest else []
    yield f"{'checks':<10}  {'; '.join([*shown, *more]) or f'none of {len(checks)} failed'}"


def check_documents(checks: Sequence[CheckSummary]) -> list[dict[str, Any]]:
    """What programs are given of them, in the same order."""
    return [
        {
            "check": check.check,
            **group_document(check.whole),
            "targets": [{"target": group.name, **group_document(group)} for group in check.targets],
        }
        for check in checks
    ]


def group_document(group: CheckedGroup) -> dict[str, Any]:
    """The counts, and the share of failures among the samples that the check applied to."""
    return {
        "failed": group.failed,
        "applied": group.applied,
        "not_applicable": group.not_applicable,
        "failed_share": group.share,
    }
