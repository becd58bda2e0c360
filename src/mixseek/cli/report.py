"""`mixseek report`: what a run found."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption

Runs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RUN]...",
        help="A run's name, or `latest`; left out, the only run. Several runs of one protocol are set side by side.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Where the HTML goes. Default: report.html beside the journal."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the HTML in the browser.")]


def report(
    runs: Runs = None,
    workspace: WorkspaceOption = None,
    out: Out = None,
    open_page: Open = False,
    as_json: JsonOption = False,
) -> ExitCode:
    """Summarise a run here and in one HTML file.

    The file needs no network and no other file, so it can be sent as it is.
    Several runs are compared, and averaged only if one protocol judged them.

    \b
    Examples:
      mixseek report latest
      mixseek report bbh-march --out bbh.html --open
      mixseek report bbh-march --json > summary.json
      mixseek report bbh-march bbh-april
    """
    if runs and len(runs) > 1:
        if out is not None or open_page:
            raise typer.BadParameter(
                "an HTML report is of one run; leave out --out and --open", param_hint="'[RUN]...'"
            )
        from mixseek.cli.comparing import print_runs_together

        print_runs_together(runs, workspace, as_json=as_json)
        return ExitCode.OK
    from mixseek.cli.documents import print_json
    from mixseek.cli.places import workspace_path
    from mixseek.cli.terminal import print_rendered
    from mixseek.composition.reports import load_report, report_document, write_html

    report_data, directory = load_report(workspace_path(workspace), runs[0] if runs else None)
    target = out or (None if as_json else directory.report)
    if target is not None:
        write_html(report_data, target)
    if as_json:
        print_json(report_document(report_data, target))
    else:
        from mixseek.reporting.terminal import print_report

        print_rendered(lambda console: print_report(report_data, console, target))
    if open_page and target is not None:
        typer.launch(target.resolve().as_uri())
    return ExitCode.OK
