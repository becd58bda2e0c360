"""`mixseek cache`: how large the replies have grown, and making them fewer."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from typer import BadParameter, Option

from mixseek.cli.parsing.options import JsonOption, WorkspaceOption, workspace_path
from mixseek.cli.terminal.console import ExitCode, print_answer
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.errors import ConfigurationError

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def parse_size(text: str) -> int:
    """500M, 2G, 0: decimal units, as disks are sold."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)B?", text.strip(), re.IGNORECASE)
    if match is None:
        raise BadParameter(f"{text!r} is not a size; write 500M or 2G")
    return int(float(match[1]) * _UNITS[match[2].upper()])


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
        float | None, Option(metavar="DAYS", min=0.0, help="Drop what was stored longer ago.")
    ] = None,
    keep: Annotated[
        int | None,
        Option(metavar="SIZE", parser=parse_size, help="Then drop the oldest until the rest fits: 2G."),
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
    """Drop what is asked for, if anything is; then show what the cache holds."""
    from mixseek.runs.kept_replies import keep_cache
    from mixseek.setup.upkeep import cache_sections

    state = keep_cache(workspace_path(workspace), older_than, keep)
    return print_answer(with_schema(DocumentName.CACHE, asdict(state)), lambda: cache_sections(state), as_json=as_json)
