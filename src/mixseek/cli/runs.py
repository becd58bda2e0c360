"""`mixseek runs`: what a workspace holds."""

from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption


def runs(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode:
    """List the runs of a workspace, newest first.

    \b
    Examples:
      mixseek runs
      mixseek runs --workspace ws --json
    """
    from mixseek.cli.documents import print_json
    from mixseek.cli.places import workspace_path
    from mixseek.cli.streams import print_notice
    from mixseek.composition.reports import list_runs, runs_document

    lines, problems = list_runs(workspace_path(workspace))
    for problem in problems:
        print_notice(f"mixseek: {problem}")
    if as_json:
        print_json(runs_document(lines))
    else:
        from mixseek.cli.terminal import print_rendered
        from mixseek.reporting.terminal import print_runs

        print_rendered(lambda console: print_runs(lines, console))
    return ExitCode.OK
