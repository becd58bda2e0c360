"""What a run has left with providers, event by event: on disk before the request leaves, and after its answer.

A process may die between any two events. What the file says then is enough to find the batch again, or to know that
there can be none.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from mixseek.errors import StorageError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import storage_error, sync_directory


class Stage(StrEnum):
    """How far a batch has come; the event that brings it there has the same name."""

    # Its requests are on disk, and may be on their way from now on.
    INTENDED = "intended"
    # The provider has its file; of some providers, nothing can have been submitted before.
    UPLOADED = "uploaded"
    # The provider has said what it calls it.
    SUBMITTED = "submitted"
    # Its results are on disk.
    ENDED = "ended"
    # Every request in it has its reply in the journal, or is in another batch, or is given up.
    COLLECTED = "collected"
    # It was never submitted: its requests are free again.
    WITHDRAWN = "withdrawn"
    # The provider has refused it as a whole, or has lost it.
    DROPPED = "dropped"
    # Nobody knows whether it was submitted, and its provider cannot be asked: a person has to say.
    ORPHANED = "orphaned"


# Its requests are not to be asked again meanwhile.
UNDER_WAY = frozenset({Stage.INTENDED, Stage.UPLOADED, Stage.SUBMITTED, Stage.ORPHANED})
# Whether anything may have been paid for it.
PERHAPS_PAID = UNDER_WAY | {Stage.ENDED, Stage.COLLECTED}


class Intent(NamedTuple):
    """What is about to be submitted."""

    name: str
    # How the provider is to know it, where it keeps such names.
    label: str
    judge: str
    wire: str
    model: str
    base_url: str
    # Tells two keys apart, and says nothing of either.
    account: str
    # The ids of its requests, in the order of the file, and the file's digest.
    requests: tuple[str, ...]
    sha256: str
    bytes: int
    tokens: int
    expected_usd: float | None
    live_usd: float | None


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """One batch, after all of its events."""

    intent: Intent
    stage: Stage
    # When it was intended, and when anything was last heard of it.
    began_at: datetime
    told_at: datetime
    id: str | None = None
    upload: str | None = None
    # The provider's own word, and its counts.
    state: str = ""
    counts: Mapping[str, int] | None = None
    # Result files, in the directory of the run's batches.
    results: tuple[str, ...] = ()
    reason: str = ""
    code: str = ""
    # What its results were billed at; None before they are here, or where nobody knows a price.
    cost_usd: float | None = None
    # Of these, what was billed for answers that nobody can read: requests, tokens in and out, US dollars.
    lost: tuple[int, int, int, float] = (0, 0, 0, 0.0)
    # How often in a row the provider did not know it.
    missed: int = 0
    # Whether it was found by its size and time alone, and may be somebody else's.
    is_guess: bool = False

    @property
    def name(self) -> str:
        return self.intent.name


class BatchLedger:
    """The file and what it says; one process writes it, the one that holds the run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        _cut_torn_end(path)
        self._entries = {entry.name: entry for entry in read_ledger(path)}

    def entries(self, *stages: Stage) -> list[BatchEntry]:
        """Those at these stages, or all, in the order in which they were intended."""
        return [entry for entry in self._entries.values() if not stages or entry.stage in stages]

    def entry(self, name: str) -> BatchEntry:
        return self._entries[name]

    def next_name(self) -> str:
        """Free in this run."""
        return f"b{len(self._entries) + 1:04d}"

    def intend(self, intent: Intent) -> BatchEntry:
        """The first event of a batch, before anything leaves this machine."""
        return self._write({"event": Stage.INTENDED, "batch": intent.name, **intent._asdict()})

    def note(self, name: str, stage: Stage, **details: Any) -> BatchEntry:
        """What has become of it."""
        return self._write({"event": stage, "batch": name, **details})

    def _write(self, event: Mapping[str, Any]) -> BatchEntry:
        event = {**event, "at": datetime.now(UTC).isoformat()}
        line = orjson.dumps(event) + b"\n"
        is_new = not self.path.exists()
        try:
            with self.path.open("ab") as stream:
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise storage_error("note a batch", self.path, error) from error
        if is_new:
            sync_directory(self.path.parent)
        name = str(event["batch"])
        self._entries[name] = _followed(self._entries.get(name), event)
        return self._entries[name]


def read_ledger(path: Path) -> list[BatchEntry]:
    """Every batch of a run; none where it left none. Half a line at the end was never acted upon."""
    entries: dict[str, BatchEntry] = {}
    for number, event in enumerate(_events(path), start=1):
        try:
            name = str(event["batch"])
            entries[name] = _followed(entries.get(name), event)
        except (KeyError, TypeError, ValueError) as error:
            raise StorageError(f"{path}: event {number} cannot be read ({error}); restore it from a copy") from error
    return list(entries.values())


def _cut_torn_end(path: Path) -> None:
    """So that the next event begins a line of its own."""
    try:
        data = path.read_bytes() if path.exists() else b""
        if data and not data.endswith(b"\n"):
            os.truncate(path, data.rfind(b"\n") + 1)
    except OSError as error:
        raise storage_error("repair the end of", path, error) from error


def _events(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error("read", path, error) from error
    *lines, _torn = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise StorageError(f"{path}: line {number} is no event of a batch; restore it from a copy") from error


def _followed(before: BatchEntry | None, event: Mapping[str, Any]) -> BatchEntry:
    stage, at = Stage(event["event"]), datetime.fromisoformat(event["at"])
    if before is None:
        given = {field: event[field] for field in Intent._fields}
        return BatchEntry(Intent(**given | {"requests": tuple(given["requests"])}), stage, at, at)
    return BatchEntry(
        intent=before.intent,
        stage=stage,
        began_at=before.began_at,
        told_at=at,
        id=event.get("id", before.id),
        upload=event.get("upload", before.upload),
        state=event.get("state", before.state),
        counts=event.get("counts", before.counts),
        results=tuple(event.get("results", before.results)),
        reason=event.get("reason", before.reason),
        code=event.get("code", before.code),
        cost_usd=event.get("cost_usd", before.cost_usd),
        lost=tuple(event.get("lost", before.lost)),
        missed=event.get("missed", before.missed),
        is_guess=event.get("is_guess", before.is_guess),
    )
