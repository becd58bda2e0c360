"""Words are folded so that spellings of one thing are equal, and every word can say where it stands."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.matching.open_text.dates import dates_in
from mixseek.matching.open_text.words import Words, is_unspaced, relation_keys, stem


@each(
    ("text", "expected"),
    [
        ("The Café's owner", ["cafe", "owner"]),
        ("O’Brien didn't", ["obrien", "didn't"]),
        ("byJane Doe1", ["by", "jane", "doe", "#1"]),
        ("seen in 2011⁶", ["seen", "in", "#2011"]),
        ("twenty-one, one hundred and five", ["#21", "#105"]),
        ("2.5 million", ["#2500000"]),
        ("nineteen fifty", ["#19", "#50"]),
        ("1,500.50 and 007", ["#1500.5", "and", "#7"]),
        ("the 21st and the twenty-first", ["#21", "and", "#21"]),
        ("Henry VIII, George V", ["henry", "#8", "george", "#5"]),
        ("mix and I", ["mix", "and", "i"]),
        ("U.S. and US, not us", ["usa", "and", "usa", "not", "us"]),
        ("the United States of America", ["usa"]),
        ("Great Britain", ["uk"]),
        ("the Second World War, WW2, World War II", ["ww2", "ww2", "ww2"]),
        ("first things first", ["#1", "things", "#1"]),
        ("$5.5m and £3k", ["#5500000", "and", "#3000"]),
        ("12 kilometres", ["#12", "km"]),
        ("Ærøskøbing Straße ﬁve", ["aeroskobing", "strasse", "#5"]),
        ("東京都はブラジル", ["東", "京", "都", "は", "ブラジル"]),
        ("ジョン・スミス", ["ジョンスミス"]),
        ("A blood group A", ["blood", "group", "a"]),
        ("", []),
    ],
)
def test_spellings_fold_to_one(text: str, expected: list[str]) -> None:
    """Case, accents, possessives, numerals, phrases and units, each as the rules compare them."""
    assert expected == Words(text).text


@given(st.text(max_size=120))
def test_every_word_stands_inside_its_text(text: str) -> None:
    """Words come in order, and do not overlap."""
    words = Words(text)
    spans = [words.span(index, index) for index in range(len(words))]

    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    assert all(isinstance(words.gap(index), str) for index in range(len(words)))


@pytest.mark.parametrize(
    ("word", "expected"),
    [("rocks", "rock"), ("cities", "city"), ("boxes", "box"), ("glass", "glass"), ("#10", "#10"), ("gas", "gas")],
)
def test_plurals_lose_their_ending(word: str, expected: str) -> None:
    """Words that only look like plurals keep it."""
    assert expected == stem(word)


@pytest.mark.parametrize(
    ("one", "other", "are_related"),
    [
        ("colombia", "colombian", True),
        ("macadam", "macadamise", True),
        ("dinamite", "dynamite", True),
        ("jinx", "jinks", True),
        ("marsh", "hale", False),
        ("#5", "#7", False),
        ("the", "the", False),
    ],
)
def test_related_words_have_a_key_in_common(one: str, other: str, are_related: bool) -> None:
    """Derived and misspelt words share their beginning or their end; function words never count."""
    assert are_related == (not relation_keys([one]).isdisjoint(relation_keys([other])))


@each(
    ("text", "expected"),
    [
        ("April 17, 1982", [(1982, 4, 17)]),
        ("17 April 1982", [(1982, 4, 17)]),
        ("the 17th of April, 1982", [(1982, 4, 17)]),
        ("Apr. 1982", [(1982, 4, None)]),
        ("13 March 624", [(624, 3, 13)]),
        ("on April 17", [(None, 4, 17)]),
        ("in April", [(None, 4, None)]),
        ("in 1982 and 1990", [(1982, None, None), (1990, None, None)]),
        ("May 5, 18912", [(1891, 5, 5)]),
        ("1982年4月17日", [(1982, 4, 17)]),
        ("1982年に", [(1982, None, None)]),
        ("4月17日", [(None, 4, 17)]),
        ("you may march", []),
        ("Jan Smith", []),
        ("1,066 soldiers", []),
        ("20,000 people", []),
    ],
)
def test_dates_are_read_as_far_as_they_go(text: str, expected: list[tuple[int | None, int | None, int | None]]) -> None:
    """A field that is not named stays open; verbs, names and counts are no dates."""
    assert expected == [(date.year, date.month, date.day) for date in dates_in(Words(text))]


@pytest.mark.parametrize(
    ("gold", "response", "accepts", "contradicts"),
    [
        ("1982", "April 17, 1982", True, False),
        ("April 17, 1982", "1982", False, False),
        ("April 17, 1982", "April 18, 1982", False, True),
        ("April 1982", "May 1982", False, True),
        ("April 17, 1982", "17 April 1982", True, False),
        ("1982", "1983", False, True),
    ],
)
def test_dates_compare_by_granularity(gold: str, response: str, accepts: bool, contradicts: bool) -> None:
    """A coarse gold takes a finer date; two days of one year contradict each other."""
    wanted, told = (next(iter(dates_in(Words(text)))) for text in (gold, response))

    assert (accepts, contradicts) == (wanted.accepts(told), wanted.contradicts(told))


@pytest.mark.parametrize(
    ("word", "expected"), [("京", True), ("は", True), ("서", True), ("ブラジル", False), ("a", False)]
)
def test_scripts_without_spaces_are_known(word: str, expected: bool) -> None:
    """A run of katakana is one word with an end; kanji, hiragana and hangul have none."""
    assert expected == is_unspaced(word)
