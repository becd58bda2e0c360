"""What is known of how sure judges are, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.calibration import Calibration
from mixseek.stats.expected import ExpectedScores


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
class JudgeConfidence:
    """One judge with confidences of one source. `without`: valid judgments that have none of it; `malformed` ones are
    counted by what is wrong with them, and never used. Where confidences are an `is_order`, they are no probabilities:
    only risk against coverage is known of them.

    `mean_expected` and `mean_given` are of the same judgments, on the judge's scale.
    """

    judge: str
    source: str
    judgments: int
    without: int = 0
    malformed: Mapping[str, int] = field(default_factory=dict)
    levels: Sequence[float] = ()
    is_order: bool = False
    mean_confidence: float | None = None
    mean_given: float | None = None
    mean_expected: float | None = None
    calibration: Calibration | None = None  # None where nobody's word is the truth
    expected: ExpectedScores | None = None
    # How the labels were drawn, where that is known.
    drawing: str | None = None


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
