"""A competition as every view shows it: places, rounds, metrics, opinions beside decisions, what it took."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from mixseek.domain import rounds
from mixseek.domain.judgments import Method
from mixseek.domain.rounds import DecidedBy, ExecutionStatus, RankedTeam, StopReason
from mixseek.evaluator.metrics import POINTS, EvaluationResult, MetricScore, MissingMetric
from mixseek.reporting.findings.model import document_of
from mixseek.reporting.pages.html import asset_text, manifest_entries, render_page, render_table
from mixseek.reporting.payload import Excerpt, field_limit
from mixseek.reporting.tables import QUIET, fitted, table_of
from mixseek.reporting.wording import NOTHING, count_text, make_visible, moment_text, plural, shortened, usd_text
from mixseek.stats.strengths import Board

STOP_TEXTS = {
    **{reason: reason.value.replace("_", " ") for reason in StopReason},
    StopReason.MAX_ROUNDS: "all rounds played",
    StopReason.JUDGE_OUT: "judge was out",
    StopReason.TEAM_TIMEOUT: "team ran out of time",
    StopReason.ROUND_TIMEOUT: "round ran out of time",
    StopReason.BUDGET: "budget spent",
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
    """From what the store holds; `judging` is what opinions on each team's progress took, where that is known."""
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
    ending = "playing" if is_running else "not ended"
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


def decision_text(entry: rounds.RoundProgress) -> str | None:
    """What holds and whose word it was; None while nothing is decided."""
    decision = entry.decision
    if decision is None:
        return None
    what = "goes on" if decision.stop_reason is None else f"stops: {STOP_TEXTS[decision.stop_reason]}"
    return f"{what}, decided by {DECIDER_TEXTS[decision.decided_by]}"


def read_metrics(details: Mapping[str, Any]) -> tuple[MetricLine, ...]:
    """The evaluator's metrics; of details that somebody else wrote, whatever has a score of its own."""
    if isinstance(details.get("metrics"), list):
        missing = [one for one in details.get("missing") or () if isinstance(one, Mapping)]
        items = [*details["metrics"], *({"name": one.get("name"), "comment": one.get("reason")} for one in missing)]
    else:
        own = {name: value if isinstance(value, Mapping) else {"score": value} for name, value in details.items()}
        items = [{**value, "name": name} for name, value in own.items() if _number(value.get("score")) is not None]
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
    counted = [usage for usage in usages if isinstance(usage, Mapping) and usage.keys() & {*kinds, "cost_usd"}]
    tokens = [[usage[kind] for usage in counted if isinstance(usage.get(kind), int)] for kind in kinds]
    taken, given = (sum(numbers) if numbers else None for numbers in tokens)
    costs = [cost for usage in counted if (cost := _number(usage.get("cost_usd"))) is not None]
    return Expense(taken, given, sum(costs) if costs else None, is_cost_partial=len(costs) < len(counted))


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
    """For programs. Keys are never renamed, only added: they are the names of the fields."""
    return document_of(board, execution_id="execution")


# The board as one self-contained page: nothing is fetched, and no submission can break out of its place.

# Score curves over the rounds, as numbers that an SVG can take: one line a team, labelled at its end.

WIDTH, HEIGHT = 860, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 170, 14, 30
# More lines than this cannot be told apart by colour and dash; the rest is drawn in grey, and all are in the table.
COLOURS = 7
DISTINCT = 2 * COLOURS
_LABEL_HEIGHT = 16
_LABEL_CHARACTERS = 20


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float
    number: int
    score: float
    is_best: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A team's line; a round without a score is a gap, so there may be several strokes."""

    style: str
    team_name: str
    label: str
    strokes: tuple[str, ...]
    points: tuple[Point, ...]
    label_y: float


@dataclass(frozen=True, slots=True)
class Chart:
    """Everything that is drawn, in the units of the view box."""

    scores: tuple[tuple[float, int], ...]  # place and value of each horizontal line
    rounds: tuple[tuple[float, int], ...]  # place and number of each round
    curves: tuple[Curve, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    bottom: float = HEIGHT - _BOTTOM


def team_style(index: int) -> str:
    """The class that gives a team its colour: seven of them, then the same seven dashed, then grey."""
    if index >= DISTINCT:
        return "dimension-0"
    return f"dimension-{index % COLOURS + 1}" + (" dashed" if index >= COLOURS else "")


def draw_chart(board: LeaderBoard) -> Chart | None:
    """Without those who stand apart; None before there is a second score to compare with."""
    scores = [entry.score for team in board.ranked for entry in team.rounds if entry.score is not None]
    if len(scores) < 2:
        return None
    ticks = score_ticks(min(scores), max(scores))
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM

    def x(number: int) -> float:
        # A single round stands in the middle.
        share = 0.5 if board.most_rounds == 1 else (number - 1) / (board.most_rounds - 1)
        return round(_LEFT + 14 + share * (right - _LEFT - 28), 1)

    def y(score: float) -> float:
        return round(bottom - (score - ticks[0]) / (ticks[-1] - ticks[0]) * (bottom - _TOP), 1)

    def points_of(team: TeamView) -> tuple[Point, ...]:
        scored = [(entry, entry.score) for entry in team.rounds if entry.score is not None]
        return tuple(
            Point(x(entry.round_number), y(score), entry.round_number, score, entry.is_best) for entry, score in scored
        )

    drawn = [(index, team, points_of(team)) for index, team in enumerate(board.teams)]
    drawn = [(index, team, points) for index, team, points in drawn if points and not team.is_self_judged]
    places = spread([points[-1].y for _, _, points in drawn[:DISTINCT]], _TOP, bottom)
    curves = []
    for order, (index, team, points) in enumerate(drawn):
        # Lines that cannot be told apart have no label.
        label, place = (team.team_name, places[order]) if order < len(places) else ("", 0.0)
        label = shortened(" ".join(label.split()), _LABEL_CHARACTERS)
        curves.append(Curve(team_style(index), team.team_name, label, strokes(points), points, place))
    numbers = tuple((x(number), number) for number in range(1, board.most_rounds + 1))
    return Chart(tuple((y(tick), tick) for tick in ticks), numbers, tuple(curves))


def score_ticks(lowest: float, highest: float) -> list[int]:
    """Round numbers around all scores, at least ten points apart from end to end: small differences stay small."""
    span = max(10.0, highest - lowest)
    step = 5 if span <= 25 else 10 if span <= 50 else 20
    low = max(0, math.floor((lowest - 1) / step) * step)
    high = min(100, math.ceil((highest + 1) / step) * step)
    while high - low < 2 * step:
        low, high = (max(0, low - step), high) if high == 100 else (low, high + step)
    return list(range(low, high + 1, step)) + ([high] if (high - low) % step else [])


def strokes(points: Sequence[Point]) -> tuple[str, ...]:
    """Polylines of rounds that follow each other; a line through a missing score would invent one."""
    runs: list[list[Point]] = []
    for point in points:
        if runs and runs[-1][-1].number == point.number - 1:
            runs[-1].append(point)
        else:
            runs.append([point])
    return tuple(" ".join(f"{point.x},{point.y}" for point in run) for run in runs if len(run) > 1)


def spread(wanted: Sequence[float], top: float, bottom: float) -> list[float]:
    """Places for labels near where their lines end, none upon another, all within the picture if they fit."""
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    places = [0.0] * len(wanted)
    reached = -math.inf
    for index in order:
        reached = max(wanted[index], reached + _LABEL_HEIGHT)
        places[index] = reached
    limit = bottom
    for index in reversed(order):
        places[index] = min(places[index], limit)
        limit = places[index] - _LABEL_HEIGHT
    shift = max(0.0, top - min(places, default=top))
    return [round(place + shift, 1) for place in places]


STYLES = ("tokens.css", "page.css", "summary.css", "leaderboard.css")
BOARD_STYLES = ("tokens.css", "page.css", "summary.css", "scored.css", "panel.css", "board.css")
SCRIPT = "leaderboard.js"
# Characters of submissions in one file. 16 million open in a browser in about a second; far more do not.
TEXT_BUDGET = 16_000_000


def render_leader_board(board: LeaderBoard, budget: int = TEXT_BUDGET) -> str:
    """The whole file as text that UTF-8 can hold."""
    return render_page("leaderboard.html.j2", STYLES, asset_text(SCRIPT), **leader_board_context(board, budget))


def render_board(board: Board) -> str:
    """Systems that were compared two by two, as a page of their own."""
    return render_page("board_page.html.j2", BOARD_STYLES, asset_text(SCRIPT), board=board)


def leader_board_context(board: LeaderBoard, budget: int = TEXT_BUDGET) -> dict[str, Any]:
    """What the template shows."""
    limit = field_limit([len(entry.submission) for team in board.teams for entry in team.rounds], budget)
    return {
        "board": board,
        "chart": draw_chart(board),
        "configuration": manifest_entries(board.configuration),
        "excerpt": lambda text: Excerpt(text[:limit], after=max(0, len(text) - limit)),
        "team_style": team_style,
        "expense_text": expense_text,
        "cost_text": cost_text,
        "points_text": points_text,
        "scale_text": scale_text,
        "apart_title": APART,
        "opinion_text": opinion_text,
    }


def opinion_text(opinion: rounds.Opinion | None) -> str:
    """What the judge of progress said, before anybody decided anything."""
    if isinstance(opinion, rounds.ImprovementJudgment):
        what = "would go on" if opinion.should_continue else "would stop"
        return f"{what}, confidence {opinion.confidence_score:.2f}"
    return "was not asked" if opinion is None else "gave no opinion"


def scale_text(scale: tuple[float, float] | None) -> str:
    """For the metrics that do not count from 0 to 100."""
    return "" if scale is None else f"{scale[0]:g} to {scale[1]:g}"


def points_text(score: float | None) -> str:
    """Two digits; a dash is not nought."""
    return NOTHING if score is None else f"{score:.2f}"


def expense_text(expense: Expense) -> str:
    """Tokens in and out, as far as somebody counted them."""
    counts = (expense.input_tokens, expense.output_tokens)
    if counts == (None, None):
        return NOTHING
    return " / ".join(NOTHING if count is None else count_text(count) for count in counts)


def cost_text(*expenses: Expense) -> str:
    """The known part with a plus where more was spent; a dash where nothing is known."""
    known = [expense.cost_usd for expense in expenses if expense.cost_usd is not None]
    is_partial = any(expense.is_cost_partial for expense in expenses)
    if not known:
        return "unknown" if is_partial else NOTHING
    # By way of text: a float's binary tail is not money.
    amount = usd_text(Decimal(repr(sum(known))))
    return f"{amount} + unknown" if is_partial else amount


# The board on a terminal.

_BLOCKS = "▁▂▃▄▅▆▇█"
_TASK_CHARACTERS = 100
APART = "Scored by their own model"
_STATUS_STYLES = {
    ExecutionStatus.RUNNING: "yellow",
    ExecutionStatus.FINISHED: "green",
    ExecutionStatus.INTERRUPTED: "yellow",
    ExecutionStatus.FAILED: "red",
}


def print_leader_board(board: LeaderBoard, console: Console, html_path: Path | None = None) -> None:
    """Places first, then where the whole story is."""
    console.print(Text.assemble((make_visible(board.execution_id), "bold"), "  ", _status_text(board.status)))
    task = shortened(board.task.strip().partition("\n")[0], _TASK_CHARACTERS)
    facts = f"{moment_text(board.started_at)} · {task}"
    console.print(Text(make_visible(facts), style=QUIET))
    console.print()
    if not board.teams:
        console.print(Text("No team has submitted anything yet.", style=QUIET))
    if board.ranked:
        _print_teams(board.ranked, console)
    if board.apart:
        if board.ranked:
            console.print()
        console.print(Text(f"{APART}: shown apart, not ranked"))
        _print_teams(board.apart, console)
    for team in board.teams:
        if team.message:
            console.print(Text(make_visible(f"{team.team_name}: {team.message}"), style=QUIET))
    console.print()
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Page  ", QUIET), str(html_path)), soft_wrap=True)
    else:
        console.print(Text("Submissions, remarks and opinions: add --html FILE, or --json.", style=QUIET))


def _print_teams(teams: Sequence[TeamView], console: Console) -> None:
    rows = []
    for team in teams:
        place, best_round = (NOTHING if number is None else str(number) for number in (team.rank, team.best_round))
        name = (team.team_name, "bold" if team.rank == 1 else "")
        cost = cost_text(team.submitting, team.evaluating, team.judging)
        played = f"{len(team.rounds)} {curve_text(team)}"
        rows.append((place, name, points_text(team.best_score), best_round, played, team.ending, cost))
    heads = (">#", "Team", ">Best", ">Round", "|Rounds", "Ended", ">Cost")
    console.print(fitted(table_of(heads, rows), console.width))


def print_competitions(lines: Sequence[CompetitionLine], console: Console) -> None:
    heads = ("competition", "status", ">teams", ">rounds", ">best", "leader", "|started")
    rows = []
    for line in lines:
        best, started = points_text(line.best_score), (moment_text(line.started_at) or NOTHING, QUIET)
        counts = str(line.teams), str(line.rounds)
        rows.append((line.execution_id, _status_text(line.status), *counts, best, line.leader or NOTHING, started))
    console.print(fitted(table_of(heads, rows), console.width))


def _status_text(status: ExecutionStatus) -> Text:
    """What is not over can be gone on with."""
    shown = "interrupted, resumable" if status is ExecutionStatus.INTERRUPTED else status.value
    return Text(shown, style=_STATUS_STYLES[status])


def curve_text(team: TeamView) -> str:
    """One block a round on 0..100; a dot where there is no score, because an empty block would be nought."""
    top = len(_BLOCKS) - 1
    return "".join("·" if entry.score is None else _BLOCKS[round(entry.score / 100 * top)] for entry in team.rounds)


# An evaluation without a race: each submission with its scores, or the name of what is missing.


@dataclass(frozen=True, slots=True)
class EvaluatedSubmission:
    """One submission with what the evaluator made of it."""

    name: str
    user_query: str
    submission: str
    result: EvaluationResult

    @property
    def overall_score(self) -> float | None:
        """On 0..100; None as soon as one metric is missing."""
        return self.result.overall_score

    @property
    def metrics(self) -> Mapping[str, MetricScore | MissingMetric]:
        """By name, in the order of the configuration."""
        return {metric.name: metric for metric in self.result.metrics}

    @property
    def scores(self) -> dict[str, float | None]:
        """Of each metric by name; None where it is missing."""
        return {one.name: one.score if isinstance(one, MetricScore) else None for one in self.result.metrics}

    @property
    def is_open(self) -> bool:
        """Whether asking again may give a score."""
        return any(not metric.is_permanent for metric in self.result.missing)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, without the texts."""
        return {"name": self.name, "overall_score": self.overall_score, **self.result.details()}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All submissions in the order in which they were given; a failure is in it by its name, and never a 0.

    `reason` is a sentence where it stopped before its end: a spent budget, an endpoint that is down. `sent` says what
    was asked now; what was known from before is not in it.
    """

    submissions: tuple[EvaluatedSubmission, ...]
    weights: Mapping[str, float]
    reason: str | None
    sent: Mapping[str, int | float]
    # Every reply, to the letter; None where nothing was to be kept.
    journal: Path | None = None

    def __iter__(self) -> Iterator[EvaluatedSubmission]:
        return iter(self.submissions)

    def __len__(self) -> int:
        return len(self.submissions)

    def __getitem__(self, place: int) -> EvaluatedSubmission:
        return self.submissions[place]

    @property
    def scores(self) -> list[float | None]:
        """The overall score of each submission, in order."""
        return [one.overall_score for one in self.submissions]

    @property
    def is_open(self) -> bool:
        """Whether the same again may give scores that are missing now."""
        return self.reason is not None or any(one.is_open for one in self.submissions)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each submission, flat: a frame of any library can be made of it."""
        return [{"name": one.name, "overall_score": one.overall_score, **one.scores} for one in self.submissions]

    def _repr_html_(self) -> str:
        return render_table(("submission", "overall", *self._columns()), self._rows())

    def _columns(self) -> list[str]:
        """The metrics' names, with the scale of those that do not count from 0 to 100."""
        scales = {
            score.name: scale_text(score.scale)
            for one in self.submissions
            for score in one.result.scores
            if score.scale != POINTS
        }
        return [f"{name} ({scales[name]})" if name in scales else name for name in self.weights]

    def _rows(self) -> list[list[str]]:
        return [[one.name, *map(points_text, (one.overall_score, *one.scores.values()))] for one in self.submissions]


def evaluation_document(evaluation: Evaluation) -> dict[str, Any]:
    """For programs."""
    return {
        "submissions": [one.to_dict() for one in evaluation],
        "weights": dict(evaluation.weights),
        "reason": evaluation.reason,
        "sent": dict(evaluation.sent),
        "journal": None if evaluation.journal is None else str(evaluation.journal),
    }


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Scores, and below them what judges say, or why a score is missing."""
    heads = ("submission", ">overall", *(f">{name}" for name in evaluation._columns()))
    console.print(fitted(table_of(heads, evaluation._rows()), console.width))
    remarks = [(one.name, metric) for one in evaluation for metric in one.result.metrics if remark_on(metric)]
    if remarks:
        console.print()
    for name, metric in remarks:
        console.print(Text(make_visible(f"{name}: {metric.name}: {remark_on(metric)}"), style=QUIET))
    sent = evaluation.sent
    said = f"{plural(int(sent['calls']), 'call')}, {sent['cached']:,} from the cache, ${sent['cost_usd']:.4f}"
    console.print(Text(said, style=QUIET))


def remark_on(metric: MetricScore | MissingMetric) -> str:
    """The judge's comment, or why there is no score, as one line."""
    text = metric.comment if isinstance(metric, MetricScore) else f"no score ({metric.reason})"
    return " ".join(text.split())
