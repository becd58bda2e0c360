"""The leader board on a terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixseek.domain.rounds import ExecutionStatus
from mixseek.reporting import wording
from mixseek.reporting.leaderboard.board import CompetitionLine, LeaderBoard, TeamView
from mixseek.reporting.leaderboard.html import cost_text
from mixseek.reporting.wording import QUIET, make_visible

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
    console.print(Text.assemble((make_visible(board.execution_id), "bold"), "  ", status_text(board.status)))
    facts = [wording.moment_text(board.started_at) or "", first_line(board.task)]
    console.print(Text(make_visible(" · ".join(facts)), style=QUIET))
    console.print()
    if board.teams:
        console.print(_table(board))
        for team in board.teams:
            if team.message:
                console.print(Text(f"{make_visible(team.team_name)}: {make_visible(team.message)}", style=QUIET))
    else:
        console.print(Text("No team has submitted anything yet.", style=QUIET))
    console.print()
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Page  ", QUIET), str(html_path)), soft_wrap=True)
    else:
        console.print(Text("Submissions, remarks and opinions: add --html FILE, or --json.", style=QUIET))


def print_competitions(lines: Sequence[CompetitionLine], console: Console) -> None:
    """One line a competition, in the order given."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("competition", overflow="fold")
    table.add_column("status", overflow="fold")
    for name in ("teams", "rounds", "best"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("leader", overflow="fold")
    table.add_column("started", no_wrap=True)
    for line in lines:
        table.add_row(
            Text(make_visible(line.execution_id)),
            status_text(line.status),
            str(line.teams),
            str(line.rounds),
            wording.NOTHING if line.best_score is None else f"{line.best_score:.2f}",
            Text(make_visible(line.leader or wording.NOTHING)),
            Text(wording.moment_text(line.started_at) or wording.NOTHING, style=QUIET),
        )
    console.print(table)


def status_text(status: ExecutionStatus) -> Text:
    """What is not over can be gone on with."""
    shown = "interrupted, resumable" if status is ExecutionStatus.INTERRUPTED else status.value
    return Text(shown, style=_STATUS_STYLES[status])


def _table(board: LeaderBoard) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("#", justify="right")
    table.add_column("Team", overflow="fold")
    table.add_column("Best", justify="right", no_wrap=True)
    table.add_column("Round", justify="right", no_wrap=True)
    table.add_column("Rounds", no_wrap=True)
    table.add_column("Ended", overflow="fold")
    table.add_column("Cost", justify="right", no_wrap=True)
    for team in board.teams:
        table.add_row(
            wording.NOTHING if team.rank is None else str(team.rank),
            Text(make_visible(team.team_name), style="bold" if team.rank == 1 else ""),
            wording.NOTHING if team.best_score is None else f"{team.best_score:.2f}",
            wording.NOTHING if team.best_round is None else str(team.best_round),
            f"{len(team.rounds)} {curve_text(team)}",
            team.ending,
            cost_text(team.submitting, team.evaluating, team.judging),
        )
    return table


def curve_text(team: TeamView) -> str:
    """One block a round on 0..100; a dot where there is no score, because an empty block would be nought."""
    top = len(_BLOCKS) - 1
    return "".join("·" if entry.score is None else _BLOCKS[round(entry.score / 100 * top)] for entry in team.rounds)


def first_line(task: str) -> str:
    """Enough of the task to recognise it."""
    line = task.strip().partition("\n")[0]
    return line if len(line) <= _TASK_CHARACTERS else line[: _TASK_CHARACTERS - 1] + "…"
