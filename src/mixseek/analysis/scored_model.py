"""What a run found under a protocol with dimensions, as plain data. Means are shares of the maximum, 0..1."""

from mixseek.analysis.run.model import ScoreSummary, Tally
from mixseek.domain.judgments import Status
from mixseek.domain.scored_counts import CoverageSizes, Disagreement, EvidenceProblem
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.difference import PairedDifference
from mixseek.stats.intervals import Interval
from mixseek.stats.uneven import UnevenTest


@dataclass(frozen=True, slots=True)
class ScaleMean:
    """A mean with its scale; `maximum` is None where samples have different ones."""

    count: int
    mean: float | None
    interval: Interval | None
    maximum: float | None
    # What the interval counts; `count` is of judgments.
    samples: int = 0
    questions: int = 0


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """`low` to `high` in the protocol's own scale, or in shares of the maximum where there are several."""

    low: float
    high: float
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class DimensionMean:
    dimension: str
    score: ScaleMean


@dataclass(frozen=True, slots=True)
class DimensionSummary(DimensionMean):
    bars: tuple[HistogramBar, ...]


@dataclass(frozen=True, slots=True)
class JudgeProfile:
    """One judge's marks, dimension by dimension; cross judgments only."""

    judge: str
    critical: int
    dimensions: tuple[DimensionSummary, ...]
    confidence: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class TargetProfile:
    """One target model under all judges but itself; `target` is None where samples name none."""

    target: str | None
    total: ScaleMean
    dimensions: tuple[DimensionMean, ...]
    verdicts: tuple[Tally, ...]
    critical: int


@dataclass(frozen=True, slots=True)
class TaskTypeProfile:
    """Weights differ between task types, so each has its own scale."""

    task_type: str
    total: ScaleMean
    dimensions: tuple[DimensionMean, ...]


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One judge on one target: cross judgments only."""

    target: str | None
    score: ScoreSummary
    verdicts: tuple[Tally, ...]
    same_family: bool
    is_own_output: bool  # the pair is the control table's, so nothing stands here


@dataclass(frozen=True, slots=True)
class MatrixRow:
    judge: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class ControlRow:
    """A model on its own output, beside what the other judges say of the same target."""

    judge: str
    target: str | None
    own: ScoreSummary
    others: ScaleMean

    @property
    def difference(self) -> float | None:
        """How much better a model finds itself than others find it; None where one side is silent."""
        if self.own.mean is None or self.others.mean is None:
            return None
        return self.own.mean - self.others.mean


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """One question under one variant; a status for each column, None where the dataset holds no output."""

    question: str
    variant: str | None
    statuses: tuple[Status | None, ...]


@dataclass(frozen=True, slots=True)
class Coverage(CoverageSizes):
    """`holes` are the first ones of `holes_total`; `lines` is empty where a grid would not fit on a page."""

    columns: tuple[tuple[str | None, str], ...]  # target and judge
    lines: tuple[CoverageLine, ...]


@dataclass(frozen=True, slots=True)
class GroupRate:
    """Invalid evaluations among those that brought a reply."""

    name: str | None
    invalid: int
    judged: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class InvalidFactor:
    """How invalid evaluations spread over the values of one factor; `p_adjusted` allows for all factors tested."""

    factor: str
    groups: tuple[GroupRate, ...]
    test: UnevenTest | None
    p_adjusted: float | None
    is_uneven: bool


@dataclass(frozen=True, slots=True)
class InvalidSpread:
    """All invalid evaluations of the run, self-judgments included."""

    whole: GroupRate
    factors: tuple[InvalidFactor, ...]

    @property
    def uneven(self) -> tuple[InvalidFactor, ...]:
        return tuple(factor for factor in self.factors if factor.is_uneven)


@dataclass(frozen=True, slots=True)
class MeasureDifference:
    """`measure` is a dimension, or None for the total; shares of the maximum."""

    measure: str | None
    difference: PairedDifference
    maximum: float | None


@dataclass(frozen=True, slots=True)
class VariantComparison:
    """`other` minus `base`, over pairs of one question, target and judge; dimensions that drift most come first."""

    base: str
    other: str
    total: MeasureDifference
    dimensions: tuple[MeasureDifference, ...]
    base_invalid: GroupRate
    other_invalid: GroupRate


@dataclass(frozen=True, slots=True)
class EvidenceSupport:
    """Quotes of one judge for one dimension (None: for all), and how many of them stand in the response."""

    judge: str
    dimension: str | None
    found: int
    quotes: int
    interval: Interval | None
    stages: tuple[Tally, ...]
    problems: tuple[Tally, ...]


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """Samples that at least two judges scored; `alpha` is Krippendorff's, None where scores do not vary."""

    samples: int
    unanimous: int
    interval: Interval | None
    mean_spread: float
    alpha: float | None
    items: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class ScoredReport:
    """Everything beyond headline, verdicts and reasons. `maximum` is None where samples have different ones."""

    maximum: float | None
    dimensions: tuple[str, ...]
    critical: int
    judges: tuple[JudgeProfile, ...]
    targets: tuple[TargetProfile, ...]
    task_types: tuple[TaskTypeProfile, ...]
    matrix: tuple[MatrixRow, ...]
    matrix_targets: tuple[str | None, ...]
    controls: tuple[ControlRow, ...]
    coverage: Coverage | None
    variants: tuple[VariantComparison, ...]
    invalid: InvalidSpread
    evidence: tuple[EvidenceSupport, ...]
    evidence_problems: tuple[EvidenceProblem, ...]
    panel: PanelAgreement | None
    # Whether the protocol has gates; where it has none, nothing can be critical.
    has_gates: bool = False
