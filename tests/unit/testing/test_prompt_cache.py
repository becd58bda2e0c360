"""The mock's cache of beginnings: from 1,024 tokens on, in steps of 128, and never of another model."""

from mixseek.testing.prompt_cache import PromptCache
from mixseek.testing.prompts import Prompt


def prompt(system: str, user: str, model: str = "m") -> Prompt:
    return Prompt(model, (("system", system), ("user", user)))


def test_a_beginning_is_cached_when_it_comes_again() -> None:
    """What differs behind it ends the cached part at the step before."""
    cache = PromptCache()
    instructions = "x" * 4 * 1_300

    assert cache.take(prompt(instructions, "first")) == 0
    assert cache.take(prompt(instructions, "second")) == 1_280
    assert cache.take(prompt(instructions, "second", model="n")) == 0


def test_a_short_beginning_is_never_cached() -> None:
    """Below 1,024 tokens nothing is told, however often it comes."""
    cache = PromptCache()

    assert [cache.take(prompt("y" * 4 * 1_000, "same")) for _ in range(3)] == [0, 0, 0]
