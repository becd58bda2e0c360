"""Files that were uploaded, and files that batches left; packed, for they are long and much alike."""

import asyncio
import zlib
from collections.abc import Callable
from typing import NamedTuple

from mixseek.testing.prompts import digest_of


class StoredFile(NamedTuple):
    """What is known of a file; `packed` is its content."""

    id: str
    name: str
    purpose: str
    mime_type: str
    packed: bytes
    size: int
    digest: bytes
    created: float

    async def content(self) -> bytes:
        return await asyncio.to_thread(zlib.decompress, self.packed)


class FileStore:
    """Files by id; ids are the same in every run that sends the same in the same order."""

    def __init__(self, seed: int, clock: Callable[[], float]) -> None:
        self._seed = seed
        self._clock = clock
        self._files: dict[str, StoredFile] = {}
        self._number = 0

    async def add(
        self, content: bytes, name: str, purpose: str, *, prefix: str = "file-", mime_type: str = "application/jsonl"
    ) -> StoredFile:
        self._number += 1
        digest = digest_of(str(self._seed), "file", str(self._number))
        file_id = f"{prefix}{digest.hex()[:24]}"
        packed, size = await asyncio.to_thread(zlib.compress, content, 1), len(content)
        stored = StoredFile(file_id, name, purpose, mime_type, packed, size, digest, self._clock())
        self._files[file_id] = stored
        return stored

    def get(self, file_id: str) -> StoredFile | None:
        return self._files.get(file_id)

    def remove(self, file_id: str) -> bool:
        """Whether there was such a file."""
        return self._files.pop(file_id, None) is not None

    def newest(self, prefix: str) -> list[StoredFile]:
        """Files whose ids begin so, the newest first."""
        return [stored for file_id, stored in reversed(self._files.items()) if file_id.startswith(prefix)]
