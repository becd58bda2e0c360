"""What the matcher says about one response, and how a comparer says it."""

from enum import StrEnum
from typing import NamedTuple

from mixseek.domain.judgments import ErrorType, Span


class Decision(StrEnum):
    """UNDECIDED is honest: what the rules decide must be right."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNDECIDED = "undecided"


class Comparison(NamedTuple):
    """What one comparer says of one piece of text; `rule` names the table row that fired."""

    decision: Decision
    rule: str
    # The part of the piece that was compared, as offsets into that piece; None means the whole piece.
    span: Span | None = None


class MatchResult(NamedTuple):
    """The decision, the exact place in the original response, and the rules that led there, in order."""

    decision: Decision
    extracted_answer: str | None
    span: Span | None
    rules: tuple[str, ...]
    # None while undecided, and for a wrong answer: why it is wrong, rules cannot know.
    error_type: ErrorType | None
