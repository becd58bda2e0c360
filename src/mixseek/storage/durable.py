"""Files that are either wholly there or not at all, and disk failures worded for a person."""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import socket
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from mixseek.errors import ConfigurationError, StorageError

# So many tell a page of ours from somebody's data: `<!` of HTML, `##` of Markdown.
_KIND_BYTES = 2
# A disk may be shared: processes of another machine are not ours to miss.
_HOST = hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]
_ABANDONED = re.compile(r"\..+\.(\d+)-\d+-([0-9a-f]{8})\.tmp")
# Once is enough for a process: a run writes its manifest every second.
_looked_through: set[str] = set()
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


def storage_error(action: str, path: Path, error: OSError) -> StorageError:
    """What could not be done, where, and the remedy that fits the cause."""
    if error.errno in _FULL:
        why = "the disk is full; free some space and run the same command again (nothing written before is lost)"
    elif error.errno in _FORBIDDEN:
        why = f"{(error.strerror or 'not writable').lower()}; make it writable or choose another place"
    else:
        why = (error.strerror or type(error).__name__).lower()
    return StorageError(f"{path}: cannot {action}: {why}")


def is_forbidden(error: StorageError) -> bool:
    """Whether the disk refused because of who asked, or because it takes nothing from anybody."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _FORBIDDEN


def digest_file(path: Path) -> str:
    """sha256 of the file's bytes as they are on disk; raises StorageError where it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise storage_error("read", path, error) from error


def sync_directory(directory: Path) -> None:
    """A new name survives a power cut only when its directory is synced too; not every platform can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_directory(path: Path, action: str) -> None:
    """Makes it with its parents; one that is there will do. Raises StorageError where it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(action, path, error) from error


def check_replaceable(path: Path, begins: bytes) -> None:
    """Raises ConfigurationError where a file of another kind is: a slip in a name must not cost somebody's data."""
    if not path.is_file():
        return
    try:
        with path.open("rb") as there:
            head = there.read(len(begins))
    except OSError as error:
        raise storage_error("replace", path, error) from error
    if head and head != begins:
        raise ConfigurationError(f"{path}: is there already and holds something else; name another file")


def is_gone(process: int) -> bool:
    """Whether there is no such process on this machine; one of somebody else's is there."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return False


def name_temporary(path: Path) -> Path:
    """A name beside it that says whose it is, threads too: handlers of one server may write the same page at once."""
    return path.with_name(f".{path.name[:100]}.{os.getpid()}-{threading.get_ident()}-{_HOST}.tmp")


def remove_abandoned(directory: Path) -> None:
    """What processes of this machine that were killed had begun to write there, whatever it was to become."""
    name = os.path.realpath(directory)
    if name in _looked_through:
        return
    _looked_through.add(name)
    with contextlib.suppress(OSError):
        for entry in directory.iterdir():
            remove_if_abandoned(entry)


def is_abandoned(path: Path) -> bool:
    """Whether it has the name of a temporary file of ours, whose process is gone."""
    named = _ABANDONED.fullmatch(path.name)
    return named is not None and named[2] == _HOST and is_gone(int(named[1]))


def remove_if_abandoned(path: Path) -> None:
    """Removes it by its name alone: nothing else is ever removed, whoever says where it is."""
    if not is_abandoned(path):
        return
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """A name in the same directory that becomes `path` when the block ends well, and vanishes when it does not."""
    remove_abandoned(path.parent)
    temporary = name_temporary(path)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        raise storage_error("write", path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to; readers see the old content until the new one is complete and on disk."""
    with temporary_beside(path) as temporary, temporary.open("wb", buffering=1 << 20) as stream:
        yield stream


def write_page(page: Iterable[str], target: Path, usual_name: str) -> None:
    """A text, or its pieces as they are made. Raises ConfigurationError where no file can be at that place."""
    if target.is_dir():
        raise ConfigurationError(f"{target}: a directory; name a file in it, such as {target / usual_name}")
    if not target.parent.is_dir():
        raise ConfigurationError(f"{target}: there is no directory {target.parent}; create it first")
    pieces = iter([page] if isinstance(page, str) else page)
    first = next(pieces, "").encode()
    check_replaceable(target, first[:_KIND_BYTES])
    with replacing(target) as stream:
        stream.write(first)
        for piece in pieces:
            stream.write(piece.encode())
