"""Whether a quote that a judge gives as evidence stands in the judged response, and where.

    exact ── folded (case, width, radicals, spaces, quotation marks, emphasis)
          ── segments around an ellipsis, in order and near ── fuzzy (punctuation, articles)
          └─ nowhere: from the question, from the rubric, or simply not found

A stage forgives how something is written and never what it says: no number, no negation, no other word, and no quote
that ends where the response goes on to turn it round. Time is linear in the texts; nothing raises, whatever they hold.
"""

import re
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property, lru_cache

from mixseek.domain.judgments import Span
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.evidence.edges import turns_at_an_edge
from mixseek.matching.evidence.folding import (
    CJK,
    CJK_CHARACTER,
    LETTER,
    FoldedText,
    fold_quotable,
    is_inside_number,
    is_inside_word,
    without_loose_spaces,
    without_sentence_marks,
)
from mixseek.matching.phrases import Phrases

_SAYS = Phrases("quotes")

# In characters, CJK ones counted twice. Shorter quotes get no edit; below the first not even other punctuation.
_MIN_FUZZY_WEIGHT = 10
_WEIGHT_PER_EDIT = 25
_MAX_EDITS = 4
_MAX_LENGTH = 2_000
_MAX_PLACES = 4
_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,:/]\d+)*|{LETTER}+|\S")
# May come and go without anybody noticing.
_LIGHT = re.compile(rf"(?<!{LETTER})(?:an?|the|that)(?!{LETTER})|[的はがをの]")
_NEGATION = re.compile(
    rf"(?<!{LETTER})(?:no|not|non|none|never|nothing|nobody|nowhere|neither|nor|cannot|without|hardly|barely|scarcely"
    r"|lack(?:s|ing|ed)?|fail(?:s|ed|ing)?|unable"
    r"|(?:ca|wo|do|does|did|is|are|was|were|has|have|had|could|would|should|must|need|ai)nt)"
    rf"(?!{LETTER})|[不没沒未无無非否勿莫别別]|(?:ない|ません|なかっ|なく|ぬ|ず)"
)


def _without_light_words(text: str) -> FoldedText:
    return without_loose_spaces(FoldedText(text).replaced(_LIGHT, " "))


def _light_words(text: str) -> Counter[tuple[int, str]]:
    """How often each of them stands behind so many other words."""
    count = 0
    light_words: Counter[tuple[int, str]] = Counter()
    for token in _TOKEN.findall(text):
        if _LIGHT.fullmatch(token):
            light_words[count, token] += 1
        else:
            count += 1
    return light_words


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
# Escaped once too often: a line break that was written down as a backslash and an n.
_ESCAPED = re.compile(r"\\[nrt\"]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
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
    # It stands in another step or another document than the one that it is said to be from.
    FROM_ANOTHER_STEP = "from_another_step"
    FROM_ANOTHER_CONTEXT = "from_another_context"
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
        self._others = {QuoteProblem.FROM_QUESTION: _Haystack(question), QuoteProblem.FROM_RUBRIC: _Haystack(rubric)}

    def locate(self, quote: str) -> QuoteFinding:
        """Never raises. A quote that the response holds is its own, also where it echoes the question."""
        if not weight_of(quote):
            return QuoteFinding(problem=QuoteProblem.TOO_SHORT)
        finding = self._response.find(quote)
        if finding is not None:
            is_proof = self._response.is_proof(quote, finding.spans)
            return finding if is_proof else QuoteFinding(problem=QuoteProblem.TOO_SHORT)
        for problem, text in self._others.items():
            if text.original and text.find(quote) is not None:
                return QuoteFinding(problem=problem)
        return QuoteFinding(problem=QuoteProblem.NOT_FOUND)


def locate_quote(quote: str, response: str, *, question: str = "", rubric: str = "") -> QuoteFinding:
    """Where `quote` stands in `response`, in original offsets, or why it proves nothing."""
    return _locator(response, question, rubric).locate(quote)


# A judgment's quotes come one after another and are about one response.
_locator = lru_cache(maxsize=8)(QuoteLocator)


def weight_of(text: str) -> int:
    """Visible characters, CJK ones counted twice; looked at no further than matters."""
    head = "".join(text.split())[:_WHOLE_WORDS_WEIGHT]
    return len(head) + len(CJK_CHARACTER.findall(head))


class _Haystack:
    def __init__(self, original: str) -> None:
        self.original = original

    @cached_property
    def folded(self) -> FoldedText:
        return fold_quotable(self.original)

    @cached_property
    def unmarked(self) -> FoldedText:
        return without_sentence_marks(self.folded)

    @cached_property
    def bare(self) -> FoldedText:
        """What is left without light words; its spans are those of `unmarked`, not of the original."""
        return _without_light_words(self.unmarked.text)

    def find(self, quote: str) -> QuoteFinding | None:
        exact = quote.strip()
        for span in self._places(FoldedText(self.original), exact):
            return QuoteFinding((span,), QuoteStage.EXACT, similarity=1.0)
        if len(quote) > _MAX_FOLDED_LENGTH:
            return None
        bare = _CITATION.sub("", _SAYS.label.sub("", exact))
        for variant in dict.fromkeys((exact, bare, _ESCAPED.sub(" ", bare))):
            for span in self._places(self.folded, fold_quotable(variant).text.strip()):
                return QuoteFinding((span,), QuoteStage.FOLDED, similarity=1.0)
        return self._find_segments(bare) or self._find_fuzzily(bare)

    def is_proof(self, quote: str, spans: tuple[Span, ...]) -> bool:
        """Long enough, or all that the response says, or one whole word that it says once."""
        if weight_of(quote) >= (_MIN_WEIGHT if _LETTER_OR_DIGIT.search(quote) else _MIN_MARKS):
            return True
        needle = without_sentence_marks(fold_quotable(quote)).text.strip()
        if needle == self.unmarked.text.strip():
            return True
        return len(needle) >= 2 and needle.isalnum() and self.folded.text.count(needle) == len(spans) == 1

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
            spans = list(self._places(self.folded, fold_quotable(piece).text.strip()))
            chains = [(*chain, span) for span in spans if (chain := self._nearest(chains, span, elides)) is not None]
            if not chains:
                return None
        return chains[0]

    def _nearest(self, chains: list[tuple[Span, ...]], span: Span, elides: bool) -> tuple[Span, ...] | None:
        before = [chain for chain in chains if not chain or chain[-1].end <= span.start]
        chain = max(before, key=lambda spans: spans[-1].end if spans else 0, default=None)
        if not chain:
            return chain
        gap = self.original[chain[-1].end : span.start]
        if elides and (len(gap) > _MAX_GAP or len(gap) + len(CJK_CHARACTER.findall(gap)) > _MAX_GAP):
            return None
        # "It is … good" out of "It is not good": left out inside one sentence, a negation turns the quote round.
        gap = gap[:_MAX_GAP]
        return chain if _SENTENCE_END.search(gap) or not _NEGATION.search(fold_quotable(gap).text) else None

    def _find_fuzzily(self, quote: str) -> QuoteFinding | None:
        """The first place where the quote stands but for harmless edits, at most one in twenty-five characters.

        The similarity is the share of the quote's tokens that stand there as they are.
        """
        needle = without_sentence_marks(fold_quotable(quote)).text.strip()
        weight = len(needle) + len(CJK_CHARACTER.findall(needle))
        bare = _without_light_words(needle)
        core = bare.text.strip()
        if weight < _MIN_FUZZY_WEIGHT or len(needle) > _MAX_LENGTH or not core:
            return None
        first = len(bare.text) - len(bare.text.lstrip())
        own_span = bare.span(first, first + len(core))
        before, behind = needle[: own_span.start], needle[own_span.end :]
        text, place = self.unmarked.text, -1
        for _ in range(_MAX_PLACES):
            place = self.bare.text.find(core, place + 1)
            if place < 0:
                return None
            there = self.bare.span(place, place + len(core))
            # With the quote's own light words at its edges, where the response has them too.
            start = there.start - (len(before) if text.endswith(before, 0, there.start) else 0)
            end = there.end + (len(behind) if text.startswith(behind, there.end) else 0)
            ours, theirs = _light_words(needle), _light_words(text[start:end])
            edits = ((ours - theirs) + (theirs - ours)).total()
            span = self.unmarked.span(start, end)
            is_cut = any(is_inside_word(text, edge) or is_inside_number(text, edge) for edge in (start, end))
            if edits <= min(_MAX_EDITS, weight // _WEIGHT_PER_EDIT) and not is_cut:
                if turns_at_an_edge(self.original, span.start, span.end):
                    return None
                return QuoteFinding((span,), QuoteStage.FUZZY, similarity=1 - edits / len(_TOKEN.findall(needle)))
        return None

    def _places(self, text: FoldedText, needle: str) -> Iterator[Span]:
        """Where the needle begins and ends with words; behind these, for a longer one, also where it does not.

        Nowhere inside a number, and nowhere that its edge cuts a negation, a sign or a unit off: "costs 12" is not
        what "costs 12.5 million" says.
        """
        inside: list[Span] = []
        place = -1
        for _ in range(_MAX_OCCURRENCES if needle else 0):
            place = text.text.find(needle, place + 1)
            if place < 0:
                break
            edges = (place, place + len(needle))
            span = text.span(*edges)
            if any(is_inside_number(text.text, edge) for edge in edges):
                continue
            if turns_at_an_edge(self.original, span.start, span.end):
                continue
            if any(is_inside_word(text.text, edge) for edge in edges):
                inside.append(span)
            else:
                yield span
        if weight_of(needle) >= _WHOLE_WORDS_WEIGHT:
            yield from inside
