"""Leader boards that somebody asks for: of a table, of a run, or of a competition."""

from dataclasses import field, replace
from pathlib import Path

from mixseek.analysis.ratings.relation import PEOPLE, RatingColumns, RatingSource
from mixseek.analysis.ratings.statistics import StatisticsRequest, is_table, open_ratings
from mixseek.analysis.votes.boards import BoardOptions, build_board, rule_of
from mixseek.analysis.votes.system_board import SystemBoard
from mixseek.competition.boards import is_competition, load_leader_board, write_leader_board
from mixseek.competition.views.board import LeaderBoard
from mixseek.competition.views.page import render_board
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import write_page
from mixseek.storage.workspace import LATEST, Workspace, find_run


@dataclass(frozen=True, slots=True)
class BoardRequest:
    """Whose board: a competition, a run or a table; None is the latest."""

    name: str | None
    workspace: Path
    columns: RatingColumns = field(default_factory=RatingColumns)
    human: str | None = None
    fewest_questions: int = 1
    longest_line: int = LONGEST_LINE_BYTES


def load_any_board(request: BoardRequest) -> LeaderBoard | SystemBoard:
    """A file is a table; a name is a competition's, and a run's where no competition is called so."""
    name, root = request.name, request.workspace
    if (name is None or not is_table(name)) and is_competition(root, name):
        return load_leader_board(root, name)
    return load_board(request)


def write_board(board: LeaderBoard | SystemBoard, path: Path) -> None:
    """One self-contained file, wholly there or not at all."""
    if isinstance(board, SystemBoard):
        write_page(render_board(board), path, "leaderboard.html")
    else:
        write_leader_board(board, path)


# A run has no columns to name any more: its dataset had them.
_NAMING_OF_RUN = (
    "its dataset has no column for who wrote a response: judge it again with --map target_model=COLUMN, "
    "of pairs --map target_a=COLUMN --map target_b=COLUMN"
)


def load_board(request: BoardRequest) -> SystemBoard:
    """Raises ConfigurationError, DatasetError or StorageError in one line."""
    name, columns = request.name or LATEST, request.columns
    options = BoardOptions(request.human, fewest_questions=request.fewest_questions)
    if not is_table(name):
        # Of a run it is known who judges: there it is one of them that is meant.
        run = find_run(Workspace(request.workspace), name)
        human = request.human or PEOPLE
        options = replace(options, human=human, judge=columns.judge, rule=rule_of(run), naming=_NAMING_OF_RUN)
        columns = replace(columns, judge=None)
    source = RatingSource(columns, request.human, people_as_one=True, longest_line=request.longest_line)
    statistics_request = StatisticsRequest(name, request.workspace, source)
    with open_ratings(statistics_request) as ratings:
        return build_board(name, ratings, options)
