"""Competitions for readers: which one is meant, and its board."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from mixseek.competition.sessions import Patience
from mixseek.competition.store import AggregationStore
from mixseek.competition.views.board import CompetitionLine, LeaderBoard, build_leader_board
from mixseek.domain.judgments import Reply
from mixseek.domain.rounds import Execution, ExecutionStatus
from mixseek.errors import ConfigurationError
from mixseek.evaluator.scores import usage_of
from mixseek.settings.race import JUDGMENT_NAME
from mixseek.storage.durable import write_page
from mixseek.storage.journal.journal import read_records
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.records import ReplyRecord, SampleRecord
from mixseek.storage.workspace import LATEST, Workspace, find_name

# A glance at the board can wait for a writer, who holds the file for moments.
_PATIENCE_SECONDS = 15.0


def load_leader_board(root: Path, name: str | None) -> LeaderBoard:
    """The execution of that name or prefix, or the one started last; also while it is being played."""
    return asyncio.run(_load(root, name))


async def _load(root: Path, name: str | None) -> LeaderBoard:
    with open_store(root) as store:
        execution = as_it_stands(root, find_execution(root, await store.executions(), name))
        progress = await store.progress(execution.execution_id)
        ranking = await store.ranking(execution.execution_id)
    judging = read_judging(journal_path(root, execution.execution_id))
    return build_leader_board(execution, ranking, progress, judging)


def is_competition(root: Path, name: str | None) -> bool:
    """Whether a competition is meant; a run where none is called so, and a run is, or there are only runs."""
    with open_store(root) as store:
        names = [execution.execution_id for execution in asyncio.run(store.executions())]
    runs = [run.name for run in Workspace(root).runs()]
    if name is None or name == LATEST:
        return bool(names) or not runs
    is_run = any(run.startswith(name) for run in runs) or (bool(runs) and not names)
    return any(competition.startswith(name) for competition in names) or not is_run


def open_store(root: Path) -> "closing[AggregationStore]":
    """Read-only, and waiting for whoever writes just now."""
    return closing(AggregationStore(root, read_only=True, patience=Patience(_PATIENCE_SECONDS)))


def as_it_stands(root: Path, execution: Execution) -> Execution:
    """A process that died could not say so: what nobody is playing any more is interrupted, not running."""
    if execution.status is not ExecutionStatus.RUNNING:
        return execution
    lock = journal_path(root, execution.execution_id).with_suffix(".lock")
    return execution if is_being_written(lock) else replace(execution, status=ExecutionStatus.INTERRUPTED)


def list_competitions(root: Path) -> tuple[CompetitionLine, ...]:
    """The one started last comes first; empty where nobody ever competed."""
    return asyncio.run(_list_competitions(root))


async def _list_competitions(root: Path) -> tuple[CompetitionLine, ...]:
    with open_store(root) as store:
        lines = []
        for stored in await store.executions():
            execution = as_it_stands(root, stored)
            name, started_at = execution.execution_id, execution.started_at.isoformat()
            teams, ranking = (await store.progress(name)).values(), await store.ranking(name)
            rounds = sum(len(team.rounds) for team in teams)
            leader, best = (ranking[0].team_name, ranking[0].best_score) if ranking else (None, None)
            lines.append(CompetitionLine(name, execution.status, len(teams), rounds, leader, best, started_at))
        return tuple(lines)


def journal_path(root: Path, execution_id: str) -> Path:
    """Where every reply of an execution is."""
    return root / "competitions" / execution_id / "journal.jsonl"


def read_judging(journal: Path) -> dict[str, dict[str, Any]]:
    """What the opinions on each team's progress took. The store keeps opinions, the journal what was paid for them."""
    teams: dict[str, str] = {}
    replies: dict[str, list[Reply]] = {}
    if not journal.is_file():
        return {}
    for record in read_records(journal):
        match record:
            case SampleRecord(key=key, sample=sample) if sample.id.endswith(f"/{JUDGMENT_NAME}"):
                teams[key] = sample.id.partition("/")[0]
            case ReplyRecord(key=key, reply=reply) if key in teams:
                replies.setdefault(teams[key], []).append(reply)
            case _:
                pass
    return {team: usage_of(paid) for team, paid in replies.items()}


def find_execution(root: Path, executions: Sequence[Execution], name: str | None) -> Execution:
    """Raises ConfigurationError with the names that are close, or with how to begin."""
    if not executions:
        raise ConfigurationError(f"{root}: no competitions here; start one with `mixseek compete`, or name --workspace")
    if name is None or name == LATEST:
        return executions[0]
    by_name = {execution.execution_id: execution for execution in executions}
    return by_name[find_name(name, list(by_name), root, "execution")]


def write_leader_board(board: LeaderBoard, path: Path) -> None:
    """One self-contained file, wholly there or not at all."""
    # Here and not above: a list of competitions is no page.
    from mixseek.competition.views.page import render_leader_board

    write_page(render_leader_board(board), path, "leaderboard.html")
