"""Whatever a report says in these tests can be said in every language, though it is shown in English."""

from collections.abc import Iterator

import pytest
from tests.unit.web.strictness import refuse_untranslated

from mixseek.reports.pages.html import page_environment
from mixseek.text.messages import say
from mixseek.web.languages import LANGUAGES, say_in


def say_in_all(text: str, english: str | None = None, /, **parts: str | int) -> str:
    words = say(text, english, **parts)
    for language in LANGUAGES:
        say_in(language, words)
    return words


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with refuse_untranslated():
        monkeypatch.setitem(page_environment().globals, "say", say_in_all)
        yield
