"""What a table or a run says of how sure judges are, as plain data."""

from enum import StrEnum

from mixseek.lazy_dataclass import dataclass


class ConfidenceKind(StrEnum):
    """Where a table has it from; a run names the sources of `domain.confidence`."""

    PROBABILITIES = "probabilities"  # of the levels
    SCORES = "scores"  # that are probabilities of 1 themselves
    COLUMN = "confidence"  # in the score that stands beside it


class Malformed(StrEnum):
    """Why probabilities are not used."""

    UNREADABLE = "neither a list nor a mapping of numbers"
    WRONG_LENGTH = "not one for each level"
    NOT_A_NUMBER = "a part that is no number"
    NEGATIVE = "a part below 0"
    NOT_SUMMING = "parts that do not sum to 1"
    UNKNOWN_LEVEL = "a level that is no score"
    OUTSIDE = "not from 0 to 1"


@dataclass(frozen=True, slots=True)
class CertainRow:
    """One judgment of a table that says how sure it is. `label` is the share of people who say the same of the item,
    `people` the mean of what they say."""

    unit: int
    question: str
    rater: int
    value: float
    shares: str | None
    confidence: float | None
    has_confidence: bool
    source: str | None
    people: float | None
    label: float | None


@dataclass(frozen=True, slots=True)
class SureJudgment:
    """One labelled judgment of a run with a confidence: `labels` are what people say of its text, each once (0 to 1),
    `weight` is 1 over its chance of having been drawn."""

    labels: tuple[float, ...]
    weight: float
    question: str
    score: float
    confidence: float
    is_probability: bool
    expected: float | None
