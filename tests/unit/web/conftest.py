"""Pages that tests look at refuse what they cannot say in the reader's language."""

from collections.abc import Iterator

import pytest
from tests.unit.web.strictness import refuse_untranslated


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with refuse_untranslated():
        yield
