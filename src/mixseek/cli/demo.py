"""`mixseek demo`: everything at once, without a key or a network."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption

Workspace = Annotated[Path, typer.Option("--workspace", "-w", metavar="DIR", help="Where the demo's runs are kept.")]


def demo(workspace: Workspace = Path("demo-workspace"), as_json: JsonOption = False) -> ExitCode:
    """Judge the bundled samples offline and write reports.

    Every protocol, with recorded replies that are good and bad. Verdicts of
    the rules are compared with known labels; exit 1 if any disagrees.

    \b
    Examples:
      mixseek demo
      mixseek demo --workspace /tmp/demo --json
    """
    from mixseek.cli.demonstration import print_demo
    from mixseek.composition.demo import run_demo

    result = run_demo(workspace)
    print_demo(result, as_json=as_json)
    return ExitCode.GATE_NOT_MET if result.disagreements else ExitCode.OK
