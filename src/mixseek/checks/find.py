"""All findings about a sample: by the checks of its run, and by what its own row expects."""

from mixseek.checks.declare import row_checks
from mixseek.checks.settled import CheckSet
from mixseek.domain.check_findings import CheckFinding, CheckState
from mixseek.domain.samples import Sample


def find_all(checks: CheckSet, sample: Sample) -> tuple[CheckFinding, ...]:
    """A check of the row takes the place of the run's of the same name."""
    by_name = {check.name: check for check in (*checks.every, *row_checks(sample.metadata))}
    return tuple([check.find(sample) for check in by_name.values()])


def fails_gate(checks: CheckSet, findings: tuple[CheckFinding, ...]) -> bool:
    """Whether the verdict must change: a check failed that the protocol or the row declares, and no other command."""
    if not checks.is_gate:
        return False
    beside = {check.name for check in checks.beside}
    return any(finding.state is CheckState.FAILED and finding.check not in beside for finding in findings)
