"""The board of a competition on a terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from mixseek.domain.rounds import ExecutionStatus
from mixseek.reports.races.board import CompetitionLine, LeaderBoard, TeamView
from mixseek.reports.races.words import APART, cost_text, masked_team_text, points_text
from mixseek.reports.render.tables import fitted, table_of
from mixseek.reports.sections import QUIET
from mixseek.reports.wording import NOTHING, moment_text
from mixseek.text.phrases import shortened
from mixseek.text.visible import make_visible

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
        for note in filter(None, (team.message, masked_team_text(team))):
            console.print(Text(make_visible(f"{team.team_name}: {note}"), style=QUIET))
    console.print()
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Page  ", QUIET), str(html_path)), soft_wrap=True)
    else:
        console.print(Text("Submissions, remarks and opinions: add --to FILE, or --json.", style=QUIET))


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
