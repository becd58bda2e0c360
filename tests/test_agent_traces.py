"""The traces that checks and protocols are tried on hold what is said of them."""

from tests.agent_traces import Fault, PlantedTrace, write_traces

TRACES = write_traces()
# Their answer holds another figure, or there is none.
_WITHOUT_FIGURE = {Fault.WRONG_ANSWER, Fault.NO_ANSWER}


def is_as_described(trace: PlantedTrace) -> bool:
    response, contexts = trace.sample.response, {context.id: context.text for context in trace.sample.contexts}
    has_figure = trace.scenario.figure in response
    return (
        has_figure is not (trace.fault in _WITHOUT_FIGURE)
        and all(claim.text in response for claim in trace.claims)
        and all(claim.quote in contexts[claim.context] for claim in trace.claims if claim.context and claim.quote)
        and (trace.wrong_step is None or 1 <= trace.wrong_step <= len(trace.sample.steps))
        and (trace.fault is Fault.NONE) <= (trace.wrong_step is None and not trace.failing)
    )


def test_each_trace_is_as_its_truth_says() -> None:
    assert [trace.sample.id for trace in TRACES if not is_as_described(trace)] == []


def test_every_fault_is_planted_in_every_scenario_and_a_third_are_clean() -> None:
    planted = {(trace.scenario.name, trace.fault) for trace in TRACES}
    clean = [trace for trace in TRACES if trace.fault is Fault.NONE]

    assert len(TRACES) == 300
    assert len(planted) == 6 * len(Fault)
    assert len(clean) == 100
    assert {(trace.has_recovered, trace.has_injection) for trace in clean} == {(a, b) for a in (0, 1) for b in (0, 1)}


def test_the_same_seed_writes_the_same_traces() -> None:
    assert write_traces() == TRACES
    assert write_traces(seed=7) != TRACES
