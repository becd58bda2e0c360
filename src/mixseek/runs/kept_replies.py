"""The workspace's replies: for one run, then looked at and made fewer."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mixseek.domain.judgments import Reply
from mixseek.errors import ConfigurationError
from mixseek.storage.reply_cache import CACHE_FILE, CacheState, ReplyCacheFile

_PUTS_AT_ONCE = 512
_WAIT_SECONDS = 1.0


class BufferedCache:
    """Replies go into the file by the hundred or by the second: a transaction for each would cost too much."""

    def __init__(self, file: ReplyCacheFile, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._clock = clock
        self._waiting: dict[bytes, Reply] = {}
        self._flushed_at = clock()

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, Reply]:
        replies = self._file.get_many(keys)
        if self._waiting:
            replies.update({key: self._waiting[key] for key in keys if key in self._waiting})
        return replies

    def put_many(self, replies: Mapping[bytes, Reply]) -> None:
        self._waiting.update(replies)
        if len(self._waiting) >= _PUTS_AT_ONCE or self._clock() - self._flushed_at >= _WAIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """What is still waiting. After a crash this run has it in its journal, and others ask again."""
        self._file.put_many(self._waiting)
        self._waiting = {}
        self._flushed_at = self._clock()

    # The file itself stays open: it is its owner's.
    close = flush


def keep_cache(workspace: Path, older_than_days: float | None = None, keep_bytes: int | None = None) -> CacheState:
    """What is in it after dropping what the limits say; raises ConfigurationError for a file that is none of ours."""
    path = workspace / CACHE_FILE
    if not path.is_file():
        return CacheState(str(path))
    before = None if older_than_days is None else datetime.now(UTC) - timedelta(days=older_than_days)
    with ReplyCacheFile(path, lambda: datetime.now(UTC)) as file:
        has_limits = older_than_days is not None or keep_bytes is not None
        dropped = file.prune(before=before, keep_bytes=keep_bytes) if has_limits else 0
        if file.warnings:
            raise ConfigurationError(file.warnings[0])
        return replace(file.size(), dropped=dropped)


def describe_bytes(count: int) -> str:
    """A size in the unit that gives the shortest number."""
    size = float(count)
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
