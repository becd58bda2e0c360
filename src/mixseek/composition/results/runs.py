"""Runs and competitions of a workspace: removed, renamed and swept; and what the viewer shows of them."""

import asyncio
import difflib
import os
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mixseek.composition.protocols import protocol_of_run
from mixseek.composition.race import journal_path, list_competitions, open_store
from mixseek.composition.results.report import list_runs
from mixseek.domain.ports import JudgeAwareProtocol
from mixseek.errors import ConfigurationError
from mixseek.reporting.findings.model import tone_of
from mixseek.reporting.payload import rows_payload
from mixseek.reporting.summary import runs_document
from mixseek.reporting.wording import plural
from mixseek.storage.competition import AggregationStore, Patience
from mixseek.storage.durable import make_directory, storage_error, sync_directory
from mixseek.storage.index.listing import FILTERS, SORTS, JudgmentList, ListQuery, NamedJudgment, open_list
from mixseek.storage.journal.journal import holding_lock, is_being_written, says_nothing
from mixseek.storage.journal.records import Manifest, decode_sample, read_manifest
from mixseek.storage.journal.tail import TextSearches
from mixseek.storage.upkeep import (
    Leftover,
    find_garbage,
    is_half_renamed,
    leftover,
    remove_run,
    remove_tree,
    rename_run,
    size_bytes,
)
from mixseek.storage.workspace import RunDirectory, Workspace, check_run_name, list_first
from mixseek.storage.workspace_key import find_workspace_key
from mixseek.templating import fence_nonce

RUN, COMPETITION = "run", "competition"
_PATIENCE_SECONDS = 15.0


def find_kind(root: Path, name: str, kind: str | None) -> tuple[str, str]:
    """What is called exactly so; raises ConfigurationError where nothing is, or a run and a competition are."""
    wanted = unicodedata.normalize("NFC", name)
    known = {RUN: [run.name for run in Workspace(root).runs()], COMPETITION: list_executions(root)}
    kinds = [one for one, names in known.items() if wanted in names and kind in (None, one)]
    if len(kinds) == 1:
        return kinds[0], wanted
    if kinds:
        raise ConfigurationError(
            f"{name!r} is a run and a competition; say which with --kind run or --kind competition"
        )
    names = [*known[RUN], *known[COMPETITION]]
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5) or names
    there = f"there is {list_first(close)}" if close else "there is none"
    raise ConfigurationError(f"{root}: no {kind or 'run or competition'} is called exactly {name!r}; {there}")


def list_executions(root: Path) -> list[str]:
    """Names of competitions."""

    async def read() -> list[str]:
        with open_store(root) as store:
            return [one.execution_id for one in await store.executions()]

    return asyncio.run(read())


def writing_store(root: Path) -> "closing[AggregationStore]":
    return closing(AggregationStore(root, patience=Patience(_PATIENCE_SECONDS)))


def remove_runs(root: Path, names: Sequence[str], kind: str | None) -> list[dict[str, Any]]:
    """All names are looked at before anything is removed."""
    found = dict.fromkeys(find_kind(root, name, kind) for name in names)
    removed = []
    for one, name in found:
        if one == RUN:
            workspace = Workspace(root)
            taken = remove_run(workspace, workspace.run(name), datetime.now(UTC))
        else:
            taken = remove_competition(root, name)
        removed.append({"kind": one, "name": name, "bytes": taken})
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
    """Under its new name wholly, or still under the old one; given again, it finishes what a crash has left."""
    target = check_run_name(new)
    workspace = Workspace(root)
    before = check_run_name(old)
    if kind != COMPETITION and not workspace.run(before).exists() and is_half_renamed(workspace.run(target), before):
        rename_run(workspace, before, target)
        return {"kind": RUN, "name": before, "new_name": target}
    one, name = find_kind(root, old, kind)
    if one == RUN:
        rename_run(workspace, name, target)
    else:
        rename_competition(root, name, target)
    return {"kind": one, "name": name, "new_name": target}


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


# What nobody needs any more.


def collect_garbage(root: Path, *, dry_run: bool) -> dict[str, Any]:
    """What went, or would go, and what looks like it and stays. Asks nobody, and never takes a paid reply."""
    workspace = Workspace(root)
    found, kept = find_garbage(workspace)
    empty, orphans = asyncio.run(find_empty_competitions(root))
    found += orphans
    gone = [one for one in found if dry_run or one.remove()]
    if not dry_run:
        for execution in empty:
            remove_competition(root, execution)
    told = [{"path": str(one.path), "kind": one.kind, "why": one.why, "bytes": one.bytes} for one in gone]
    told += [
        {
            "path": str(journal_path(root, one).parent),
            "kind": COMPETITION,
            "why": "nobody said or handed in anything",
            "bytes": size_bytes(journal_path(root, one).parent) if dry_run else 0,
        }
        for one in empty
    ]
    return {"dry_run": dry_run, "removed": told, "bytes": sum(one["bytes"] for one in told), "kept": kept}


async def find_empty_competitions(root: Path) -> tuple[list[str], list[Leftover]]:
    """Executions in which nothing was said or handed in, and directories that no execution belongs to."""
    with open_store(root) as store:
        known = [one.execution_id for one in await store.executions()]
        played = {one: any(team.rounds for team in (await store.progress(one)).values()) for one in known}
    empty = [
        one
        for one in known
        if not played[one]
        and not is_being_written(journal_path(root, one).with_suffix(".lock"))
        and says_nothing(journal_path(root, one))
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


def describe_garbage(document: dict[str, Any]) -> str:
    """A line each, and the sum."""
    verb = "would go" if document["dry_run"] else "removed"
    lines = [f"{one['path']}  {one['bytes']:,} bytes  ({one['kind']}: {one['why']})" for one in document["removed"]]
    lines += [f"kept: {sentence}" for sentence in document["kept"]]
    said = plural(len(document["removed"]), "thing")
    return "\n".join([*lines, f"{verb}: {said}, {document['bytes']:,} bytes"])


# What the viewer shows of a workspace: lists, a run's judgments page by page, one sample whole, a run as it grows.

# Between conditions on metadata, which are one value of an address; in it, %1F.
ALSO = "\x1f"
# Judgments on a page, and the most that a program may ask for at once.
PAGE_ROWS, MOST_ROWS = 100, 1_000
# Characters of judged text on a page of the list, and of one sample: the list shows a line of each.
_LIST_BUDGET, _SAMPLE_BUDGET = 200_000, 4_000_000
# Of a reply's details, what a person looks at.
_DETAILS = ("ask", "take", "cached", "model", "finish_reason", "latency_seconds", "cost_usd", "tries", "usage")


def list_workspace(root: Path) -> dict[str, Any]:
    """Runs and competitions with their state, the newest first; empty for a workspace that is not there yet."""
    lines, problems = list_runs(root)
    competitions = [line.to_document() for line in list_competitions(root)]
    return {"workspace": str(root), **runs_document(lines), "competitions": competitions, "problems": problems}


def find_exact_run(workspace: Workspace, name: str) -> RunDirectory:
    """By its whole name: an address means one run. What cannot be a name is refused before any path is made."""
    run = workspace.run(name)
    if not run.exists():
        raise ConfigurationError(f"{workspace.root}: no run {name!r}; `mixseek runs` lists those that are there")
    return run


@dataclass(frozen=True, slots=True)
class ListRequest:
    """What a page of the list asks for; as in its address."""

    filters: Mapping[str, str] = field(default_factory=dict)
    words: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    sort: str = ""
    offset: int = 0
    limit: int = PAGE_ROWS
    named: NamedJudgment | None = None


def read_list_request(asked: Mapping[str, str]) -> ListRequest:
    """From the parameters of an address; raises ConfigurationError for what has no meaning."""
    sort = asked.get("sort", "")
    if sort not in SORTS:
        raise ConfigurationError(
            f"sort={sort}: there is {', '.join(filter(None, SORTS))}; leave it out for the dataset's order"
        )
    bounds = (("offset", 0, 10**12), ("limit", PAGE_ROWS, MOST_ROWS), ("repeat", 1, 10**6))
    numbers = {name: read_number(asked, name, default, most) for name, default, most in bounds}
    metadata = []
    for pair in filter(None, asked.get("meta", "").split(ALSO)):
        name, equals, value = pair.partition("=")
        if not equals:
            raise ConfigurationError(f"meta={pair}: write name=value, as in meta=language=ja")
        metadata.append((name, value))
    repeat = numbers["repeat"] if asked.get("repeat") else None
    return ListRequest(
        filters={name: asked[name] for name in FILTERS if asked.get(name)},
        words=asked.get("q", ""),
        metadata=tuple(metadata),
        sort=sort,
        offset=numbers["offset"],
        limit=numbers["limit"],
        named=NamedJudgment(asked["id"], asked.get("by") or None, repeat) if asked.get("id") else None,
    )


def read_number(asked: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Raises ConfigurationError for what is none, or too large."""
    text = asked.get(name) or str(default)
    if not (text.isascii() and text.isdecimal() and int(text) <= most):
        raise ConfigurationError(f"{name}={text}: not a number from 0 to {most:,}")
    return int(text)


class ViewedRun:
    """A run as it was when it was opened; texts are read from its journal as they are asked for."""

    def __init__(self, workspace: Workspace, run: RunDirectory, searches: TextSearches, directory: Path) -> None:
        self.run, self.manifest = run, read_manifest(run.manifest)
        self._directory = directory
        directory.mkdir(parents=True)
        self.judgments: JudgmentList = open_list(workspace, run, directory / "listed.duckdb")
        self._searches = searches

    def facts(self) -> dict[str, Any]:
        """What the scripts of the page know of a run, as in a report."""
        return {
            "run": self.run.name,
            "judges": list(self.manifest.judge_names),
            "labels": dict(sorted(self.judgments.models.items())),
            "dimensions": self.judgments.dimensions,
            "repeats": self.manifest.repeats,
        }

    def choices(self) -> dict[str, Any]:
        """What judgments can be filtered by, with how many of them have it; metadata as far as it is searched."""
        self._searches.go_on(self.judgments.samples)
        texts = self._searches.texts
        outcomes = [
            {"outcome": one.outcome, "tone": tone_of(one.status, one.score).value, "count": one.count}
            for one in self.judgments.outcomes
        ]
        told = texts.choices(self.judgments.usual, self.judgments.unusual)
        metadata = [[f"{name}={value}", count] for name, found in told.items() for value, count in found]
        choices = {**self.judgments.choices, **({"meta": metadata} if metadata else {})}
        read = {"searched": min(texts.samples, self.judgments.samples), "samples": self.judgments.samples}
        return {"total": self.judgments.total, "outcomes": outcomes, "choices": choices, "metadata_read": read}

    def _query(self, asked: ListRequest) -> tuple[ListQuery, dict[str, int] | None]:
        """With how far a search has come; None where nothing is searched for."""
        samples = self.judgments.samples
        has_words = bool(asked.words.split() or asked.metadata)
        search = self._searches.find(asked.words, asked.metadata, samples) if has_words else None
        done = {"searched": min(search.searched, samples), "samples": samples} if search else None
        return ListQuery(asked.filters, search.bits(samples) if search else None, asked.sort), done

    def sample_positions(self, asked: ListRequest, limit: int) -> list[int] | None:
        """Of all that the filters mean; None while a search goes on."""
        query, done = self._query(asked)
        if done is not None and done["searched"] < done["samples"]:
            return None
        return self.judgments.sample_positions(query, limit)

    def page(self, asked: ListRequest) -> dict[str, Any]:
        """A page of the list in the shape of a report's payload; a search says how far it has come."""
        query, done = self._query(asked)
        with self._searches.resting():
            offset = asked.offset
            if asked.named is not None and not asked.sort:
                offset = self.judgments.rank_of(query, asked.named) // asked.limit * asked.limit
            rows, matches = self.judgments.page(query, offset, asked.limit)
            payload = rows_payload(rows, _LIST_BUDGET)
        counted = {"offset": offset, "matches": matches, "total": self.judgments.total, "search": done}
        return {**self.facts(), **payload, **counted}

    def sample(self, sample_id: str) -> dict[str, Any]:
        """One sample with all that was ever said of it; every row has its replies in the order of asking."""
        rows, record, replies = self.judgments.sample(sample_id)
        if not rows:
            raise ConfigurationError(f"run {self.run.name}: no sample with the id {sample_id!r}")
        payload = rows_payload(rows, _SAMPLE_BUDGET)
        for row, told in zip(rows, payload["rows"], strict=True):
            told["attempts"] = [
                describe_reply(reply)
                for reply in replies
                if reply.get("judge") == row.judge and (reply.get("details") or {}).get("take", 1) == row.take
            ]
        sample = record.get("sample") or {}
        more = {name: sample[name] for name in ("metadata", "rubric", "task_type", "output_id") if sample.get(name)}
        return {**self.facts(), **payload, "more": more}

    def prompt(self, root: Path, sample_id: str, judge: str) -> dict[str, Any]:
        """What a judge was shown, made again from the run's own protocol."""
        entry = next((one for one in self.manifest.judges if one.name == judge), None)
        _, record, _ = self.judgments.sample(sample_id)
        if entry is None or not record:
            raise ConfigurationError(f"run {self.run.name}: no sample {sample_id!r} before a judge {judge!r}")
        if entry.kind == "rules":
            raise ConfigurationError("the rules read no prompt: they look at the response itself")
        protocol = protocol_of_run(self.run, self.manifest)
        if isinstance(protocol, JudgeAwareProtocol):
            protocol = protocol.for_judge(entry.model or judge)
        # A workspace may have no key yet, or none for this user, and asking here must not make one.
        nonce = fence_nonce(find_workspace_key(root) or b"", record["key"])
        messages = protocol.messages(decode_sample(record["sample"]), nonce)
        return {"judge": judge, "messages": [asdict(message) for message in messages]}

    def close(self) -> None:
        """A run that grows is opened again and again: what was made of it before goes."""
        self.judgments.close()
        shutil.rmtree(self._directory, ignore_errors=True)


def describe_reply(reply: Mapping[str, Any]) -> dict[str, Any]:
    """A reply as it came, with what its call took."""
    details = reply.get("details") or {}
    told = {name: details[name] for name in _DETAILS if details.get(name) is not None}
    return {"attempt": reply.get("attempt"), "text": reply.get("text"), **told}


def expected_judgments(manifest: Manifest) -> int | None:
    """How many there will be; None for a cascade, where each judge sees what the ones before leave open."""
    if manifest.cascade and len(manifest.judges) > 1:
        return None
    # Rules and replays are asked once, whatever is repeated.
    asked = [manifest.repeats if judge.kind not in ("rules", "replay") else 1 for judge in manifest.judges]
    return manifest.sample_count * sum(asked)
