"""What every use of DuckDB here has in common: memory, threads, a place to spill to, and failures in a line."""

import atexit
import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from mixseek.storage.scratch import private_directory

T = TypeVar("T")
Settings = dict[str, str | bool | int | float | list[str]]
# Enough for a million judgments; what does not fit is spilled to disk.
_USUAL_BYTES = 384 << 20
# Of the machine's or the container's memory, where the usual does not do.
_LARGEST_SHARE = 0.8
# Each thread sets aside a few buffers: more of them would need more memory than they save time.
_MOST_THREADS = 8
# A second thread has nothing to do before a table has 120,000 rows; to wake it all the same is a fifth of the CPU.
_BYTES_FOR_ONE_THREAD = 16 << 20
_WORDS_OF_MEMORY = ("out of memory", "failed to pin", "failed to allocate", "could not allocate")
_FAULTS_OF_THE_DISK = ("no space", "quota", "permission denied", "read-only file system", "cannot open file")
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
# By process: after a fork, what is in there belongs to the parent, whose threads a child does not have.
_idle: dict[int, list[duckdb.DuckDBPyConnection]] = {}
_MOST_IDLE = 2
# By text. To parse a statement takes DuckDB a third of the time of a small question, and most come again.
_parsed: dict[str, list[duckdb.Statement]] = {}
_MOST_PARSED = 1_000


def offline_settings() -> Settings:
    """Extensions are never looked for on the network."""
    return {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


def open_duckdb(path: str = ":memory:", *, read_only: bool = False, config: Settings) -> duckdb.DuckDBPyConnection:
    """A connection without the bar that DuckDB draws on stdout, among our results, at a prompt and in a notebook."""
    connection = duckdb.connect(path, read_only=read_only, config=config)
    # Only where it is on: a kernel without ipywidgets, where it is off, does not even let us say so.
    ((draws,),) = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if draws:
        connection.execute("SET enable_progress_bar = false")
    return connection


@contextlib.contextmanager
def attaching(path: Path | None, *, read_only: bool = False, config: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to one file, or to none, in a DuckDB that nobody else uses meanwhile.

    A DuckDB is kept for whoever comes next: to attach a file takes 2 ms, to start another one for it 25.
    """
    engine = take_engine(config)
    try:
        with engine.cursor() as connection:
            mode = " (READ_ONLY)" if read_only else ""
            connection.execute(f"ATTACH {quoted(str(path or ':memory:'))} AS attached{mode}; USE attached")
            yield connection
        is_clean = is_cleared(engine)
    except BaseException:
        engine.close()
        raise
    idle = _idle.setdefault(os.getpid(), [])
    if is_clean and len(idle) < _MOST_IDLE:
        idle.append(engine)
    else:
        engine.close()


def release_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """Gives the system what DuckDB keeps for later: of a list of 200,000 judgments that was just made, 140 of 240 MB.

    To set a limit gives back what was freed, in the whole process; one that is too low for a connection also gives back
    what it can read again. It takes some milliseconds: for what made a large table, and not for every question.
    """
    ((limit,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    # What is in use stays, and DuckDB says so.
    with contextlib.suppress(duckdb.OutOfMemoryException):
        connection.execute("SET memory_limit = '1MiB'")
    connection.execute(f"SET memory_limit = {quoted(limit)}")


def release_freed_memory() -> None:
    """The same of what connections that are closed by now have freed."""
    with attaching(None, config=session_settings(Path())) as connection:
        release_memory(connection)


def take_engine(config: Settings) -> duckdb.DuckDBPyConnection:
    """A DuckDB that nobody else uses, with these settings: an idle one, or a new one. Whoever takes it closes it."""
    try:
        engine = _idle.setdefault(os.getpid(), []).pop()
    except IndexError:
        return open_duckdb(config=config)
    # All that our settings differ in.
    for name in ("memory_limit", "threads", "temp_directory"):
        engine.execute(f"SET {name} = {quoted(str(config[name]))}")
    return engine


def confine(connection: duckdb.DuckDBPyConnection, *files: Path, directories: Iterable[Path] = ()) -> None:
    """Nothing but these and what is attached can be read or written, whatever a statement or view asks.

    There is no way back: DuckDB does not give access again. Other settings stay open, because whoever runs short of
    memory is given more; none of them leads to a file or an extension.
    """
    # As they are named, and as what they are: somewhere on the way there may be a link.
    places = [place for path in files for place in (path.absolute(), path.resolve())]
    # A name with pattern characters is asked for as a pattern, and opened as what it is.
    names = list(dict.fromkeys([*map(str, places), *map(escape_glob, places)]))
    # For DuckDB a name ends at a question mark: there it looks for the log of a file that it opens.
    names += [name.replace("?", ".wal?", 1) for name in names if "?" in name]
    rooms = list(dict.fromkeys(str(place) for path in directories for place in (path.absolute(), path.resolve())))
    rooms += [escape_glob(Path(room)) for room in rooms if escape_glob(Path(room)) != room]
    connection.execute(f"SET allowed_paths = [{', '.join(map(quoted, names))}]")
    connection.execute(f"SET allowed_directories = [{', '.join(map(quoted, rooms))}]")
    connection.execute("SET enable_external_access = false")


def is_cleared(engine: duckdb.DuckDBPyConnection) -> bool:
    """Takes out what was attached; false where it is confined, or spilled something to a place that is gone by now."""
    for (name,) in execute(engine, "SELECT database_name FROM duckdb_databases() WHERE NOT internal").fetchall():
        if name != "memory":
            engine.execute(f'DETACH "{name}"')
    try:
        engine.execute("SET temp_directory = ''")
    except (duckdb.NotImplementedException, duckdb.PermissionException):
        return False
    return True


@contextlib.contextmanager
def reading_beside(connection: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """A second cursor that finds the same tables: one answer is read while others are asked for."""
    ((path,),) = connection.execute("SELECT current_setting('search_path')").fetchall()
    with connection.cursor() as cursor:
        cursor.execute(f"SET search_path = {quoted(path)}")
        yield cursor


@atexit.register
def close_idle() -> None:
    """Connections are closed before the interpreter takes its parts down in any order."""
    for engine in _idle.pop(os.getpid(), []):
        engine.close()


def quoted(text: str) -> str:
    """The text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def session_settings(scratch: Path, *files: Path, is_ample: bool = False) -> Settings:
    """All cores (one where the files that will be read are small) and a bounded share of the memory.

    `is_ample` is for the second attempt, when the first ran short.
    """
    largest = int(_LARGEST_SHARE * usable_memory_bytes())
    limit = largest if is_ample else min(_USUAL_BYTES, largest)
    return {
        "memory_limit": f"{limit >> 10}KiB",
        "threads": 1 if files and all(map(is_small, files)) else usable_threads(),
        "temp_directory": str(scratch),
        **offline_settings(),
    }


def is_small(file: Path) -> bool:
    """Whether one thread does for what is to be read; whoever reads a file that is not there will say so."""
    try:
        return file.stat().st_size < _BYTES_FOR_ONE_THREAD
    except OSError:
        return True


def usable_threads() -> int:
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2, _MOST_THREADS)


def usable_memory_bytes() -> int:
    """The memory of the machine, or of the container where that allows less."""
    usable = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 4 << 30
    for path in _CGROUP_LIMITS:
        # "max" where there is no limit; no file where there are no such groups.
        with contextlib.suppress(OSError, ValueError):
            usable = min(usable, int(path.read_text()))
    return usable


def run_in_scratch(scratch: Path, file: Path, work: Callable[[Path, Settings], T], *, is_ample: bool = False) -> T:
    """What the work on that file gives, done in a private directory; with most of the memory where it ran short."""
    with private_directory(scratch) as directory:
        try:
            return work(directory, session_settings(directory / "spilled", file, is_ample=is_ample))
        except duckdb.Error as error:
            if is_ample or not is_short_of_memory(error):
                raise
    return run_in_scratch(scratch, file, work, is_ample=True)


def read_sql(package: str, name: str) -> str:
    """A file of statements that comes with a package, without its comments."""
    text = resources.files(package).joinpath(name).read_text(encoding="utf-8")
    return _COMMENT.sub(lambda match: match[0] if _NAME.match(match[0]) else "", text)


def read_statements(package: str, name: str) -> Mapping[str, str]:
    """Statements by the names that stand above them."""
    _, *parts = _NAME.split(read_sql(package, name))
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


def escape_glob(path: Path) -> str:
    """DuckDB reads `*`, `?` and `[` in a path as a pattern; a file may be called that."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


def first_line(error: Exception) -> str:
    """The sentence that says what happened, without the hints below it."""
    return str(error).partition("\n")[0].strip().rstrip(".")


def execute(
    connection: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, Any] | None = None
) -> duckdb.DuckDBPyConnection:
    """Executes as the connection does; a text that stays the same is parsed once in this process."""
    statements = _parsed.get(text)
    if statements is None:
        if len(_parsed) >= _MOST_PARSED:
            _parsed.clear()
        statements = _parsed[text] = connection.extract_statements(text)
    for statement in statements:
        connection.execute(statement, parameters)
    return connection


def fetch_all(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """All rows of the answer; where the usual memory does not do, with most of the machine's."""
    try:
        return execute(connection, query, parameters).fetchall()
    except duckdb.Error as error:
        if not is_short_of_memory(error):
            raise
    connection.execute(f"SET memory_limit = '{int(_LARGEST_SHARE * usable_memory_bytes()) >> 10}KiB'")
    return execute(connection, query, parameters).fetchall()


def is_short_of_memory(error: duckdb.Error) -> bool:
    """A commit that fails for it says so in its words only."""
    return isinstance(error, duckdb.OutOfMemoryException) or any(
        words in str(error).lower() for words in _WORDS_OF_MEMORY
    )


def is_beyond_repair(error: duckdb.Error) -> bool:
    """The file's fault, not the disk's or the memory's: making it anew helps."""
    return not is_short_of_memory(error) and not any(words in str(error).lower() for words in _FAULTS_OF_THE_DISK)
