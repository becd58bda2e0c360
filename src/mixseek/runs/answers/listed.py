"""The answer runs of a workspace in a line each, by their manifests alone."""

from pathlib import Path

from mixseek.domain.response_states import ResponseState
from mixseek.errors import StorageError
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.answers.cells import Cells
from mixseek.storage.journal.lock import is_being_written
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """One answer run; counts are of when it was last ended, None where it never was."""

    name: str
    questions: str = ""
    targets: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    planned: int = 0
    answered: int | None = None
    cut_off: int | None = None
    without_answer: int | None = None
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
    has_counts = bool(manifest.counts)

    def total(*states: str) -> int | None:
        return (
            sum(counts.get(state, 0) for counts in manifest.counts.values() for state in states) if has_counts else None
        )

    return AnswerLine(
        run.name,
        str(manifest.dataset.get("path", "")),
        tuple(dict.fromkeys(cell.target for cell in cells)),
        tuple(dict.fromkeys(cell.variant for cell in cells)),
        sum(cell.planned for cell in cells),
        answered=total(ResponseState.FINISHED, ResponseState.CUT_OFF),
        cut_off=total(ResponseState.CUT_OFF),
        without_answer=total(ResponseState.WITHHELD, ResponseState.EMPTY, "failed"),
        started_at=manifest.started_at.isoformat(),
        is_complete=manifest.has_ended and not total("open"),
        is_running=is_being_written(run.lock),
    )
