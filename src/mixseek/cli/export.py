"""`mixseek export`: every judgment as a table."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption, RunArgument, WorkspaceOption

To = Annotated[Path, typer.Option("--to", metavar="FILE", help="The ending decides: .jsonl, .csv or .parquet.")]


def export(
    run: RunArgument = None, *, to: To, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> ExitCode:
    """Write a row for each sample and judge.

    Columns: id, judge, take, status, score, verdict, flags and their details, total, scores, fields (JSON) and more.

    \b
    Examples:
      mixseek export latest --to judgments.parquet
      mixseek export bbh-march --workspace ws --to judgments.jsonl
    """
    from mixseek.cli.console import print_json, print_notice
    from mixseek.cli.options import workspace_path
    from mixseek.composition.report import export_rows

    written = export_rows(workspace_path(workspace), run, to)
    if as_json:
        print_json({"run": written.run, "file": str(to), "rows": written.rows})
    else:
        print_notice(f"mixseek: {written.rows:,} rows written to {to}")
    return ExitCode.OK
