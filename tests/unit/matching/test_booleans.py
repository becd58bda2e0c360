"""Two-valued answers in three languages, with their negations."""

import pytest
from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_VALID = "Is the argument deductively valid or invalid?"
_PLAUSIBLE = "Is the following sentence plausible?"

_NEGATIVE = [
    ("妥当とは言えません。", _VALID),
    ("妥当だとはいえない", _VALID),
    ("この推論は妥当ではありません。", _VALID),
    ("成り立たない", _VALID),
    ("非妥当です", _VALID),
    ("并不有效", _VALID),
    ("老赵可能会游泳。因此推理无效。", _VALID),
    ("It's hardly valid.", _VALID),
    ("The argument is far from valid.", _VALID),
    ("The argument isn't deductively valid.", _VALID),
    ("不太合理", _PLAUSIBLE),
    ("ありえません", _PLAUSIBLE),
    ("不自然です", _PLAUSIBLE),
    ("自然ではありません", _PLAUSIBLE),
    ("I doubt that this is plausible.", _PLAUSIBLE),
    ("It is unlikely to be true.", _PLAUSIBLE),
    ("正しいとは限りません", "?"),
    ("正しくありません", "?"),
    ("不是。", "?"),
]
_POSITIVE = [
    ("妥当です", _VALID),
    ("推理有效。", _VALID),
    ("他可能不是渔民，所以推理有效。", _VALID),
    ("There is no doubt that it is valid.", _VALID),
    ("没有不合理的地方", _PLAUSIBLE),
    ("もっともらしいです。", _PLAUSIBLE),
    ("誤りではありません", "?"),
    ("はい、正しいです", "?"),
    ("是的。", "?"),
]


def _golds(question: str) -> tuple[str, str]:
    return ("valid", "invalid") if question == _VALID else ("yes", "no")


@each(("response", "question"), _NEGATIVE)
def test_a_negation_says_no_and_never_yes(response: str, question: str) -> None:
    """Before or behind the word, in its own script: the negation is part of the answer."""
    positive, negative = _golds(question)

    assert match_answer(response, negative, question=question).decision is Decision.CORRECT
    assert match_answer(response, positive, question=question).decision is Decision.INCORRECT


@each(("response", "question"), _POSITIVE)
def test_an_affirmation_says_yes_and_never_no(response: str, question: str) -> None:
    """Double negation and words of another family do not turn it round."""
    positive, negative = _golds(question)

    assert match_answer(response, positive, question=question).decision is Decision.CORRECT
    assert match_answer(response, negative, question=question).decision is Decision.INCORRECT


@pytest.mark.parametrize(
    "response", ["Yes and no.", "The answer is yes or no.", "人によって「はい」とも「いいえ」とも言える"]
)
@pytest.mark.parametrize("gold", ["yes", "no"])
def test_both_at_once_is_left_open(response: str, gold: str) -> None:
    """Who says both has said neither."""
    assert match_answer(response, gold, question="Did she cause it?").decision is Decision.UNDECIDED
