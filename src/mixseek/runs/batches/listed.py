"""Batches of all runs of a workspace, as their ledgers tell them; nobody is asked."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.batch_ledger import UNDER_WAY, BatchEntry, BatchLedger, Stage, read_ledger
from mixseek.storage.journal.lock import holding_lock
from mixseek.storage.workspace import ANSWERS, RunDirectory, Workspace

# Stages in which nobody can say whether anything was submitted.
_IN_DOUBT = frozenset({Stage.INTENDED, Stage.UPLOADED, Stage.ORPHANED})


@dataclass(frozen=True, slots=True)
class BatchLine:
    """One batch of one run, or of answers where `kind` says so."""

    kind: str
    run: str
    batch: str
    # The provider's own name for it; None where it never said one.
    id: str | None
    judge: str
    provider: str
    model: str
    stage: str
    # In the provider's own word.
    state: str
    requests: int
    began_at: datetime
    age_seconds: float
    # In a batch and at once, by estimates; then what the provider billed.
    estimated_usd: float | None
    live_usd: float | None
    cost_usd: float | None
    # Where its results are: a directory, or the run's journal.
    results: str | None
    reason: str
    is_under_way: bool
    # Whether nobody knows if it was submitted.
    is_in_doubt: bool


@dataclass(frozen=True, slots=True)
class BatchList:
    """All of them, the newest first, and what the command did to one of them."""

    batches: tuple[BatchLine, ...] = ()
    cancelled: str | None = None
    resubmitted: str | None = None


def rooms(workspace: Workspace) -> Iterator[tuple[str, RunDirectory]]:
    """Every run that may have left batches, with what it is called in a list."""
    yield from (("run", run) for run in workspace.runs())
    yield from ((ANSWERS, run) for run in workspace.answer_runs())


def list_batches(root: Path, now: datetime | None = None) -> tuple[BatchLine, ...]:
    """Raises StorageError for a ledger that cannot be read."""
    at = now or datetime.now(UTC)
    lines = [
        line_of(kind, run, entry, at) for kind, run in rooms(Workspace(root)) for entry in read_ledger(run.batches)
    ]
    return tuple(sorted(lines, key=lambda line: line.began_at, reverse=True))


def line_of(kind: str, run: RunDirectory, entry: BatchEntry, at: datetime) -> BatchLine:
    """A batch as a line of the list."""
    intent = entry.intent
    places = {Stage.ENDED: str(run.batch_files), Stage.COLLECTED: str(run.journal)}
    return BatchLine(
        kind=kind,
        run=run.name,
        batch=entry.name,
        # A file is called by its name, wherever it lies.
        id=intent.label if entry.id is not None and intent.wire == "files" else entry.id,
        judge=intent.judge,
        provider=intent.wire,
        model=intent.model,
        stage=entry.stage.value,
        state=entry.state,
        requests=len(intent.requests),
        began_at=entry.began_at,
        age_seconds=max(0.0, (at - entry.began_at).total_seconds()),
        estimated_usd=intent.expected_usd,
        live_usd=intent.live_usd,
        cost_usd=entry.cost_usd,
        results=places.get(entry.stage),
        reason=entry.reason,
        is_under_way=entry.stage in UNDER_WAY,
        is_in_doubt=entry.stage in _IN_DOUBT,
    )


def find_batch(root: Path, name: str) -> tuple[RunDirectory, BatchEntry]:
    """The one that is meant: by its provider's id, as RUN/NAME, or by its name where only one run has such."""
    matching = [
        (run, entry)
        for _, run in rooms(Workspace(root))
        for entry in read_ledger(run.batches)
        if name in (entry.id, entry.intent.label, entry.name, f"{run.name}/{entry.name}")
    ]
    if len(matching) == 1:
        return matching[0]
    if matching:
        names = ", ".join(f"{run.name}/{entry.name}" for run, entry in matching[:5])
        raise ConfigurationError(f"batch {name!r} could be {names}; write one of these")
    raise ConfigurationError(f"{root}: no batch {name!r}; `mixseek batches` lists them")


def free_requests(root: Path, name: str) -> str:
    """Gives a batch in doubt up: the next command submits its requests again. Returns its name.

    Raises ConfigurationError for one of which it is known what became of it, BusyError while its run is judged.
    """
    run, entry = find_batch(root, name)
    if entry.stage not in _IN_DOUBT:
        raise ConfigurationError(
            f"batch {name!r} is {entry.stage.value}: only one of which nobody knows whether it was submitted can be "
            "submitted again; --cancel stops one that is under way"
        )
    with holding_lock(run.lock):
        BatchLedger(run.batches).note(entry.name, Stage.WITHDRAWN, reason="given up by hand")
        (run.batch_files / f"{entry.name}.requests.jsonl").unlink(missing_ok=True)
    return f"{run.name}/{entry.name}"
