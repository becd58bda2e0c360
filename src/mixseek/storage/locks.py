"""One writer for a run, whichever process it lives in."""

import contextlib
import os
import sys
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from mixseek.errors import BusyError
from mixseek.storage.durable import storage_error

if sys.platform != "win32":
    import fcntl

# Record locks belong to a process, so a second writer in the same one must be noticed here.
_held: set[str] = set()


class WriterLock:
    """Held from `acquire` to `release`, or until the process ends, however it ends.

    A record lock and not `flock`: a forked child would keep the latter alive after kill -9 of its parent,
    and the run could not be resumed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._name = os.path.realpath(path)
        self._file: FileIO | None = None

    def acquire(self) -> Self:
        """Raises BusyError at once when another writer holds it."""
        if self._name in _held:
            raise self._refusal("this process")
        try:
            file = self._path.open("a+b", buffering=0)
        except OSError as error:
            raise storage_error("lock", self._path, error) from error
        if not lock_exclusively(file):
            file.seek(0)
            holder = file.read(20).decode("ascii", "replace").strip()
            file.close()
            raise self._refusal(f"process {holder}" if holder else "another process")
        self._file = file
        _held.add(self._name)
        # Only for the message of whoever comes second; a full disk must not stop us here.
        with contextlib.suppress(OSError):
            file.truncate(0)
            file.write(b"%d\n" % os.getpid())
        return self

    def release(self) -> None:
        """Closing gives the lock back; the file stays, because removing it would race with the next writer."""
        if self._file is not None:
            self._file.close()
            self._file = None
            _held.discard(self._name)

    def __enter__(self) -> Self:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def _refusal(self, holder: str) -> BusyError:
        run = self._path.parent
        return BusyError(f"{run}: the run is being written by {holder}; wait for it, or choose another name")


def is_being_written(path: Path) -> bool:
    """Whether some process holds that lock at this moment; nothing is made or changed."""
    if os.path.realpath(path) in _held:
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
