"""What a run came to as a whole, beside its index: lists of runs read it without opening, or loading, any DuckDB."""

import hmac
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path

import orjson

from mixseek.domain.judgments import Status
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import replacing, storage_error
from mixseek.storage.seal import seal_text
from mixseek.storage.workspace import RunDirectory
from mixseek.storage.workspace_key import find_workspace_key

_TOTALS = b"totals"


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


def write_totals(run: RunDirectory, totals: RunTotals, key: bytes) -> None:
    """Writes the totals for lists of runs, which open no index."""
    document = asdict(totals)
    sealed = {**document, "seal": seal_text(key, _TOTALS, orjson.dumps(document))}
    with replacing(run.totals) as stream:
        stream.write(orjson.dumps(sealed) + b"\n")


def read_totals(run: RunDirectory) -> RunTotals | None:
    """What was counted last, perhaps of a shorter journal; None where nothing was, or not by us."""
    key = find_workspace_key(run.workspace)
    try:
        document = orjson.loads(run.totals.read_bytes())
        seal = document.pop("seal")
        if key is None or not hmac.compare_digest(seal, seal_text(key, _TOTALS, orjson.dumps(document))):
            return None
        counts = {Status(name).value: int(count) for name, count in document["counts"].items()}
        return RunTotals(JournalState(**document["journal"]), counts, document["mean_score"], document["problem"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def stat_journal(journal: Path) -> JournalState:
    """Size and time of the last change."""
    try:
        status = journal.stat()
    except OSError as error:
        raise storage_error("read the journal", journal, error) from error
    return JournalState(status.st_size, status.st_mtime_ns)
