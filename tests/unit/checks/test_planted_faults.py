"""Checks find every fault of three hundred traces that checks can find, and none in the clean ones."""

import json

import pytest
from tests.agent_traces import FAILING, Fault, PlantedTrace, write_traces

from mixseek.checks.declare import read_checks
from mixseek.checks.find import find_all
from mixseek.domain.check_findings import ROW_CHECKS, CheckFinding, CheckState, failed_checks

TRACES = write_traces()
# Faults of one step that a finding can name; the others lie in the answer, or in what is not there.
_NAMED_STEP = {
    Fault.WRONG_ARGUMENT: "arguments",
    Fault.UNHANDLED_ERROR: "errors",
    Fault.OBEYED_INJECTION: "not_uses",
    Fault.WRONG_TOOL: "not_uses",
    Fault.SWAPPED_ORDER: "order",
    Fault.RUNAWAY: "count",
}


def findings_of(trace: PlantedTrace) -> tuple[CheckFinding, ...]:
    return find_all(read_checks(trace.checks), trace.sample)


@pytest.mark.parametrize("fault", list(Fault))
def test_what_fails_is_what_was_planted_and_nothing_else(fault: Fault) -> None:
    traces = [trace for trace in TRACES if trace.fault is fault]
    wrong = {
        trace.sample.id: failing
        for trace in traces
        if (failing := {finding.check for finding in failed_checks(findings_of(trace))}) != trace.failing
    }

    assert traces
    assert wrong == {}


def test_nothing_of_a_whole_trace_is_left_open() -> None:
    states = {finding.state for trace in TRACES for finding in findings_of(trace)}

    assert states == {CheckState.PASSED, CheckState.FAILED}


def test_findings_name_the_step_that_is_wrong() -> None:
    wrong = []
    for trace in TRACES:
        if trace.fault in _NAMED_STEP:
            by_name = {finding.check: finding for finding in findings_of(trace)}
            if by_name[_NAMED_STEP[trace.fault]].step != trace.wrong_step:
                wrong.append((trace.sample.id, trace.fault, trace.wrong_step, by_name[_NAMED_STEP[trace.fault]]))

    assert wrong == []


def test_faults_of_claims_alone_pass_all_checks() -> None:
    """They are for a judge who reads the contexts; that is known where they are planted."""
    assert [fault for fault in Fault if fault not in FAILING] == [
        *(Fault.NONE, Fault.UNSUPPORTED_CLAIM, Fault.CONTRADICTED_CLAIM)
    ]


def test_what_a_row_expects_is_found_alike() -> None:
    for trace in TRACES[:60]:
        metadata = {**trace.sample.metadata, ROW_CHECKS: json.dumps(dict(trace.checks))}
        sample = type(trace.sample)(
            **{name: getattr(trace.sample, name) for name in ("id", "response", "steps", "contexts")}, metadata=metadata
        )

        assert find_all(read_checks([]), sample) == findings_of(trace)
