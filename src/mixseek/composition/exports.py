"""Every judgment of a run as a file."""

from dataclasses import dataclass
from pathlib import Path

from mixseek.composition.reports import find_run
from mixseek.storage.export import export_run
from mixseek.storage.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    run: str
    rows: int


def export_rows(root: Path, name: str | None, to: Path) -> Exported:
    """The file that the suffix of `to` asks for."""
    workspace = Workspace(root)
    run = find_run(workspace, name)
    return Exported(run.name, export_run(workspace, run, to))
