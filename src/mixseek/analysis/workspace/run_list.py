"""The list of runs: what each is, how it ended and what it came to, and why one cannot be counted."""

import functools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mixseek.analysis.workspace.kept_headline import KeptHeadline, read_headline
from mixseek.analysis.workspace.manifests import dataset_name, is_panel
from mixseek.archive.upkeep import is_half_renamed
from mixseek.domain.counts import StatusCounts
from mixseek.errors import StorageError
from mixseek.index.totals import RunTotals, read_totals, stat_journal
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.journal import broken_seal, find_wrong_length
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import Manifest, read_manifest, read_stored_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.seal import FileIdentity, identify
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import NONCE_KEY_FILE


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
    headline: KeptHeadline | None = None  # None where nobody has counted it since the journal grew
    labelled: int | None = None  # texts that people labelled in this run; None where the labels cannot be read
    dataset_digest: str | None = None

    @property
    def can_be_counted(self) -> bool:
        """Nobody is writing to it, and what it came to is not known yet."""
        return self.headline is None and not self.is_running and bool(self.protocol)


def list_runs(root: Path) -> tuple[list[RunLine], list[str]]:
    """Newest first, and a line about each run that cannot be read or counted: all are listed, and none is indexed."""
    workspace = Workspace(root)
    lines = [describe_run(run) for run in workspace.runs()]
    lines.sort(key=lambda line: (line.started_at or "", line.run_id), reverse=True)
    problems = [line.problem for line in lines if line.problem is not None]
    try:
        labelled = _count_labelled(root, _state_of_labels(LabelStore(workspace)))
    except StorageError as error:
        return lines, [*problems, str(error)]
    return [replace(line, labelled=labelled.get(line.run_id, 0)) for line in lines], problems


def _state_of_labels(store: LabelStore) -> tuple[int, ...]:
    """Changes with every label and with every draw that is added or follows its run to another name."""
    draws = store.draws_directory
    return (*store.state(), draws.stat().st_mtime_ns if draws.is_dir() else 0)


@functools.lru_cache(maxsize=4)
def _count_labelled(root: Path, state: tuple[int, ...]) -> Mapping[str, int]:
    """The texts that have a label, by the run that it was given in; a draw follows its run to another name."""
    del state
    store = LabelStore(Workspace(root))
    drawn_from = {draw.draw: draw.run for draw in store.draws()}
    texts: dict[str, set[str]] = {}
    for label in store.read():
        texts.setdefault(drawn_from.get(label.draw or "", label.run), set()).add(label.text)
    return {run: len(labelled) for run, labelled in texts.items()}


def choose_pair(lines: Sequence[RunLine]) -> tuple[str, str] | None:
    """The two that somebody most likely compares: of one dataset under one protocol, the newest two, older first.

    Where no dataset was judged twice, the newest two of one protocol; None where there are none.
    """
    judged = [line for line in lines if line.protocol_hash]
    for has_dataset in (True, False):
        pairs: dict[tuple[str, str], list[str]] = {}
        # Runs come newest first, and so do the pairs' newer ones.
        for line in judged:
            dataset = (line.dataset_digest or line.dataset) if has_dataset else ""
            pairs.setdefault((line.protocol_hash, dataset), []).append(line.run_id)
        if newest := next((runs for runs in pairs.values() if len(runs) > 1), None):
            return newest[1], newest[0]
    return None


# By path. Whoever looks at a list asks for it every few seconds, and hardly any of its runs has changed since.
_described: dict[str, tuple[tuple[FileIdentity | None, ...], RunLine]] = {}
_MOST_DESCRIBED = 10_000


def describe_run(run: RunDirectory) -> RunLine:
    """One run in a line; that of a run that has ended is known as long as none of its files is another."""
    path = str(run.path)
    key = run.workspace / NONCE_KEY_FILE
    state = tuple(map(_identify_file, (run.manifest, run.journal, run.totals, run.headline, key)))
    if (known := _described.get(path)) is not None and known[0] == state:
        return known[1]
    line = read_line(run)
    # Whether somebody writes to one that has not ended is in none of these files.
    if line.is_sealed:
        if len(_described) >= _MOST_DESCRIBED:
            _described.clear()
        _described[path] = state, line
    return line


def _identify_file(path: Path) -> FileIdentity | None:
    try:
        return identify(path.stat())
    except OSError:
        return None


def read_line(run: RunDirectory) -> RunLine:
    """One run in a line, from what was counted when it was indexed last."""
    try:
        manifest = read_manifest(run.manifest)
    except StorageError as error:
        return RunLine(run.name, "", "", "", (), None, is_sealed=False, problem=str(error))
    totals = read_totals(run)
    counted = totals if totals is not None and totals.problem is None else None
    headline = read_headline(run)
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
        # Counts and headline are of the same journal, or there is no headline.
        headline=headline if headline and counted and headline.journal == counted.journal else None,
        dataset_digest=manifest.dataset.get("sha256"),
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
