"""Answers that rules misread and a careful reader does not: what cannot be known is undecided, never guessed."""

import pytest
from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_C, _I, _U = Decision.CORRECT, Decision.INCORRECT, Decision.UNDECIDED
_CHOICE = "Which gas do plants take in?\nOptions:\n(A) Oxygen\n(B) Carbon dioxide\n(C) Nitrogen\n(D) Helium"


@each("response", ["option b", "I choose b.", "it is option b.", "b", "(b)", "b)", "The answer is b.", "I'd go with b",
                   "My answer: option b.", "So it must be (b).",
                   "I pick choice b, since plants need it.", "选b", "選択肢b",
                   "Option B", "Answer: b. Carbon dioxide"])  # fmt: skip
@each("question", [_CHOICE, "Which one?"])
def test_a_small_letter_names_an_option_as_well(response: str, question: str) -> None:
    """Where a word or a bracket says that it is one."""
    assert match_answer(response, "B", question=question).decision is _C
    assert match_answer(response, "(C)", question=question).decision is _I


@each(
    "response",
    ["I need a moment.", "option a lot", "I choose a gas that plants like.", "A gas, i think", "So it is a guess."],
)
def test_an_article_names_no_option(response: str) -> None:
    """ "a" is a word first, "i" as well."""
    for gold in ("A", "B"):
        assert match_answer(response, gold, question=_CHOICE).decision is not _C


@each(
    "response",
    [
        "(A) Oxygen (B) Carbon dio",
        "The options are:\n(A) Oxygen\n(B) Carbon dio",
        "Let me list them. (A) Oxygen. (B) Carbon dio",
        "A) Oxygen\nB) Carbon",
        "First I list what is on offer. A. Oxygen. B. Carbon dioxide",
        "(A) Oxygen, (B)",
    ],
)
def test_a_list_of_options_that_is_cut_off_names_none_of_them(response: str) -> None:
    """The last label is where it broke off, and the first is where it began."""
    for gold in ("(A)", "(B)"):
        for question in (_CHOICE, "Which one?"):
            assert match_answer(response, gold, question=question).decision is not _C


@each(
    ("response", "decision"),
    [
        ("Let t be the time; then t grows with x", _U),
        ("The parameter t is what matters here.", _U),
        ("We write f for the flow.", _U),
        ("T", _C),
        ("t", _C),
        ("(T)", _C),
        ("The answer is T.", _C),
        ("**F**", _I),
        ("The answer is F", _I),
    ],
)
def test_a_letter_is_a_truth_value_only_where_it_stands_alone(response: str, decision: Decision) -> None:
    """In prose it is a variable."""
    assert match_answer(response, "True", question="Is it true?").decision is decision


_BEHIND = "\n\nThe reasons are many, and each of them takes a page to tell. " * 600


@each("answer", [r"\boxed{42}", "<answer>42</answer>", "The answer is 42.", '{"answer": 42}', "#### 42"])
@each("gold", ["42", "41"])
def test_an_answer_at_the_head_of_a_long_response_is_read(answer: str, gold: str) -> None:
    """36,000 characters behind it say nothing else."""
    result = match_answer(answer + _BEHIND, gold)

    assert len(_BEHIND) > 36_000
    assert result.decision is (_C if gold == "42" else _I)
    assert result.span is not None
    assert (answer + _BEHIND)[result.span.start : result.span.end] == "42"


@each(
    "response",
    [
        "6 times 7 are 42. " + _BEHIND,
        "Well. " + _BEHIND + "The answer is 42." + _BEHIND,
        _BEHIND + "42" + _BEHIND,
        "The answer is 41." + _BEHIND + "So it must be 42.",
        "x" * 400_000,
    ],
)
def test_no_verdict_rests_on_what_was_not_read(response: str) -> None:
    """Neither that a value is absent nor that it is there."""
    assert match_answer(response, "42").decision is _U


@each(
    ("response", "decision"),
    [
        ("\\boxed{41}" + _BEHIND + "The answer is 42.", _C),
        ("<think>" + _BEHIND + "\\boxed{41}</think>42", _C),
        ("Let me see.<think>" + _BEHIND, _U),
        ("<think>" + _BEHIND, _I),
        (_BEHIND + "</think>\n\\boxed{41}", _I),
        ("<seed:think>" + _BEHIND + "</seed:think>42", _C),
    ],
)
def test_reasoning_before_the_end_was_never_meant_to_be_read(response: str, decision: Decision) -> None:
    """However long; and the last statement counts."""
    assert match_answer(response, "42").decision is decision


@each(
    ("response", "gold", "question", "decisions"),
    [
        ("€18", "$18", "What does it cost?", {_U, _I}),
        ("It costs €18.", "$18", "", {_U, _I}),
        ("The answer is £18.", "18", "How many dollars ($) does she pay?", {_U, _I}),
        ("18 euros", "$18", "", {_U, _I}),
        ("The answer is 18円.", "$18", "", {_U, _I}),
        ("$18", "$18", "", {_C}),
        ("18 dollars", "$18", "", {_C}),
        ("18", "€18", "", {_C}),
        ("The answer is $18.", "18", "How many dollars ($) does she pay?", {_C}),
        ("He pays $20 and gets €2 back, so the answer is $18.", "$18", "", {_C}),
        ("As of 2021 they have won once.", "1", "How often have they won?", {_C, _U}),
        ("As of 2021 they have won twice.", "2", "How often have they won?", {_C, _U}),
        ("Since 1990 it has happened three times.", "3", "How often?", {_C, _U}),
        ("As of 2021, they have won 4 times.", "4", "How often have they won?", {_C}),
        ("As of 2021, they have won 4 times.", "5", "How often have they won?", {_I}),
        ("0.33", "33", "What percentage of them is red?", {_U}),
        ("The answer is 0.33.", "33", "What share of the pupils, in percent, passed?", {_U}),
        ("33", "0.33", "Which fraction of them is red?", {_U}),
        ("0.33", "33", "How many of them are red?", {_I}),
    ],
)
def test_a_number_is_compared_with_all_that_belongs_to_it(
    response: str, gold: str, question: str, decisions: set[Decision]
) -> None:
    """Its currency, the words that count, and whether a share was asked for."""
    assert match_answer(response, gold, question=question).decision in decisions


@each(
    ("response", "decisions"),
    [
        ("zebra, apple, banana", {_I, _U}),
        ("zebra apple banana", {_I, _U}),
        ("The answer is zebra, apple, banana.", {_I, _U}),
        ("1. zebra\n2. apple\n3. banana", {_I, _U}),
        ("apple banana zebra", {_I, _U}),
        ("apple, banana", {_C}),
        ("Sure, apple, banana", {_C}),
        ("The sorted list is apple, banana.", {_C}),
        ("Sorted: apple, banana", {_C}),
        ("1. apple\n2. banana", {_C}),
        ("Here are the words in order:\napple\nbanana", {_C}),
    ],
)
def test_a_word_before_the_list_belongs_to_it(response: str, decisions: set[Decision]) -> None:
    """As one behind it does."""
    result = match_answer(response, "apple banana", question="Sort the words alphabetically: banana apple")

    assert result.decision in decisions


def test_a_label_behind_one_that_is_ruled_out_is_no_list() -> None:
    """Two labels in a row are the options only with their texts."""
    question = "Which key opens the shed?\n(A) the brass key\n(B) the steel key\n(C) neither"
    response = "The brass key is for the house, so it cannot be (A). **(B)**"

    assert match_answer(response, "(B)", question=question).decision is _C


def test_a_count_that_opens_the_question_asks_for_so_many() -> None:
    question, golds = "3 candidates for the nomination", ("Ann Lee", "Bo Day", "Cy Fox")
    response = "The candidates were Ann Lee from Ohio, Dee Kay from Iowa and Ed Rum from Utah."

    assert match_answer(response, golds[0], question=question, alternatives=golds).decision is not _C


def test_a_time_that_a_later_one_is_set_against_is_left_open() -> None:
    response = "The first one was made in the 1940s. However, general use did not begin until the 1950s."

    assert match_answer(response, "the 1940s", question="when did people start to use it").decision is not _C
    assert match_answer(response[:36], "the 1940s", question="when did people start to use it").decision is _C


@each("response", ["zebra, apple, banana", "apple, banana, zebra", "She bought apple, banana and a zebra."])
def test_a_list_that_goes_on_is_another_one(response: str) -> None:
    """Also where the question does not name the words."""
    assert match_answer(response, "apple banana", question="What did she buy?").decision is not _C
    assert match_answer("So: apple, banana.", "apple banana", question="What did she buy?").decision is _C
    assert match_answer("On July 4, 1776, there.", "July 4 1776", question="When?").decision is _C


@each(
    "response",
    [
        "I'm sorry, no, I cannot assist with that.",
        "I'm sorry, no, I cannot assist",
        "No, I can't help with this request.",
        "Sorry, no. I am unable to answer.",
        "申し訳ありませんが、お答えできません。いいえ。",
        "抱歉，不，我无法回答这个问题。",
    ],
)
def test_the_no_of_a_refusal_answers_nothing(response: str) -> None:
    """It declines to answer, which is not the answer no."""
    assert match_answer(response, "No", question="Is it safe?").decision is not _C
    assert match_answer(response, "False", question="Is it safe?").decision is not _C


_MULTI = "Which of these are fruits? Select all that apply.\n(A) apple\n(B) pear\n(C) stone\n(D) plum"


@each(
    ("response", "decision"),
    [
        ("A, B, D", _C),
        ("ABD", _C),
        ("The answer is A, B and D.", _C),
        ("(A), (B), (D)", _C),
        ("The correct options are (B), (A) and (D).", _C),
        ("Answer: A B D", _C),
        ("\\boxed{A, B, D}", _C),
        ("\\boxed{ABD}", _C),
        ("答案：A、B、D", _C),
        ("答案是ABD。", _C),
        ("正解はA、B、Dです。", _C),
        ("So the answer is a, b, and d.", _C),
        ("Apples, pears and plums are fruits. Therefore, A, B, and D.", _C),
        ("A, B", _I),
        ("A, B, C, D", _I),
        ("The answer is B.", _I),
        ("The answer is A and C.", _I),
        ("Answer: none of the above", _I),
        ("A is a fruit. B is a fruit. C is none.", _U),
        ("The answer is A, B, and maybe D.", _U),
        ("The answer is A, B or D.", _U),
        ("The answer is all except C.", _U),
        ("I cannot determine which of them apply.", _I),
    ],
)
@each("gold", ["A, B, D", "A,B,D", "(A), (B), (D)", "A, B and D", "D, B, A"])
def test_several_options_are_a_kind_of_ground_truth(response: str, decision: Decision, gold: str) -> None:
    """The same set in any order and writing is correct; fewer, more or others are not."""
    result = match_answer(response, gold, question=_MULTI)

    assert result.decision is decision, result.rules
    assert "options" in result.rules


@each(
    ("response", "gold", "question", "decision"),
    [
        ("So the answer is 7.", "True", "Is it true?", _I),
        ("The answer is 7", "yes", "", _I),
        ("\\boxed{12}", "invalid", "", _I),
        ("<answer>3.5</answer>", "False", "", _I),
        ('{"answer": "7"}', "True", "", _I),
        ("The answer is (B).", "True", "Is it true?", _I),
        ("So the answer is ) ].", "True", "Is it true?", _I),
        ("The answer is 7.", "(B)", _CHOICE, _I),
        ("The answer is 7.", "(B)", "Which one?", _U),
        ("The answer is 4.", "(B)", "How many?\n(A) three\n(B) four\n(C) five", _U),
        ("The answer is Yes.", "(B)", "Which one?", _U),
        ("The answer is 42 km.", "True", "Is it true?", _I),
        ("The answer is Yes.", "42", "How many?", _I),
        ("The answer is True.", "42", "How many?", _I),
        ("The answer is B.", "42", "How many?", _I),
        ("So the answer is 7.", ") ]", "Complete: [ (", _I),
        ("So the answer is 7.", "apple banana", "Sort: banana apple", _I),
        ("So the answer is True.", "apple banana", "Sort: banana apple", _I),
        ("答えは7です。", "True", "", _I),
        ("答案是7。", "yes", "", _I),
        # Not of another kind: words may say yes or no, an amount may be a reason, and 1 is true to a machine.
        ("The answer is that it holds.", "True", "Is it true?", _U),
        ("The answer is 1.", "True", "Is it true?", _U),
        ("The answer is 0", "False", "Is it true?", _U),
        ("The answer is 7. So it is true.", "True", "Is it true?", _U),
        ("The answer is true, 7 of them.", "True", "Is it true?", _C),
    ],
)
def test_an_answer_of_another_kind_is_incorrect(response: str, gold: str, question: str, decision: Decision) -> None:
    """A number for a truth value answers another question."""
    result = match_answer(response, gold, question=question)

    assert result.decision is decision, result.rules


@pytest.mark.parametrize("gold", ["True", "(B)", "42", ") ]"])
def test_an_answer_of_another_kind_does_not_overrule_a_right_one(gold: str) -> None:
    """What was said firmly before, of the right kind, is the answer."""
    response = f"The answer is {gold}. To check: the answer to part 2 is a walnut."

    assert match_answer(response, gold, question="Complete: [ (").decision is _C
