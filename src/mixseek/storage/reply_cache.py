"""Replies by the digest of their request, for every run of a workspace: a run whose cache fails goes on without it."""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

from mixseek.domain.judgments import Reply
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.records import decode_line, decode_reply, encode_line

CACHE_FILE = "replies.sqlite"
# Raise it with any change of the table or of what a value holds: a file of another version is set aside.
_VERSION = 1
_SCHEMA = """
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS replies (
    place INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL, stored_at INTEGER NOT NULL
);
PRAGMA user_version = {version};
COMMIT;
"""
# `place` counts up, so values are appended and read again in the order of writing; only the small index is random.
_PUT = """INSERT INTO replies (key, value, stored_at) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, stored_at = excluded.stored_at"""
# Below the least number of parameters that any build of SQLite allows (999).
_KEYS_PER_QUERY = 500
# Another process holds the file for the milliseconds of one batch; a judge must not wait for longer than this.
_PATIENCE_SECONDS = 2.0
_PAGE_CACHE_KILOBYTES = 8_192
_LOG_PAGES = 4_000
# Switching an empty file to its log is refused at once, whatever the patience, while another process does the same.
_OPENING_ATTEMPTS = 40
_RETRY_SECONDS = 0.05
_DROP_OLDEST = """DELETE FROM replies WHERE place <= (
    SELECT place FROM (SELECT place, sum(length(value)) OVER (ORDER BY place DESC) AS total FROM replies)
    WHERE total > ? ORDER BY place DESC LIMIT 1)"""
# SQLITE_ERROR stands for "no such table": our statements are right, so the tables are not ours.
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheState:
    """What is in a cache; `file_bytes` includes what it could give back to the disk, `dropped` have just gone."""

    path: str
    replies: int = 0
    value_bytes: int = 0
    file_bytes: int = 0
    dropped: int = 0


class ReplyCacheFile:
    """The ReplyCache port over a file: open from construction to `close`, safe with other processes and threads.

    A reply comes back as it was put, judge included: the first who asked, perhaps under another name in the settings.
    Open it after forking, not before: SQLite's connections do not survive a fork.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self.path = path
        self._clock = clock
        self._turn = threading.Lock()
        self._warnings: list[str] = []
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._is_writable = True
        self._open()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should be told, each once: set aside, not written any more, not read any more."""
        return tuple(self._warnings)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Reply]:
        """The replies that are known; keys without one are left out."""
        replies: dict[bytes, Reply] = {}
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            read = partial(read_rows, keys=keys[start : start + _KEYS_PER_QUERY])
            rows: list[tuple[bytes, bytes]] = self._attempt("read", read, [])
            replies |= {key: reply for key, value in rows if (reply := decode_cached(value)) is not None}
        return replies

    def put_many(self, replies: Mapping[bytes, Reply]) -> None:
        """All of them or none; the newest reply to a request stays."""
        if not replies or not self._is_writable:
            return
        now = int(self._clock().timestamp())
        rows = [(key, encode_cached(reply), now) for key, reply in replies.items()]

        def write(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany(_PUT, rows)

        self._attempt("written", write, None)

    def size(self) -> CacheState:
        """Reads every value's length: for a person who asks, not for a loop."""
        query = "SELECT count(*), coalesce(sum(length(value)), 0) FROM replies"
        replies, value_bytes = self._attempt("read", lambda connection: connection.execute(query).fetchone(), (0, 0))
        return CacheState(
            str(self.path), replies, value_bytes, sum(part.stat().st_size for part in parts_of(self.path))
        )

    def prune(self, *, before: datetime | None = None, keep_bytes: int | None = None) -> int:
        """Drop replies stored before a time, then the oldest until the rest fits; returns how many went."""

        def drop(connection: sqlite3.Connection) -> int:
            dropped = 0
            with connection:
                if before is not None:
                    limit = int(before.timestamp())
                    dropped += connection.execute("DELETE FROM replies WHERE stored_at < ?", (limit,)).rowcount
                if keep_bytes is not None:
                    dropped += connection.execute(_DROP_OLDEST, (keep_bytes,)).rowcount
            # As a script, which is run to its end: `execute` would take one step and give one page back to the disk.
            connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE);")
            return dropped

        return self._attempt("written", drop, 0)

    def close(self) -> None:
        """Folds the log into the file when no other process has it open."""
        with self._turn:
            self._disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _attempt(self, what: str, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """A cache that is not there, or fails, answers like an empty one."""
        with self._turn:
            if self._connection is None:
                return otherwise
            try:
                return work(self._connection)
            except sqlite3.DatabaseError as error:
                self._take_note(what, error)
                return otherwise

    def _take_note(self, what: str, error: sqlite3.DatabaseError) -> None:
        code = code_of(error)
        if code in _DAMAGE:
            self._start_anew(f"is damaged ({error})")
        elif code in _BUSY and what != "opened":
            self._warn("is kept busy by another process; some replies are not cached")
        else:
            # A full disk stays full for a while; what is there can still be read.
            self._is_writable = self._is_writable and what != "written"
            self._warn(f"cannot be {what} ({error}); going on without it")

    def _open(self) -> None:
        for attempt in range(1, _OPENING_ATTEMPTS + 1):
            try:
                version = self._connect()
            except sqlite3.DatabaseError as error:
                self._disconnect()
                if code_of(error) not in _BUSY or attempt == _OPENING_ATTEMPTS:
                    self._take_note("opened", error)
                    return
                time.sleep(_RETRY_SECONDS)
            else:
                if version != _VERSION:
                    self._start_anew(f"is of another version ({version}, expected {_VERSION})")
                return

    def _connect(self) -> int:
        """The version of the file's content, after creating it in an empty file."""
        # The engine may look up from a worker thread; `_turn` keeps the uses apart.
        connection = sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS, check_same_thread=False)
        self._connection = connection
        self._identity = identity_of(self.path)
        connection.execute(f"PRAGMA cache_size = -{_PAGE_CACHE_KILOBYTES}")
        # Keys are digests, so every batch touches pages all over the index: folding the log in seldom saves a quarter.
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        # A power cut may lose the newest replies of the cache; the journal has them.
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
            connection.executescript(_SCHEMA.format(version=_VERSION))
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return version

    def _start_anew(self, why: str) -> None:
        """Set the file aside, unless another process has done so meanwhile, and begin an empty one."""
        self._disconnect()
        aside: Path | None = None
        try:
            if identity_of(self.path) == self._identity:
                aside = move_aside(self.path)
            self._connect()
        except (OSError, sqlite3.DatabaseError) as error:
            self._disconnect()
            self._warn(f"{why} and cannot be replaced ({error}); going on without it")
            return
        where = f"; it is set aside as {aside.name}" if aside else ""
        self._warn(f"{why}{where}; replies are collected anew")

    def _disconnect(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.DatabaseError):
                self._connection.close()
            self._connection = None

    def _warn(self, what: str) -> None:
        sentence = f"{self.path}: the reply cache {what}"
        if sentence not in self._warnings:
            self._warnings.append(sentence)


def read_rows(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
    """Fetched whole: a damaged page shows itself only when it is reached."""
    marks = ",".join("?" * len(keys))
    query = f"SELECT key, value FROM replies WHERE key IN ({marks})"  # noqa: S608 - question marks only
    return connection.execute(query, keys).fetchall()


def encode_cached(reply: Reply) -> bytes:
    """The reply as the journal writes it: unpaired surrogates survive."""
    return encode_line({name: getattr(reply, name) for name in ("text", "judge", "attempt", "details")})


def decode_cached(value: bytes) -> Reply | None:
    """None for a value that is none of ours: asking again is cheaper than trusting it."""
    try:
        return decode_reply(decode_line(value))
    except (ValueError, KeyError, TypeError):
        return None


def code_of(error: sqlite3.DatabaseError) -> int:
    """SQLite's primary code: what kind of failure, without the particulars."""
    return error.sqlite_errorcode & 0xFF


def identity_of(path: Path) -> tuple[int, int] | None:
    """Which file has the name now; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def parts_of(path: Path) -> list[Path]:
    """The file, its log and its shared memory, as far as they exist."""
    parts = [path, *(path.with_name(path.name + ending) for ending in ("-wal", "-shm"))]
    return [part for part in parts if part.is_file()]


def move_aside(path: Path) -> Path:
    """One earlier cache is kept, for whoever wants to look; its log goes with it, or the new file would read it."""
    aside = path.with_name(f"{path.stem}.damaged{path.suffix}")
    for part in parts_of(path):
        part.replace(aside.with_name(aside.name + part.name.removeprefix(path.name)))
    return aside


def find_cache_damage(path: Path) -> str | None:
    """What SQLite finds wrong with a file that is only read; None where nothing is."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        return None if code_of(error) in _BUSY else str(error)
    return None if answer == "ok" else str(answer)
