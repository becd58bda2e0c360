"""The index of a run: a DuckDB file beside its journal, made from it and thrown away whenever in doubt.

It is built under another name, sealed and put in place whole. A journal that has grown is read from where the index
ends. What does not bear our seal is not read.
"""

import contextlib
import hashlib
import os
import secrets
import tempfile
from array import array
from collections.abc import Mapping
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import Any

import duckdb

from mixseek.datasets.endings import ABSENCES
from mixseek.domain.counts import RunFacts
from mixseek.domain.judgments import Method, Reply, Status
from mixseek.domain.response_states import (
    BLANK,
    CUT_OFF_REASONS,
    REASON_MARKS,
    REASON_NAMES,
    RESPONSE_STATE,
    RESPONSE_STATE_B,
    WITHHELD_REASONS,
    ResponseState,
)
from mixseek.domain.samples import Sample
from mixseek.errors import StorageError
from mixseek.index.totals import JournalState, RunTotals, read_totals, stat_journal, write_totals
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.reasoning_tags import BLOCK, DONE, OPENS
from mixseek.storage.duckdb_session import (
    Settings,
    attaching,
    confine,
    escape_glob,
    execute,
    first_line,
    is_beyond_repair,
    is_short_of_memory,
    quoted,
    read_statements,
    run_in_scratch,
    session_settings,
)
from mixseek.storage.durable import is_forbidden, remove_abandoned, storage_error
from mixseek.storage.journal.journal import (
    VerifiedStart,
    damaged,
    opening_journal,
    orphaned,
    read_blocks,
    read_lines,
    verify_journal,
)
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import Manifest, RunStatus, read_manifest
from mixseek.storage.journal.records import decode_record
from mixseek.storage.seal import SealedFile, has_seal, is_same_file, read_seal, remember_seal, seal_file
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import find_workspace_key, workspace_key

# Raise it with any change of the tables or of what fills them: an index of another version is made anew.
SCHEMA_VERSION = 27
LOADING = read_statements("mixseek.index", "loading.sql")
_SCHEMA = read_statements("mixseek.index", "schema.sql")
# What tells in SQL how a response ended; words as one text with a mark around each.
_ENDINGS = {
    "states": "\x1f".join(["", *ResponseState, ""]),
    "cut_off_reasons": "\x1f".join(["", *sorted(CUT_OFF_REASONS), ""]),
    "withheld_reasons": "\x1f".join(["", *sorted(WITHHELD_REASONS), ""]),
    "reason_marks": REASON_MARKS,
    "opens": OPENS,
    "done": DONE,
    "block": BLOCK,
    "blank": BLANK,
}
_REASON_SIDES = ("", "_a", "_b")


def _write_samples() -> str:
    """The statement that fills `samples`: with the state of each response, and with the metadata that it looks at."""
    plain, first, second = (
        f"coalesce({', '.join(f'sample.metadata.{name}{side}' for name in REASON_NAMES)})" for side in _REASON_SIDES
    )
    is_absent = " OR ".join(f"coalesce(sample.metadata.{name}, 'false') <> 'false'" for name in ABSENCES)

    def state(given: str, reason: str, response: str) -> str:
        given = f"sample.metadata.{given}"
        return LOADING["response_state"].format(given=given, reason=reason, response=response, is_absent=is_absent)

    names = [RESPONSE_STATE, RESPONSE_STATE_B, *ABSENCES]
    names += [f"{name}{side}" for name in REASON_NAMES for side in _REASON_SIDES]
    own_reason = f"CASE WHEN sample.response_b IS NULL THEN {plain} ELSE {first} END"
    second_state = state(RESPONSE_STATE_B, second, "sample.response_b")
    return (
        LOADING["sample"]
        .replace("[metadata]", ", ".join(f"{name} VARCHAR" for name in names))
        .replace("[state_a]", state(RESPONSE_STATE, own_reason, "sample.response"))
        .replace("[state_b]", f"CASE WHEN sample.response_b IS NOT NULL THEN {second_state} END")
    )


_SAMPLES = _write_samples()
NOT_JUDGED = "not judged yet: run the same command again"
_TABLES = {"sample": "samples", "reply": "replies", "outcome": "outcomes"}
_ALL_TABLES = ("index_state", "places", *_TABLES.values(), "scored", "dimension_scores", "evidence", "facts")
# The name of the index in a session that reads nothing else.
INDEX = "run_index"
# So often a file is looked at that another process replaces while we do.
_MOST_ATTEMPTS = 10
# By process: where it keeps indexes that no workspace takes, and the key that they are sealed with.
_private: dict[int, tuple["tempfile.TemporaryDirectory[str]", bytes]] = {}
# Lines are shorter than this, or DuckDB is told the length of the longest; its reader sets aside a few times as much.
_SMALLEST_OBJECT_BYTES = 4 << 20
_HEADS = {b'{"t":"%s' % kind[:3].encode(): kind for kind in _TABLES}
# What stands before the end of the indexed part: if it is the same as then, so is the part.
_LAST_BLOCK_BYTES = 1 << 16
_PLACES_PER_ROW = 16_384
_OWN = Method.SELF_JUDGE


@dataclass(frozen=True, slots=True)
class IndexState:
    """What an index says of how it was made; its fields are the columns of `index_state`."""

    version: int
    journal_bytes: int
    journal_changed_ns: int
    indexed_bytes: int  # to the end of the last whole line
    last_block: str
    verified_bytes: int | None
    verified_crc32: int | None
    longest_bytes: int
    judges: list[str]
    cascade: bool
    protocol: str
    made_by: str  # the version of DuckDB, whose hashes another version need not share
    is_running: bool  # somebody was judging: what was in flight is in no count, and nothing is missing yet

    @property
    def journal(self) -> JournalState:
        return JournalState(self.journal_bytes, self.journal_changed_ns)

    @property
    def verified(self) -> VerifiedStart | None:
        """How much of the journal was held against its seal."""
        if self.verified_bytes is None or self.verified_crc32 is None:
            return None
        return VerifiedStart(self.verified_bytes, self.verified_crc32)


@dataclass(frozen=True, slots=True)
class TrustedIndex:
    """An index that we made: where it is, what it says of itself, and the file as it was when its seal was checked."""

    path: Path
    state: IndexState
    sealed: SealedFile

    def is_still_there(self) -> bool:
        """Whether nobody has touched or replaced it, or put something beside it that DuckDB takes for a part of it."""
        return is_same_file(self.path, self.sealed.identity) and not find_companions(self.path)


@dataclass(frozen=True, slots=True)
class Distrust:
    """Why an index is not believed, as a predicate; suspicious where no ordinary use of a workspace leads to it."""

    why: str
    is_suspicious: bool


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Where an index is made, where it is put, and the key that it is sealed with."""

    scratch: Path
    index: Path
    key: bytes


@dataclass(frozen=True, slots=True)
class JournalLines:
    """Where the lines of each kind begin, from one byte of the journal to another, and the longest of them."""

    offsets: dict[str, "array[int]"]
    begin: int
    end: int
    longest_bytes: int


def ensure_indexed(workspace: Workspace, run: RunDirectory) -> TrustedIndex:
    """The index that says what the journal says now; made where it is missing, not ours, or of another version.

    Where the workspace takes no files, or keeps its key from this user, this process makes one for itself.
    """
    remove_abandoned(run.path)
    index = find_index(run)
    if index is not None and is_current(index, run):
        if read_totals(run) is None:
            # Lists of runs say that whoever reads this one counts it.
            with contextlib.suppress(StorageError):
                index_run(workspace, run)
        return find_index(run) or index
    try:
        index_run(workspace, run)
    except StorageError as error:
        if not is_forbidden(error):
            raise
        return index_privately(run)
    # Of the journal as it was when that began: whoever writes to it may have gone on.
    index = find_index(run)
    if index is None:
        raise replaced(run)
    return index


def is_fresh(run: RunDirectory) -> bool:
    """Whether there is an index of ours that says what the journal says."""
    index = find_index(run)
    return index is not None and is_current(index, run)


def is_current(index: TrustedIndex, run: RunDirectory) -> bool:
    """Whether the journal is as it was then; and where somebody was judging then, whether they still are."""
    is_same = index.state.journal == stat_journal(run.journal)
    return is_same and (not index.state.is_running or is_being_judged(run, read_manifest(run.manifest)))


def is_being_judged(run: RunDirectory, manifest: Manifest) -> bool:
    """Not merely unfinished: a process is at it now."""
    return manifest.status is RunStatus.RUNNING and is_being_written(run.journal.with_suffix(".lock"))


def find_index(run: RunDirectory) -> TrustedIndex | None:
    """None where there is no index that we made."""
    key = find_workspace_key(run.workspace)
    return None if key is None else read_index(run.index, key)


def read_index(path: Path, key: bytes) -> TrustedIndex | None:
    """What its seal says of it; None without one that holds, and for one that another version made."""
    sealed = read_seal(path, key)
    if sealed is None or sealed.is_copied or find_companions(path):
        return None
    if (sealed.facts.get("version"), sealed.facts.get("made_by")) != (SCHEMA_VERSION, duckdb.__version__):
        return None
    return TrustedIndex(path, IndexState(**sealed.facts), sealed)


def find_companions(path: Path) -> list[Path]:
    """Files beside it that DuckDB would read as part of it (`….wal`): an index is whole when it is put in place."""
    try:
        return [entry for entry in path.parent.iterdir() if entry.name.startswith(f"{path.name}.")]
    except OSError:
        return []


def describe_distrust(run: RunDirectory) -> Distrust | None:
    """None where the index is believed, or merely outdated."""
    key = find_workspace_key(run.workspace)
    sealed = read_seal(run.index, key) if key is not None else None
    if companions := find_companions(run.index):
        return Distrust(f"has {companions[0].name} beside it, which is none of ours", is_suspicious=True)
    if sealed is not None:
        return Distrust("was copied from another file", is_suspicious=False) if sealed.is_copied else None
    if is_damaged_index(run.index):
        return Distrust("is damaged", is_suspicious=True)
    if not has_seal(run.index):
        return Distrust("has no seal: it was changed, or an earlier version made it", is_suspicious=False)
    return Distrust("is not what was written: it was changed, or sealed with another key", is_suspicious=True)


def is_damaged_index(path: Path) -> bool:
    """Whether the file cannot be read at all; one of another version can, and is made anew all the same."""
    try:
        with attaching(path, read_only=True, config=session_settings(path.parent, path)):
            return False
    except duckdb.Error as error:
        return is_beyond_repair(error)


def attach_index(
    connection: duckdb.DuckDBPyConnection,
    workspace: Workspace,
    run: RunDirectory,
    name: str,
    ensured: TrustedIndex | None = None,
) -> TrustedIndex:
    """Attaches it for reading, under a name; `ensured` is what `ensure_indexed` has given the caller already.

    Whatever is put in its place meanwhile: the file that is open is one that we made.
    """
    for _ in range(_MOST_ATTEMPTS):
        index, ensured = ensured or ensure_indexed(workspace, run), None
        connection.execute(f"ATTACH {quoted(str(index.path))} AS {name} (READ_ONLY)")
        if not index.is_still_there():
            # Another process has put a newer one there; that one is looked at from the beginning.
            connection.execute(f"DETACH {name}")
        elif not holds_our_tables(connection, name):
            connection.execute(f"DETACH {name}")
            with contextlib.suppress(OSError):
                index.path.unlink()
        else:
            return index
    raise replaced(run)


def replaced(run: RunDirectory) -> StorageError:
    return StorageError(f"{run.index}: something else is put in its place again and again; end what does that")


def holds_our_tables(connection: duckdb.DuckDBPyConnection, name: str) -> bool:
    """Whether each table is one, and no view of that name: whoever knows the key could seal anything."""
    query = " UNION ALL ".join(f"(FROM pragma_storage_info('{name}.main.{table}') LIMIT 0)" for table in _ALL_TABLES)
    try:
        execute(connection, query)
    except duckdb.CatalogException:
        return False
    return True


def index_run(workspace: Workspace, run: RunDirectory) -> None:
    """Make the index say what the journal says now; only what was added is read where nothing else has changed."""
    place = IndexPlace(workspace.scratch, run.index, workspace_key(workspace.root))
    state = stat_journal(run.journal)
    try:
        facts = make_index(place, run, state)
        counts = {status.value: getattr(facts, status.value) for status in Status}
        write_totals(run, RunTotals(state, counts, facts.mean_score), place.key)
    except StorageError as error:
        # Whoever lists the runs is told why this one is not counted; a disk that takes nothing has been named already.
        with contextlib.suppress(StorageError):
            write_totals(run, RunTotals(state, problem=str(error)), place.key)
        raise
    # The index of an earlier version, which may be as large as all journals together.
    with contextlib.suppress(OSError):
        workspace.outdated_index.unlink(missing_ok=True)


def index_privately(run: RunDirectory) -> TrustedIndex:
    """An index in a directory of this process, which goes with it; sealed with a key that nobody else has."""
    process = os.getpid()
    if process not in _private:
        directory = tempfile.TemporaryDirectory(prefix="mixseek-index-", ignore_cleanup_errors=True)
        _private[process] = directory, secrets.token_bytes(32)
    directory, key = _private[process]
    digest = hashlib.sha256(os.fsencode(os.path.realpath(run.path))).hexdigest()
    place = IndexPlace(Path(directory.name), Path(directory.name) / f"{digest}.duckdb", key)
    state, index = stat_journal(run.journal), read_index(place.index, key)
    if index is None or not is_current(index, run):
        make_index(place, run, state)
        index = read_index(place.index, key)
    if index is None:
        raise replaced(run)
    return index


def make_index(place: IndexPlace, run: RunDirectory, state: JournalState) -> RunFacts:
    """Raises StorageError for a journal that is not what was written."""
    for _ in range(_MOST_ATTEMPTS):
        facts = try_to_index(place, run, state)
        if facts is not None:
            return facts
    raise replaced(run)


def try_to_index(place: IndexPlace, run: RunDirectory, state: JournalState) -> RunFacts | None:
    """None where another process replaced the index that this one went on from."""
    manifest = read_manifest(run.manifest)
    beginning = find_beginning(place, run, manifest, state)
    before = beginning.state if beginning else None
    verified = verify_journal(run, before.verified if before else None)
    lines = scan_journal(run.journal, before.indexed_bytes if before else 0, state.size_bytes)
    now = IndexState(
        SCHEMA_VERSION,
        state.size_bytes,
        state.changed_ns,
        lines.end,
        read_last_block(run.journal, lines.end),
        verified.length_bytes if verified else None,
        verified.crc32 if verified else None,
        max(lines.longest_bytes, before.longest_bytes if before else 0),
        list(manifest.judge_names),
        manifest.cascade,
        manifest.protocol.name,
        duckdb.__version__,
        is_being_judged(run, manifest),
    )

    def build_and_place(directory: Path, settings: Settings) -> RunFacts | None:
        made = directory / run.index.name
        if beginning is not None and not copy_index(beginning, made):
            return None
        facts, settled = build(made, run, lines, now, settings, has_dimensions=manifest.protocol.has_dimensions)
        try:
            sealed = seal_file(made, place.key, asdict(settled))
            for companion in find_companions(place.index):
                companion.unlink()
            # Whoever reads the index that was there goes on reading it.
            made.replace(place.index)
        except OSError as error:
            raise storage_error("write the index", place.index, error) from error
        remember_seal(place.index, place.key, sealed)
        return facts

    try:
        return run_in_scratch(place.scratch, run.journal, build_and_place)
    except duckdb.Error as error:
        raise index_error(run.index, error) from error


def find_beginning(
    place: IndexPlace, run: RunDirectory, manifest: Manifest, state: JournalState
) -> TrustedIndex | None:
    """The index that is there, where the journal has only grown since, and judges and protocol are the same."""
    index = read_index(place.index, place.key)
    if index is None:
        return None
    indexed = index.state
    if not indexed.indexed_bytes or state.size_bytes <= indexed.journal_bytes:
        return None
    made_for = (tuple(indexed.judges), indexed.cascade, indexed.protocol)
    is_same = made_for == (manifest.judge_names, manifest.cascade, manifest.protocol.name)
    return index if is_same and read_last_block(run.journal, indexed.indexed_bytes) == indexed.last_block else None


def scan_journal(journal: Path, begin: int, size_bytes: int) -> JournalLines:
    """Every whole line from `begin` on; raises StorageError for one that is none of ours."""
    offsets = {kind: array("q") for kind in _TABLES}
    append = {head: offsets[kind].append for head, kind in _HEADS.items()}
    offset, longest = begin, 0
    with opening_journal(journal, buffering=1 << 20) as stream:
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
    return JournalLines(offsets, begin, offset, longest)


def copy_index(index: TrustedIndex, to: Path) -> bool:
    """Copies it without its seal; false where it was replaced meanwhile, so that nobody knows what was copied."""
    try:
        copy_part(index.path, 0, index.sealed.content_bytes, to)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error("write the index", to, error) from error
    return index.is_still_there()


def build(
    path: Path, run: RunDirectory, lines: JournalLines, state: IndexState, settings: Settings, *, has_dimensions: bool
) -> tuple[RunFacts, IndexState]:
    """A whole index at a place of ours, where its beginning may be already; what it says of the run, and of itself.

    `has_dimensions` is the protocol's own word, for a run whose judgments cannot say it yet.
    """
    source = run.journal
    if lines.begin:
        source = path.with_name("added.jsonl")
        try:
            copy_part(run.journal, lines.begin, lines.end, source)
        except OSError as error:
            raise storage_error("write the index", run.index, error) from error
    with attaching(path, config=settings) as connection:
        before = dict.fromkeys(_TABLES, 0)
        if lines.begin:
            # What was made before is read here, with nothing else in reach.
            confine(connection, directories=(path.parent,))
            before |= dict(execute(connection, LOADING["line_counts"]).fetchall())
            # No line of the journal says these; they are found anew whenever it has grown.
            execute(connection, "DELETE FROM outcomes WHERE position < 0; DELETE FROM index_state")
        else:
            # A table that is made by itself is written to disk by itself.
            execute(connection, f"BEGIN; {_SCHEMA['tables']}; COMMIT")
        load_lines(connection, run, source, lines, before, state.judges)
        if keys := execute(connection, LOADING["orphans"]).fetchall():
            raise orphaned(run.journal, [key for (key,) in keys])
        state = replace(state, is_running=settle_run(connection, state))
        mark_controls(connection, state.judges)
        load_scores(connection, before["outcome"], has_grown=lines.begin > 0, has_dimensions=has_dimensions)
        connection.execute("INSERT INTO index_state VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(state))
        # Here and not above: whoever reads an index that is there loads neither rules nor protocols.
        from mixseek.matching.readings import NEEDS_MATHS

        execute(connection, LOADING["facts"], {"needs_maths": NEEDS_MATHS})
        if state.is_running:
            execute(connection, LOADING["count_judged_samples"])
        facts = read_facts(connection)
        if facts.has_pairs:
            execute(connection, _SCHEMA["views_of_pairs"])
    return facts, state


def read_facts(connection: duckdb.DuckDBPyConnection, index: str = "main") -> RunFacts:
    """What the open index says of its run, or one that is attached under a name."""
    return RunFacts(*execute(connection, f"FROM {index}.facts").fetchall()[0])


def load_lines(
    connection: duckdb.DuckDBPyConnection,
    run: RunDirectory,
    source: Path,
    lines: JournalLines,
    before: Mapping[str, int],
    judges: list[str],
) -> None:
    """Kind by kind; fewer rows than lines is damage, more are what was written since."""
    for kind, table in _TABLES.items():
        offsets = lines.offsets[kind]
        if not offsets:
            continue
        length = object_bytes(lines.longest_bytes)
        parameters: dict[str, Any] = {"journal": escape_glob(source), "object_bytes": length}
        if kind == "outcome":
            parameters["judges"] = judges
        elif kind == "sample":
            parameters |= _ENDINGS
        execute(connection, _SAMPLES if kind == "sample" else LOADING[kind], parameters)
        execute(connection, LOADING["give_positions"].format(table=table), {"before": before[kind]})
        last = before[kind] + len(offsets)
        ((loaded,),) = execute(connection, LOADING["last_position"].format(table=table)).fetchall()
        if loaded is None or loaded < last:
            raise find_damage(run)
        if loaded > last:
            execute(connection, LOADING["drop_after"].format(table=table), {"last": last})
        for start in range(0, len(offsets), _PLACES_PER_ROW):
            part = offsets[start : start + _PLACES_PER_ROW]
            connection.execute(
                "INSERT INTO places VALUES (?, ?, ?, ?)", (kind, before[kind] + start + 1, len(part), part.tobytes())
            )


def object_bytes(longest_bytes: int) -> int:
    """What DuckDB's reader is told of the longest line."""
    return max(_SMALLEST_OBJECT_BYTES, longest_bytes + 1_024)


def settle_run(connection: duckdb.DuckDBPyConnection, state: IndexState) -> bool:
    """Makes what holds of what was written: one row a sample, one a sample and judge, none left out.

    Whether something in flight is left out all the same: a run that sums itself up has judged everything, and nobody
    need make another index once it has ended.
    """
    ((samples, own_samples, outcomes, own_outcomes, first_takes),) = execute(connection, LOADING["counts"]).fetchall()
    if samples != own_samples:
        execute(connection, LOADING["keep_first_sample"])
    if outcomes != own_outcomes:
        execute(connection, LOADING["keep_last_outcome"])
    is_partial = state.cascade or first_takes != own_samples * len(state.judges)
    if not state.is_running and is_partial:
        due = {"judges": state.judges, "cascade": state.cascade, "reason": NOT_JUDGED}
        execute(connection, LOADING["add_missing"], due)
    if state.cascade:
        execute(connection, LOADING["mark_final"])
    return state.is_running and is_partial


def mark_controls(connection: duckdb.DuckDBPyConnection, judges: list[str]) -> None:
    """Invalid and missing judgments of a model on its own output, for the few pairs of judge and target there are."""
    targets = [row[0] for row in execute(connection, LOADING["targets"]).fetchall()]
    if not targets:
        return
    models = [row[0] for row in execute(connection, LOADING["models"]).fetchall()]
    pairs = [(judge, target) for judge in dict.fromkeys([*judges, *models]) for target in targets]
    from mixseek.protocols.identity import method_of

    # By the same rule as every valid judgment, and by what those say.
    own_pairs = [pair for pair in pairs if method_of(Reply("", pair[0]), Sample("", "", target_model=pair[1])) is _OWN]
    own_pairs = list(dict.fromkeys([*own_pairs, *execute(connection, LOADING["own_pairs"]).fetchall()]))
    if own_pairs:
        names = {"judges": [judge for judge, _ in own_pairs], "targets": [target for _, target in own_pairs]}
        execute(connection, LOADING["mark_controls"], names)


def load_scores(connection: duckdb.DuckDBPyConnection, before: int, *, has_grown: bool, has_dimensions: bool) -> None:
    """Loads marks, also of a run without a valid judgment.

    Marks of the first `before` outcomes may be there already.
    """
    was_scored = has_grown and execute(connection, "SELECT count(*) > 0 FROM scored").fetchone() == (True,)
    if was_scored:
        execute(connection, "DELETE FROM scored")
    first = execute(connection, LOADING["first_valid"]).fetchone()
    if not (first[0] if first else has_dimensions):
        return
    execute(connection, _SCHEMA["views_of_dimensions"])
    execute(connection, LOADING["fill_scored"])
    for table in ("dimension_scores", "evidence"):
        if was_scored:
            execute(connection, LOADING["drop_replaced"].format(table=table))
        execute(connection, LOADING[f"fill_{table}"], {"after": before if was_scored else 0})


def read_last_block(journal: Path, end: int) -> str:
    """The digest of what stands before a byte."""
    with opening_journal(journal) as stream:
        blocks = b"".join(read_blocks(stream, max(0, end - _LAST_BLOCK_BYTES), end))
        return hashlib.sha256(blocks).hexdigest()


def copy_part(journal: Path, begin: int, end: int, target: Path) -> None:
    """DuckDB reads files from their beginning."""
    with journal.open("rb", buffering=0) as stream, target.open("wb") as copy:
        copy.writelines(read_blocks(stream, begin, end))


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
