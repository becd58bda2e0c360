"""When a judge has shown that going on is of no use."""

import pytest

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, ValidJudgment
from mixseek.engine.endings import FIRST_REFUSALS, FIRST_REPLIES, LATER_REFUSALS, FirstReplies, NothingUsableError

VALID = ValidJudgment(score=1.0, verdict="correct", method=Method.CROSS_JUDGE, fields={})


def invalid(detail: str, flag: Flag = Flag.UNPARSABLE_OUTPUT) -> InvalidJudgment:
    return InvalidJudgment((Finding(flag, detail),))


def test_the_first_samples_all_refused_end_it_with_the_words() -> None:
    first = FirstReplies()
    for _ in range(FIRST_REFUSALS - 1):
        first.refused("m", "answered 400: no")

    with pytest.raises(NothingUsableError, match=r"^answered 400: no; it refuses all of its first 20 "):
        first.refused("m", "answered 400: no")


def test_of_a_judge_that_answers_a_longer_stretch_is_refused() -> None:
    """A filter may object to a whole topic; one answer begins the count anew."""
    first = FirstReplies(proven=["old"])
    first.answered("m")
    for judge in ("m", "old"):
        for _ in range(LATER_REFUSALS - 1):
            first.refused(judge, "no")
        first.answered(judge)
        for _ in range(LATER_REFUSALS - 1):
            first.refused(judge, "no")
        with pytest.raises(NothingUsableError, match=r"100 samples in a row.*--retry-refused"):
            first.refused(judge, "no")


def test_nothing_valid_in_the_first_replies_ends_it_with_the_commonest_reason() -> None:
    first = FirstReplies()
    first.read("m", invalid("other", Flag.INTERNAL_INCONSISTENCY))
    for number in range(FIRST_REPLIES - 2):
        first.read("m", invalid("no JSON object" if number % 2 else f"odd {number}"))

    with pytest.raises(
        NothingUsableError, match=r"first 50 replies; .*\(49 times\): UNPARSABLE_OUTPUT: no JSON object"
    ):
        first.read("m", invalid("no JSON object"))


def test_one_valid_reply_is_enough_for_good_and_each_judge_counts_alone() -> None:
    first = FirstReplies(proven=["old"])
    first.read("m", VALID)
    for _ in range(3 * FIRST_REPLIES):
        first.read("m", invalid("x"))
        first.read("old", invalid("x"))
    for _ in range(FIRST_REPLIES - 1):
        first.read("other", invalid("x"))

    with pytest.raises(NothingUsableError, match="judge other"):
        first.read("other", invalid("x"))
