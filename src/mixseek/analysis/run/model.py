"""What a run found, as plain data: everything a renderer shows is a field here, so renderers only render."""

from enum import StrEnum

from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import ReaskCount, ResponseCounts, StatusCounts
from mixseek.domain.judgments import Flag, Status
from mixseek.domain.panels import PanelRule
from mixseek.domain.response_states import ResponseState
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Bounds, Interval
from mixseek.text.messages import Message, message

# Right-or-wrong scores are one or the other; of graded ones, about what their protocols call a pass and a fail.
_GOOD_AT_LEAST, BAD_AT_MOST = 0.85, 0.4
# A share of responses that were cut off beyond which that is said first.
OFTEN_CUT_OFF = 0.02
# Ends of the bounds that differ by less are one number with a rounding error.
_SAME = 1e-12
_ALL_SAMPLES = message("word.all_samples", "all samples")


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
class PanelCounts(StatusCounts):
    """The ends of samples before all of their judges: these may be split, too."""

    split: int = 0

    @property
    def unscored(self) -> int:
        """Never averaged in; counted beside the mean."""
        return self.undecided + self.invalid + self.missing + self.split


def split_of(counts: StatusCounts) -> int:
    """How many are split; of one judge's judgments none is."""
    return counts.split if isinstance(counts, PanelCounts) else 0


@dataclass(frozen=True, slots=True)
class Tally:
    """One bar of a distribution; `share` is of the bars' own total."""

    name: str
    count: int
    share: float
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class FinishedMean:
    """The mean of the responses that came to their end; None where none of them has a score."""

    mean: float | None
    interval: Interval | None
    samples: int
    questions: int
    effective_questions: float | None = None


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
    responses: ResponseCounts = ResponseCounts()  # how they ended; nothing where nobody counted
    finished: FinishedMean | None = None  # beside the mean, where not all responses are

    @property
    def is_bounded(self) -> bool:
        """Whether the mean could be another one: a sample has no verdict to rely on, or no end."""
        return self.bounds is not None and self.bounds.best - self.bounds.worst > _SAME

    @property
    def is_often_cut_off(self) -> bool:
        """Whether so many were that a reader must know before the mean."""
        return self.responses.share(ResponseState.CUT_OFF) > OFTEN_CUT_OFF


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
    whole: Message = _ALL_SAMPLES
    counting: Counting = USUAL  # what the means take

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


def outcome_word(status: Status, verdict: str | None) -> str:
    """The verdict where there is one, else the status."""
    return verdict if status is Status.VALID and verdict else status.value


def tone_of(status: Status, score: float | None) -> Tone:
    """The tone by the score, whatever the protocol calls it."""
    if status is not Status.VALID:
        return Tone(status.value)
    if score is None or BAD_AT_MOST < score < _GOOD_AT_LEAST:
        return Tone.MIXED
    return Tone.GOOD if score >= _GOOD_AT_LEAST else Tone.BAD
