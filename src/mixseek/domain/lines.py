"""How long a line of a file may be, whoever reads it: a longer one is refused before it is in memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from mixseek.errors import DatasetError

# A longer line is a file that was written without line ends, or not meant to be read at once.
LONGEST_LINE_BYTES = 64 << 20


class LineStream(Protocol):
    """What is open for reading bytes: a file, or what unpacks one."""

    def readline(self, limit: int, /) -> bytes:
        """The next line, or so many bytes of it; nothing at the end."""


def bounded_lines(path: Path, stream: LineStream, longest: int = LONGEST_LINE_BYTES) -> Iterator[bytes]:
    """The lines of a file; one that is longer is refused before it is in memory."""
    number = 1
    while line := stream.readline(longest + 1):
        if len(line) > longest:
            raise DatasetError(
                f"{path}: line {number} is longer than {longest >> 20:,} MB; a row has a line of its own: check the "
                "line ends, or allow more with judge.max_line_mb in mixseek.toml"
            )
        yield line
        number += 1
