"""Checks a judge against the sample: does the response say what the judge read in it, and does the verdict follow?

Judges that know the ground truth "extract" it from responses which never say it, and call an answer correct that
they themselves quote as a different one. The first is a doubt, which is counted; the second contradicts itself.
"""

from enum import StrEnum
from typing import NamedTuple

from mixseek.domain.judgments import Finding, Flag, Span
from mixseek.domain.samples import Sample
from mixseek.matching.match import match_answer
from mixseek.matching.outcome import Decision, MatchResult
from mixseek.protocols.extraction import is_same_answer, locate_answer
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.semantic_reply import SemanticReply

# How the matcher's trace names an answer that is neither an option, a boolean, a number, a list nor mathematics.
_FREE_TEXT = "text"


class ReplyWarning(StrEnum):
    """What is remarkable about a valid judgment; kept in its fields so that a report can count it."""

    NOT_IN_RESPONSE = "extracted_answer_not_in_response"
    COPIES_GROUND_TRUTH = "extracted_answer_copies_ground_truth"
    # Seed 001: an answer without any reasoning trace may be right, but a score of 4 is there for that.
    LOW_REASONING_SCORE = "correct_with_low_reasoning_score"


class Extraction(NamedTuple):
    """`verified` is None when the judge extracted nothing, or the response is too long to say."""

    verified: bool | None
    span: Span | None = None
    warnings: tuple[ReplyWarning, ...] = ()
    contradiction: Finding | None = None  # the verdict does not follow from the extracted answer


def verify_extraction(reply: SemanticReply, sample: Sample) -> Extraction:
    """Literally, or in other words that the rules find equal ("forty-two" read as "42", an option for its letter)."""
    answer = reply.extracted_answer
    if answer is None or not answer.strip():
        return Extraction(verified=None)
    agreement = _agreement(answer, reply.is_correct is True, sample)
    is_truth = agreement is Decision.CORRECT
    location = locate_answer(sample.response, answer)
    span = location.span
    verified = True if span is not None else False if location.is_certain else None
    if not verified:
        matched = _vouching_match(answer, is_truth, sample)
        if matched is not None:
            verified, span = True, matched.span
    warnings: list[ReplyWarning] = []
    # A judge that says "incorrect" may describe rather than quote: "none", "two different options".
    if reply.is_correct and verified is False:
        warnings.append(ReplyWarning.NOT_IN_RESPONSE)
        if is_truth:
            warnings.append(ReplyWarning.COPIES_GROUND_TRUTH)
    return Extraction(verified, span, tuple(warnings), _contradiction(reply, agreement, sample))


def objections(reply: SemanticReply, extraction: Extraction) -> tuple[Finding, ...]:
    """The warnings as reasons to refuse the reply, for the policy `verified`: an unproven quotation (seed 003 §6)."""
    said = _said(reply)
    return tuple(Finding(Flag.PROTOCOL_VIOLATION, f"{said}: {warning}") for warning in extraction.warnings)


def _said(reply: SemanticReply) -> str:
    return f"is_correct is {excerpt(reply.is_correct)}, extracted_answer is {excerpt(reply.extracted_answer)}"


def _contradiction(reply: SemanticReply, agreement: Decision, sample: Sample) -> Finding | None:
    if agreement is not (Decision.INCORRECT if reply.is_correct else Decision.CORRECT):
        return None
    relation = "is not" if reply.is_correct else "is"
    detail = f"{_said(reply)}, which {relation} the ground truth {excerpt(sample.ground_truth)}"
    return Finding(Flag.INTERNAL_INCONSISTENCY, detail)


def _vouching_match(answer: str, is_truth: bool, sample: Sample) -> MatchResult | None:
    """What the rules read in the response, if that is the extracted answer in other words."""
    if is_truth:
        matched = _match(sample.response, sample)
    else:
        matched = match_answer(sample.response, answer, question=sample.question)
    return matched if matched.decision is Decision.CORRECT else None


def _agreement(answer: str, is_correct: bool, sample: Sample) -> Decision:
    """Whether the extracted answer, on its own, is the ground truth."""
    truths = _truths(sample)
    if any(is_same_answer(answer, truth) for truth in truths):
        return Decision.CORRECT
    # Where the judge says "incorrect" there is nothing more to find out.
    if not truths or not is_correct:
        return Decision.UNDECIDED
    matched = _match(answer, sample)
    # Two free texts that differ may still mean one thing: only the closed kinds of answer contradict for certain.
    is_doubtful = matched.decision is Decision.INCORRECT and _FREE_TEXT in matched.rules
    return Decision.UNDECIDED if is_doubtful else matched.decision


def _match(text: str, sample: Sample) -> MatchResult:
    truth, *alternatives = _truths(sample)
    return match_answer(text, truth, question=sample.question, alternatives=tuple(alternatives))


def _truths(sample: Sample) -> tuple[str, ...]:
    return () if sample.ground_truth is None else (sample.ground_truth, *sample.ground_truth_alternatives)
