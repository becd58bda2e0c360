"""What a database can count about a run, so that a million judgments are never held at once."""

from dataclasses import dataclass

from mixseek.domain.judgments import Flag, Status


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
    """Occurrences of a flag with one wording of its detail."""

    judge: str
    flag: Flag
    detail: str
    count: int


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """Undecided or missing samples with one wording of the reason."""

    judge: str
    status: Status
    reason: str
    count: int
