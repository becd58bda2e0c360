"""How sure a judge is, where its reply says so."""

from typing import Any

import pytest
from tests.unit.protocols.scored_replies import CROSS_VALID, OWN_VALID, RUBRIC_VALID, parse_valid

from mixseek.domain.confidence import ConfidenceSource


@pytest.mark.parametrize(("word", "value"), [("high", 1.0), ("medium", 2 / 3), ("low", 1 / 3)])
def test_the_word_of_a_rubric_judge_is_written_confidence(word: str, value: float) -> None:
    """An order without shares; the word itself stays among the fields."""
    judgment = parse_valid("rubric", {**RUBRIC_VALID, "confidence": word})

    assert judgment.confidence is not None
    assert judgment.confidence.value == pytest.approx(value)
    assert (judgment.confidence.source, judgment.confidence.shares) == (ConfidenceSource.WRITTEN, {})
    assert judgment.fields["confidence"] == word
    assert judgment.expected_score is None


@pytest.mark.parametrize("options", [["certain", "unsure"], ["high", "low"], ["high", "medium", "low", "none"]])
def test_words_of_ones_own_are_in_an_order_that_nobody_has_told(options: list[str]) -> None:
    """Which of them is the surest is not guessed."""
    choices: dict[str, Any] = {"confidence": {"options": options}}
    judgment = parse_valid("letters", {**OWN_VALID, "confidence": options[0]}, choices=choices)

    assert judgment.confidence is None


def test_a_judge_that_says_nothing_of_it_has_no_confidence() -> None:
    """Nothing is taken for one in silence."""
    assert parse_valid("cross", CROSS_VALID).confidence is None
