"""What a run found, as plain data: everything a renderer shows is a field here, so renderers only render."""

from dataclasses import dataclass
from enum import StrEnum

from mixseek.domain.counts import ReaskCount
from mixseek.domain.judgments import Finding, Flag, Span, Status
from mixseek.reporting.scored_row import ScoredDetail
from mixseek.stats.intervals import Bounds, Interval

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
    undecided: int = 0
    invalid: int = 0
    missing: int = 0

    @property
    def total(self) -> int:
        return self.valid + self.unscored

    @property
    def unscored(self) -> int:
        """Never averaged in; counted beside the mean."""
        return self.undecided + self.invalid + self.missing

    def of(self, status: Status) -> int:
        match status:
            case Status.VALID:
                return self.valid
            case Status.UNDECIDED:
                return self.undecided
            case Status.INVALID:
                return self.invalid
            case Status.MISSING:
                return self.missing


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
class GroupSummary:
    """Samples that name one task, or one target; `name` is None for those that name none."""

    name: str | None
    score: ScoreSummary
    reasoning: ReasoningSummary | None = None


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
class FlagSummary:
    """One kind of invalid reply; `details` are the most frequent, `details_total` says how many kinds there are."""

    flag: Flag
    count: int
    details: tuple[Detail, ...]
    details_total: int


@dataclass(frozen=True, slots=True)
class ReasonSummary:
    """Why samples ended undecided or missing."""

    status: Status
    count: int
    details: tuple[Detail, ...]
    details_total: int


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """One judge's headline and what stands behind it."""

    judge: str
    score: ScoreSummary
    verdicts: tuple[Tally, ...]
    error_types: tuple[Tally, ...]
    tasks: tuple[GroupSummary, ...]
    rules: tuple[RuleUsage, ...]
    flags: tuple[FlagSummary, ...]
    reasons: tuple[ReasonSummary, ...]
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
class JudgmentRow:
    """One sample under one judge, with all that a person needs to check it."""

    id: str
    judge: str
    status: Status
    response: str
    question: str = ""
    task: str | None = None
    verdict: str | None = None
    score: float | None = None
    ground_truth: str | None = None
    ground_truth_alternatives: tuple[str, ...] = ()
    extracted_answer: str | None = None
    span: Span | None = None
    rules: tuple[str, ...] = ()
    error_type: str | None = None
    flags: tuple[Finding, ...] = ()
    comment: str | None = None
    reason: str | None = None  # why undecided or missing
    target_model: str | None = None
    raw_reply: str | None = None
    question_id: str | None = None
    prompt_variant: str | None = None
    is_control: bool = False  # a model on its own output
    detail: ScoredDetail | None = None  # under a protocol with dimensions
    reasoning_score: int | None = None  # seed 001
    extraction_verified: bool | None = None  # None where nothing was extracted, or nobody looked
    warnings: tuple[str, ...] = ()  # what is remarkable about a valid judgment
    repeat: int = 1  # which of several independent replies of one judge

    @property
    def is_unverified(self) -> bool:
        """Called correct by an answer that does not stand in the response."""
        return self.status is Status.VALID and self.extraction_verified is False and (self.score or 0.0) > 0

    @property
    def is_critical(self) -> bool:
        """A gate was not passed: what a reader must see first."""
        return self.detail is not None and bool(self.detail.gates)

    @property
    def outcome(self) -> str:
        """The one word for a list: the verdict where there is one, else the status."""
        return self.verdict if self.status is Status.VALID and self.verdict else self.status.value

    @property
    def tone(self) -> Tone:
        return tone_of(self.status, self.score)


@dataclass(frozen=True, slots=True)
class ShownCount:
    """How many judgments of one outcome are listed, of how many there are."""

    outcome: str
    tone: Tone
    shown: int
    total: int


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a list of runs."""

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


def tone_of(status: Status, score: float | None) -> Tone:
    """By the score, whatever the protocol calls it."""
    match status:
        case Status.VALID:
            if score is None or _BAD_AT_MOST < score < _GOOD_AT_LEAST:
                return Tone.MIXED
            return Tone.GOOD if score >= _GOOD_AT_LEAST else Tone.BAD
        case Status.UNDECIDED:
            return Tone.UNDECIDED
        case Status.INVALID:
            return Tone.INVALID
        case Status.MISSING:
            return Tone.MISSING
