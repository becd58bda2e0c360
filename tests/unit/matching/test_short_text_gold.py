"""Golds are repaired and taken apart, and questions are read, before anything is compared."""

import pytest

from mixseek.matching.short_text_gold import Form, Kind, prepare_gold
from mixseek.matching.short_text_question import Asked, read_question

_NOTHING_ASKED: frozenset[str] = frozenset()


def _forms(*alternatives: str) -> dict[str, Form]:
    gold = prepare_gold(alternatives, _NOTHING_ASKED)
    return {" ".join(answer.words): answer.form for answer in gold.answers}


@pytest.mark.parametrize(
    ("gold", "core"),
    [
        ("subdural haematoma (SDH)", "sdh"),
        ("subdural haematoma (SDH)", "subdural haematoma"),
        ("(Robert) Marsh", "marsh"),
        ("Hale, Robert", "robert hale"),
        ("in Penrill", "penrill"),
        ("President Robert Hale", "robert hale"),
        ("Secretariat, who won the cup", "secretariat"),
        ("heather or gorse", "gorse"),
    ],
)
def test_the_core_of_a_gold_is_a_form_of_it(gold: str, core: str) -> None:
    """What an aside, a title, a preposition or an inversion adds may be left out by a response."""
    assert _forms(gold)[core] is Form.CORE


@pytest.mark.parametrize(("gold", "too_little"), [("Queen of Denmark", "denmark"), ("King John", "john")])
def test_a_title_that_makes_the_name_stays(gold: str, too_little: str) -> None:
    """Without it the rest would name something else."""
    assert too_little not in _forms(gold)


@pytest.mark.parametrize(
    "alternatives", [("elm | oak",), ("elm/oak", "elm", "oak"), ("elm | oak", "elm", "oak"), ("elm", " oak ", "")]
)
def test_joined_golds_are_taken_apart(alternatives: tuple[str, ...]) -> None:
    """However they were stored, the golds are the parts, and the join is none of them."""
    assert set(_forms(*alternatives)) == {"elm", "oak"}


@pytest.mark.parametrize(
    ("alternatives", "kind"),
    [
        (("May 5, 1891", "1891"), Kind.DATE),
        (("205 steps",), Kind.NUMBER),
        (("Ada Marsh",), Kind.NAME),
        (("a kind of boat",), Kind.WORDS),
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
    assert not aliases.is_disputed
    assert not any(answer.is_rival for answer in aliases.answers)


def test_a_gold_without_words_gives_no_answers() -> None:
    """Nothing can be found, and nothing is raised."""
    assert prepare_gold(("...", ""), _NOTHING_ASKED).answers == ()


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("who built the bridge", Asked.PERSON),
        ("The bridge was built by which architect?", Asked.PERSON),
        ("Which famous architect built the bridge?", Asked.PERSON),
        ("when was the bridge built", Asked.TIME),
        ("In what year was the bridge built?", Asked.TIME),
        ("where is the bridge", Asked.PLACE),
        ("In which town was the painter born?", Asked.PLACE),
        ("what was the city formerly known as", Asked.THING),
        ("how many arches does it have", Asked.QUANTITY),
        ("When it was built, which river did it cross?", Asked.PLACE),
        ("what is it made of", Asked.THING),
        ("why was it built", Asked.REASON),
        ("the bridge over the river", Asked.OTHER),
        ("誰が建てましたか", Asked.PERSON),
        ("桥在哪里", Asked.PLACE),
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
        ("who won the northern book prize", True),
        ("who won the northern book prize in 1931", False),
        ("who built the bridge", False),
    ],
)
def test_some_answers_change_with_time(question: str, is_dated: bool) -> None:
    """An office that changes hands and a prize that is given every year have no lasting answer."""
    assert is_dated == read_question(question).is_dated
