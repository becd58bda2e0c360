"""Leader boards of systems: from a table's or a run's comparisons to what `mixseek leaderboard` says."""

from dataclasses import dataclass, field
from pathlib import Path

from mixseek.composition.competitions.leaderboards import is_competition, load_leader_board, write_leader_board
from mixseek.composition.report import write_page
from mixseek.composition.statistics.ratings import StatisticsRequest, is_table, open_ratings
from mixseek.composition.statistics.strengths import build_board
from mixseek.reporting.leaderboard import LeaderBoard, render_board
from mixseek.stats.strengths import Board
from mixseek.storage.ratings import PEOPLE, RatingColumns, RatingSource
from mixseek.storage.workspace import LATEST


@dataclass(frozen=True, slots=True)
class BoardRequest:
    """Whose board: a competition, a run or a table; None is the latest."""

    name: str | None
    workspace: Path
    columns: RatingColumns = field(default_factory=RatingColumns)
    human: str | None = None
    fewest_questions: int = 1


def load_any_board(request: BoardRequest) -> LeaderBoard | Board:
    """A file is a table; a name is a competition's, and a run's where no competition is called so."""
    name, root = request.name, request.workspace
    if (name is None or not is_table(name)) and is_competition(root, name):
        return load_leader_board(root, name)
    return load_board(request)


def write_board(board: LeaderBoard | Board, path: Path) -> None:
    """One self-contained file, wholly there or not at all."""
    if isinstance(board, Board):
        write_page(render_board(board), path, "leaderboard.html")
    else:
        write_leader_board(board, path)


def load_board(request: BoardRequest) -> Board:
    """Raises ConfigurationError, DatasetError or StorageError in one line."""
    source = RatingSource(request.columns, request.human)
    asked = StatisticsRequest(request.name or LATEST, request.workspace, source)
    human = request.human or (None if is_table(asked.name) else PEOPLE)
    with open_ratings(asked) as ratings:
        return build_board(asked.name, ratings, human, request.fewest_questions)
