"""`mixseek show`: one sample under every judge, in full."""

from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption

Names = Annotated[
    list[str],
    typer.Argument(metavar="[RUN] ID", help="The sample's id; before it the run, or `latest`, if there are several."),
]


def show(names: Names, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode:
    """Show one sample under every judge.

    The span that decided, the rules in order, the raw reply.

    \b
    Examples:
      mixseek show bbh-march q-17
      mixseek show q-17
      mixseek show latest q-17 --json
    """
    if len(names) > 2:
        raise typer.BadParameter(f"one run and one id, not {len(names)} names", param_hint="'[RUN] ID'")
    from mixseek.cli.console import print_json
    from mixseek.cli.options import workspace_path
    from mixseek.composition.report import judgment_row, load_sample, sample_document

    run = names[0] if len(names) == 2 else None
    rows = load_sample(workspace_path(workspace), run, names[-1])
    if as_json:
        print_json(sample_document(rows))
    else:
        from mixseek.cli.console import print_rendered
        from mixseek.reporting.terminal import print_rows

        shown = [judgment_row(row) for row in rows]
        print_rendered(lambda console: print_rows(shown, console))
    return ExitCode.OK
