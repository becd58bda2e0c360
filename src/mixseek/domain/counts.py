"""What a database can count about a run, so that a million judgments are never held at once."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from mixseek.domain.judgments import Flag, Status
from mixseek.domain.panels import PanelState
from mixseek.domain.response_states import ResponseState
from mixseek.lazy_dataclass import dataclass


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


# What differs between two tellings of one reason: quoted texts and numbers are each row's own. For Python and DuckDB.
OWN_PARTS = r""""[^"]*("|$)|'[^']*('|$)|“[^”]*(”|$)|[0-9]+"""


@dataclass(frozen=True, slots=True)
class UnitSums:
    """A group of judgments as sums over its units, so that a million of them fit in a few numbers.

    The unit is the sample: asking more judges about it, or one of them again, adds no evidence. Samples of one question
    resemble each other: per question, `n` scored samples with the sum `s` of their values.
    """

    samples: int = 0  # scored or not
    scored: int = 0  # Σ n
    questions: int = 0  # with at least one scored sample
    total: float = 0.0  # Σ s
    total_of_squares: float = 0.0  # of the samples' values
    question_squares: float = 0.0  # Σ s²
    question_products: float = 0.0  # Σ n·s
    question_sizes: float = 0.0  # Σ n²
    lowest: float = 0.0  # over all samples, scored or not
    highest: float = 0.0
    # Of e = s − n·mean, with h = n / Σ n: Σ e² / (1 − h)^min(4, h·questions), and Σ e³. None where nobody counted.
    leveraged_squares: float | None = None
    question_cubes: float | None = None

    @property
    def mean(self) -> float | None:
        """None without scores: the mean of nothing is not zero."""
        return self.total / self.scored if self.scored else None

    @property
    def effective_questions(self) -> float:
        """Kish's (Σ n)² / Σ n²: so many questions of equal size carry as much; `questions` where sizes are equal."""
        return self.scored**2 / self.question_sizes if self.question_sizes else float(self.questions)

    @property
    def is_binary(self) -> bool:
        """Whether all values are 0 or 1. In 0..1, a score equals its square for 0 and 1 only.

        Sums of those are exact in floating point.
        """
        return self.total == self.total_of_squares


NO_UNITS = UnitSums()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run has, counted when it was indexed."""

    # Each sample by the judge that had the last word, without controls.
    valid: int
    invalid: int
    undecided: int
    missing: int
    mean_score: float | None
    has_repeats: bool
    is_graded: bool  # a valid score is neither 0 nor 1; else the judgments are right or wrong
    has_controls: bool
    missing_for_good: int  # final judgments: the endpoint refuses the sample, and asking again changes nothing
    needs_maths: int  # judgments that a tool for algebra could have decided
    has_lost_tries: bool
    has_flags: bool
    has_reasons: bool
    has_warnings: bool
    has_reasoning_scores: bool
    has_checks: bool  # judgments with findings of checks
    has_confidences: bool  # something says how sure a judge is, or why nothing does
    samples: int  # that the journal holds: fewer than the dataset where a run was stopped
    has_pairs: bool
    has_targets: bool
    has_variants: bool
    has_tasks: bool
    has_unfinished: bool  # a response was cut off, withheld or empty
    has_replies: bool
    has_calls: bool  # replies of live judges
    has_models: bool  # recorded replies that say whose they are
    has_scores: bool  # under a protocol with dimensions
    maximum: float | None  # of the protocol's own scale; None where samples have different ones


@dataclass(frozen=True, slots=True)
class ConfidenceSums:
    """Valid judgments that say how sure they are, by what says so; `without`: the judge's others.

    `probabilities` of them may be held against how often they are right. Means of the given and of the expected score
    are of the same judgments.
    """

    judge: str
    source: str
    judgments: int
    without: int
    probabilities: int
    mean_confidence: float | None  # of probabilities
    mean_given: float | None
    mean_expected: float | None


@dataclass(frozen=True, slots=True)
class OrderCount:
    """Judgments of pairs that ended alike: what each order said of A and B, what it came to, and what people say."""

    judge: str
    status: Status
    verdict: str | None
    state: str | None
    verdict_ab: str | None
    verdict_ba: str | None
    human: str | None
    count: int


@dataclass(frozen=True, slots=True)
class TargetPair:
    """Two targets, the first by name first: how often it won, and its score, a tie counting half."""

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    without: int  # no verdict
    units: UnitSums


@dataclass(frozen=True, slots=True)
class PairCounts:
    """All that is counted of a run of pairs; `measures` are sums by judge and by what is measured."""

    orders: Sequence[OrderCount]
    measures: "UnitGroups"
    targets: Sequence[TargetPair]


# The values of the columns that a group shares, in the order asked for, to its sums.
UnitGroups = Mapping[tuple[str | None, ...], UnitSums]


@dataclass(frozen=True, slots=True)
class ResponseCounts:
    """How many responses did not come to their end, and what of them is in the mean all the same."""

    total: int = 0
    cut_off: int = 0
    withheld: int = 0
    empty: int = 0
    left_out: int = 0  # cut off, with a verdict that is in no mean because the reader chose so
    undecided_incorrect: int = 0  # without a verdict, and in the mean as incorrect

    @property
    def unfinished(self) -> int:
        return self.cut_off + self.withheld + self.empty

    def of(self, state: ResponseState) -> int:
        """How many ended so; of the three states that are not finished."""
        count: int = getattr(self, state.value)
        return count

    def share(self, state: ResponseState) -> float:
        """So many ended so, of all responses."""
        return self.of(state) / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class PanelGroup:
    """Samples of one group after the rule of their panel: sums for the mean, and how all of them ended."""

    units: UnitSums = NO_UNITS
    states: Mapping[PanelState, int] = field(default_factory=dict)
    unverified: int = 0
    responses: ResponseCounts = ResponseCounts()
    finished: UnitSums | None = None  # of finished responses alone; None where all are


PanelGroups = Mapping[str | None, PanelGroup]


@dataclass(frozen=True, slots=True)
class SettledSample:
    """One sample after the rule of its panel; `value` and `verdict` are None where it has no score."""

    key: str
    id: str
    state: PanelState
    verdict: str | None
    value: float | None


@dataclass(frozen=True, slots=True)
class Ratings:
    """What judges said of the samples that at least two of them judged, as counted patterns.

    A pattern holds what each judge said, in the order of `judges`, None where it said nothing. Groups are questions
    dealt into hands, for intervals that leave out one hand at a time: patterns with how often they occur in it.
    """

    judges: tuple[str, ...]
    samples: int
    verdicts: tuple[str, ...]  # from the lowest score to the highest; a verdict in a pattern is its place here
    score_groups: Sequence[Mapping[tuple[float | None, ...], int]]
    verdict_groups: Sequence[Mapping[tuple[float | None, ...], int]]
    unanimous: UnitSums  # samples with one verdict
    mean_spread: float  # highest score minus lowest
    counted: int  # of `samples`: those in the patterns; fewer where there are too many different ones


@dataclass(frozen=True, slots=True)
class TakeSums:
    """Samples of one judge and one group of questions that it judged several times."""

    judge: str
    group: int
    samples: int
    takes: int
    squares_of_takes: float  # Σ n²
    within: float  # Σ over samples of the squared distances of takes from their mean
    between: float  # Σ n·mean²
    total: float  # Σ of scores


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """Judgments that agree in every named field; score sums are zero unless the status is valid."""

    judge: str
    task: str | None
    status: Status
    verdict: str | None
    error_type: str | None
    count: int
    score_total: float = 0.0
    score_total_of_squares: float = 0.0
    # A model on its own output: shown in a control table, never in a headline.
    is_control: bool = False
    # Of `count`: called correct by an answer that does not stand in the response.
    unverified: int = 0
    target: str | None = None  # who wrote the judged responses
    # Of `count`: how their responses ended that did not come to their end.
    cut_off: int = 0
    withheld: int = 0
    empty: int = 0


@dataclass(frozen=True, slots=True)
class RuleCount:
    """Judgments of one status whose trace holds `rule`."""

    judge: str
    rule: str
    status: Status
    count: int
    score_total: float = 0.0


@dataclass(frozen=True, slots=True)
class FlagCount:
    """Occurrences of a flag for one reason, told in the words of the first."""

    judge: str
    kind: Flag
    reason: str
    count: int
    wordings: int = 1


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """Undecided or missing samples for one reason, told in the words of the first."""

    judge: str
    kind: Status
    reason: str
    count: int
    wordings: int = 1


@dataclass(frozen=True, slots=True)
class WarningCount:
    """Valid judgments that carry one warning."""

    judge: str
    warning: str
    count: int


@dataclass(frozen=True, slots=True)
class ConfidenceCount:
    """Valid judgments of one judge by what says how sure it is; None where nothing does, most often for `why_not`."""

    judge: str
    source: str | None
    count: int
    # Of these, without reasons and quotes.
    unexplained: int
    why_not: str | None


@dataclass(frozen=True, slots=True)
class CheckCount:
    """Samples of one target by what one check made of them; whoever judged them, each counts once."""

    check: str
    target: str | None
    failed: int
    passed: int
    not_applicable: int


@dataclass(frozen=True, slots=True)
class ReasoningCount:
    """Valid judgments with one reasoning score (seed 001) and verdict."""

    judge: str
    task: str | None
    target: str | None
    score: int
    is_correct: bool
    count: int


@dataclass(frozen=True, slots=True)
class ReaskCount:
    """What became of a judge's first replies, every repeat for itself."""

    judge: str
    replies: int
    asked_again: int  # the first reply was invalid, so another one was asked for
    first_invalid: int  # those, and the ones that were not asked for again
