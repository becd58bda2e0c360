"""The list of runs: what each is, how it ended, and why one cannot be counted."""

import shlex
from pathlib import Path

from mixseek.analysis.manifests import dataset_name, is_panel
from mixseek.archive.upkeep import is_half_renamed
from mixseek.domain.counts import StatusCounts
from mixseek.errors import StorageError
from mixseek.index.totals import RunTotals, read_totals, stat_journal
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.journal import broken_seal, find_wrong_length
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import Manifest, read_manifest, read_stored_manifest
from mixseek.storage.workspace import RunDirectory, Workspace


@dataclass(frozen=True, slots=True)
class RunLine:
    run_id: str
    protocol: str
    protocol_hash: str
    dataset: str
    judges: tuple[str, ...]
    counts: StatusCounts | None  # None where nobody has counted yet, or nobody can
    mean: float | None = None
    started_at: str | None = None
    is_sealed: bool = True  # an unsealed run is being judged, or was interrupted and can be resumed
    problem: str | None = None  # why the counts are not those of the run as it is
    is_running: bool = False


def list_runs(root: Path) -> tuple[list[RunLine], list[str]]:
    """Newest first, and a line about each run that cannot be read or counted: all are listed, and none is indexed."""
    lines = [describe_run(run) for run in Workspace(root).runs()]
    lines.sort(key=lambda line: (line.started_at or "", line.run_id), reverse=True)
    return lines, [line.problem for line in lines if line.problem is not None]


def describe_run(run: RunDirectory) -> RunLine:
    """One run in a line, from what was counted when it was indexed last."""
    try:
        manifest = read_manifest(run.manifest)
    except StorageError as error:
        return RunLine(run.name, "", "", "", (), None, is_sealed=False, problem=str(error))
    totals = read_totals(run)
    counted = totals if totals is not None and totals.problem is None else None
    return RunLine(
        run_id=manifest.run,
        protocol=manifest.protocol.name,
        protocol_hash=manifest.protocol.hash,
        dataset=dataset_name(manifest),
        judges=manifest.judge_names,
        counts=StatusCounts(**counted.counts) if counted is not None else None,
        mean=counted.mean_score if counted is not None and not is_panel(manifest) else None,
        started_at=manifest.started_at.isoformat(),
        is_sealed=manifest.has_ended,
        # A process that died could not say so; its lock is free.
        is_running=not manifest.has_ended and is_being_written(run.lock),
        problem=why_not_counted(run, manifest, totals),
    )


def why_not_counted(run: RunDirectory, manifest: Manifest, totals: RunTotals | None) -> str | None:
    """None where the counts are those of the journal as it is. No journal is read: there may be gigabytes of them."""
    if is_half_renamed(run):
        old = read_stored_manifest(run.manifest).run
        finish = f"`mixseek runs mv {shlex.quote(old)} {shlex.quote(run.name)}`"
        return f"run {run.name}: was renamed from {old!r}, and that was not finished; {finish} finishes it"
    try:
        state = stat_journal(run.journal)
    except StorageError as error:
        return str(error)
    if totals is not None and totals.journal == state:
        return totals.problem
    command = f"`mixseek report {shlex.quote(run.name)}`"
    problem = find_wrong_length(state.size_bytes, manifest) if manifest.has_ended else None
    if problem is not None:
        return str(broken_seal(run.journal, problem))
    # Nobody writes to the journal of a run that has ended; a copy of a workspace may be as new.
    if manifest.has_ended and state.changed_ns > run.manifest.stat().st_mtime_ns:
        return (
            f"{run.journal}: perhaps changed since it was written: newer than the end of its run; {command} verifies it"
        )
    return f"run {run.name}: its last lines are not counted yet; {command} counts them"
