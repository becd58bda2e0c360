"""Journal lines in two parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.storage.test_records import ANY_OUTCOME, SAMPLES

from mixseek.domain.judgments import Outcome, Reply, Undecided
from mixseek.domain.samples import Sample
from mixseek.storage.line_parts import line_head, line_rest, settle_lines
from mixseek.storage.records import encode_outcome, encode_reply


@given(
    sample=SAMPLES,
    outcome=ANY_OUTCOME,
    text=st.text(),
    judge=st.text(st.characters(exclude_categories=["Cs"])),
    take=st.integers(1, 3),
)
def test_both_parts_together_are_the_line(sample: Sample, outcome: Outcome, text: str, judge: str, take: int) -> None:
    """Byte for byte, or nothing is settled at all."""
    key = sample.key()
    reply = Reply(text, judge, 1, {"cached": True, "take": take})

    parts = settle_lines(sample, key, reply, outcome, take)

    if parts is not None:
        whole = (encode_reply(key, reply), encode_outcome(sample, key, judge, outcome, take))
        for kind, rest, line in zip(("reply", "outcome"), parts, whole, strict=True):
            start, end = line_head(kind, judge)
            assert start + key.encode() + end + rest == line
            assert rest.count(b"\n") == 1


def test_a_line_of_somebody_else_has_no_rest() -> None:
    """Whatever stands behind names of the same length."""
    line = encode_reply("ab" * 16, Reply("x", "one"))

    assert line_rest(line, "reply", "ab" * 16, "one") is not None
    assert line_rest(line, "reply", "ab" * 16, "two") is None
    assert line_rest(line, "reply", "cd" * 16, "one") is None


def test_a_judge_whom_utf_8_cannot_name_is_not_settled() -> None:
    """Such a line keeps the name beside it."""
    sample = Sample("a", "r")

    assert settle_lines(sample, sample.key(), Reply("x", "j\ud800"), Undecided("cannot tell"), 1) is None


@pytest.mark.parametrize("text", ["half \ud800", '{"exact":1}'])
def test_a_line_that_may_name_itself_twice_is_not_settled(text: str) -> None:
    """What UTF-8 cannot hold is kept beside the line with all its names; what only looks like it is no loss."""
    sample = Sample("a", "r")
    outcome = settle_lines(sample, sample.key(), Reply(text, "j"), Undecided("cannot tell"), 1)

    assert (outcome is None) == ("\ud800" in text)
