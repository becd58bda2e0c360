"""One thread in front of one connection, and a turn for everybody who wants to write."""

import asyncio
import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from mixseek.competition.tables import migrate, read_version, refuse_later
from mixseek.errors import BusyError, StorageError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import confine, first_line, open_duckdb, quoted, session_settings
from mixseek.storage.durable import storage_error

Result = TypeVar("Result")
Operation = Callable[[duckdb.DuckDBPyConnection], Result]
# A paid reply waits longer for the file than a glance at the leader board would.
PATIENCE_SECONDS = 60.0
# Uneven, so that two processes that want the file do not keep meeting.
_RETRY_SECONDS = (0.005, 0.03)
_BESIDE = (".wal", ".wal.checkpoint", ".wal.recovery")
_HELD = ("could not set lock", "already attached")
# Whoever waits is told why after so long, and again every so often.
_FIRST_WORD_SECONDS = 5.0
_NEXT_WORD_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the file is waited for while others have it: `seconds`, counted while `is_endless` says no."""

    seconds: float = PATIENCE_SECONDS
    is_endless: Callable[[], bool] = lambda: False
    notify: Callable[[str], None] = lambda _: None


# One opening of a file at a time in this process: locks keep out other processes only.
_turns: dict[str, threading.Lock] = {}


def start_session(path: Path) -> duckdb.DuckDBPyConnection:
    """A DuckDB without a file, to which the file is attached for each operation: 3 ms, a DuckDB of its own takes 40."""
    settings = session_settings(path.parent / "tmp")
    # Otherwise a table that is not there is looked for among Python's variables.
    settings["python_enable_replacements"] = False
    # A few rows at a time: a second thread would take longer to start than it helps.
    settings["threads"] = 1
    session = open_duckdb(config=settings)
    # The file and what DuckDB writes beside it; a view in it reads nothing else.
    confine(session, path, *(path.with_name(f"{path.name}{suffix}") for suffix in _BESIDE))
    return session


@contextlib.contextmanager
def opened(
    session: duckdb.DuckDBPyConnection, path: Path, *, read_only: bool, patience: Patience
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The session with a file of this version; waits while another process, or another thread of this one, has it."""
    turn = _turns.setdefault(os.path.realpath(path), threading.Lock())
    _wait_for(lambda: turn.acquire(timeout=_RETRY_SECONDS[1]) or None, path, "another part of this program", patience)
    try:
        _wait_for(lambda: _try_attach(session, path, read_only), path, "another process", patience)
        try:
            session.execute("USE competitions")
            if read_only:
                refuse_later(read_version(session), path)
            else:
                migrate(session, path)
            yield session
        finally:
            # What was not committed is gone.
            with contextlib.suppress(duckdb.Error):
                session.rollback()
            session.execute("USE memory")
            session.execute("DETACH competitions")
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


def _try_attach(session: duckdb.DuckDBPyConnection, path: Path, read_only: bool) -> bool | None:
    """None while another process holds the file."""
    try:
        session.execute(f"ATTACH {quoted(str(path))} AS competitions{' (READ_ONLY)' if read_only else ''}")
    except duckdb.Error as error:
        if any(words in str(error).lower() for words in _HELD):
            return None
        raise
    return True


class Worker:
    """Runs operations one after another, in the order they were given, each in an opening of the file of its own."""

    def __init__(self, path: Path, *, read_only: bool, patience: Patience) -> None:
        self._path = path
        self._read_only = read_only
        self._patience = patience
        self._session: duckdb.DuckDBPyConnection | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="competitions")

    async def run(self, operation: Operation[Result]) -> Result:
        """The result after its commit. Cancelling stops the waiting, not the writing: what was paid for is kept."""
        waiting = asyncio.get_running_loop().run_in_executor(self._thread, self._carry_out, operation)
        waiting.add_done_callback(_look_at)
        return await asyncio.shield(waiting)

    def close(self) -> None:
        """Closes after everything that waits has been done."""
        self._thread.shutdown(wait=True)
        self._end_session()

    def _end_session(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _carry_out(self, operation: Operation[Result]) -> Result:
        try:
            if not self._read_only:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            self._session = self._session or start_session(self._path)
            with opened(self._session, self._path, read_only=self._read_only, patience=self._patience) as connection:
                connection.begin()
                result = operation(connection)
                connection.commit()
                return result
        except OSError as error:
            raise storage_error("keep competitions", self._path, error) from error
        except duckdb.Error as error:
            # After some failures a DuckDB answers nothing more.
            self._end_session()
            raise StorageError(f"{self._path}: {first_line(error)}; what was stored before is still there") from error


def _look_at(waiting: "asyncio.Future[Any]") -> None:
    """A caller that was cancelled does not ask for the failure any more; asyncio would complain about it."""
    if not waiting.cancelled():
        waiting.exception()


Value = TypeVar("Value")
