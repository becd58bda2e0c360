"""What several documents hold: a mean with what limits it, an estimate that labels correct, a gate."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from mixseek.analysis.labels.corrected import CalibrationPoint, ConfusionRow, JudgeMean, JudgeShare
from mixseek.analysis.run.model import PanelCounts
from mixseek.domain.counts import StatusCounts
from mixseek.domain.labels import LabelScale
from mixseek.domain.ports import Latency
from mixseek.domain.scored_counts import Disagreement
from mixseek.stats.calibration import BrierScore, CalibrationError, CalibrationState, ReliabilityBin
from mixseek.stats.difference import DifferenceState, Direction, FlipTest
from mixseek.stats.estimates import Drawing, Estimator, State
from mixseek.stats.expected import ExpectedScores
from mixseek.stats.intervals import Bounds, Interval
from mixseek.stats.raters import EqualItems
from mixseek.stats.risk_coverage import RiskCoverage


class Units(TypedDict):
    """What an interval counts; `effective_questions` of equal size would carry as much."""

    samples: int
    questions: int
    effective_questions: float | None


class EndedSo(TypedDict):
    """Responses that ended in one way, and their share of all."""

    count: int
    share: float


class ResponsesDocument(TypedDict):
    """How responses ended; `left_out` are in no mean by choice, `undecided_incorrect` in it without a verdict."""

    total: int
    cut_off: EndedSo
    withheld: EndedSo
    empty: EndedSo
    left_out: int
    undecided_incorrect: int


class FinishedDocument(TypedDict):
    """The mean of the responses that came to their end."""

    mean_score: float | None
    interval: Interval | None
    units: Units


class CountingDocument(TypedDict):
    """What means take: `incorrect` or `leave-out`."""

    cut_off: str
    undecided: str


class Score(TypedDict):
    """A mean with everything that limits it; counts stand beside it and are never mixed in.

    `finished` is null where every response is.
    """

    mean_score: float | None
    counts: StatusCounts | PanelCounts
    interval: Interval | None
    bounds: Bounds | None
    unverified: int
    units: Units
    responses: ResponsesDocument
    finished: FinishedDocument | None


class FirstReplies(TypedDict):
    """How many first replies were invalid, whatever came of asking again."""

    replies: int
    invalid: int
    invalid_share: float | None


class RankedGroup(Score):
    rank: int | None


class RankedTarget(RankedGroup):
    target: str | None


class RankedVariant(RankedGroup):
    variant: str | None


class RankedValue(RankedGroup):
    value: str | None


class HeadlineDocument(Score):
    """One verdict a sample, by the rule of the panel; `by` holds breakdowns that were asked for, by column."""

    rule: str | None
    judges: Sequence[str]
    counting: CountingDocument
    warning: str | None
    targets: Sequence[RankedTarget]
    variants: Sequence[RankedVariant]
    by: Mapping[str, Sequence[RankedValue]]


class CallsDocument(TypedDict):
    """What one judge was asked; `cost_usd` is the known part."""

    calls: int
    cached: int
    tries: int
    reasks: int
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int
    uncounted_calls: int
    cost_usd: float | None
    unpriced_calls: int
    latency_seconds: Latency | None
    models: Sequence[str]
    finish_reasons: Mapping[str, int]
    masked_replies: int
    cache_write_tokens: int
    reasoning_tokens: int
    batched_calls: int
    saved_by_cache_usd: float
    saved_by_batch_usd: float


class EstimateDocument(TypedDict):
    """`state` says whether there is a number; `mean`, `low` and `high` are null where there is none."""

    state: State
    estimator: Estimator | None
    mean: float | None
    low: float | None
    high: float | None
    labels: int
    clusters: int | None
    design_effect: float | None
    random_p: float | None
    sentence: str


class UnlabelledVerdict(TypedDict):
    verdict: str
    samples: int


class CorrectedGroupDocument(TypedDict):
    """One headline, three ways: judges alone, labels alone, corrected; shares of the scale."""

    samples: int
    labelled: int
    drawing: Drawing
    judges: JudgeMean
    labels_only: EstimateDocument
    corrected: EstimateDocument
    unlabelled: Sequence[UnlabelledVerdict]
    sentence: str


class LabelsDocument(TypedDict):
    texts: int
    raters: Sequence[str]
    disputed: int
    draws: Sequence[str]
    drawn_from: str | None
    from_dataset: int
    unreadable: int


class JudgeAgainstPeopleDocument(TypedDict):
    """One judge: its verdicts beside labels, and how often it sees what people see."""

    judge: str
    confusion: Sequence[ConfusionRow]
    sensitivity: JudgeShare | None
    specificity: JudgeShare | None
    drawing: Drawing


class CorrectedDocument(CorrectedGroupDocument):
    """The whole run, then its targets."""

    level: float
    scale: LabelScale
    labels: LabelsDocument
    targets: Mapping[str, CorrectedGroupDocument]
    confusion: Sequence[ConfusionRow]
    by_judge: Sequence[JudgeAgainstPeopleDocument]
    kappa: float | None
    calibration: Sequence[CalibrationPoint]
    bias: float | None
    distance: float | None


class CalibrationDocument(TypedDict):
    """What labels say of confidences; numbers are null in states that refuse them."""

    state: CalibrationState
    labels: int
    questions: int
    mean_chance: float | None
    mean_label: float | None
    bins: Sequence[ReliabilityBin]
    ece: CalibrationError | None
    equal_mass_bins: Sequence[ReliabilityBin]
    ece_of_equal_mass: CalibrationError | None
    brier: BrierScore | None
    risk_coverage: RiskCoverage | None


class ConfidenceDocument(TypedDict):
    """How sure a judge is, by one source; `malformed` are counted by what is wrong with them, and not used."""

    judge: str
    source: str
    judgments: int
    without: int
    malformed: Mapping[str, int]
    levels: Sequence[float]
    is_order: bool
    mean_confidence: float | None
    mean_given: float | None
    mean_expected: float | None
    labels_drawn: str | None
    calibration: CalibrationDocument | None
    expected: ExpectedScores | None


class ShareInterval(TypedDict):
    low: float
    high: float
    method: str


class PairShare(TypedDict):
    value: float | None
    interval: ShareInterval | None
    pairs: int
    questions: int


class TargetPairDocument(TypedDict):
    target: str | None
    against: str | None
    wins: int
    ties: int
    losses: int
    without: int
    score: PairShare


class JudgePairsDocument(TypedDict):
    """`consistency`, `first_shown` and `bias` are of pairs in which both orders name a winner."""

    judge: str
    pairs: int
    without_a_vote: int
    with_a_tie: int
    consistent: int
    first_both: int
    second_both: int
    bias: float | None
    sign_test_p: float | None
    states: Mapping[str, int]
    consistency: PairShare
    first_shown: PairShare
    tie_rate: PairShare
    human_agreement: PairShare


class PairsDocument(TypedDict):
    targets: Sequence[TargetPairDocument]
    judges: Sequence[JudgePairsDocument]
    human_agreement: PairShare | None


class ComparedCoefficient(TypedDict):
    value: float | None
    interval: Interval | None
    of: str
    why: str | None
    over: EqualItems | None


class AgreementUnits(TypedDict):
    samples: int
    questions: int


class JudgePairDocument(TypedDict):
    judges: Sequence[str]
    samples: int
    coefficients: Mapping[str, ComparedCoefficient]


class DisagreementsDocument(TypedDict):
    total: int
    items: Sequence[Disagreement]


class AgreementDocument(TypedDict):
    """The agreement between judges; each coefficient by name, with its interval or why it has none."""

    judges: Sequence[str]
    units: AgreementUnits
    counted: int
    unanimous: int
    unanimous_share: float
    unanimous_interval: Interval | None
    mean_spread: float
    coefficients: Mapping[str, ComparedCoefficient]
    pairs: Sequence[JudgePairDocument]
    disagreements: DisagreementsDocument


class ConsistencyDocument(TypedDict):
    judge: str
    samples: int
    questions: int
    unanimous: int
    unanimous_interval: Interval | None
    own_share: float | None
    own_interval: Interval | None
    unanimous_share: float


class GateDocument(TypedDict):
    """A limit and what was held against it; a gate against a baseline says more."""

    gate: str
    limit: float
    actual: float | None
    met: bool
    judge: NotRequired[str | None]
    # Of a gate on checks: the one that failed most often, and how often.
    check: NotRequired[str | None]
    detail: NotRequired[str | None]
    on: NotRequired[str]
    baseline: NotRequired[str]
    why: NotRequired[str]


class CheckedDocument(TypedDict):
    """How often a check failed, of the samples that it applied to."""

    failed: int
    applied: int
    not_applicable: int
    failed_share: float | None


class CheckedTarget(CheckedDocument):
    target: str | None


class CheckDocument(CheckedDocument):
    check: str
    targets: Sequence[CheckedTarget]


class PairCountsDocument(TypedDict):
    pairs: int
    scored: int
    unscored: int
    better: int
    worse: int
    equal: int


class DifferenceUnits(TypedDict):
    pairs: int
    questions: int


class DifferenceDocument(TypedDict):
    """B minus A; null where there is no number, and `state` says why."""

    state: DifferenceState
    why: str | None
    difference: float | None
    interval: Interval | None
    test: FlipTest | None
    direction: Direction
    bounds: Bounds | None
    mean_a: float | None
    mean_b: float | None
    units: DifferenceUnits
    counts: PairCountsDocument


class PairDocument(TypedDict):
    id: str
    id_a: str
    id_b: str
    question_id: str | None
    task: str | None
    a: float | None
    b: float | None
    difference: float | None
    status_a: str
    status_b: str
    same_text: bool
    samples_a: int
    samples_b: int


class BaselineDrift(TypedDict):
    same_texts: int
    changed: int
    part_of_difference: float | None


class Unpaired(TypedDict):
    baseline: int
    run: int


class BaselineDocument(DifferenceDocument):
    """The difference to a baseline, with the first ids that got worse."""

    run: str
    drift: BaselineDrift
    worse: Sequence[PairDocument]
    unpaired: Unpaired
    notes: Sequence[str]


# Whatever a dataset, a configuration or a protocol holds: its keys are not ours.
Anything = Mapping[str, Any]
