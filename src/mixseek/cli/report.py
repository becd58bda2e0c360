"""`mixseek report`: what a run found."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode, print_json, print_rendered
from mixseek.cli.options import JsonOption, WorkspaceOption, workspace_path

# Several runs beside each other.


def print_runs_together(runs: Sequence[str], workspace: Path | None, *, as_json: bool) -> None:
    """As a table, or as one JSON document."""
    from mixseek.composition.report import compare_runs, comparison_document

    comparison = compare_runs(workspace_path(workspace), runs)
    if as_json:
        print_json(comparison_document(comparison))
    else:
        from mixseek.reporting.terminal import print_comparison

        print_rendered(lambda console: print_comparison(comparison, console))


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
        print_runs_together(runs, workspace, as_json=as_json)
        return ExitCode.OK
    from mixseek.composition.report import load_report, report_document, write_html

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
