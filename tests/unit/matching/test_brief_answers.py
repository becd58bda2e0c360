"""The question has its say in what a short answer means."""

from mixseek.matching.closed.options import lettered_options
from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision


def test_of_two_numbers_every_question_has_its_own_say() -> None:
    """A number that the question gave is seldom its answer; another question gave another one."""
    decisions = [
        match_answer("7 boxes, 5 apples", "5", question=question).decision for question in ("She had 7.", "She had 5.")
    ]

    assert decisions == [Decision.CORRECT, Decision.UNDECIDED]


def test_the_last_list_of_options_counts() -> None:
    """Examples with lists of their own stand before the question."""
    question = "Example:\n(A) cat\n(B) dog\nNow answer:\n(A) oak\n(B) elm\n(C) fir"

    assert lettered_options(question) == {"A": "oak", "B": "elm", "C": "fir"}
