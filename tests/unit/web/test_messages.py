"""Every message that a page can say has words in every language, under its id, and the table holds nothing else."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.unit.reports.test_calls import ACCOUNT, UNPRICED
from tests.unit.web.said import SOURCES, said_messages

from mixseek.presentation.render.html import chapter_html
from mixseek.reports.accounts import call_sections
from mixseek.web.languages import LANGUAGES, read_messages, say_in, say_in_language, saying, words_of

_PLACES = re.compile(r"\{(\w+)\}")
OTHERS = [language for language in LANGUAGES if language != "en"]


def said_by_id() -> Mapping[str, set[str]]:
    said = defaultdict(set)
    for name, english, _ in said_messages():
        said[name].add(english)
    return said


def test_every_message_has_words_in_every_language_and_every_entry_is_said() -> None:
    said, table = said_by_id(), read_messages()

    assert sorted(set(said) - set(table)) == [], "add them to web/messages.toml"
    assert sorted(set(table) - set(said)) == [], "nobody says these: take them out of web/messages.toml"
    assert {name: sorted(words) for name, words in table.items() if set(words) != set(LANGUAGES)} == {}
    assert [name for name, words in table.items() if not all(words.values())] == []


def test_the_table_shows_the_english_that_is_said() -> None:
    """Who rewords a sentence is sent to its translations; one id is one sentence wherever it is said."""
    table = read_messages()
    stale = {name: english for name, english in said_by_id().items() if english != {table[name]["en"]}}

    assert stale == {}, "the English was reworded: write it into `en`, and look at the other languages"


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_places_of_its_english(language: str) -> None:
    wrong = [
        name
        for name, words in read_messages().items()
        if sorted(_PLACES.findall(words["en"])) != sorted(_PLACES.findall(words[language]))
    ]

    assert wrong == []


def test_templates_and_scripts_say_messages_by_id() -> None:
    """`say("Judge")` would look for the id `Judge`; in a script whatever is said has its words beside it."""
    unnamed = []
    for path in (*SOURCES.rglob("assets/*.j2"), *SOURCES.rglob("assets/*.js")):
        text = path.read_text(encoding="utf-8")
        alone = re.findall(r'\bsay\("[^"]*"\)', text)
        unknown = re.findall(r'\bsay\((?!"[^"]+", ")[^)]*', text) if path.suffix == ".js" else []
        unnamed += [f"{path.name}: {found}" for found in (*alone, *unknown)]

    assert unnamed == []


def test_scripts_get_the_words_of_their_language() -> None:
    assert set(words_of("ja")) == set(words_of("zh")) == set(read_messages())
    assert words_of("en") == {}


@pytest.mark.parametrize("language", OTHERS)
def test_calls_speak_the_reader_s_language(language: str) -> None:
    """Costs that are not known, and what numbers of calls leave unsaid."""
    odd = replace(
        ACCOUNT, judge="odd", unpriced=7, uncounted=3, masked=2, cached_input_tokens=5, finish_reasons={"length": 4}
    )
    accounts = (ACCOUNT, UNPRICED, odd)
    with saying(language):
        page = chapter_html(call_sections(accounts), say_in_language, "calls")

    assert (
        re.findall(
            "unknown for|answered by|ended with|came from|not counted|masked|all judges|[Pp]ercentile|[Tt]ries", page
        )
        == []
    )
    assert "model-x-2026-01-01" in page.replace("<wbr>", "")


def test_text_that_is_no_message_is_refused_in_tests() -> None:
    with pytest.raises(AssertionError, match="no message"):
        say_in("ja", "15 cats of 3 colours")


@pytest.mark.parametrize(
    ("language", "others"),
    [
        ("ja", ("審査者", "判定者", "審査員", "ジャッジ", "評価モデル")),
        ("zh", ("评判", "评估者", "评价者", "裁判", "评委", "评注者")),
    ],
)
def test_who_judges_has_one_name_in_each_language(language: str, others: tuple[str, ...]) -> None:
    """The one that prompts and the protocols' documents have: 評価者 and 评审; who labels has another."""
    said = {name: words[language] for name, words in read_messages().items()}

    assert [name for name, words in said.items() if any(other in words for other in others)] == []
