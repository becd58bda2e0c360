"""`mixseek compete`: teams before one task, round after round."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption

RaceArgument = Annotated[Path, typer.Argument(metavar="RACE", help="A race.toml: task, teams, evaluator, rounds.")]
ExecutionName = Annotated[
    str | None,
    typer.Option("--execution", metavar="NAME", help="Name of the execution. Default: the same for the same race."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check the whole race and print the calls to be expected; send nothing.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Concurrency = Annotated[
    int, typer.Option(metavar="N", min=1, max=4096, help="Calls at once to an endpoint, at most.", show_default=True)
]
MaxCalls = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Stop after so many requests of this command; resumable.")
]
MaxCost = Annotated[
    float | None, typer.Option(metavar="USD", min=0.0, help="Stop before this command has spent more; resumable.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Evaluate again even what the workspace has a reply for.")]
Patience = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=1.0, help="Wait so long for an endpoint that is down.", show_default=True),
]


def compete(
    race: RaceArgument,
    workspace: WorkspaceOption = None,
    execution: ExecutionName = None,
    dry_run: DryRun = False,
    as_json: JsonOption = False,
    quiet: Quiet = False,
    concurrency: Concurrency = 32,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    no_cache: NoCache = False,
    patience: Patience = 600.0,
) -> ExitCode:
    """Let teams compete on one task, and show the leader board.

    Interrupted? Run the same command again: it goes on with the round that each team had reached.

    \b
    Examples:
      mixseek compete race.toml --dry-run
      mixseek compete race.toml --max-cost 2
      mixseek compete race.toml --execution tuesday --json
    """
    from mixseek.cli.competing import CompeteArguments, run_compete

    arguments = CompeteArguments(
        race, workspace, execution, concurrency, max_calls, max_cost, use_cache=not no_cache, patience_seconds=patience
    )
    return run_compete(arguments, as_json=as_json, quiet=quiet, is_dry_run=dry_run)
