"""Rules that were wrong too often on their own rows decline where they were."""

from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_CHOICE = "Who carries the lantern?\nOptions:\n(A) Mina\n(B) Otto\n(C) Piet\n(D) Ruth"
_WORK = "We look at the steps of the path one after the other, and note who holds what. " * 12
_NAMES = ["Goad", "Ox goad", "Oxgoad", "Cattle goad", "Goads"]


class _NeverEqual:
    """Stands in for algebra: two expressions differ."""

    version = "0"

    def are_equal(self, gold: str, answer: str) -> bool | None:
        return False


@each(
    ("end", "decision"),
    [
        ("Otto takes it.\n\nThen they go on with it for a while and", Decision.UNDECIDED),
        ("Mina takes it.\n\nThen they go on with it for a while and", Decision.INCORRECT),
        ("Otto takes it. Mina takes it.\n\nThen they go on with it for a while and", Decision.INCORRECT),
    ],
)
def test_a_text_that_breaks_off_behind_the_right_option_is_left_open(end: str, decision: Decision) -> None:
    """`breaks_off`: the answer may have been said before it broke off."""
    assert match_answer(_WORK + end, "(B)", question=_CHOICE).decision is decision


def test_a_text_that_breaks_off_behind_the_right_brackets_is_left_open() -> None:
    """As above, line by line."""
    response = _WORK + "\nClosing: ) ]\nNow we check once more that everything is closed and"

    assert match_answer(response, ") ]", question="Complete: [ (").decision is Decision.UNDECIDED


def test_a_last_sentence_that_another_one_contradicts_is_left_open() -> None:
    """`last_sentence`: "while option C is also correct" does not make C the answer."""
    response = "My choice is this:\n\n**A. Mina**\n\nShe was seen with it. While option C is also fine, it is broader."

    assert match_answer(response, "(C)", question=_CHOICE).decision is not Decision.CORRECT


@each(("answer", "decision"), [("9sqrt(2)", Decision.UNDECIDED), ("8sqrt(2)", Decision.INCORRECT)])
def test_an_expression_that_holds_the_number_is_left_open(answer: str, decision: Decision) -> None:
    """`expression_math_verify`: whether the number or the expression is the answer, people disagree on."""
    assert match_answer(f"\\boxed{{{answer}}}", "9", maths=_NeverEqual()).decision is decision


@each(
    ("response", "decision"),
    [
        ("A crook.", Decision.INCORRECT),
        (
            "The long stick with a spike that herders have used for many centuries in order to make their animals move"
            " forward is in most places known as a prod.",
            Decision.UNDECIDED,
        ),
    ],
)
def test_only_a_short_response_is_none_of_the_names(response: str, decision: Decision) -> None:
    """`none_of_the_names`: a long sentence may describe the thing instead."""
    question = "What is the spiked tool of herders called?"

    assert match_answer(response, _NAMES[0], question=question, alternatives=_NAMES[1:]).decision is decision


@each(
    ("response", "decision"),
    [
        ("They are Chile and Argentina.", Decision.CORRECT),
        ("Argentina, then Chile.", Decision.CORRECT),
        (
            "It runs from Chile past all the towns of the high plain down to Argentina",
            Decision.UNDECIDED,
        ),
    ],
)
def test_items_far_apart_are_no_enumeration(response: str, decision: Decision) -> None:
    """`all_items`: they are mentioned."""
    question = "The railway runs between which two countries?"

    assert match_answer(response, "Argentina and Chile", question=question).decision is decision


@each(
    ("response", "question"),
    [
        ("If plants were short, grasshoppers would suffer.", "Which?\n(A) Grasshopper\n(B) Snake\n(C) Mouse"),
        ("There will be 4 of them in the end.", "How many?\n(A) four\n(B) five\n(C) six"),
        ("It must be option a, I think", "Which?\n(A) Grasshopper\n(B) Snake\n(C) Mouse"),
    ],
)
def test_an_option_in_another_writing_is_not_absent(response: str, question: str) -> None:
    """`never_stated`: a plural, a number in figures, a small letter."""
    assert match_answer(response, "(A)", question=question).decision is not Decision.INCORRECT
