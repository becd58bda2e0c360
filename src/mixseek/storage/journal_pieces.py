"""A journal cut into files of one kind of line each: what is read at once stays small, however long the journal is."""

import contextlib
import os
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from mixseek.storage.durable import storage_error
from mixseek.storage.journal import damaged, read_lines

# Of the journal, for each group of pieces: small beside what DuckDB takes for itself.
GROUP_BYTES = 8 << 20
KINDS = ("sample", "reply", "outcome")
_HEADS = {b'{"t":"%s' % kind[:3].encode(): kind for kind in KINDS}


@dataclass(slots=True)
class Piece:
    """Lines of one kind in a file of their own, in the order of the journal; `before` came in earlier pieces."""

    kind: str
    path: Path
    before: int
    lines: int = 0
    longest_bytes: int = 0


@dataclass(slots=True)
class _Group:
    directory: Path
    before: dict[str, int]
    pieces: dict[str, Piece] = field(default_factory=dict)
    files: dict[str, BinaryIO] = field(default_factory=dict)
    size_bytes: int = 0

    def add(self, kind: str, line: bytes) -> None:
        piece = self.pieces.get(kind)
        if piece is None:
            path = self.directory / f"{os.getpid()}-{kind}.jsonl"
            piece = self.pieces[kind] = Piece(kind, path, self.before[kind])
            self.files[kind] = path.open("wb", buffering=1 << 17)
        self.files[kind].write(line)
        piece.lines += 1
        size = len(line)
        self.size_bytes += size
        if size > piece.longest_bytes:
            piece.longest_bytes = size

    def close(self) -> list[Piece]:
        for file in self.files.values():
            file.close()
        return list(self.pieces.values())

    def remove(self) -> None:
        for file in self.files.values():
            with contextlib.suppress(OSError):
                file.close()
        for piece in self.pieces.values():
            piece.path.unlink(missing_ok=True)


def split_journal(
    journal: Path, size_bytes: int, directory: Path, group_bytes: int = GROUP_BYTES
) -> Generator[list[Piece], None, None]:
    """Groups of pieces that hold the first `size_bytes` of the journal; each is gone when the next one is asked for.

    Raises StorageError for a line that is none of ours, and for a disk that has no room.
    """
    before = dict.fromkeys(KINDS, 0)
    group = _Group(directory, before)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for offset, line in read_lines(journal):
            if offset >= size_bytes:
                break
            kind = _HEADS.get(line[:9])
            if kind is None:
                raise damaged(journal, offset, ValueError("not a journal record"))
            group.add(kind, line)
            if group.size_bytes >= group_bytes:
                yield group.close()
                group.remove()
                for piece in group.pieces.values():
                    before[piece.kind] += piece.lines
                group = _Group(directory, before)
        yield group.close()
    except OSError as error:
        raise storage_error("cut up the journal for indexing", directory, error) from error
    finally:
        group.remove()
