"""One sample of a run, as every judge sees it; nothing is counted."""

from pathlib import Path

from mixseek.domain.judgments import JudgedRow
from mixseek.errors import ConfigurationError
from mixseek.index.run import open_run_index
from mixseek.storage.workspace import LATEST, Workspace, find_run


def load_sample(root: Path, name: str | None, sample_id: str) -> list[JudgedRow]:
    """One sample under every judge that was asked, in order."""
    workspace = Workspace(root)
    names = [run.name for run in workspace.runs()] if name is None else []
    if len(names) > 1 and sample_id in (LATEST, *names):
        raise ConfigurationError(f"{sample_id!r} is a run; name a sample of it as well: `mixseek show {sample_id} ID`")
    run = find_run(workspace, name)
    with open_run_index(workspace, run) as index:
        rows = index.find_sample(sample_id)
        if not rows:
            similar = ", ".join(index.similar_ids(sample_id))
            hint = f"; similar: {similar}" if similar else ""
            raise ConfigurationError(f"run {run.name}: no sample with the id {sample_id!r}{hint}")
    return rows
