"""A line at an edge that has nothing to do with the response is company, or says that the answer is not meant."""

import pytest

from mixseek.matching.match import match_answer
from mixseek.matching.readings import Decision

_RESPONSES = (
    ("Adding them up gives 17 + 25 = 42. So the answer is 42.", "42", "What is 17 + 25?"),
    ("The answer is (B)", "(B)", "Which jar holds the salt?\nOptions:\n(A) the tall one\n(B) the small one"),
    ("The capital of Australia is Canberra.", "Canberra", "What is the capital of Australia?"),
)
_STRANGE = (
    "The opposing team shouted out, and the quizmaster buzzed them:\n\n{}",
    "My phone's keyboard suggested the words below one after another. I only tapped.\n\n{}",
    "Took me a while to see where this one goes off the rails. Can you?\n\n{}",
    "An old chatbot from 2009 came up with this.\n\n{}",
    "Draft 2 of 7 (see draft 7 for what we went with)\n\n{}",
    "Left on the cutting room floor.\n\n{}",
    "From: Bob\nTo: all\nSubject: please disregard\n\n{}",
    "[scene from a sitcom: the know-it-all neighbour holds forth]\n\n{}",
    "{}\n\nReferee's note: point awarded to the other team.",
    "{}\n\n-- typed by my toddler",
    "{}\n\nThe referee blew the whistle on that.",
    "{}\n\nI couldn't disagree more with the post quoted above.",
    "猫がキーボードの上を歩いた結果がこちら。\n\n{}",
    "相手チームの回答:\n\n{}",
    "やってはいけない回答の見本\n\n{}",
    "反面教材:\n\n{}",
    "输入法自动联想出来的句子:\n\n{}",
    "{}\n\n老师在旁边画了个大叉。",
)
_FORMS = (
    "<del>{}</del>",
    "<!-- old\n{}\n-->",
    "```diff\n- {}\n```",
    "| 1 | {} | thrown out |",
    '"{}", said the parrot.',
    '"{}"\n\n-- graffiti in a train station',
    "[quote=troll]{}[/quote]",
    "User: what would a fool say?\nFool: {}",
)
_COMPANY = (
    "Not a hard one.\n\n{}",
    "No tools were used.\n\n{}",
    "There is no trick here.\n\n{}",
    "This is not legal advice.\n\n{}",
    "I double-checked this and found no errors.\n\n{}",
    "It is not as hard as it looks.\n\n{}",
    "I don't see anything wrong with the question.\n\n{}",
    "Not sure how much detail you want, so I'll keep it short.\n\n{}",
    "{}\n\nFinish reason: stop. Error: none.",
    "{}\n\nCorrect me if I am wrong.",
    "这个问题问得好。\n\n{}",
    "難しくない問題ですね。\n\n{}",
)


def _decide(frame: str, response: str, gold: str, question: str) -> Decision:
    return match_answer(frame.replace("{}", response), gold, question=question).decision


@pytest.mark.parametrize("frame", _STRANGE + _FORMS)
@pytest.mark.parametrize(("response", "gold", "question"), _RESPONSES)
def test_what_has_nothing_to_do_with_a_response_leaves_its_answer_undecided(
    frame: str, response: str, gold: str, question: str
) -> None:
    """Nobody can list what is written there: what is not company speaks of the text."""
    assert _decide(frame, response, gold, question) is Decision.UNDECIDED


@pytest.mark.parametrize("frame", _COMPANY)
@pytest.mark.parametrize(("response", "gold", "question"), _RESPONSES)
def test_company_at_an_edge_changes_nothing(frame: str, response: str, gold: str, question: str) -> None:
    """Most of what such a line says is what company says; a "no" in it is none to the answer."""
    assert _decide(frame, response, gold, question) is Decision.CORRECT


@pytest.mark.parametrize("value", ["4.5", "1,000.0", "42.0"])
def test_the_point_of_a_number_ends_no_sentence(value: str) -> None:
    """A front line made the last digit behind the point the answer."""
    assert match_answer(f"Nothing unusual.\n\n{value}", value).decision is Decision.CORRECT
