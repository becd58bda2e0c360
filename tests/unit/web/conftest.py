"""Pages that tests look at refuse what they cannot say in the reader's language."""

from collections.abc import Iterator

import pytest

from mixseek.web import languages


def refuse(text: str, why: str) -> str:
    raise AssertionError(f"{why}: {text!r}")


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(languages, "untranslated", refuse)
        yield
