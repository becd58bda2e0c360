"""`mixseek runs` and `mixseek cache`: what a workspace holds, and removing, renaming and sweeping it."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option

from mixseek.cli.console import ExitCode, print_answer, print_notice
from mixseek.cli.options import JsonOption, WorkspaceOption, workspace_path

if TYPE_CHECKING:
    from rich.console import Console
import re
from dataclasses import asdict
from pathlib import Path

import typer

from mixseek.errors import ConfigurationError


class Kind(StrEnum):
    """What can be called by a name."""

    RUN = "run"
    COMPETITION = "competition"


KindOption = Annotated[
    Kind | None, Option(metavar="KIND", help="run or competition, where both have that name.", show_default=False)
]


def runs(context: Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode | None:
    """List the runs and competitions of a workspace, newest first.

    \b
    Examples:
      mixseek runs
      mixseek runs --workspace ws --json
      mixseek runs mv answers-semantic-1f3c9a2b march
      mixseek runs rm march april
      mixseek runs gc --dry-run
    """
    if context.invoked_subcommand is not None:
        return None
    from mixseek.composition.race import list_competitions
    from mixseek.composition.report import list_runs
    from mixseek.reporting.leaderboard import print_competitions
    from mixseek.reporting.summary import runs_document
    from mixseek.reporting.terminal import print_runs

    lines, problems = list_runs(workspace_path(workspace))
    competitions = list_competitions(workspace_path(workspace))
    for problem in problems:
        print_notice(f"mixseek: {problem}")
    document = runs_document(lines)
    document["runs"] = [{"kind": "run", **run} for run in document["runs"]]
    document["competitions"] = [line.to_document() for line in competitions]

    def show_both(console: "Console") -> None:
        if lines or not competitions:
            print_runs(lines, console)
        if competitions:
            print_competitions(competitions, console)

    return print_answer(document, show_both, as_json=as_json)


def remove(
    names: Annotated[list[str], Argument(metavar="RUN...", help="Exact names, of runs or competitions.")],
    kind: KindOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove runs or competitions for good, with their replies.

    Labels stay: they belong to texts. Replies in the cache stay, too. One that is being written is refused.

    \b
    Examples:
      mixseek runs rm march
      mixseek runs rm march april --json
    """
    from mixseek.composition.runs import remove_runs

    removed = remove_runs(workspace_path(workspace), names, kind)
    said = "\n".join(f"removed {one['kind']} {one['name']} ({one['bytes']:,} bytes)" for one in removed)
    return print_answer({"removed": removed}, said, as_json=as_json)


def move(
    name: Annotated[str, Argument(metavar="RUN", help="The exact name, of a run or a competition.")],
    new: Annotated[str, Argument(metavar="NEW", help="A name that is free.")],
    kind: KindOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Give a run or a competition another name.

    Its draws of labels and the archive in its directory follow. Resume it with --run NEW, or --execution NEW.

    \b
    Examples:
      mixseek runs mv answers-semantic-1f3c9a2b march
    """
    from mixseek.composition.runs import move_run

    moved = move_run(workspace_path(workspace), name, new, kind)
    return print_answer(moved, f"{moved['kind']} {moved['name']} is now {moved['new_name']}", as_json=as_json)


def collect(
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove what nobody needs: copies of stdin, starts that came to nothing, what killed processes left.

    Never a journal that holds a reply, and nothing of a process that is at work.

    \b
    Examples:
      mixseek runs gc --dry-run
      mixseek runs gc --json
    """
    from mixseek.composition.runs import collect_garbage, describe_garbage

    document = collect_garbage(workspace_path(workspace), dry_run=dry_run)
    return print_answer(document, describe_garbage(document), as_json=as_json)


# `mixseek cache`: how large the replies have grown, and making them fewer.

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def parse_size(text: str) -> int:
    """500M, 2G, 0: decimal units, as disks are sold."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)B?", text.strip(), re.IGNORECASE)
    if found is None:
        raise typer.BadParameter(f"{text!r} is not a size; write 500M or 2G")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def show_cache(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode:
    """Print how many replies the workspace remembers, and what they take.

    The cache saves money, and nothing depends on it: every run keeps its own replies in its journal.

    \b
    Examples:
      mixseek cache size
      mixseek cache size --workspace ws --json
    """
    return print_cache(workspace, None, None, as_json=as_json)


def prune(
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0.0, help="Drop what was stored longer ago.")
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(metavar="SIZE", parser=parse_size, help="Then drop the oldest until the rest fits: 2G."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Drop replies from the cache and give the space back; runs and their journals are not touched.

    \b
    Examples:
      mixseek cache prune --older-than 30
      mixseek cache prune --keep 2G
      mixseek cache prune --keep 0           all of it
    """
    if older_than is None and keep is None:
        raise ConfigurationError("cache prune: say what to drop, with --older-than DAYS, --keep SIZE or both")
    return print_cache(workspace, older_than, keep, as_json=as_json)


def print_cache(workspace: Path | None, older_than: float | None, keep: int | None, *, as_json: bool) -> ExitCode:
    """For both."""
    from mixseek.composition.live import describe_cache, keep_cache

    state = keep_cache(workspace_path(workspace), older_than, keep)
    return print_answer(asdict(state), describe_cache(state), as_json=as_json)
