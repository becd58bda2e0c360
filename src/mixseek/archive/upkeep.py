"""Runs as a whole: removed, renamed, and what of a workspace nobody needs any more. A paid reply is never that."""

import itertools
import os
import re
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from mixseek.errors import ConfigurationError, StorageError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.batch_ledger import UNDER_WAY, read_ledger
from mixseek.storage.durable import is_gone, storage_error, sync_directory
from mixseek.storage.journal.journal import says_nothing
from mixseek.storage.journal.lock import holding_lock, is_being_written
from mixseek.storage.journal.manifest import Manifest, RunStatus, read_manifest, read_stored_manifest, write_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.scratch import find_leftovers, remove_leftover
from mixseek.storage.workspace import ANSWERS, RunDirectory, Workspace
from mixseek.text.phrases import plural

# Whoever has just written something may not have come to the point where it shows that it is needed.
_UNTOUCHED_SECONDS = 3600.0
_REMOVED = ".removed-"
_TEMPORARY = re.compile(r"\..+\.(\d+)(?:-\d+)?(?:-[0-9a-f]{8})?\.tmp|nonce\.key\.(\d+)(?:-\d+)?|\.removed-(\d+)-\d+")
_numbers = itertools.count(1)


def size_bytes(path: Path) -> int:
    """The size of a file, or of all files below a directory; what vanishes meanwhile counts nothing."""
    try:
        if not path.is_dir() or path.is_symlink():
            return path.lstat().st_size
        return sum(size_bytes(entry) for entry in path.iterdir())
    except OSError:
        return 0


def remove_tree(path: Path) -> None:
    """First out of sight in one step, then away: a crash leaves it whole, or on its way out."""
    hidden = path.with_name(f"{_REMOVED}{os.getpid()}-{next(_numbers)}")
    try:
        path.rename(hidden)
        sync_directory(path.parent)
        shutil.rmtree(hidden)
    except OSError as error:
        raise storage_error("remove", path, error) from error


def remove_run(workspace: Workspace, run: RunDirectory, at: datetime) -> int:
    """How many bytes it took. Labels belong to texts and stay; draws no longer bear a name that another may get."""
    refuse_batches(run)
    taken = size_bytes(run.path)
    with holding_lock(run.lock):
        LabelStore(workspace).rename_run(run.name, f"{run.name[:30]} (removed {at:%Y%m%dT%H%M%SZ})")
        remove_tree(run.path)
    return taken


def remove_answers(run: RunDirectory) -> int:
    """How many bytes the answers took; runs that judged them have their own copies."""
    refuse_batches(run)
    taken = size_bytes(run.path)
    with holding_lock(run.lock):
        remove_tree(run.path)
    return taken


def refuse_batches(run: RunDirectory) -> None:
    """Raises ConfigurationError while a provider works for it: what it finishes is billed, and nobody would come."""
    waiting = [entry for entry in read_ledger(run.batches) if entry.stage in UNDER_WAY]
    if waiting:
        names = ", ".join(entry.id or entry.name for entry in waiting[:3])
        raise ConfigurationError(
            f"run {run.name} has {plural(len(waiting), 'batch', 'batches')} under way ({names}), which will be billed; "
            "collect what they bring with its own command, or stop them with `mixseek batches --cancel ID` first"
        )


def rename_answers(workspace: Workspace, old: str, new: str) -> None:
    """The directory's name is theirs: one step, and the manifest after it."""
    run, target = workspace.answers(old), workspace.answers(new)
    if target.path.exists():
        raise ConfigurationError(f"answers {new!r} are there already; choose another name, or remove them first")
    with holding_lock(run.lock):
        move_directory(run, target)
        write_manifest(target.manifest, read_manifest(target.manifest))
        # Here and not above, for the same reason as below.
        from mixseek.archive.write import rename_archive

        rename_archive(target.archive, target.name)


def move_directory(run: RunDirectory, target: RunDirectory) -> None:
    """One step, and on disk when it is over."""
    try:
        run.path.rename(target.path)
    except OSError as error:
        raise storage_error(f"rename it to {target.name!r}", run.path, error) from error
    sync_directory(target.path.parent)


def rename_run(workspace: Workspace, old: str, new: str) -> RunDirectory:
    """The directory's name is the run's: one step. What else bears the name follows; the same again finishes it."""
    run, target = workspace.run(old), workspace.run(new)
    if not run.exists() and is_half_renamed(target, run.name):
        with holding_lock(target.lock):
            follow_rename(workspace, run.name, target)
        return target
    if target.path.exists():
        raise ConfigurationError(f"run {new!r} is there already; choose another name, or remove it first")
    with holding_lock(run.lock):
        move_directory(run, target)
        follow_rename(workspace, run.name, target)
    return target


def is_half_renamed(run: RunDirectory, old: str | None = None) -> bool:
    """Whether somebody died between the name of the directory and what follows it."""
    if not run.exists():
        return False
    stored = read_stored_manifest(run.manifest).run
    return stored != run.name and old in (None, stored)


def follow_rename(workspace: Workspace, old: str, run: RunDirectory) -> None:
    """The manifest last: until then it says that this is not done."""
    LabelStore(workspace).rename_run(old, run.name)
    # Here and not above: the list of runs asks this module, too, and writes no archive.
    from mixseek.archive.write import rename_archive

    rename_archive(run.archive, run.name)
    write_manifest(run.manifest, read_manifest(run.manifest))


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that nobody needs, and why."""

    path: Path
    kind: str
    why: str
    bytes: int

    def remove(self) -> bool:
        """False where somebody has taken it up meanwhile, or it cannot be removed."""
        lock = self.path / "journal.lock"
        try:
            if not self.path.is_dir():
                self.path.unlink()
            elif lock.exists():
                with holding_lock(lock):
                    remove_tree(self.path)
            else:
                remove_leftover(self.path)
                return not self.path.exists()
        except (OSError, StorageError):
            return False
        return True


def find_garbage(workspace: Workspace) -> tuple[list[Leftover], list[str]]:
    """What can go, and a sentence about each thing that looks as if it could and stays."""
    staying: list[str] = []
    garbage = [*find_temporaries(workspace), *find_spooled(workspace, staying), *find_unsaid(workspace, staying)]
    if workspace.outdated_index.is_file():
        garbage.append(leftover(workspace.outdated_index, "index", "the index of an earlier version"))
    return garbage, staying


def leftover(path: Path, kind: str, why: str) -> Leftover:
    return Leftover(path, kind, why, size_bytes(path))


def entries(directory: Path) -> list[Path]:
    """Sorted; none where there is no such directory."""
    try:
        return sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise storage_error("look through", directory, error) from error


def is_untouched(path: Path) -> bool:
    """Whether nothing has been written there for a while; a clock that jumped back counts as a moment ago."""
    try:
        return time.time() - path.lstat().st_mtime > _UNTOUCHED_SECONDS
    except OSError:
        return False


def find_temporaries(workspace: Workspace) -> Iterator[Leftover]:
    """What dead processes left: half-written files, what was on its way out, and what DuckDB had put on disk."""
    rooms = ("runs", ANSWERS, "competitions", "evaluations")
    places = [workspace.root, workspace.spool, workspace.root / "labels", workspace.root / "labels" / "draws"]
    for room in rooms:
        places += [workspace.root / room, *(entry for entry in entries(workspace.root / room) if entry.is_dir())]
    for place in places:
        for entry in entries(place):
            named = _TEMPORARY.fullmatch(entry.name)
            if named is not None and is_gone(int(next(filter(None, named.groups())))):
                yield leftover(entry, "temporary", "its process is gone")
    if workspace.scratch.is_dir():
        for entry in find_leftovers(workspace.scratch):
            yield leftover(entry, "temporary", "its process is gone")


def find_spooled(workspace: Workspace, staying: list[str]) -> Iterator[Leftover]:
    """Copies of stdin, but for those that a run which is not over can be finished with."""
    unfinished = [manifest for manifest in read_manifests(workspace) if manifest.status is not RunStatus.COMPLETE]
    for entry in entries(workspace.spool):
        if entry.name.startswith("."):
            continue
        runs = [manifest.run for manifest in unfinished if is_copied_for(entry, manifest)]
        if runs:
            staying.append(f"{entry}: run {runs[0]} is not over, and can be finished with it")
        elif not is_untouched(entry):
            staying.append(f"{entry}: written within the last hour; a command may be about to need it")
        else:
            yield leftover(entry, "spool", "no unfinished run was piped in from it")


def is_copied_for(entry: Path, manifest: Manifest) -> bool:
    """Whether it is that run's copy, by the digest in its name, or by its size where the digest covers other files."""
    digest = str(manifest.dataset.get("sha256", ""))
    return entry.stem.endswith(f"-{digest[:16]}") or manifest.dataset.get("bytes") == size_bytes(entry)


def read_manifests(workspace: Workspace) -> Iterator[Manifest]:
    """The manifests of all runs whose manifest can be read."""
    for run in (*workspace.runs(), *workspace.answer_runs()):
        try:
            yield read_manifest(run.manifest)
        except StorageError:
            continue


def find_unsaid(workspace: Workspace, staying: list[str]) -> Iterator[Leftover]:
    """Directories of runs and evaluations in which nobody said anything about any sample; competitions have a store."""
    for room in ("runs", ANSWERS, "evaluations"):
        for entry in entries(workspace.root / room):
            run = RunDirectory(entry.name, entry)
            if entry.name.startswith(".") or not entry.is_dir() or is_being_written(run.lock):
                continue
            has_manifest = run.exists()
            if has_manifest and read_status(run) is not RunStatus.RUNNING:
                continue
            try:
                is_empty = says_nothing(run.journal)
            except StorageError as error:
                staying.append(str(error))
                continue
            if is_empty and (has_manifest or is_untouched(entry) or run.journal.is_file()):
                yield leftover(entry, "run", "nobody said anything about any sample")
            elif room in ("runs", ANSWERS) and not is_empty and not has_manifest:
                staying.append(f"{entry}: its manifest is gone, and its journal holds what was said")


def read_status(run: RunDirectory) -> RunStatus | None:
    """Where it stands; None for a manifest that cannot be read, which only its owner may throw away."""
    try:
        return read_manifest(run.manifest).status
    except StorageError:
        return None
