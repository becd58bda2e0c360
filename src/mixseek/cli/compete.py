"""`mixseek compete`: teams before one task."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from mixseek.cli.console import ExitCode
from mixseek.cli.options import (
    Concurrency,
    JsonOption,
    MaxCalls,
    MaxCost,
    Patience,
    Quiet,
    WorkspaceOption,
    share_option,
)

if TYPE_CHECKING:
    from mixseek.runs.request import LiveOptions


def parse_points(given: str | float) -> float:
    """80 and 80% are the same points of 100; 0.8 could be meant either way."""
    text = str(given)
    try:
        points = float(text.removesuffix("%"))
    except ValueError:
        raise BadParameter(f"{text!r} is not a number of points; write 80 or 80%") from None
    # Written so that NaN is refused too.
    if not 0 <= points <= 100:
        raise BadParameter(f"{text!r} is outside 0..100, the scale of scores; write 80 or 80%")
    if 0 < points <= 1 and not text.endswith("%"):
        raise BadParameter(f"{text!r} could be points or a share; write {points * 100:g} or {points:g}%")
    return points


def live_options(
    concurrency: int,
    max_calls: int | None,
    max_cost: float | None,
    patience: float | None,
    *,
    use_cache: bool,
    retry: bool,
) -> "LiveOptions":
    """How metrics are asked, as far as a competition's commands say."""
    from mixseek.runs.request import LiveOptions

    return LiveOptions(
        concurrency=concurrency,
        max_calls=max_calls,
        max_cost_usd=max_cost,
        use_cache=use_cache,
        patience_seconds=patience,
        retry_invalid=retry,
    )


def compete(
    race: Annotated[Path, Argument(metavar="RACE", help="A race.toml: task, teams, evaluator, rounds.")],
    workspace: WorkspaceOption = None,
    execution: Annotated[
        str | None, Option(metavar="NAME", help="Name of the execution. Default: the same for the same race.")
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check the whole race and print the calls to be expected; send nothing.")
    ] = False,
    as_json: JsonOption = False,
    quiet: Quiet = False,
    concurrency: Concurrency = 32,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    no_cache: Annotated[
        bool, Option("--no-cache", help="Evaluate again even what the workspace has a reply for.")
    ] = False,
    patience: Patience = None,
    retry_invalid: Annotated[
        bool, Option("--retry-invalid", help="Ask again for metric replies that cannot be used; nobody plays again.")
    ] = False,
    fail_under: Annotated[
        float | None,
        Option(metavar="POINTS", parser=parse_points, help="Exit 1 if the best score is lower: 80 or 80%."),
    ] = None,
    max_invalid: Annotated[float | None, share_option("Exit 1 if more metric replies cannot be used.")] = None,
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
    from mixseek.cli.competing import run_compete
    from mixseek.competition.plan import CompeteRequest
    from mixseek.settings.load import load_settings

    # The command line wins over the settings.
    settings = load_settings()
    request = CompeteRequest(
        race=race,
        workspace=workspace or settings.workspace,
        execution=execution,
        live=live_options(concurrency, max_calls, max_cost, patience, use_cache=not no_cache, retry=retry_invalid),
        configured=settings.judges,
        environment=os.environ,
        longest_line=settings.judge.longest_line,
    )
    return run_compete(request, (fail_under, max_invalid), as_json=as_json, quiet=quiet, is_dry_run=dry_run)
