"""Samples, outcomes and runs that the storage tests share."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import orjson

from mixseek.domain.counts import OutcomeCount
from mixseek.domain.judgments import (
    Finding,
    Flag,
    InvalidJudgment,
    Method,
    Missing,
    Outcome,
    Reply,
    Span,
    Status,
    Undecided,
    ValidJudgment,
)
from mixseek.domain.samples import Sample
from mixseek.index.run import RunIndex
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.manifest import JudgeEntry, Manifest, ProtocolEntry, RunStatus, write_manifest
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample
from mixseek.storage.workspace import RunDirectory, Workspace

NOW = datetime(2026, 3, 1, 9, 12, tzinfo=UTC)
CORRECT = ValidJudgment(
    score=1.0,
    verdict="correct",
    fields={
        "is_correct": True,
        "extracted_answer": "B",
        "reasoning_score": None,
        "error_type": "none",
        "comment": "letter matched",
    },
    method=Method.RULES,
    span=Span(14, 15),
    rules=("answer_is", "option_letter"),
)
INCORRECT = ValidJudgment(
    score=0.0,
    verdict="incorrect",
    fields={
        "is_correct": False,
        "extracted_answer": "C",
        "reasoning_score": 2,
        "error_type": "wrong_logic",
        "comment": "another letter",
    },
    method=Method.CROSS_JUDGE,
    rules=("answer_is", "option_letter"),
    repairs=("code_fence",),
)
SCORED = ValidJudgment(
    score=0.875,
    verdict="PASS",
    fields={
        "scores": {"FORMAT": 2, "COMPLETENESS": 1.5},
        "maxima": {"FORMAT": 2, "COMPLETENESS": 2},
        "total": 3.5,
        "total_maximum": 4,
        "confidence": "medium",
        "critical_fail": False,
        "same_family": True,
        "comment": ["not", "text"],
        "reply": {"scores": {"FORMAT": 2, "COMPLETENESS": 1.5}, "verdict": "PASS"},
    },
    method=Method.CROSS_JUDGE,
)
INVALID = InvalidJudgment(
    findings=(
        Finding(Flag.UNPARSABLE_OUTPUT, "no JSON object in the reply"),
        Finding(Flag.INCOMPLETE_COVERAGE, "comment is absent"),
    ),
    repairs=("think_block",),
)
UNDECIDED = Undecided("two answers", ("final_line",), Span(0, 3), "B or C")
MISSING = Missing("no recorded reply")
# One of each end a sample can come to, and both directions of a valid one.
OUTCOMES: tuple[Outcome, ...] = (CORRECT, INCORRECT, INVALID, UNDECIDED, MISSING)


def make_sample(number: int, **changes: Any) -> Sample:
    """A sample of its own for each number."""
    fields: dict[str, Any] = {
        "id": f"s{number}",
        "response": f"The answer is B ({number}).",
        "question": f"Which one? {number}",
        "ground_truth": "(B)",
        "task_name": f"task_{number % 2}",
    }
    return Sample(**{**fields, **changes})


def judged_lines(sample: Sample, outcomes: dict[str, Outcome], reply: str | None = None) -> list[bytes]:
    """What the engine writes for one sample: the sample, then reply and outcome of each judge."""
    key = sample.key()
    lines = [encode_sample(sample, key)]
    for judge, outcome in outcomes.items():
        if reply is not None:
            lines.append(encode_reply(key, Reply(reply, judge, details={"latency_ms": 3})))
        lines.append(encode_outcome(sample, key, judge, outcome))
    return lines


def make_manifest(judges: Sequence[str] = ("rules",), **changes: Any) -> Manifest:
    """A manifest with everything that must be there."""
    fields: dict[str, Any] = {
        "run": "trial",
        "status": RunStatus.RUNNING,
        "created_at": NOW,
        "started_at": NOW,
        "dataset": {"path": "answers.jsonl", "sha256": "ab" * 32},
        "sample_count": 3,
        "protocol": ProtocolEntry(name="semantic", version="1", language="en", hash="cd" * 32),
        "judges": tuple(JudgeEntry(name=name, kind="rules") for name in judges),
    }
    return Manifest(**{**fields, **changes})


def make_run(
    root: Path,
    lines: Iterable[bytes],
    judges: Sequence[str] = ("rules",),
    *,
    cascade: bool = False,
    name: str = "trial",
) -> tuple[Workspace, RunDirectory]:
    """A workspace with one run in it."""
    workspace = Workspace(root)
    run = workspace.run(name)
    run.create()
    write_manifest(run.manifest, make_manifest(judges, run=name, cascade=cascade))
    with JournalFile(run.journal) as journal:
        journal.append(lines)
    return workspace, run


def append_lines(run: RunDirectory, lines: Iterable[bytes]) -> None:
    """What a resumed run adds."""
    with JournalFile(run.journal) as journal:
        journal.append(lines)


def write_jsonl(path: Path, *rows: Any) -> Path:
    """A dataset of the given JSON values."""
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def write_parquet(path: Path, query: str) -> Path:
    """A dataset made by DuckDB."""
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


class JudgeTotals(NamedTuple):
    """How one judge's samples ended; `mean_score` is over valid ones, None where there are none."""

    judge: str
    valid: int
    invalid: int
    undecided: int
    missing: int
    mean_score: float | None


def totals_of(index: RunIndex) -> list[JudgeTotals]:
    """In the order of the judges; a model on its own output apart."""
    cells = [cell for cell in index.counts(OutcomeCount, final_only=False) if not cell.is_control]
    found = []
    for judge in dict.fromkeys(cell.judge for cell in cells):
        own = [cell for cell in cells if cell.judge == judge]
        valid, invalid, undecided, missing = (
            sum(cell.count for cell in own if cell.status is status)
            for status in (Status.VALID, Status.INVALID, Status.UNDECIDED, Status.MISSING)
        )
        mean = sum(cell.score_total for cell in own) / valid if valid else None
        found.append(JudgeTotals(judge, valid, invalid, undecided, missing, mean))
    return found
