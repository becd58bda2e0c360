"""The board of a competition, and a list of competitions, as sections."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from mixseek.competition.views.board import CompetitionLine, LeaderBoard, TeamView
from mixseek.competition.views.words import APART, cost_text, masked_team_text, points_text
from mixseek.domain.rounds import ExecutionStatus
from mixseek.presentation.sections import (
    GAP,
    QUIET,
    Cell,
    Section,
    Sentence,
    TableRows,
    Words,
    notes,
    page_section,
    sections_of,
)
from mixseek.reports.wording.names import moment_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.text.phrases import shortened

_BLOCKS = "▁▂▃▄▅▆▇█"
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
    if not board.teams:
        yield Section(None, notes(["No team has submitted anything yet."]))
    if board.ranked:
        yield Section(None, [team_table(board.ranked)])
    if board.apart:
        title = Sentence(f"{APART}: shown apart, not ranked", "")
        yield Section(None, [*([GAP] if board.ranked else []), title, team_table(board.apart)])
    remarks = (
        f"{team.team_name}: {note}"
        for team in board.teams
        for note in filter(None, (team.message, masked_team_text(team)))
    )
    yield Section(None, [*notes(remarks), GAP])
    if page is not None:
        yield page_section(page)
    else:
        yield Section(None, notes(["Submissions, remarks and opinions: add --to FILE, or --json."]))


def team_table(teams: Sequence[TeamView]) -> TableRows:
    """Places, scores, how each team ended and what it took."""
    rows = []
    for team in teams:
        place, best_round = (NOTHING if number is None else str(number) for number in (team.rank, team.best_round))
        name = (team.team_name, "bold" if team.rank == 1 else "")
        cost = cost_text(team.submitting, team.evaluating, team.judging)
        played = f"{len(team.rounds)} {curve_text(team)}"
        rows.append((place, name, points_text(team.best_score), best_round, played, team.ending, cost))
    return TableRows((">#", "Team", ">Best", ">Round", "|Rounds", "Ended", ">Cost"), rows)


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


def curve_text(team: TeamView) -> str:
    """One block a round on 0..100; a dot where there is no score, because an empty block would be nought."""
    top = len(_BLOCKS) - 1
    return "".join("·" if entry.score is None else _BLOCKS[round(entry.score / 100 * top)] for entry in team.rounds)
