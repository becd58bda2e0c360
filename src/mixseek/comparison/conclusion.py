"""What a judged run comes to: its gates, its baseline, and whether all that was asked for is there."""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Any

from mixseek.analysis.run.gates import GateResult, Gates, check_failed_checks, check_gates
from mixseek.analysis.run.summarise import failure_groups, first_failed_rows
from mixseek.analysis.run.summary import RunSummary
from mixseek.comparison.baseline import Baseline, compare_with_baseline
from mixseek.comparison.drop_gate import baseline_document, check_drop
from mixseek.comparison.model import Comparison, DropResult
from mixseek.comparison.views.unusable import explain_missing, explain_nothing_valid, has_nothing_valid
from mixseek.domain.scored_counts import FailureGroup
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.summary import summary_document
from mixseek.text.phrases import plural

AnyGate = GateResult | DropResult


class RunState(StrEnum):
    """How a run stands; the command line has an exit code for each."""

    OK = "ok"
    # Complete, but a gate is not met, or nothing in it is valid.
    GATE_NOT_MET = "gate_not_met"
    # Some replies could not be had, or the run was stopped; judging again resumes it.
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A summary with what it is held against; `reasons` are sentences for whatever keeps the state from being ok."""

    summary: RunSummary
    state: RunState
    reasons: tuple[str, ...] = ()
    gates: tuple[AnyGate, ...] = ()
    failures: tuple[FailureGroup, ...] = ()
    compared: Comparison | None = None

    def document(self) -> dict[str, Any]:
        """The contract for programs: keys are never renamed, only added."""
        return {
            **summary_document(self.summary, self.gates),
            "unusable": first_failed_rows(self.summary),
            "unusable_reasons": [asdict(group) for group in self.failures],
            "baseline": baseline_document(self.compared) if self.compared is not None else None,
        }


def conclude_run(summary: RunSummary, gates: Gates, baseline: Baseline | None = None) -> Conclusion:
    """Incomplete comes before any gate: its numbers are not the last ones."""
    checked: tuple[AnyGate, ...] = check_gates(gates, summary.headlines, has_pairs=summary.pairs is not None)
    if gates.max_failed_checks is not None:
        checked += (check_failed_checks(gates.max_failed_checks, summary.checks),)
    compared = None
    if baseline is not None:
        compared = compare_with_baseline(summary.workspace, baseline, summary.header.run_id)
        checked += (check_drop(baseline.gate, compared),) if baseline.gate is not None else ()
    groups = failure_groups(summary)
    state, reasons = decide_state(summary, checked, groups)
    return Conclusion(summary, state, tuple(reasons), checked, groups, compared)


def decide_state(
    summary: RunSummary, checked: Sequence[AnyGate], groups: Sequence[FailureGroup]
) -> tuple[RunState, list[str]]:
    """The state, and a sentence for each thing that is not as it should be."""
    failed = [gate for gate in checked if not gate.is_met]
    reasons = [*explain_nothing_valid(summary, groups), *(gate.describe() for gate in failed)]
    if summary.missing_for_good:
        samples = plural(summary.missing_for_good, "sample is", "samples are")
        reasons.append(
            f"{samples} missing: their judge refuses them (see `mixseek show`); "
            "--retry-refused asks again, --max-invalid SHARE says how many may be missing"
        )
    if not summary.is_complete:
        return RunState.INCOMPLETE, [*reasons, explain_missing(summary)]
    if failed:
        return RunState.GATE_NOT_MET, reasons
    # What is missing is no result: a gate that counts it has said that it may be.
    is_allowed = any(gate.name == "max_invalid" for gate in checked)
    if summary.missing_for_good and not is_allowed:
        return RunState.INCOMPLETE, reasons
    return RunState.GATE_NOT_MET if has_nothing_valid(summary) else RunState.OK, reasons
