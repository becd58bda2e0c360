"""One thread in front of one connection, which is open only while there is something to read or write."""

import asyncio
import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from mixseek.errors import BusyError, StorageError
from mixseek.storage.duckdb_session import first_line, open_duckdb, read_sql, session_settings
from mixseek.storage.durable import storage_error

# Tables of the competitions' store, grown by numbered migrations: what is in a file of a user is never thrown away.

# Applied in order, each once; never edit one that has been released, append the next.
MIGRATIONS = (read_sql("mixseek.storage.competition", "migration_1.sql"),)


def read_version(connection: duckdb.DuckDBPyConnection) -> int:
    """How many migrations the file has seen; 0 for an empty one."""
    try:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except duckdb.CatalogException:
        return 0
    return int(row[0]) if row and row[0] is not None else 0


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring the file to this version, one transaction each; raises StorageError for a file of a later one."""
    version = read_version(connection)
    refuse_later(version, path, len(migrations))
    for number, statements in enumerate(migrations[version:], version + 1):
        connection.begin()
        connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY)")
        connection.execute(statements)
        connection.execute("INSERT INTO schema_version VALUES ($number)", {"number": number})
        connection.commit()


def refuse_later(version: int, path: Path, known: int = len(MIGRATIONS)) -> None:
    """What a later version writes is not for this one to interpret."""
    if version > known:
        raise StorageError(
            f"{path}: written by a later mixseek (schema {version}, this one knows {known}); update mixseek"
        )


Result = TypeVar("Result")
Operation = Callable[[duckdb.DuckDBPyConnection], Result]

# A paid reply waits longer for the file than a glance at the leader board would.
PATIENCE_SECONDS = 60.0
# Uneven, so that two processes that want the file do not keep meeting.
_RETRY_SECONDS = (0.005, 0.03)
_HELD = ("could not set lock", "different configuration", "already attached")
# Whoever waits is told why after so long, and again every so often.
_FIRST_WORD_SECONDS = 5.0
_NEXT_WORD_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the file is waited for while others have it: `seconds`, counted while `is_endless` says no."""

    seconds: float = PATIENCE_SECONDS
    is_endless: Callable[[], bool] = lambda: False
    notify: Callable[[str], None] = lambda _: None


# DuckDB allows several connections to a file in one process, but not while one of them is being closed.
_turns: dict[str, threading.Lock] = {}


@contextlib.contextmanager
def opened(path: Path, *, read_only: bool, patience: Patience) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a file of this version; waits while another process, or another thread of this one, has it."""
    settings = session_settings(path.parent / "tmp")
    # Otherwise a table that is not there is looked for among Python's variables.
    settings["python_enable_replacements"] = False
    # A few rows at a time: starting a second thread at every opening would take longer than it helps.
    settings["threads"] = 1
    turn = _turns.setdefault(os.path.realpath(path), threading.Lock())
    _wait_for(lambda: turn.acquire(timeout=_RETRY_SECONDS[1]) or None, path, "another part of this program", patience)
    try:
        connection = _wait_for(lambda: _try_open(path, read_only, settings), path, "another process", patience)
        with contextlib.closing(connection):
            if read_only:
                refuse_later(read_version(connection), path)
            else:
                migrate(connection, path)
            yield connection
    finally:
        turn.release()


def _wait_for(attempt: Callable[[], Result | None], path: Path, holder: str, patience: Patience) -> Result:
    """What the attempt gives at last; raises BusyError when the patience is used up."""
    deadline = time.monotonic() + patience.seconds
    next_word = time.monotonic() + _FIRST_WORD_SECONDS
    while (result := attempt()) is None:
        now = time.monotonic()
        if patience.is_endless():
            deadline = now + patience.seconds
        elif now >= deadline:
            raise BusyError(
                f"{path}: in use by {holder} for more than {patience.seconds:g} s; wait for it to end and try again"
            )
        if now >= next_word:
            patience.notify(f"{path}: {holder} has it open; waiting for it to be closed (nothing is lost)")
            next_word = now + _NEXT_WORD_SECONDS
        time.sleep(random.uniform(*_RETRY_SECONDS))  # noqa: S311 - waiting, not a secret
    return result


def _try_open(path: Path, read_only: bool, settings: Any) -> duckdb.DuckDBPyConnection | None:
    """None while another process holds the file, or another part of this one has it open or is closing it."""
    try:
        return open_duckdb(str(path), read_only=read_only, config=settings)
    except duckdb.Error as error:
        if any(words in str(error).lower() for words in _HELD):
            return None
        raise


class Worker:
    """Runs operations one after another, in the order they were given, each in an opening of the file of its own."""

    def __init__(self, path: Path, *, read_only: bool, patience: Patience) -> None:
        self._path = path
        self._read_only = read_only
        self._patience = patience
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="competitions")

    async def run(self, operation: Operation[Result]) -> Result:
        """The result after its commit. Cancelling stops the waiting, not the writing: what was paid for is kept."""
        waiting = asyncio.get_running_loop().run_in_executor(self._thread, self._carry_out, operation)
        waiting.add_done_callback(_look_at)
        return await asyncio.shield(waiting)

    def close(self) -> None:
        """After everything that waits has been done."""
        self._thread.shutdown(wait=True)

    def _carry_out(self, operation: Operation[Result]) -> Result:
        try:
            if not self._read_only:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            # What is not committed is gone when the connection is closed.
            with opened(self._path, read_only=self._read_only, patience=self._patience) as connection:
                connection.begin()
                result = operation(connection)
                connection.commit()
                return result
        except OSError as error:
            raise storage_error("keep competitions", self._path, error) from error
        except duckdb.Error as error:
            raise StorageError(f"{self._path}: {first_line(error)}; what was stored before is still there") from error


def _look_at(waiting: "asyncio.Future[Any]") -> None:
    """A caller that was cancelled does not ask for the failure any more; asyncio would complain about it."""
    if not waiting.cancelled():
        waiting.exception()
