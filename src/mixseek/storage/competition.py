"""Competitions on disk: the truth of what was submitted, how it was scored and why it stopped (DESIGN §6)."""

import asyncio
import contextlib
import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from mixseek.domain.rounds import (
    BoardEntry,
    DecidedBy,
    Execution,
    ExecutionStatus,
    ImprovementJudgment,
    NoOpinion,
    Opinion,
    RankedTeam,
    RoundDecision,
    RoundKey,
    RoundProgress,
    StopReason,
    TeamProgress,
    check_name,
    check_round_number,
    check_score,
    rank_teams,
    to_utc,
)
from mixseek.errors import BusyError, ConfigurationError, StorageError
from mixseek.storage.duckdb_session import (
    confine,
    first_line,
    open_duckdb,
    quoted,
    read_sql,
    read_statements,
    session_settings,
)
from mixseek.storage.durable import storage_error
from mixseek.storage.journal.records import replace_surrogates

# One thread in front of one connection, which is open only while there is something to read or write.

# Tables of the competitions' store, grown by numbered migrations: what is in a file of a user is never thrown away.

# Applied in order, each once; never edit one that has been released, append the next.
MIGRATIONS = (read_sql("mixseek.storage", "competition_migration_1.sql"),)


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
        """After everything that waits has been done."""
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

# Rows of the competitions' store as the values of `domain.rounds`, and back.


def plain_json(value: Mapping[str, Any]) -> str:
    """Canonical, so that equal mappings are equal texts; raises ValueError for NaN, TypeError for what is not JSON."""
    return replace_surrogates(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True))


def stored_time(moment: datetime) -> datetime:
    """UTC, as the column has it; raises ValueError for a time without a zone."""
    return to_utc(moment).replace(tzinfo=None)


def read_cell(kind: Callable[[Any], Value], cell: Any) -> Value | None:
    """None where the column is null."""
    return None if cell is None else kind(cell)


def read_time(stored: datetime) -> datetime:
    """The same with its zone."""
    return stored.replace(tzinfo=UTC)


def opinion_columns(opinion: Opinion | None) -> dict[str, Any]:
    """All four are null where nobody was asked."""
    columns: dict[str, Any] = dict.fromkeys(("should_continue", "reasoning", "confidence_score", "no_opinion_reason"))
    match opinion:
        case ImprovementJudgment():
            columns["should_continue"] = opinion.should_continue
            columns["reasoning"] = replace_surrogates(opinion.reasoning)
            columns["confidence_score"] = float(opinion.confidence_score)
        case NoOpinion():
            columns["no_opinion_reason"] = replace_surrogates(opinion.reason)
    return columns


def read_execution(row: tuple[Any, ...]) -> Execution:
    """From a row of `executions`."""
    name, task, configuration, status, started_at, ended_at = row
    times = read_time(started_at), read_cell(read_time, ended_at)
    return Execution(name, task, json.loads(configuration), ExecutionStatus(status), *times)


def read_round(row: Sequence[Any]) -> RoundProgress:
    """From a row of `rounds` without its first two columns."""
    number, submission, usage, submitted_at, score, details, evaluated_at, *judged = row
    should_continue, reasoning, confidence, no_opinion_reason, continues, stop_reason, decided_by, decided_at = judged
    opinion: Opinion | None = None
    if no_opinion_reason is not None:
        opinion = NoOpinion(no_opinion_reason)
    elif should_continue is not None:
        opinion = ImprovementJudgment(should_continue, reasoning, confidence)
    decision = None
    if continues is not None:
        decision = RoundDecision(continues, read_cell(StopReason, stop_reason), DecidedBy(decided_by))
    return RoundProgress(
        number,
        submission,
        json.loads(usage),
        read_time(submitted_at),
        score,
        json.loads(details or "{}"),
        read_cell(read_time, evaluated_at),
        opinion,
        decision,
        read_cell(read_time, decided_at),
    )


def read_progress(rounds: Iterable[tuple[Any, ...]], endings: Iterable[tuple[Any, ...]]) -> dict[str, TeamProgress]:
    """By team id; `rounds` come in order. A team that never submitted is known by how it ended."""
    names: dict[str, str] = {}
    played: dict[str, list[RoundProgress]] = {}
    for team_id, team_name, *row in rounds:
        names[team_id] = team_name
        played.setdefault(team_id, []).append(read_round(row))
    ended = {team_id: tuple(ending) for team_id, *ending in endings}
    teams = {}
    for team_id in sorted(played.keys() | ended.keys()):
        name, reason, message, finished_at = ended.get(team_id, (None, None, "", None))
        end = read_cell(StopReason, reason), message, read_cell(read_time, finished_at)
        own = tuple(played.get(team_id, ()))
        teams[team_id] = TeamProgress(team_id, names.get(team_id) or name or team_id, own, *end)
    return teams


# Apart from the index of runs: that one may be thrown away at any time, this one never.
COMPETITIONS_FILE = "competitions.duckdb"
_SQL = read_statements("mixseek.storage", "competition.sql")

# Each with the execution's name in it; no foreign keys tie them.
_TABLES = ("leader_board", "round_status", "team_endings", "executions")

Connection = duckdb.DuckDBPyConnection


class AggregationStore:
    """`domain.rounds.ExecutionStore` and `LeaderBoardReader` on DuckDB; `read_only` makes and changes no file."""

    def __init__(self, workspace: Path, *, read_only: bool = False, patience: Patience | None = None) -> None:
        self.path = workspace / COMPETITIONS_FILE
        self._is_absent_fine = read_only
        self._worker = Worker(self.path, read_only=read_only, patience=patience or Patience())

    def close(self) -> None:
        """Waits for what is being written."""
        self._worker.close()

    async def begin_execution(
        self, execution_id: str, task: str, configuration: Mapping[str, Any], started_at: datetime
    ) -> None:
        """A finished execution stays finished; any other is running again."""
        check_name(execution_id, "execution_id")
        given = replace_surrogates(task), plain_json(configuration)
        running = {"execution": execution_id, "running": ExecutionStatus.RUNNING.value}
        row = {**running, "task": given[0], "configuration": given[1], "at": stored_time(started_at)}

        def begin(connection: Connection) -> None:
            known = connection.execute(_SQL["request"], {"execution": execution_id}).fetchone()
            if known is None:
                connection.execute(_SQL["begin"], row)
                return
            refuse_other_request(execution_id, known, given)
            connection.execute(_SQL["begin_again"], {**running, "finished": ExecutionStatus.FINISHED.value})

        await self._worker.run(begin)

    async def remove_execution(self, execution_id: str, *, unless_played: bool = False) -> bool:
        """All that is stored of it, or none; False where it was not there, or is kept because it holds a round."""
        where = {"execution": execution_id}

        def remove(connection: Connection) -> bool:
            is_played = connection.execute(_SQL["has_rounds"], where).fetchone() is not None
            is_there = connection.execute(_SQL["request"], where).fetchone() is not None
            if not is_there or (unless_played and is_played):
                return False
            for table in _TABLES:
                connection.execute(_SQL["forget"].format(table=table), where)
            return True

        return await self._worker.run(remove)

    async def rename_execution(self, execution_id: str, name: str) -> None:
        """Under its new name wholly, or not at all; raises StorageError where there is none, or the name is taken."""
        where = {"execution": execution_id, "name": name}

        def rename(connection: Connection) -> None:
            self._require_execution(connection, execution_id)
            for table in _TABLES:
                connection.execute(_SQL["rename_execution"].format(table=table), where)

        await self._worker.run(rename)

    async def save_submission(
        self, key: RoundKey, team_name: str, text: str, usage: Mapping[str, Any], at: datetime
    ) -> None:
        """A team that comes under a new name keeps its rounds, and all of them are shown under the new name."""
        check_name(key.team, "team_id")
        check_round_number(key.round)
        where, text = key._asdict(), replace_surrogates(text)
        named = {"execution": key.execution, "team": key.team, "name": replace_surrogates(team_name)}
        told = {"submission": text, "usage": plain_json(usage), "at": stored_time(at)}

        def save(connection: Connection) -> None:
            self._require_execution(connection, key.execution)
            known = connection.execute(_SQL["submission"], where).fetchone()
            if known is None:
                connection.execute(_SQL["submit"], {**where, **named, **told})
            elif known[0] != text:
                raise self._refusal(key, "holds another submission, which is kept; resume with what is stored")
            connection.execute(_SQL["rename"], named)

        await self._worker.run(save)

    async def save_evaluation(
        self, key: RoundKey, score: float | None, details: Mapping[str, Any], at: datetime
    ) -> None:
        """Refuses a second score for a round: it is evaluated once, however often it is resumed."""
        where, number, document = key._asdict(), read_cell(check_score, score), plain_json(details)
        row = {**where, "score": number, "details": document, "at": stored_time(at)}

        def save(connection: Connection) -> None:
            known = connection.execute(_SQL["evaluation"], where).fetchone()
            if known is None:
                raise self._refusal(key, "holds no submission; store it before its evaluation")
            if known[0] is not None:
                if known[:2] != (number, document):
                    raise self._refusal(key, "has been evaluated already, with another result, which is kept")
                return
            connection.execute(_SQL["evaluate"], row)

        await self._worker.run(save)

    async def save_decision(
        self, key: RoundKey, opinion: Opinion | None, decision: RoundDecision, at: datetime
    ) -> None:
        """The last one holds: a resumed execution may ask a judge again who was out."""
        where = key._asdict()
        row = {
            **where,
            **opinion_columns(opinion),
            "continues": decision.continues,
            "stop_reason": decision.stop_reason,
            "decided_by": decision.decided_by.value,
            "at": stored_time(at),
        }

        def save(connection: Connection) -> None:
            known = connection.execute(_SQL["evaluation"], where).fetchone()
            if known is None or known[2] is None:
                raise self._refusal(key, "has not been evaluated; store its evaluation before the decision")
            connection.execute(_SQL["decide"], row)

        await self._worker.run(save)

    async def finish_team(
        self,
        execution_id: str,
        team_id: str,
        stop_reason: StopReason,
        message: str,
        at: datetime,
        *,
        team_name: str | None = None,
    ) -> None:
        """How a team ended; the last word holds."""
        check_name(team_id, "team_id")
        ending = {"reason": stop_reason.value, "message": replace_surrogates(message), "at": stored_time(at)}
        name = read_cell(replace_surrogates, team_name)
        await self._finish("end_team", {"execution": execution_id, "team": team_id, "name": name, **ending})

    async def finish_execution(self, execution_id: str, status: ExecutionStatus, at: datetime) -> None:
        """How the whole ended."""
        await self._finish("finish", {"execution": execution_id, "status": status.value, "at": stored_time(at)})

    async def _finish(self, statement: str, row: Mapping[str, Any]) -> None:
        def finish(connection: Connection) -> None:
            self._require_execution(connection, row["execution"])
            connection.execute(_SQL[statement], row)

        await self._worker.run(finish)

    async def ranking(self, execution_id: str) -> Sequence[RankedTeam]:
        """Ordered by `rank_teams`, here as everywhere."""
        (rows,) = await self._rows(["board"], {"execution": execution_id})
        return rank_teams(BoardEntry(*row) for row in rows)

    async def progress(self, execution_id: str) -> Mapping[str, TeamProgress]:
        """Everything that is known about the teams of an execution, as it was at one moment."""
        rounds, endings = await self._rows(["rounds", "endings"], {"execution": execution_id})
        return read_progress(rounds, endings)

    async def executions(self) -> Sequence[Execution]:
        """The one started last comes first."""
        (rows,) = await self._rows(["executions"], {})
        return [read_execution(row) for row in rows]

    async def _rows(self, names: Sequence[str], parameters: Mapping[str, Any]) -> list[list[tuple[Any, ...]]]:
        """Of each query in turn, within one transaction."""

        def read(connection: Connection) -> list[list[tuple[Any, ...]]]:
            # A process that was killed while it made the file leaves one without tables.
            if read_version(connection) == 0:
                return [[] for _ in names]
            return [connection.execute(_SQL[name], parameters).fetchall() for name in names]

        is_absent = self._is_absent_fine and not self.path.is_file()
        return [[] for _ in names] if is_absent else await self._worker.run(read)

    def _require_execution(self, connection: Connection, execution_id: str) -> None:
        known = connection.execute(_SQL["request"], {"execution": execution_id}).fetchone()
        if known is None:
            raise StorageError(f"{self.path}: execution {execution_id!r} has not begun; begin it before storing rounds")

    def _refusal(self, key: RoundKey, why: str) -> StorageError:
        return StorageError(f"{self.path}: execution {key.execution!r}: round {key.round} of team {key.team!r} {why}")


def refuse_other_request(execution_id: str, known: tuple[Any, ...], given: tuple[str, str]) -> None:
    """Raises ConfigurationError unless task and configuration are what the execution was begun with."""
    if known == given:
        return
    stored, wanted = json.loads(known[1]), json.loads(given[1])
    keys = sorted(name for name in stored.keys() | wanted.keys() if stored.get(name) != wanted.get(name))
    what = ", ".join(["the task"] * (known[0] != given[0]) + keys)
    raise ConfigurationError(
        f"execution {execution_id!r} was begun with another configuration (different: {what}); "
        "use what it was begun with, or choose another execution name"
    )
