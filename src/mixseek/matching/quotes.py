"""Whether a quote that a judge gives as evidence stands in the judged response, and where.

    exact ── folded (case, width, radicals, spaces, quotation marks, emphasis)
          ── segments around an ellipsis, in order and near ── fuzzy (punctuation, articles)
          └─ nowhere: from the question, from the rubric, or simply not found

A stage forgives how something is written and never what it says: no number, no negation, no other word, and no quote
that ends where the response goes on to turn it round. Time is linear in the texts; nothing raises, whatever they hold.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from mixseek.domain.judgments import Span
from mixseek.matching.quotes_edges import turns_at_an_edge
from mixseek.matching.quotes_folding import (
    CJK,
    FoldedText,
    fold_quotable,
    is_inside_number,
    is_inside_word,
    without_sentence_marks,
)
from mixseek.matching.quotes_fuzzy import find_fuzzily, has_negation

# A longer "quote" is a copy of the response; it is only looked for to the letter.
_MAX_FOLDED_LENGTH = 20_000
_MAX_SEGMENTS = 16
_MAX_OCCURRENCES = 50

# In visible characters, a CJK one counting two: below, a quote could stand anywhere and proves nothing. "是的" and
# "Yes" are enough; "no", "42" and "OK" only as a whole word that the response holds once; a single character never.
_MIN_WEIGHT = 3
# Marks alone ("...", "**") are everywhere; a row of them, such as a table's rule, shows at least a format.
_MIN_MARKS = 5
# Up to here a quote must be whole words: "art" is not quoted from "smart".
_WHOLE_WORDS_WEIGHT = 8
# Pieces beside an ellipsis prove less: anything can be stitched from single words.
_MIN_SEGMENT_WEIGHT = 4
# What an ellipsis may leave out, in characters, a CJK one counting two: a sentence or two. Two sentences from two pages
# are two quotes.
_MAX_GAP = 400

# None of these begins with a repeat: a row of blanks would be looked through once for each of them.
_ELLIPSIS = re.compile(r"[\[(（【][ ]?(?:\.{3,}+|…++|⋯++)[ ]?[\])）】]|\.{3,}+|…++|⋯++|。{3,}+|・{3,}+")
# Fragments set side by side: by a bar, by lines, or by the numbers that they have in the response.
_LIST = re.compile(r"(?<=\s)[|｜](?=\s)|\n|\s(?=\d{1,2}[.、)）．][ ]?[^\s\d])")
# What assistants put behind a quote by themselves: "[cite: 3]", "【5†source】".
_CITATION = re.compile(r"\[cite[^\]\n]{0,40}\]|【\d{1,3}[^】\n]{0,40}】")
_LABEL = re.compile(
    r"\A\W{0,3}(?:(?:direct )?quot(?:e|ation)|evidence|excerpt|引用|原文|证据|證據|引文|摘录|証拠|抜粋)\W{0,3}[:：]\s*",
    re.IGNORECASE,
)
# Escaped once too often: a line break that was written down as a backslash and an n.
_ESCAPED = re.compile(r"\\[nrt\"]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_CJK_CHARACTER = re.compile(f"[{CJK}]")
# A line break alone is no end: PDF text breaks lines anywhere.
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|\n[^\S\n]*+\n")


class QuoteStage(StrEnum):
    """Where the search ended: the later, the more was forgiven."""

    EXACT = "exact"
    FOLDED = "folded"
    SEGMENTS = "segments"
    FUZZY = "fuzzy"


class QuoteProblem(StrEnum):
    """Why a quote proves nothing."""

    NOT_FOUND = "not_found"
    FROM_QUESTION = "from_question"
    FROM_RUBRIC = "from_rubric"
    TOO_SHORT = "too_short"


@dataclass(frozen=True, slots=True)
class QuoteFinding:
    """Spans in the original response and the stage that found them; or no span and the problem."""

    spans: tuple[Span, ...] = ()
    stage: QuoteStage | None = None
    problem: QuoteProblem | None = None
    similarity: float = 0.0  # 1.0 unless fuzzy; 0.0 when not found


class QuoteLocator:
    """Locates many quotes in one response, which is folded once."""

    def __init__(self, response: str, question: str = "", rubric: str = "") -> None:
        self._response = _Haystack(response)
        self._others = (
            (QuoteProblem.FROM_QUESTION, _Haystack(question)),
            (QuoteProblem.FROM_RUBRIC, _Haystack(rubric)),
        )
        self._known: dict[str, QuoteFinding] = {}

    def locate(self, quote: str) -> QuoteFinding:
        """Never raises. A quote that the response holds is its own, also where it echoes the question."""
        known = self._known.get(quote)
        if known is None:
            known = self._known[quote] = self._locate(quote)
        return known

    def _locate(self, quote: str) -> QuoteFinding:
        if not weight_of(quote):
            return QuoteFinding(problem=QuoteProblem.TOO_SHORT)
        found = self._response.find(quote)
        if found is not None:
            if self._response.is_proof(quote, found.spans):
                return found
            return QuoteFinding(problem=QuoteProblem.TOO_SHORT)
        for problem, text in self._others:
            if text.original and text.find(quote) is not None:
                return QuoteFinding(problem=problem)
        return QuoteFinding(problem=QuoteProblem.NOT_FOUND)


def locate_quote(quote: str, response: str, *, question: str = "", rubric: str = "") -> QuoteFinding:
    """Where `quote` stands in `response`, in original offsets, or why it proves nothing."""
    return _locator(response, question, rubric).locate(quote)


@lru_cache(maxsize=8)
def _locator(response: str, question: str, rubric: str) -> QuoteLocator:
    """A judgment's quotes come one after another and are about one response."""
    return QuoteLocator(response, question, rubric)


def weight_of(text: str) -> int:
    """Visible characters, CJK ones counted twice; looked at no further than matters."""
    head = "".join(text.split())[:_WHOLE_WORDS_WEIGHT]
    return len(head) + len(_CJK_CHARACTER.findall(head))


class _Haystack:
    def __init__(self, original: str) -> None:
        self.original = original

    @cached_property
    def folded(self) -> FoldedText:
        return fold_quotable(self.original)

    @cached_property
    def unmarked(self) -> FoldedText:
        return without_sentence_marks(self.folded)

    def find(self, quote: str) -> QuoteFinding | None:
        exact = quote.strip()
        place = next(self._occurrences(FoldedText(self.original), exact), None)
        if place is not None:
            return QuoteFinding((Span(place, place + len(exact)),), QuoteStage.EXACT, similarity=1.0)
        if len(quote) > _MAX_FOLDED_LENGTH:
            return None
        bare = _CITATION.sub("", _LABEL.sub("", exact))
        plain = _ESCAPED.sub(" ", bare)
        return self._find_folded(exact, bare, plain) or self._find_segments(bare) or self._find_fuzzily(bare)

    def is_proof(self, quote: str, spans: tuple[Span, ...]) -> bool:
        """Long enough, or all that the response says, or one whole word that it says once."""
        if weight_of(quote) >= (_MIN_WEIGHT if _LETTER_OR_DIGIT.search(quote) else _MIN_MARKS):
            return True
        needle = without_sentence_marks(fold_quotable(quote)).text.strip()
        if needle == self.unmarked.text.strip():
            return True
        return len(needle) >= 2 and needle.isalnum() and self.folded.text.count(needle) == len(spans) == 1

    def _find_folded(self, *variants: str) -> QuoteFinding | None:
        for variant in dict.fromkeys(variants):
            needle = fold_quotable(variant).text.strip()
            place = next(self._occurrences(self.folded, needle), None)
            if place is not None:
                span = self.folded.span(place, place + len(needle))
                return QuoteFinding((span,), QuoteStage.FOLDED, similarity=1.0)
        return None

    def _find_segments(self, quote: str) -> QuoteFinding | None:
        for separator in (_ELLIPSIS, _LIST):
            if separator.search(quote) is None:
                continue
            pieces = [piece for piece in separator.split(quote) if weight_of(piece)]
            if not 1 <= len(pieces) <= _MAX_SEGMENTS or any(weight_of(piece) < _MIN_SEGMENT_WEIGHT for piece in pieces):
                continue
            spans = self._in_order(pieces, elides=separator is _ELLIPSIS)
            if spans is not None:
                return QuoteFinding(spans, QuoteStage.SEGMENTS, similarity=1.0)
        return None

    def _in_order(self, pieces: list[str], *, elides: bool) -> tuple[Span, ...] | None:
        """Each piece behind the one before it, and no further than an ellipsis reaches."""
        chains: list[tuple[Span, ...]] = [()]
        for piece in pieces:
            needle = fold_quotable(piece).text.strip()
            places = self._occurrences(self.folded, needle)
            spans = [self.folded.span(place, place + len(needle)) for place in places]
            chains = [(*chain, span) for span in spans if (chain := self._nearest(chains, span, elides)) is not None]
            if not chains:
                return None
        return chains[0]

    def _nearest(self, chains: list[tuple[Span, ...]], span: Span, elides: bool) -> tuple[Span, ...] | None:
        before = [chain for chain in chains if not chain or chain[-1].end <= span.start]
        if not before:
            return None
        chain = max(before, key=lambda one: one[-1].end if one else 0)
        if not chain:
            return chain
        gap = self.original[chain[-1].end : span.start]
        if elides and (len(gap) > _MAX_GAP or len(gap) + len(_CJK_CHARACTER.findall(gap)) > _MAX_GAP):
            return None
        return None if self._hides_negation(gap[:_MAX_GAP]) else chain

    def _hides_negation(self, gap: str) -> bool:
        """ "It is … good" out of "It is not good": left out inside one sentence, a negation turns the quote round."""
        return _SENTENCE_END.search(gap) is None and has_negation(gap)

    def _find_fuzzily(self, quote: str) -> QuoteFinding | None:
        found = find_fuzzily(quote, self.unmarked)
        if found is None or turns_at_an_edge(self.original, found.span.start, found.span.end):
            return None
        return QuoteFinding((found.span,), QuoteStage.FUZZY, similarity=found.similarity)

    def _occurrences(self, text: FoldedText, needle: str) -> Iterator[int]:
        """Where the needle begins and ends with words; behind these, for a longer one, also where it does not.

        Nowhere inside a number, and nowhere that its edge cuts a negation, a sign or a unit off: "costs 12" is not
        what "costs 12.5 million" says.
        """
        inside: list[int] = []
        place = text.text.find(needle) if needle else -1
        for _ in range(_MAX_OCCURRENCES):
            if place < 0:
                break
            end = place + len(needle)
            if not (is_inside_number(text.text, place) or is_inside_number(text.text, end)):
                span = text.span(place, end)
                if not turns_at_an_edge(self.original, span.start, span.end):
                    if not (is_inside_word(text.text, place) or is_inside_word(text.text, end)):
                        yield place
                    else:
                        inside.append(place)
            place = text.text.find(needle, place + 1)
        if weight_of(needle) >= _WHOLE_WORDS_WEIGHT:
            yield from inside
