"""Whether the answer that a judge says it extracted stands in the response, and where; the span is the proof."""

import re
from functools import lru_cache
from typing import NamedTuple

from mixseek.domain.judgments import Span
from mixseek.domain.ports import MathsComparer
from mixseek.domain.samples import Sample
from mixseek.matching.folding import fold
from mixseek.matching.readings import Decision, MatchResult
from mixseek.matching.visible import visible_part
from mixseek.protocols.replies.reply_json import excerpt
from mixseek.protocols.semantic_reply import SemanticReply

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


# How the matcher's trace names an answer that is neither an option, a boolean, a number, a list nor mathematics.
_FREE_TEXT = "text"
# What is remarkable about a valid judgment; kept in its fields so that a report can count it.
NOT_IN_RESPONSE = "extracted_answer_not_in_response"
COPIES_GROUND_TRUTH = "extracted_answer_copies_ground_truth"
# Seed 001: an answer without any reasoning trace may be right, but a score of 4 is there for that.
LOW_REASONING_SCORE = "correct_with_low_reasoning_score"


class Extraction(NamedTuple):
    """`verified` is None when the judge extracted nothing, or the response is too long to say."""

    verified: bool | None
    span: Span | None = None
    warnings: tuple[str, ...] = ()
    contradiction: str = ""  # the verdict does not follow from the extracted answer


def verify_extraction(reply: SemanticReply, sample: Sample, *, is_always_located: bool = False) -> Extraction:
    """Literally, or in other words that the rules find equal ("forty-two" read as "42", an option for its letter).

    A contradiction makes the reply invalid wherever the answer stands: it is looked for only where that, too, is an
    objection (`is_always_located`).
    """
    answer = reply.extracted_answer
    if answer is None or not answer.strip():
        return Extraction(verified=None)
    agreement = _agreement(answer, reply.is_correct is True, sample)
    contradiction = _contradiction(reply, agreement, sample)
    if contradiction and not is_always_located:
        return Extraction(None, contradiction=contradiction)
    is_truth = agreement is Decision.CORRECT
    location = locate_answer(sample.response, answer)
    span = location.span
    verified = True if span is not None else False if location.is_certain else None
    if not verified:
        # What the rules read in the response may be the extracted answer in other words.
        wanted = truths_of(sample) if is_truth else (answer,)
        matched = match_once(sample.response, sample.question, wanted)
        if matched.decision is Decision.CORRECT:
            verified, span = True, matched.span
    warnings: tuple[str, ...] = ()
    # A judge that says "incorrect" may describe rather than quote: "none", "two different options".
    if reply.is_correct and verified is False:
        warnings = (NOT_IN_RESPONSE, COPIES_GROUND_TRUTH) if is_truth else (NOT_IN_RESPONSE,)
    return Extraction(verified, span, warnings, contradiction)


def said_of(reply: SemanticReply) -> str:
    return f"is_correct is {excerpt(reply.is_correct)}, extracted_answer is {excerpt(reply.extracted_answer)}"


def _contradiction(reply: SemanticReply, agreement: Decision, sample: Sample) -> str:
    if agreement is not (Decision.INCORRECT if reply.is_correct else Decision.CORRECT):
        return ""
    relation = "is not" if reply.is_correct else "is"
    return f"{said_of(reply)}, which {relation} the ground truth {excerpt(sample.ground_truth)}"


def _agreement(answer: str, is_correct: bool, sample: Sample) -> Decision:
    """Whether the extracted answer, on its own, is the ground truth."""
    truths = truths_of(sample)
    if any(is_same_answer(answer, truth) for truth in truths):
        return Decision.CORRECT
    # Where the judge says "incorrect" there is nothing more to find out.
    if not truths or not is_correct:
        return Decision.UNDECIDED
    matched = match_once(answer, sample.question, truths)
    # Two free texts that differ may still mean one thing: only the closed kinds of answer contradict for certain.
    is_doubtful = matched.decision is Decision.INCORRECT and _FREE_TEXT in matched.rules
    return Decision.UNDECIDED if is_doubtful else matched.decision


def match_sample(text: str, sample: Sample, wanted: tuple[str, ...], maths: MathsComparer | None = None) -> MatchResult:
    """What the rules read in the text, held against any of the wanted answers."""
    return _match(text, sample.question, wanted, maths)


# Judges of a panel, repeats and asks after an objection extract one answer from one response again and again.
@lru_cache(maxsize=1024)
def match_once(text: str, question: str, wanted: tuple[str, ...]) -> MatchResult:
    """The same of what was looked at a moment ago, without another look."""
    return _match(text, question, wanted)


def _match(text: str, question: str, wanted: tuple[str, ...], maths: MathsComparer | None = None) -> MatchResult:
    # Here and not above: to show a prompt, or to count a run, takes no rules.
    from mixseek.matching.match import match_answer

    return match_answer(text, wanted[0], question=question, alternatives=wanted[1:], maths=maths)


def truths_of(sample: Sample) -> tuple[str, ...]:
    return () if sample.ground_truth is None else (sample.ground_truth, *sample.ground_truth_alternatives)
