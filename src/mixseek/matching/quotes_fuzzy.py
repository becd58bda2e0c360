"""Finds a quote that was punctuated otherwise or lost an article. Never another word.

Judges are not trusted: one changed digit, one "not" more or less, one other letter ("proscribed" for "prescribed") can
turn a response round, and all of these are small edit distances. So the distance is counted in words, and the only
edits are words that carry nothing: nobody can tell a slip of the pen from another word without knowing all words.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from mixseek.domain.judgments import Span
from mixseek.matching.quotes_folding import (
    CJK,
    LETTER,
    FoldedText,
    fold_quotable,
    is_inside_number,
    is_inside_word,
    without_sentence_marks,
)

# In characters, CJK ones counted twice. Shorter quotes get no edit; below the first not even other punctuation.
_MIN_WEIGHT = 10
_WEIGHT_PER_EDIT = 25
_MAX_EDITS = 4
_MAX_LENGTH = 2_000
_MAX_PLACES = 4

_TOKEN = re.compile(rf"[{CJK}]|\d+(?:[.,:/]\d+)*|{LETTER}+|\S")

_NEGATION = re.compile(
    r"(?:no|not|non|none|never|nothing|nobody|nowhere|neither|nor|cannot|without|hardly|barely|scarcely|lack(?:s|ing|ed)?"
    r"|fail(?:s|ed|ing)?|unable"
    r"|(?:ca|wo|do|does|did|is|are|was|were|has|have|had|could|would|should|must|need|ai)nt)\Z"
)
_NEGATING_CHARACTERS = re.compile(r"[不没沒未无無非否勿莫别別]|(?:ない|ません|なかっ|なく|ぬ|ず)")
_LATIN_WORD = re.compile(rf"{LETTER}+")
# May come and go without anybody noticing.
_LIGHT = frozenset({"a", "an", "the", "that", "的", "は", "が", "を", "の"})

_FORBIDDEN = 1_000


@dataclass(frozen=True, slots=True)
class FuzzyFinding:
    """`similarity` is the share of the quote's tokens that stand in the response as they are."""

    span: Span
    similarity: float


def has_negation(text: str) -> bool:
    """Whether a stretch of text negates anything, in English, Japanese or Chinese."""
    folded = fold_quotable(text).text
    if _NEGATING_CHARACTERS.search(folded):
        return True
    return any(_NEGATION.match(word[0]) for word in _LATIN_WORD.finditer(folded))


def find_fuzzily(quote: str, haystack: FoldedText) -> FuzzyFinding | None:
    """The first place where the quote stands but for harmless edits, at most one in twenty-five characters.

    `haystack` is the response without its sentence marks.
    """
    needle = without_sentence_marks(fold_quotable(quote)).text.strip()
    weight = len(needle) + len(re.findall(f"[{CJK}]", needle))
    if weight < _MIN_WEIGHT or len(needle) > _MAX_LENGTH:
        return None
    tokens = list(_TOKEN.finditer(needle))
    edits = min(_MAX_EDITS, weight // _WEIGHT_PER_EDIT)
    for first, last in _pieces(len(tokens), edits + 1):
        piece = needle[tokens[first].start() : tokens[last].end()]
        place = -1
        for _ in range(_MAX_PLACES):
            place = haystack.text.find(piece, place + 1)
            if place < 0:
                break
            found = _extend(needle, tokens[first].start(), haystack.text, place, len(piece), edits)
            if found is not None:
                start, end, cost = found
                return FuzzyFinding(haystack.span(start, end), 1.0 - cost / len(tokens))
    return None


def _pieces(count: int, pieces: int) -> list[tuple[int, int]]:
    """With one piece more than edits, one piece is untouched wherever the quote stands."""
    pieces = min(pieces, count)
    edges = [count * index // pieces for index in range(pieces + 1)]
    return [(first, last - 1) for first, last in pairwise(edges)]


def _extend(needle: str, offset: int, text: str, place: int, length: int, edits: int) -> tuple[int, int, int] | None:
    """From an untouched piece to both ends of the quote."""
    slack = 24 * (edits + 1)
    before = _tokens(needle[:offset])
    window = max(0, place - offset - slack)
    left = _tokens(text[window:place], window)
    cost_left = _align([token for token, _ in reversed(before)], [token for token, _ in reversed(left)], edits)
    if cost_left is None:
        return None
    after = _tokens(needle[offset + length :])
    end = place + length
    right = _tokens(text[end : end + len(needle) - offset - length + slack], end)
    cost_right = _align([token for token, _ in after], [token for token, _ in right], edits - cost_left[0])
    if cost_right is None:
        return None
    start = left[-cost_left[1]][1] if cost_left[1] else place
    stop = right[cost_right[1] - 1][1] + len(right[cost_right[1] - 1][0]) if cost_right[1] else end
    if any(is_inside_word(text, edge) or is_inside_number(text, edge) for edge in (start, stop)):
        return None
    return start, stop, cost_left[0] + cost_right[0]


def _tokens(text: str, shift: int = 0) -> list[tuple[str, int]]:
    return [(found[0], found.start() + shift) for found in _TOKEN.finditer(text)]


def _align(wanted: list[str], given: list[str], edits: int) -> tuple[int, int] | None:
    """(cost, how many of `given` are used) of the cheapest alignment of all of `wanted`; None above `edits`.

    Only cells near the diagonal are visited, so the time is the quote's length times the edits.
    """
    costs: dict[tuple[int, int], int] = {(0, 0): 0}
    best: tuple[int, int] | None = None
    frontier = [(0, 0)]
    while frontier:
        following: set[tuple[int, int]] = set()
        for here in sorted(frontier):
            cost = costs[here]
            row, column = here
            if row == len(wanted):
                if best is None or (cost, column) < best:
                    best = (cost, column)
                continue
            for rows, columns, price in _steps(wanted, given, row, column):
                there = (row + rows, column + columns)
                if cost + price <= edits and cost + price < costs.get(there, _FORBIDDEN):
                    costs[there] = cost + price
                    following.add(there)
        frontier = list(following)
    return best


def _steps(wanted: list[str], given: list[str], row: int, column: int) -> list[tuple[int, int, int]]:
    steps: list[tuple[int, int, int]] = []
    word = wanted[row]
    other = given[column] if column < len(given) else None
    if other == word:
        return [(1, 1, 0)]
    if word in _LIGHT:
        steps.append((1, 0, 1))
    if other in _LIGHT:
        steps.append((0, 1, 1))
    return steps
