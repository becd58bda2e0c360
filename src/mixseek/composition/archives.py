"""A run as files, and files held against their run's protocol."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.composition.protocols import (
    protocol_of_run,
    protocol_record,
    read_protocol_record,
    restore_protocol,
)
from mixseek.composition.report import find_run
from mixseek.engine.offline import judge_reply
from mixseek.judges.math_verify import find_maths
from mixseek.storage.archive.check import ArchiveCheck, Problem, ProblemKind, read_marker
from mixseek.storage.archive.documents import INVALID_ROOM, PROTOCOL, VALID_ROOM
from mixseek.storage.archive.write import Archived, write_archive
from mixseek.storage.journal.journal import find_broken_seal
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import Workspace


@dataclass(frozen=True, slots=True)
class CheckedArchive:
    """What reading every file again has shown."""

    path: Path
    run: str
    files: int
    problems: Sequence[Problem]


def archive_run(root: Path, name: str | None, to: Path | None) -> tuple[str, Archived]:
    """The run's name and what was written; by default into the run's own directory."""
    run = find_run(Workspace(root), name)
    manifest = read_manifest(run.manifest)
    protocol = protocol_of_run(run, manifest)
    read = partial(judge_reply, protocol=protocol)
    return run.name, write_archive(run, protocol_record(protocol), to or run.archive, read)


def check_archive(path: Path) -> CheckedArchive:
    """Every file read again by the protocol that the archive carries."""
    marker = read_marker(path)
    where = path / PROTOCOL
    protocol = restore_protocol(read_protocol_record(where), str(where))
    check = ArchiveCheck(path, marker, protocol, find_maths())
    problems = (*check_journal(path, marker.run), *check.problems())
    return CheckedArchive(path, marker.run, check.files, problems)


def check_journal(path: Path, run: str) -> Iterator[Problem]:
    """An archive in its run's own directory stands for the journal beside it, and agrees with the report about that."""
    manifest = path.absolute().parent / "manifest.json"
    if not manifest.is_file() or (known := read_manifest(manifest)).run != run:
        return
    problem = find_broken_seal(manifest.with_name("journal.jsonl"), known)
    if problem is not None:
        yield Problem("../journal.jsonl", ProblemKind.CHANGED, problem)


def archived_document(run: str, archived: Archived) -> dict[str, Any]:
    """For programs."""
    return {
        "run": run,
        "directory": str(archived.path),
        "valid": archived.valid,
        "invalid": archived.invalid,
        "unjudged": archived.unjudged,
        "asked_again": archived.asked_again,
    }


def describe_archived(run: str, archived: Archived) -> str:
    """For a person."""
    again = (
        f" and {archived.asked_again:,} replies that were invalid and asked for again" if archived.asked_again else ""
    )
    unjudged = f"; {archived.unjudged:,} without a judgment are listed in the index" if archived.unjudged else ""
    return (
        f"{run}: {archived.valid:,} in {archived.path / VALID_ROOM}, {archived.invalid:,} in "
        f"{archived.path / INVALID_ROOM}{again}{unjudged}"
    )


def checked_document(checked: CheckedArchive) -> dict[str, Any]:
    """For programs."""
    return {
        "directory": str(checked.path),
        "run": checked.run,
        "files": checked.files,
        "problems": [asdict(problem) for problem in checked.problems],
        "ok": not checked.problems,
    }


def describe_checked(checked: CheckedArchive, limit: int) -> str:
    """For a person: the first problems, and how many there are."""
    if not checked.problems:
        return f"{checked.path}: {checked.files:,} judgments of run {checked.run} are what the index says"
    lines = [f"{problem.path}: {problem.kind.value}: {problem.detail}" for problem in checked.problems[:limit]]
    hidden = len(checked.problems) - limit
    lines += [f"and {hidden:,} more; --json lists them all"] if hidden > 0 else []
    count = len(checked.problems)
    lines.append(f"{checked.path}: {count:,} problem{'s' if count > 1 else ''} in {checked.files:,} judgments")
    return "\n".join(lines)
