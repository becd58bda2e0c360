"""What is known of how sure one judge is: how many say so, what means come to, and what labels say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.calibration import Calibration
from mixseek.stats.expected import ExpectedScores


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
