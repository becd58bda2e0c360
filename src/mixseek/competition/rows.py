"""Rows of the competitions' store as the values of `domain.rounds`, and back."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mixseek.competition.sessions import Value
from mixseek.domain.rounds import (
    DecidedBy,
    Execution,
    ExecutionStatus,
    ImprovementJudgment,
    NoOpinion,
    Opinion,
    RoundDecision,
    RoundProgress,
    StopReason,
    TeamProgress,
    to_utc,
)
from mixseek.storage.journal.records import replace_surrogates


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
    """The execution in a row of `executions`."""
    name, task, configuration, status, started_at, ended_at = row
    times = read_time(started_at), read_cell(read_time, ended_at)
    return Execution(name, task, json.loads(configuration), ExecutionStatus(status), *times)


def read_round(row: Sequence[Any]) -> RoundProgress:
    """The round in a row of `rounds` without its first two columns."""
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
    """Progress by team id; `rounds` come in order. A team that never submitted is known by how it ended."""
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
        team_rounds = tuple(played.get(team_id, ()))
        teams[team_id] = TeamProgress(team_id, names.get(team_id) or name or team_id, team_rounds, *end)
    return teams
