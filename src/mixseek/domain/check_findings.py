"""What a check makes of a sample: a value with a name, and never a pass where nothing could be checked."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from mixseek.lazy_dataclass import dataclass

# Where findings stand in the fields of a judgment.
CHECKS_FIELD = "checks"
# In the metadata of a sample: what is expected of it alone.
ROW_CHECKS = "checks"
# Where a gate has changed a verdict: what its judge had made of the sample.
VERDICT_BEFORE_CHECKS, SCORE_BEFORE_CHECKS = "verdict_before_checks", "score_before_checks"


class CheckState(StrEnum):
    """How a check ended; NOT_APPLICABLE where the sample does not hold what would have to be known."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One check of one sample. `step` is the number of the step that it is about, where it is about one."""

    check: str
    state: CheckState
    detail: str
    step: int | None = None

    @property
    def document(self) -> dict[str, Any]:
        """What journals, exports and pages have of it."""
        return {"check": self.check, "state": self.state.value, "step": self.step, "detail": self.detail}


def finding_documents(findings: Iterable[CheckFinding]) -> list[dict[str, Any]]:
    """Findings as JSON objects, in their order."""
    return [finding.document for finding in findings]


def read_findings(fields: Mapping[str, Any]) -> tuple[CheckFinding, ...]:
    """Those among the fields of a judgment; nothing where its run had no checks."""
    documents = fields.get(CHECKS_FIELD) or ()
    return tuple(
        [CheckFinding(item["check"], CheckState(item["state"]), item["detail"], item["step"]) for item in documents]
    )


def failed_checks(findings: Iterable[CheckFinding]) -> tuple[CheckFinding, ...]:
    """Those that failed."""
    return tuple([finding for finding in findings if finding.state is CheckState.FAILED])
