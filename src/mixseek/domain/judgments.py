"""What can become of a sample under a judge: four outcomes, each a value with a name."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any

from mixseek.domain.confidence import Confidence, ConfidenceSource
from mixseek.domain.people import PeopleVerdict
from mixseek.domain.response_states import UNFINISHED, ResponseState
from mixseek.lazy_dataclass import dataclass

# Among the fields of a judgment without reasons and quotes.
UNEXPLAINED = "is_unexplained"


class Status(StrEnum):
    """The four ends of a sample under one judge. Only VALID carries a score."""

    VALID = "valid"
    INVALID = "invalid"
    UNDECIDED = "undecided"
    MISSING = "missing"


class Flag(StrEnum):
    """Why a reply is unusable: exactly the five of seed 003 §6, for every protocol."""

    PROTOCOL_VIOLATION = "PROTOCOL_VIOLATION"
    UNPARSABLE_OUTPUT = "UNPARSABLE_OUTPUT"
    INCOMPLETE_COVERAGE = "INCOMPLETE_COVERAGE"
    JUDGE_REFUSAL_OR_EVASION = "JUDGE_REFUSAL_OR_EVASION"
    INTERNAL_INCONSISTENCY = "INTERNAL_INCONSISTENCY"


class Method(StrEnum):
    """How a verdict came about; derived from identities, never asked of the judge."""

    RULES = "rules"
    CROSS_JUDGE = "cross_judge"
    SELF_JUDGE = "self_judge"


class ErrorType(StrEnum):
    """What went wrong in a judged response (seed 001); NONE and FORMAT_ERROR go with a correct answer."""

    NONE = "none"
    FORMAT_ERROR = "format_error"
    HALLUCINATION = "hallucination"
    WRONG_LOGIC = "wrong_logic"
    NO_ANSWER = "no_answer"


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why a reply is invalid, with a detail that a person can act on."""

    flag: Flag
    detail: str


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range in the original response."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A judge's raw text, kept byte for byte, with what the endpoint said about it."""

    text: str
    judge: str
    attempt: int = 1
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def by_model(
        cls, model: str | None, text: str, judge: str, details: Mapping[str, Any], *, attempt: int = 1
    ) -> "Reply":
        """A reply with what is known about it. From `model` self-judging is derived."""
        known = {**details, "judge_model": model or None}.items()
        return cls(text, judge, attempt, {name: value for name, value in known if value is not None})


@dataclass(frozen=True, slots=True)
class ValidJudgment:
    """A verdict that satisfied every rule of its protocol."""

    score: float  # 0..1
    verdict: str
    fields: Mapping[str, Any]  # the protocol's own scale and words, e.g. is_correct, reasoning_score
    method: Method
    span: Span | None = None
    rules: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    # How sure the judge is of the verdict; None where nothing says so.
    confidence: Confidence | None = None
    # 0..1: the mean of the score over all that the judge might have given. None where that is not known.
    expected_score: float | None = None

    @property
    def is_unexplained(self) -> bool:
        """Whether the judge gave neither reasons nor quotes, because it was asked for numbers alone."""
        return self.fields.get(UNEXPLAINED) is True


@dataclass(frozen=True, slots=True)
class InvalidJudgment:
    """An unusable reply: not a low score, not a score at all."""

    findings: tuple[Finding, ...]
    repairs: tuple[str, ...] = ()
    # What is known of it all the same, such as where its quotes stand; never a number to be averaged.
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undecided:
    """The rules decline; the next judge in the cascade is asked."""

    reason: str
    rules: tuple[str, ...] = ()
    span: Span | None = None
    extracted_answer: str | None = None
    # What is known of it all the same, such as what each order of a pair brought.
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Missing:
    """No reply could be had. Never a judgment, never a number."""

    reason: str
    # The endpoint refuses this very sample (too long for it, say), so asking again changes nothing.
    is_permanent: bool = False
    # A filter of the endpoint's refused it.
    is_withheld: bool = False
    # What is known of the sample all the same.
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Responded:
    """What a target gave to a question, whatever it is: no judgment, so it has neither score nor verdict."""

    fields: Mapping[str, Any]  # its state, and how many turns it took
    # As judges will see it. The journal has it in the reply and not once more here.
    response: str = field(default="", compare=False)


# What a protocol makes of a reply.
Read = ValidJudgment | InvalidJudgment | Responded
Outcome = ValidJudgment | InvalidJudgment | Responded | Undecided | Missing


def status_of(outcome: Outcome) -> Status:
    """The one mapping from outcome to the status word shown everywhere."""
    match outcome:
        case ValidJudgment() | Responded():
            return Status.VALID
        case InvalidJudgment():
            return Status.INVALID
        case Undecided():
            return Status.UNDECIDED
        case Missing():
            return Status.MISSING


# Not frozen: that takes three times as long to make, and a page reads hundreds of thousands. Nobody changes one.
@dataclass(slots=True, kw_only=True)
class JudgedRow:
    """One sample under one judge, with all that a person needs to check it."""

    id: str
    judge: str
    take: int = 1  # which of several independent replies of one judge
    ask: int = 1  # which reply to this request was judged: 2 where the first was invalid and the judge was asked again
    status: Status
    is_final: bool = True  # False where a later judge of the cascade was asked
    is_control: bool = False  # a model on its own output
    method: str | None = None
    score: float | None = None
    verdict: str | None = None
    # How sure the judge is of the verdict, what says so, and the probability of each verdict (`domain.confidence`).
    confidence_value: float | None = None
    confidence_source: ConfidenceSource | None = None
    confidence_shares: Mapping[str, float] = field(default_factory=dict)
    confidence_outside: float | None = None
    expected_score: float | None = None
    is_unexplained: bool = False
    is_correct: bool | None = None
    extracted_answer: str | None = None
    reasoning_score: int | None = None
    error_type: str | None = None
    comment: str | None = None
    span: Span | None = None
    # The protocol's own scale and words; of an invalid judgment: its quotes.
    fields: Mapping[str, Any] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    flags: tuple[Finding, ...] = ()
    repairs: tuple[str, ...] = ()
    reason: str | None = None  # why undecided or missing
    raw_reply: str | None = None  # the last attempt's
    task_name: str | None = None
    target_model: str | None = None
    question_id: str | None = None
    prompt_variant: str | None = None
    ground_truth: str | None = None
    ground_truth_alternatives: tuple[str, ...] = ()
    question: str = ""
    response: str
    # The other one of a pair, and who wrote it.
    response_b: str | None = None
    target_b: str | None = None
    # Documents of steps and contexts (`domain.steps`), as they stand in the journal.
    steps: Sequence[Mapping[str, Any]] = ()
    steps_b: Sequence[Mapping[str, Any]] = ()
    contexts: Sequence[Mapping[str, Any]] = ()
    # How the response ended, and the other one of a pair; None where there is none.
    response_state: ResponseState | None = None
    response_state_b: ResponseState | None = None
    # What the judgment is held against, where somebody has looked: people, and the other judges of the sample.
    people: PeopleVerdict | None = None
    panel: str | None = None  # of a labelled sample: what its judges together make of it
    judges_differ: bool | None = None
    differs_from: tuple[str, ...] = ()

    @property
    def is_wrong(self) -> bool | None:
        """Whether people say something else; None without a verdict of both."""
        if self.people is None or self.status is not Status.VALID:
            return None
        return self.people.is_missed_by(self.score)

    @property
    def unfinished(self) -> tuple[ResponseState, ...]:
        """How the response, or one of a pair, ended without being finished; mostly nothing."""
        ends = (self.response_state, self.response_state_b)
        return tuple([state for state in UNFINISHED if state in ends])

    @property
    def is_unverified(self) -> bool:
        """Called correct by an answer that does not stand in the response; not where nobody looked."""
        is_absent = self.fields.get("extraction_verified") is False
        return self.status is Status.VALID and is_absent and (self.score or 0.0) > 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is remarkable about a valid judgment."""
        return tuple(self.fields.get("warnings") or ())
