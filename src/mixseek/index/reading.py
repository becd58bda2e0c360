"""Sessions that read one index and reach no other file but its journal.

The session of a small index is kept for whoever reads the same one next, because to start a DuckDB takes longer than
all that is asked of it. It stays confined as it was, and is given to nobody who reads anything else.
"""

import atexit
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb

from mixseek.index import loading
from mixseek.index.loading import INDEX
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import confine, session_settings, take_engine
from mixseek.storage.scratch import spilling_to
from mixseek.storage.workspace import RunDirectory, Workspace

# A large index is read for longer than a start takes, fills memory, and may spill to a place that is gone by then.
_LARGEST_KEPT_BYTES = 4 << 20
# As many as a comparison reads.
_MOST_KEPT = 2


@dataclass(frozen=True, slots=True)
class Reader:
    """A DuckDB that can open one index, and no other."""

    engine: duckdb.DuckDBPyConnection
    path: Path
    content_bytes: int
    journal: str


# By process and journal, the oldest first: after a fork, what is in there belongs to the parent. Threads of a viewer
# take and keep at once, so each step is one that Python does not interrupt.
_kept: dict[int, dict[str, Reader]] = {}


@contextlib.contextmanager
def reading(workspace: Workspace, run: RunDirectory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to the index, which says what the journal says, and to no other file but the journal."""
    scratch = run.workspace / "tmp" / f"{os.getpid()}-0"
    try:
        with spilling_to(scratch):
            reader = take_reader(workspace, run, scratch)
            try:
                # Temporary tables and the search path go with the cursor.
                with reader.engine.cursor() as connection:
                    connection.execute(f"USE {INDEX}")
                    yield connection
                # Nobody finds the file in use where nobody reads it.
                reader.engine.execute(f"DETACH {INDEX}")
            except BaseException:
                reader.engine.close()
                raise
            keep(reader)
    except duckdb.Error as error:
        raise loading.index_error(run.index, error) from error


def take_reader(workspace: Workspace, run: RunDirectory, scratch: Path) -> Reader:
    """The one that was kept for this index, or a new one; with the index open, as it is now."""
    # First, so that the DuckDB that has made an index can read it.
    index, journal = loading.ensure_indexed(workspace, run), str(run.journal.absolute())
    settings = session_settings(scratch, index.path)
    reader = _kept.get(os.getpid(), {}).pop(journal, None)
    if reader is not None and reader.path != index.path:
        reader.engine.close()
        reader = None
    engine = reader.engine if reader is not None else take_engine(settings)
    try:
        if reader is not None:
            # Whoever ran short of memory was given more.
            engine.execute(f"SET memory_limit = '{settings['memory_limit']}'")
        index = loading.attach_index(engine, workspace, run, INDEX, index)
        if reader is None:
            # Columns of one's own (`--by`) stand in the journal only; the index is opened again by whoever is next.
            confine(engine, run.journal, index.path)
    except BaseException:
        engine.close()
        raise
    return Reader(engine, index.path, index.sealed.content_bytes, journal)


def keep(reader: Reader) -> None:
    """Keep it for whoever reads the same index next; close it where that is large, and what was used longest ago."""
    kept = _kept.setdefault(os.getpid(), {})
    # Somebody may have read the same one meanwhile.
    closed = [kept.pop(reader.journal, None)]
    if reader.content_bytes > _LARGEST_KEPT_BYTES:
        closed.append(reader)
    else:
        kept[reader.journal] = reader
    closed += [kept.pop(journal, None) for journal in list(kept)[:-_MOST_KEPT]]
    for unused in closed:
        if unused is not None:
            unused.engine.close()


@atexit.register
def close_kept() -> None:
    """Sessions are closed before the interpreter takes its parts down in any order."""
    for reader in _kept.pop(os.getpid(), {}).values():
        reader.engine.close()
