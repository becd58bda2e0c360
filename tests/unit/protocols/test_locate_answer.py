"""An extracted answer is found where it stands in the original response, or not at all."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.domain.judgments import Span
from mixseek.protocols.extraction import Location, is_same_answer, locate_answer

FOUND = [
    # response, answer, the text that must stand at the span
    ("So the answer is (B).", "(B)", "(B)"),
    ("So the answer is (B).", "B", "B"),
    ("so the answer is b", "(B)", "b"),
    ("It is True. No wait, it is true.", "TRUE", "true"),
    ("first 7, then 7", "7", "7"),
    ("It costs 1,250 yen", "1,250", "1,250"),
    ("the  New\n York   flight", "new york", "New\n York"),
    ("答えは東京です", "東京", "東京"),
    ("答えは４２です", "42", "４２"),
    ("答案是“是”。", "是", "是"),
    ("Ｔｒｕｅ", "true", "Ｔｒｕｅ"),
    ("close with ) ] >", ") ] >", ") ] >"),
    ("close with )]>", ") ] >", ")]>"),
    ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}", "\\frac{1}{2}"),
    ("<think>no, 5</think>It is 7, I say 7.", "7", "7"),
    ("İstanbul is right", "right", "right"),
]


@each(("response", "answer", "piece"), FOUND)
def test_the_last_occurrence_is_located_in_original_offsets(response: str, answer: str, piece: str) -> None:
    span = locate_answer(response, answer).span

    assert span is not None
    assert response[span.start : span.end] == piece
    assert span.start == response.rfind(piece)


@each(
    ("response", "answer"),
    [
        ("I know that", "no"),
        ("The answer is 17.", "7"),
        ("I cannot say", "True"),
        ("<think>It must be 7</think>I do not know.", "7"),
        ("<think>It must be 7", "7"),
        ("anything", ""),
        ("anything", "   "),
        ("", "7"),
        ("new and york", "new york"),
        ("soft\u00adhyphen \u200b", "\u00ad"),
    ],
)
def test_what_a_reader_would_not_find_is_not_found(response: str, answer: str) -> None:
    assert locate_answer(response, answer) == Location(None, is_certain=True)


@given(before=st.text(), answer=st.text(min_size=1), after=st.text())
def test_any_span_lies_within_the_response(before: str, answer: str, after: str) -> None:
    response = before + answer + after
    span = locate_answer(response, answer).span

    assert span is None or 0 <= span.start < span.end <= len(response)


@given(words=st.lists(st.sampled_from(["alpha", "Beta", "7", "東京", "(B)"]), min_size=1), pick=st.integers(0))
def test_every_word_of_a_response_is_found(words: list[str], pick: int) -> None:
    response = " ".join(words)
    word = words[pick % len(words)]
    start = response.rfind(word)

    assert locate_answer(response, word) == Location(Span(start, start + len(word)))


def test_offsets_are_those_of_the_original_however_long_it_is() -> None:
    response = "Let us count. " * 20_000 + "So it is 7."

    assert locate_answer(response, "7") == Location(Span(len(response) - 2, len(response) - 1))


def test_what_is_not_at_the_end_of_a_very_long_response_is_uncertain_not_absent() -> None:
    assert locate_answer("It is 7. " + "Let us count. " * 20_000, "7") == Location(None, is_certain=False)


@pytest.mark.parametrize("answer", ["a " * 900 + "b", "a" * 1_900 + "b", ") " * 900 + "]", "x" * 100_000])
def test_long_answers_and_responses_take_linear_time(answer: str) -> None:
    started = time.process_time()
    locate_answer("a " * 250_000 + "a" * 250_000 + ") " * 250_000, answer)

    assert time.process_time() - started < 3


@each(
    ("left", "right", "same"),
    [
        ("(B)", "b", True),
        ("４２", "42", True),
        ("New  York.", "new york", True),
        (") ]", ")]", True),
        (") ]", ")", False),
        ("-5", "5", False),
        ("−5", "-5", True),
        ("B", "C", False),
        ("十分", "十", False),
    ],
)
def test_answers_are_the_same_but_for_dress(left: str, right: str, same: bool) -> None:
    assert is_same_answer(left, right) is same
