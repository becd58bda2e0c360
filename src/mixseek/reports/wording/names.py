"""Words for what has none of its own: states, verdicts, warnings, moments and what is not named."""

from datetime import UTC, datetime

from mixseek.text.messages import Message, message, verbatim

NO_TASK = "(no task)"
NO_NAME = "(none named)"
TRUST_TITLE = message("trust.title", "How far the judges can be trusted")
# Seed 001's judgments and those of pairs carry these; a protocol of one's own may have others.
_WARNINGS = {
    "extracted_answer_not_in_response": "the extracted answer is not in the response",
    "extracted_answer_copies_ground_truth": "the extracted answer is the ground truth, which the response does not say",
    "correct_with_low_reasoning_score": "correct, with the reasoning score of a failure (1 or 2)",
    "position": "the two orders name different winners: a tie by position",
    "partial": "one order is a tie and the other names a winner: a tie, because a win needs both",
    "quote_not_in_its_response": "a quote is not in the response that it names",
    "strength_beside_a_tie": "a strength beside a tie, which says nothing",
}
_PROBLEMS = {
    "not_found": "not in the response",
    "from_question": "from the question",
    "from_rubric": "from the rubric",
    "too_short": "too short to prove anything",
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


def warning_text(name: str) -> str:
    """A warning of a protocol in words; as it stands where this page knows none."""
    return _WARNINGS.get(name, name)


def problem_text(problem: str) -> str:
    return _PROBLEMS.get(problem, problem)
