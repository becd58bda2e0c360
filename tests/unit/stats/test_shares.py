"""A judge's shares against people: many items of one question are one look at that question."""

import pytest

from mixseek.stats.raters import Confusion, shares_over_questions


def test_items_of_one_question_are_one_look_at_it() -> None:
    """Twenty questions of ten items each that fall together are worth twenty items, not two hundred."""
    together = [Confusion(10, 0, 0, 0)] * 15 + [Confusion(0, 0, 10, 0)] * 5
    alone = [Confusion(1, 0, 0, 0)] * 15 + [Confusion(0, 0, 1, 0)] * 5
    wide, plain = shares_over_questions(together)["sensitivity"], shares_over_questions(alone)["sensitivity"]

    assert wide is not None
    assert plain is not None
    assert wide.high - wide.low == pytest.approx(plain.high - plain.low, rel=0.15)


def test_what_nobody_was_asked_has_no_interval() -> None:
    shares = shares_over_questions([Confusion(3, 0, 1, 0), Confusion(2, 0, 0, 0)])

    assert shares["specificity"] is None
    assert shares["sensitivity"] is not None
