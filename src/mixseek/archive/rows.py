"""Judgments as one table in a file, without any protocol."""

from pathlib import Path

from mixseek.index.export import export_run
from mixseek.storage.workspace import Workspace, find_run


def export_rows(root: Path, name: str | None, to: Path) -> tuple[str, int]:
    """Writes the file that the suffix of `to` asks for; the run's name, and how many rows it has."""
    workspace = Workspace(root)
    run = find_run(workspace, name)
    return run.name, export_run(workspace, run, to)
