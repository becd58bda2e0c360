"""Short answers are looked at once and remembered: that must never show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.matching import numbers
from mixseek.matching.closed import booleans
from mixseek.matching.closed.options import lettered_options
from mixseek.matching.match import match_answer
from mixseek.matching.outcome import Decision

QUESTIONS = (
    "What is it?",
    "She had 7 and gave 12 away. How many are seven and one?",
    "Which one?\nOptions:\n(A) true\n(B) 12 March 2024\n(C) the red ball\n(D) none of these",
    "Which one?\nOptions:\n(A) red\n(B) yes\n(C) 7",
)
GOLDS = ("(A)", "(C)", "Yes", "False", "invalid", "7", "12", "1.5", "50%", "] )", "apple banana", "Paris")
WORDS = st.sampled_from((
    "Yes", "No", "True", "False", "not", "(A)", "B.", "C", "answer", "is", "the", ":", "=", "7", "12", "seven", "two",
    "1/2", "one-half", "red", "ball", "I", "cannot", "tell", "]", ")", "}", "Wait,", "no", "はい", "正解", "7時",
))  # fmt: skip


@given(words=st.lists(WORDS, min_size=1, max_size=7), gold=st.sampled_from(GOLDS))
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_remembered_answer_is_judged_like_a_new_one(question: str, words: list[str], gold: str) -> None:
    """The same decision, place and rules, whether or not anybody said it before, to this question or another."""
    text = " ".join(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers, "REPEATED_LENGTH", -1)
        anew = match_answer(text, gold, question=question)

    assert [match_answer(text, gold, question=question) for _ in range(2)] == [anew, anew]


def test_what_is_given_out_can_be_changed_without_harm() -> None:
    """Lists are copies: one reader's sorting is not the next one's surprise."""
    numbers.read_numbers("3 apples and 4 pears").clear()
    numbers.word_numbers("three apples").clear()
    booleans.BooleanReader(True, "yes_no").polar_words("Yes").clear()

    assert [token.values[0] for token in numbers.read_numbers("3 apples and 4 pears")] == [3, 4]
    assert [token.values[0] for token in numbers.word_numbers("three apples")] == [3]
    assert [word.value for word in booleans.BooleanReader(True, "yes_no").polar_words("Yes")] == [True]


def test_of_two_numbers_every_question_has_its_own_say() -> None:
    """A number that the question gave is seldom its answer; another question gave another one."""
    decisions = [
        match_answer("7 boxes, 5 apples", "5", question=question).decision for question in ("She had 7.", "She had 5.")
    ]

    assert decisions == [Decision.CORRECT, Decision.UNDECIDED]


def test_the_last_list_of_options_counts() -> None:
    """Examples with lists of their own stand before the question."""
    question = "Example:\n(A) cat\n(B) dog\nNow answer:\n(A) oak\n(B) elm\n(C) fir"

    assert lettered_options(question).texts == ("oak", "elm", "fir")
