"""`mixseek compete`: teams before one task, round after round."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption, parse_share


def parse_points(given: str | float) -> float:
    """80 and 80% are the same points of 100; 0.8 could be meant either way."""
    text = str(given)
    try:
        points = float(text.removesuffix("%"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of points; write 80 or 80%") from None
    # Written so that NaN is refused too.
    if not 0 <= points <= 100:
        raise typer.BadParameter(f"{text!r} is outside 0..100, the scale of scores; write 80 or 80%")
    if 0 < points <= 1 and not text.endswith("%"):
        raise typer.BadParameter(f"{text!r} could be points or a share; write {points * 100:g} or {points:g}%")
    return points


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
RetryInvalid = Annotated[
    bool,
    typer.Option("--retry-invalid", help="Ask again for metric replies that cannot be used; nobody plays again."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(metavar="POINTS", parser=parse_points, help="Exit 1 if the best score is lower: 80 or 80%."),
]
MaxInvalid = Annotated[
    float | None,
    typer.Option(metavar="SHARE", parser=parse_share, help="Exit 1 if more metric replies cannot be used."),
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
    retry_invalid: RetryInvalid = False,
    fail_under: FailUnder = None,
    max_invalid: MaxInvalid = None,
) -> ExitCode:
    """Let teams compete on one task, and show the leader board.

    Interrupted? Run the same command again: it goes on with the round that each team had reached.

    \b
    Examples:
      mixseek compete race.toml --dry-run
      mixseek compete race.toml --max-cost 2
      mixseek compete race.toml --execution tuesday --json
      mixseek compete race.toml --retry-invalid              ask again for metric replies that cannot be used
      mixseek compete race.toml --fail-under 80 --max-invalid 5%
    """
    from mixseek.cli.competing import CompeteArguments, RaceGates, run_compete

    arguments = CompeteArguments(
        race, workspace, execution, concurrency, max_calls, max_cost, not no_cache, patience, retry_invalid
    )
    gates = RaceGates(fail_under, max_invalid)
    return run_compete(arguments, gates, as_json=as_json, quiet=quiet, is_dry_run=dry_run)
