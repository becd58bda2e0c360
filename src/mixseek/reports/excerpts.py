"""How much of a text is shown, and where places in the whole lie in that part."""

from dataclasses import fields
from typing import NamedTuple

from mixseek.domain.judgments import JudgedRow, Span, Status
from mixseek.lazy_dataclass import dataclass

# Characters of one text that are kept for showing; a run may hold thousands of responses of megabytes.
LONGEST_TEXT = 100_000


@dataclass(slots=True, kw_only=True)
class CutRow(JudgedRow):
    """A row that keeps only the end of a long response, where conclusions stand; counts are of characters left out."""

    response_before: int = 0
    question_after: int = 0
    reply_after: int = 0
    b_after: int = 0


def cut_row(row: JudgedRow) -> JudgedRow:
    """The same row where all of its texts are of a length that people read. Spans stay those of the whole response."""
    reply, other = row.raw_reply or "", row.response_b or ""
    if max(len(row.response), len(row.question), len(reply), len(other)) <= LONGEST_TEXT:
        return row
    kept = {column.name: getattr(row, column.name) for column in fields(row)} | {
        "response": row.response[-LONGEST_TEXT:],
        "question": row.question[:LONGEST_TEXT],
        "raw_reply": row.raw_reply and reply[:LONGEST_TEXT],
        "response_b": row.response_b and other[:LONGEST_TEXT],
    }
    before, *after = (max(0, len(text) - LONGEST_TEXT) for text in (row.response, row.question, reply, other))
    return CutRow(**kept, response_before=before, question_after=after[0], reply_after=after[1], b_after=after[2])


_WHOLE = CutRow(id="", judge="", status=Status.VALID, response="")


class Excerpt(NamedTuple):
    """A window of a text; `before` and `after` count the characters that are left out."""

    text: str
    before: int = 0
    after: int = 0


def excerpt_around(text: str, span: Span | None, limit: int) -> Excerpt:
    """At most `limit` characters, with the span in the middle, or the end when there is none: conclusions come last."""
    if len(text) <= limit:
        return Excerpt(text)
    middle = (span.start + span.end) // 2 if span else len(text)
    start = max(0, min(middle - limit // 2, len(text) - limit))
    return Excerpt(text[start : start + limit], start, len(text) - start - limit)


def utf16_offset(text: str, offset: int) -> int:
    """Where a character offset falls for JavaScript, which counts UTF-16 units."""
    return offset if text.isascii() else len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def field_limit(lengths: list[int], budget: int) -> int:
    """The largest length that every text may keep so that all together fit the budget; short texts are never cut."""
    if sum(lengths) <= budget:
        return max(lengths, default=0)
    left = budget
    ordered = sorted(lengths)
    for index, length in enumerate(ordered):
        share = left // (len(ordered) - index)
        if length > share:
            return share
        left -= length
    return max(ordered, default=0)


def left_out(row: JudgedRow) -> CutRow:
    """How much of its texts the row lacks; nothing where it is whole."""
    return row if isinstance(row, CutRow) else _WHOLE


def excerpt_of(row: JudgedRow, span: Span | None, limit: int) -> Excerpt:
    """An excerpt of the whole response, of which a long one is kept in part."""
    if len(row.response) <= limit and not isinstance(row, CutRow):
        return Excerpt(row.response)
    before = left_out(row).response_before
    inside = Span(span.start - before, span.end - before) if span and span.start >= before else None
    excerpt = excerpt_around(row.response, inside, limit)
    return Excerpt(excerpt.text, excerpt.before + before, excerpt.after)


def split_at_span(excerpt: Excerpt, span: Span | None) -> tuple[str, str, str] | None:
    """What stands before the span, in it and behind it; None where no span lies inside the excerpt.

    A span without a character still has a place: what stands behind it is never lost.
    """
    if span is None:
        return None
    start, end = span.start - excerpt.before, span.end - excerpt.before
    if not 0 <= start <= end <= len(excerpt.text):
        return None
    return excerpt.text[:start], excerpt.text[start:end], excerpt.text[end:]
