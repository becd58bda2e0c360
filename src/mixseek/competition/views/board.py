"""A competition as every view shows it: places, rounds, metrics, opinions beside decisions, what it took."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mixseek.domain import rounds
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.domain.judgments import Method
from mixseek.domain.rounds import DecidedBy, ExecutionStatus, RankedTeam, StopReason
from mixseek.domain.scored_details import document_of
from mixseek.lazy_dataclass import dataclass
from mixseek.text.messages import Message, message

STOP_TEXTS = {
    StopReason.MAX_ROUNDS: message("race.max_rounds", "all rounds played"),
    StopReason.JUDGED_ENOUGH: message("race.judged_enough", "judged enough"),
    StopReason.JUDGE_OUT: message("race.judge_out", "judge was out"),
    StopReason.NO_GAIN: message("race.no_gain", "no gain"),
    StopReason.TEAM_FAILED: message("race.team_failed", "team failed"),
    StopReason.TEAM_TIMEOUT: message("race.team_timeout", "team ran out of time"),
    StopReason.ROUND_TIMEOUT: message("race.round_timeout", "round ran out of time"),
    StopReason.EVALUATION_FAILED: message("race.evaluation_failed", "evaluation failed"),
    StopReason.BUDGET: message("race.budget", "budget spent"),
    StopReason.INTERRUPTED: message("word.interrupted", "interrupted"),
}
DECIDER_TEXTS = {
    DecidedBy.CONTROLLER: message("race.the_controller", "the controller"),
    DecidedBy.JUDGE: message("race.the_judge", "the judge"),
    DecidedBy.POLICY: message("race.the_policy", "the policy for a judge that is out"),
    DecidedBy.NO_GAIN_RULE: message("race.the_rule_of_no_gain", "the rule of no gain"),
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
    # Where the metric does not count from 0 to 100: the ends of its scale.
    scale: tuple[float, float] | None = None
    is_self_judged: bool = False

    @property
    def share(self) -> float | None:
        """How far up its scale the score is, in hundredths."""
        if self.score is None or self.scale is None:
            return self.score
        low, high = self.scale
        return (self.score - low) / (high - low) * 100


@dataclass(frozen=True, slots=True)
class Expense:
    """Sums over what was counted; None where nothing was. `is_cost_partial`: some calls have no known price."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    is_cost_partial: bool = False
    masked_replies: int = 0  # in which a key stood that the endpoint had repeated
    cut_off_replies: int = 0  # which a limit ended


@dataclass(frozen=True, slots=True)
class RoundView:
    """One round: what was handed in, what it was worth, what was thought and what was decided."""

    round_number: int
    score: float | None
    is_evaluated: bool
    is_best: bool
    metrics: tuple[MetricLine, ...]
    opinion: rounds.Opinion | None
    decision: str | None
    submitted_at: str
    submission: str
    is_self_judged: bool = False


@dataclass(frozen=True, slots=True)
class TeamView:
    """A team with its place, or without one while it has no score, or none but from its own model."""

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
    # Every score is its own model's: `best_score` is shown apart, and there is no rank.
    is_self_judged: bool = False


@dataclass(frozen=True, slots=True)
class LeaderBoard:
    """Ranked teams in order, then those that only judged themselves, then those without a score by id."""

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
    def ranked(self) -> tuple[TeamView, ...]:
        """Everybody but those who stand apart."""
        return tuple(team for team in self.teams if not team.is_self_judged)

    @property
    def apart(self) -> tuple[TeamView, ...]:
        """Teams whose every score is their own model's: a control, and no place."""
        return tuple(team for team in self.teams if team.is_self_judged)

    @property
    def most_rounds(self) -> int:
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
        return {"kind": "competition", **document_of(self, execution_id="execution")}


def build_leader_board(
    execution: rounds.Execution,
    ranking: Sequence[RankedTeam],
    progress: Mapping[str, rounds.TeamProgress],
    judging: Mapping[str, Mapping[str, Any]] | None = None,
) -> LeaderBoard:
    """The board of what the store holds; `judging`: what opinions on each team's progress took, if known."""
    places = {team.team_id: team for team in ranking}
    apart = {team.team_id: team for team in rank_apart(progress, places)}
    order = [*places, *apart, *sorted(progress.keys() - places.keys() - apart.keys())]
    is_running = execution.status is ExecutionStatus.RUNNING
    return LeaderBoard(
        execution_id=execution.execution_id,
        task=execution.task,
        status=execution.status,
        started_at=execution.started_at.isoformat(),
        ended_at=None if execution.ended_at is None else execution.ended_at.isoformat(),
        configuration=execution.configuration,
        teams=tuple(
            _view_team(
                progress[team_id],
                places.get(team_id),
                is_running,
                (judging or {}).get(team_id, {}),
                apart.get(team_id),
            )
            for team_id in order
            if team_id in progress
        ),
    )


def rank_apart(progress: Mapping[str, rounds.TeamProgress], places: Mapping[str, RankedTeam]) -> tuple[RankedTeam, ...]:
    """Teams whose every score is their own model's, in the order that these scores would give them."""
    return rounds.rank_teams(
        rounds.BoardEntry(team.team_id, team.team_name, entry.round_number, entry.score)
        for team_id, team in progress.items()
        if team_id not in places
        for entry in team.rounds
        if entry.is_self_judged
    )


def _view_team(
    team: rounds.TeamProgress,
    place: RankedTeam | None,
    is_running: bool,
    judging: Mapping[str, Any],
    apart: RankedTeam | None,
) -> TeamView:
    reason = None if is_running and team.stop_reason in _RESUMABLE else team.stop_reason
    ending = message("race.playing", "playing") if is_running else message("race.not_ended", "not ended")
    best = place or apart
    best_score, best_round = (best.best_score, best.best_round) if best else (None, None)
    return TeamView(
        rank=None if place is None else place.rank,
        team_id=team.team_id,
        team_name=team.team_name,
        best_score=best_score,
        best_round=best_round,
        stop_reason=reason,
        ending=ending if reason is None else STOP_TEXTS[reason],
        message="" if reason is None else team.message,
        submitting=add_expenses(entry.usage for entry in team.rounds),
        evaluating=add_expenses(entry.details.get("usage") for entry in team.rounds),
        judging=add_expenses([judging]),
        rounds=tuple(_view_round(entry, is_best=entry.round_number == best_round) for entry in team.rounds),
        is_self_judged=apart is not None,
    )


def _view_round(entry: rounds.RoundProgress, *, is_best: bool) -> RoundView:
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
        is_self_judged=entry.is_self_judged,
    )


def decision_text(entry: rounds.RoundProgress) -> Message | None:
    """What holds and whose word it was; None while nothing is decided."""
    decision = entry.decision
    if decision is None:
        return None
    what = message("race.goes_on", "goes on")
    if decision.stop_reason is not None:
        what = message("race.stops", "stops: {why}", why=STOP_TEXTS[decision.stop_reason])
    who = DECIDER_TEXTS[decision.decided_by]
    return message("race.decided_by", "{what}, decided by {who}", what=what, who=who)


def read_metrics(details: Mapping[str, Any]) -> tuple[MetricLine, ...]:
    """The evaluator's metrics; of details that somebody else wrote, whatever has a score of its own."""
    if isinstance(details.get("metrics"), list):
        missing = [metric for metric in details.get("missing") or () if isinstance(metric, Mapping)]
        items = [
            *details["metrics"],
            *({"name": metric.get("name"), "comment": metric.get("reason")} for metric in missing),
        ]
    else:
        metrics = {name: value if isinstance(value, Mapping) else {"score": value} for name, value in details.items()}
        items = [{**value, "name": name} for name, value in metrics.items() if _number(value.get("score")) is not None]
    methods = rounds.methods_of(details)
    return tuple(
        MetricLine(
            str(item.get("name") or ""),
            _number(item.get("score")),
            _number(item.get("weight")),
            str(item.get("comment") or ""),
            item.get("direction") == "lower",
            _scale(item.get("scale")),
            methods.get(str(item.get("name"))) == Method.SELF_JUDGE,
        )
        for item in items
        if isinstance(item, Mapping)
    )


def add_expenses(usages: Iterable[Any]) -> Expense:
    """None stays None: what nobody counted is not nought. Whatever is no mapping counts nothing."""
    kinds = ("input_tokens", "output_tokens")
    known = [usage for usage in usages if isinstance(usage, Mapping)]
    counted = [usage for usage in known if usage.keys() & {*kinds, "cost_usd"}]
    tokens = [[usage[kind] for usage in counted if isinstance(usage.get(kind), int)] for kind in kinds]
    taken, given = (sum(numbers) if numbers else None for numbers in tokens)
    costs = [cost for usage in counted if (cost := _number(usage.get("cost_usd"))) is not None]
    beside = ("masked_replies", "cut_off_replies")
    replies = [sum(usage[name] for usage in known if isinstance(usage.get(name), int)) for name in beside]
    return Expense(taken, given, sum(costs) if costs else None, len(costs) < len(counted), *replies)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _scale(value: Any) -> tuple[float, float] | None:
    """Only a real one: details may be of somebody else's making."""
    ends = [_number(end) for end in value] if isinstance(value, list | tuple) else []
    match ends:
        case [float() as low, float() as high] if low < high:
            return low, high
    return None


def leader_board_document(board: LeaderBoard) -> dict[str, Any]:
    """The board for programs. Keys are never renamed, only added: they are the names of the fields."""
    return with_schema(DocumentName.LEADERBOARD, document_of(board, execution_id="execution"))
