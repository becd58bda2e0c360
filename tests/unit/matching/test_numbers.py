"""Numbers as people write them."""

from decimal import Decimal

import pytest
from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.numbers import read_numbers
from mixseek.matching.readings import Decision


@each(
    ("text", "value"),
    [
        ("57.00", "57"),
        ("57,00", "57"),
        ("1,234", "1234"),
        ("1,234,567", "1234567"),
        ("1.234.567", "1234567"),
        ("1.234,56", "1234.56"),
        ("1,234.56", "1234.56"),
        ("6 277", "6277"),
        ("-39,960", "-39960"),
        ("−39,960", "-39960"),
        ("١٢٣", "123"),
        ("৪৫", "45"),
        ("１２", "12"),
        ("3/4", "0.75"),
        ("1e3", "1000"),
        ("twenty-one", "21"),
        ("one hundred and five", "105"),
        ("two thousand three hundred", "2300"),
        ("minus seven", "-7"),
        ("十五", "15"),
        ("三百二十", "320"),
        ("$ 12", "12"),
    ],
)
def test_a_written_number_has_its_value(text: str, value: str) -> None:
    """Separators, scripts and words are ways of writing, not different numbers."""
    assert match_answer(text, value, question="How many?").decision is Decision.CORRECT


def test_a_separator_that_can_mean_two_things_has_both_values() -> None:
    """10.000 is ten or ten thousand; the ground truth decides which was meant."""
    (token,) = read_numbers("10.000")

    assert set(token.values) == {Decimal("10.000"), Decimal("10000")}


@pytest.mark.parametrize(
    ("text", "gold"), [("280", "80"), ("8", "80"), ("80.5", "85"), ("1,8", "18"), ("-5", "5"), ("6.75", "7")]
)
def test_a_number_that_only_contains_the_ground_truth_is_incorrect(text: str, gold: str) -> None:
    """Digits in common are not equality."""
    assert match_answer(text, gold, question="How many?").decision is Decision.INCORRECT


def test_of_several_numbers_the_one_new_to_the_question_is_the_answer() -> None:
    """A sentence that repeats the question's numbers states the remaining one."""
    question = "A clerk files 30 letters an hour. How many does she file in 4 hours?"
    response = "Final answer: in 4 hours, at 30 letters an hour, she files 120 letters."

    assert match_answer(response, "120", question=question).decision is Decision.CORRECT
    assert match_answer(response, "30", question=question).decision is not Decision.CORRECT


def test_whether_rounding_was_meant_is_left_open() -> None:
    """106.12 may or may not pass for 106: that is a judgment, not a comparison."""
    assert match_answer("The answer is 106.12", "106", question="How much?").decision is Decision.UNDECIDED


def test_an_ordinal_is_not_a_count() -> None:
    """The 3rd of something is not three of it."""
    assert (
        match_answer("She came in 3rd of all runners.", "3", question="How many medals?").decision
        is not Decision.CORRECT
    )


@pytest.mark.parametrize("value", ["4.5", "1,000.0", "42.0"])
def test_the_point_of_a_number_ends_no_sentence(value: str) -> None:
    """Below any line, the last digit behind the point was the answer."""
    assert match_answer(f"Thanks for asking.\n\n{value}", value).decision is Decision.CORRECT
