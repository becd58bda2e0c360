"""Directories for one piece of work of one process, and what killed processes left in theirs."""

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from mixseek.storage.durable import is_gone, remove_if_abandoned, storage_error

_numbers = itertools.count(1)
# The name of a file in a private directory.
_ELSEWHERE = "elsewhere"


@contextlib.contextmanager
def private_directory(scratch: Path) -> Iterator[Path]:
    """A directory for one piece of work, gone at its end; what killed processes left behind is removed, too."""
    directory = scratch / f"{os.getpid()}-{next(_numbers)}"
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise storage_error("write", scratch, error) from error
    try:
        remove_leftovers(scratch)
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        # Empty again, unless another process is at work beside us.
        with contextlib.suppress(OSError):
            scratch.rmdir()


@contextlib.contextmanager
def spilling_to(scratch: Path) -> Iterator[None]:
    """The place is there while the block lasts: DuckDB makes no directory in one that is not there.

    Whoever made it takes it away; a workspace that takes no files is read all the same, as long as memory does.
    """
    try:
        scratch.mkdir(parents=True)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        # Empty again, unless another process is at work beside us.
        with contextlib.suppress(OSError):
            scratch.parent.rmdir()


def remove_leftovers(scratch: Path) -> None:
    """Copies of judged texts that nobody else would take away; what has another kind of name is not ours."""
    for entry in find_leftovers(scratch):
        remove_leftover(entry)


def note_elsewhere(directory: Path, path: Path) -> None:
    """Say in a private directory what else is being written, anywhere: it goes when the directory goes."""
    (directory / _ELSEWHERE).write_bytes(os.fsencode(path.absolute()))


def remove_leftover(directory: Path) -> None:
    """What a process that is gone had in there, and what it had begun to write elsewhere."""
    with contextlib.suppress(OSError):
        remove_if_abandoned(Path(os.fsdecode((directory / _ELSEWHERE).read_bytes())))
    shutil.rmtree(directory, ignore_errors=True)


def find_leftovers(scratch: Path) -> list[Path]:
    """What processes that are gone had in there."""
    leftovers = []
    for entry in scratch.iterdir():
        owner, _, number = entry.name.partition("-")
        if owner.isdecimal() and number.isdecimal() and is_gone(int(owner)):
            leftovers.append(entry)
    return leftovers
