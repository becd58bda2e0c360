"""Bracket sequences and word lists: the same items in the same order, however they are separated."""

import pytest

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_DYCK = "Complete the rest of the sequence, making sure that the parentheses are closed properly. Input: < ( [ ]"
_SORT = "Sort the following words alphabetically: List: walnut acorn pebble moss"
_SORTED = "acorn moss pebble walnut"


@pytest.mark.parametrize(
    "response",
    [") >", ")>", "The answer is ) >.", "So the answer is `) >`", r"\boxed{) >}", "Answer:\n) >", "It ends with: ) >"],
)
def test_closing_brackets_match_with_or_without_spaces(response: str) -> None:
    """Spaces between brackets carry no meaning, and markup around them does not either."""
    assert match_answer(response, ") >", question=_DYCK).decision is Decision.CORRECT


@pytest.mark.parametrize("response", ["> )", ") > >", ")", "So the answer is ] ) >.", "The answer is empty."])
def test_other_brackets_are_incorrect(response: str) -> None:
    """Order and number count."""
    assert match_answer(response, ") >", question=_DYCK).decision is Decision.INCORRECT


def test_the_whole_sequence_in_place_of_its_rest_is_left_open() -> None:
    """It completes the brackets but does not answer what was asked."""
    assert match_answer("< ( [ ] ) >", ") >", question=_DYCK).decision is Decision.UNDECIDED


@pytest.mark.parametrize(
    "response",
    [
        _SORTED,
        "acorn, moss, pebble, walnut",
        "Acorn, Moss, Pebble, and Walnut.".replace("and ", ""),
        "Here is the sorted list:\n1. acorn\n2. moss\n3. pebble\n4. walnut\n\nLet me know if you need more!",
        "The answer is: acorn < moss < pebble < walnut",
        '["acorn", "moss", "pebble", "walnut"]',
        "First acorn, then moss, third pebble, last walnut.",
        "- acorn (a)\n- moss (m)\n- pebble (p)\n- walnut (w)",
    ],
)
def test_a_sorted_list_matches_in_any_layout(response: str) -> None:
    """Commas, numbering, lines and case are layout."""
    assert match_answer(response, _SORTED, question=_SORT).decision is Decision.CORRECT


@pytest.mark.parametrize(
    "response",
    [
        "moss acorn pebble walnut",
        "acorn moss pebble",
        "acorn moss pebble walnut walnut",
        "acorn moss stone pebble walnut",
    ],
)
def test_a_list_with_another_order_or_other_words_is_incorrect(response: str) -> None:
    """A missing, doubled, foreign or misplaced word is an error."""
    assert match_answer(response, _SORTED, question=_SORT).decision is Decision.INCORRECT


def test_a_list_in_the_middle_of_a_work_that_breaks_off_is_no_answer() -> None:
    """The order that a step arrived at is not given before the steps have ended."""
    step = f"The letters are compared one by one. We now have: {_SORTED}. "
    broken = step * 12 + "Now let us sort the part that is left by looking at the second let"

    assert match_answer(broken, _SORTED, question=_SORT).decision is Decision.UNDECIDED
    assert match_answer(step * 12 + f"In order: {_SORTED}", _SORTED, question=_SORT).decision is Decision.CORRECT


def test_a_bracket_in_a_numbered_step_is_no_answer() -> None:
    """ "35: ] ;" is where the steps break off."""
    steps = "\n".join(f"{number}: ( ; stack: [ (" for number in range(35))

    assert match_answer(f"{steps}\n35: ] ;", "]", question="Close: [").decision is not Decision.CORRECT
