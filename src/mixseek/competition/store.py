"""Competitions on disk: the truth of what was submitted, how it was scored and why it stopped (DESIGN §6)."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from mixseek.competition.rows import opinion_columns, plain_json, read_cell, read_execution, read_progress, stored_time
from mixseek.competition.sessions import Patience, Worker
from mixseek.competition.tables import read_version
from mixseek.domain.rounds import (
    BoardEntry,
    Execution,
    ExecutionStatus,
    Opinion,
    RankedTeam,
    RoundDecision,
    RoundKey,
    StopReason,
    TeamProgress,
    check_name,
    check_round_number,
    check_score,
    counts_as_self_judged,
    rank_teams,
)
from mixseek.errors import ConfigurationError, StorageError
from mixseek.storage.duckdb_session import read_statements
from mixseek.storage.journal.records import replace_surrogates
from mixseek.storage.workspace import Workspace

_SQL = read_statements("mixseek.storage", "competition.sql")
# Each with the execution's name in it; no foreign keys tie them.
_TABLES = ("leader_board", "round_status", "team_endings", "executions")
Connection = duckdb.DuckDBPyConnection


class AggregationStore:
    """`domain.rounds.ExecutionStore` and `LeaderBoardReader` on DuckDB; `read_only` makes and changes no file."""

    def __init__(self, workspace: Path, *, read_only: bool = False, patience: Patience | None = None) -> None:
        self.path = Workspace(workspace).competitions
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
        begun_with = replace_surrogates(task), plain_json(configuration)
        running = {"execution": execution_id, "running": ExecutionStatus.RUNNING.value}
        row = {**running, "task": begun_with[0], "configuration": begun_with[1], "at": stored_time(started_at)}

        def begin(connection: Connection) -> None:
            known = connection.execute(_SQL["request"], {"execution": execution_id}).fetchone()
            if known is None:
                connection.execute(_SQL["begin"], row)
                return
            refuse_other_request(execution_id, known, begun_with)
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
        """Renames it wholly, or not at all; raises StorageError where there is none, or the name is taken."""
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
        fields = {"submission": text, "usage": plain_json(usage), "at": stored_time(at)}

        def save(connection: Connection) -> None:
            self._require_execution(connection, key.execution)
            known = connection.execute(_SQL["submission"], where).fetchone()
            if known is None:
                connection.execute(_SQL["submit"], {**where, **named, **fields})
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
        return rank_teams(
            BoardEntry(team_id, team_name, round_number, score, counts_as_self_judged(methods or ()))
            for team_id, team_name, round_number, score, methods in rows
        )

    async def progress(self, execution_id: str) -> Mapping[str, TeamProgress]:
        """Everything that is known about the teams of an execution, as it was at one moment."""
        rounds, endings = await self._rows(["rounds", "endings"], {"execution": execution_id})
        return read_progress(rounds, endings)

    async def executions(self) -> Sequence[Execution]:
        """The one started last comes first."""
        (rows,) = await self._rows(["executions"], {})
        return [read_execution(row) for row in rows]

    async def _rows(self, names: Sequence[str], parameters: Mapping[str, Any]) -> list[list[tuple[Any, ...]]]:
        """The rows of each query in turn, within one transaction."""

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


def refuse_other_request(execution_id: str, known: tuple[Any, ...], begun_with: tuple[str, str]) -> None:
    """Raises ConfigurationError unless task and configuration are what the execution was begun with."""
    if known == begun_with:
        return
    stored, wanted = json.loads(known[1]), json.loads(begun_with[1])
    keys = sorted(name for name in stored.keys() | wanted.keys() if stored.get(name) != wanted.get(name))
    what = ", ".join(["the task"] * (known[0] != begun_with[0]) + keys)
    raise ConfigurationError(
        f"execution {execution_id!r} was begun with another configuration (different: {what}); "
        "use what it was begun with, or choose another execution name"
    )
