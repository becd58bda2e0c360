"""Answers that a person with a name gives in Chinese or Japanese, and checks that fail behind an answer."""

import pytest

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

RESPONSES = (("答えは42です。", "42"), ("So the answer is (B).", "(B)"), ("The answer is No.", "No"))


@pytest.mark.parametrize(("response", "gold"), RESPONSES)
@pytest.mark.parametrize(
    "frame",
    [
        "据张伟说，{}",
        "陈静是这样回答的：\n{}",
        "鈴木さんによると、{}",
        "高橋さんの回答は次のとおりです。\n{}",
        "{}\n\n検算すると一致しません。",
        "{}\n\n代入后对不上。",
        "{}\n\nThis does not survive verification.",
    ],
)
def test_an_answer_of_somebody_else_or_one_that_fails_its_check_is_not_correct(
    frame: str, response: str, gold: str
) -> None:
    """Who is named at the head speaks, and what a check finds wrong is denied."""
    matched = match_answer(frame.format(response), gold)

    assert matched.decision is not Decision.CORRECT


@pytest.mark.parametrize("frame", ["据题意，{}", "{}\n\n検算しても合っています。", "私の回答は次のとおりです。\n{}"])
def test_what_the_question_says_and_a_check_that_holds_take_nothing_away(frame: str) -> None:
    """The question is no speaker, and the one who answers speaks for himself."""
    matched = match_answer(frame.format("So the answer is (B)."), "(B)")

    assert matched.decision is Decision.CORRECT
