"""Whether a response stands by its answer: what it denies, drops, doubts or leaves to others is never correct."""

from typing import NamedTuple

from bench.stance import FRAMES, HARMLESS
from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision
from mixseek.matching.stance.words import Stance


class _Answered(NamedTuple):
    """A response that is right, for one kind of ground truth."""

    question: str
    gold: str
    response: str


_WHICH = "Which jar holds the salt?\nOptions:\n(A) the tall one\n(B) the small one\n(C) the cracked one"
_ANSWERED = [
    _Answered(_WHICH, "(B)", "The tall jar is empty and the cracked one leaks. So the answer is (B)."),
    _Answered(_WHICH, "(B)", "**B**"),
    _Answered("A porter makes 3 trips with 14 crates. How many crates?", "42", "3 * 14 = 42.\nThe answer is 42."),
    _Answered("A porter makes 3 trips with 14 crates. How many crates?", "42", r"3 times 14 is \boxed{42}."),
    _Answered("Is the argument deductively valid or invalid?", "valid", "It follows. So the answer is valid."),
    _Answered("Does the lamp tell the truth?", "Yes", "It says what is so. So the answer is Yes."),
    _Answered("Does the lamp tell the truth?", "No", "It says what is not so. So the answer is No."),
    _Answered("What is the capital of Iceland?", "Reykjavik", "The capital of Iceland is Reykjavik."),
    _Answered(
        "What is the capital of Iceland?", "Reykjavik", "Reykjavik is the capital. It lies on a bay in the west."
    ),
    _Answered("Solve for x.", r"\frac{1}{3}", r"Dividing gives $\boxed{\frac{1}{3}}$."),
    _Answered("アイスランドの首都はどこですか。", "レイキャビク", "答えはレイキャビクです。"),
    _Answered("每次搬14个箱子，搬3次，一共多少个？", "42", "3乘14等于42。答案是42。"),
]
_FRAMES = [(frame, answered) for frames in FRAMES.values() for frame in frames for answered in _ANSWERED]
_HARMLESS = [(frame, answered) for frame in HARMLESS for answered in _ANSWERED]


def _decide(response: str, gold: str, question: str = "") -> Decision:
    return match_answer(response, gold, question=question).decision


@each("answered", _ANSWERED)
def test_the_answers_are_right_as_they_stand(answered: _Answered) -> None:
    assert _decide(answered.response, answered.gold, answered.question) is Decision.CORRECT


@each(("frame", "answered"), _FRAMES)
def test_an_answer_that_is_taken_back_doubted_or_left_to_others_is_not_correct(frame: str, answered: _Answered) -> None:
    """Behind, before and around it, in three languages, for every kind of ground truth."""
    framed = frame.replace("{}", answered.response)

    assert _decide(framed, answered.gold, answered.question) is not Decision.CORRECT


_POLAR = [
    _Answered("Does the lamp tell the truth?", "Yes", "It says what is so. So the answer is Yes."),
    _Answered("Does the lamp tell the truth?", "No", "It says what is not so. So the answer is No."),
    _Answered("not False and True is", "True", "not False is True. So the answer is True."),
    _Answered("not True or False is", "False", "not True is False. The expression is **False**."),
    _Answered("Is the argument deductively valid or invalid?", "valid", "It follows. The argument is valid."),
]
_VERDICTS = [
    "{}\n\nAfter checking once more, the answer above proved to be false.",
    "{}\n\nThat answer was found to be incorrect.",
    "{}\n\nGrade: incorrect",
    "{}\n\nReviewer 2: wrong answer",
    "{}\n\n確認したところ、上の答えは間違いであることが判明しました。",
    "{}\n\n批改结果：错误",
    'The claim "{}" is false.',
]


@each(("frame", "answered"), [(frame, answered) for frame in _VERDICTS for answered in _POLAR])
def test_a_verdict_on_a_polarity_leaves_it_open_and_is_no_other_answer(frame: str, answered: _Answered) -> None:
    """ "false" is said of the answer there; a stance takes a "correct" away and never makes an "incorrect"."""
    framed = frame.replace("{}", answered.response)

    assert _decide(framed, answered.gold, answered.question) is Decision.UNDECIDED


@each(
    ("response", "gold", "question"),
    [
        ("The moon is not made of cheese.\n\nVerdict: false", "False", "Is the claim true or false?"),
        ("It does not follow. It is invalid.\n\nVerdict: invalid", "invalid", "Is the argument valid or invalid?"),
        ("We add them up. The answer is B (no).", "B", "Is it?\n(A) yes\n(B) no"),
        ("The expression is **False**.\n\nI have double-checked this answer and it is correct.", "False", ""),
        ("Correct answer: No.", "No", "Is it so?"),
        ("Score: 10/10\n\nThe answer is (B).", "B", _WHICH),
        ("(A) holds 3 ❌\n(C) leaks ❌\nSo the answer is (B).", "B", _WHICH),
    ],
)
def test_what_only_looks_like_a_mark_takes_nothing_away(response: str, gold: str, question: str) -> None:
    assert _decide(response, gold, question) is Decision.CORRECT


@each(
    "frame",
    [
        "{}\n\nI have double-checked this answer and it is correct.",
        "{}\n\nIs that right? Yes, it is.",
        "My first attempt was wrong, so I start over.\n\n{}",
        "A student asked me this question. Here is my answer:\n\n{}",
        "{}\n\n検算しても間違いありません。",
    ],
)
@each(
    ("response", "gold", "question"),
    [
        ("1984", "1984", "When did the mill burn down?"),
        ("Heron Cove, Florida", "Florida", "Where is the mill?"),
        ("Answer $$ 9 $$", "$9$", "Solve for x."),
        ("<think>Let me see.</think>\nFalse", "False", "not True or False is"),
    ],
)
def test_harmless_lines_around_a_short_answer_leave_it_correct(
    frame: str, response: str, gold: str, question: str
) -> None:
    assert _decide(frame.replace("{}", response), gold, question) is Decision.CORRECT


def test_an_assurance_is_the_answer_where_a_polarity_is_asked_for() -> None:
    response = "The claim: 7 is prime.\nIs that correct? Yes, it is."

    assert _decide(response, "Yes", "Is it correct that 7 is prime?") is Decision.CORRECT


@each("frame", ['I disagree with the statement "{}".', 'The claim "{}" is false.'])
@each("response", ["<think>Let me see.</think>\n\nA: 42", '```json\n{"answer": "42"}\n```'])
def test_a_frame_holds_over_reasoning_and_fences(frame: str, response: str) -> None:
    """What is taken out between the quotation mark and the answer is blank, and hid the frame."""
    assert _decide(frame.replace("{}", response), "42", "How many?") is Decision.UNDECIDED


@each(
    ("gold", "response"),
    [
        ("42", "3 * 14 = 42.\nThe answer is 42.\n\nTo be clear, 42 is not the answer."),
        ("Ghent", "The port is Ghent.\n\nBut Ghent is wrong."),
        ("Yes", "So the answer is yes.\n\nYes is not my answer."),
    ],
)
def test_an_answer_that_is_taken_back_by_its_name_is_not_correct(gold: str, response: str) -> None:
    assert _decide(response, gold, "Which one is it?") is not Decision.CORRECT


# A common noun or a name is looked for where a sentence stands before it with more care; numbers and letters are not.
_FIRM = [answered for answered in _ANSWERED if answered.gold not in {"Reykjavik", "レイキャビク", "Yes", "No", "valid"}]


@each(("frame", "answered"), [(frame, answered) for frame, answered in _HARMLESS if answered in _FIRM])
def test_words_that_are_not_about_the_answer_take_nothing_away(frame: str, answered: _Answered) -> None:
    framed = frame.replace("{}", answered.response)

    assert _decide(framed, answered.gold, answered.question) is Decision.CORRECT


@each(
    ("said", "stance"),
    [
        ("The answer is (B).\n\nThe above is not correct.", Stance.DENIED),
        ("The answer is (B).\n\nI take that back.", Stance.TAKEN_BACK),
        ("The answer is (B).\n\nI am not confident in this answer.", Stance.DOUBTED),
        ("My neighbour says:\n\nThe answer is (B).", Stance.ATTRIBUTED),
        ("Imagine that somebody wrote:\n\nThe answer is (B).", Stance.SUPPOSED),
        ("The answer is (B).\n\nThis is not my actual answer.", Stance.DENIED),
        ("The answer is (B).\n\nThe opposite of what I said is true.", Stance.DENIED),
        ("The answer is (B).\n\nThe reasoning collapses.", Stance.DENIED),
        ("What you see below is not the answer. The answer is (B).", Stance.DENIED),
        ("One would be mistaken to say this:\n\nThe answer is (B).", Stance.DENIED),
        ("Tom: The answer is (B).\nAnn: You are mistaken.", Stance.DENIED),
        ("下面这样说是错的:The answer is (B).", Stance.DENIED),
        ("友人は次のように言いました。The answer is (B).", Stance.ATTRIBUTED),
        ("The answer is (B).\n\n以上の答えは正しくありません。", Stance.DENIED),
        ("The answer is (B).\n\n我收回这个答案。", Stance.TAKEN_BACK),
    ],
)
def test_the_rule_says_what_the_response_does_with_its_answer(said: str, stance: Stance) -> None:
    matched = match_answer(said, "(B)", question=_WHICH)

    assert (Decision.UNDECIDED, stance.value) == (matched.decision, matched.rules[-1])
    assert matched.extracted_answer == "B"


@each(
    "response",
    [
        # Two negations, and what is right after all.
        "The answer is (B). That is not wrong.",
        "The answer is (B).\n\nThe above answer is not incorrect.",
        "The answer is (B).\n\nThis answer is wrong. No, I checked again: the answer is correct.",
        # Other subjects.
        "The answer is (B). Option (A) is incorrect, and so is (C).",
        "The answer is (B). The first statement is false.",
        "**B**\n\nA says that the jar is tall. This is wrong.\nC says that it is cracked. This is wrong as well.",
        "The answer is (B). It is not the most elegant puzzle.",
        "The answer is (B). It was invented by a potter who failed at first.",
        # Before the answer, where it is reasoning.
        "Is it (A)? That is wrong, so the answer is (B).",
        "I made a mistake at first. The answer is (B).",
        "A student might say (A). The answer is (B).",
        'A student wrote: "The answer is (A)." This is not right. The answer is (B).',
        "A student says:\n\nThe answer is (A).\n\nThat is wrong.\n\nThe answer is (B).",
        "Which of the following is false?\n\nThe answer is (B).",
        "Let us find the error in the following.\n\nThe answer is (B).",
        # A negation that denies no answer.
        "This is not a trick question. The answer is (B).",
        "The following is not hard.\n\nThe answer is (B).",
        "Note that the answer is not obvious. Below I go through the jars.\n\nThe answer is (B).",
        "The answer is (B). This is not the only answer people give.",
        "The answer is (B). No other answer is correct.",
        "The answer is (B). Nothing I said is wrong.",
        "The answer is (B). My reasoning does not fall apart.",
        # Opposites of something else, or that are not so.
        "The answer is (B). The opposite is true for cold kitchens.",
        "The answer is (B). The opposite is not true.",
        "The answer is (B). On the contrary, (A) is wrong.",
        # What one should not say, and then what is.
        "It would be wrong to say (A). Rather, the answer is (B).",
        "Here is how to break down the problem to find the answer:\n\nThe tall one is empty. The answer is (B).",
        # Headings are nobody who speaks.
        "Answer: (B)\nNote: this is not (A).",
        # Questions about something else, or answered with yes.
        "The answer is (B). Is there another answer? No.",
        "The answer is (B). Is that wrong? No.",
        "The answer is (B). Let me double-check this. It is right.",
        # Somebody who says something is in the text, and a name is quoted.
        "The problem states: one jar holds salt. The answer is (B).",
        "Ann says the tall one is empty: she looked. The answer is (B).",
        # Somebody else is right.
        'A student wrote: "The answer is (B)." The student is right.',
    ],
)
def test_other_subjects_double_negations_and_reasoning_leave_the_answer_as_it_is(response: str) -> None:
    assert _decide(response, "(B)", _WHICH) is Decision.CORRECT


@each(
    "response",
    [
        "以下の手順で解きます。答えは42です。",
        "間違えやすいので注意して、次のように計算します。答えは42です。",
        "次のようにxを箱の数とします。答えは42です。",
        "3人が14個ずつ運ぶとします:3*14=42",
        "問題文によると、彼は3回運びます。答えは42です。",
        "答えは42です。逆に2回なら28です。",
        "根据题意,他一共搬了:3*14=42",
        "为避免出错,下面列式计算。答案是42。",
        "设x表示他搬的箱子数:x=42",
        "假设每次搬14个,列式如下:3*14=42",
        "答案是42。这不是一个难题。",
        "答案是42。与此相反,加法得17。",
    ],
)
def test_a_calculation_without_spaces_is_nobody_elses(response: str) -> None:
    """It names people, supposes quantities and points ahead, and says of no answer that it is wrong."""
    assert _decide(response, "42", "每次搬14个箱子，搬3次，一共多少个？") is Decision.CORRECT


def test_a_statement_that_is_false_is_the_answer_where_that_is_asked() -> None:
    """Of a polarity, the claim and the argument are the matter and not the answer."""
    asked = "Is the argument deductively valid or invalid?"

    assert _decide("The answer is invalid. The argument is not sound.", "invalid", asked) is Decision.CORRECT
    assert _decide("So the answer is no. That is not plausible.", "no", "Is it plausible?") is Decision.CORRECT


_CAPITAL = "What is the capital of Australia?"
_LARGEST = "Which planet is it?"


@each(
    ("response", "gold", "question"),
    [
        ("Everyone thinks Canberra is the capital, but it's really Sydney", "Canberra", _CAPITAL),
        ("Is Canberra the capital? No. Sydney is.", "Canberra", _CAPITAL),
        ("Candidates: Jupiter, Saturn, Neptune.", "Jupiter", _LARGEST),
        ("Candidates: Jupiter, Saturn, Neptune.", "Neptune", _LARGEST),
        ("It could be Jupiter, Saturn or Neptune.", "Saturn", _LARGEST),
        ("You might guess Saturn, but no.", "Saturn", _LARGEST),
        ("A common misconception is that it is Saturn.", "Saturn", _LARGEST),
        ("みんなキャンベラだと思っていますが、実はシドニーです。", "キャンベラ", "オーストラリアの首都はどこですか。"),
        ("很多人以为是堪培拉，其实是悉尼。", "堪培拉", "澳大利亚的首都是哪里？"),
        ("候选：堪培拉、悉尼、墨尔本。", "堪培拉", "澳大利亚的首都是哪里？"),
    ],
)
def test_a_name_that_is_only_mentioned_is_not_given(response: str, gold: str, question: str) -> None:
    assert match_answer(response, gold, question=question, alternatives=[gold]).decision is not Decision.CORRECT


@each(
    "response",
    [
        "Is Canberra the capital? Yes.",
        "Canberra.",
        "Everyone thinks of Sydney, but the capital is Canberra.",
        "In the mythology of bureaucrats the capital is Canberra.",
    ],
)
def test_a_name_that_is_given_after_all_is_correct(response: str) -> None:
    assert match_answer(response, "Canberra", question=_CAPITAL).decision is Decision.CORRECT


@each(
    ("response", "golds", "question"),
    [
        # One of several acceptable answers is acceptable.
        ("Ada Marsh", ["Ada Marsh", "Paul Hale"], "who built it"),
        ("The lighthouse was built by Paul Hale.", ["Ada Marsh", "Paul Hale"], "who built the lighthouse"),
        # What cannot be known in general is answered all the same.
        ("As an AI I do not have access to news. However, Ada Marsh built it.", ["Ada Marsh"], "who built it"),
        # A later sentence that is on the question.
        ("She worked with clay. She loved the harbour.", ["harbour"], "what did she love"),
        # Words that deny are the question's own.
        ("Penrill is the former name of Oakhaven.", ["Oakhaven"], "Penrill is the former name of which town?"),
        # Twice a gold.
        ("Gent or Ghent", ["Ghent", "Gent"], "which port is it"),
        ("The bridge is approximately 12.9 kilometres long.", ["12.9 kilometres"], "how long is the bridge"),
        ("Ada Marsh was mayor for 21 years.", ["Ada Marsh"], "who was mayor for 21 years"),
    ],
)
def test_objections_that_precision_allows_to_drop_are_dropped(response: str, golds: list[str], question: str) -> None:
    assert match_answer(response, golds[0], question=question, alternatives=golds).decision is Decision.CORRECT


@each(
    ("response", "golds", "question"),
    [
        ("Ada Marsh", ["Ada Marsh", "Paul Hale"], "who built the first one"),
        ("The two of them left.", ["two", "six"], "how many came"),
        ("It lies in the south of Penrill.", ["Penrill", "Oakhaven"], "where in Penrill is it"),
    ],
)
def test_golds_that_contradict_each_other_stay_open(response: str, golds: list[str], question: str) -> None:
    assert match_answer(response, golds[0], question=question, alternatives=golds).decision is not Decision.CORRECT
