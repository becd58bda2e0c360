"""A run as files: one JSON for each judgment, valid and invalid apart, with all that is needed to check them again."""

import contextlib
import csv
import glob
import hashlib
import json
import re
import shlex
import shutil
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from importlib import resources
from io import TextIOWrapper
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple

import orjson

from mixseek.domain.confidence import columns_of, read_confidence
from mixseek.domain.decisions import DECISION_API
from mixseek.domain.judgments import UNEXPLAINED, InvalidJudgment, Method, Reply, Status, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.index.loading import NOT_JUDGED
from mixseek.index.run import JudgedTake, open_run_index
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.identity import relate
from mixseek.protocols.replies.token_shares import LOGPROBS
from mixseek.storage.documents import encode_document
from mixseek.storage.durable import (
    digest_file,
    is_abandoned,
    name_temporary,
    remove_abandoned,
    replacing,
    storage_error,
    sync_directory,
)
from mixseek.storage.journal.journal import broken_seal, verify_journal
from mixseek.storage.journal.manifest import JudgeEntry, Manifest, read_manifest
from mixseek.storage.journal.records import (
    decode_object,
    decode_reply,
    decode_sample,
    encode_readable_line,
    encode_sample,
    make_plain,
    replace_surrogates,
)
from mixseek.storage.workspace import RunDirectory, Workspace

# Seed 003 §6 and §7 name the two rooms.
VALID_ROOM = "有效评测"
INVALID_ROOM = "无效评测"
ROOMS = {"valid": VALID_ROOM, "invalid": INVALID_ROOM}
MARKER = "archive.json"
INDEX = "index.jsonl"
INDEX_TABLE = "index.csv"
SAMPLES = "samples.jsonl"
PROTOCOL = "protocol.json"
RUN_LOG = "run_log.json"
RUN_LOG_TEXT = "run_log.md"
# Seed 003 §9.
PROMPTS = "使用的提示词清单.md"
INVALID_README = f"{INVALID_ROOM}/README.md"
# By these a person finds a file; the hash behind them keeps it apart from all others.
_NAMING_FIELDS = ("question_id", "prompt_variant", "target_model")
_PART_BYTES = 48
_OLD = ".old"
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}


def make_safe(text: str, limit_bytes: int = _PART_BYTES) -> str:
    """Letters and digits of any script, `.`, `_` and `-`; what a file system might decompose is reduced to its base."""
    safe = "".join(_keep(character) for character in unicodedata.normalize("NFC", text))
    safe = safe.encode()[:limit_bytes].decode("utf-8", "ignore").strip("-. ")
    return f"_{safe}" if safe.partition(".")[0].casefold() in _RESERVED else safe


def _keep(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isalnum() or base in "._-" else "-"


class JudgeFolders:
    """A directory for each judge, called like the model that judged; a hash only where two would be one."""

    def __init__(self) -> None:
        self._folders: dict[tuple[str, str], str] = {}

    def name(self, judge: str, model: str) -> str:
        """The same for the same judge and model; never one that another has, not even where A is a."""
        if (judge, model) not in self._folders:
            name = make_safe(model)
            if not name or name.casefold() in {taken.casefold() for taken in self._folders.values()}:
                digest = _digest(f"{judge}\n{model}")[:8]
                name = f"{name or 'judge'}-{digest}"
            self._folders[judge, model] = name
        return self._folders[judge, model]


def name_file(sample: Mapping[str, Any], key: str, judge: str, take: int, attempt: int | None = None) -> str:
    """Question, variant, target or the output's own name, take, number of a reply asked for again, a hash of it all."""
    parts = [make_safe(str(sample[name])) for name in _NAMING_FIELDS if sample.get(name)]
    parts = parts or [make_safe(str(sample.get("output_id") or sample["id"]))]
    readable = [part for part in parts if part] or ["sample"]
    tried = "" if attempt is None else f"_a{attempt}"
    return f"{'_'.join(readable)}_t{take}{tried}_{_digest(f'{key} {take} {judge}{tried}')[:16]}.json"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


IDENTITY = ("question_id", "prompt_variant", "target_model", "output_id", "task_name")
_REPLAY = "replay"
_SEMANTIC_FIELDS = ("is_correct", "extracted_answer", "reasoning_score", "error_type", "comment")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# Of what the endpoint said about a reply, what a protocol may look at when it reads the reply again.
_READ_DETAILS = (
    "judge_model",
    "finish_reason",
    "reserialised",
    "model",
    "unusable",
    "bundle",
    "presentation",
    LOGPROBS,
    DECISION_API,
)


@dataclass(slots=True)
class JudgeTally:
    """What is learnt of one judge on the way through the journal."""

    counts: Counter[str] = field(default_factory=Counter)  # by status
    methods: Counter[str] = field(default_factory=Counter)
    models: dict[str, None] = field(default_factory=dict)  # names that the endpoint gave itself
    recorded_models: dict[str, None] = field(default_factory=dict)
    # Takes with a reply, those whose first reply was invalid, and replies that were asked for again.
    takes: int = 0
    first_invalid: int = 0
    asked_again: int = 0

    def add(self, judged: JudgedTake, status: str, method: str | None) -> None:
        """One take: how it ended, who answered, and how often it had to be asked."""
        self.counts[status] += 1
        if method:
            self.methods[method] += 1
        details = (judged.reply or {}).get("details", {})
        for table, name in ((self.models, details.get("model")), (self.recorded_models, details.get("judge_model"))):
            if isinstance(name, str):
                table[name] = None
        if judged.reply is not None:
            self.takes += 1
            self.first_invalid += bool(judged.earlier) or status == Status.INVALID
            self.asked_again += len(judged.earlier)

    def describe(self, judge: JudgeEntry) -> dict[str, Any]:
        """The counts for programs; no rate where nothing was said."""
        return {
            **judge.model_dump(include={"name", "kind", "model"}),
            "models_answering": list(self.models or self.recorded_models),
            "parameters": judge.parameters,
            "temperature": describe_temperature(judge),
            "attempts": {
                **{name: getattr(self, name) for name in ("takes", "first_invalid", "asked_again")},
                "first_invalid_rate": self.first_invalid / self.takes if self.takes else None,
            },
        }


class Provenance(NamedTuple):
    """What the run knows of a judgment, whatever its reply says of itself; None for what it does not know."""

    judge_model: str | None
    # The day of the reply, as seed 003 §5 writes it.
    timestamp: str | None
    method: str


def wire_document(judged: JudgedTake, outcome: Mapping[str, Any], known: Provenance) -> Any:
    """The object that was read, repairs done, with the sample's id and, where the run knows it, who judged and when."""
    document = said_document(judged, outcome)
    sample_id = judged.sample["id"]
    if replace_surrogates(sample_id) == sample_id:
        document = {"sample_id": sample_id, **document}
    meta = document.get("meta")
    if not isinstance(meta, Mapping):
        return with_known(document, {"timestamp": known.timestamp})
    named = {"judge_model": known.judge_model} if "judge_model" in meta else {}
    return {**document, "meta": with_known(meta, {**named, "timestamp": known.timestamp})}


def with_known(document: Mapping[str, Any], known: Mapping[str, str | None]) -> dict[str, Any]:
    """What is known in the place of what was said; the judge's own word stands beside it as claimed."""
    facts = {name: value for name, value in known.items() if value is not None}
    claims = {f"{name}_claimed": document[name] for name in facts if name in document}
    return {**document, **facts, **claims}


def said_document(judged: JudgedTake, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's object in the protocol's wire format."""
    fields = outcome["fields"]
    if judged.shown:
        fields = {"verdict": outcome["verdict"], "state": fields.get("state"), "strength": fields.get("strength")}
        return {**fields, "replies": {name: reply["text"] for name, reply in judged.shown.items()}}
    if fields.get(UNEXPLAINED) and judged.reply is not None:
        # The answers as they came: nobody wrote an object in the protocol's format.
        return decode_object(judged.reply["text"])
    if isinstance(fields.get("reply"), dict):
        return dict(fields["reply"])
    document = decode_object(judged.reply["text"]) if judged.reply is not None else {}
    if any(name in fields for name in _SEMANTIC_FIELDS):
        # 1 is what the prompt calls a sample whose id it does not tell; an id that no file can hold stays untold.
        sample_id = judged.sample["id"]
        named = sample_id if replace_surrogates(sample_id) == sample_id else 1
        return {"id": named, **{name: fields.get(name) for name in _SEMANTIC_FIELDS}}
    return document or dict(fields)


def invalid_document(judged: JudgedTake, outcome: Mapping[str, Any], known: Provenance) -> dict[str, Any]:
    """Who judged what, what is wrong with it, and the raw reply; null where nobody was asked."""
    reply = judged.reply or {"text": None, "attempt": None}
    return {
        "meta": {
            "judge": judged.judge,
            "judge_model": known.judge_model or label_judge(judged.judge),
            "judge_model_claimed": claimed_model(judged),
            "id": judged.sample["id"],
            **{name: judged.sample.get(name) for name in IDENTITY},
            "method": known.method,
            "timestamp": known.timestamp or claimed_day(judged),
            "take": judged.take,
            "attempt": reply["attempt"],
        },
        "flags": list(dict.fromkeys(item["flag"] for item in outcome["flags"])),
        "findings": [{"flag": item["flag"], "detail": item["detail"]} for item in outcome["flags"]],
        "repairs": list(outcome["repairs"]),
        "reply": reply["text"],
        **({"replies": {name: reply["text"] for name, reply in judged.shown.items()}} if judged.shown else {}),
    }


def known_model(judged: JudgedTake, entry: JudgeEntry | None) -> str | None:
    """Who judged, as the run knows it: the model that was asked, or what was recorded with the reply."""
    if entry is not None and entry.model is not None:
        return entry.model
    named = (judged.reply or {}).get("details", {}).get("judge_model")
    return named if isinstance(named, str) and named.strip() else None


def derived_method(judged: JudgedTake, entry: JudgeEntry | None, judge_model: str | None) -> str:
    """The method of a judging that came to nothing: by whom it was done, worked out as for a valid one."""
    if entry is not None and entry.kind == Method.RULES:
        return Method.RULES.value
    judge = judge_model or judged.judge
    targets = (judged.sample.get("target_model"), judged.sample.get("target_b"))
    is_own = any(relate(judge, target).method is Method.SELF_JUDGE for target in targets)
    return (Method.SELF_JUDGE if is_own else Method.CROSS_JUDGE).value


def reply_day(judged: JudgedTake, entry: JudgeEntry | None, run_day: str | None) -> str | None:
    """The day as the journal has it; else the run's, if it took one day.

    None for what was recorded elsewhere without one.
    """
    day = (judged.reply or {}).get("details", {}).get("received_on")
    if isinstance(day, str):
        return day
    return None if entry is None or entry.kind == _REPLAY else run_day


def only_day(manifest: Manifest) -> str | None:
    """The day on which a run began and ended; None where these are two, or it has not ended."""
    if manifest.finished_at is None or manifest.created_at.date() != manifest.finished_at.date():
        return None
    return manifest.created_at.date().isoformat()


def label_judge(judge: str) -> str:
    """A judge whose model nobody knows is called by the stem of its file of replies, or by the judge picked from it."""
    kind, _, path = judge.partition(":")
    if kind != "replay" or not path:
        return judge
    file, mark, picked = path.rpartition("#")
    return picked if mark and file and picked else PurePath(path).stem or judge


def claimed_model(judged: JudgedTake) -> str | None:
    """Who the judge says it is, where its reply can be read."""
    return claim(judged, "judge_model")


def claimed_day(judged: JudgedTake) -> str | None:
    """The day that the judge gives: the only one there is of a reply that was recorded without one."""
    day = claim(judged, "timestamp")
    return day if day is not None and _DAY.fullmatch(day) else None


def claim(judged: JudgedTake, name: str) -> str | None:
    """What the judge says of the judging itself, where its reply can be read."""
    document = decode_object(judged.reply["text"]) if judged.reply is not None else {}
    meta = document.get("meta")
    claimed = (meta if isinstance(meta, Mapping) else document).get(name)
    return claimed if isinstance(claimed, str) else None


def read_details(judged: JudgedTake) -> dict[str, Any]:
    """The details for reading the reply again as it was read."""
    details = (judged.reply or {}).get("details", {})
    return {name: details[name] for name in _READ_DETAILS if details.get(name) is not None}


def run_log(manifest: Manifest, tallies: Mapping[str, JudgeTally]) -> dict[str, Any]:
    """Seed 003 §8, from the manifest and the journal."""
    copied = manifest.model_dump(mode="json", include={"repeats", "cascade", "protocol", "dataset", "environment"})
    return {
        "run": manifest.run,
        "status": manifest.status,
        "judges": [tallies.get(judge.name, JudgeTally()).describe(judge) for judge in manifest.judges],
        "tools_used": manifest.tools_used,
        "network_used": manifest.network_used,
        "time_range": {
            "from": manifest.created_at.isoformat(),
            "to": manifest.finished_at.isoformat() if manifest.finished_at else None,
        },
        "sample_count": manifest.sample_count,
        "counts": {judge: tally.counts for judge, tally in tallies.items()},
        **{name: copied[name] for name in ("repeats", "cascade", "protocol", "dataset", "environment")},
    }


def describe_temperature(judge: JudgeEntry) -> float | str | None:
    """The temperature as it was sent; in words where it was not, and None for rules, which have none."""
    if judge.kind == Method.RULES:
        return None
    if judge.kind == _REPLAY:
        return "not known: the replies were recorded elsewhere"
    temperature = judge.parameters.get("temperature")
    if temperature is None and isinstance(body := judge.parameters.get("body"), Mapping):
        temperature = body.get("temperature")
    return temperature if isinstance(temperature, int | float) else "not sent: the endpoint's default was used"


def describe_run_log(log: Mapping[str, Any]) -> str:
    """The same for a person; `run_log.json` has all of it."""
    environment = log["environment"]
    command = environment["command"] or shlex.join(environment["command_line"])
    return render("run_log.md.jinja", log=log, command=command)


def describe_prompts(manifest: Manifest, protocol: Mapping[str, Any], tallies: Mapping[str, JudgeTally]) -> str:
    """Seed 003 §9: the prompts that judges were given, cross and self, with what they were filled from."""
    used = {Method.RULES.value: "无 none: rules", _REPLAY: "未知 not known: replies were recorded elsewhere"}
    methods = {judge.name: tallies.get(judge.name, JudgeTally()).methods for judge in manifest.judges}
    return render("prompts.md.jinja", manifest=manifest, used=used, methods=methods, given=protocol)


def render(name: str, **values: Any) -> str:
    """A document of the archive, from the template beside this file."""
    text = resources.files("mixseek.archive").joinpath(name).read_text(encoding="utf-8")
    # Late: nothing else here needs it.
    from jinja2 import Environment, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown, in which nothing is to be escaped as HTML
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"cell": escape_cell, "fenced": fenced, "json": plain_json}
    return environment.from_string(text).render(values)


def plain_json(value: Any, indent: int | None = None) -> str:
    """JSON for reading, whatever script it is in."""
    return json.dumps(make_plain(value), ensure_ascii=False, indent=indent)


def fenced(text: str, language: str) -> str:
    """Inside a fence that the text cannot end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}{language}", text.rstrip("\n"), fence))


def escape_cell(value: Any) -> str:
    """One line without a bar: a file name must not end a table."""
    return " ".join(str(value).split()).replace("|", "\\|")


ARCHIVE_VERSION = 1
TABLE_COLUMNS = (
    *("path", "status", "id", *IDENTITY, "judge", "judge_model", "judge_model_claimed", "take", "attempt", "is_final"),
    *("method", "verdict", "score", "total", "scores", "flags", "reason", "sha256", "response_sha256", "timestamp"),
)
# Whose digests the marker keeps, so that an edited index does not vouch for edited judgments.
SEALED = (*(INDEX, INDEX_TABLE, SAMPLES, PROTOCOL, PROMPTS), *(RUN_LOG, RUN_LOG_TEXT))
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
        log = run_log(manifest, tallies)
        for name, text in {
            PROMPTS: describe_prompts(manifest, protocol, tallies),
            RUN_LOG_TEXT: describe_run_log(log),
            INVALID_README: render("invalid_readme.md"),
        }.items():
            (room / name).write_text(text, encoding="utf-8", errors="replace")
        (room / RUN_LOG).write_bytes(encode_document(log))
        (room / PROTOCOL).write_bytes(encode_document(protocol))
        marker = {
            "archive_version": ARCHIVE_VERSION,
            "run": manifest.run,
            "protocol": manifest.protocol.name,
            "protocol_hash": manifest.protocol.hash,
            "sha256": {name: digest_file(room / name) for name in SEALED},
        }
        (room / MARKER).write_bytes(encode_document(marker))
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
        owner = orjson.loads((to / MARKER).read_bytes()).get("run")
    except (OSError, ValueError, AttributeError):
        raise ConfigurationError(f"{to}: not empty and no archive; name a new directory with --to") from None
    if owner != run:
        raise ConfigurationError(f"{to}: holds the archive of run {owner!r}; name another directory with --to")


def rename_archive(directory: Path, run: str) -> None:
    """The archive in a run's own directory goes with the run to its new name; what it says of the past stays."""
    path = directory / MARKER
    if path.is_file():
        with replacing(path) as stream:
            stream.write(encode_document({**orjson.loads(path.read_bytes()), "run": run}))


def fill_rooms(run: RunDirectory, manifest: Manifest, room: Path, read: ReadAgain) -> dict[str, JudgeTally]:
    """Every judgment as a file, every pair in the index, every sample once; one pair in memory at a time."""
    tallies: dict[str, JudgeTally] = defaultdict(JudgeTally)
    for status in ROOMS.values():
        (room / status).mkdir()
    filing = _Filing(room, {judge.name: judge for judge in manifest.judges}, only_day(manifest))
    last_key = ""
    with (
        open_run_index(Workspace(run.path.parent.parent), run) as judgments,
        (room / INDEX).open("wb", buffering=1 << 20) as index,
        (room / SAMPLES).open("wb", buffering=1 << 20) as samples,
        table_writer(room / INDEX_TABLE) as table,
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

    def __init__(self, room: Path, judges: Mapping[str, JudgeEntry], run_day: str | None) -> None:
        self._room = room
        self._judges = judges
        self._run_day = run_day
        self._folders = JudgeFolders()

    def file(self, judged: JudgedTake, outcome: Mapping[str, Any], attempt: int | None = None) -> dict[str, Any]:
        """Write the judgment's file, if it has one, and return its row; `attempt` numbers replies asked for again."""
        known = self._provenance(judged, outcome)
        row = index_row(judged, outcome, known)
        if attempt is not None:
            row |= {"attempt": attempt, "is_final": False}
        place = ROOMS.get(outcome["status"])
        if place is None:
            return row
        folder = f"{place}/{self._folders.name(judged.judge, known.judge_model or label_judge(judged.judge))}"
        (self._room / folder).mkdir(exist_ok=True)
        write = wire_document if outcome["status"] == Status.VALID else invalid_document
        data = encode_document(write(judged, outcome, known))
        row["path"] = f"{folder}/{name_file(judged.sample, judged.key, judged.judge, judged.take, attempt)}"
        row["sha256"] = hashlib.sha256(data).hexdigest()
        (self._room / row["path"]).write_bytes(data)
        return row

    def _provenance(self, judged: JudgedTake, outcome: Mapping[str, Any]) -> Provenance:
        entry = self._judges.get(judged.judge)
        model = known_model(judged, entry)
        method = outcome.get("method") or derived_method(judged, entry, model)
        return Provenance(model, reply_day(judged, entry, self._run_day), method)


def index_row(judged: JudgedTake, outcome: Mapping[str, Any], known: Provenance) -> dict[str, Any]:
    """One line of the index; `path` and `sha256` are filled in where there is a file."""
    fields = outcome.get("fields", {})
    return {
        "path": None,
        "status": outcome["status"],
        "key": judged.key,
        "id": judged.sample["id"],
        **{name: judged.sample.get(name) for name in IDENTITY},
        "judge": judged.judge,
        "judge_model": known.judge_model or label_judge(judged.judge),
        "judge_model_claimed": claimed_model(judged),
        "take": judged.take,
        "attempt": len(judged.earlier) + 1 if judged.reply is not None else None,
        "is_final": True,
        "has_reply": judged.reply is not None,
        # Of what has no judgment, nothing was done by anybody.
        "method": known.method if outcome["status"] in ROOMS else None,
        "is_ruled": outcome.get("method") == Method.RULES,
        "verdict": outcome.get("verdict"),
        "score": outcome.get("score"),
        **certainty_columns(outcome),
        "total": fields.get("total"),
        "scores": fields.get("scores"),
        "flags": list(dict.fromkeys(item["flag"] for item in outcome.get("flags", ()))),
        "reason": outcome.get("reason"),
        "reply_details": read_details(judged),
        **presentation_columns(judged),
        "sha256": None,
        "response_sha256": hashlib.sha256(judged.sample["response"].encode("utf-8", "surrogatepass")).hexdigest(),
        "timestamp": (known.timestamp or claimed_day(judged)) if outcome["status"] in ROOMS else None,
    }


def certainty_columns(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """How sure the judge is; nothing where nothing says so."""
    confidence = read_confidence(outcome.get("confidence"))
    columns = {} if confidence is None else columns_of(confidence)
    expected = outcome.get("expected_score")
    return columns if expected is None else {**columns, "expected_score": expected}


def presentation_columns(judged: JudgedTake) -> dict[str, Any]:
    """The ways in which the sample was shown, and what the tokens of each reply said where that is known."""
    if not judged.shown:
        return {}
    tokens = {name: reply["details"][LOGPROBS] for name, reply in judged.shown.items() if LOGPROBS in reply["details"]}
    return {"presentations": list(judged.shown), **({"presentation_tokens": tokens} if tokens else {})}


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
    """A writer with a byte-order mark: without it spreadsheets garble the names of the two rooms."""
    with path.open("wb", buffering=1 << 20) as raw, TextIOWrapper(raw, "utf-8-sig", newline="") as stream:
        writer = csv.DictWriter(stream, TABLE_COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        yield writer


@contextlib.contextmanager
def staging(to: Path) -> Iterator[Path]:
    """A directory beside the target that takes its place when the block ends well, and vanishes when it does not."""
    room = name_temporary(to)
    try:
        finish_swap(to)
        room.mkdir()
        yield room
        swap(room, to)
        sync_directory(to.parent)
    except OSError as error:
        raise storage_error("write the archive", to, error) from error
    finally:
        shutil.rmtree(room, ignore_errors=True)


def finish_swap(to: Path) -> None:
    """What somebody left who was killed: half an archive, or the old one, which goes back where none is."""
    remove_abandoned(to.parent)
    for old in to.parent.glob(f"{glob.escape(name_temporary(to).name.rsplit('.', 2)[0])}.*{_OLD}"):
        if is_abandoned(old.with_suffix(".tmp")):
            if to.exists():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.rename(to)


def swap(room: Path, to: Path) -> None:
    """The old archive is removed only once the new one stands in its place."""
    old = room.with_suffix(_OLD)
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
