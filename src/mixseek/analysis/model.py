"""What a report is made of: data first, rendering elsewhere."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mixseek.analysis.agreement import Agreement, SelfConsistency
from mixseek.domain.counts import CoverageSizes, Disagreement, EvidenceProblem, ReaskCount
from mixseek.domain.judgments import Flag, JudgedRow, Span, Status
from mixseek.domain.panels import PanelRule
from mixseek.domain.ports import CallAccount
from mixseek.stats.difference import PairedDifference
from mixseek.stats.intervals import Bounds, Interval, UnevenTest
from mixseek.stats.strengths import Board

if TYPE_CHECKING:
    from mixseek.analysis.corrected import CorrectedReport
    from mixseek.analysis.target_pairs import PairsReport


@dataclass(frozen=True, slots=True)
class Mark:
    """One dimension; `maximum` is the top for this sample."""

    dimension: str
    score: float
    maximum: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Quote:
    """What a judge quoted: where it stands in the response, or why it could not be found there."""

    dimension: str | None
    text: str
    reason: str
    spans: tuple[Span, ...]
    stage: str | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class ScoredDetail:
    """In the protocol's own scale. `gates` holds the ones that were not passed, with the reason."""

    total: float | None
    maximum: float | None
    marks: tuple[Mark, ...]
    quotes: tuple[Quote, ...]
    gates: tuple[tuple[str, str | None], ...]
    confidence: str | None = None
    task_type: str | None = None
    inferred_task_type: str | None = None
    same_family: bool = False
    notes: str | None = None


def read_detail(fields: Mapping[str, Any]) -> ScoredDetail | None:
    """From the fields of a valid judgment; None under a protocol without dimensions."""
    scores = fields.get("scores")
    if not isinstance(scores, Mapping):
        return None
    maxima, reasons = fields.get("maxima") or {}, fields.get("reasons") or {}
    return ScoredDetail(
        total=fields.get("total"),
        maximum=fields.get("total_maximum"),
        marks=tuple(
            Mark(name, score, maxima.get(name), reasons.get(name))
            for name, score in scores.items()
            if score is not None
        ),
        quotes=tuple(
            Quote(
                dimension=item.get("dimension"),
                text=item.get("quote") or "",
                reason=item.get("reason") or "",
                spans=tuple(Span(start, end) for start, end in item.get("spans") or ()),
                stage=item.get("stage"),
                problem=item.get("problem"),
            )
            for item in fields.get("evidence") or ()
        ),
        gates=failed_gates(fields),
        confidence=fields.get("confidence"),
        task_type=fields.get("task_type"),
        inferred_task_type=fields.get("inferred_task_type"),
        same_family=bool(fields.get("same_family")),
        notes=fields.get("notes") or None,
    )


def failed_gates(fields: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """A protocol's own gates by name; the rubric's Critical Fail also stands alone."""
    gates = fields.get("gates") or {}
    failed = tuple((name, gate.get("reason")) for name, gate in gates.items() if gate.get("failed"))
    if not failed and fields.get("critical_fail"):
        return (("critical_fail", fields.get("critical_fail_reason")),)
    return failed


def is_critical(fields: Mapping[str, Any]) -> bool:
    """A gate was not passed: what a reader must see first."""
    return isinstance(fields.get("scores"), Mapping) and bool(failed_gates(fields))


def document_of(item: Any, **keys: str) -> dict[str, Any]:
    """For programs: the fields by their names, but for those that programs know by another key."""
    return {keys.get(name, name): value for name, value in asdict(item).items()}


# What a run found, as plain data: everything a renderer shows is a field here, so renderers only render.

# Right-or-wrong scores are one or the other; of graded ones, about what their protocols call a pass and a fail.
_GOOD_AT_LEAST, _BAD_AT_MOST = 0.85, 0.4


class Tone(StrEnum):
    """How an outcome is coloured; derived from status and score, because verdict words differ by protocol."""

    GOOD = "good"
    MIXED = "mixed"
    BAD = "bad"
    UNDECIDED = "undecided"
    INVALID = "invalid"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What names a run at the top of a report. Times are ISO 8601 text, shown as given."""

    run_id: str
    protocol: str
    protocol_version: str
    protocol_hash: str
    dataset: str  # a name that can be shown to others, not a path
    samples: int
    protocol_language: str = ""
    started_at: str | None = None
    ended_at: str | None = None
    unreached: int = 0  # of `samples`: a run that was stopped has not read these, so they are in no count and no bound


@dataclass(frozen=True, slots=True)
class StatusCounts:
    """The four ends of samples under one judge; only `valid` ones carry a score."""

    valid: int = 0
    invalid: int = 0
    undecided: int = 0
    missing: int = 0

    @property
    def total(self) -> int:
        return self.valid + self.unscored

    @property
    def unscored(self) -> int:
        """Never averaged in; counted beside the mean."""
        return self.undecided + self.invalid + self.missing

    def of(self, status: Status) -> int:
        count: int = getattr(self, status.value)
        return count


@dataclass(frozen=True, slots=True)
class PanelCounts(StatusCounts):
    """The ends of samples before all of their judges: these may be split, too."""

    split: int = 0

    @property
    def unscored(self) -> int:
        """Never averaged in; counted beside the mean."""
        return self.undecided + self.invalid + self.missing + self.split


def split_of(counts: StatusCounts) -> int:
    """Of one judge's judgments none is split."""
    return counts.split if isinstance(counts, PanelCounts) else 0


@dataclass(frozen=True, slots=True)
class Tally:
    """One bar of a distribution; `share` is of the bars' own total."""

    name: str
    count: int
    share: float
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class ScoreSummary:
    """A mean with everything that limits it; None where nothing was scored."""

    counts: StatusCounts
    mean: float | None
    interval: Interval | None
    bounds: Bounds | None
    is_binary: bool  # every score is 0 or 1, so the mean is a share of right answers
    # What the interval counts: samples with a score, and their questions; not judgments.
    samples: int = 0
    questions: int = 0
    unverified: int = 0  # of the valid ones: called correct by an answer that does not stand in the response
    effective_questions: float | None = None  # of equal size, that would carry as much (Kish)


@dataclass(frozen=True, slots=True)
class ReasoningBar:
    """How many valid judgments gave one reasoning score, right and wrong answers apart."""

    score: int
    correct: int
    incorrect: int
    share: float

    @property
    def count(self) -> int:
        return self.correct + self.incorrect


@dataclass(frozen=True, slots=True)
class ReasoningSummary:
    """Reasoning scores (seed 001) of the judgments that have one; `bars` holds the whole scale."""

    bars: tuple[ReasoningBar, ...]
    mean: float
    mean_correct: float | None  # over right answers
    mean_incorrect: float | None

    @property
    def count(self) -> int:
        return sum(bar.count for bar in self.bars)


@dataclass(frozen=True, slots=True)
class Beside:
    """Another estimate of the same mean, such as one that human labels correct: drawn and told beside it."""

    label: str
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """Samples that name one task, or one target; `name` is None for those that name none."""

    name: str | None
    score: ScoreSummary
    reasoning: ReasoningSummary | None = None
    beside: tuple[Beside, ...] = ()


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Samples by one of their columns, the best mean first."""

    column: str
    groups: tuple[GroupSummary, ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """What a run says about what was judged: one verdict a sample, by the rule of the panel.

    `rule` is None for one judge and for a cascade. `columns` lead: targets, then prompt variants, where samples name
    them; `asked` are further breakdowns that the reader wanted.
    """

    rule: PanelRule | None
    judges: tuple[str, ...]
    score: ScoreSummary
    columns: tuple[Breakdown, ...] = ()
    asked: tuple[Breakdown, ...] = ()
    maximum: float | None = None  # of the protocol's own scale, where all samples share it
    beside: tuple[Beside, ...] = ()
    # What the mean over everything is called; of pairs it is one side's.
    whole: str = "all samples"

    @property
    def leads(self) -> bool:
        """Whether it says more than the one judge's own headline: about targets, or of a panel."""
        return bool(self.columns) or self.rule is not None


@dataclass(frozen=True, slots=True)
class RuleUsage:
    """How often a rule stood in a trace, and what became of those samples."""

    rule: str
    count: int
    valid: int
    mean: float | None
    undecided: int


@dataclass(frozen=True, slots=True)
class Detail:
    """A sentence that explains outcomes, with how many it explains."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why samples ended without a score: undecided or missing, or a kind of invalid reply."""

    kind: Flag | Status
    count: int
    details: tuple[Detail, ...]  # the most frequent
    details_total: int


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    judge: str
    score: ScoreSummary
    verdicts: tuple[Tally, ...]
    error_types: tuple[Tally, ...]
    tasks: tuple[GroupSummary, ...]
    rules: tuple[RuleUsage, ...]
    flags: tuple[Explanation, ...]
    reasons: tuple[Explanation, ...]
    targets: tuple[GroupSummary, ...] = ()
    warnings: tuple[Tally, ...] = ()  # shares of the valid judgments
    reasoning: ReasoningSummary | None = None
    first_replies: ReaskCount | None = None  # of judges that gave replies
    is_whole: bool = False  # a cascade as one: no row of the list carries its name
    control: ScoreSummary | None = None  # the judge on its own output; in nothing else here

    @property
    def asked_again(self) -> int:
        """First replies that were invalid, so that another was asked for."""
        return self.first_replies.asked_again if self.first_replies else 0

    @property
    def filter_name(self) -> str | None:
        """What the list of judgments is filtered by to show this summary's rows."""
        return None if self.is_whole else self.judge


@dataclass(frozen=True, slots=True)
class ShownCount:
    """How many judgments of one outcome there are."""

    outcome: str
    tone: Tone
    total: int


@dataclass(frozen=True, slots=True)
class RunLine:
    run_id: str
    protocol: str
    protocol_hash: str
    dataset: str
    judges: tuple[str, ...]
    counts: StatusCounts | None  # None where nobody has counted yet, or nobody can
    mean: float | None = None
    started_at: str | None = None
    is_sealed: bool = True  # an unsealed run is being judged, or was interrupted and can be resumed
    problem: str | None = None  # why the counts are not those of the run as it is
    is_running: bool = False


def outcome_word(status: Status, verdict: str | None) -> str:
    """The verdict where there is one, else the status."""
    return verdict if status is Status.VALID and verdict else status.value


def tone_of(status: Status, score: float | None) -> Tone:
    """By the score, whatever the protocol calls it."""
    if status is not Status.VALID:
        return Tone(status.value)
    if score is None or _BAD_AT_MOST < score < _GOOD_AT_LEAST:
        return Tone.MIXED
    return Tone.GOOD if score >= _GOOD_AT_LEAST else Tone.BAD


# What a run found under a protocol with dimensions, as plain data. Means are shares of the maximum, 0..1.


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


# The whole report as plain data: headlines, rows, calls, and what dimensions add.


# A file with more judgments than this would be nothing to send, and no browser would open it.
MOST_LISTED = 1_000_000
# Of a larger run: so many of each kind of outcome of each judge.
LISTED_OF_EACH_KIND = 2_000


@dataclass(frozen=True, slots=True)
class ReportData:
    """The whole report. `rows` are read while a page is written: there may be more of them than memory holds."""

    run: RunHeader
    manifest: Mapping[str, Any]
    judges: tuple[JudgeSummary, ...]
    rows: Iterable[JudgedRow]
    shown: tuple[ShownCount, ...]
    calls: tuple[CallAccount, ...] = ()  # of live judges; empty where there are none
    headline: Headline | None = None  # None for a run without judgments
    agreement: Agreement | None = None  # None where no sample has two judges
    consistency: tuple[SelfConsistency, ...] = ()  # of judges that were asked several times
    scored: "ScoredReport | None" = None  # under a protocol with dimensions
    # Judge to the model whose recorded replies it brings, where there is one: what a reader knows it by.
    models: Mapping[str, str] = field(default_factory=dict)
    corrected: "CorrectedReport | None" = None  # where people have labelled some of the texts
    pairs: "PairsReport | None" = None  # where two responses were judged at a time
    asked: tuple[tuple[str, str], ...] = ()  # what is scored and what judges are told, as Markdown under titles
    board: Board | None = None  # of systems that were compared two by two

    def label_of(self, judge: str) -> str:
        return self.models.get(judge, judge)

    @property
    def rows_total(self) -> int:
        return sum(part.total for part in self.shown)

    @property
    def is_complete(self) -> bool:
        """Whether the page lists all judgments, or some of each kind because a browser could not open them all."""
        return self.rows_total <= MOST_LISTED


# Several runs of one protocol: side by side, and as one.


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run; judgments of models on their own output are in `control` alone."""

    run_id: str
    dataset: str
    dataset_digest: str | None
    judges: tuple[str, ...]
    score: ScoreSummary
    control: ScoreSummary


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Runs under one protocol hash; `pooled` averages all their judgments."""

    protocol: str
    protocol_hash: str
    runs: tuple[RunScore, ...]
    pooled: ScoreSummary

    @property
    def notes(self) -> tuple[str, ...]:
        """What the pooled number leaves unsaid."""
        notes = []
        digests = [run.dataset_digest for run in self.runs if run.dataset_digest is not None]
        if self.pooled.mean is None and self.pooled.counts.valid:
            notes.append("No mean over all runs: several judges gave these verdicts, and each has its own.")
        elif len(set(digests)) < len(digests):
            notes.append(
                "Some of these runs judge the same samples: in the mean over all runs each of them counts once."
            )
        control = sum(run.control.counts.total for run in self.runs)
        if control:
            noun = "self-judgment is" if control == 1 else "self-judgments are"
            notes.append(f"{control:,} {noun} left out of every mean.")
        return tuple(notes)
