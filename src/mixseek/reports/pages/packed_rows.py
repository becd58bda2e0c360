"""All judgments inside a file: compressed blocks, and an index of what they can be filtered and sorted by.

A browser opens blocks as they are needed: a hundred thousand judgments open as fast as ten.
"""

import base64
import gzip
import json
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import orjson

from mixseek.analysis.run.build import natural_key
from mixseek.domain.judgments import JudgedRow
from mixseek.domain.response_states import UNFINISHED
from mixseek.reports.excerpts import cut_row
from mixseek.reports.pages.payload import numbering, rows_payload
from mixseek.reports.pages.shown_steps import text_lengths

# Characters of judged text in one file: about 60 MB of it compressed. Beyond that a file is nothing to send.
TEXT_BUDGET = 200_000_000
# Of one block: so many judgments, or so many characters. Small enough to open in a moment, for one row of it too.
_BLOCK_ROWS, _BLOCK_CHARACTERS = 200, 250_000
# What a browser unpacks is as large at any level; 6 takes twice the time for a sixth less, and 4 is no smaller.
_LEVEL = 3
# What a formula or a piece of code begins with: only then does a page need what draws them.
_FORM = re.compile(r"\\[(\[]|\$\S[^$\n]*\$|\\begin\{|\\boxed\{|```\w")
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
        # Whether a text holds a formula or code; known when all blocks are made.
        self.has_forms = False

    def __iter__(self) -> Iterator[str]:
        block: list[JudgedRow] = []
        characters = 0
        # A sample is never torn: what its other judges say stands in the same block.
        for _, judged in groupby(map(cut_row, self._rows), key=attrgetter("id")):
            judgments = list(judged)
            block += judgments
            characters += len(judgments[0].response) + sum(len(row.raw_reply or "") for row in judgments)
            characters += sum(text_lengths(judgments[0]))
            if len(block) >= _BLOCK_ROWS or characters >= _BLOCK_CHARACTERS:
                yield self._pack(block)
                block, characters = [], 0
        if block:
            yield self._pack(block)

    def _pack(self, rows: Sequence[JudgedRow]) -> str:
        payload = rows_payload(rows, max(len(rows) * self._share, 1))
        documents = payload["rows"]
        samples = [payload["samples"][row["sample"]] for row in documents]
        self.has_forms = self.has_forms or any(map(_has_form, (*payload["samples"], *documents)))
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


# What a sample or a judgment of it says, which a page can show as it was meant.
_TEXTS = ("response", "response_b", "question", "truth", "answer", "comment", "reason", "notes")


def _has_form(document: Mapping[str, Any]) -> bool:
    texts = [document.get(name) for name in _TEXTS]
    texts += [*document.get("alternatives", ()), *(mark[-1] for mark in document.get("marks", ()))]
    texts += [quote.get("reason") for quote in document.get("quotes", ())]
    return any(_FORM.search(text) for text in texts if text)


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

    Column by column: nineteen values made for each row would take longer than to compress it.
    """
    yield "status", [row["status"] for row in rows]
    yield "verdict", [row.get("verdict") if row["status"] == "valid" else None for row in rows]
    yield "judge", [row["judge"] for row in rows]
    named = {"task": "task", "target": "model", "target_b": "model_b", "variant": "variant", "question": "qid"}
    for name, key in named.items():
        yield name, [sample.get(key) for sample in samples]
    yield "control", ["yes" if "control" in row else "no" for row in rows]
    yield "error", [row.get("error") for row in rows]
    yield "unverified", ["yes" if "unverified" in row else "no" for row in rows]
    is_assessed = [row["status"] == "valid" and "reasoning" in row for row in rows]
    yield "reasoning", [str(row["reasoning"]) if known else None for row, known in zip(rows, is_assessed, strict=True)]
    yield "repeat", [str(row["repeat"]) if "repeat" in row else "1" for row in rows]
    yield "score", [row["score"] for row in rows]
    for state in UNFINISHED:
        yield state.value, ["yes" if state.value in sample else "no" for sample in samples]
    yield "gate", [tuple([gate for gate, _ in row["gates"]]) if "gates" in row else () for row in rows]
    yield "quote", [_quote_problems(row["quotes"]) if "quotes" in row else () for row in rows]
    for name, key in (("warning", "warnings"), ("rule", "rules")):
        yield name, [row.get(key, ()) for row in rows]
    for name in ("people", "panel", "differ"):
        yield name, [sample.get(name) for sample in samples]
    yield "wrong", [row.get("wrong") for row in rows]
    yield "against", [row.get("against", ()) for row in rows]
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
