"""Judgments as one table in a file, each beside what people say of its sample."""

from pathlib import Path

from mixseek.analysis.labels.of_run import load_people
from mixseek.index.export import ExportedRows, export_run
from mixseek.storage.workspace import RunDirectory, Workspace, find_run


def export_rows(root: Path, name: str | None, to: Path) -> tuple[str, int]:
    """Writes the file that the suffix of `to` asks for; the run's name, and how many rows it has."""
    workspace = Workspace(root)
    run = find_run(workspace, name)
    return run.name, export_labelled(workspace, run, to)


def export_labelled(workspace: Workspace, run: RunDirectory, to: Path) -> int:
    """All judgments of the run; returns the number of rows."""
    return export_run(workspace, run, to, ExportedRows(load_people(workspace, run)))
