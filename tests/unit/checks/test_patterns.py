"""Patterns of others: refused where they could take for ever, and quick on whatever they are tried on."""

import re
import time

import pytest

from mixseek.checks.patterns import FEWEST_CHARACTERS, LONGEST_PATTERN, safe_pattern
from mixseek.errors import ConfigurationError

ENDLESS = [
    *(r"(a+)+b", r"(a*)*b", r"(a|a)*b", r"(aa|aaa)*b", r"(?:a?a?)*b", r"(a?){60}b", r"(x+x+)+y", r"(.*)*,"),
    *(r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(?:(?:a{0,20}){0,20})b", r"(?=(a+)+b)", r".*.*.*.*x", r"(?:(\w|_)+)+!"),
]
USUAL = [
    *(r"^\d+$", r"\s+$", r"x.*y", r"(foo|bar)+", r"(\d+,)*\d+", r"\b[A-Z]{2,5}\b", r"(?i)refund(ed)?", r".*a.*b"),
    *(r"(?:\d++,)*+\d+", r"(\w+)\s+\1", r"a{0,200}b{0,200}c", r"(a|b)*c", r"\d{4}-\d{2}-\d{2}", r"残りは\d+冊"),
]
UNITS = ("a", " ", "1", "x", "ab", "a,", "A", "1,", "a_")


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_pattern_that_could_take_for_ever_is_refused_with_what_to_do(pattern: str) -> None:
    with pytest.raises(ConfigurationError, match="possessive"):
        safe_pattern(pattern)


@pytest.mark.parametrize("pattern", USUAL)
def test_a_usual_pattern_is_tried_as_python_tries_it(pattern: str) -> None:
    safe = safe_pattern(pattern)
    texts = ["", "1,2,3", "a b b", "REFUNDED 2024-05-01", "残りは4冊です", "foo bar", "xaaby c", "ac"]

    assert safe.most_characters >= FEWEST_CHARACTERS
    assert [safe.search(text) for text in texts] == [re.search(pattern, text) is not None for text in texts]


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", USUAL)
def test_no_text_up_to_the_bound_hangs(pattern: str) -> None:
    """A minute is what a hung pattern would not come back in; the worst here takes seconds on a busy machine."""
    safe = safe_pattern(pattern)
    for unit in UNITS:
        text = (unit * safe.most_characters)[: safe.most_characters - 1] + "!"
        began = time.thread_time()
        safe.search(text)

        assert time.thread_time() - began < 60


def test_a_longer_text_is_not_tried_at_all() -> None:
    safe = safe_pattern(r"\s+$")

    assert safe.search(" " * safe.most_characters) is True
    assert safe.search(" " * (safe.most_characters + 1)) is None


@pytest.mark.parametrize(
    ("pattern", "complaint"), [("(", "no regular expression"), ("a" * (LONGEST_PATTERN + 1), "at most")]
)
def test_what_is_no_pattern_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        safe_pattern(pattern)
