"""A remark behind or over an answer that takes it away without naming it, by classes; and harmless company."""

import pytest

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_RESPONSES = (
    ("Adding them up gives 17 + 25 = 42. So the answer is 42.", "42", "What is 17 + 25?"),
    ("The answer is (B)", "(B)", "Which jar holds the salt?\nOptions:\n(A) the tall one\n(B) the small one"),
    ("The capital of Australia is Canberra.", "Canberra", "What is the capital of Australia?"),
)
_DISMISSED = (
    "Never mind.",
    "Nope, never mind all that.",
    "Undo that.",
    "Throw that out.",
    "Bin the above.",
    "Kindly ignore the figure I gave.",
    "Pretend I never said that.",
    "I spoke too soon.",
    "Let me take that back.",
    "Back to the drawing board.",
    "Let's start over.",
    "Hmm, I am having second thoughts.",
    "I wouldn't bet on it.",
    "Or maybe not.",
    "No, that's not it.",
    "The real answer is something else.",
    "The correct answer is different.",
    "忘掉我刚才说的话。",
    "别管我刚才的回答了。",
    "当我什么都没说过。",
    "上面写的都划掉吧。",
    "正确答案不是这个。",
    "今のはなしで。",
    "上の内容は削除してください。",
    "さっきの答えは気にしないでください。",
    "上記は無効です。",
    "そんなはずはない。",
    "正解は別にあります。",
    "間違っているかもしれません。",
    "単なる推測です。",
)
_CHECKS_THAT_FAIL = (
    "Plugging it back in, the two sides do not agree.",
    "Substituting back, the left side does not equal the right side.",
    "Verification: the result does not match.",
    "Verification failed.",
    "The check fails.",
    "This does not survive a check.",
    "However, back-substitution fails.",
    "But when I verify it, the numbers don't add up.",
    "Recomputing gives something else.",
    "A quick check shows that this cannot be right.",
    "If we put this in, the equation is not satisfied.",
    "My check did not come out.",
    "A check by hand yields another value.",
    "Both sides come out differently.",
    "The cross-check disagrees with this.",
    "Trying it out, the conditions are not met.",
    "代入检验,两边不相等。",
    "验证失败。",
    "检验未通过。",
    "代入后出现矛盾。",
    "再算一遍,得到的是另一个结果。",
    "代入して確かめると、両辺が一致しません。",
    "検算は失敗しました。",
    "代入すると矛盾が生じます。",
    "左辺と右辺が異なります。",
    "チェックを通りませんでした。",
)
_COMMENTED = (
    "The tutor has crossed this out.",
    "A reviewer noted that this does not hold.",
    "My colleague found a mistake in this answer.",
    "The editor says this needs correction.",
    "The examiner gave no credit for this.",
    "The professor rejected this answer.",
    "An expert has refuted this.",
    "The auditor found that it does not hold up.",
    "A peer reviewer objected to this conclusion.",
    "Someone in the comments noted this is off.",
    "My friend thinks this is wrong.",
    "Our reviewers were not convinced.",
    "The checker said no.",
    "老师打了个叉。",
    "教授否定了这个答案。",
    "阅卷人没有给分。",
    "参考答案与此不同。",
    "教授に否定されました。",
    "先生にバツをつけられました。",
    "模範解答とは異なります。",
    "テスターから結果が誤っていると報告があった。",
)
_OVER_IT = (
    "The grader gave zero points for this:",
    "次は誤った解答の例です。",
    "もし仮に次のとおりだとすると：",
    "据说：",
)
_HARMLESS = (
    "I checked this twice and both sides agree.",
    "Verification: it matches.",
    "The check does not fail.",
    "The check passes.",
    "I double-checked and found no errors.",
    "My reviewer confirmed it.",
    "The teacher would accept this.",
    "A common mistake is to forget the last step.",
    "Many people get this wrong.",
    "No other option fits.",
    "No step was skipped.",
    "The teacher's hint was not needed.",
    "Note: brute force would not work here.",
    "Never mind the long explanation, hope it helps!",
    "The reviewers found no mistake in this.",
    "希望对你有帮助!",
    "老师也同意这个答案。",
    "検算しても問題ありませんでした。",
    "先生もこの答えに同意しています。",
)


def _decide(text: str, gold: str, question: str) -> Decision:
    return match_answer(text, gold, question=question).decision


@pytest.mark.parametrize("remark", [*_DISMISSED, *_CHECKS_THAT_FAIL, *_COMMENTED])
def test_a_remark_that_takes_the_answer_away_leaves_no_correct(remark: str) -> None:
    """Whatever the answer is and wherever its line ends, nobody stands by it any longer."""
    for response, gold, question in _RESPONSES:
        assert _decide(response, gold, question) is Decision.CORRECT
        assert _decide(f"{response}\n\n{remark}", gold, question) is not Decision.CORRECT


@pytest.mark.parametrize(
    "remark", ["Never mind.", "Just kidding.", "The check fails, though.", "My reviewer disagrees."]
)
def test_a_remark_in_the_line_of_the_answer_counts_as_well(remark: str) -> None:
    """A remark needs no line of its own where it speaks of nothing but the answer."""
    for response, gold, question in _RESPONSES:
        assert _decide(f"{response} {remark}", gold, question) is not Decision.CORRECT


@pytest.mark.parametrize("opening", _OVER_IT)
def test_a_remark_over_the_answer_hands_it_to_somebody_else(opening: str) -> None:
    """A line before a response says who speaks in it, or what became of it."""
    for response, gold, question in _RESPONSES:
        assert _decide(f"{opening}\n\n{response}", gold, question) is not Decision.CORRECT


@pytest.mark.parametrize("company", _HARMLESS)
def test_company_that_takes_nothing_away_changes_no_verdict(company: str) -> None:
    """A check that comes out, a reader who agrees, and what others get wrong."""
    response, gold, question = _RESPONSES[0]

    assert _decide(f"{response}\n\n{company}", gold, question) is Decision.CORRECT


@pytest.mark.parametrize(
    "failing", ["This method does not work for odd n.", "The first approach fails the check, so we try another."]
)
def test_what_fails_in_the_middle_of_reasoning_denies_no_later_answer(failing: str) -> None:
    """A sentence before the answer is about what came before it."""
    response, gold, question = _RESPONSES[0]

    assert _decide(f"{failing} {response}", gold, question) is Decision.CORRECT


def test_a_remark_behind_the_end_of_a_text_is_about_its_answer() -> None:
    """Behind an end token another conversation may follow; one line that takes the answer back is about this one."""
    assert _decide("So the answer is 42.</s>", "42", "") is Decision.CORRECT
    assert _decide("So the answer is 42.</s>\n\nThat is wrong.", "42", "") is not Decision.CORRECT
    assert _decide("So the answer is 42.</s>\n\nWhat is the capital of France? Paris.", "42", "") is Decision.CORRECT


def test_a_frame_over_reasoning_that_nothing_opens_holds_for_the_answer_behind_it() -> None:
    """Only the end of the reasoning is tagged: what stands over it is about all of it."""
    reasoned = "Let me add the two numbers.\n</think>\n\nThe answer is 42."

    assert _decide(reasoned, "42", "") is Decision.CORRECT
    assert _decide(f"Imagine someone answered like this:\n\n{reasoned}", "42", "") is not Decision.CORRECT


def test_a_verdict_of_a_grader_is_no_polarity() -> None:
    """A "no" that somebody else says of an answer is not the answer, even where "no" is the right one."""
    question = "Is 91 a prime number?"

    assert _decide("No.\n\nThe checker said no.", "No", question) is not Decision.CORRECT
    assert (
        _decide("So the answer is False.\n\nA referee pointed out that the answer is false.", "False", "")
        is not Decision.CORRECT
    )
