"""Where the part that decided lies in what is shown of a response."""

from hypothesis import given
from hypothesis import strategies as st

from mixseek.ci.report import excerpt_text
from mixseek.comparison.views.page import show_side
from mixseek.domain.judgments import JudgedRow, Span, Status
from mixseek.presentation.sections import MARKED, Sentence, Words
from mixseek.reports.excerpts import LONGEST_TEXT, Excerpt, cut_row, excerpt_around, split_at_span
from mixseek.reports.run.sample import sample_sections


def judged(response: str, span: Span | None) -> JudgedRow:
    return JudgedRow(id="a", judge="rules", status=Status.VALID, response=response, verdict="x", score=1.0, span=span)


def test_an_empty_span_keeps_the_text_behind_it() -> None:
    assert split_at_span(Excerpt("the answer is 4"), Span(4, 4)) == ("the ", "", "answer is 4")


def test_every_view_of_an_empty_span_shows_the_whole_response() -> None:
    """On a comparison page, in a terminal and for a build server, what stands behind the span is there."""
    row = judged("the answer is 4", Span(4, 4))
    side = show_side("a", "valid", 1.0, [row], 1_000)
    (response,) = [part for section in sample_sections([row]) if section.title == "Response" for part in section.parts]

    assert side.before + side.marked + side.after == row.response
    assert excerpt_text(row) == "the ⟦⟧answer is 4"
    assert isinstance(response, Sentence)
    assert response.text == Words(["the ", ("", MARKED), "answer is 4"])


def test_a_span_outside_of_what_is_shown_marks_nothing() -> None:
    """A mark in the wrong place would be worse than none."""
    row = cut_row(judged("x" * (LONGEST_TEXT + 10), Span(2, 4)))

    assert split_at_span(Excerpt("abc", before=10), Span(2, 4)) is None
    assert split_at_span(Excerpt("abc", before=10), Span(11, 14)) is None
    assert split_at_span(Excerpt("abc"), None) is None
    assert "⟦" not in excerpt_text(row)


@given(st.text(max_size=60), st.integers(0, 60), st.integers(0, 60), st.integers(1, 30))
def test_parts_joined_are_the_excerpt(text: str, start: int, length: int, limit: int) -> None:
    span = Span(start, start + length)
    excerpt = excerpt_around(text, span, limit)
    parts = split_at_span(excerpt, span)

    assert parts is None or "".join(parts) == excerpt.text
    assert parts is None or parts[1] == text[span.start : span.end]
