"""How sure a judge is: a number from 0 to 1 with its source, and never a word taken for a probability."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.domain.confidence import (
    Confidence,
    ConfidenceSource,
    confidence_in,
    expected_value,
    read_confidence,
    renormalise,
    written_confidence,
)

MASSES = st.dictionaries(st.text(max_size=5), st.floats(0, 1), min_size=1, max_size=6)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.01, 1.01, True])
@pytest.mark.parametrize("place", ["value", "shares", "outside"])
def test_what_is_no_share_is_no_confidence(value: float, place: str) -> None:
    """Not as the value, not as a share, not as what is outside: nothing of the kind reaches a journal."""
    numbers = {"value": 0.5, "shares": {"A": 0.5}, "outside": 0.5, place: {"A": value} if place == "shares" else value}

    with pytest.raises(ValueError, match="from 0 to 1"):
        Confidence(numbers["value"], ConfidenceSource.DECISION, numbers["shares"], numbers["outside"])  # type: ignore[arg-type]


def test_high_medium_and_low_are_an_order_and_no_probability() -> None:
    """1, ⅔ and ⅓; a word that may not be written is nothing."""
    written = [written_confidence(word) for word in ("high", "medium", "low")]

    assert [confidence and confidence.value for confidence in written] == pytest.approx([1.0, 2 / 3, 1 / 3])
    assert {confidence and confidence.source for confidence in written} == {ConfidenceSource.WRITTEN}
    assert not any(confidence and confidence.is_probability for confidence in written)
    assert written_confidence("certain") is None


def test_the_mass_of_a_verdict_is_its_share_of_all_that_could_be_given() -> None:
    """What was on no option stays beside it."""
    confidence = confidence_in("B", {"A": 0.2, "B": 0.6}, ConfidenceSource.LOGPROBS, outside=0.2)

    assert confidence is not None
    assert confidence.value == pytest.approx(0.75)
    assert confidence.shares == {"A": pytest.approx(0.25), "B": pytest.approx(0.75)}
    assert confidence.outside == 0.2
    assert confidence.is_probability


@pytest.mark.parametrize(("verdict", "masses"), [("A", {"A": 0.0, "B": 0.0}), ("C", {"A": 0.5}), ("A", {})])
def test_without_mass_there_is_no_confidence(verdict: str, masses: dict[str, float]) -> None:
    """Never a number instead."""
    assert confidence_in(verdict, masses, ConfidenceSource.LOGPROBS) is None


@given(MASSES)
def test_shares_are_shares_of_one_and_means_lie_between(masses: dict[str, float]) -> None:
    """Whatever the masses, down to the smallest that a float can hold."""
    shares = renormalise(masses)
    values = {name: float(number) for number, name in enumerate(masses)}

    assert (shares is None) == (math.fsum(masses.values()) == 0)
    if shares is not None:
        assert math.fsum(shares.values()) == pytest.approx(1)
        assert 0 <= expected_value(shares, values) <= len(values) - 1


def test_what_the_journal_has_of_none_is_none() -> None:
    """Most judgments have no confidence."""
    assert read_confidence(None) is None
