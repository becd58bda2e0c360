"""A value in a sentence that commits to nothing is not an answer: conditions, suppositions, denials, questions."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from tests.cases import each

from mixseek.matching.discounted import is_ruled_out
from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision


class _Asked(NamedTuple):
    question: str
    right: str
    wrong: str


_ENGLISH = [
    _Asked(
        "Which jar holds the salt?\nOptions:\n(A) the tall one\n(B) the small one\n(C) the cracked one", "(A)", "(B)"
    ),
    _Asked("A porter carries 14 crates on each of 3 trips. How many crates does he carry?", "42", "17"),
    _Asked("Is the argument deductively valid or invalid?", "valid", "invalid"),
    _Asked('Is the following sentence plausible? "The goalkeeper bowled a maiden over."', "yes", "no"),
    _Asked("What is the capital of Iceland?", "Reykjavik", "Akureyri"),
]
_JAPANESE = [
    _Asked("塩が入っている瓶はどれですか。\n選択肢:\n(A) 高い瓶\n(B) 小さい瓶\n(C) 割れた瓶", "(A)", "(B)"),
    _Asked("14個の箱を3回運びます。全部で何個ですか。", "42", "17"),
    _Asked("アイスランドの首都はどこですか。", "レイキャビク", "アークレイリ"),
]
_CHINESE = [
    _Asked("哪个罐子里是盐？\n选项:\n(A) 高的\n(B) 小的\n(C) 裂的", "(A)", "(B)"),
    _Asked("每次搬14个箱子，搬3次，一共多少个？", "42", "17"),
    _Asked("冰岛的首都是哪里？", "雷克雅未克", "阿克雷里"),
]
_OPENING = "Let us go through the facts in turn, as they were told to us by the keeper of the house last night.\n"

_OPEN = [
    # conditions
    "So the answer is {} only if the lid is shut.",
    "The answer is {} if and only if the lid is shut.",
    "The answer is {} unless the lid is shut.",
    "So the answer is {}, provided that the lid is shut.",
    "The answer is {} if the lid is shut.",
    "Answer: {} only if the lid is shut.",
    "Therefore, {} only if the lid is shut.",
    "{} only if the lid is shut.",
    "The answer would be {} if the lid were shut.",
    "{} would be the answer if the lid were shut.",
    "{} is the answer only if the lid is shut.",
    "If the lid is shut then the answer is {}.",
    "If the lid were shut, the answer would be {}.",
    "Unless the lid is shut, the answer is {}.",
    "Had the lid been shut, the answer would have been {}.",
    "The answer might be {}, but it depends on the lid.",
    "In case the lid is shut, the answer is {}.",
    "Should the lid be shut, the answer is {}.",
    "As long as the lid is shut, the answer is {}.",
    "The answer is {} on condition that the lid is shut.",
    # denials of the whole clause
    "It is not the case that the answer is {}.",
    "I doubt that the answer is {}.",
    "I don't think the answer is {}.",
    "We cannot conclude that the answer is {}.",
    "There is no evidence that the answer is {}.",
    "It would be a mistake to say the answer is {}.",
    "The answer is anything but {}.",
    "The answer is {}, which is wrong.",
    "The claim that the answer is {} is false.",
    # what others say, what is asked, what is supposed
    "One might say the answer is {}.",
    "You might think that the answer is {}.",
    "Some people believe the answer is {}.",
    "My neighbour claims the answer is {}.",
    "I used to think the answer was {}.",
    "It would be tempting to say the answer is {}.",
    "Let's say the answer is {}.",
    "Suppose the answer is {}.",
    "Let us assume that the answer is {}.",
    "Is the answer {}?",
    "Could the answer be {}?",
    "Nobody knows whether the answer is {}.",
    "Whether the answer is {} depends on the lid.",
    "We want to show that the answer is {}.",
]
_OPEN_JAPANESE = [
    "もしふたが閉まっていれば、答えは{}です。",
    "ふたが閉まっている場合に限り、答えは{}です。",
    "仮に答えが{}だとします。",
    "答えが{}とは限りません。",
    "答えは{}だと言う人もいます。",
    "答えは{}でしょうか。",
    "答えが{}であるはずがない。",
    "ふたが閉まっているなら、答えは{}です。",
    "答えが{}であるとは言えません。",
]
_OPEN_CHINESE = [
    "如果盖子关着，那么答案就是{}。",
    "只有盖子关着时，答案才是{}。",
    "除非盖子关着，否则答案是{}。",
    "假设答案是{}。",
    "有人会说答案是{}。",
    "不能说答案是{}。",
    "答案是{}吗？",
    "难道答案是{}？",
    "我不认为答案是{}。",
    "只要盖子关着，答案就是{}。",
    "答案是{}，前提是盖子关着。",
]


def _each(
    templates: list[str], asked: list[_Asked], openings: tuple[str, ...] = ("",)
) -> Iterator[tuple[str, _Asked, str]]:
    return ((template, about, opening) for template in templates for about in asked for opening in openings)


@each(
    ("template", "asked", "opening"),
    [
        *_each(_OPEN, _ENGLISH, ("", _OPENING)),
        *_each(_OPEN_JAPANESE, _JAPANESE),
        *_each(_OPEN_CHINESE, _CHINESE),
    ],
)
def test_a_value_that_is_only_named_is_neither_correct_nor_proof_of_the_opposite(
    template: str, asked: _Asked, opening: str
) -> None:
    """The right value named is undecided, the wrong one never correct."""
    named = match_answer(opening + template.format(asked.right), asked.right, question=asked.question)
    other = match_answer(opening + template.format(asked.wrong), asked.right, question=asked.question)

    assert named.decision is Decision.UNDECIDED, named.rules
    assert other.decision is not Decision.CORRECT, other.rules


_DENIED = [
    "The answer is not {}.",
    "So the answer cannot be {}.",
    "{} is not the answer.",
    "The answer is never {}.",
    "The answer is far from {}.",
]


@each(
    ("template", "asked", "opening"),
    [
        *_each(_DENIED, [asked for asked in _ENGLISH if asked.right not in {"valid", "yes"}]),
        *_each(["答えは{}ではありません。", "よって、答えは{}ではない。"], _JAPANESE),
        *_each(["答案不是{}。", "答案并非{}。", "答案不可能是{}。", "答案不一定是{}。", "{}不是答案。"], _CHINESE),
    ],
)
def test_a_denied_value_is_not_correct(template: str, asked: _Asked, opening: str) -> None:
    """Of two polarities a denial names the other one; of any other kind it gives none."""
    assert match_answer(opening + template.format(asked.right), asked.right, question=asked.question).decision is (
        Decision.UNDECIDED
    )


_GIVEN = [
    "Do look closely: the answer is {}, not what the keeper said.",
    "Even if the lid is shut, the answer is {}.",
    "Whether the lid is shut or not, the answer is {}.",
    "The answer is {}, even if the lid is shut.",
    "The answer is {} because if the lid is shut, nothing is seen.",
    "The answer is {}, but if the lid is shut nobody sees it.",
    "There is no doubt that the answer is {}.",
    "Since the lid is not shut, the answer is {}.",
    "It is not shut, which means that the answer is {}.",
    "If I remember correctly, the answer is {}.",
    "The answer is {}, if I am not mistaken.",
    "If I had to choose, I would say the answer is {}.",
    "If we look closely, the answer is {}.",
    "She had the lid, so the answer is {}.",
    "Suppose the lid is shut. That cannot be. So the answer is {}.",
    "The answer would be {}.",
    "The answer is {}, as long as I read it well.",
    "We can say that the answer is {}.",
    "The answer is {}. Let me know if you have any questions.",
    "Is the lid shut? No. The answer is {}.",
]


@each(
    ("template", "asked", "opening"),
    [
        *_each(_GIVEN, _ENGLISH[:4], ("", _OPENING)),
        *_each(["この場合、答えは{}です。", "閉まっていないので、答えは{}です。"], _JAPANESE[:2]),
        *_each(["因为没有关上，所以答案是{}。", "即使关着，答案也是{}。", "在这种情况下，答案是{}。"], _CHINESE[:2]),
    ],
)
def test_words_of_doubt_about_something_else_do_not_take_an_answer_back(
    template: str, asked: _Asked, opening: str
) -> None:
    """A plain answer stays decided both ways."""
    right = match_answer(opening + template.format(asked.right), asked.right, question=asked.question)
    wrong = match_answer(opening + template.format(asked.wrong), asked.right, question=asked.question)

    assert right.decision is Decision.CORRECT, right.rules
    assert wrong.decision is Decision.INCORRECT, wrong.rules


@pytest.mark.parametrize("asked", _ENGLISH[1:4])
def test_what_is_stated_behind_a_supposition_counts(asked: _Asked) -> None:
    """The supposition is passed over; the conclusion is read."""
    response = f"If the lid were shut, the answer would be {asked.wrong}. It is open, so {asked.right}."

    assert match_answer(response, asked.right, question=asked.question).decision is Decision.CORRECT


@pytest.mark.parametrize("asked", _ENGLISH[:4])
def test_an_answer_and_another_one_under_a_condition_are_left_open(asked: _Asked) -> None:
    """Which of the two was meant is for a judge to say."""
    response = f"The answer is {asked.right}. If it rains, the answer is {asked.wrong}."

    for gold in (asked.right, asked.wrong):
        assert match_answer(response, gold, question=asked.question).decision is Decision.UNDECIDED


@pytest.mark.parametrize("asked", _ENGLISH[:4])
def test_an_answer_stands_beside_another_one_whose_condition_is_not_met(asked: _Asked) -> None:
    """ "Only if" and "unless" say what would have to be; they take nothing back."""
    for behind in ("The answer is {} only if there were two lids.", "The answer would be {} if there were two lids."):
        response = f"The answer is {asked.right}. {behind.format(asked.wrong)}"

        assert match_answer(response, asked.right, question=asked.question).decision is Decision.CORRECT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so the answer is 7.", False),
        ("so the answer is 7 only if the switch is on.", True),
        ("answer: 7 if so", False),
    ],
)
def test_only_a_condition_that_is_not_met_rules_a_value_out(text: str, expected: bool) -> None:
    """A plain "if" leaves it open whether it is met."""
    assert is_ruled_out(text, text.index("7"), len(text)) is expected


def test_a_condition_of_the_question_is_no_condition_of_the_answer() -> None:
    """What was supposed by the one who asked is repeated by the one who answers."""
    question = "What happens if all the bees in the valley vanish?\nOptions:\n(A) fruit grows scarce\n(B) rivers dry up"

    for response in (
        "If all the bees in the valley vanish, the answer is (A).",
        "The answer is (A) if all the bees vanish.",
        "If all bees vanish, fruit grows scarce.",
    ):
        assert match_answer(response, "(A)", question=question).decision is Decision.CORRECT, response


def test_a_condition_in_the_text_of_an_option_is_part_of_the_option() -> None:
    """The letter is followed by what it stands for."""
    question = "What did she ask?\nOptions:\n(A) whether the shop was open\n(B) if the baker could lend a cart"

    assert match_answer("The answer is (B) if the baker could lend a cart.", "(B)", question=question).decision is (
        Decision.CORRECT
    )


def test_a_number_may_be_told_with_what_it_takes() -> None:
    """A sentence that says what the number is of may say under which plan; "42 if …" alone may not."""
    question = _ENGLISH[1].question

    assert match_answer("#### Result\nHe moves 42 crates if he goes thrice.", "42", question=question).decision is (
        Decision.CORRECT
    )
    assert match_answer("42 if he goes again.", "42", question=question).decision is Decision.UNDECIDED


def test_the_right_value_under_a_condition_is_not_outvoted_by_another_number() -> None:
    """A number of the explanation is no answer in place of the one that was left open."""
    response = "The answer is 42 only if the lid is shut.\n\nEach trip takes 9 minutes."

    assert match_answer(response, "42", question=_ENGLISH[1].question).decision is Decision.UNDECIDED


def test_a_field_or_a_box_is_given_whatever_is_said_around_it() -> None:
    """What a response marks as its answer is its answer."""
    question = _ENGLISH[0].question

    for response in (
        '{"answer": "A", "note": "only if the lid is shut"}',
        "<answer>A</answer> if the lid is shut",
        r"If the lid is shut, then \boxed{A}.",
    ):
        assert match_answer(response, "(A)", question=question).decision is Decision.CORRECT, response
