"""Rows of the competitions' store as the values of `domain.rounds`, and back."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

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
from mixseek.storage.records import replace_surrogates

EXECUTION_COLUMNS = "execution_id, task, configuration, status, started_at, ended_at"
ROUND_COLUMNS = """board.team_id, board.team_name, board.round_number, board.submission, board.usage,
    board.submitted_at, board.score, board.details, board.evaluated_at,
    status.should_continue, status.reasoning, status.confidence_score, status.no_opinion_reason,
    status.continues, status.stop_reason, status.decided_by, status.decided_at"""


def plain_text(text: str) -> str:
    """As the database can hold it: half a character has no UTF-8."""
    return replace_surrogates(text)


def plain_json(value: Mapping[str, Any]) -> str:
    """Canonical, so that equal mappings are equal texts; raises ValueError for NaN, TypeError for what is not JSON."""
    return plain_text(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True))


def stored_time(moment: datetime) -> datetime:
    """UTC, as the column has it; raises ValueError for a time without a zone."""
    return to_utc(moment).replace(tzinfo=None)


def read_time(stored: datetime | None) -> datetime | None:
    """The same with its zone."""
    return None if stored is None else stored.replace(tzinfo=UTC)


def known_time(stored: datetime) -> datetime:
    """For columns that are never null."""
    return stored.replace(tzinfo=UTC)


def opinion_columns(opinion: Opinion | None) -> dict[str, Any]:
    """All four are null where nobody was asked."""
    columns: dict[str, Any] = dict.fromkeys(("should_continue", "reasoning", "confidence_score", "no_opinion_reason"))
    match opinion:
        case None:
            pass
        case ImprovementJudgment():
            columns["should_continue"] = opinion.should_continue
            columns["reasoning"] = plain_text(opinion.reasoning)
            columns["confidence_score"] = float(opinion.confidence_score)
        case NoOpinion():
            columns["no_opinion_reason"] = plain_text(opinion.reason)
    return columns


def read_execution(row: tuple[Any, ...]) -> Execution:
    """From a row of EXECUTION_COLUMNS."""
    execution_id, task, configuration, status, started_at, ended_at = row
    return Execution(
        execution_id,
        task,
        json.loads(configuration),
        ExecutionStatus(status),
        known_time(started_at),
        read_time(ended_at),
    )


def read_round(row: tuple[Any, ...]) -> RoundProgress:
    """From a row of ROUND_COLUMNS without its first two."""
    number, submission, usage, submitted_at, score, details, evaluated_at, *judged = row
    should_continue, reasoning, confidence, no_opinion_reason, continues, stop_reason, decided_by, decided_at = judged
    opinion: Opinion | None = None
    if no_opinion_reason is not None:
        opinion = NoOpinion(no_opinion_reason)
    elif should_continue is not None:
        opinion = ImprovementJudgment(should_continue, reasoning, confidence)
    decision = None
    if continues is not None:
        decision = RoundDecision(
            continues, None if stop_reason is None else StopReason(stop_reason), DecidedBy(decided_by)
        )
    return RoundProgress(
        number,
        submission,
        json.loads(usage),
        known_time(submitted_at),
        score,
        {} if details is None else json.loads(details),
        read_time(evaluated_at),
        opinion,
        decision,
        read_time(decided_at),
    )


def read_progress(rounds: Iterable[tuple[Any, ...]], endings: Iterable[tuple[Any, ...]]) -> dict[str, TeamProgress]:
    """By team id; `rounds` come in order. A team that never submitted is known by how it ended."""
    names: dict[str, str] = {}
    played: dict[str, list[RoundProgress]] = {}
    for team_id, team_name, *row in rounds:
        names[team_id] = team_name
        played.setdefault(team_id, []).append(read_round(tuple(row)))
    ended = {team_id: tuple(ending) for team_id, *ending in endings}
    teams = {}
    for team_id in sorted(played.keys() | ended.keys()):
        name, reason, message, finished_at = ended.get(team_id, (None, None, "", None))
        teams[team_id] = TeamProgress(
            team_id,
            names.get(team_id) or name or team_id,
            tuple(played.get(team_id, ())),
            None if reason is None else StopReason(reason),
            message,
            read_time(finished_at),
        )
    return teams
