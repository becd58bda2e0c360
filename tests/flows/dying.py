"""A command that dies (SIGKILL) at the moment of a write: before the n-th rename, removal, append or sync, or in one.

Nothing of it is in the product: the process of the test watches itself, by audit events of the interpreter and by
functions that it replaces before the command begins.
"""

import os
import signal
import sys
from io import FileIO
from pathlib import Path
from typing import Any

# What a command is told in its environment: the number of the moment, and a part of the paths that count.
VARIABLE = "TESTS_DIE_BEFORE"
_EVENTS = ("os.rename", "os.link", "os.remove", "shutil.rmtree")


class Moments:
    """Counts what this process does to the disk, until its time has come."""

    def __init__(self, last: int, below: str) -> None:
        self.last, self.below, self.count = last, below, 0

    def is_due(self, *paths: object) -> bool:
        if not any(self.below in os.fsdecode(path) for path in paths if isinstance(path, str | bytes | os.PathLike)):
            return False
        self.count += 1
        return self.count == self.last

    def pass_by(self, *paths: object) -> None:
        if self.is_due(*paths):
            os.kill(os.getpid(), signal.SIGKILL)


def arm(told: str) -> None:
    """From here on this process dies at the moment that was named, if it comes to it."""
    from mixseek.storage import competition
    from mixseek.storage.journal import journal

    number, _, below = told.partition(" ")
    moments = Moments(int(number), below)
    me = os.getpid()
    write_all, fsync, carry_out = journal.write_all, os.fsync, competition.Worker._carry_out

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _EVENTS and os.getpid() == me:
            moments.pass_by(*arguments)

    def write_some(file: FileIO, data: bytes) -> None:
        moments.pass_by(str(file.name))
        if moments.is_due(str(file.name)):
            file.write(data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        write_all(file, data)

    def sync(descriptor: int) -> None:
        moments.pass_by(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    def store(worker: Any, operation: Any) -> Any:
        moments.pass_by(str(worker._path))
        done = carry_out(worker, operation)
        moments.pass_by(str(worker._path))
        return done

    setattr(journal, "write_all", write_some)  # noqa: B010 - a function of somebody else's
    setattr(os, "fsync", sync)  # noqa: B010 - as above
    setattr(competition.Worker, "_carry_out", store)  # noqa: B010 - as above
    sys.addaudithook(watch)
