"""Words for what has none of its own: states, verdicts, warnings, moments and what is not named."""

from collections.abc import Mapping
from datetime import UTC, datetime

from mixseek.domain.confidence import ConfidenceSource
from mixseek.text.messages import Message, message, verbatim

NO_TASK = "(no task)"
NO_NAME = "(none named)"
TRUST_TITLE = message("trust.title", "How far the judges can be trusted")
# Seed 001's judgments and those of pairs carry these; a protocol of one's own may have others.
_WARNINGS = {
    "extracted_answer_not_in_response": message(
        "warning.extracted_answer_not_in_response", "the extracted answer is not in the response"
    ),
    "extracted_answer_copies_ground_truth": message(
        "warning.extracted_answer_copies_ground_truth",
        "the extracted answer is the ground truth, which the response does not say",
    ),
    "correct_with_low_reasoning_score": message(
        "warning.correct_with_low_reasoning_score", "correct, with the reasoning score of a failure (1 or 2)"
    ),
    "position": message("warning.position", "the two orders name different winners: a tie by position"),
    "partial": message(
        "warning.partial", "one order is a tie and the other names a winner: a tie, because a win needs both"
    ),
    "quote_not_in_its_response": message(
        "warning.quote_not_in_its_response", "a quote is not in the response that it names"
    ),
    "contradicted_claim": message("warning.contradicted_claim", "a document contradicts a claim"),
    "unproven_claim": message(
        "warning.unproven_claim", "what is said to decide a claim does not stand in the document that it names"
    ),
    "transcript_shortened": message(
        "warning.transcript_shortened", "the steps were too long: the judge was shown a part of them"
    ),
    "strength_beside_a_tie": message("warning.strength_beside_a_tie", "a strength beside a tie, which says nothing"),
}
_PROBLEMS = {
    "not_found": message("judgment.not_in_the_response", "not in the response"),
    "from_question": message("judgment.from_the_question", "from the question"),
    "from_another_step": message("judgment.from_another_step", "in another step than the one it names"),
    "from_another_context": message("judgment.from_another_context", "in another document than the one it names"),
    "from_rubric": message("judgment.from_the_rubric", "from the rubric"),
    "too_short": message("judgment.too_short_to_prove_anything", "too short to prove anything"),
}
# By which stage of matching a quote was found.
_STAGES = {
    "exact": message("evidence.exact", "exact"),
    "folded": message("evidence.folded", "folded"),
    "segments": message("evidence.segments", "segments"),
    "fuzzy": message("evidence.fuzzy", "fuzzy"),
}
_CONFIDENCES = {
    "high": message("confidence.high", "high"),
    "medium": message("confidence.medium", "medium"),
    "low": message("confidence.low", "low"),
}
# What invalid evaluations are counted by.
_FACTORS = {
    "judge": message("factor.judge", "judge"),
    "target": message("factor.target", "target"),
    "variant": message("head.variant", "variant"),
    "language": message("factor.language", "language"),
    "method": message("factor.method", "method"),
}
# How a sample or a run ended, and what a right-or-wrong protocol says; other words are a protocol's own.
_STATES = {
    "valid": message("word.valid", "valid"),
    "split": message("word.split", "split"),
    "undecided": message("word.undecided", "undecided"),
    "invalid": message("word.invalid", "invalid"),
    "missing": message("word.missing", "missing"),
    "running": message("word.running", "running"),
    "finished": message("word.finished", "finished"),
    "interrupted": message("word.interrupted", "interrupted"),
    "failed": message("word.failed", "failed"),
}
_VERDICTS = {
    "correct": message("word.correct", "correct"),
    "incorrect": message("word.incorrect", "incorrect"),
    "tie": message("word.tie", "tie"),
    "scored": message("word.scored", "scored"),
}


def state_text(name: str) -> Message:
    """How something ended, as a word."""
    return _STATES.get(name) or verbatim(name)


def verdict_text(name: str) -> Message:
    """A verdict, or how a sample ended without one; a protocol's own words are shown as the protocol has them."""
    return _VERDICTS.get(name) or state_text(name)


def moment_text(moment: str | None) -> str | None:
    """`2026-03-01 09:12 UTC`; whatever is no ISO time is shown as it stands."""
    if moment is None:
        return None
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    if parsed.tzinfo is None:
        return f"{parsed:%Y-%m-%d %H:%M}"
    return f"{parsed.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def name_text(name: str | None) -> str:
    return NO_NAME if name is None else name


def warning_text(name: str) -> Message:
    """A warning of a protocol in words; as it stands where this page knows none."""
    return _WARNINGS.get(name) or verbatim(name)


def problem_text(problem: str) -> Message:
    return _PROBLEMS.get(problem) or verbatim(problem)


def stage_text(stage: str) -> Message:
    return _STAGES.get(stage) or verbatim(stage)


# What a confidence was made from: the same words for calibration, cascades and summaries.
SOURCE_WORDS: Mapping[str, Message] = {
    ConfidenceSource.LOGPROBS: message("confidence.logprobs", "token probabilities"),
    ConfidenceSource.DECISION: message("confidence.decision", "a decision endpoint"),
    ConfidenceSource.REPEATS: message("confidence.repeats", "its repeats"),
    ConfidenceSource.ORDERS: message("confidence.orders", "both orders"),
    ConfidenceSource.PANEL: message("confidence.panel", "how many agree"),
    ConfidenceSource.WRITTEN: message("confidence.written", "what it writes"),
}


def confidence_text(confidence: str) -> Message:
    """How sure a judge says that it is; words of a protocol's own stay."""
    return _CONFIDENCES.get(confidence) or verbatim(confidence)


def factor_text(factor: str) -> Message:
    return _FACTORS.get(factor) or verbatim(factor)
