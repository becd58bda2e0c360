"""A competition as every view shows it: places, rounds, metrics, opinions beside decisions, what it took."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mixseek.domain.rounds import (
    DecidedBy,
    Execution,
    ExecutionStatus,
    ImprovementJudgment,
    NoOpinion,
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

    number: int
    submission: str
    score: float | None
    is_evaluated: bool
    is_best: bool
    metrics: tuple[MetricLine, ...]
    opinion: ImprovementJudgment | NoOpinion | None
    decision_text: str
    submitted_at: str


@dataclass(frozen=True, slots=True)
class TeamView:
    """A team with its place, or without one while it has no score."""

    rank: int | None
    team_id: str
    team_name: str
    best_score: float | None
    best_round: int | None
    rounds: tuple[RoundView, ...]
    stop_reason: StopReason | None
    ending: str
    message: str
    submitting: Expense
    evaluating: Expense
    judging: Expense


@dataclass(frozen=True, slots=True)
class LeaderBoard:
    """Ranked teams in order, then those without a place by id."""

    execution_id: str
    task: str
    status: ExecutionStatus
    started_at: str
    ended_at: str | None
    teams: tuple[TeamView, ...]
    configuration: Mapping[str, Any]

    @property
    def leader(self) -> TeamView | None:
        """Whoever stands first, if anybody has a score."""
        return self.teams[0] if self.teams and self.teams[0].rank is not None else None

    @property
    def most_rounds(self) -> int:
        """How far the longest team has come."""
        return max((entry.number for team in self.teams for entry in team.rounds), default=0)


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
        return {
            "kind": "competition",
            "execution": self.execution_id,
            "status": self.status.value,
            "teams": self.teams,
            "rounds": self.rounds,
            "leader": self.leader,
            "best_score": self.best_score,
            "started_at": self.started_at,
        }


def competition_line(execution: Execution, teams: int, rounds: int, leader: RankedTeam | None) -> CompetitionLine:
    """From what the store holds."""
    return CompetitionLine(
        execution.execution_id,
        execution.status,
        teams,
        rounds,
        None if leader is None else leader.team_name,
        None if leader is None else leader.best_score,
        execution.started_at.isoformat(),
    )


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
        execution.execution_id,
        execution.task,
        execution.status,
        execution.started_at.isoformat(),
        None if execution.ended_at is None else execution.ended_at.isoformat(),
        tuple(
            _team(progress[team_id], places.get(team_id), is_running, opinions.get(team_id, {}))
            for team_id in order
            if team_id in progress
        ),
        execution.configuration,
    )


def _team(team: TeamProgress, place: RankedTeam | None, is_running: bool, judging: Mapping[str, Any]) -> TeamView:
    reason = team.stop_reason
    if is_running and reason in _RESUMABLE:
        reason = None
    ending = "playing" if is_running else "not ended"
    best_round = None if place is None else place.best_round
    return TeamView(
        None if place is None else place.rank,
        team.team_id,
        team.team_name,
        None if place is None else place.best_score,
        best_round,
        tuple(_round(entry, entry.round_number == best_round) for entry in team.rounds),
        reason,
        ending if reason is None else STOP_TEXTS[reason],
        "" if reason is None else team.message,
        add_expenses(entry.usage for entry in team.rounds),
        add_expenses(_mapping(entry.details.get("usage")) for entry in team.rounds),
        add_expenses([judging]),
    )


def _round(entry: RoundProgress, is_best: bool) -> RoundView:
    return RoundView(
        entry.round_number,
        entry.submission,
        entry.score,
        entry.evaluated_at is not None,
        is_best,
        read_metrics(entry.details),
        entry.opinion,
        decision_text(entry),
        entry.submitted_at.isoformat(),
    )


def decision_text(entry: RoundProgress) -> str:
    """What holds and whose word it was; empty while nothing is decided."""
    decision = entry.decision
    if decision is None:
        return ""
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
    """For programs. Keys are never renamed, only added."""
    return {
        "execution": board.execution_id,
        "task": board.task,
        "status": board.status.value,
        "started_at": board.started_at,
        "ended_at": board.ended_at,
        "configuration": dict(board.configuration),
        "teams": [_team_document(team) for team in board.teams],
    }


def _team_document(team: TeamView) -> dict[str, Any]:
    return {
        "rank": team.rank,
        "team_id": team.team_id,
        "team_name": team.team_name,
        "best_score": team.best_score,
        "best_round": team.best_round,
        "stop_reason": None if team.stop_reason is None else team.stop_reason.value,
        "message": team.message,
        "submitting": asdict(team.submitting),
        "evaluating": asdict(team.evaluating),
        "judging": asdict(team.judging),
        "rounds": [_round_document(entry) for entry in team.rounds],
    }


def _round_document(entry: RoundView) -> dict[str, Any]:
    return {
        "round_number": entry.number,
        "score": entry.score,
        "is_evaluated": entry.is_evaluated,
        "metrics": [asdict(metric) for metric in entry.metrics],
        "opinion": None if entry.opinion is None else asdict(entry.opinion),
        "decision": entry.decision_text or None,
        "submitted_at": entry.submitted_at,
        "submission": entry.submission,
    }
