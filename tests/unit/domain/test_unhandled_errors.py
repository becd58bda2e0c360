"""A step that failed is handled by a later call of the same name that did not fail."""

from itertools import product

import pytest
from tests.cases import each

from mixseek.domain.steps import Step, StepRole, StepStatus, unhandled_errors

OK, ERROR, CUT_OFF = StepStatus


def call(tool: str, status: StepStatus | None, **arguments: object) -> Step:
    return Step(StepRole.TOOL, tool=tool, arguments=arguments or None, status=status)


SEARCH_FAILS = call("search", ERROR, q="pier")
CASES = {
    "nothing happened": ((), ()),
    "nothing failed": ((call("search", OK), Step(StepRole.ASSISTANT, "Done.")), ()),
    "failed and left": ((SEARCH_FAILS, Step(StepRole.ASSISTANT, "Done.")), (1,)),
    "repeated with success": ((SEARCH_FAILS, call("search", OK, q="pier")), ()),
    "repeated with other arguments": ((SEARCH_FAILS, call("search", OK, q="jetty")), ()),
    "nobody says how the repetition ended": ((SEARCH_FAILS, call("search", None)), ()),
    "another tool succeeded": ((SEARCH_FAILS, call("open_page", OK)), (1,)),
    "the success came before": ((call("search", OK), SEARCH_FAILS), (2,)),
    "each repetition failed": ((SEARCH_FAILS, SEARCH_FAILS, SEARCH_FAILS), (1, 2, 3)),
    "the repetition was cut off": ((SEARCH_FAILS, call("search", CUT_OFF)), (1,)),
    "cut off is no error": ((call("search", CUT_OFF),), ()),
    "an assistant's error": ((Step(StepRole.ASSISTANT, status=ERROR), Step(StepRole.ASSISTANT, "Done.")), ()),
    "one of two": ((call("search", ERROR), call("pay", ERROR), call("search", OK)), (2,)),
}


@each("name", CASES)
def test_which_errors_are_left_unhandled(name: str) -> None:
    steps, unhandled = CASES[name]

    assert unhandled_errors(steps) == unhandled


@pytest.mark.parametrize("length", range(5))
def test_all_sequences_of_two_tools_agree_with_the_definition(length: int) -> None:
    for drawn in product(product("ab", (None, *StepStatus)), repeat=length):
        steps = [call(tool, status) for tool, status in drawn]
        expected = tuple(
            number
            for number, step in enumerate(steps, start=1)
            if step.status is ERROR
            and not any(later.tool == step.tool and later.status in (None, OK) for later in steps[number:])
        )

        assert unhandled_errors(steps) == expected
