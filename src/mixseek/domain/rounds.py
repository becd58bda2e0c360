"""Rounds of a competition as values: what was submitted, how it was scored, why it went on or stopped (seed 004)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from mixseek.domain.judgments import Method
from mixseek.lazy_dataclass import dataclass

MAX_SCORE = 100.0
# The order in which weighted metrics were added up shows far behind the point; it must not decide a rank.
_TIE_DECIMALS = 6


def check_score(score: float, low: float = 0.0, high: float = MAX_SCORE) -> float:
    """A finite number on the scale; raises ValueError for anything else, because a failed evaluation has no number."""
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise ValueError(f"score must be a number, not {score!r}")  # noqa: TRY004 - one kind of refusal for callers
    if not math.isfinite(score):
        raise ValueError(f"score must be finite, not {score}; use None where nothing could be scored")
    if not low <= score <= high:
        raise ValueError(f"score must be {low:g} to {high:g}, not {score}")
    return float(score)


def to_utc(moment: datetime) -> datetime:
    """The same moment in UTC; raises ValueError for a time without a zone, which names no moment."""
    if moment.utcoffset() is None:
        raise ValueError(f"time {moment.isoformat()} has no time zone; use datetime.now(UTC)")
    return moment.astimezone(UTC)


def check_round_number(round_number: int) -> None:
    """Raises ValueError below 1: rounds count from there."""
    if isinstance(round_number, bool) or round_number < 1:
        raise ValueError(f"round_number must be 1 or more, not {round_number}")


def check_name(value: str, what: str) -> None:
    """Raises ValueError in seed 004's words for a blank one: two teams without a name would be one team."""
    if not value.strip():
        raise ValueError(f"{what} cannot be empty")


@dataclass(frozen=True, slots=True)
class RoundState:
    """One round of one team as prompts show it; `evaluation_score` None means not evaluated, which is not 0."""

    round_number: int
    submission_content: str
    evaluation_score: float | None
    score_details: Mapping[str, Any] = field(default_factory=dict)
    round_started_at: datetime | None = None
    round_ended_at: datetime | None = None

    def __post_init__(self) -> None:
        check_round_number(self.round_number)
        if self.evaluation_score is not None:
            object.__setattr__(self, "evaluation_score", check_score(self.evaluation_score))
        for name in ("round_started_at", "round_ended_at"):
            moment = getattr(self, name)
            if moment is not None:
                object.__setattr__(self, name, to_utc(moment))


class StopReason(StrEnum):
    """Why a team plays no further round."""

    MAX_ROUNDS = "max_rounds"
    JUDGED_ENOUGH = "judged_enough"  # the judge of progress sees nothing to gain
    JUDGE_OUT = "judge_out"  # no opinion could be had, and the policy says to stop then
    NO_GAIN = "no_gain"  # the rule without a model: no better score over k rounds
    TEAM_FAILED = "team_failed"
    TEAM_TIMEOUT = "team_timeout"
    ROUND_TIMEOUT = "round_timeout"
    EVALUATION_FAILED = "evaluation_failed"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"  # not an end: the same command goes on here


class DecidedBy(StrEnum):
    """Whose word decided whether there is a next round."""

    CONTROLLER = "controller"  # minimum and maximum of rounds, limits, failures
    JUDGE = "judge"
    POLICY = "policy"  # what is configured for the case that the judge is out
    NO_GAIN_RULE = "no_gain_rule"


class ExecutionStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImprovementJudgment:
    """A model's opinion on whether another round is worth it; an opinion, not the decision."""

    should_continue: bool
    reasoning: str
    confidence_score: float

    def __post_init__(self) -> None:
        # `not` around the comparison, so that NaN is refused as well.
        if isinstance(self.confidence_score, bool) or not 0.0 <= self.confidence_score <= 1.0:
            raise ValueError(f"confidence_score must be 0 to 1, not {self.confidence_score}")


@dataclass(frozen=True, slots=True)
class NoOpinion:
    """The judge of progress was asked and gave no usable answer."""

    reason: str


Opinion = ImprovementJudgment | NoOpinion


@dataclass(frozen=True, slots=True)
class RoundDecision:
    """What holds; stands beside the opinion, never in its place. A stop has a reason, going on has none."""

    continues: bool
    stop_reason: StopReason | None
    decided_by: DecidedBy

    def __post_init__(self) -> None:
        if self.continues != (self.stop_reason is None):
            raise ValueError("a decision to stop needs a stop_reason, and a decision to go on has none")


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """How far one round got: submitted, then evaluated (with a score or without), then decided."""

    round_number: int
    submission: str
    usage: Mapping[str, Any]
    submitted_at: datetime
    score: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    evaluated_at: datetime | None = None
    opinion: Opinion | None = None
    decision: RoundDecision | None = None
    decided_at: datetime | None = None

    @property
    def is_self_judged(self) -> bool:
        """Whether a judge of its score is the model that wrote the submission."""
        return counts_as_self_judged(methods_of(self.details).values())

    def state(self) -> RoundState:
        times = self.submitted_at, self.evaluated_at
        return RoundState(self.round_number, self.submission, self.score, self.details, *times)


@dataclass(frozen=True, slots=True)
class TeamProgress:
    """All rounds of a team in order; `stop_reason` None means that it has not ended."""

    team_id: str
    team_name: str
    rounds: tuple[RoundProgress, ...] = ()
    stop_reason: StopReason | None = None
    message: str = ""
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Execution:
    """One competition: the same task and configuration under one id, however often it was resumed."""

    execution_id: str
    task: str
    configuration: Mapping[str, Any]
    status: ExecutionStatus
    started_at: datetime
    ended_at: datetime | None = None


def methods_of(details: Mapping[str, Any]) -> dict[str, str]:
    """How each metric's score came about, as an evaluation's details say it; without those that do not."""
    metrics = details.get("metrics")
    scored = [metric for metric in metrics if isinstance(metric, Mapping)] if isinstance(metrics, list) else []
    inner = [(str(metric.get("name")), metric.get("details")) for metric in scored]
    return {
        name: str(metric_details["method"])
        for name, metric_details in inner
        if isinstance(metric_details, Mapping) and "method" in metric_details
    }


def counts_as_self_judged(methods: Iterable[str | None]) -> bool:
    """Seed 003 §1.2: one metric that judges its own work is enough, because the others do not make up for it."""
    return Method.SELF_JUDGE in methods


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """One submission as the leader board counts it; a score that a model gave itself is shown, and ranks nobody."""

    team_id: str
    team_name: str
    round_number: int
    score: float | None
    is_self_judged: bool = False


@dataclass(frozen=True, slots=True)
class RankedTeam:
    """A place on the leader board; `best_round` is the latest round with the best score."""

    rank: int
    team_id: str
    team_name: str
    best_score: float
    best_round: int
    rounds: int


def rank_teams(entries: Iterable[BoardEntry]) -> tuple[RankedTeam, ...]:
    """The leader board: places 1, 2, 3 … without gaps or shared places.

    Teams are told apart by `team_id`; a renamed team is one team under the name of its latest round. The order is:
    higher best score (equal to six decimals is equal); then the one that reached it in the earlier round; then
    `team_id`. No clock takes part, so that an interrupted competition ends like an undisturbed one.
    A team without any score has no place, and neither has one whose every score is its own.
    """
    teams: dict[str, list[BoardEntry]] = {}
    for entry in entries:
        teams.setdefault(entry.team_id, []).append(entry)
    standings = [standing for rounds in teams.values() if (standing := _standing(rounds)) is not None]
    standings.sort(key=lambda standing: standing[0])
    return tuple(replace(team, rank=rank) for rank, (_, team) in enumerate(standings, 1))


def _standing(entries: Sequence[BoardEntry]) -> tuple[tuple[float, int, str], RankedTeam] | None:
    """What a team is sorted by, and its place; which one it is, the order says."""
    scored = sorted(
        (round(check_score(entry.score), _TIE_DECIMALS), entry.round_number, entry.score)
        for entry in entries
        if entry.score is not None and not entry.is_self_judged
    )
    if not scored:
        return None
    top, best_round, best_score = scored[-1]
    reached_in = min(number for score, number, _ in scored if score == top)
    latest = max(entries, key=lambda entry: entry.round_number)
    team = RankedTeam(1, latest.team_id, latest.team_name, best_score, best_round, len(entries))
    return (-top, reached_in, latest.team_id), team


class RoundKey(NamedTuple):
    """Whose round it is: what each of its steps is stored under."""

    execution: str
    team: str
    round: int


@runtime_checkable
class LeaderBoardReader(Protocol):
    """Where prompts learn how the teams stand."""

    async def ranking(self, execution_id: str) -> Sequence[RankedTeam]:
        """The teams in the order of `rank_teams`; empty before the first score."""


class ExecutionStore(LeaderBoardReader, Protocol):
    """What survives a crash. Saving the same thing again changes nothing; saving another in its place is refused.

    A submission is stored before it is evaluated, and evaluated before it is judged. Teams go by their ids.
    """

    async def begin_execution(
        self, execution_id: str, task: str, configuration: Mapping[str, Any], started_at: datetime
    ) -> None:
        """Raises ConfigurationError when the id stands for another task or configuration."""

    async def save_submission(
        self, key: RoundKey, team_name: str, text: str, usage: Mapping[str, Any], at: datetime, /
    ) -> None:
        """The submission is on disk before it returns. Another text for a round that has been evaluated is refused."""

    async def save_evaluation(
        self, key: RoundKey, score: float | None, details: Mapping[str, Any], at: datetime, /
    ) -> None:
        """A score of None says that the evaluation was tried and gave none; it may be replaced by a score later."""

    async def save_decision(
        self, key: RoundKey, opinion: Opinion | None, decision: RoundDecision, at: datetime, /
    ) -> None:
        """`opinion` None says that nobody was asked."""

    async def finish_team(
        self, execution: str, team: str, why: StopReason, message: str, at: datetime, /, *, team_name: str | None = None
    ) -> None:
        """The last word holds: an interrupted team that went on ends with its real reason.

        `team_name` is for a team that never submitted anything, which nothing else has named.
        """

    async def finish_execution(self, execution_id: str, status: ExecutionStatus, at: datetime) -> None:
        """May be said again after a resume."""

    async def progress(self, execution_id: str) -> Mapping[str, TeamProgress]:
        """Progress by team id, rounds in order: for resuming and for views."""

    async def executions(self) -> Sequence[Execution]:
        """The one started last comes first."""
