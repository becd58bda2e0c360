"""The append-only truth of a run: what was appended is on disk, and a torn end is cut before anything is added."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from shlex import quote
from types import TracebackType
from typing import Self

from mixseek.errors import StorageError
from mixseek.storage.durable import storage_error, sync_directory
from mixseek.storage.locks import WriterLock
from mixseek.storage.records import Record, decode_record

_BLOCK_BYTES = 1 << 16


class JournalFile:
    """The Journal port over a file; the only writer of its run while it is open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = WriterLock(path.with_suffix(".lock")).acquire()
        try:
            # Unbuffered: a write that returned has left the process.
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            self._lock.release()
            raise storage_error("open the journal", path, error) from error
        try:
            sync_directory(path.parent)
            # What an earlier process had begun to write and never counted.
            self._length = self._written = cut_torn_end(self._file)
        except OSError as error:
            self.close()
            raise storage_error("repair the end of the journal", path, error) from error

    @property
    def length_bytes(self) -> int:
        """How much of the file is known to be on disk."""
        return self._length

    def append(self, lines: Iterable[bytes]) -> None:
        """One write and one fsync for all lines; on failure none of them stays."""
        self.write(lines)
        self.sync()

    def write(self, lines: Iterable[bytes]) -> None:
        """One write for all lines: a kill cannot take them any more, a power cut can until `sync`."""
        data = b"".join(lines)
        try:
            write_all(self._file, data)
        except OSError as error:
            # Leave no half line; where even this fails, the next opening cuts it.
            with contextlib.suppress(OSError):
                self._file.truncate(self._written)
            raise storage_error("append to the journal", self.path, error) from error
        self._written += len(data)

    def sync(self) -> None:
        """One fsync for all that was written before; may run beside `write`, in another thread."""
        written = self._written
        if written == self._length:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            # What the disk did not take is not to be found there later either.
            with contextlib.suppress(OSError):
                self._file.truncate(self._length)
            raise storage_error("append to the journal", self.path, error) from error
        self._length = written

    def close(self) -> None:
        """Lets the next writer in."""
        self._file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Byte offset and line, of complete lines only: an end without newline was never committed."""
    try:
        with path.open("rb", buffering=1 << 20) as stream:
            offset = 0
            for line in stream:
                if not line.endswith(b"\n"):
                    return
                yield offset, line
                offset += len(line)
    except OSError as error:
        raise storage_error("read the journal", path, error) from error


def read_records(path: Path) -> Iterator[Record]:
    """Every record in the order of writing, one in memory at a time."""
    for offset, line in read_lines(path):
        try:
            yield decode_record(line)
        except ValueError as error:
            raise damaged(path, offset, error) from error


def damaged(path: Path, offset: int, error: ValueError) -> StorageError:
    """A line that cannot be read and is not the last: nobody but the user may decide what to do with it."""
    return StorageError(
        f"{path}: damaged at byte {offset} ({error}); restore the file from a copy, or cut it there with "
        f"`truncate -s {offset} {quote(str(path))}` and run the same command again to judge the rest anew"
    )


def cut_torn_end(file: FileIO) -> int:
    """Truncate to the last newline; returns the length that is left."""
    length = file.seek(0, os.SEEK_END)
    end = length
    while end > 0:
        begin = file.seek(max(0, end - _BLOCK_BYTES))
        newline = file.read(end - begin).rfind(b"\n")
        if newline >= 0:
            end = begin + newline + 1
            break
        end = begin
    if end < length:
        file.truncate(end)
        os.fsync(file.fileno())
    return end


def write_all(file: FileIO, data: bytes) -> None:
    """An unbuffered write may take less than it is given."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
