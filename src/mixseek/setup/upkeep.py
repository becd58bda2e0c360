"""Runs and competitions of a workspace: renamed, removed, and cleared of what nobody needs any more."""

import asyncio
import difflib
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mixseek.archive.upkeep import (
    Leftover,
    find_garbage,
    is_half_renamed,
    leftover,
    remove_answers,
    remove_run,
    remove_tree,
    rename_answers,
    rename_run,
    size_bytes,
)
from mixseek.competition.boards import journal_path, open_store
from mixseek.competition.sessions import Patience
from mixseek.competition.store import AggregationStore
from mixseek.datasets.answer_runs import PREFIX
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.errors import ConfigurationError
from mixseek.presentation.sections import Section, unbroken_lines
from mixseek.runs.kept_replies import describe_bytes
from mixseek.storage.durable import make_directory, storage_error, sync_directory
from mixseek.storage.journal.journal import says_nothing
from mixseek.storage.journal.lock import holding_lock, is_being_written
from mixseek.storage.reply_cache import CacheState
from mixseek.storage.workspace import Workspace, check_run_name, list_first
from mixseek.text.phrases import plural

RUN, ANSWERS, COMPETITION = "run", "answers", "competition"
_WITH_ARTICLE = {RUN: "a run", ANSWERS: "answers", COMPETITION: "a competition"}
_PATIENCE_SECONDS = 15.0


def without_prefix(name: str, kind: str | None) -> tuple[str, str | None]:
    """`answers:NAME`, as datasets name them, says the kind as well."""
    is_prefixed = name.startswith(PREFIX) and kind in (None, ANSWERS)
    return (name.removeprefix(PREFIX), ANSWERS) if is_prefixed else (name, kind)


def find_kind(root: Path, name: str, kind: str | None) -> tuple[str, str]:
    """What is called exactly so; raises ConfigurationError where nothing is, or a run and a competition are."""
    name, kind = without_prefix(name, kind)
    wanted = unicodedata.normalize("NFC", name)
    workspace = Workspace(root)
    known = {
        RUN: [run.name for run in workspace.runs()],
        ANSWERS: [run.name for run in workspace.answer_runs()],
        COMPETITION: list_executions(root),
    }
    kinds = [candidate for candidate, names in known.items() if wanted in names and kind in (None, candidate)]
    if len(kinds) == 1:
        return kinds[0], wanted
    if kinds:
        flags = " or ".join(f"--kind {candidate}" for candidate in kinds)
        raise ConfigurationError(
            f"{name!r} is {' and '.join(_WITH_ARTICLE[candidate] for candidate in kinds)}; say which with {flags}"
        )
    names = [candidate for candidates in known.values() for candidate in candidates]
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5) or names
    there = f"there is {list_first(close)}" if close else "there is none"
    raise ConfigurationError(f"{root}: no {kind or 'run, answers or competition'} is called exactly {name!r}; {there}")


def list_executions(root: Path) -> list[str]:
    """The names of all competitions."""

    async def read() -> list[str]:
        with open_store(root) as store:
            return [execution.execution_id for execution in await store.executions()]

    return asyncio.run(read())


def writing_store(root: Path) -> "closing[AggregationStore]":
    return closing(AggregationStore(root, patience=Patience(_PATIENCE_SECONDS)))


def remove_runs(root: Path, names: Sequence[str], kind: str | None) -> list[dict[str, Any]]:
    """All names are looked at before anything is removed."""
    targets = dict.fromkeys(find_kind(root, name, kind) for name in names)
    removed = []
    for target_kind, name in targets:
        workspace = Workspace(root)
        if target_kind == RUN:
            taken = remove_run(workspace, workspace.run(name), datetime.now(UTC))
        elif target_kind == ANSWERS:
            taken = remove_answers(workspace.answers(name))
        else:
            taken = remove_competition(root, name)
        removed.append({"kind": target_kind, "name": name, "bytes": taken})
    return removed


def remove_competition(root: Path, name: str) -> int:
    """Its rows in one step, then its directory."""
    journal = journal_path(root, name)
    taken = size_bytes(journal.parent)

    async def forget() -> None:
        with writing_store(root) as store:
            await store.remove_execution(name)

    if not journal.parent.is_dir():
        asyncio.run(forget())
        return taken
    with holding_lock(journal.with_suffix(".lock")):
        asyncio.run(forget())
        remove_tree(journal.parent)
    return taken


def move_run(root: Path, old: str, new: str, kind: str | None) -> dict[str, Any]:
    """The run is under its new name wholly, or still under the old one.

    Given again, it finishes what a crash has left.
    """
    old, kind = without_prefix(old, kind)
    target = check_run_name(new)
    workspace = Workspace(root)
    before = check_run_name(old)
    if kind in (None, RUN) and not workspace.run(before).exists() and is_half_renamed(workspace.run(target), before):
        rename_run(workspace, before, target)
        return {"kind": RUN, "name": before, "new_name": target}
    found_kind, name = find_kind(root, old, kind)
    if found_kind == RUN:
        rename_run(workspace, name, target)
    elif found_kind == ANSWERS:
        rename_answers(workspace, name, target)
    else:
        rename_competition(root, name, target)
    return {"kind": found_kind, "name": name, "new_name": target}


def rename_competition(root: Path, old: str, new: str) -> None:
    """The journal stands under both names until the store has decided which one holds."""
    journal, target = journal_path(root, old), journal_path(root, new)
    if new in list_executions(root) or (target.exists() and not (journal.exists() and target.samefile(journal))):
        raise ConfigurationError(f"competition {new!r} is there already; choose another name, or remove it first")

    async def rename() -> None:
        with writing_store(root) as store:
            await store.rename_execution(old, new)

    make_directory(journal.parent, "rename the competition")
    with holding_lock(journal.with_suffix(".lock")):
        make_directory(target.parent, "rename the competition")
        try:
            if journal.exists() and not target.exists():
                os.link(journal, target)
            sync_directory(target.parent)
        except OSError as error:
            raise storage_error("rename the competition", target, error) from error
        asyncio.run(rename())
        remove_tree(journal.parent)


def collect_garbage(root: Path, *, dry_run: bool) -> dict[str, Any]:
    """What went, or would go, and what looks like it and stays. Asks nobody, and never takes a paid reply."""
    workspace = Workspace(root)
    garbage, staying = find_garbage(workspace)
    empty, orphans = asyncio.run(find_empty_competitions(root))
    garbage += orphans
    gone = [leftover for leftover in garbage if dry_run or leftover.remove()]
    if not dry_run:
        for execution in empty:
            remove_competition(root, execution)
    removed: list[dict[str, Any]] = [
        {"path": str(leftover.path), "kind": leftover.kind, "why": leftover.why, "bytes": leftover.bytes}
        for leftover in gone
    ]
    removed += [
        {
            "path": str(journal_path(root, execution).parent),
            "kind": COMPETITION,
            "why": "nobody said or handed in anything",
            "bytes": size_bytes(journal_path(root, execution).parent) if dry_run else 0,
        }
        for execution in empty
    ]
    size = sum(entry["bytes"] for entry in removed)
    return with_schema(DocumentName.RUNS_GC, {"dry_run": dry_run, "removed": removed, "bytes": size, "kept": staying})


async def find_empty_competitions(root: Path) -> tuple[list[str], list[Leftover]]:
    """Executions in which nothing was said or handed in, and directories that no execution belongs to."""
    with open_store(root) as store:
        known = [execution.execution_id for execution in await store.executions()]
        played = {
            execution: any(team.rounds for team in (await store.progress(execution)).values()) for execution in known
        }
    empty = [
        execution
        for execution in known
        if not played[execution]
        and not is_being_written(journal_path(root, execution).with_suffix(".lock"))
        and says_nothing(journal_path(root, execution))
    ]
    room = root / "competitions"
    directories = [entry for entry in room.iterdir() if entry.is_dir()] if room.is_dir() else []
    orphans = [
        leftover(entry, COMPETITION, "no competition is called so, and its journal holds nothing of its own")
        for entry in directories
        if unicodedata.normalize("NFC", entry.name) not in known
        and not entry.name.startswith(".")
        and not is_being_written(entry / "journal.lock")
        and is_spare(entry / "journal.jsonl")
    ]
    return empty, orphans


def is_spare(journal: Path) -> bool:
    """Whether it says nothing, or stands under another name as well: then a rename was cut short."""
    return says_nothing(journal) or journal.stat().st_nlink > 1


def garbage_sections(document: Mapping[str, Any]) -> Iterator[Section]:
    """A line for each thing that goes or stays, and the sum."""
    verb = "would go" if document["dry_run"] else "removed"
    lines = [
        f"{entry['path']}  {entry['bytes']:,} bytes  ({entry['kind']}: {entry['why']})" for entry in document["removed"]
    ]
    lines += [f"kept: {sentence}" for sentence in document["kept"]]
    count = plural(len(document["removed"]), "thing")
    yield unbroken_lines(*lines, f"{verb}: {count}, {document['bytes']:,} bytes")


def cache_sections(state: CacheState) -> Iterator[Section]:
    """What the cache of replies holds, and what was dropped from it."""
    replies = plural(state.replies, "reply", "replies")
    yield unbroken_lines(f"{state.path}: {replies}, {describe_bytes(state.file_bytes)} on disk")
    if state.dropped:
        dropped = plural(state.dropped, "reply was", "replies were")
        yield unbroken_lines(f"{dropped} dropped", is_indented=True)
