"""Whether the answer that a judge says it extracted stands in the response, and where.

A judge that knows the ground truth may "extract" it from a response that never says it; the span is the proof.
"""

import re
from typing import NamedTuple

from mixseek.domain.judgments import Span
from mixseek.matching.fold import fold
from mixseek.matching.visible import visible_part

# Words of alphabets with word breaks, else single characters: Chinese and Japanese put no space around an answer.
_CJK = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_SIGNED_WORDS = re.compile(rf"(?:(?<!\w)-)?(?:{_WORDS.pattern})")
_MARKS = re.compile(r"\S")
# Compared as words, longer texts are not short answers; found to the letter they still count.
_MAX_ANSWER_LENGTH = 2_000


class Location(NamedTuple):
    """Where an answer stands. `is_certain` is False when it was not found and not all of the response was looked at."""

    span: Span | None
    is_certain: bool = True


def locate_answer(response: str, answer: str) -> Location:
    """The last occurrence outside think blocks, as original offsets; case, width and punctuation do not count."""
    answer = fold(answer).strip()
    if not answer:
        return Location(None)
    visible = visible_part(response)
    span = _locate_exactly(visible.text, answer) or _locate_by_words(visible.text.lower(), answer.lower())
    if span is None:
        # Very long responses are looked at from their end only, as the rules do.
        return Location(None, is_certain=visible.offset == 0)
    return Location(Span(span.start + visible.offset, span.end + visible.offset))


def is_same_answer(left: str, right: str) -> bool:
    """Equal but for case, width, whitespace and punctuation; where marks are the answer (brackets, -5), they count."""
    return left == right or _comparable(left) == _comparable(right)


def _comparable(text: str) -> list[str]:
    folded = fold(text).lower()
    return _SIGNED_WORDS.findall(folded) or _MARKS.findall(folded)


def _locate_exactly(text: str, answer: str) -> Span | None:
    start = text.rfind(answer)
    if start < 0:
        return None
    end = start + len(answer)
    # "no" is not in "know"; a mark at the edge of the answer is a boundary of its own.
    joined_before = start > 0 and _is_joined(text[start - 1], answer[0])
    joined_after = end < len(text) and _is_joined(answer[-1], text[end])
    return None if joined_before or joined_after else Span(start, end)


def _is_joined(left: str, right: str) -> bool:
    """The two characters belong to one word; a CJK character is a word of its own."""
    return left.isalnum() and right.isalnum() and len(_WORDS.findall(left + right)) == 1


def _locate_by_words(text: str, answer: str) -> Span | None:
    if len(answer) > _MAX_ANSWER_LENGTH:
        return None
    pattern = _WORDS if _WORDS.search(answer) else _MARKS
    words = pattern.findall(answer)
    if not all(word in text for word in words):
        return None
    tokens = list(pattern.finditer(text))
    needle = f" {' '.join(words)} "
    haystack = f" {' '.join(token[0] for token in tokens)} "
    # Backwards through find(): rfind() has no linear bound, and the response is whatever a model wrote.
    place = haystack[::-1].find(needle[::-1])
    if place < 0:
        return None
    last = haystack.count(" ", 0, len(haystack) - place) - 2
    first = last - len(words) + 1
    return Span(tokens[first].start(), tokens[last].end())
