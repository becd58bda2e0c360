"""Judged text cannot drive the rules to take long: 200 KB of anything are read in a moment."""

import time

import pytest

from mixseek.matching.match import match_answer

pytestmark = pytest.mark.thorough

_CHOICE = "Which one?\nOptions:\n(A) red\n(B) green\n(C) blue"
# One of each kind of ground truth.
_GOLDS = [
    ("42", ""),
    ("(A)", _CHOICE),
    ("A, B", _CHOICE),
    ("True", ""),
    ("Paris", "What is the capital?"),
    ("05/01/2021", "When?"),
    (r"\frac{1}{2}", ""),
    (") ]", "Complete: [ ("),
    ("apple banana", "Sort: banana apple"),
]
_UNITS = [
    "\n", " ", "\t", "\r\n", "\n\n", "a", "日", "か",
    "答え", "。", ".", "*", "#", "-", "_", "=", "|", "?", "!", "'", '"',
    "`", "```", "~~", "~~a", "(", "[", "{", "$", "$$", "$1", "€", "%", "\\", "\\boxed{", "\\frac", "\\(a", "×10", "x^",
    "1", "1,", "1.", "1/", "1-", "1 ", "one and ", "> ", "\n> ", "\n-", "\n1. ", "[1] ", "--\n", "<answer>", "<think>",
    "</think>", "</think", "the answer is 42 or ", "answer: ", "answer\n", "not ", "n't ", "so ", "if ", "t ", "A, ",
    "(A) ", "(b) ", "zebra, ", "Confidence: 9 ", "\nSource: a", "Sure! ", "# Answer\n", "I hope ", "\u3000",
]  # fmt: skip
_LONG = 200_000
# What a response of 200 KB may take, on this processor's clock and not on the wall; a square takes seconds.
_SECONDS = 0.05
# On a machine that runs slower than that, four times the text may not take more than eight times as long.
_MOST_GROWTH = 8.0


def _responses(unit: str, size: int, gold: str) -> list[str]:
    run = unit * (size // len(unit))
    half = run[: len(run) // 2]
    return [f"{run}\nThe answer is {gold}.", f"The answer is {gold}.\n{run}", f"{half} {gold} {half}"]


def _cpu_seconds(response: str, gold: str, question: str) -> float:
    began = time.thread_time()
    match_answer(response, gold, question=question)
    return time.thread_time() - began


@pytest.mark.parametrize("unit", _UNITS)
def test_repeated_text_before_and_behind_an_answer_is_read_in_a_moment(unit: str) -> None:
    """For every kind of ground truth; what seems slow is measured again, and then by how it grows."""
    for gold, question in _GOLDS:
        shorter = _responses(unit, _LONG // 4, gold)
        for place, response in enumerate(_responses(unit, _LONG, gold)):
            if _cpu_seconds(response, gold, question) < _SECONDS:
                continue
            long = min(_cpu_seconds(response, gold, question) for _ in range(3))
            short = min(_cpu_seconds(shorter[place], gold, question) for _ in range(3))

            assert long < _SECONDS or long / short < _MOST_GROWTH, (unit, gold, place, long, short)
            assert long < 20 * _SECONDS


@pytest.mark.parametrize("count", [20_000, 32_000])
def test_lines_without_end_behind_the_ground_truth_cost_nothing(count: int) -> None:
    """Newlines behind a name took six seconds: every one of them could have begun a line "answer"."""
    response = "It is Paris." + "\n" * count

    assert min(_cpu_seconds(response, "Paris", "What is the capital?") for _ in range(3)) < 4 * _SECONDS
