"""Answers as files: every row, every prompt as it was sent, and how it was asked, each held against its digest."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from mixseek.archive.check import Problem, ProblemKind
from mixseek.archive.write import ARCHIVE_VERSION, MARKER, refuse_foreign, render, staging
from mixseek.errors import ConfigurationError
from mixseek.protocols.answers import MESSAGES
from mixseek.runs.answers.kept import rows_of
from mixseek.storage.documents import encode_document
from mixseek.storage.durable import digest_file
from mixseek.storage.journal.journal import read_records
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.journal.records import SampleRecord, encode_readable_line
from mixseek.storage.workspace import RunDirectory

KIND = "answers"
ROWS, PROMPTS, MANIFEST, LOG = "answers.jsonl", "prompts.jsonl", "manifest.json", "run_log.md"
_SEALED = (ROWS, PROMPTS, MANIFEST, LOG)


def archive_answers(run: RunDirectory, to: Path) -> dict[str, int]:
    """Whole or not at all; an archive of the same answers is replaced, anything else that is there is left alone."""
    manifest = read_manifest(run.manifest)
    refuse_foreign(to, manifest.run)
    with staging(to) as room:
        states: dict[str, Counter[str]] = {}
        answers = 0
        with (room / ROWS).open("wb", buffering=1 << 20) as stream:
            for row in rows_of(run):
                stream.write(encode_readable_line(row))
                states.setdefault(f"{row['target_model']} / {row['prompt_variant']}", Counter())[end_of(row)] += 1
                answers += 1
        prompts = write_prompts(run, room / PROMPTS)
        (room / MANIFEST).write_bytes(run.manifest.read_bytes())
        (room / LOG).write_text(describe(manifest, states), encoding="utf-8", errors="replace")
        marker = {
            "archive_version": ARCHIVE_VERSION,
            "kind": KIND,
            "run": manifest.run,
            "sha256": {name: digest_file(room / name) for name in _SEALED},
        }
        (room / MARKER).write_bytes(encode_document(marker))
    return {"answers": answers, "prompts": prompts}


def end_of(row: Mapping[str, Any]) -> str:
    """How an answer ended, or that there is none."""
    return str(row.get("response_state") or ("finished" if row.get("response") is not None else "no answer"))


def write_prompts(run: RunDirectory, target: Path) -> int:
    """Each prompt once, as messages; turns that were to be filled in have `content` null."""
    count = 0
    with target.open("wb", buffering=1 << 20) as stream:
        for record in read_records(run.journal):
            if isinstance(record, SampleRecord):
                sample = record.sample
                named = {"id": sample.id, "question_id": sample.question_id, "prompt_variant": sample.prompt_variant}
                stream.write(encode_readable_line({**named, "messages": sample.metadata[MESSAGES]}))
                count += 1
    return count


def describe(manifest: Manifest, states: Mapping[str, Counter[str]]) -> str:
    """The run log for a person; `manifest.json` has all of it."""
    names = sorted({state for counts in states.values() for state in counts})
    return render("answers_log.md.jinja", manifest=manifest.model_dump(mode="json"), names=names, states=states)


def read_answers_marker(archive: Path) -> Mapping[str, Any] | None:
    """What an archive of answers says of itself; None for whatever is none."""
    try:
        document = orjson.loads((archive / MARKER).read_bytes())
    except (OSError, ValueError):
        # Whoever reads archives of judgments says what is wrong with it.
        return None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        return None
    if document.get("archive_version") != ARCHIVE_VERSION:
        raise ConfigurationError(
            f"{archive / MARKER}: version {document.get('archive_version')} of archives, this mixseek reads "
            f"{ARCHIVE_VERSION}"
        )
    if not isinstance(document.get("run"), str) or not isinstance(document.get("sha256"), dict):
        raise ConfigurationError(f"{archive / MARKER}: damaged; write the archive anew with `mixseek archive`")
    return document


def check_answers_archive(archive: Path, marker: Mapping[str, Any]) -> Iterator[Problem]:
    """Every file against the digest of what was written, and files that nobody wrote."""
    for name in _SEALED:
        path = archive / name
        if not path.is_file():
            yield Problem(name, ProblemKind.MISSING, "is not there")
        elif digest_file(path) != marker["sha256"].get(name):
            yield Problem(name, ProblemKind.CHANGED, "other bytes than were written")
    known = {*_SEALED, MARKER}
    for path in sorted(archive.rglob("*")):
        name = path.relative_to(archive).as_posix()
        if path.is_file() and name not in known and not path.name.startswith("."):
            yield Problem(name, ProblemKind.EXTRA, "nobody wrote it here")
