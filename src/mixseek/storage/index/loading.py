"""The index of a run: a DuckDB file beside its journal, made from it and thrown away whenever in doubt.

It is built under another name and then put in place, so that readers never wait for it and never see half of it; a file
in place is never written again. A journal that has grown is read from where the index ends; one that has changed
otherwise is read from its beginning.
"""

import contextlib
import errno
import hashlib
import os
import shutil
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import orjson

from mixseek.domain.judgments import Method, Reply, Status
from mixseek.domain.samples import Sample
from mixseek.errors import StorageError
from mixseek.protocols.identity import method_of
from mixseek.storage.duckdb_session import (
    escape_glob,
    first_line,
    is_beyond_repair,
    is_short_of_memory,
    private_directory,
    session_settings,
)
from mixseek.storage.durable import replacing, storage_error
from mixseek.storage.index.queries import FINAL_TOTALS
from mixseek.storage.index.schema import (
    ADD_MISSING,
    DROP_REPLACED,
    DROP_UNTOLD,
    FILL_DIMENSIONS,
    FILL_EVIDENCE,
    FILL_SCORED,
    FIRST_VALID,
    GIVE_POSITIONS,
    JUDGE_MODELS,
    KEEP_FIRST_SAMPLE,
    KEEP_LAST_OUTCOME,
    MARK_CONTROLS,
    MARK_FINAL,
    OWN_PAIRS,
    SCHEMA,
    SCHEMA_VERSION,
    TABLES,
    TARGETS,
    load_statement,
)
from mixseek.storage.journal.journal import damaged, orphaned, read_lines, verify_journal
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.journal.records import decode_record
from mixseek.storage.workspace import RunDirectory, Workspace

# From outcomes to the tables of protocols with dimensions; nothing is read twice where there are none.

# The one built-in protocol without dimensions.
_WITHOUT_DIMENSIONS = "semantic"


def mark_controls(connection: duckdb.DuckDBPyConnection, run: str, judges: list[str]) -> None:
    """Invalid and missing judgments of a model on its own output, for the few pairs of judge and target there are."""
    targets = [row[0] for row in connection.execute(TARGETS, {"run": run}).fetchall()]
    if not targets:
        return
    models = [row[0] for row in connection.execute(JUDGE_MODELS, {"run": run}).fetchall()]
    pairs = [(judge, target) for judge in dict.fromkeys([*judges, *models]) for target in targets]
    seen = connection.execute(OWN_PAIRS, {"run": run}).fetchall()
    own = list(dict.fromkeys([*(pair for pair in pairs if is_own_output(*pair)), *seen]))
    if own:
        connection.execute(
            MARK_CONTROLS, {"run": run, "judges": [judge for judge, _ in own], "targets": [target for _, target in own]}
        )


def is_own_output(judge: str, target: str) -> bool:
    """By the same rule as every valid judgment."""
    return method_of(Reply("", judge), Sample("", "", target_model=target)) is Method.SELF_JUDGE


def load_scores(connection: duckdb.DuckDBPyConnection, run: str, protocol: str, before: int) -> None:
    """Once the outcomes are settled; a run without a valid judgment is still counted and covered.

    Marks and quotes of the first `before` outcomes are there already, if the tables were filled then.
    """
    was_scored = connection.execute("SELECT count(*) > 0 FROM scored").fetchone() == (True,)
    connection.execute("DELETE FROM scored")
    first = connection.execute(FIRST_VALID, {"run": run}).fetchone()
    if not (first[0] if first else protocol != _WITHOUT_DIMENSIONS):
        return
    if was_scored:
        for table in ("dimension_scores", "evidence"):
            connection.execute(DROP_REPLACED.format(table=table))
    connection.execute(FILL_SCORED, {"run": run})
    for statement in (FILL_DIMENSIONS, FILL_EVIDENCE):
        connection.execute(statement, {"run": run, "after": before if was_scored else 0})


# Lines are shorter than this, or DuckDB is told the length of the longest; its reader sets aside a few times as much.
SMALLEST_OBJECT_BYTES = 4 << 20
_HEADS = {b'{"t":"%s' % kind[:3].encode(): kind for kind in TABLES}
# What stands before the end of the indexed part: if it is the same as then, so is the part.
_LAST_BLOCK_BYTES = 1 << 16
_COPIED_BYTES = 1 << 20
_PLACES_PER_ROW = 16_384
# In the order of FINAL_TOTALS.
_STATUSES = ("valid", "invalid", "undecided", "missing")


@dataclass(frozen=True, slots=True)
class JournalState:
    """What tells whether a journal has changed since."""

    size_bytes: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class RunTotals:
    """A run as a whole: each sample by the judge that had the last word; or why it could not be counted."""

    journal: JournalState
    counts: Mapping[str, int] = field(default_factory=dict)  # by status
    mean_score: float | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class IndexState:
    """What an index says of how it was made."""

    journal: JournalState
    indexed_bytes: int  # to the end of the last whole line
    last_block: str
    judges: tuple[str, ...]
    cascade: bool
    protocol: str

    def is_made_for(self, manifest: Manifest) -> bool:
        """Whose order of judges and protocol its rows follow."""
        return (self.judges, self.cascade, self.protocol) == (
            manifest.judge_names,
            manifest.cascade,
            manifest.protocol.name,
        )


@dataclass(frozen=True, slots=True)
class JournalLines:
    """Where the lines of each kind begin, from one byte of the journal to another, and the longest of them."""

    offsets: dict[str, "array[int]"]
    begin: int
    end: int
    longest_bytes: int


def ensure_indexed(workspace: Workspace, run: RunDirectory) -> None:
    """Index the run if its journal has changed since, or if the index is missing, damaged or of another version."""
    if not is_fresh(run):
        index_run(workspace, run)


def is_fresh(run: RunDirectory) -> bool:
    """Whether the index says what the journal says."""
    state = stat_journal(run.journal)
    indexed = read_state(run.index)
    return indexed is not None and indexed.journal == state


def read_state(path: Path) -> IndexState | None:
    """None where there is no index that can be used."""
    if not path.is_file():
        return None
    try:
        with duckdb.connect(str(path), read_only=True, config=session_settings(reading_scratch(path))) as connection:
            if connection.execute("SELECT version FROM index_version").fetchall() != [(SCHEMA_VERSION,)]:
                return None
            row = connection.execute("SELECT * EXCLUDE (run, longest_bytes) FROM runs").fetchone()
    except duckdb.Error as error:
        if is_beyond_repair(error):
            return None
        raise index_error(path, error) from error
    if row is None:
        return None
    size, changed, indexed, block, judges, cascade, protocol = row
    return IndexState(JournalState(size, changed), indexed, block, tuple(judges), cascade, protocol)


def reading_scratch(path: Path) -> Path:
    """The same for all connections of a process: DuckDB refuses two that differ in their settings."""
    return path.parent.parent.parent / "tmp" / f"{os.getpid()}-0"


@contextlib.contextmanager
def reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to an index that is in place."""
    try:
        with duckdb.connect(str(path), read_only=True, config=session_settings(reading_scratch(path))) as connection:
            yield connection
    except duckdb.Error as error:
        raise index_error(path, error) from error


def index_run(workspace: Workspace, run: RunDirectory) -> None:
    """Make the index say what the journal says now; only what was added is read where nothing else has changed."""
    manifest = read_manifest(run.manifest)
    state = stat_journal(run.journal)
    check_writable(run)
    try:
        verify_journal(run)
        make_index(workspace, run, manifest, state)
    except StorageError as error:
        # Whoever lists the runs is told why this one is not counted; a disk that takes nothing has been named already.
        with contextlib.suppress(StorageError):
            write_totals(run, RunTotals(state, problem=str(error)))
        raise


def make_index(workspace: Workspace, run: RunDirectory, manifest: Manifest, state: JournalState) -> None:
    """With the usual memory, or else with most of the machine's."""
    begun = find_beginning(run, manifest, state)
    lines = scan_journal(run.journal, begun.indexed_bytes if begun else 0, state.size_bytes)
    # The index of an earlier version, which may be as large as all journals together.
    with contextlib.suppress(OSError):
        workspace.outdated_index.unlink(missing_ok=True)
    for is_ample in (False, True):
        with private_directory(workspace.scratch) as directory:
            try:
                totals = build(directory, run, manifest, state, lines, is_ample=is_ample)
            except duckdb.Error as error:
                if is_short_of_memory(error) and not is_ample:
                    continue
                raise index_error(run.index, error) from error
            put_in_place(directory / run.index.name, run, state, totals)
            return


def find_beginning(run: RunDirectory, manifest: Manifest, state: JournalState) -> IndexState | None:
    """The index that is there, where the journal has only grown since."""
    indexed = read_state(run.index)
    if indexed is None or not indexed.indexed_bytes or not indexed.is_made_for(manifest):
        return None
    if state.size_bytes <= indexed.journal.size_bytes:
        return None
    is_same = read_last_block(run.journal, indexed.indexed_bytes) == indexed.last_block
    return indexed if is_same else None


def scan_journal(journal: Path, begin: int, size_bytes: int) -> JournalLines:
    """Every whole line from `begin` on; raises StorageError for one that is none of ours."""
    offsets = {kind: array("q") for kind in TABLES}
    append = {head: offsets[kind].append for head, kind in _HEADS.items()}
    offset, longest = begin, 0
    try:
        with journal.open("rb", buffering=1 << 20) as stream:
            stream.seek(begin)
            for line in stream:
                length = len(line)
                if offset + length > size_bytes or not line.endswith(b"\n"):
                    break
                note = append.get(line[:9])
                if note is None:
                    raise damaged(journal, offset, ValueError("not a journal record"))
                note(offset)
                offset += length
                if length > longest:
                    longest = length
    except OSError as error:
        raise storage_error("read the journal", journal, error) from error
    return JournalLines(offsets, begin, offset, longest)


def build(
    directory: Path,
    run: RunDirectory,
    manifest: Manifest,
    state: JournalState,
    lines: JournalLines,
    *,
    is_ample: bool,
) -> tuple[Any, ...]:
    """A whole index in a directory of ours; returns the run's totals."""
    path = directory / run.index.name
    source = run.journal
    try:
        if lines.begin:
            shutil.copyfile(run.index, path)
            source = directory / "added.jsonl"
            copy_part(run.journal, lines.begin, lines.end, source)
    except OSError as error:
        raise storage_error("write the index", run.index, error) from error
    with duckdb.connect(str(path), config=session_settings(directory / "spilled", is_ample=is_ample)) as connection:
        if not lines.begin:
            connection.execute(SCHEMA)
            connection.execute("INSERT INTO index_version VALUES ($version)", {"version": SCHEMA_VERSION})
        judges = list(manifest.judge_names)
        before = count_lines(connection)
        load_lines(connection, run, source, lines, judges, before)
        refuse_orphans(connection, run)
        settle_run(connection, run.name, judges, manifest.cascade)
        mark_controls(connection, run.name, judges)
        load_scores(connection, run.name, manifest.protocol.name, before["outcome"])
        longest_before = (connection.execute("SELECT max(longest_bytes) FROM runs").fetchone() or (0,))[0] or 0
        connection.execute("DELETE FROM runs")
        connection.execute(
            "INSERT INTO runs VALUES ($run, $size, $changed, $indexed, $block, $longest, $judges, $cascade, $protocol)",
            {
                "run": run.name,
                "size": state.size_bytes,
                "changed": state.changed_ns,
                "indexed": lines.end,
                "block": read_last_block(run.journal, lines.end),
                "longest": max(lines.longest_bytes, longest_before),
                "judges": judges,
                "cascade": manifest.cascade,
                "protocol": manifest.protocol.name,
            },
        )
        totals: tuple[Any, ...] = connection.execute(FINAL_TOTALS, {"run": run.name}).fetchall()[0]
    return totals


def load_lines(
    connection: duckdb.DuckDBPyConnection,
    run: RunDirectory,
    source: Path,
    lines: JournalLines,
    judges: list[str],
    before: dict[str, int],
) -> None:
    """Kind by kind; fewer rows than lines is damage, more are what was written since."""
    object_bytes = max(SMALLEST_OBJECT_BYTES, lines.longest_bytes + 1_024)
    for kind, table in TABLES.items():
        offsets = lines.offsets[kind]
        if not offsets:
            continue
        parameters: dict[str, Any] = {"run": run.name, "journal": escape_glob(source)}
        if kind == "outcome":
            parameters["judges"] = judges
        connection.execute(load_statement(kind, object_bytes), parameters)
        connection.execute(GIVE_POSITIONS.format(table=table), {"before": before[kind]})
        last = before[kind] + len(offsets)
        connection.execute(f"DELETE FROM {table} WHERE position > $last", {"last": last})  # noqa: S608 - our own names
        found = connection.execute(f"SELECT max(position) FROM {table}").fetchone()  # noqa: S608 - our own names
        if found != (last,):
            raise find_damage(run)
        for start in range(0, len(offsets), _PLACES_PER_ROW):
            part = offsets[start : start + _PLACES_PER_ROW]
            connection.execute(
                "INSERT INTO places VALUES ($kind, $first, $lines, $offsets)",
                {"kind": kind, "first": before[kind] + start + 1, "lines": len(part), "offsets": part.tobytes()},
            )


def count_lines(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Of each kind, how many are in the index."""
    counted = dict(connection.execute("SELECT kind, sum(lines)::BIGINT FROM places GROUP BY kind").fetchall())
    return {kind: counted.get(kind, 0) for kind in TABLES}


def settle_run(connection: duckdb.DuckDBPyConnection, run: str, judges: list[str], cascade: bool) -> None:
    """From what was written to what holds: one row a sample, one a sample and judge, none left out."""
    connection.execute(DROP_UNTOLD)
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
        connection.execute(MARK_FINAL, {"run": run})


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


def put_in_place(built: Path, run: RunDirectory, state: JournalState, totals: tuple[Any, ...]) -> None:
    """Whoever reads the index that was there goes on reading it."""
    try:
        built.replace(run.index)
    except OSError as error:
        raise storage_error("write the index", run.index, error) from error
    *counts, mean = totals
    write_totals(run, RunTotals(state, dict(zip(_STATUSES, counts, strict=True)), mean))


def write_totals(run: RunDirectory, totals: RunTotals) -> None:
    """For lists of runs, which open no index."""
    with replacing(run.totals) as stream:
        stream.write(orjson.dumps(asdict(totals)) + b"\n")


def read_totals(run: RunDirectory) -> RunTotals | None:
    """What was counted last, perhaps of a shorter journal; None where nothing was."""
    try:
        document = orjson.loads(run.totals.read_bytes())
        counts = {Status(name).value: int(count) for name, count in document["counts"].items()}
        return RunTotals(JournalState(**document["journal"]), counts, document["mean_score"], document["problem"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def check_writable(run: RunDirectory) -> None:
    """Said in our words before DuckDB says it in its own."""
    if not os.access(run.path, os.W_OK):
        error = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        raise storage_error("write the index", run.index, error) from error


def stat_journal(journal: Path) -> JournalState:
    """Size and time of the last change."""
    try:
        status = journal.stat()
    except OSError as error:
        raise storage_error("read the journal", journal, error) from error
    return JournalState(status.st_size, status.st_mtime_ns)


def read_last_block(journal: Path, end: int) -> str:
    """The digest of what stands before a byte."""
    try:
        with journal.open("rb") as stream:
            begin = max(0, end - _LAST_BLOCK_BYTES)
            stream.seek(begin)
            return hashlib.sha256(stream.read(end - begin)).hexdigest()
    except OSError as error:
        raise storage_error("read the journal", journal, error) from error


def copy_part(journal: Path, begin: int, end: int, target: Path) -> None:
    """DuckDB reads files from their beginning."""
    with journal.open("rb") as stream, target.open("wb") as copy:
        stream.seek(begin)
        for block in blocks_of(stream, end - begin):
            copy.write(block)


def blocks_of(stream: BinaryIO, length: int) -> Iterator[bytes]:
    """As much of a file, in pieces."""
    while length > 0 and (block := stream.read(min(length, _COPIED_BYTES))):
        length -= len(block)
        yield block


def find_damage(run: RunDirectory) -> StorageError:
    """Which line DuckDB could not read."""
    for offset, line in read_lines(run.journal):
        try:
            decode_record(line)
        except ValueError as error:
            return damaged(run.journal, offset, error)
    return StorageError(f"{run.journal}: cannot be indexed; the journal changed meanwhile: run the same command again")


def index_error(path: Path, error: duckdb.Error) -> StorageError:
    """The first line of what DuckDB says, with the remedy that fits."""
    if is_short_of_memory(error) or "no space" in str(error).lower():
        remedy = "free some memory and disk space; the journal is complete, and the index is made from it"
    elif is_beyond_repair(error):
        remedy = "remove this file: it is made anew from the journal"
    else:
        remedy = "make the workspace writable, or choose another --workspace"
    return StorageError(f"{path}: {first_line(error)}; {remedy}")
