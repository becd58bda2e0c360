"""What a database can count about a run under a protocol with dimensions: scores, coverage, evidence, agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from mixseek.domain.counts import UnitGroups
from mixseek.domain.judgments import Status
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ScoredCell:
    """Judgments that agree in every named field; sums are zero unless the status is valid."""

    judge: str  # who judged: the recorded judge model where there is one
    target: str | None
    variant: str | None
    language: str | None
    task_type: str | None
    status: Status
    verdict: str | None
    confidence: str | None
    is_control: bool
    same_family: bool
    is_critical: bool  # a gate such as Critical Fail was not passed
    maximum: float | None  # of the total, in the protocol's own scale
    count: int
    score_total: float = 0.0
    score_total_of_squares: float = 0.0
    unverified: int = 0  # these protocols extract no answer


@dataclass(frozen=True, slots=True)
class DimensionCell:
    """Scores of one dimension that agree in every named field, in the protocol's own scale; cross judgments only."""

    judge: str
    target: str | None
    variant: str | None
    task_type: str | None
    dimension: str
    maximum: float
    count: int
    total: float
    total_of_squares: float


@dataclass(frozen=True, slots=True)
class DimensionBucket:
    """`low` to `high` in the protocol's own scale; equal where a bucket is one mark."""

    judge: str
    dimension: str
    maximum: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class VariantSums:
    """Differences between two prompt variants, paired by question, target and judge.

    All that an interval needs which knows that pairs of one question resemble each other: per question, the number
    of pairs (`n`) and the sum of their differences (`s`), as sums over questions.
    """

    measure: str | None  # a dimension, or None for the total; differences are shares of the maximum
    base: str
    other: str
    questions: int
    pairs: int
    total: float  # Σ s
    total_of_squares: float  # Σ s²
    total_of_products: float  # Σ n·s
    pairs_of_squares: float  # Σ n²


@dataclass(frozen=True, slots=True)
class EvidenceCount:
    """Quotes of one judge for one dimension; `stage` says how one was found, `problem` why it was not."""

    judge: str
    dimension: str | None
    stage: str | None
    problem: str | None
    count: int


@dataclass(frozen=True, slots=True)
class EvidenceProblem:
    """One quote that is not in the judged response."""

    id: str
    judge: str
    dimension: str | None
    problem: str
    quote: str


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One sample on which judges differ; judges stand from the lowest score to the highest."""

    id: str
    target: str | None
    variant: str | None
    question: str | None
    spread: float  # highest score minus lowest, 0..1
    verdicts: int
    judges: Sequence[tuple[str, float, str]]  # judge, score, verdict


@dataclass(frozen=True, slots=True)
class CoverageCell:
    """One combination of question, variant, target and judge; `status` is None where the dataset holds no output."""

    question: str
    variant: str | None
    target: str | None
    judge: str
    status: Status | None


@dataclass(frozen=True, slots=True)
class CoverageSizes:
    """`expected` is every question under every variant, by every target, before every judge."""

    questions: int
    variants: int
    targets: int
    judges: int
    expected: int
    valid: int
    holes: Sequence[CoverageCell]  # the first ones, in order
    unnamed: int  # samples that name no question, so belong nowhere in the grid

    @property
    def holes_total(self) -> int:
        return self.expected - self.valid


@dataclass(frozen=True, slots=True)
class CoverageCounts(CoverageSizes):
    grid: Sequence[CoverageCell]  # everything, or empty where it would not fit on a page


@dataclass(frozen=True, slots=True)
class ScoredUnits:
    """What intervals rest on, group by group; cross judgments only but for `own_outputs` and `invalid`."""

    targets: UnitGroups = field(default_factory=dict)  # by the rule of the panel
    task_types: UnitGroups = field(default_factory=dict)
    pairs: UnitGroups = field(default_factory=dict)  # judge and target
    own_outputs: UnitGroups = field(default_factory=dict)  # judge and target
    judge_dimensions: UnitGroups = field(default_factory=dict)
    target_dimensions: UnitGroups = field(default_factory=dict)
    task_type_dimensions: UnitGroups = field(default_factory=dict)
    # Factor to its groups; the factor "" is the run as a whole.
    invalid: Mapping[str, UnitGroups] = field(default_factory=dict)
    quotes: UnitGroups = field(default_factory=dict)  # judge, and judge and dimension


@dataclass(frozen=True, slots=True)
class TakeSpread:
    """How far a judge agrees with itself over samples with several valid takes; `mean_spread` in units of the score."""

    judge: str
    samples: int
    unanimous: int
    mean_spread: float


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Judgments that are unusable for one reason; `why` is in the words of the first, `sample_id` its sample."""

    judge: str
    status: Status
    why: str
    count: int
    sample_id: str
