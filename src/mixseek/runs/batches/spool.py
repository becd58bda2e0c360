"""Requests that wait for their batch: lines in a file without a name, cut to what a provider takes at once."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mixseek.errors import StorageError
from mixseek.judges.batches.wires import MARGIN, Limits
from mixseek.storage.durable import make_directory, storage_error, temporary_beside


class Waiting(NamedTuple):
    """One request that waits; where its line stands in the spool."""

    custom_id: str
    offset: int
    size: int
    tokens: int
    expected_usd: float | None
    live_usd: float | None
    # Requests that begin alike have the same: they are submitted side by side.
    prefix: bytes


class Written(NamedTuple):
    """A batch's lines on disk."""

    path: Path
    sha256: str
    bytes: int


class Spool:
    """One judge's requests. Memory holds some hundred bytes of each, and no prompt."""

    def __init__(self, directory: Path) -> None:
        make_directory(directory, "spool requests")
        self._directory = directory
        try:
            # Gone with the process, however that ends: the next one writes them anew.
            self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115
        except OSError as error:
            raise storage_error("spool requests", directory, error) from error
        self._end = 0
        self._waiting: dict[str, Waiting] = {}

    def __contains__(self, custom_id: object) -> bool:
        return custom_id in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)

    def add(
        self, custom_id: str, line: bytes, tokens: int, prices: tuple[float | None, float | None], prefix: bytes
    ) -> None:
        """One more, last in line among those that begin alike."""
        try:
            self._file.seek(self._end)
            self._file.write(line)
        except OSError as error:
            raise storage_error("spool requests", self._directory, error) from error
        self._waiting[custom_id] = Waiting(custom_id, self._end, len(line), tokens, *prices, prefix)
        self._end += len(line)

    def put_back(self, waiting: Sequence[Waiting]) -> None:
        """Those of a batch that was not made."""
        self._waiting.update({request.custom_id: request for request in waiting})

    def cut(self, limits: Limits, most_tokens: int | None) -> list[Waiting]:
        """The next batch, taken out of the spool; empty where none fits into so many tokens."""
        most_bytes = limits.bytes * MARGIN
        most_requests = max(1, int(limits.requests * MARGIN))
        taken: list[Waiting] = []
        size = tokens = 0
        for request in self._in_order():
            fits = size + request.size <= most_bytes and len(taken) < most_requests
            if taken and not (fits and (most_tokens is None or tokens + request.tokens <= most_tokens)):
                break
            if not taken and most_tokens is not None and request.tokens > most_tokens:
                return []
            taken.append(request)
            size += request.size
            tokens += request.tokens
        for request in taken:
            del self._waiting[request.custom_id]
        return taken

    def _in_order(self) -> Iterator[Waiting]:
        """Groups of one beginning, in the order in which the first of each came."""
        groups: dict[bytes, list[Waiting]] = {}
        for request in self._waiting.values():
            groups.setdefault(request.prefix, []).append(request)
        return (request for group in groups.values() for request in group)

    def write(self, requests: Sequence[Waiting], name: str) -> Written:
        """The lines as a file of their own, on disk when this returns."""
        path, digest, size = self._directory / f"{name}.requests.jsonl", hashlib.sha256(), 0
        with temporary_beside(path) as temporary, temporary.open("wb") as stream:
            for request in requests:
                line = self._read(request)
                if len(line) != request.size:
                    raise StorageError(f"{self._directory}: a spooled request was cut; run the same command again")
                stream.write(line)
                digest.update(line)
                size += len(line)
        return Written(path, digest.hexdigest(), size)

    def _read(self, request: Waiting) -> bytes:
        try:
            self._file.flush()
            return os.pread(self._file.fileno(), request.size, request.offset)
        except OSError as error:
            raise storage_error("spool requests", self._directory, error) from error

    def close(self) -> None:
        # What a full disk has not taken is asked again by the next command.
        with contextlib.suppress(OSError):
            self._file.close()
