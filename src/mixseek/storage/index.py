"""The DuckDB index: rebuilt from journals whenever they are newer, open only for the moment of a read or a write."""

import errno
import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import duckdb

from mixseek.errors import StorageError
from mixseek.storage.duckdb_session import MOST_OF_THE_MEMORY, allow_memory, escape_glob, is_short_of_memory
from mixseek.storage.durable import storage_error
from mixseek.storage.index_connection import (
    PATIENCE_SECONDS,
    SMALLEST_OBJECT_BYTES,
    connecting,
    discard_index,
    index_error,
    is_beyond_repair,
)
from mixseek.storage.index_schema import (
    ADD_MISSING,
    KEEP_FIRST_SAMPLE,
    KEEP_LAST_OUTCOME,
    MARK_SUPERSEDED,
    SCHEMA,
    SCHEMA_VERSION,
    TABLES,
    load_statement,
)
from mixseek.storage.journal import damaged, orphaned, read_lines, verify_journal
from mixseek.storage.journal_pieces import Piece, split_journal
from mixseek.storage.manifest import Manifest, read_manifest
from mixseek.storage.records import decode_record
from mixseek.storage.scored_loading import load_scores, mark_controls
from mixseek.storage.scored_schema import SCORED_TABLES
from mixseek.storage.workspace import RunDirectory, Workspace


@dataclass(frozen=True, slots=True)
class JournalState:
    """What tells whether a journal has changed since."""

    size_bytes: int
    changed_ns: int


def ensure_indexed(workspace: Workspace, run: RunDirectory, patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Index the run if its journal has changed since, or if the index is missing, damaged or of another version."""
    if not is_fresh(workspace, run, patience_seconds):
        index_run(workspace, run, patience_seconds)


def is_fresh(workspace: Workspace, run: RunDirectory, patience_seconds: float = PATIENCE_SECONDS) -> bool:
    """Whether the index says what the journal says."""
    if not workspace.index.is_file():
        return False
    state = stat_journal(run)
    try:
        with connecting(workspace, read_only=True, patience_seconds=patience_seconds) as connection:
            if not has_current_schema(connection):
                return False
            row = connection.execute(
                "SELECT journal_bytes, journal_changed_ns FROM runs WHERE run = $run", {"run": run.name}
            ).fetchone()
    except duckdb.Error as error:
        if is_beyond_repair(error):
            return False
        raise index_error(workspace.index, error) from error
    return row == (state.size_bytes, state.changed_ns)


def index_run(workspace: Workspace, run: RunDirectory, patience_seconds: float = PATIENCE_SECONDS) -> None:
    """Replace everything the index holds about a run by what its journal says now."""
    manifest = read_manifest(run.manifest)
    state = stat_journal(run)
    verify_journal(run)
    check_writable(workspace)
    try:
        try_load(workspace, run, manifest, state, patience_seconds)
    except duckdb.Error as error:
        raise index_error(workspace.index, error) from error


def check_writable(workspace: Workspace) -> None:
    """Said in our words before DuckDB says it in its own."""
    if not os.access(workspace.root, os.W_OK):
        error = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise storage_error("write the index", workspace.index, error) from error


def try_load(
    workspace: Workspace, run: RunDirectory, manifest: Manifest, state: JournalState, patience_seconds: float
) -> None:
    """An index that DuckDB trips over is not worth mending: the journals are the truth, so it is begun anew."""
    limit: str | None = None
    try:
        load_run(workspace, run, manifest, state, patience_seconds)
    except duckdb.Error as error:
        if is_short_of_memory(error):
            limit = MOST_OF_THE_MEMORY
        elif is_beyond_repair(error):
            discard_index(workspace.index)
        else:
            raise
        load_run(workspace, run, manifest, state, patience_seconds, limit)


def load_run(
    workspace: Workspace,
    run: RunDirectory,
    manifest: Manifest,
    state: JournalState,
    patience_seconds: float,
    limit: str | None = None,
) -> None:
    """One transaction: readers see the run as it was, or as it is."""
    judges = list(manifest.judge_names)
    with connecting(workspace, patience_seconds=patience_seconds) as connection:
        create_schema(connection)
        if limit is not None:
            allow_memory(connection, limit)
        connection.begin()
        for table in ("runs", *TABLES.values(), *SCORED_TABLES):
            connection.execute(f"DELETE FROM {table} WHERE run = $run", {"run": run.name})  # noqa: S608 - our own names
        load_journal(connection, workspace, run, judges, state.size_bytes)
        refuse_orphans(connection, run)
        settle_run(connection, run.name, judges, manifest.cascade)
        mark_controls(connection, run.name, judges)
        load_scores(connection, run.name, manifest.protocol.name)
        connection.execute(
            "INSERT INTO runs VALUES ($run, $size, $changed, $judges, $cascade)",
            {
                "run": run.name,
                "size": state.size_bytes,
                "changed": state.changed_ns,
                "judges": judges,
                "cascade": manifest.cascade,
            },
        )
        connection.commit()


def load_journal(
    connection: duckdb.DuckDBPyConnection, workspace: Workspace, run: RunDirectory, judges: list[str], size_bytes: int
) -> None:
    """Group by group; while DuckDB reads one, the next one is cut."""

    def load(pieces: list[Piece]) -> None:
        for piece in pieces:
            load_piece(connection, run, judges, piece)

    with (
        split_journal(run.journal, size_bytes, workspace.scratch) as groups,
        ThreadPoolExecutor(1, thread_name_prefix="indexing") as reader,
    ):
        loading: Future[None] | None = None
        for pieces in groups:
            if loading is not None:
                loading.result()
            loading = reader.submit(load, pieces)
        if loading is not None:
            loading.result()


def load_piece(connection: duckdb.DuckDBPyConnection, run: RunDirectory, judges: list[str], piece: Piece) -> None:
    """Fewer rows than lines is damage."""
    parameters: dict[str, Any] = {"run": run.name, "journal": escape_glob(piece.path), "before": piece.before}
    if piece.kind == "outcome":
        parameters["judges"] = judges
    loaded = connection.execute(load_statement(piece.kind, object_bytes_of(piece)), parameters).fetchone()
    if loaded != (piece.lines,):
        raise find_damage(run)


def object_bytes_of(piece: Piece) -> int:
    """How long a line DuckDB has to expect."""
    return max(SMALLEST_OBJECT_BYTES, piece.longest_bytes + 1_024)


def settle_run(connection: duckdb.DuckDBPyConnection, run: str, judges: list[str], cascade: bool) -> None:
    """From what was written to what holds: one row a sample, one a sample and judge, none left out."""
    samples = count_rows(connection, "SELECT count(*), count(DISTINCT key) FROM samples WHERE run = $run", run)
    if samples[0] != samples[1]:
        connection.execute(KEEP_FIRST_SAMPLE, {"run": run})
    outcomes = count_rows(
        connection,
        "SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT key, judge, take FROM outcomes WHERE run = $run))"
        " FROM outcomes WHERE run = $run",
        run,
    )
    if outcomes[0] != outcomes[1]:
        connection.execute(KEEP_LAST_OUTCOME, {"run": run})
    if cascade or outcomes[1] != samples[1] * len(judges):
        connection.execute(ADD_MISSING, {"run": run, "judges": judges, "cascade": cascade})
    if cascade:
        connection.execute(MARK_SUPERSEDED, {"run": run})


def refuse_orphans(connection: duckdb.DuckDBPyConnection, run: RunDirectory) -> None:
    """What was judged must have been taken up; else its numbers would stand for no sample, or be missing for ever."""
    query = """SELECT DISTINCT key FROM (
        SELECT key FROM replies WHERE run = $run UNION ALL SELECT key FROM outcomes WHERE run = $run
    ) ANTI JOIN (SELECT key FROM samples WHERE run = $run) USING (key) ORDER BY 1"""
    keys = [key for (key,) in connection.execute(query, {"run": run.name}).fetchall()]
    if keys:
        raise orphaned(run.journal, keys)


def count_rows(connection: duckdb.DuckDBPyConnection, query: str, run: str) -> tuple[int, int]:
    """All rows, and different ones."""
    row = connection.execute(query, {"run": run}).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def stat_journal(run: RunDirectory) -> JournalState:
    """Size and time of the last change."""
    try:
        status = run.journal.stat()
    except OSError as error:
        raise storage_error("read the journal", run.journal, error) from error
    return JournalState(status.st_size, status.st_mtime_ns)


def find_damage(run: RunDirectory) -> StorageError:
    """Which line DuckDB could not read."""
    for offset, line in read_lines(run.journal):
        try:
            decode_record(line)
        except ValueError as error:
            return damaged(run.journal, offset, error)
    return StorageError(f"{run.journal}: cannot be indexed; the journal changed meanwhile: run the same command again")


def create_schema(connection: duckdb.DuckDBPyConnection) -> None:
    """Tables of this version; those of another are dropped, because every row can be had again."""
    if has_current_schema(connection):
        return
    connection.begin()
    for (table,) in connection.execute("SELECT table_name FROM duckdb_tables() WHERE NOT internal").fetchall():
        quoted = str(table).replace('"', '""')
        connection.execute(f'DROP TABLE "{quoted}"')
    connection.execute(SCHEMA)
    connection.execute("INSERT INTO index_version VALUES ($version)", {"version": SCHEMA_VERSION})
    connection.commit()


def has_current_schema(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the tables are the ones this version writes."""
    try:
        return connection.execute("SELECT version FROM index_version").fetchall() == [(SCHEMA_VERSION,)]
    except duckdb.Error:
        return False
