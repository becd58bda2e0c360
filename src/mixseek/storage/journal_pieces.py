"""A journal cut into files of one kind of line each: what is read at once stays small, however long the journal is."""

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mixseek.storage.durable import storage_error
from mixseek.storage.journal import damaged, read_lines

# Of the journal, for each group of pieces: small beside what DuckDB takes for itself.
GROUP_BYTES = 8 << 20
KINDS = ("sample", "reply", "outcome")
_HEADS = {kind: b'{"t":"%s' % kind[:3].encode() for kind in KINDS}
_FILE = re.compile(rf"(\d+)-(?:\d+-)?(?:{'|'.join(KINDS)})\.jsonl")
# One that is being read, and one that is being written meanwhile.
_GROUPS_ON_DISK = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of one kind in a file of their own, in the order of the journal; `before` came in earlier pieces.

    `bytes_so_far` counts those of earlier pieces too.
    """

    kind: str
    path: Path
    before: int
    lines: int
    longest_bytes: int
    bytes_so_far: int


@contextlib.contextmanager
def split_journal(
    journal: Path, size_bytes: int, directory: Path, group_bytes: int | None = None
) -> Iterator[Iterator[list[Piece]]]:
    """Groups of pieces that hold the first `size_bytes` of the journal; whoever asks for them has the index to himself.

    Each may still be read while the next one is made, and is gone when the one after that is there. Asking for the next
    raises StorageError for a line that is none of ours, and for a disk that has no room.
    """
    groups = _Groups(directory)
    remove_leftovers(directory)
    try:
        yield _cut(journal, size_bytes, groups, group_bytes or GROUP_BYTES)
    finally:
        groups.remove()


def _cut(journal: Path, size_bytes: int, groups: "_Groups", group_bytes: int) -> Iterator[list[Piece]]:
    try:
        lines = _by_head()
        size = 0
        for offset, line in read_lines(journal):
            if offset >= size_bytes:
                break
            alike = lines.get(line[:9])
            if alike is None:
                raise damaged(journal, offset, ValueError("not a journal record"))
            alike.append(line)
            size += len(line)
            if size >= group_bytes:
                yield groups.write(lines)
                lines, size = _by_head(), 0
        yield groups.write(lines)
    except OSError as error:
        raise storage_error("cut up the journal for indexing", groups.directory, error) from error


def remove_leftovers(directory: Path) -> None:
    """Pieces of others who had the index before, and were killed: judged texts that nobody would take away."""
    for path in directory.glob("*.jsonl"):
        name = _FILE.fullmatch(path.name)
        if name is not None and int(name[1]) != os.getpid():
            # In the way of nothing: indexing goes on without it.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _by_head() -> dict[bytes, list[bytes]]:
    return {head: [] for head in _HEADS.values()}


class _Groups:
    """The files of the last groups, and how many lines of each kind went before."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._before = dict.fromkeys(KINDS, 0)
        self._bytes = dict.fromkeys(KINDS, 0)
        self._number = 0
        self._on_disk: deque[list[Path]] = deque()

    def write(self, lines: dict[bytes, list[bytes]]) -> list[Piece]:
        self.directory.mkdir(parents=True, exist_ok=True)
        self._number += 1
        paths: list[Path] = []
        self._on_disk.append(paths)
        pieces: list[Piece] = []
        for kind, head in _HEADS.items():
            alike = lines[head]
            if not alike:
                continue
            path = self.directory / f"{os.getpid()}-{self._number}-{kind}.jsonl"
            paths.append(path)
            with path.open("wb") as file:
                file.writelines(alike)
            sizes = list(map(len, alike))
            self._bytes[kind] += sum(sizes)
            pieces.append(Piece(kind, path, self._before[kind], len(alike), max(sizes), self._bytes[kind]))
            self._before[kind] += len(alike)
        self.remove(_GROUPS_ON_DISK)
        return pieces

    def remove(self, kept: int = 0) -> None:
        while len(self._on_disk) > kept:
            for path in self._on_disk.popleft():
                path.unlink(missing_ok=True)
