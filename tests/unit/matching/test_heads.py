"""What stands over a response and speaks ill of it as a text takes its answer away; what only stands there does not."""

import pytest

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_RESPONSES = (
    ("Adding them up gives 17 + 25 = 42. So the answer is 42.", "42", "What is 17 + 25?"),
    ("The answer is (B)", "(B)", "Which jar holds the salt?\nOptions:\n(A) the tall one\n(B) the small one"),
    ("The capital of Australia is Canberra.", "Canberra", "What is the capital of Australia?"),
)
_NOTES = (
    "The jury has since thrown out what you are about to read.\n\n{}",
    "Recalled by its author on Friday.\n\n{}",
    "Please pay no heed to the lines below, they were printed by accident.\n\n{}",
    "(The comment underneath was hidden by a moderator.)\n\n{}",
    "REFUSED MANUSCRIPT\n\n{}",
    "What comes next is not mine.\n---\n{}\n---",
    "This edit was rolled back at once.\n\n{}",
    "Editor's note: the entry reproduced here was struck from the book.\n\n{}",
    "This one never made it into print.\n\n{}",
    "My toddler typed all of this.\n\n{}",
    "I did not write a single line of the following.\n\n{}",
    "以下文字系误发，请忽略。\n\n{}",
    "这是我表弟拿我电脑敲的，与我无关。\n\n{}",
    "编者按：下文已被撤下。\n\n{}",
    "次の文章は妹が勝手に打ち込んだものです。\n\n{}",
    "編集部より：下記の投稿は掲載を取りやめました。\n\n{}",
)
_HEADERS = (
    "Status: withdrawn\nAuthor: anonymous\n\n{}",
    "[label: negative] [split: dev]\n{}",
    "From: press@paper.example\nSubject: Retraction of our letter\n\n{}",
    'Revert "add reply"\n\nThis reverts commit 12ab34cd.\n\n{}',
    "quality=poor | verdict=wrong\n\n{}",
    "# kind: distractor\n# accepted: no\n{}",
    "| field | value |\n|---|---|\n| accepted | no |\n\n{}",
    '{{"label": "incorrect"}}\n{}',
    "chosen: false\nrejected: true\ntext: {}",
    "@@ deleted lines @@\n{}",
    "【作废】\n{}",
    "[标签：负例] [质量：差]\n{}",
    "审核结果：不通过\n提交人：匿名\n\n{}",
    "【取り下げ済み】\n{}",
    "審査結果：不採用\n\n{}",
)
_LETTERS = (
    "Dear chairs,\n\nwe hereby withdraw our entry, which is attached.\n\nAnnex:\n{}",
    "教务处：\n\n本人撤回附件中的答卷，内容不再有效。\n\n附件：\n{}",
    "拝啓\n先日お送りした下記の解答を撤回いたします。\n敬具\n\n記\n{}",
)
_CONTRARY = (
    "Had I trusted the leaflet, I would have written: {}",
    "In a world without checks, my paper would have read: {}",
    "I never sent this: {}",
    "要是我真写了“{}”，那肯定得零分。",
    "もし見直しをしていなかったら、こう書いていたでしょう：{}",
    "もし私が「{}」と書いていたなら、笑われたでしょう。",
)
_CLOSINGS = (
    "{}\n\nhm, I had yesterday's sheet open. leaving this one blank.",
    "{}\n\nNo answer from me here, I was reading the other page.",
    "{}\n\nCount me out on this one.",
    "{}\n\n搞混了，刚才做的是别的卷子，这题我交白卷。",
    "{}\n\nすみません、隣のページを見ていました。この問いは無回答とします。",
)
_HARMLESS = (
    "Here is my reply, with the working below.\n\n{}",
    "Subject: Re: homework\nFrom: Ann\n\n{}",
    "Status: final\nErrors: none\n\n{}",
    "[id: 17] [source: textbook] [lang: en]\n{}",
    "Note: the error in the question has been fixed, so this is the final version.\n\n{}",
    "Let me avoid the usual mistake here.\n\n{}",
    "My earlier attempt was wrong, this is the corrected one.\n\n{}",
    "I double-checked this before sending, since my calculator had a bug last week.\n\n{}",
    "Nothing fancy below, just the solution.\n\n{}",
    "My brother and I worked on this together.\n\n{}",
    "【回答】\n{}",
    "老师您好，以下是我的解答。\n\n{}",
    "以下回答已经过检查，没有错误。\n\n{}",
    "先生、お待たせしました。下記の通り提出いたします。\n\n{}",
    "{}\n\n其余各项均不符合题意。",
    "{}\n\n除此之外的说法都不正确。",
    "{}\n\n剩下的几种情况都可以排除。",
    "{}\n\nそれ以外の候補はいずれも当てはまりません。",
    "{}\n\n残りの文はいずれも正しくありません。",
    "{}\n\n此致\n敬礼\n\n第三学习小组\n2024年5月6日",
    "{}\n\n(Translated from German, meaning unchanged.)",
)


def _decide(response: str, gold: str, question: str) -> Decision:
    return match_answer(response, gold, question=question).decision


@pytest.mark.parametrize(("response", "gold", "question"), _RESPONSES)
@pytest.mark.parametrize("frame", _NOTES + _HEADERS + _LETTERS + _CONTRARY + _CLOSINGS)
def test_what_speaks_ill_of_the_whole_text_leaves_its_answer_undecided(
    frame: str, response: str, gold: str, question: str
) -> None:
    assert _decide(response, gold, question) is Decision.CORRECT
    assert _decide(frame.format(response), gold, question) is Decision.UNDECIDED


@pytest.mark.parametrize(("response", "gold", "question"), _RESPONSES)
@pytest.mark.parametrize("frame", _HARMLESS)
def test_harmless_company_around_a_response_changes_nothing(
    frame: str, response: str, gold: str, question: str
) -> None:
    assert _decide(frame.format(response), gold, question) is Decision.CORRECT


@pytest.mark.parametrize(
    "response",
    [
        "To identify the error, let's compare both.\n\nThe answer is (B)",
        "Premise one: false\nPremise two: true\n\nThe answer is (B)",
        "Option A: incorrect\nOption B: correct\n\nThe answer is (B)",
    ],
)
def test_a_first_line_at_work_on_the_question_is_no_note(response: str) -> None:
    assert (
        _decide(response, "(B)", "Which option names the error of the translation?\n(A) names\n(B) numbers")
        is Decision.CORRECT
    )


def test_a_remark_on_the_rest_that_prefers_it_is_still_heard() -> None:
    response = "The answer is (B)\n\n其他选项才是对的。上面是我瞎写的。"

    assert _decide(response, "(B)", "") is Decision.UNDECIDED


def test_a_note_that_is_answered_before_the_answer_takes_nothing_from_it() -> None:
    response = "The entry below was rejected.\n\nThe answer is (A).\n\nThat is wrong.\n\nThe answer is (B)."

    assert _decide(response, "(B)", "") is Decision.CORRECT
