"""Checks a judge against the sample: does the response say what the judge read in it, and does the verdict follow?

Judges that know the ground truth "extract" it from responses which never say it, and call an answer correct that
they themselves quote as a different one. Both are countable without a second judge.
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


class ReplyWarning(StrEnum):
    """What is remarkable about a valid judgment; kept in its fields so that a report can count it."""

    NOT_IN_RESPONSE = "extracted_answer_not_in_response"
    COPIES_GROUND_TRUTH = "extracted_answer_copies_ground_truth"
    VERDICT_CONTRADICTS_EXTRACTION = "verdict_contradicts_extraction"


# Seed 003 §6: an unproven quotation breaks the protocol, a verdict against its own evidence contradicts itself.
_FLAGS = {
    ReplyWarning.NOT_IN_RESPONSE: Flag.PROTOCOL_VIOLATION,
    ReplyWarning.COPIES_GROUND_TRUTH: Flag.PROTOCOL_VIOLATION,
    ReplyWarning.VERDICT_CONTRADICTS_EXTRACTION: Flag.INTERNAL_INCONSISTENCY,
}


class Extraction(NamedTuple):
    """`verified` is None when the judge extracted nothing, or the response is too long to say."""

    verified: bool | None
    span: Span | None = None
    warnings: tuple[ReplyWarning, ...] = ()


def verify_extraction(reply: SemanticReply, sample: Sample) -> Extraction:
    """Literally, or, for the ground truth in other words, by the rules ("forty-two" read as "42" is no copy)."""
    answer = reply.extracted_answer
    if answer is None or not answer.strip():
        return Extraction(verified=None)
    agreement = _agreement(answer, reply.is_correct is True, sample)
    is_truth = agreement is Decision.CORRECT
    location = locate_answer(sample.response, answer)
    span = location.span
    verified = True if span is not None else False if location.is_certain else None
    if not verified and is_truth:
        matched = _match(sample.response, sample)
        if matched.decision is Decision.CORRECT:
            verified, span = True, matched.span
    warnings: list[ReplyWarning] = []
    # A judge that says "incorrect" may describe rather than quote: "none", "two different options".
    if reply.is_correct and verified is False:
        warnings.append(ReplyWarning.NOT_IN_RESPONSE)
        if is_truth:
            warnings.append(ReplyWarning.COPIES_GROUND_TRUTH)
    if agreement is (Decision.INCORRECT if reply.is_correct else Decision.CORRECT):
        warnings.append(ReplyWarning.VERDICT_CONTRADICTS_EXTRACTION)
    return Extraction(verified, span, tuple(warnings))


def objections(reply: SemanticReply, extraction: Extraction) -> tuple[Finding, ...]:
    """The warnings as reasons to refuse the reply, for the policy `verified`."""
    said = f"is_correct is {excerpt(reply.is_correct)}, extracted_answer is {excerpt(reply.extracted_answer)}"
    return tuple(Finding(_FLAGS[warning], f"{said}: {warning}") for warning in extraction.warnings)


def _agreement(answer: str, is_correct: bool, sample: Sample) -> Decision:
    """Whether the extracted answer, on its own, is the ground truth."""
    truths = _truths(sample)
    if any(is_same_answer(answer, truth) for truth in truths):
        return Decision.CORRECT
    # Where the judge says "incorrect" there is nothing more to find out.
    return _match(answer, sample).decision if truths and is_correct else Decision.UNDECIDED


def _match(text: str, sample: Sample) -> MatchResult:
    truth, *alternatives = _truths(sample)
    return match_answer(text, truth, question=sample.question, alternatives=tuple(alternatives))


def _truths(sample: Sample) -> tuple[str, ...]:
    return () if sample.ground_truth is None else (sample.ground_truth, *sample.ground_truth_alternatives)
