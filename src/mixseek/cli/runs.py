"""`mixseek runs`: what a workspace holds."""

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption


def runs(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode:
    """List the runs and competitions of a workspace, newest first.

    \b
    Examples:
      mixseek runs
      mixseek runs --workspace ws --json
    """
    from mixseek.cli.console import print_json, print_notice
    from mixseek.cli.options import workspace_path
    from mixseek.composition.leaderboards import list_competitions
    from mixseek.composition.report import list_runs, runs_document

    lines, problems = list_runs(workspace_path(workspace))
    competitions = list_competitions(workspace_path(workspace))
    for problem in problems:
        print_notice(f"mixseek: {problem}")
    if as_json:
        document = runs_document(lines)
        listed = [{"kind": "run", **run} for run in document["runs"]]
        print_json({**document, "runs": listed, "competitions": [line.to_document() for line in competitions]})
    else:
        from mixseek.cli.console import print_rendered
        from mixseek.reporting.leaderboard.terminal import print_competitions
        from mixseek.reporting.terminal import print_runs

        if lines or not competitions:
            print_rendered(lambda console: print_runs(lines, console))
        if competitions:
            print_rendered(lambda console: print_competitions(competitions, console))
    return ExitCode.OK
