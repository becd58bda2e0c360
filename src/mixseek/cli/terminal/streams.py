"""Standard output and standard error as a command finds them: a terminal, a file, a pipe, a full disk, or nothing."""

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from mixseek.errors import StorageError, reason_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ResultFile(io.FileIO):
    """Behind standard output. A reader that has seen enough is no failure; a full disk is one, and is said once."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            self._discard_rest()
        except OSError as error:
            # What is left in the buffers must not fail once more when the process ends.
            self._discard_rest()
            raise StorageError(
                f"standard output: {reason_of(error)}; the answer could not be printed, what was judged is kept"
            ) from error
        return memoryview(data).nbytes

    def _discard_rest(self) -> None:
        """All that is still printed goes nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


class NoticeFile(ResultFile):
    """Behind standard error: where that cannot be written there is nobody left to tell."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except StorageError:
            return memoryview(data).nbytes


def guard_streams() -> None:
    """Whoever prints from here on, ourselves or a library, need not know what becomes of a reader or a disk."""
    sys.stdout = guarded(sys.stdout, ResultFile)
    sys.stderr = guarded(sys.stderr, NoticeFile)


def guarded(stream: TextIO | None, kind: type[ResultFile]) -> TextIO:
    """The same stream; one that was closed before we were started goes nowhere."""
    if stream is None:
        # It gets the number that was closed, so that no file that is opened later does.
        return io.TextIOWrapper(io.BufferedWriter(kind(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)))
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    # What another encoding has no letter for is shown as `?`, which is no reason to fail.
    errors = stream.errors if stream.encoding.lower() in ("utf-8", "utf8") else "replace"
    return io.TextIOWrapper(
        io.BufferedWriter(kind(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
