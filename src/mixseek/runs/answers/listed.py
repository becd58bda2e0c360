"""The answer runs of a workspace in a line each, by their manifests and what is kept beside them, no journal."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from mixseek.datasets.answer_runs import FAILED, OPEN, STATES
from mixseek.domain.response_states import ResponseState
from mixseek.errors import StorageError
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.answers.cells import Cells
from mixseek.runs.answers.kept_account import read_account
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One answer run; counts are of its journal as it is, or of when it was last ended; None where there are none."""

    name: str
    questions: str = ""
    targets: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    planned: int = 0
    answered: int | None = None
    cut_off: int | None = None
    without_answer: int | None = None
    # Of how many questions, how often at most, and what came: by how it ended, and the known part of what it cost.
    question_count: int = 0
    repeats: int = 1
    ends: Mapping[str, int] | None = None
    calls: int | None = None
    unpriced: int | None = None
    cost_usd: float | None = None
    started_at: str | None = None
    is_complete: bool = False
    is_running: bool = False
    # Why its manifest cannot be read.
    problem: str | None = None


def list_answers(root: Path) -> list[AnswerLine]:
    """A line for each, the newest first."""
    lines = [describe_answers(run) for run in Workspace(root).answer_runs()]
    return sorted(lines, key=lambda line: (line.started_at or "", line.name), reverse=True)


def describe_answers(run: RunDirectory) -> AnswerLine:
    try:
        manifest = read_manifest(run.manifest)
    except StorageError as error:
        return AnswerLine(run.name, problem=str(error))
    cells = Cells.of_manifest(manifest).cells.values()
    account = read_account(run)
    ends = account.states if account is not None else counted_ends(manifest)

    def total(*states: str) -> int | None:
        return None if ends is None else sum(ends.get(state, 0) for state in states)

    return AnswerLine(
        run.name,
        str(manifest.dataset.get("path", "")),
        tuple(dict.fromkeys(cell.target for cell in cells)),
        tuple(dict.fromkeys(cell.variant for cell in cells)),
        sum(cell.planned for cell in cells),
        answered=total(ResponseState.FINISHED, ResponseState.CUT_OFF),
        cut_off=total(ResponseState.CUT_OFF),
        without_answer=total(ResponseState.WITHHELD, ResponseState.EMPTY, FAILED),
        question_count=max((cell.questions for cell in cells), default=0),
        repeats=max((cell.repeats for cell in cells), default=1),
        ends=ends,
        calls=account.calls if account is not None else None,
        unpriced=account.unpriced if account is not None else None,
        cost_usd=account.cost_usd if account is not None and account.calls > account.unpriced else None,
        started_at=manifest.started_at.isoformat(),
        is_complete=manifest.has_ended and not total(OPEN),
        is_running=is_being_written(run.lock),
    )


def counted_ends(manifest: Manifest) -> dict[str, int] | None:
    """What the manifest has of when the run was last ended; None where it never was."""
    if not manifest.counts:
        return None
    added: Counter[str] = Counter()
    for counts in manifest.counts.values():
        added.update(counts)
    return {state: added[state] for state in (*STATES, OPEN)}
