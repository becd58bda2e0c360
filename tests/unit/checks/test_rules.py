"""What each kind of check finds: passed, failed, or nothing that could be said."""

from typing import Any

import pytest

from mixseek.checks.declare import given_check
from mixseek.domain.check_findings import CheckState
from mixseek.domain.samples import RESPONSE_ERROR, Sample
from mixseek.domain.steps import Step, StepRole, StepStatus

PASSED, FAILED, OPEN = CheckState.PASSED, CheckState.FAILED, CheckState.NOT_APPLICABLE


def call(tool: str, status: StepStatus | None = StepStatus.OK, seconds: float | None = None, **arguments: Any) -> Step:
    return Step(StepRole.TOOL, tool=tool, arguments=arguments or None, status=status, seconds=seconds)


def sample(*steps: Step, response: str = "Oslo: 7 degrees", **metadata: Any) -> Sample:
    return Sample(id="a", response=response, steps=steps, metadata=metadata)


USER, ANSWER = Step(StepRole.USER, text="?"), Step(StepRole.ASSISTANT, text="!")
TRIP = sample(USER, call("search", city="Oslo"), call("book", id=7, who={"name": "Ada"}), ANSWER)
ERROR, CUT_OFF = StepStatus.ERROR, StepStatus.CUT_OFF


@pytest.mark.parametrize(
    ("check", "judged", "state", "step"),
    [
        ("uses:book", TRIP, PASSED, 3),
        ("uses:pay", TRIP, FAILED, None),
        ("not-uses:pay", TRIP, PASSED, None),
        ("not-uses:search", TRIP, FAILED, 2),
        ("order:search,book", TRIP, PASSED, 3),
        ("order:book,search", TRIP, FAILED, 2),
        ("order:search,pay", TRIP, FAILED, None),
        ("order:search,search", TRIP, FAILED, 2),
        ("count:search<=1", TRIP, PASSED, None),
        ("count:search<=0", TRIP, FAILED, 2),
        ("count:search>=2", TRIP, FAILED, None),
        ("count:search=1", TRIP, PASSED, None),
        ("count:pay=0", TRIP, PASSED, None),
        ('arguments:search:{"city":"Oslo"}', TRIP, PASSED, 2),
        ('arguments:search:{"city":"Bergen"}', TRIP, FAILED, 2),
        ('arguments:pay:{"city":"Oslo"}', TRIP, FAILED, None),
        ("arguments:book:who.name~^A", TRIP, PASSED, 3),
        ("arguments:book:who.name~^B", TRIP, FAILED, 3),
        ("arguments:book:who.age~.", TRIP, FAILED, 3),
        ("arguments:book:id~^7$", TRIP, PASSED, 3),
        ("answer-contains:Oslo", TRIP, PASSED, None),
        ("answer-contains:oslo", TRIP, FAILED, None),
        (r"answer-matches:\d+ degrees$", TRIP, PASSED, None),
        (r"answer-matches:^\d", TRIP, FAILED, None),
        ("answer-json", TRIP, FAILED, None),
        ("steps<=4", TRIP, PASSED, None),
        ("steps<=3", TRIP, FAILED, 4),
        ("tool-calls<=2", TRIP, PASSED, None),
        ("tool-calls<=1", TRIP, FAILED, 3),
        ("no-unhandled-errors", TRIP, PASSED, None),
    ],
)
def test_a_check_of_a_trip(check: str, judged: Sample, state: CheckState, step: int | None) -> None:
    finding = given_check(check).find(judged)

    assert (finding.check, finding.state, finding.step) == (check, state, step), finding.detail


@pytest.mark.parametrize(
    "check",
    [
        *("uses:a", "not-uses:a", "order:a,b", "count:a<=1", 'arguments:a:{"b":1}', "no-unhandled-errors"),
        *("steps<=1", "tool-calls<=1", "tokens<=1", "cost<=1", "latency<=1"),
    ],
)
def test_a_sample_without_steps_and_figures_neither_passes_nor_fails(check: str) -> None:
    assert given_check(check).find(Sample(id="a", response="x")).state is OPEN


@pytest.mark.parametrize(
    ("steps", "state", "step"),
    [
        ([call("a", ERROR)], FAILED, 1),
        ([call("a", ERROR), call("a")], PASSED, None),
        ([call("a", ERROR), call("b")], FAILED, 1),
        ([call("a"), call("a", ERROR)], FAILED, 2),
        ([call("a", ERROR), call("a", ERROR), call("a")], PASSED, None),
        ([call("a", ERROR), call("a", CUT_OFF)], FAILED, 1),
        ([call("a", ERROR), call("a", None)], PASSED, None),
        # A call that was cut off is another thing than one that failed.
        ([call("a", CUT_OFF), call("b")], PASSED, None),
        ([Step(StepRole.ASSISTANT, status=ERROR), Step(StepRole.ASSISTANT, text="x")], PASSED, None),
        ([call("a"), Step(StepRole.ASSISTANT, status=ERROR)], FAILED, 2),
        ([call("a", None), call("b", None)], OPEN, None),
    ],
)
def test_a_failed_call_is_handled_by_a_later_one_of_the_same_tool(
    steps: list[Step], state: CheckState, step: int | None
) -> None:
    finding = given_check("no-unhandled-errors").find(sample(*steps))

    assert (finding.state, finding.step) == (state, step), finding.detail


@pytest.mark.parametrize(
    ("check", "metadata", "state"),
    [
        ("tokens<=100", {"usage": {"input_tokens": 60, "output_tokens": 40}}, PASSED),
        ("tokens<=99", {"usage": {"input_tokens": 60, "output_tokens": 40}}, FAILED),
        ("tokens<=99", {"usage": {"prompt_tokens": 60, "completion_tokens": 40}}, FAILED),
        ("tokens<=99", {"usage": {"total_tokens": 100}}, FAILED),
        ("tokens<=99", {"usage": '{"input_tokens": 60, "output_tokens": 40}'}, FAILED),
        # Half of it is known: that can be too much, and never little enough.
        ("tokens<=50", {"usage": {"input_tokens": 60, "output_tokens": None}}, FAILED),
        ("tokens<=100", {"usage": {"input_tokens": 60, "output_tokens": None}}, OPEN),
        ("tokens<=100", {"usage": "much"}, OPEN),
        ("cost<=0.05", {"cost_usd": 0.05}, PASSED),
        ("cost<=0.05", {"cost_usd": "0.06"}, FAILED),
        ("cost<=0.05", {"cost_usd": None}, OPEN),
        ("cost<=0.05", {"cost_usd": float("nan")}, OPEN),
        ("cost<=0.05", {"cost_usd": True}, OPEN),
        ("latency<=2", {"latency_seconds": 2}, PASSED),
        ("latency<=2", {"latency_seconds": 2.1}, FAILED),
    ],
)
def test_figures_are_those_of_the_sample(check: str, metadata: dict[str, Any], state: CheckState) -> None:
    assert given_check(check).find(sample(**metadata)).state is state


@pytest.mark.parametrize(
    ("steps", "state"),
    [
        ([USER, call("a", seconds=1.0), call("b", seconds=0.5)], PASSED),
        ([USER, call("a", seconds=1.0), call("b", seconds=1.5)], FAILED),
        ([USER, call("a", seconds=3.0), call("b")], FAILED),
        ([USER, call("a", seconds=1.0), call("b")], OPEN),
    ],
)
def test_latency_is_summed_over_steps_where_nobody_says_it(steps: list[Step], state: CheckState) -> None:
    assert given_check("latency<=2").find(sample(*steps)).state is state


@pytest.mark.parametrize("check", ["answer-contains:x", "answer-matches:x", "answer-json"])
def test_an_answer_that_steps_end_without_fails_and_one_that_nobody_had_says_nothing(check: str) -> None:
    missing = {RESPONSE_ERROR: "withheld"}

    assert given_check(check).find(sample(USER, call("a"), response="", **missing)).state is FAILED
    assert given_check(check).find(sample(response="", **missing)).state is OPEN
    assert given_check(check).find(sample(response="")).state is FAILED


def test_an_answer_too_long_for_its_pattern_is_not_judged_by_a_part_of_it() -> None:
    finding = given_check(r"answer-matches:x\s+$").find(sample(response=" " * 2_000_000))

    assert finding.state is OPEN
    assert "2,000,000 characters" in finding.detail


def test_a_schema_holds_for_every_call_and_says_nothing_without_one() -> None:
    table = {"kind": "arguments", "tool": "a", "schema": {"required": ["b"]}}
    check = given_check(table)

    assert check.find(sample(call("a", b=1), call("a", b=2))).state is PASSED
    assert check.find(sample(call("a", b=1), call("a", c=2))).step == 2
    assert check.find(sample(call("c"))).state is OPEN


def test_one_call_that_fits_is_enough_for_arguments() -> None:
    check = given_check('arguments:a:{"b":2}')

    assert check.find(sample(call("a", b=1), call("a", b=2))).step == 2


@pytest.mark.parametrize("arguments", ['{"b": 2}', {"b": 2}])
def test_arguments_are_read_whether_they_are_text_or_not(arguments: Any) -> None:
    step = Step(StepRole.TOOL, tool="a", arguments=arguments)

    assert given_check('arguments:a:{"b":2}').find(sample(step)).state is PASSED


def test_arguments_that_are_no_json_fail_with_what_they_are() -> None:
    finding = given_check('arguments:a:{"b":2}').find(sample(Step(StepRole.TOOL, tool="a", arguments="{b: 2")))

    assert (finding.state, finding.step) == (FAILED, 1)
    assert "'{b: 2'" in finding.detail


def test_an_answer_is_json_by_a_schema() -> None:
    check = given_check({"kind": "answer-json", "schema": {"required": ["city"]}})

    assert check.find(sample(response='{"city": "Oslo"}')).state is PASSED
    assert check.find(sample(response="{}")).detail == (
        "the final answer is not as the schema says: the value has no 'city'"
    )
    assert check.find(sample(response="[" * 100_000)).state is FAILED
