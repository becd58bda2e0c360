"""Properties that are looked at closely where nobody waits for it."""

from collections.abc import Callable
from typing import Any, TypeVar

import hypothesis
import pytest

Test = TypeVar("Test", bound=Callable[..., None])
# What `make test` uses; `make test-thorough` and `make test-all` name another.
QUICK = "mixseek"


def many(count: int, **more: Any) -> Callable[[Test], Test]:
    """So many examples in `make test-thorough`, which CI runs; in `make test` as many as of every other property."""
    usual = hypothesis.settings.default
    assert usual is not None
    is_quick = hypothesis.settings.get_current_profile_name() == QUICK
    settings = hypothesis.settings(max_examples=usual.max_examples if is_quick else count, **more)

    def decorate(test: Test) -> Test:
        marked: Test = pytest.mark.many(settings(test))
        return marked

    return decorate
