"""The workspace: what stands there is read, and nothing is repaired."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from mixseek.competition.boards import list_competitions
from mixseek.errors import MixseekError, StorageError, reason_of
from mixseek.index.loading import describe_distrust
from mixseek.setup.findings import Finding, Severity
from mixseek.storage.batch_ledger import UNDER_WAY, read_ledger
from mixseek.storage.journal.journal import verify_journal
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import RunStatus, read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.reply_cache import CACHE_FILE, find_cache_damage
from mixseek.storage.workspace import ANSWERS, RunDirectory, Workspace
from mixseek.storage.workspace_key import NONCE_KEY_FILE, workspace_key
from mixseek.text.phrases import plural

_LEAST_FREE_BYTES = 500_000_000


def examine_workspace(root: Path) -> Iterator[Finding]:
    area, name = "workspace", str(root)
    if not os.path.lexists(root):
        yield Finding(area, name, Severity.NOTE, "not there yet; the first run makes it")
        return
    if not root.is_dir():
        yield Finding(area, name, Severity.PROBLEM, "not a directory; name another with --workspace")
        return
    yield examine_place(root)
    yield from examine_nonce_key(root)
    yield from examine_runs(root, "runs")
    if (root / ANSWERS).exists():
        yield from examine_runs(root, ANSWERS)
    if (root / CACHE_FILE).exists():
        damage = find_cache_damage(root / CACHE_FILE)
        advice = "; it is set aside by the next run that needs it, and replies are asked for again"
        state = "sound" if damage is None else f"damaged: {damage}{advice}"
        yield Finding(area, CACHE_FILE, Severity.OK if damage is None else Severity.PROBLEM, state)
    labels = LabelStore(Workspace(root))
    yield from examine_store("labels", lambda: f"{plural(len(labels.read()), 'label')}, {len(labels.draws())} draws")
    yield from examine_store("competitions", lambda: plural(len(list_competitions(root)), "competition"))


def examine_place(root: Path) -> Finding:
    """Whether files can be made there, and how many."""
    try:
        with tempfile.TemporaryFile(dir=root):
            pass
        free = shutil.disk_usage(root).free
    except OSError as error:
        problem = f"cannot be written ({reason_of(error)}); make it writable or name another"
        return Finding("workspace", str(root), Severity.PROBLEM, problem)
    if free < _LEAST_FREE_BYTES:
        problem = f"{free / 1e6:,.0f} MB left on its disk; free some space"
        return Finding("workspace", str(root), Severity.PROBLEM, problem)
    return Finding("workspace", str(root), Severity.OK, f"writable, {free / 1e9:,.1f} GB free")


def examine_nonce_key(root: Path) -> Iterator[Finding]:
    """Whoever knows it can forge the end of a judged text."""
    path = root / NONCE_KEY_FILE
    if not path.exists():
        return
    try:
        workspace_key(root)
        mode = stat.S_IMODE(path.stat().st_mode)
    except (StorageError, OSError) as error:
        yield Finding("workspace", NONCE_KEY_FILE, Severity.PROBLEM, str(error))
        return
    if mode & 0o077:
        problem = f"others may read it (mode {mode:o}); chmod 600 {path}"
        yield Finding("workspace", NONCE_KEY_FILE, Severity.PROBLEM, problem)
    else:
        yield Finding("workspace", NONCE_KEY_FILE, Severity.OK, "for its owner alone")


def examine_runs(root: Path, room: str) -> Iterator[Finding]:
    """A line for each run with something about it, and one for the others."""
    place, sound = root / room, 0
    try:
        entries = sorted(entry for entry in place.iterdir() if entry.is_dir()) if place.is_dir() else []
    except OSError as error:
        yield Finding("workspace", room, Severity.PROBLEM, f"{place}: {reason_of(error)}")
        return
    for entry in entries:
        findings = list(examine_run(RunDirectory(entry.name, entry)))
        sound += not findings
        yield from findings
    if entries:
        severity = Severity.OK if sound == len(entries) else Severity.NOTE
        yield Finding("workspace", room, severity, f"{sound} of {len(entries)} sound")


def examine_run(run: RunDirectory) -> Iterator[Finding]:
    """Reads the whole journal: only so can it be known that nobody changed it."""

    def problem(sentence: str, severity: Severity = Severity.PROBLEM) -> Finding:
        return Finding("workspace", f"run {run.name}", severity, sentence)

    if not run.exists():
        yield problem(f"no manifest in {run.path}; restore it from a copy, or remove the directory")
        return
    is_busy = is_being_written(run.journal.with_suffix(".lock"))
    try:
        status = read_manifest(run.manifest).status
        verify_journal(run)
    except MixseekError as error:
        yield problem(str(error))
        return
    if is_busy:
        yield problem("is being judged now", Severity.NOTE)
    elif status is RunStatus.RUNNING:
        yield problem("its process was killed; run the same command again to go on")
    elif status is not RunStatus.COMPLETE:
        yield problem(f"{status.value}; run the same command again to go on", Severity.NOTE)
    for entry in read_ledger(run.batches):
        if entry.stage in UNDER_WAY and not is_busy:
            where = f"batch {entry.id or entry.name} of {plural(len(entry.intent.requests), 'request')}"
            if entry.id is None:
                words = "may have been submitted; run the same command again to look for it, or see `mixseek batches`"
                yield problem(f"{where} {words}")
            else:
                yield problem(f"{where} is under way; run the same command again to collect", Severity.NOTE)
    distrust = describe_distrust(run) if not is_busy and run.index.exists() else None
    if distrust is not None:
        advice = f"it is not read, and `mixseek report {run.name}` makes it anew"
        severity = Severity.PROBLEM if distrust.is_suspicious else Severity.NOTE
        yield problem(f"its index {run.index} {distrust.why}; {advice}", severity)


def examine_store(name: str, count: Callable[[], str]) -> Iterator[Finding]:
    try:
        yield Finding("workspace", name, Severity.OK, count())
    except MixseekError as error:
        yield Finding("workspace", name, Severity.PROBLEM, str(error))
