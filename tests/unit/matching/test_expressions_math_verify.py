"""The optional second opinion: off by default, asked only where the built-in comparer declines."""

import pytest

from mixseek.matching.expressions import math_verify_bridge
from mixseek.matching.expressions.compare import compare_expressions
from mixseek.matching.outcome import Decision

needs_extra = pytest.mark.skipif(not math_verify_bridge.is_installed(), reason="the extra `maths` is not installed")


def test_it_is_off_unless_asked_for() -> None:
    """The core never depends on it."""
    assert compare_expressions(r"\{1,2,3\}", "(1,2,3)").rule == "set_or_tuple"


@needs_extra
def test_it_decides_a_convention_that_we_leave_open() -> None:
    """A set against a tuple is equal by its conventions."""
    comparison = compare_expressions(r"\{1,2,3\}", "(1,2,3)", use_math_verify=True)

    assert (comparison.decision, comparison.rule) == (Decision.CORRECT, "math_verify")


@needs_extra
def test_it_is_not_asked_about_a_doubt_of_principle() -> None:
    """0.33 for one third stays open: it would say no and hide the question."""
    assert compare_expressions("0.33", r"\frac13", use_math_verify=True).rule == "rounded"


@needs_extra
def test_it_is_not_believed_when_it_rejects_what_we_cannot_read() -> None:
    """Unreadable text is the commonest reason for its "no"."""
    comparison = compare_expressions(r"3 \pmod{7}", "4", use_math_verify=True)

    assert comparison.decision is not Decision.INCORRECT


@pytest.mark.parametrize(
    "text",
    [
        "x" * 400,
        "9^{9^{9}}",
        "2^{99999}",
        r"\int x",
        "(" * 20 + "x" + ")" * 20,
        "the quick brown fox",
        "+".join("x" * 90),
    ],
)
def test_heavy_input_never_reaches_it(text: str) -> None:
    """Its timeouts cannot be used, so size is what bounds it."""
    assert math_verify_bridge.compare(text, "1") is None
