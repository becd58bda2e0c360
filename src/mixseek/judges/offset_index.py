"""Where in a file each key's line begins: sixteen bytes a slot, so that millions of lines fit anywhere."""

import hashlib
import heapq
from array import array
from collections.abc import Callable, Iterator

_SMALLEST = 1 << 10


class OffsetIndex:
    """An open-addressing table of 64-bit key digests and offsets.

    Digests may collide, so every hit is a candidate that the caller checks against the line itself. A dict of
    strings would take ten times the memory.
    """

    def __init__(self) -> None:
        self._digests = array("Q", bytes(8 * _SMALLEST))
        # Offset + 1: zero marks an empty slot.
        self._offsets = array("Q", bytes(8 * _SMALLEST))
        self._count = 0
        # A byte for each slot that somebody asked about; made when the first one does, after everything was added.
        self._marks = bytearray()

    def __len__(self) -> int:
        return self._count

    def add(self, key: str, offset: int) -> None:
        """Does not look for an earlier entry of the same key; see `find`."""
        if self._count * 3 >= len(self._offsets) * 2:
            self._grow()
        self._place(_digest(key), offset + 1)
        self._count += 1

    def find(self, key: str, is_key_at: Callable[[int], bool]) -> int | None:
        """The offset of the key's line, confirmed by `is_key_at`."""
        digest = _digest(key)
        for slot in self._slots(digest):
            if not self._offsets[slot]:
                return None
            if self._digests[slot] == digest and is_key_at(self._offsets[slot] - 1):
                return self._offsets[slot] - 1
        return None

    def mark(self, key: str) -> None:
        """The key is wanted. By its digest alone: a collision, once in 10^19, hides one line from `unmarked`."""
        digest = _digest(key)
        self._marks = self._marks or bytearray(len(self._offsets))
        for slot in self._slots(digest):
            if not self._offsets[slot]:
                return
            if self._digests[slot] == digest:
                self._marks[slot] = 1

    @property
    def unmarked_count(self) -> int:
        """Lines that nobody wanted."""
        return self._count - sum(self._marks)

    def unmarked(self, limit: int) -> list[int]:
        """Offsets of the first such lines, in the order of the file."""
        wanted = self._marks or bytes(len(self._offsets))
        return heapq.nsmallest(
            limit, (stored - 1 for stored, mark in zip(self._offsets, wanted, strict=True) if stored and not mark)
        )

    def _slots(self, digest: int) -> Iterator[int]:
        mask = len(self._offsets) - 1
        slot = digest & mask
        while True:
            yield slot
            slot = (slot + 1) & mask

    def _place(self, digest: int, stored: int) -> None:
        slot = next(slot for slot in self._slots(digest) if not self._offsets[slot])
        self._digests[slot] = digest
        self._offsets[slot] = stored

    def _grow(self) -> None:
        digests, offsets = self._digests, self._offsets
        self._digests = array("Q", bytes(16 * len(offsets)))
        self._offsets = array("Q", bytes(16 * len(offsets)))
        for digest, stored in zip(digests, offsets, strict=True):
            if stored:
                self._place(digest, stored)


def _digest(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest())
