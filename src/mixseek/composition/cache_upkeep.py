"""The workspace's reply cache, looked at and made smaller."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.storage.reply_cache import CACHE_FILE, ReplyCacheFile


@dataclass(frozen=True, slots=True)
class CacheState:
    """What is in it; `dropped` replies have just gone."""

    path: Path
    replies: int
    value_bytes: int
    file_bytes: int
    dropped: int = 0


def look_at_cache(workspace: Path) -> CacheState:
    """An empty state where there is none: nothing is created by looking."""
    path = workspace / CACHE_FILE
    if not path.is_file():
        return CacheState(path, 0, 0, 0)
    with open_file(path) as file:
        return state_of(file)


def prune_cache(workspace: Path, older_than_days: float | None, keep_bytes: int | None) -> CacheState:
    """Raises ConfigurationError where nothing says what to drop."""
    if older_than_days is None and keep_bytes is None:
        raise ConfigurationError("cache prune: say what to drop, with --older-than DAYS, --keep SIZE or both")
    path = workspace / CACHE_FILE
    if not path.is_file():
        return CacheState(path, 0, 0, 0)
    before = None if older_than_days is None else datetime.now(UTC) - timedelta(days=older_than_days)
    with open_file(path) as file:
        dropped = file.prune(before=before, keep_bytes=keep_bytes)
        return state_of(file, dropped)


def open_file(path: Path) -> ReplyCacheFile:
    return ReplyCacheFile(path, lambda: datetime.now(UTC))


def state_of(file: ReplyCacheFile, dropped: int = 0) -> CacheState:
    """Raises ConfigurationError for a file that is none of ours, which was set aside by opening it."""
    if file.warnings:
        raise ConfigurationError(file.warnings[0])
    size = file.size()
    return CacheState(file.path, size.replies, size.value_bytes, size.file_bytes, dropped)


def describe_cache(state: CacheState) -> str:
    """A line or two for a person."""
    text = f"{state.path}: {state.replies:,} replies, {describe_bytes(state.file_bytes)} on disk"
    return f"{text}\n  {state.dropped:,} replies were dropped" if state.dropped else text


def describe_bytes(count: int) -> str:
    """In the unit that gives the shortest number."""
    size = float(count)
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
