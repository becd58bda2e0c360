"""`mixseek compete`: teams before one task."""

import os
from pathlib import Path
from typing import Annotated, Unpack

from typer import Argument

from mixseek.cli.parsing.options import with_options
from mixseek.cli.terminal.console import ExitCode
from mixseek.settings.options import CompeteCommand


@with_options(CompeteCommand)
def compete(
    race: Annotated[Path, Argument(metavar="RACE", help="A race.toml: task, teams, evaluator, rounds.")],
    **options: Unpack[CompeteCommand],
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
    from mixseek.cli.competition.competing import run_compete
    from mixseek.competition.plan import CompeteRequest
    from mixseek.runs.requests.given_options import live_options
    from mixseek.settings.load import load_settings

    # The command line wins over the settings.
    settings = load_settings()
    request = CompeteRequest(
        race=race,
        workspace=Path(options.get("workspace") or settings.workspace),
        execution=options.get("execution"),
        live=live_options(options),
        configured=settings.judges,
        environment=os.environ,
        longest_line=settings.judge.longest_line,
    )
    return run_compete(
        request,
        (options.get("fail_under"), options.get("max_invalid")),
        as_json=options.get("as_json", False),
        quiet=options.get("quiet", False),
        is_dry_run=options.get("dry_run", False),
    )
