"""What `mixseek stats` says of ratings, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from mixseek.domain.counts import ResponseCounts
from mixseek.domain.shown import Shown
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.confidence import JudgeConfidence
from mixseek.stats.corrected import PredictionPowered
from mixseek.stats.estimates import Cell as VerdictCell
from mixseek.stats.estimates import Corrected, Drawing
from mixseek.stats.intervals import Bounds, Interval, StandardErrors
from mixseek.stats.known_judge import KnownJudge
from mixseek.stats.paired_test import PairedTest
from mixseek.stats.raters import Coefficient, Confusion


@dataclass(frozen=True, slots=True)
class RaterLine:
    """`mean` is None for texts. `t_interval` is mean ± t · cr1, as papers give it, and may leave the scale.

    `missing` items have no score; `bounds` are what the mean would be, whatever they are worth.
    """

    name: str
    ratings: int
    missing: int
    questions: int
    is_binary: bool
    mean: float | None = None
    interval: Interval | None = None
    errors: StandardErrors | None = None
    t_interval: tuple[float, float] | None = None
    bounds: Bounds | None = None
    effective_questions: float | None = None  # of equal size, that would carry as much


@dataclass(frozen=True, slots=True)
class PairLine:
    """Two raters on the items that both rated; `mean_difference` is the first's minus the second's."""

    first: str
    second: str
    items: int
    coefficients: Sequence[Coefficient]
    mean_difference: float | None = None
    pearson: float | None = None
    spearman: float | None = None
    kendall_tau_b: float | None = None
    auc: float | None = None  # of the second's scores against the first's right and wrong
    brier: float | None = None
    confusion: Confusion | None = None  # of the second against the first, where both say right or wrong
    shares: Mapping[str, Interval | None] = field(default_factory=dict)  # of that confusion, over questions


# What is compared in a table, where a value is all that there is; in a run, verdicts or scores.
RATINGS = "ratings"


@dataclass(frozen=True, slots=True)
class AgreementSection:
    """All raters together, on items with at least two ratings; `of` is what of these is compared."""

    raters: Sequence[str]
    items: int
    complete_items: int
    ratings: int
    categories: Sequence[float] | Sequence[str]
    coefficients: Sequence[Coefficient]
    of: str = RATINGS


@dataclass(frozen=True, slots=True)
class CorrectedLine:
    """What people would say on average, from a judge and labels; `beside` are other estimators, by name.

    `known_mean` is of all that the human said, label or not: where labels are drawn from it, it is the truth to meet.
    """

    judge: str
    corrected: Corrected
    labels_only: Corrected
    judge_mean: float | None
    known: int
    known_mean: float | None
    cells: Mapping[str, VerdictCell]
    beside: Mapping[str, Corrected | PredictionPowered | None]
    known_judge: KnownJudge | None = None  # of right-or-wrong verdicts
    unlabelled_share: float | None = None  # of positive verdicts among items without a label
    unscored: int = 0  # items that the judge gave no score; they are in the estimate all the same
    left_out: int = 0  # the same, where the pool was asked to be without them
    is_share: bool = False
    is_difference: bool = False


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """What one rater says of two systems; `unscored` items are in no difference, but in `bounds`."""

    rater: str
    test: PairedTest | None
    unscored: int
    bounds: Bounds | None
    is_share: bool


@dataclass(frozen=True, slots=True)
class SystemComparison:
    """Two systems on the questions that both answered, by each rater; corrected by labels where there are some."""

    first: str
    second: str
    tests: Sequence[ComparedLine]
    corrected: Sequence[CorrectedLine]


@dataclass(frozen=True, slots=True)
class Statistics(Shown):
    """Everything `mixseek stats` says."""

    source: str
    ratings: int
    items: int
    questions: int
    repeated: int
    uses_mean: bool
    categories: Sequence[str]
    scale: tuple[float, float] | None
    raters: Sequence[RaterLine]
    human: str | None
    drawing: Drawing
    against_human: Sequence[PairLine]
    agreement: AgreementSection | None
    verdict_agreement: AgreementSection | None  # of a run: scores and verdicts agree differently
    pairs: Sequence[PairLine]
    corrected: Sequence[CorrectedLine]
    comparison: SystemComparison | None
    responses: Mapping[str, ResponseCounts]  # how they ended, by who wrote them, where not all are finished
    notes: Sequence[str]
    confidences: Sequence[JudgeConfidence] = ()
    people: int = 0  # how many are one rater together


@dataclass(frozen=True, slots=True)
class PartedStatistics(Shown):
    """The same for each value of an expression: criteria of a rubric, or whatever else stands in one table."""

    source: str
    by: str
    parts: Sequence[tuple[str | None, Statistics]]
