"""Pages that refuse what they cannot say in the reader's language, where a user would be shown English."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mixseek.web import languages


def refuse(text: str, why: str) -> str:
    raise AssertionError(f"{why}: {text!r}")


@contextmanager
def refuse_untranslated() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(languages, "untranslated", refuse)
        yield
