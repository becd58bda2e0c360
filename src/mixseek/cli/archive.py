"""`mixseek archive`: a run as files, valid and invalid judgments apart."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption, RunArgument, WorkspaceOption

# More do not help anybody who reads; --json has them all.
PROBLEMS_SHOWN = 50

To = Annotated[
    Path | None,
    typer.Option("--to", metavar="DIR", help="Where to. Default: `archive` in the run's own directory."),
]
Check = Annotated[
    Path | None,
    typer.Option("--check", metavar="DIR", help="Write nothing; read an archive again and say what is wrong with it."),
]


def archive(
    run: RunArgument = None,
    to: To = None,
    check: Check = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Write one JSON file for each judgment.

    Valid ones into 有效评测/, invalid ones into 无效评测/ with flags, details and the raw reply; beside them samples,
    the protocol, an index and the run log. An archive of the same run is replaced.

    --check reads every file again, also after somebody edited or moved some by hand, and exits 1 if anything is found.

    \b
    Examples:
      mixseek archive latest --to archive/
      mixseek archive --check archive/
    """
    from mixseek.cli.console import print_json, print_result
    from mixseek.cli.options import workspace_path
    from mixseek.composition import archives

    if check is not None:
        if run is not None or to is not None:
            raise typer.BadParameter("takes neither a run nor --to: it only reads", param_hint="'--check'")
        checked = archives.check_archive(check)
        if as_json:
            print_json(archives.checked_document(checked))
        else:
            print_result(archives.describe_checked(checked, PROBLEMS_SHOWN))
        return ExitCode.GATE_NOT_MET if checked.problems else ExitCode.OK
    name, archived = archives.archive_run(workspace_path(workspace), run, to)
    if as_json:
        print_json(archives.archived_document(name, archived))
    else:
        print_result(archives.describe_archived(name, archived))
    return ExitCode.OK
