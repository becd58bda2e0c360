"""The index file: opened for a moment, waited for when another process has it, thrown away when it is damaged."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb

from mixseek.errors import BusyError, StorageError
from mixseek.storage.duckdb_session import Settings, first_line, is_short_of_memory, offline_settings
from mixseek.storage.durable import storage_error
from mixseek.storage.workspace import Workspace

# Other commands hold the index for seconds at most, unless they index a very large run.
PATIENCE_SECONDS = 10.0
_RETRY_SECONDS = 0.1
_FAULTS_OF_THE_DISK = ("no space", "quota", "permission denied", "read-only file system", "cannot open file")
# For reading; it is used only by questions that need it.
_MEMORY_MB = 512
# For loading, at first; what is beyond it is spilled to disk.
_LOADING_MB = 512
# A group of rows is packed in memory as a whole, and rows hold texts: DuckDB's own 122,880 are made for numbers.
_ROW_GROUP_ROWS = 8_192
_THREADS = 2
# DuckDB's JSON reader sets aside several times this for each thread.
SMALLEST_OBJECT_BYTES = 4 << 20


@contextlib.contextmanager
def connecting(
    workspace: Workspace,
    *,
    read_only: bool = False,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection for one read or write; waits for another process to let go of the index."""
    settings = memory_settings(workspace.scratch, SMALLEST_OBJECT_BYTES)
    deadline = time.monotonic() + patience_seconds
    while (
        connection := try_connect(workspace.index, read_only, settings)
        if read_only
        else try_attach(workspace.index, settings)
    ) is None:
        if time.monotonic() >= deadline:
            raise BusyError(
                f"{workspace.index}: in use by another process for more than {patience_seconds:g} s; "
                "wait for it to end and try again"
            )
        time.sleep(_RETRY_SECONDS)
    try:
        yield connection
    finally:
        connection.close()


def try_connect(path: Path, read_only: bool, settings: Settings) -> duckdb.DuckDBPyConnection | None:
    """None while another process holds the file."""
    try:
        return duckdb.connect(str(path), read_only=read_only, config=settings)
    except duckdb.IOException as error:
        if "could not set lock" in str(error).lower():
            return None
        raise


def try_attach(path: Path, settings: Settings) -> duckdb.DuckDBPyConnection | None:
    """For writing much with little memory; None while another process holds the file."""
    connection = duckdb.connect(":memory:", config={**settings, "memory_limit": f"{_LOADING_MB}MB", "threads": 1})
    quoted = str(path).replace("'", "''")
    try:
        connection.execute(f"ATTACH '{quoted}' AS run_index (ROW_GROUP_SIZE {_ROW_GROUP_ROWS}); USE run_index")
    except duckdb.IOException as error:
        connection.close()
        if "could not set lock" in str(error).lower():
            return None
        raise
    except duckdb.Error:
        connection.close()
        raise
    return connection


def memory_settings(scratch: Path, object_bytes: int) -> Settings:
    """One thread and more memory where single lines are huge: the reader needs room for a few of them."""
    is_huge = object_bytes > SMALLEST_OBJECT_BYTES
    megabytes = _MEMORY_MB + (12 * object_bytes >> 20 if is_huge else 0)
    return {
        "memory_limit": f"{megabytes}MB",
        "threads": 1 if is_huge else _THREADS,
        "temp_directory": str(scratch),
        **offline_settings(),
    }


def is_beyond_repair(error: duckdb.Error) -> bool:
    """The file's fault, not the disk's or the memory's: throwing the index away helps."""
    return not is_short_of_memory(error) and not any(words in str(error).lower() for words in _FAULTS_OF_THE_DISK)


def index_error(path: Path, error: duckdb.Error) -> StorageError:
    """The first line of what DuckDB says, with the remedy that fits."""
    if is_short_of_memory(error) or "no space" in str(error).lower():
        remedy = "free some memory and disk space; the journals are complete, and the index is rebuilt from them"
    elif is_beyond_repair(error):
        remedy = "remove this file: it is rebuilt from the journals"
    else:
        remedy = "make the workspace writable, or choose another --workspace"
    return StorageError(f"{path}: {first_line(error)}; {remedy}")


def discard_index(path: Path) -> None:
    """Remove the index and its log."""
    for part in (path, path.with_name(path.name + ".wal")):
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error("replace the damaged index", part, error) from error
