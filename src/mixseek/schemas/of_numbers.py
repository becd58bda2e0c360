"""Documents about ratings, votes, comparisons and boards of systems."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from mixseek.cascades.certificate import Certificate, CertifiedLabels, CertifiedSource
from mixseek.cascades.plan import PlannedTier, PlanState
from mixseek.comparison.model import ComparedSide
from mixseek.domain.pair_counts import StatusPairs
from mixseek.schemas.parts import (
    ConfidenceDocument,
    CountingDocument,
    DifferenceDocument,
    GateDocument,
    PairDocument,
    ResponsesDocument,
    ShareInterval,
)
from mixseek.stats.estimates import Drawing, Estimator, State
from mixseek.stats.intervals import Bounds, Interval
from mixseek.stats.raters import EqualItems
from mixseek.stats.strengths.model import StrengthState


class RepeatedDocument(TypedDict):
    """How several ratings of one item by one rater became one."""

    ratings: int
    rule: str


class StandardErrorsDocument(TypedDict):
    iid: float | None
    cr0: float | None
    cr1: float | None
    miller: float | None


class RaterDocument(TypedDict):
    name: str
    n: int
    missing: int
    questions: int
    mean: float | None
    interval: Interval | None
    se: StandardErrorsDocument
    t_interval: Sequence[float] | None
    bounds: Bounds | None
    effective_questions: float | None


class CoefficientDocument(TypedDict):
    """`interval` is over questions; `independent_interval` takes items for independent."""

    value: float | None
    interval: Interval | None
    se: float | None
    independent_interval: Sequence[float] | None
    over: EqualItems | None


class ConfusionShare(TypedDict):
    value: float
    low: float
    high: float
    n: int
    over_questions: ShareInterval | None


class ConfusionDocument(TypedDict):
    tp: int
    fp: int
    fn: int
    tn: int
    accuracy: ConfusionShare | None
    sensitivity: ConfusionShare | None
    specificity: ConfusionShare | None
    ppv: ConfusionShare | None
    npv: ConfusionShare | None
    mcc: float | None


class RaterPairDocument(TypedDict):
    """`confusion` is of the second rater against the first, where both say right or wrong."""

    rater_1: str
    rater_2: str
    n: int
    coefficients: Mapping[str, CoefficientDocument]
    mean_difference: float | None
    pearson: float | None
    spearman: float | None
    kendall_tau_b: float | None
    auc: float | None
    brier: float | None
    confusion: ConfusionDocument | None


class AllRatersDocument(TypedDict):
    raters: Sequence[str]
    items: int
    complete_items: int
    ratings: int
    categories: Sequence[float] | Sequence[str]
    of: str
    coefficients: Mapping[str, CoefficientDocument]


class CorrectedEstimate(TypedDict):
    state: State
    sentence: str
    estimator: Estimator | None
    point: float | None
    low: float | None
    high: float | None
    labels: int
    items: int
    labelled_questions: int | None
    design_effect: float | None
    random_p: float | None


class PredictionPoweredDocument(TypedDict):
    point: float
    low: float
    high: float
    lam: float
    se: float


class KnownShare(TypedDict):
    n: int
    mean: float | None


class KnownJudgeDocument(TypedDict):
    positive: int
    negative: int
    sensitivity: float | None
    specificity: float | None


class CorrectedRater(TypedDict):
    """What people would say on average; `cells` are items, labels and positive labels by verdict."""

    judge: str
    corrected: CorrectedEstimate
    labels_only: CorrectedEstimate
    judge_mean: float | None
    human: KnownShare
    cells: Mapping[str, Sequence[float]]
    known_judge: KnownJudgeDocument | None
    unlabelled_share: float | None
    unscored: int
    left_out: int
    beside: Mapping[str, PredictionPoweredDocument | CorrectedEstimate | None]


class RaterTest(TypedDict):
    """A paired test of two systems; nothing but `questions` where none is in common."""

    name: str
    questions: int
    unscored: int
    bounds: Bounds | None
    difference: NotRequired[float]
    se: NotRequired[float | None]
    interval: NotRequired[Interval | None]
    better: NotRequired[int]
    worse: NotRequired[int]
    p: NotRequired[float]
    test: NotRequired[str]
    t_p: NotRequired[float | None]
    mcnemar_exact_p: NotRequired[float | None]
    mcnemar_mid_p: NotRequired[float | None]
    correlation: NotRequired[float | None]
    is_clear: NotRequired[bool]


class SystemsDocument(TypedDict):
    first: str
    second: str
    raters: Sequence[RaterTest]
    corrected: Sequence[CorrectedRater]


class StatsDocument(TypedDict):
    """Statistics of ratings; a number that cannot be had is null."""

    source: str
    ratings: int
    items: int
    questions: int
    repeated: RepeatedDocument
    categories: Sequence[str] | None
    scale: Sequence[float] | None
    human: str | None
    labels: Drawing | None
    raters: Sequence[RaterDocument]
    against_human: Sequence[RaterPairDocument]
    agreement: AllRatersDocument | None
    verdict_agreement: AllRatersDocument | None
    pairs: Sequence[RaterPairDocument]
    corrected: Sequence[CorrectedRater]
    comparison: SystemsDocument | None
    responses: Mapping[str, ResponsesDocument]
    notes: Sequence[str]
    confidences: Sequence[ConfidenceDocument]


class StatsPart(StatsDocument):
    """The statistics of the rows with one value; null where they have none."""

    part: str | None


class StatsByDocument(TypedDict):
    """Statistics of each value of a column or an expression."""

    source: str
    by: str
    parts: Sequence[StatsPart]


class VoteShare(TypedDict):
    n: int
    value: float
    low: float
    high: float
    over_questions: Interval | None


class BothOrders(TypedDict):
    pairs: int
    with_null: int
    with_tie: int
    decisive: int
    consistent: int
    first_both: int
    second_both: int
    consistency: VoteShare | None
    position_bias: float | None
    position_bias_interval: Interval | None
    first_shown_rate: float | None
    sign_test_p: float | None
    accuracy_both_orders: float | None
    accuracy_mean_of_orders: float | None


class OrderVotes(TypedDict):
    first: int
    second: int
    tie: int
    missing: int


class AllVotes(TypedDict):
    votes: int
    ties: int
    missing: int
    first_shown: VoteShare | None
    accuracy: float | None
    by_order: Mapping[str, OrderVotes]


class JudgeVotes(TypedDict):
    judge: str
    both_orders: BothOrders
    all_votes: AllVotes


class LengthCoefficient(TypedDict):
    value: float
    interval: Interval | None
    se: float
    se_clustered: float | None
    se_hc3: float | None


class LengthDocument(TypedDict):
    judge: str
    model: str
    n: int
    state: str
    coefficients: Mapping[str, LengthCoefficient]


class MajorityDocument(TypedDict):
    accuracy: float | None
    ties: int


class DawidSkeneDocument(TypedDict):
    accuracy: float | None
    prior: Mapping[str, float]
    log_likelihood: float
    iterations: int
    has_converged: bool
    assumption: str


class BestJudge(TypedDict):
    judge: str
    accuracy: float | None


class Juror(BestJudge):
    n: int


class JuryDocument(TypedDict):
    items: int
    votes: int
    labels: Sequence[str]
    majority: MajorityDocument
    dawid_skene: DawidSkeneDocument
    best_single: BestJudge | None
    mean_single: float | None
    judges: Sequence[Juror]


class VotesDocument(TypedDict):
    """Votes between two responses, what length does to them, and juries."""

    source: str
    ratings: int
    items: int
    questions: int
    human: str | None
    votes: Sequence[JudgeVotes]
    length: Sequence[LengthDocument]
    jury: JuryDocument | None
    notes: Sequence[str]


class StandingDocument(TypedDict):
    system: str
    rank: int | None
    best_rank: int | None
    worst_rank: int | None
    strength: float | None
    interval: Interval | None
    se: float | None
    se_fisher: float | None
    win_rate: float | None
    win_rate_interval: Interval | None
    won: float
    ties: int
    comparisons: int
    questions: int


class LengthSlope(TypedDict):
    slope: float
    se: float | None


class StrengthsDocument(TypedDict):
    """`wins` and `win_rates` are rows of `systems` against columns of `systems`, ties as half."""

    state: StrengthState
    sentence: str
    parts: Sequence[Sequence[str]]
    comparisons: int
    questions: int
    standings: Sequence[StandingDocument]
    systems: Sequence[str]
    wins: Sequence[Sequence[float]]
    win_rates: Sequence[Sequence[float | None]]
    win_rate_intervals: Sequence[Sequence[Interval | None]]
    length: LengthSlope | None


class PanelDocument(TypedDict):
    rule: str
    split: int


class OrderAgreementDocument(TypedDict):
    systems: int
    pairs: int
    same_order: int
    kendall_tau_b: float | None


class BoardDocument(StrengthsDocument):
    """Systems that were compared two by two, the strongest first."""

    kind: str
    source: str
    judges: Sequence[str]
    panel: PanelDocument | None
    certainty: Mapping[str, float]
    controlled: StrengthsDocument | None
    human: StrengthsDocument | None
    agreement: OrderAgreementDocument | None
    responses: Mapping[str, ResponsesDocument]
    notes: Sequence[str]


class CascadeWatchDocument(TypedDict):
    """What audits of runs that followed one cascade file came to; `raised_at` is the label that raised drift."""

    runs: Sequence[str]
    agree: float
    drawn: int
    audited: int
    disagreements: float
    agreement: float | None
    evidence: float
    raises_at: float
    raised_at: int | None
    is_drift: bool


class CascadeDocument(TypedDict):
    """What may be decided without people, and by whom; `path` is the file that says so, where there is one."""

    state: PlanState
    agree: float
    confidence: float
    last: str
    texts: int
    questions: int
    labels: CertifiedLabels
    tiers: Sequence[PlannedTier]
    decided: int
    decided_share: float
    agreement: float | None
    interval: Interval | None
    best: float | None
    labels_needed: int | None
    cost: float | None
    dearest: float | None
    cost_share: float | None
    notes: Sequence[str]
    path: str | None


class CascadePlanDocument(CascadeDocument):
    """The same with what it was planned from; `certificate` is None where nothing may be decided."""

    sources: Sequence[CertifiedSource]
    certificate: Certificate | None


class GroupDifferenceDocument(DifferenceDocument):
    name: str | None
    p_adjusted: float | None


class DriftDocument(TypedDict):
    """Texts that are the same on both sides: whatever changed there is the judge's doing."""

    same_texts: int
    changed: int
    lost_scores: int
    part_of_difference: float | None
    shift: DifferenceDocument | None
    without: DifferenceDocument
    sentences: Sequence[str]
    pairs: Sequence[PairDocument]


class CompareDocument(DifferenceDocument):
    """B against A, sample by sample."""

    protocol: str
    protocol_hash: str
    a: ComparedSide
    b: ComparedSide
    paired_by: Sequence[str]
    conclusion: str
    movement: str | None
    responses: Mapping[str, ResponsesDocument]
    counting: CountingDocument
    warning: str | None
    finished: DifferenceDocument | None
    statuses: Sequence[StatusPairs]
    groups: Mapping[str, Sequence[GroupDifferenceDocument]]
    drift: DriftDocument
    better: Sequence[PairDocument]
    worse: Sequence[PairDocument]
    unscored: Sequence[PairDocument]
    ids: Mapping[str, Sequence[str]]
    corrected: None
    notes: Sequence[str]
    gates: Sequence[GateDocument]
    html: str | None
