"""`mixseek leaderboard`: how the teams of a competition stand."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption

ExecutionArgument = Annotated[
    str | None,
    typer.Argument(metavar="EXECUTION", help="A competition's name, or the beginning of it. Default: the latest."),
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write the page with curves, submissions, remarks and opinions."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in the browser; needs --html.")]


def leaderboard(
    execution: ExecutionArgument = None,
    html: Html = None,
    open_page: Open = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show how the teams of a competition stand, also while they play.

    \b
    Examples:
      mixseek leaderboard
      mixseek leaderboard haiku --html haiku.html --open
      mixseek leaderboard haiku --json > haiku.json
    """
    if open_page and html is None:
        raise typer.BadParameter("needs --html FILE to have something to open", param_hint="'--open'")
    from mixseek.cli.console import print_json
    from mixseek.cli.options import workspace_path
    from mixseek.composition.leaderboards import load_leader_board, write_leader_board
    from mixseek.reporting.leaderboard.board import leader_board_document

    board = load_leader_board(workspace_path(workspace), execution)
    if html is not None:
        write_leader_board(board, html)
    if as_json:
        print_json(leader_board_document(board))
    else:
        from mixseek.cli.console import print_rendered
        from mixseek.reporting.leaderboard.terminal import print_leader_board

        print_rendered(lambda console: print_leader_board(board, console, html))
    if open_page and html is not None:
        typer.launch(html.resolve().as_uri())
    return ExitCode.OK
