"""Golds are repaired and taken apart, and questions are read, before anything is compared."""

import pytest
from tests.cases import each

from mixseek.matching.match import match_answer
from mixseek.matching.open_text.gold import Asked, Kind, prepare_gold, read_question
from mixseek.matching.readings import Decision

_NOTHING_ASKED: frozenset[str] = frozenset()


def _answers(*alternatives: str) -> set[str]:
    return {" ".join(answer.words) for answer in prepare_gold(alternatives, _NOTHING_ASKED).answers}


@pytest.mark.parametrize(
    "alternatives", [("elm | oak",), ("elm/oak", "elm", "oak"), ("elm | oak", "elm", "oak"), ("elm", " oak ", "")]
)
def test_joined_golds_are_taken_apart(alternatives: tuple[str, ...]) -> None:
    """However they were stored, the golds are the parts, and the join is none of them."""
    assert _answers(*alternatives) == {"elm", "oak"}


@pytest.mark.parametrize(
    ("alternatives", "kind"),
    [
        (("May 5, 1891", "1891"), Kind.DATE),
        (("205 steps",), Kind.NUMBER),
        (("Ada Marsh",), Kind.WORDS),
    ],
)
def test_golds_have_a_kind(alternatives: tuple[str, ...], kind: Kind) -> None:
    """The kind says what a wrong answer would look like."""
    assert prepare_gold(alternatives, _NOTHING_ASKED).kind is kind


def test_few_golds_without_a_common_word_are_rivals() -> None:
    """They name different things, so giving one of them may still be wrong."""
    rivals = prepare_gold(("Ada Marsh", "Paul Hale"), _NOTHING_ASKED)
    aliases = prepare_gold(("Ada Marsh", "Dame Ada Marsh", "Marsh"), _NOTHING_ASKED)

    assert rivals.is_disputed
    assert all(answer.is_rival for answer in rivals.answers)
    assert not rivals.names_one_thing
    assert aliases.names_one_thing
    assert not aliases.is_disputed
    assert not any(answer.is_rival for answer in aliases.answers)


def test_a_gold_without_words_gives_no_answers() -> None:
    """Nothing can be found, and nothing is raised."""
    assert prepare_gold(("...", ""), _NOTHING_ASKED).answers == ()


@each(
    ("question", "asked"),
    [
        ("when was the bridge built", Asked.TIME),
        ("In what year was the bridge built?", Asked.TIME),
        ("the bridge was finished when it rained", Asked.TIME),
        ("who built it when the river froze", Asked.OTHER),
        ("how many arches does it have", Asked.QUANTITY),
        ("where is the bridge", Asked.OTHER),
        ("橋はいつ建てられましたか", Asked.TIME),
        ("桥有几个拱", Asked.QUANTITY),
        ("", Asked.OTHER),
    ],
)
def test_the_interrogative_tells_what_is_asked_for(question: str, asked: Asked) -> None:
    """Where there are several, the one that governs the question wins."""
    assert read_question(question).asked is asked


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("what are the three sacred trees", 3),
        ("name the 4 winds", 4),
        ("who are the keepers", 2),
        ("who is the keeper", 1),
    ],
)
def test_a_question_may_want_several_items(question: str, items: int) -> None:
    """A number counts; a plural without one wants more than one."""
    assert items == read_question(question).wanted_items


@pytest.mark.parametrize(
    ("question", "is_dated"),
    [
        ("who is the current keeper", True),
        ("when did the last keeper leave", True),
        ("who built the bridge", False),
    ],
)
def test_some_answers_change_with_time(question: str, is_dated: bool) -> None:
    """An office that changes hands has no lasting answer."""
    assert is_dated == read_question(question).is_dated


@pytest.mark.parametrize(("response", "gold"), [("a", "a"), ("the", "the"), ("*", "*"), (" ? \n", "?")])
def test_a_gold_that_is_nothing_but_an_article_or_a_sign_is_given_by_itself(response: str, gold: str) -> None:
    """Words are compared without articles and signs, and of such a gold nothing would be left."""
    assert match_answer(response, gold).decision is Decision.CORRECT


@pytest.mark.parametrize(("response", "gold"), [("The answer is a.", "a"), ("!", "?"), ("An", "an")])
def test_nobody_says_that_such_a_gold_is_missing_from_a_text_without_words(response: str, gold: str) -> None:
    """Nothing was compared, so nothing can be called incorrect."""
    assert match_answer(response, gold).decision is Decision.UNDECIDED
