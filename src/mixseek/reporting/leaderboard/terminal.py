"""The leader board on a terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from mixseek.domain.rounds import ExecutionStatus
from mixseek.reporting.leaderboard.board import CompetitionLine, LeaderBoard, TeamView
from mixseek.reporting.leaderboard.html import cost_text, points_text
from mixseek.reporting.tables import QUIET, fitted, table_of
from mixseek.reporting.wording import NOTHING, make_visible, moment_text

_BLOCKS = "▁▂▃▄▅▆▇█"
_TASK_CHARACTERS = 100
_STATUS_STYLES = {
    ExecutionStatus.RUNNING: "yellow",
    ExecutionStatus.FINISHED: "green",
    ExecutionStatus.INTERRUPTED: "yellow",
    ExecutionStatus.FAILED: "red",
}


def print_leader_board(board: LeaderBoard, console: Console, html_path: Path | None = None) -> None:
    """Places first, then where the whole story is."""
    console.print(Text.assemble((make_visible(board.execution_id), "bold"), "  ", _status_text(board.status)))
    facts = f"{moment_text(board.started_at)} · {_first_line(board.task)}"
    console.print(Text(make_visible(facts), style=QUIET))
    console.print()
    rows = [
        (
            NOTHING if team.rank is None else str(team.rank),
            (team.team_name, "bold" if team.rank == 1 else ""),
            points_text(team.best_score),
            NOTHING if team.best_round is None else str(team.best_round),
            f"{len(team.rounds)} {curve_text(team)}",
            team.ending,
            cost_text(team.submitting, team.evaluating, team.judging),
        )
        for team in board.teams
    ]
    if rows:
        heads = (">#", "Team", ">Best", ">Round", "|Rounds", "Ended", ">Cost")
        console.print(fitted(table_of(heads, rows), console.width))
    else:
        console.print(Text("No team has submitted anything yet.", style=QUIET))
    for team in board.teams:
        if team.message:
            console.print(Text(make_visible(f"{team.team_name}: {team.message}"), style=QUIET))
    console.print()
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Page  ", QUIET), str(html_path)), soft_wrap=True)
    else:
        console.print(Text("Submissions, remarks and opinions: add --html FILE, or --json.", style=QUIET))


def print_competitions(lines: Sequence[CompetitionLine], console: Console) -> None:
    """One line a competition, in the order given."""
    heads = ("competition", "status", ">teams", ">rounds", ">best", "leader", "|started")
    rows = [
        (
            line.execution_id,
            _status_text(line.status),
            str(line.teams),
            str(line.rounds),
            points_text(line.best_score),
            line.leader or NOTHING,
            (moment_text(line.started_at) or NOTHING, QUIET),
        )
        for line in lines
    ]
    console.print(fitted(table_of(heads, rows), console.width))


def _status_text(status: ExecutionStatus) -> Text:
    """What is not over can be gone on with."""
    shown = "interrupted, resumable" if status is ExecutionStatus.INTERRUPTED else status.value
    return Text(shown, style=_STATUS_STYLES[status])


def curve_text(team: TeamView) -> str:
    """One block a round on 0..100; a dot where there is no score, because an empty block would be nought."""
    top = len(_BLOCKS) - 1
    return "".join("·" if entry.score is None else _BLOCKS[round(entry.score / 100 * top)] for entry in team.rounds)


def _first_line(task: str) -> str:
    """Enough of the task to recognise it."""
    line = task.strip().partition("\n")[0]
    return line if len(line) <= _TASK_CHARACTERS else line[: _TASK_CHARACTERS - 1] + "…"
