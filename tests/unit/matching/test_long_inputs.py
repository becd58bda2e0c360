"""Judged text cannot drive the rules to take long: 200 KB of anything are read in a moment."""

import time

import pytest

from mixseek.matching.match import match_answer

_CHOICE = "Which one?\nOptions:\n(A) red\n(B) green\n(C) blue"
_GOLDS = [
    ("42", ""),
    ("(A)", _CHOICE),
    ("True", ""),
    ("Paris", "What is the capital?"),
    ("05/01/2021", "When?"),
    (r"\frac{1}{2}", ""),
    (") ]", "Complete: [ ("),
    ("apple banana", "Sort: banana apple"),
]
_UNITS = [
    "-",
    "1,",
    "(",
    "\\boxed{",
    "$",
    "the answer is 42 or ",
    "not ",
    "<answer>",
    "×10",
    "\\frac",
    "か",
    "答え",
    "one and ",
]


@pytest.mark.parametrize("unit", _UNITS)
def test_repeated_text_is_read_in_a_moment(unit: str) -> None:
    response = unit * (200_000 // len(unit))
    for gold, question in _GOLDS:
        for ending in ("", "42", "\nThe answer is 42."):
            began = time.thread_time()
            match_answer(response + ending, gold, question=question)
            assert time.thread_time() - began < 1.0
