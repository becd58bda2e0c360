"""Documents about judged runs: judging, reports, lists, single samples, labels."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from mixseek.analysis.run.model import RuleUsage
from mixseek.analysis.scored_model import ScoredReport
from mixseek.domain.counts import ConfidenceCount, StatusCounts
from mixseek.domain.judgments import JudgedRow
from mixseek.domain.scored_counts import FailureGroup, TakeSpread
from mixseek.labels.status import DrawState, ProtocolLabels
from mixseek.runs.cards import Card
from mixseek.runs.dry_run import Forecast
from mixseek.schemas.of_answers import AnswersDocument
from mixseek.schemas.of_numbers import BoardDocument, CascadeDocument, CompareDocument
from mixseek.schemas.of_races import LeaderboardDocument
from mixseek.schemas.parts import (
    AgreementDocument,
    Anything,
    BaselineDocument,
    CallsDocument,
    CheckDocument,
    ConfidenceDocument,
    ConsistencyDocument,
    CorrectedDocument,
    FirstReplies,
    GateDocument,
    HeadlineDocument,
    PairsDocument,
    Score,
)
from mixseek.setup.demo import DemoRow
from mixseek.stats.label_planning import GradedSpread


class JudgeScore(Score):
    asked_again: int
    first_replies: FirstReplies | None


class UnmatchedReplies(TypedDict):
    count: int
    first: Sequence[str]


class RoutedTierDocument(TypedDict):
    """One tier of a cascade file: `decided` are samples whose verdict counts because it was sure enough."""

    name: str
    judges: Sequence[str]
    source: str | None
    threshold: float | None
    asked: int
    decided: int


class RouteDocument(TypedDict):
    """What became of a run that followed a cascade file, by which promise."""

    agree: float
    confidence: float
    made_on: str
    labels: int
    agreement: float
    agreement_low: float
    agreement_high: float
    certificate: str
    tiers: Sequence[RoutedTierDocument]
    samples: int
    decided: int
    by_last: int
    left: int


class SummaryDocument(Score):
    """What a run amounts to: of samples, each with one verdict; `counts` are of judgments."""

    run: str
    workspace: str
    protocol: str
    protocol_hash: str
    dataset: Anything
    samples: int
    judges: Sequence[str]
    cascade: bool
    repeats: int
    headline: HeadlineDocument
    control: Score | None
    per_judge: Mapping[str, JudgeScore]
    asked_again: int
    calls: Mapping[str, CallsDocument]
    spreads: Mapping[str, TakeSpread]
    gates: Sequence[GateDocument]
    unmatched_replies: Mapping[str, UnmatchedReplies]
    needs_maths: int
    complete: bool
    journal: str
    manifest: str
    seconds: float
    notices: Sequence[str]
    corrected: CorrectedDocument | None
    pairs: PairsDocument | None
    checks: Sequence[CheckDocument]
    route: RouteDocument | None
    confidences: Sequence[ConfidenceCount]


class UnusableRow(TypedDict):
    id: str
    judge: str
    status: str
    why: Sequence[str]


class JudgeDocument(SummaryDocument):
    """A run that was just judged, with what it is held against."""

    unusable: Sequence[UnusableRow]
    unusable_reasons: Sequence[FailureGroup]
    baseline: BaselineDocument | None


class DryRunDocument(TypedDict):
    """What a run would send; nothing was sent, and tokens are estimated from characters."""

    run: str
    samples: int
    pending: int
    is_upper_bound: bool
    forecasts: Sequence[Forecast]
    calls: int
    cost_usd: float | None
    is_estimate: bool


class AuditDryRunDocument(TypedDict):
    """What an audit would send, run by run."""

    runs: Sequence[DryRunDocument]


class ReasoningCounts(TypedDict):
    correct: int
    incorrect: int


class ReasoningDocument(TypedDict):
    """Reasoning scores: the mean, and how many judgments gave each."""

    mean: float
    mean_correct: float | None
    mean_incorrect: float | None
    counts: Mapping[str, ReasoningCounts]


class GroupScore(Score):
    reasoning: ReasoningDocument | None


class TaskScore(GroupScore):
    task: str | None


class TargetScore(GroupScore):
    target: str | None


class DetailDocument(TypedDict):
    text: str
    count: int


class FlagDocument(TypedDict):
    flag: str
    count: int
    details: Sequence[DetailDocument]
    details_total: int


class StatusDocument(TypedDict):
    status: str
    count: int
    details: Sequence[DetailDocument]
    details_total: int


class ReportedJudge(Score):
    """One judge over everything that it judged."""

    judge: str
    model: str | None
    control: Score | None
    asked_again: int
    first_replies: FirstReplies | None
    warnings: Mapping[str, int]
    verdicts: Mapping[str, int]
    error_types: Mapping[str, int]
    reasoning: ReasoningDocument | None
    tasks: Sequence[TaskScore]
    targets: Sequence[TargetScore]
    rules: Sequence[RuleUsage]
    flags: Sequence[FlagDocument]
    reasons: Sequence[StatusDocument]


class ReportDocument(TypedDict):
    """A run's numbers; its rows are what `mixseek export` is for."""

    run: str
    protocol: str
    protocol_version: str
    protocol_hash: str
    dataset: str
    samples: int
    protocol_language: str
    started_at: str | None
    ended_at: str | None
    unreached: int
    judges: Sequence[ReportedJudge]
    headline: HeadlineDocument | None
    agreement: AgreementDocument | None
    consistency: Sequence[ConsistencyDocument]
    scored: ScoredReport | None
    calls: Mapping[str, CallsDocument]
    corrected: CorrectedDocument | None
    confidences: Sequence[ConfidenceDocument]
    pairs: PairsDocument | None
    checks: Sequence[CheckDocument]
    route: RouteDocument | None
    html: str | None
    # Of `mixseek report`, which can hold a run against a baseline; the viewer has none.
    baseline: NotRequired[BaselineDocument | None]
    gates: NotRequired[Sequence[GateDocument]]


class RunBeside(TypedDict):
    run: str
    dataset: str
    judges: Sequence[str]


class ScoreBeside(RunBeside, Score):
    control: StatusCounts


class SideBySideDocument(TypedDict):
    """Several runs beside each other, and pooled."""

    protocol: str
    protocol_hash: str
    runs: Sequence[ScoreBeside]
    pooled: Score
    notes: Sequence[str]


class ShowDocument(TypedDict):
    """One sample under every judge."""

    id: str
    judgments: Sequence[JudgedRow]


class LeadingGroup(TypedDict):
    """The first targets, or variants, in short; the ends are of the interval."""

    name: str | None
    mean_score: float | None
    low: float | None
    high: float | None


class KeptHeadlineDocument(Score):
    """A run's headline in short: `leading` are the first of `groups`, ranked by `column`; costs are the known part."""

    rule: str | None
    maximum: float | None
    column: str | None
    groups: int
    leading: Sequence[LeadingGroup]
    calls: int
    unpriced_calls: int
    cost_usd: float | None


class RunEntry(TypedDict):
    kind: str
    run: str
    protocol: str
    protocol_hash: str
    dataset: str
    judges: Sequence[str]
    counts: StatusCounts | None
    mean_score: float | None
    started_at: str | None
    sealed: bool
    problem: str | None
    running: bool
    headline: KeptHeadlineDocument | None
    labelled: int | None
    dataset_sha256: str | None


class CompetitionEntry(TypedDict):
    kind: str
    execution: str
    status: str
    teams: int
    rounds: int
    leader: str | None
    best_score: float | None
    started_at: str


class AnswersEntry(TypedDict):
    kind: str
    name: str
    questions: str
    targets: Sequence[str]
    variants: Sequence[str]
    planned: int
    answered: int | None
    cut_off: int | None
    without_answer: int | None
    question_count: int
    repeats: int
    ends: Mapping[str, int] | None
    calls: int | None
    unpriced: int | None
    cost_usd: float | None
    started_at: str | None
    is_complete: bool
    is_running: bool
    problem: str | None


class RunsDocument(TypedDict):
    """What a workspace holds."""

    runs: Sequence[RunEntry]
    competitions: Sequence[CompetitionEntry]
    answers: Sequence[AnswersEntry]


class SpentEntry(TypedDict):
    """Calls of one judge of one run in one month; amounts are the known part."""

    month: str
    judge: str
    run: str
    calls: int
    unpriced_calls: int
    cost_usd: float
    saved_by_cache_usd: float
    saved_by_batch_usd: float


class RunsCostDocument(TypedDict):
    """What calls of a workspace cost."""

    spent: Sequence[SpentEntry]
    cost_usd: float
    saved_by_cache_usd: float
    saved_by_batch_usd: float
    unpriced_calls: int


class DrawnStratum(TypedDict):
    values: Mapping[str, str | None]
    texts: int
    drawn: int
    probability: float


class LabelSampleDocument(TypedDict):
    """What was drawn from what, without the rows."""

    draw: str
    run: str
    sheet: str
    seed: int
    drawn: int
    texts: int
    stratify: Sequence[str]
    strata: Sequence[DrawnStratum]
    repeated: bool


class LabelStatusDocument(TypedDict):
    """Labels by protocol, and draws that wait for some; `run` is null for the whole workspace."""

    run: str | None
    texts: int | None
    protocols: Sequence[ProtocolLabels]
    draws: Sequence[DrawState]


class PlannedVerdictDocument(TypedDict):
    verdict: str
    weight: float
    share: float
    labels: int
    assumed: bool


class PlanAssumptions(TypedDict):
    agreement: float
    residual: float
    assurance: float


class PlanPoint(TypedDict):
    labels: int
    half_width: float


class PlanDocument(TypedDict):
    """How many labels a width needs; widths are half widths, as shares of the scale."""

    run: str
    level: float
    half_width: float
    samples: int
    labelled: int
    drawn: int
    needed: int | None
    more: int | None
    design_effect: float
    verdicts: Sequence[PlannedVerdictDocument]
    spread: GradedSpread | None
    assumed: bool
    assumptions: PlanAssumptions
    curve: Sequence[PlanPoint]
    sentence: str


class DemoExampleDocument(Score):
    protocol: str
    run: str
    judges: Sequence[str]
    control: Score
    report: str
    rows: Sequence[DemoRow]


class DemoLineDocument(TypedDict):
    id: str
    task: str
    language: str
    verdict: str
    rule: str
    label: str
    why: str
    ending: str | None
    agrees: bool


class DemoDocument(SummaryDocument):
    """The bundled samples, judged, compared, audited and raced."""

    report: str
    disagreements: Sequence[str]
    lines: Sequence[DemoLineDocument]
    examples: Sequence[DemoExampleDocument]
    cascade_plan: CascadeDocument
    stricter_plan: CascadeDocument
    comparison: CompareDocument
    card: Card
    competition: LeaderboardDocument
    leader_board: BoardDocument
    answers: AnswersDocument
    drift: CompareDocument
