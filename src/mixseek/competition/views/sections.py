"""The board of a competition, and a list of competitions, as sections."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mixseek.competition.views.board import CompetitionLine, LeaderBoard, RoundView, TeamView
from mixseek.competition.views.words import (
    APART,
    cost_text,
    cut_off_team_text,
    expense_text,
    masked_team_text,
    points_text,
)
from mixseek.domain.rounds import ExecutionStatus
from mixseek.presentation.pictures import Axis, Curve, CurvePoint, Series, Step, line_style
from mixseek.presentation.sections import (
    GAP,
    QUIET,
    Cell,
    Curves,
    Head,
    Link,
    Section,
    Sentence,
    TableRows,
    Words,
    notes,
    number_head,
    page_section,
    sections_of,
)
from mixseek.reports.wording.names import moment_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.text.messages import Message, message
from mixseek.text.phrases import shortened

_FULL_MARKS = 100
# Characters from which a terminal has room for tokens.
_ROOMY = 130
_TASK_CHARACTERS = 100
_STATUS_STYLES = {
    ExecutionStatus.RUNNING: "yellow",
    ExecutionStatus.FINISHED: "green",
    ExecutionStatus.INTERRUPTED: "yellow",
    ExecutionStatus.FAILED: "red",
}


@sections_of.register
def leader_board_sections(board: LeaderBoard, page: Path | None = None) -> Iterator[Section]:
    """Places first, then where the whole story is."""
    task = shortened(board.task.strip().partition("\n")[0], _TASK_CHARACTERS)
    title = Sentence(Words([(board.execution_id, "bold"), "  ", _status_cell(board.status)]), "")
    yield Section(None, [title, Sentence(f"{moment_text(board.started_at)} · {task}"), GAP])
    yield from place_sections(board)
    yield Section(None, [GAP])
    if page is not None:
        yield page_section(page)
    else:
        yield Section(None, notes(["Submissions, remarks and opinions: add --to FILE, or --json."]))


def place_sections(board: LeaderBoard) -> Iterator[Section]:
    """Whoever is ranked, those who stand apart, and what there is to say of a team."""
    if not board.teams:
        nobody = message("race.no_team_has_submitted_anything_yet", "No team has submitted anything yet.")
        yield Section(None, notes([nobody]))
    numbered = list(enumerate(board.teams))
    if board.ranked:
        yield Section(None, [team_table([(number, team) for number, team in numbered if not team.is_self_judged])])
    if board.apart:
        apart = message("race.a_control_shown_apart", "a control: shown apart, not ranked")
        table = team_table([(number, team) for number, team in numbered if team.is_self_judged])
        yield Section(APART, [table], note=apart)
    remarks = (
        message("race.remark", "{team}: {remark}", team=team.team_name, remark=remark)
        for team in board.teams
        for remark in filter(None, (team.message, cut_off_team_text(team), masked_team_text(team)))
    )
    yield Section(None, notes(remarks))


def team_table(numbered: Iterable[tuple[int, TeamView]]) -> TableRows:
    """Places, scores, how each team ended and what it took; by its number on the board a team has its colour."""
    rows: list[Sequence[Cell]] = []
    for number, team in numbered:
        place, best_round = (NOTHING if number is None else str(number) for number in (team.rank, team.best_round))
        style = line_style(number) + (" bold" if team.rank == 1 else "")
        rows.append(
            (
                place,
                Link(Words([(team.team_name, style)]), {}, place=team_place(number)),
                (points_text(team.best_score), "bold"),
                best_round,
                score_series(team, number),
                team.ending,
                expense_text(team.submitting),
                cost_text(team.submitting, team.evaluating, team.judging),
            )
        )
    heads = (
        ">#",
        message("race.team", "Team"),
        number_head(message("race.best", "Best")),
        number_head(message("race.round_head", "Round")),
        Head("|Rounds", "|Rounds", page=message("race.score_by_round", "Score by round")),
        message("race.ended", "Ended"),
        Head(number_head(message("race.tokens_in_and_out", "Tokens in / out"))),
        number_head(message("word.cost", "Cost")),
    )
    return TableRows(heads, rows, wide=_ROOMY, name="board", label=message("word.leader_board", "Leader board"))


def team_place(number: int) -> str:
    """What a page calls the submissions of a team."""
    return f"team-{number + 1}"


def round_place(number: int, round_number: int) -> str:
    """What a page calls a round of a team."""
    return f"{team_place(number)}-round-{round_number}"


def score_series(team: TeamView, number: int) -> Series | str | tuple[str, str]:
    """The scores of a team round by round."""
    if not team.rounds:
        return message("race.no_submission", "no submission"), QUIET
    return Series(
        [
            Step(
                message("race.round", "Round {n}", n=entry.round_number),
                None if entry.score is None else entry.score / _FULL_MARKS,
                points_text(entry.score),
                round_place(number, entry.round_number),
                entry.is_best,
            )
            for entry in team.rounds
        ]
    )


def score_curves(board: LeaderBoard) -> Curves | None:
    """A line for each team that is ranked; None before there is a second score to compare with."""
    scores = [entry.score for team in board.ranked for entry in team.rounds if entry.score is not None]
    if len(scores) < 2:
        return None
    ticks = score_ticks(min(scores), max(scores))
    axis = Axis(ticks[0], ticks[-1], tuple(map(float, ticks)), tuple(map(str, ticks)))
    curves = [
        Curve(team.team_name, score_points(team), line_style(number))
        for number, team in enumerate(board.teams)
        if not team.is_self_judged
    ]
    label = "Score of each team by round; the table below holds the same numbers"
    heads = message("race.team", "Team"), message("race.round_word", "round")
    return Curves(heads, curves, board.most_rounds, axis, message("race.score_of_each_team_by_round", label))


def score_points(team: TeamView) -> list[CurvePoint]:
    """The rounds of a team that have a score."""
    return [
        CurvePoint(entry.round_number, entry.score, _point_label(team, entry), entry.is_best)
        for entry in team.rounds
        if entry.score is not None
    ]


def _point_label(team: TeamView, entry: RoundView) -> Message:
    where = "{team}, round {n}: {score}"
    score = points_text(entry.score)
    label = message("race.team_round_score", where, team=team.team_name, n=entry.round_number, score=score)
    return message("race.best_point", "{point} (best)", point=label) if entry.is_best else label


def score_ticks(lowest: float, highest: float) -> list[int]:
    """Round numbers around all scores, at least ten points apart from end to end: small differences stay small."""
    span = max(10.0, highest - lowest)
    step = 5 if span <= 25 else 10 if span <= 50 else 20
    low = max(0, math.floor((lowest - 1) / step) * step)
    high = min(_FULL_MARKS, math.ceil((highest + 1) / step) * step)
    while high - low < 2 * step:
        low, high = (max(0, low - step), high) if high == _FULL_MARKS else (low, high + step)
    return list(range(low, high + 1, step)) + ([high] if (high - low) % step else [])


def competition_list_sections(lines: Sequence[CompetitionLine]) -> Iterator[Section]:
    if not lines:
        return
    heads = ("competition", "status", ">teams", ">rounds", ">best", "leader", "|started")
    rows: list[Sequence[Cell]] = []
    for line in lines:
        best, started = points_text(line.best_score), (moment_text(line.started_at) or NOTHING, QUIET)
        counts = str(line.teams), str(line.rounds)
        rows.append((line.execution_id, _status_cell(line.status), *counts, best, line.leader or NOTHING, started))
    yield Section(None, [TableRows(heads, rows)])


def _status_cell(status: ExecutionStatus) -> tuple[str, str]:
    """What is not over can be gone on with."""
    shown = "interrupted, resumable" if status is ExecutionStatus.INTERRUPTED else status.value
    return shown, _STATUS_STYLES[status]
