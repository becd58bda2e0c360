"""`mixseek leaderboard`: how teams of a competition stand, or systems that were compared two by two."""

from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option, launch

from mixseek.cli.parsing.options import JsonOption, WorkspaceOption, workspace_path
from mixseek.cli.terminal.console import ExitCode, print_answer

_TABLE = "Of a table: "


def leaderboard(
    name: Annotated[
        str | None,
        Argument(
            metavar="EXECUTION|RUN|TABLE",
            help="A competition or a run, by its name or the beginning of it, or a file of votes or scores. "
            "Default: the latest competition.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--to", "-o", metavar="FILE", help="Write the page: curves and submissions, or strengths and wins."),
    ] = None,
    open_page: Annotated[bool, Option("--open", help="Open the page in the browser; needs --to.")] = False,
    system: Annotated[
        str | None, Option(metavar="EXPR", help=f"{_TABLE}who wrote the scored text; two of a question are compared.")
    ] = None,
    system_a: Annotated[
        str | None, Option("--system-a", metavar="EXPR", help=f"{_TABLE}who wrote response A of a vote.")
    ] = None,
    system_b: Annotated[str | None, Option("--system-b", metavar="EXPR", help="Who wrote response B.")] = None,
    shown: Annotated[
        str | None, Option(metavar="EXPR", help="Which response of a vote was shown first: AB or BA.")
    ] = None,
    item: Annotated[str | None, Option(metavar="EXPR", help=f"{_TABLE}what is rated, a text or a pair.")] = None,
    rater: Annotated[
        str | None,
        Option(metavar="EXPR|NAME", help=f"{_TABLE}who rates. Of a run: only this judge. Default: all as a panel."),
    ] = None,
    score: Annotated[
        str | None, Option(metavar="EXPR", help=f"{_TABLE}a score, or a vote: A>B, B>A, A=B, or how far A is ahead.")
    ] = None,
    question: Annotated[str | None, Option(metavar="EXPR", help=f"{_TABLE}what both answered.")] = None,
    where: Annotated[str | None, Option(metavar="EXPR", help=f"{_TABLE}only rows of which this is true.")] = None,
    human: Annotated[
        str | None, Option(metavar="NAME", help="The judge whose board stands beside that of the others.")
    ] = None,
    length: Annotated[
        str | None, Option(metavar="EXPR", help=f"{_TABLE}length of the scored text; of a vote, A's divided by B's.")
    ] = None,
    min_questions: Annotated[int, Option(min=1, help="Leave out systems with fewer questions.")] = 1,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show how the teams of a competition stand, also while they play; or systems that were compared two by two.

    Systems are ranked by Bradley and Terry's strengths, with intervals over questions and the ranks that are possible.

    \b
    Examples:
      mixseek leaderboard
      mixseek leaderboard haiku --to haiku.html --open
      mixseek leaderboard arena --json > arena.json
      mixseek leaderboard votes.csv --system-a model_a --system-b model_b --score winner
      mixseek leaderboard scores.jsonl --where "judge = 'expert'"
    """
    if open_page and to is None:
        raise BadParameter("needs --to FILE to have something to open", param_hint="'--open'")
    from mixseek.analysis.ratings.relation import RatingColumns
    from mixseek.analysis.votes.system_board import SystemBoard
    from mixseek.competition.asked_boards import BoardRequest, load_any_board, write_board
    from mixseek.competition.views.board import leader_board_document
    from mixseek.competition.views.sections import leader_board_sections
    from mixseek.presentation.sections import shown_sections
    from mixseek.reports.ratings.boards import board_document
    from mixseek.settings.load import load_settings

    columns = RatingColumns(
        *(item, rater, score, question, system, where), length=length, system_a=system_a, system_b=system_b, shown=shown
    )
    longest = load_settings().judge.longest_line
    board = load_any_board(BoardRequest(name, workspace_path(workspace), columns, human, min_questions, longest))
    if to is not None:
        write_board(board, to)
    if isinstance(board, SystemBoard):
        print_answer(board_document(board), lambda: shown_sections(board, to), as_json=as_json)
    else:
        document = leader_board_document(board)
        print_answer(document, lambda: leader_board_sections(board, to), as_json=as_json)
    if open_page and to is not None:
        launch(to.resolve().as_uri())
    return ExitCode.OK
