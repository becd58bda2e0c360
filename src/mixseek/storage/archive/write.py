"""A run as files: one JSON for each judgment, valid and invalid apart, with all that is needed to check them again."""

import contextlib
import csv
import hashlib
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mixseek.domain.judgments import InvalidJudgment, Method, Reply, Status, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.storage.archive import documents as names
from mixseek.storage.archive.documents import IDENTITY, JudgeTally, encode_document, label_judge
from mixseek.storage.durable import digest_file, replacing, storage_error, sync_directory
from mixseek.storage.index.loading import NOT_JUDGED
from mixseek.storage.index.run import JudgedTake, open_run_index
from mixseek.storage.journal.journal import broken_seal, verify_journal
from mixseek.storage.journal.manifest import JudgeEntry, Manifest, read_manifest
from mixseek.storage.journal.records import decode_reply, decode_sample, encode_readable_line, encode_sample
from mixseek.storage.workspace import RunDirectory, Workspace

ARCHIVE_VERSION = 1
TABLE_COLUMNS = (
    *("path", "status", "id", *IDENTITY, "judge", "judge_model", "judge_model_claimed", "take", "attempt", "is_final"),
    *("method", "verdict", "score", "total", "scores", "flags", "reason", "sha256", "response_sha256"),
)
# Whose digests the marker keeps, so that an edited index does not vouch for edited judgments.
SEALED = (
    *(names.INDEX, names.INDEX_TABLE, names.SAMPLES, names.PROTOCOL, names.PROMPTS),
    *(names.RUN_LOG, names.RUN_LOG_TEXT),
)
# What the run's protocol makes of a reply to a sample.
ReadAgain = Callable[[Reply, Sample], ValidJudgment | InvalidJudgment]
SUPERSEDED = "superseded"


def write_archive(run: RunDirectory, protocol: Mapping[str, Any], to: Path, read: ReadAgain) -> dict[str, int]:
    """Whole or not at all; an archive of the same run is replaced, anything else that is there is left alone."""
    manifest = read_manifest(run.manifest)
    refuse_foreign(to, manifest.run)
    verify_journal(run)
    with staging(to) as room:
        tallies = fill_rooms(run, manifest, room, read)
        log = names.run_log(manifest, tallies)
        for name, text in {
            names.PROMPTS: names.describe_prompts(manifest, protocol, tallies),
            names.RUN_LOG_TEXT: names.describe_run_log(log),
            names.INVALID_README: names.render("invalid_readme.md"),
        }.items():
            (room / name).write_text(text, encoding="utf-8", errors="replace")
        (room / names.RUN_LOG).write_bytes(encode_document(log))
        (room / names.PROTOCOL).write_bytes(encode_document(protocol))
        marker = {
            "archive_version": ARCHIVE_VERSION,
            "run": manifest.run,
            "protocol": manifest.protocol.name,
            "protocol_hash": manifest.protocol.hash,
            "sha256": {name: digest_file(room / name) for name in SEALED},
        }
        (room / names.MARKER).write_bytes(encode_document(marker))
    counts = sum((tally.counts for tally in tallies.values()), Counter[str]())
    valid, invalid = counts[Status.VALID], counts[Status.INVALID]
    return {
        "valid": valid,
        "invalid": invalid,
        # Listed in the index; they have no file.
        "unjudged": counts.total() - valid - invalid,
        # Invalid replies, which are in the invalid room too.
        "asked_again": sum(tally.asked_again for tally in tallies.values()),
    }


def refuse_foreign(to: Path, run: str) -> None:
    """A directory that is not an archive of this run holds somebody's work."""
    if not to.exists():
        if not to.parent.is_dir():
            raise ConfigurationError(f"{to}: there is no directory {to.parent}; create it first")
        return
    if not to.is_dir():
        raise ConfigurationError(f"{to}: a file; name a directory with --to")
    if not any(to.iterdir()):
        return
    try:
        owner = orjson.loads((to / names.MARKER).read_bytes()).get("run")
    except (OSError, ValueError, AttributeError):
        raise ConfigurationError(f"{to}: not empty and no archive; name a new directory with --to") from None
    if owner != run:
        raise ConfigurationError(f"{to}: holds the archive of run {owner!r}; name another directory with --to")


def rename_archive(directory: Path, run: str) -> None:
    """The archive in a run's own directory goes with the run to its new name; what it says of the past stays."""
    path = directory / names.MARKER
    if path.is_file():
        with replacing(path) as stream:
            stream.write(encode_document({**orjson.loads(path.read_bytes()), "run": run}))


def fill_rooms(run: RunDirectory, manifest: Manifest, room: Path, read: ReadAgain) -> dict[str, JudgeTally]:
    """Every judgment as a file, every pair in the index, every sample once; one pair in memory at a time."""
    tallies: dict[str, JudgeTally] = defaultdict(JudgeTally)
    for status in names.ROOMS.values():
        (room / status).mkdir()
    filing = _Filing(room, {judge.name: judge for judge in manifest.judges})
    last_key = ""
    with (
        open_run_index(Workspace(run.path.parent.parent), run) as judgments,
        (room / names.INDEX).open("wb", buffering=1 << 20) as index,
        (room / names.SAMPLES).open("wb", buffering=1 << 20) as samples,
        table_writer(room / names.INDEX_TABLE) as table,
    ):
        for judged in judgments.takes():
            if judged.key != last_key:
                sample = decode_sample(judged.sample)
                if sample.key() != judged.key:
                    raise broken_seal(run.journal, f"the sample {sample.id!r} is not the one that was judged")
                samples.write(encode_sample(sample, judged.key))
                last_key = judged.key
            for number, reply in enumerate(judged.earlier, 1):
                outcome = earlier_outcome(read(decode_reply(reply), sample))
                # One reply, whatever became of the other presentations.
                alone = replace(judged, reply=reply, earlier=(), shown={})
                write_row(filing.file(alone, outcome, number), index, table)
            row = filing.file(judged, judged.outcome or {"status": Status.MISSING.value, "reason": NOT_JUDGED})
            write_row(row, index, table)
            tallies[judged.judge].add(judged, row["status"], row["method"])
    return tallies


def earlier_outcome(judgment: ValidJudgment | InvalidJudgment) -> dict[str, Any]:
    """A reply that was asked for again is an evaluation too, and an invalid one."""
    if isinstance(judgment, InvalidJudgment):
        findings = [{"flag": finding.flag.value, "detail": finding.detail} for finding in judgment.findings]
        return {"status": Status.INVALID.value, "flags": findings, "repairs": judgment.repairs}
    return {"status": SUPERSEDED, "reason": "a later reply counts; by today's rules this one would be valid"}


class _Filing:
    """Writes judgments into the two rooms, a folder for each judge."""

    def __init__(self, room: Path, judges: Mapping[str, JudgeEntry]) -> None:
        self._room = room
        self._judges = judges
        self._folders = names.JudgeFolders()

    def file(self, judged: JudgedTake, outcome: Mapping[str, Any], attempt: int | None = None) -> dict[str, Any]:
        """Write the judgment's file, if it has one, and return its row; `attempt` numbers replies asked for again."""
        known = names.known_model(judged, self._judges.get(judged.judge))
        row = index_row(judged, outcome, known)
        if attempt is not None:
            row |= {"attempt": attempt, "is_final": False}
        place = names.ROOMS.get(outcome["status"])
        if place is None:
            return row
        folder = f"{place}/{self._folders.name(judged.judge, known or label_judge(judged.judge))}"
        (self._room / folder).mkdir(exist_ok=True)
        write = names.wire_document if outcome["status"] == Status.VALID else names.invalid_document
        data = encode_document(write(judged, outcome, known))
        row["path"] = f"{folder}/{names.name_file(judged.sample, judged.key, judged.judge, judged.take, attempt)}"
        row["sha256"] = hashlib.sha256(data).hexdigest()
        (self._room / row["path"]).write_bytes(data)
        return row


def index_row(judged: JudgedTake, outcome: Mapping[str, Any], known: str | None) -> dict[str, Any]:
    """One line of the index; `path` and `sha256` are filled in where there is a file."""
    fields = outcome.get("fields", {})
    return {
        "path": None,
        "status": outcome["status"],
        "key": judged.key,
        "id": judged.sample["id"],
        **{name: judged.sample.get(name) for name in IDENTITY},
        "judge": judged.judge,
        "judge_model": known or label_judge(judged.judge),
        "judge_model_claimed": names.claimed_model(judged),
        "take": judged.take,
        "attempt": len(judged.earlier) + 1 if judged.reply is not None else None,
        "is_final": True,
        "has_reply": judged.reply is not None,
        "method": outcome.get("method"),
        "is_ruled": outcome.get("method") == Method.RULES,
        "verdict": outcome.get("verdict"),
        "score": outcome.get("score"),
        "total": fields.get("total"),
        "scores": fields.get("scores"),
        "flags": list(dict.fromkeys(item["flag"] for item in outcome.get("flags", ()))),
        "reason": outcome.get("reason"),
        "reply_details": names.read_details(judged),
        **({"presentations": list(judged.shown)} if judged.shown else {}),
        "sha256": None,
        "response_sha256": hashlib.sha256(judged.sample["response"].encode("utf-8", "surrogatepass")).hexdigest(),
    }


def write_row(row: Mapping[str, Any], index: BinaryIO, table: "csv.DictWriter[str]") -> None:
    """Once for programs and once for spreadsheets."""
    line = encode_readable_line(row)
    index.write(line)
    plain = orjson.loads(line)
    plain["flags"] = " ".join(plain["flags"])
    plain["scores"] = "" if plain["scores"] is None else orjson.dumps(plain["scores"]).decode()
    table.writerow(plain)


@contextlib.contextmanager
def table_writer(path: Path) -> Iterator["csv.DictWriter[str]"]:
    """With a byte-order mark: without it spreadsheets garble the names of the two rooms."""
    with path.open("wb", buffering=1 << 20) as raw, TextIOWrapper(raw, "utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, TABLE_COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        yield writer


@contextlib.contextmanager
def staging(to: Path) -> Iterator[Path]:
    """A directory beside the target that takes its place when the block ends well, and vanishes when it does not."""
    room = to.with_name(f".{to.name[:80]}.{os.getpid()}.tmp")
    old = to.with_name(f".{to.name[:80]}.{os.getpid()}.old")
    try:
        room.mkdir()
        yield room
        swap(room, to, old)
        sync_directory(to.parent)
    except OSError as error:
        raise storage_error("write the archive", to, error) from error
    finally:
        shutil.rmtree(room, ignore_errors=True)


def swap(room: Path, to: Path, old: Path) -> None:
    """The old archive is removed only once the new one stands in its place."""
    if not to.exists():
        room.rename(to)
        return
    to.rename(old)
    try:
        room.rename(to)
    except OSError:
        old.rename(to)
        raise
    shutil.rmtree(old, ignore_errors=True)
