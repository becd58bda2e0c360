"""Score curves over the rounds, as numbers that an SVG can take: one line a team, labelled at its end."""

import math
from collections.abc import Sequence

from mixseek.competition.views.board import LeaderBoard, TeamView
from mixseek.lazy_dataclass import dataclass
from mixseek.text.phrases import shortened

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
    """The curves without those who stand apart; None before there is a second score to compare with."""
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
