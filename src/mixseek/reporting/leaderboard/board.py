"""A competition as every view shows it: places, rounds, metrics, opinions beside decisions, what it took."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mixseek.domain.rounds import (
    DecidedBy,
    Execution,
    ExecutionStatus,
    Opinion,
    RankedTeam,
    RoundProgress,
    StopReason,
    TeamProgress,
)

STOP_TEXTS = {
    StopReason.MAX_ROUNDS: "all rounds played",
    StopReason.JUDGED_ENOUGH: "judged enough",
    StopReason.JUDGE_OUT: "judge was out",
    StopReason.NO_GAIN: "no gain",
    StopReason.TEAM_FAILED: "team failed",
    StopReason.TEAM_TIMEOUT: "team ran out of time",
    StopReason.ROUND_TIMEOUT: "round ran out of time",
    StopReason.EVALUATION_FAILED: "evaluation failed",
    StopReason.BUDGET: "budget spent",
    StopReason.INTERRUPTED: "interrupted",
}
DECIDER_TEXTS = {
    DecidedBy.CONTROLLER: "the controller",
    DecidedBy.JUDGE: "the judge",
    DecidedBy.POLICY: "the policy for a judge that is out",
    DecidedBy.NO_GAIN_RULE: "the rule of no gain",
}
# Reasons that a resumed execution takes back.
_RESUMABLE = frozenset({StopReason.INTERRUPTED, StopReason.BUDGET})


@dataclass(frozen=True, slots=True)
class MetricLine:
    """One metric of one round; `score` None with the reason why it is missing."""

    name: str
    score: float | None
    weight: float | None = None
    comment: str = ""
    is_lower_better: bool = False


@dataclass(frozen=True, slots=True)
class Expense:
    """Sums over what was counted; None where nothing was. `is_cost_partial`: some calls have no known price."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    is_cost_partial: bool = False


@dataclass(frozen=True, slots=True)
class RoundView:
    """One round: what was handed in, what it was worth, what was thought and what was decided."""

    round_number: int
    score: float | None
    is_evaluated: bool
    is_best: bool
    metrics: tuple[MetricLine, ...]
    opinion: Opinion | None
    decision: str | None
    submitted_at: str
    submission: str


@dataclass(frozen=True, slots=True)
class TeamView:
    """A team with its place, or without one while it has no score."""

    rank: int | None
    team_id: str
    team_name: str
    best_score: float | None
    best_round: int | None
    stop_reason: StopReason | None
    ending: str
    message: str
    submitting: Expense
    evaluating: Expense
    judging: Expense
    rounds: tuple[RoundView, ...]


@dataclass(frozen=True, slots=True)
class LeaderBoard:
    """Ranked teams in order, then those without a place by id."""

    execution_id: str
    task: str
    status: ExecutionStatus
    started_at: str
    ended_at: str | None
    configuration: Mapping[str, Any]
    teams: tuple[TeamView, ...]

    @property
    def leader(self) -> TeamView | None:
        """Whoever stands first, if anybody has a score."""
        return self.teams[0] if self.teams and self.teams[0].rank is not None else None

    @property
    def most_rounds(self) -> int:
        """How far the longest team has come."""
        return max((entry.round_number for team in self.teams for entry in team.rounds), default=0)


@dataclass(frozen=True, slots=True)
class CompetitionLine:
    """One competition in a list of what a workspace holds."""

    execution_id: str
    status: ExecutionStatus
    teams: int
    rounds: int
    leader: str | None
    best_score: float | None
    started_at: str

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        return {"kind": "competition", **_as_document(self)}


def competition_line(execution: Execution, teams: int, rounds: int, leader: RankedTeam | None) -> CompetitionLine:
    """From what the store holds."""
    name, best_score = (None, None) if leader is None else (leader.team_name, leader.best_score)
    started_at = execution.started_at.isoformat()
    return CompetitionLine(execution.execution_id, execution.status, teams, rounds, name, best_score, started_at)


def build_leader_board(
    execution: Execution,
    ranking: Sequence[RankedTeam],
    progress: Mapping[str, TeamProgress],
    judging: Mapping[str, Mapping[str, Any]] | None = None,
) -> LeaderBoard:
    """From what the store holds; `judging` is what opinions on each team's progress took, where that is known."""
    opinions = judging or {}
    places = {team.team_id: team for team in ranking}
    order = [*places, *sorted(progress.keys() - places.keys())]
    is_running = execution.status is ExecutionStatus.RUNNING
    return LeaderBoard(
        execution_id=execution.execution_id,
        task=execution.task,
        status=execution.status,
        started_at=execution.started_at.isoformat(),
        ended_at=None if execution.ended_at is None else execution.ended_at.isoformat(),
        configuration=execution.configuration,
        teams=tuple(
            _view_team(progress[team_id], places.get(team_id), is_running, opinions.get(team_id, {}))
            for team_id in order
            if team_id in progress
        ),
    )


def _view_team(team: TeamProgress, place: RankedTeam | None, is_running: bool, judging: Mapping[str, Any]) -> TeamView:
    reason = None if is_running and team.stop_reason in _RESUMABLE else team.stop_reason
    ending = "playing" if is_running else "not ended"
    best_round = None if place is None else place.best_round
    return TeamView(
        rank=None if place is None else place.rank,
        team_id=team.team_id,
        team_name=team.team_name,
        best_score=None if place is None else place.best_score,
        best_round=best_round,
        stop_reason=reason,
        ending=ending if reason is None else STOP_TEXTS[reason],
        message="" if reason is None else team.message,
        submitting=add_expenses(entry.usage for entry in team.rounds),
        evaluating=add_expenses(_mapping(entry.details.get("usage")) for entry in team.rounds),
        judging=add_expenses([judging]),
        rounds=tuple(_view_round(entry, is_best=entry.round_number == best_round) for entry in team.rounds),
    )


def _view_round(entry: RoundProgress, *, is_best: bool) -> RoundView:
    return RoundView(
        round_number=entry.round_number,
        score=entry.score,
        is_evaluated=entry.evaluated_at is not None,
        is_best=is_best,
        metrics=read_metrics(entry.details),
        opinion=entry.opinion,
        decision=decision_text(entry),
        submitted_at=entry.submitted_at.isoformat(),
        submission=entry.submission,
    )


def decision_text(entry: RoundProgress) -> str | None:
    """What holds and whose word it was; None while nothing is decided."""
    decision = entry.decision
    if decision is None:
        return None
    what = "goes on" if decision.stop_reason is None else f"stops: {STOP_TEXTS[decision.stop_reason]}"
    return f"{what}, decided by {DECIDER_TEXTS[decision.decided_by]}"


def read_metrics(details: Mapping[str, Any]) -> tuple[MetricLine, ...]:
    """The evaluator's metrics; of details that somebody else wrote, whatever has a score of its own."""
    if isinstance(details.get("metrics"), list):
        scored = [_metric_line(item) for item in details["metrics"] if isinstance(item, Mapping)]
        missing = [
            MetricLine(str(item.get("name", "")), None, comment=str(item.get("reason", "")))
            for item in details.get("missing") or ()
            if isinstance(item, Mapping)
        ]
        return (*scored, *missing)
    found = []
    for name, value in details.items():
        if (score := _number(value)) is not None:
            found.append(MetricLine(name, score))
        elif isinstance(value, Mapping) and (score := _number(value.get("score"))) is not None:
            found.append(MetricLine(name, score, comment=str(value.get("comment") or "")))
    return tuple(found)


def _metric_line(item: Mapping[str, Any]) -> MetricLine:
    return MetricLine(
        str(item.get("name", "")),
        _number(item.get("score")),
        _number(item.get("weight")),
        str(item.get("comment") or ""),
        item.get("direction") == "lower",
    )


def add_expenses(usages: Iterable[Mapping[str, Any]]) -> Expense:
    """None stays None: what nobody counted is not nought."""
    counted = [usage for usage in usages if usage.keys() & {"input_tokens", "output_tokens", "cost_usd"}]
    costs = [_number(usage.get("cost_usd")) for usage in counted]
    known = [cost for cost in costs if cost is not None]
    return Expense(
        _sum_counts(usage.get("input_tokens") for usage in counted),
        _sum_counts(usage.get("output_tokens") for usage in counted),
        sum(known) if known else None,
        is_cost_partial=len(known) < len(costs),
    )


def _sum_counts(counts: Iterable[Any]) -> int | None:
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def leader_board_document(board: LeaderBoard) -> dict[str, Any]:
    """For programs. Keys are never renamed, only added: they are the names of the fields."""
    return _as_document(board)


def _as_document(view: LeaderBoard | CompetitionLine) -> dict[str, Any]:
    fields = asdict(view)
    return {"execution": fields.pop("execution_id"), **fields}
