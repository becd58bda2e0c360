"""One writer for a run, whichever process it lives in."""

import contextlib
import os
import sys
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from mixseek.errors import BusyError
from mixseek.storage.durable import storage_error

if sys.platform != "win32":
    import fcntl

# Record locks belong to a process, so a second writer in the same one must be noticed here.
held: set[str] = set()


def acquire_lock(path: Path) -> FileIO:
    """Held until the file is closed and let go of, or until the process ends, however it ends; BusyError at once.

    A record lock and not `flock`: a forked child would keep the latter alive after kill -9 of its parent,
    and the run could not be resumed. The file stays, because removing it would race with the next writer.
    """
    refusal = f"{path.parent}: the run is being written by {{}}; wait for it, or choose another name"
    if os.path.realpath(path) in held:
        raise BusyError(refusal.format("this process"))
    try:
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise storage_error("lock", path, error) from error
    if not lock_exclusively(file):
        file.seek(0)
        holder = file.read(20).decode("ascii", "replace").strip()
        file.close()
        raise BusyError(refusal.format(f"process {holder}" if holder else "another process"))
    held.add(os.path.realpath(path))
    # Only for the message of whoever comes second; a full disk must not stop us here.
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(b"%d\n" % os.getpid())
    return file


@contextlib.contextmanager
def holding_lock(path: Path) -> Iterator[None]:
    """The lock for whoever moves or removes a whole run: BusyError while somebody writes to it, and nobody begins."""
    name = os.path.realpath(path)
    lock = acquire_lock(path)
    try:
        yield
    finally:
        lock.close()
        held.discard(name)


def is_being_written(path: Path) -> bool:
    """Whether some process holds that lock at this moment; nothing is made or changed."""
    if os.path.realpath(path) in held:
        return True
    try:
        # Asking needs a file that may be written. Closing it would give up a lock of our own, which is excluded above.
        with path.open("r+b", buffering=0) as file:
            return not lock_exclusively(file)
    except OSError:
        return False


def lock_exclusively(file: FileIO) -> bool:
    """False when another process holds it; where there are no locks, two writers are the user's to avoid."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
