"""A command that dies (SIGKILL) or stands still (SIGSTOP) at the moment of a write: before the n-th rename, removal,
append or sync, or in one.

Nothing of it is in the product: the process of the test watches itself, by audit events of the interpreter and by
functions that it replaces before the command begins.
"""

import os
import signal
import sys
from io import FileIO
from pathlib import Path
from typing import Any

# What a command is told in its environment: a signal, the number of the moment, and a part of the paths that count.
VARIABLE = "TESTS_SIGNAL_BEFORE"
_EVENTS = ("os.rename", "os.link", "os.remove", "shutil.rmtree")
# The moments of one append to a journal: before it, in its middle, and before it is on disk.
MOMENTS_OF_AN_APPEND = 3


def dying(moment: int, below: str) -> dict[str, str]:
    """The environment of a command that is killed at that moment."""
    return {VARIABLE: f"{int(signal.SIGKILL)} {moment} {below}"}


def stopping(moment: int, below: str) -> dict[str, str]:
    """The environment of a command that stands still at that moment, until SIGCONT."""
    return {VARIABLE: f"{int(signal.SIGSTOP)} {moment} {below}"}


class Moments:
    """Counts what this process does to the disk, until its time has come."""

    def __init__(self, signum: int, last: int, below: str) -> None:
        self.signum, self.last, self.below, self.count = signum, last, below, 0

    def is_due(self, *paths: object) -> bool:
        if not any(self.below in os.fsdecode(path) for path in paths if isinstance(path, str | bytes | os.PathLike)):
            return False
        self.count += 1
        return self.count == self.last

    def pass_by(self, *paths: object) -> None:
        if self.is_due(*paths):
            os.kill(os.getpid(), self.signum)


def arm(told: str) -> None:
    """From here on this process gets the signal at the moment that was named, if it comes to it."""
    from mixseek.competition import sessions
    from mixseek.storage.journal import journal

    signum, number, below = told.split(" ", 2)
    moments = Moments(int(signum), int(number), below)
    me = os.getpid()
    write_all, fsync, carry_out = journal.write_all, os.fsync, sessions.Worker._carry_out

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _EVENTS and os.getpid() == me:
            moments.pass_by(*arguments)

    def write_some(file: FileIO, data: bytes) -> None:
        moments.pass_by(str(file.name))
        written = 0
        if moments.is_due(str(file.name)):
            half = len(data) // 2
            # Inside a line: lines of one length would be cut between two of them, which tears nothing.
            written = file.write(data[: half - (data[half - 1 : half] == b"\n")])
            os.kill(me, moments.signum)
        write_all(file, data[written:])

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
    setattr(sessions.Worker, "_carry_out", store)  # noqa: B010 - as above
    sys.addaudithook(watch)
