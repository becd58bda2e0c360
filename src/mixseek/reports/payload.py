"""The judgments inside a page: each sample once, each text within a budget, spans in the page's own units.

A report holds all of them, in compressed blocks that the browser opens as they are needed, and an index of what they
can be filtered and sorted by: a hundred thousand judgments open as fast as ten.
"""

import base64
import gzip
import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import compress, groupby
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from mixseek.analysis.build import natural_key
from mixseek.analysis.details import Quote, ScoredDetail, read_detail
from mixseek.analysis.model import tone_of
from mixseek.domain.judgments import JudgedRow, Span, Status
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.pair_words import orders_text
from mixseek.text import phrases

# How much of a text is shown, and where places in the whole lie in that part.

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


# Characters of judged text in one file: about 60 MB of it compressed. Beyond that a file is nothing to send.
TEXT_BUDGET = 200_000_000
# A judge that quotes the whole response must not make the file twice as large.
_QUOTE_LIMIT = 1_000
# Rows that agree in these are of one sample.
_SAMPLE_KEY = attrgetter(
    "id", "task_name", "target_model", "ground_truth", "ground_truth_alternatives", "question", "response",
    "question_id", "prompt_variant", "response_b", "target_b",
)  # fmt: skip


def rows_payload(rows: Sequence[JudgedRow], budget: int) -> dict[str, Any]:
    """`samples` and `rows`; a row names its sample by position, so a panel of judges repeats no text."""
    details = [read_detail(row.fields) for row in rows]
    places = list(map(numbering().__getitem__, map(_SAMPLE_KEY, rows)))
    firsts: list[JudgedRow] = []
    # The first row of a sample with a span decides which part of a cut response is kept.
    spans: dict[int, Span] = {}
    for row, detail, place in zip(rows, details, places, strict=True):
        if place == len(firsts):
            firsts.append(row)
        if place not in spans and (span := _first_span(row, detail)):
            spans[place] = span
    lengths = [len(text) for row in firsts for text in (row.question, row.response, row.response_b or "")]
    lengths += [len(row.raw_reply or "") for row in rows]
    limit = field_limit(lengths, budget)
    responses = [excerpt_of(row, spans.get(place), limit) for place, row in enumerate(firsts)]
    return {
        "samples": [_sample(row, excerpt, limit) for row, excerpt in zip(firsts, responses, strict=True)],
        "rows": [
            _row(row, detail, place, responses[place], limit)
            for row, detail, place in zip(rows, details, places, strict=True)
        ],
    }


def numbering() -> defaultdict[Any, int]:
    """The number of each thing that is asked for, in the order of asking."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def _sample(row: JudgedRow, response: Excerpt, limit: int) -> dict[str, Any]:
    question, cut = row.question[:limit], left_out(row)
    return _without_empty(
        {
            "id": row.id,
            "task": row.task_name,
            "model": row.target_model,
            "qid": row.question_id,
            "variant": row.prompt_variant,
            "question": question,
            "question_cut": len(row.question) - len(question) + cut.question_after,
            "response": response.text,
            "before": response.before,
            "after": response.after,
            "truth": row.ground_truth,
            "alternatives": row.ground_truth_alternatives,
            "model_b": row.target_b,
            "response_b": row.response_b[:limit] if row.response_b else row.response_b,
            "b_cut": max(0, len(row.response_b or "") - limit) + cut.b_after,
        }
    )


def _row(row: JudgedRow, detail: ScoredDetail | None, sample: int, response: Excerpt, limit: int) -> dict[str, Any]:
    reply = row.raw_reply[:limit] if row.raw_reply else None
    return {
        "sample": sample,
        "judge": row.judge,
        "status": row.status.value,
        "tone": tone_of(row.status, row.score).value,
        "score": row.score,  # outside of what may be left out: a score of 0 is a score
        **_without_empty(
            {
                "verdict": row.verdict,
                "answer": row.extracted_answer,
                "span": _page_span(row.span, response),
                "rules": row.rules,
                "error": row.error_type,
                "flags": [[finding.flag.value, finding.detail] for finding in row.flags],
                "comment": row.comment,
                "reason": row.reason,
                "reply": reply,
                "reply_cut": len(row.raw_reply or "") - len(reply or "") + left_out(row).reply_after,
                "control": row.is_control,
                "reasoning": row.reasoning_score,
                "unverified": row.is_unverified,
                "warnings": row.warnings,
                "repeat": row.take if row.take > 1 else None,
                "reasks": row.ask - 1,
                "orders": orders_text(row.fields) if row.response_b is not None else None,
            }
        ),
        **(_detail(detail, response) if detail else {}),
    }


def _detail(detail: ScoredDetail, response: Excerpt) -> dict[str, Any]:
    """Marks and quotes; `total` outside of what may be left out, because nought is a total."""
    return {
        **({} if detail.total is None else {"total": detail.total}),
        "marks": [[mark.dimension, mark.score, mark.maximum, mark.reason] for mark in detail.marks],
        **_without_empty(
            {
                "maximum": detail.maximum,
                "gates": [list(gate) for gate in detail.gates],
                "quotes": [_quote(quote, response) for quote in detail.quotes],
                "confidence": detail.confidence,
                "type": detail.task_type,
                "inferred": detail.inferred_task_type,
                "family": detail.same_family,
                "notes": detail.notes,
            }
        ),
    }


def _quote(quote: Quote, response: Excerpt) -> dict[str, Any]:
    spans = [_page_span(span, response) for span in quote.spans]
    return {
        "dimension": quote.dimension,
        "text": phrases.shortened(quote.text, _QUOTE_LIMIT),
        **_without_empty(
            {
                "reason": phrases.shortened(quote.reason, _QUOTE_LIMIT),
                "stage": quote.stage,
                "problem": quote.problem,
                "spans": [span for span in spans if span is not None],
            }
        ),
    }


def _first_span(row: JudgedRow, detail: ScoredDetail | None) -> Span | None:
    """What a cut response is kept around: the extracted answer, or the first quote."""
    quotes = detail.quotes if detail else ()
    return row.span or next((span for quote in quotes for span in quote.spans), None)


def _page_span(span: Span | None, response: Excerpt) -> list[int] | None:
    """None when the span lies outside the text: a highlight in the wrong place would be worse than none."""
    if span is None:
        return None
    start, end = span.start - response.before, span.end - response.before
    if not 0 <= start <= end <= len(response.text):
        return None
    return [utf16_offset(response.text, start), utf16_offset(response.text, end)]


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """Half of the file would be nulls otherwise."""
    return dict(compress(fields.items(), fields.values()))


# All judgments inside a file.

# Of one block: so many judgments, or so many characters. Small enough to open in a moment, for one row of it too.
_BLOCK_ROWS, _BLOCK_CHARACTERS = 200, 250_000
# What a browser unpacks is as large at any level; 6 takes twice the time for a sixth less, and 4 is no smaller.
_LEVEL = 3
# A control with more values is no help: a search is.
_MOST_CHOICES = 300


class PackedRows:
    """Blocks of judgments as texts for script elements, in the order in which the rows come; then their index.

    Only one block is held at a time; of each judgment the index keeps its id and four bytes a column.
    """

    def __init__(self, rows: Iterable[JudgedRow], total: int, budget: int = TEXT_BUDGET) -> None:
        self._rows, self._share = rows, budget // max(total, 1)
        self._columns: dict[str, _Column] = defaultdict(_Column)
        self._ids: list[str] = []
        self._firsts: list[int] = []
        self._critical: list[int] = []

    def __iter__(self) -> Iterator[str]:
        block: list[JudgedRow] = []
        characters = 0
        # A sample is never torn: what its other judges say stands in the same block.
        for _, judged in groupby(map(cut_row, self._rows), key=attrgetter("id")):
            judgments = list(judged)
            block += judgments
            characters += len(judgments[0].response) + sum(len(row.raw_reply or "") for row in judgments)
            if len(block) >= _BLOCK_ROWS or characters >= _BLOCK_CHARACTERS:
                yield self._pack(block)
                block, characters = [], 0
        if block:
            yield self._pack(block)

    def _pack(self, rows: Sequence[JudgedRow]) -> str:
        payload = rows_payload(rows, max(len(rows) * self._share, 1))
        documents = payload["rows"]
        samples = [payload["samples"][row["sample"]] for row in documents]
        self._firsts.append(len(self._ids))
        self._critical += [place for place, row in enumerate(documents, len(self._ids)) if "gates" in row]
        self._ids += [sample["id"] for sample in samples]
        for name, values in _facets(documents, samples):
            self._columns[name].extend(values)
        return pack_json(payload)

    def index(self) -> str:
        """What the list is filtered and sorted by; complete when all blocks are made."""
        return pack_json(
            {
                "ids": self._ids,
                "firsts": self._firsts,
                "critical": self._critical,
                "columns": {name: column.document() for name, column in self._columns.items()},
            }
        )


class _Column:
    """One thing that judgments differ in: the different values that there are, and which of them each row has."""

    def __init__(self) -> None:
        self._values = numbering()
        self._codes = array("I")

    def extend(self, values: Iterable[Any]) -> None:
        """Each row adds what it has: nothing, one value, or several."""
        self._codes.extend(map(self._values.__getitem__, values))

    def document(self) -> dict[str, Any]:
        """A column with what a control offers: the most frequent values, in the order in which a reader looks."""
        counts: Counter[str] = Counter()
        held = Counter(self._codes)
        listed = [value if isinstance(value, tuple) else () if value is None else (value,) for value in self._values]
        for code, values in enumerate(listed):
            for value in dict.fromkeys(values):
                counts[str(value)] += held[code]
        choices = sorted(counts.most_common(_MOST_CHOICES), key=lambda choice: natural_key(choice[0]))
        return {"values": listed, "codes": self._codes.tolist(), "choices": choices}


def _facets(rows: Sequence[Mapping[str, Any]], samples: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Any]]]:
    """Values by the names that pages filter with; a score only sorts. A judgment may have several of the last five.

    Column by column: eighteen values made for each row would take longer than to compress it.
    """
    yield "status", [row["status"] for row in rows]
    yield "verdict", [row.get("verdict") if row["status"] == "valid" else None for row in rows]
    yield "judge", [row["judge"] for row in rows]
    for name, key in (("task", "task"), ("target", "model"), ("variant", "variant"), ("question", "qid")):
        yield name, [sample.get(key) for sample in samples]
    yield "control", ["yes" if "control" in row else "no" for row in rows]
    yield "error", [row.get("error") for row in rows]
    yield "unverified", ["yes" if "unverified" in row else "no" for row in rows]
    is_assessed = [row["status"] == "valid" and "reasoning" in row for row in rows]
    yield "reasoning", [str(row["reasoning"]) if known else None for row, known in zip(rows, is_assessed, strict=True)]
    yield "repeat", [str(row["repeat"]) if "repeat" in row else "1" for row in rows]
    yield "score", [row["score"] for row in rows]
    yield "gate", [tuple([gate for gate, _ in row["gates"]]) if "gates" in row else () for row in rows]
    yield "quote", [_quote_problems(row["quotes"]) if "quotes" in row else () for row in rows]
    for name, key in (("warning", "warnings"), ("rule", "rules")):
        yield name, [row.get(key, ()) for row in rows]
    yield "flag", [tuple([flag for flag, _ in row["flags"]]) if "flags" in row else () for row in rows]


def _quote_problems(quotes: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(sorted({quote["problem"] for quote in quotes if "problem" in quote}))


def pack_json(document: Any) -> str:
    """Compressed, in letters that mean nothing to HTML. Halves of characters have an escape in JSON, and no bytes."""
    try:
        content = orjson.dumps(document)
    except TypeError:
        content = json.dumps(document, separators=(",", ":")).encode()
    # Without a time of writing: the same run is the same file.
    return base64.b64encode(gzip.compress(content, _LEVEL, mtime=0)).decode()


def unpack_json(text: str) -> Any:
    """What `pack_json` packed."""
    return json.loads(gzip.decompress(base64.b64decode(text)))
