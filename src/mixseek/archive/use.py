"""A run as files: each judgment a row, or a file of its own, and such files held against their run's protocol."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mixseek.archive.answers import KIND, archive_answers, check_answers_archive, read_answers_marker
from mixseek.archive.check import ArchiveCheck, Problem, ProblemKind, read_marker
from mixseek.archive.write import PROTOCOL, write_archive
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.engine.offline import judge_shown
from mixseek.judges.math_verify import find_maths
from mixseek.runs.answers.kept import find_answers
from mixseek.runs.requests.protocol_record import (
    protocol_of_run,
    protocol_record,
    read_protocol_record,
    restore_protocol,
)
from mixseek.storage.journal.journal import find_broken_seal
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import Workspace, find_run


def archive_run(root: Path, name: str | None, to: Path | None) -> dict[str, Any]:
    """What was written, for programs; by default into the run's own directory."""
    answers = find_answers(Workspace(root), name)
    if answers is not None:
        held = archive_answers(answers, to or answers.archive)
        where = {"run": answers.name, "directory": str(to or answers.archive)}
        return with_schema(DocumentName.ARCHIVE_ANSWERS, {**where, **held})
    run = find_run(Workspace(root), name)
    protocol = protocol_of_run(run, read_manifest(run.manifest))

    directory = to or run.archive
    written = write_archive(
        run, protocol_record(protocol), directory, lambda reply, sample: judge_shown(reply, sample, protocol)
    )
    return with_schema(DocumentName.ARCHIVE, {"run": run.name, "directory": str(directory), **written})


def check_archive(path: Path) -> dict[str, Any]:
    """What reading every file again has shown, by the protocol that the archive carries; for programs."""
    answers = read_answers_marker(path)
    if answers is not None:
        problems = [asdict(problem) for problem in check_answers_archive(path, answers)]
        counted = {"kind": KIND, "run": answers["run"], "files": len(answers["sha256"])}
        held = {"directory": str(path), **counted, "problems": problems, "ok": not problems}
        return with_schema(DocumentName.ARCHIVE_CHECK, held)
    marker = read_marker(path)
    where = path / PROTOCOL
    protocol = restore_protocol(read_protocol_record(where), str(where))
    check = ArchiveCheck(path, marker, protocol, find_maths())
    problems = [asdict(problem) for problem in (*check_journal(path, marker.run), *check.problems())]
    counts = {"kind": "run", "run": marker.run, "files": check.files}
    document = {"directory": str(path), **counts, "problems": problems, "ok": not problems}
    return with_schema(DocumentName.ARCHIVE_CHECK, document)


def check_journal(path: Path, run: str) -> Iterator[Problem]:
    """An archive in its run's own directory stands for the journal beside it, and agrees with the report about that."""
    manifest = path.absolute().parent / "manifest.json"
    if not manifest.is_file() or (known := read_manifest(manifest)).run != run:
        return
    problem = find_broken_seal(manifest.with_name("journal.jsonl"), known)
    if problem is not None:
        yield Problem("../journal.jsonl", ProblemKind.CHANGED, problem)
