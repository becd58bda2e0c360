"""The one home of the journal's line format: three kinds of record, each a JSON object on a line of its own.

    {"t":"sample","key":…,"sample":{…}}
    {"t":"reply","key":…,"judge":…,"attempt":…,"text":…,"details":{…}}
    {"t":"outcome","key":…,"judge":…,"status":…,"id":…,"method":…,"score":…,"verdict":…,"fields":{…},
     "span":[start,end]|null,"rules":[…],"flags":[{"flag":…,"detail":…}],"repairs":[…],"reason":…}

An outcome of a repeat (`--repeats`) ends with `"take":2` and so on; without it, it is the first take. `"lost_tries":3`
counts requests that brought no reply, over all processes of the run, and `"lost_bill":{…}` says what their answers
without a reply took all the same (`input_tokens`, `output_tokens`, `cost_usd`); `"permanent":true` says that asking
again for what is missing changes nothing.

Text that UTF-8 cannot hold (an unpaired surrogate) stands in the line as U+FFFD, so that every JSON reader accepts
the line; the record as it was is then kept beside it, in `exact`.
"""

import dataclasses
import json
import math
import operator
import re
import sys
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, assert_never

import orjson
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mixseek.domain.judgments import (
    Finding,
    Flag,
    InvalidJudgment,
    Method,
    Missing,
    Outcome,
    Reply,
    Span,
    Status,
    Undecided,
    ValidJudgment,
    status_of,
)
from mixseek.domain.panels import PanelRule
from mixseek.domain.ports import NOTHING_LOST, LostRequests
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, DamagedError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import replacing, storage_error

_SURROGATE = re.compile("[\ud800-\udfff]")
# Everything but what is always written; a default takes no room in a line.
_DEFAULTS: Mapping[str, Any] = {
    item.name: {} if item.default is dataclasses.MISSING else item.default
    for item in dataclasses.fields(Sample)
    if item.name not in ("id", "response")
}
# What an outcome of any status has in the journal, in this order, and what stands where it has no meaning.
_OUTCOME_FIELDS = ("method", "score", "verdict", "fields", "span", "rules", "flags", "repairs", "reason")
_EMPTY: Mapping[str, Any] = {"fields": {}, "rules": (), "flags": (), "repairs": ()}
_optional_fields = operator.attrgetter(*_DEFAULTS)


@dataclass(frozen=True, slots=True)
class SampleRecord:
    """A sample was taken up."""

    key: str
    sample: Sample


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """A judge said something about a sample."""

    key: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class OutcomeRecord:
    """What became of a sample under a judge; the last one written counts."""

    key: str
    sample_id: str
    judge: str
    outcome: Outcome
    take: int = 1


Record = SampleRecord | ReplyRecord | OutcomeRecord


def encode_sample(sample: Sample, key: str | None = None) -> bytes:
    """`key` saves hashing the sample again where it is known."""
    optional = zip(_DEFAULTS, _optional_fields(sample), _DEFAULTS.values(), strict=True)
    known = {name: value for name, value, default in optional if value != default}
    fields = {"id": sample.id, "response": sample.response, **known}
    return encode_line({"t": "sample", "key": key or sample.key(), "sample": fields})


def encode_reply(sample_key: str, reply: Reply) -> bytes:
    """Every attempt is a line of its own."""
    fields = {"judge": reply.judge, "attempt": reply.attempt, "text": reply.text, "details": reply.details}
    return encode_line({"t": "reply", "key": sample_key, **fields})


def encode_outcome(
    sample: Sample, key: str, judge: str, outcome: Outcome, take: int = 1, lost: LostRequests = NOTHING_LOST
) -> bytes:
    """Every field is there for every status, null or empty where it has no meaning: tables are made of these."""
    record: dict[str, Any] = {"t": "outcome", "key": key, "judge": judge, "status": status_of(outcome), "id": sample.id}
    record |= {name: getattr(outcome, name, _EMPTY.get(name)) for name in _OUTCOME_FIELDS}
    span: Span | None = record["span"]
    record["span"] = None if span is None else [span.start, span.end]
    if take != 1:
        record["take"] = take
    if lost.tries:
        record["lost_tries"] = lost.tries
    if any(lost[1:]):
        record["lost_bill"] = dict(zip(lost._fields[1:], lost[1:], strict=True))
    match outcome:
        case InvalidJudgment():
            record["flags"] = [{"flag": finding.flag, "detail": finding.detail} for finding in outcome.findings]
        case Undecided():
            record["fields"] = {"extracted_answer": outcome.extracted_answer, **outcome.fields}
        case Missing(is_permanent=True):
            record["permanent"] = True
    return encode_line(record)


def decode_record(line: bytes) -> Record:
    """Raises ValueError for anything that is not a line of ours."""
    try:
        data = decode_line(line)
        match data["t"]:
            case "sample":
                return SampleRecord(data["key"], decode_sample(data["sample"]))
            case "reply":
                return ReplyRecord(data["key"], decode_reply(data))
            case "outcome":
                return OutcomeRecord(data["key"], data["id"], data["judge"], decode_outcome(data), data.get("take", 1))
            case other:
                raise ValueError(f"unknown record type {other!r}")
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a journal record ({error})") from error


def decode_sample(fields: Mapping[str, Any]) -> Sample:
    """The sample exactly as it was encoded."""
    alternatives = tuple(fields.get("ground_truth_alternatives", ()))
    return Sample(**{**fields, "ground_truth_alternatives": alternatives})


def decode_reply(data: Mapping[str, Any]) -> Reply:
    """The reply exactly as it was encoded."""
    return Reply(text=data["text"], judge=data["judge"], attempt=data["attempt"], details=data["details"])


def decode_outcome(data: Mapping[str, Any]) -> Outcome:
    """The outcome exactly as it was encoded."""
    span = None if data["span"] is None else Span(*data["span"])
    match Status(data["status"]):
        case Status.VALID:
            return ValidJudgment(
                score=data["score"],
                verdict=data["verdict"],
                fields=data["fields"],
                method=Method(data["method"]),
                span=span,
                rules=tuple(data["rules"]),
                repairs=tuple(data["repairs"]),
            )
        case Status.INVALID:
            findings = tuple(Finding(Flag(item["flag"]), item["detail"]) for item in data["flags"])
            return InvalidJudgment(findings, tuple(data["repairs"]), data["fields"])
        case Status.UNDECIDED:
            fields = {name: value for name, value in data["fields"].items() if name != "extracted_answer"}
            return Undecided(data["reason"], tuple(data["rules"]), span, data["fields"]["extracted_answer"], fields)
        case Status.MISSING:
            return Missing(data["reason"], data.get("permanent", False))
        case unexpected:
            assert_never(unexpected)


def encode_line(record: Mapping[str, Any]) -> bytes:
    """One line with its newline; what orjson refuses (surrogates, huge integers) is kept beside it in `exact`."""
    try:
        return orjson.dumps(record, default=make_plain, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        exact = json.dumps(make_plain(record), separators=(",", ":"))
        return encode_readable_line({**record, "exact": exact})


def encode_readable_line(record: Mapping[str, Any]) -> bytes:
    """One line for other programs: what not every JSON reader takes is replaced, and nothing is kept beside it."""
    try:
        return orjson.dumps(record, default=make_plain, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return orjson.dumps(make_plain(record, is_readable=True), option=orjson.OPT_APPEND_NEWLINE)


def decode_line(line: bytes) -> dict[str, Any]:
    """The JSON object of a line; raises ValueError (orjson's error is one)."""
    data = orjson.loads(line)
    if not isinstance(data, dict):
        # Not TypeError: a line that holds something else is a bad value, and callers catch one kind.
        raise ValueError("not a JSON object")  # noqa: TRY004
    if "exact" in data:
        exact: dict[str, Any] = json.loads(data["exact"])
        return exact
    return data


def decode_object(text: str) -> dict[str, Any]:
    """A text that is one JSON object and nothing else; empty for any other."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def is_absent(value: object) -> bool:
    """Whether a value is how pandas says that a cell is empty; the texts of those are no answers."""
    # Whoever has not loaded pandas has no such value, and pays nothing for the question.
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def make_plain(value: Any, is_readable: bool = False) -> Any:
    """What `json` can write; with `is_readable`, what every JSON reader can read too. Bytes are UTF-8, or it raises."""
    match value:
        case str():
            return replace_surrogates(str(value)) if is_readable else str(value)
        case None | bool():
            return value
        case int():
            return str(value) if is_readable and not -(2**63) <= value < 2**64 else int(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {make_plain(str(name), is_readable): make_plain(item, is_readable) for name, item in value.items()}
        case list() | tuple():
            return [make_plain(item, is_readable) for item in value]
        case bytes() | bytearray():
            return value.decode()
        case _ if is_absent(value):
            return None
        case _:
            return make_plain(str(value), is_readable)


def replace_surrogates(text: str) -> str:
    """One U+FFFD for each, so that spans still point at the same places."""
    return _SURROGATE.sub("\ufffd", text)


# What was run, with what, on what: written before the first call, sealed at the end.

MANIFEST_VERSION = 1
# Of the file of a judge `replay:FILE`, as it was at the latest start.
REPLIES_SHA256, REPLIES_BYTES = "replies_sha256", "replies_bytes"
# File names may hold bytes that are no UTF-8; a manifest shows them as U+FFFD.
ArgumentText = Annotated[str, BeforeValidator(replace_surrogates)]


class RunStatus(StrEnum):
    """Where a run stands; `running` in a manifest whose process is gone means that it was killed."""

    RUNNING = "running"
    COMPLETE = "complete"
    # Some replies could not be had; the same command asks for them again.
    INCOMPLETE = "incomplete"
    INTERRUPTED = "interrupted"


class ManifestPart(BaseModel):
    """Frozen, and tolerant of fields that a later version may add."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ProtocolEntry(ManifestPart):
    """What was asked, to the letter."""

    name: str
    version: str
    language: str
    hash: str
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    prompt_hashes: Mapping[str, str] = Field(default_factory=dict)

    @property
    def has_dimensions(self) -> bool:
        """Whether its judgments have a score for each dimension, as its own settings declare them."""
        return "dimensions" in self.parameters


class JudgeEntry(ManifestPart):
    """Who answered; `parameters` is decoding for a model, and for the others the digest of what they judge by."""

    name: str
    kind: str
    model: str | None = None
    parameters: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def without_replies(self) -> "JudgeEntry":
        """The judge whatever stands in its file; all that an older mixseek wrote down."""
        rest = {name: value for name, value in self.parameters.items() if name not in (REPLIES_SHA256, REPLIES_BYTES)}
        return self.model_copy(update={"parameters": rest})


class Environment(ManifestPart):
    """The machine and the versions with which it ran."""

    command_line: tuple[ArgumentText, ...] = ()
    # The same to be pasted into a shell.
    command: ArgumentText = ""
    package_versions: Mapping[str, str] = Field(default_factory=dict)
    python: str = ""
    platform: str = ""


class JournalSeal(ManifestPart):
    """What the journal was when the manifest was last written: so many bytes, with this digest."""

    bytes: int = Field(ge=0)
    blake2b: str
    # Of the same bytes. Unlike the digest it can be taken further from where an earlier reader stopped.
    crc32: int | None = None


class Manifest(ManifestPart):
    """Seed 003 §8 and more. Times are UTC; `started_at` is the latest start, `created_at` the first."""

    manifest_version: int = MANIFEST_VERSION
    run: str
    status: RunStatus
    created_at: AwareDatetime
    started_at: AwareDatetime
    finished_at: AwareDatetime | None = None
    dataset: Mapping[str, Any]
    sample_count: int
    protocol: ProtocolEntry
    judges: tuple[JudgeEntry, ...]
    cascade: bool = False
    # Independent takes of each judge that has to be waited for; rules are asked once.
    repeats: int = 1
    gates: Mapping[str, float] = Field(default_factory=dict)
    # The rule that several judges become one by, where the user named one; it changes no judgment.
    panel: PanelRule | None = None
    # Judge to status to number of samples.
    counts: Mapping[str, Mapping[str, int]] = Field(default_factory=dict)
    tools_used: bool = False
    network_used: bool = False
    environment: Environment = Environment()
    # Of a run in progress, the part of the journal that was on disk a moment ago; None for runs of an older mixseek.
    journal: JournalSeal | None = None

    @property
    def judge_names(self) -> tuple[str, ...]:
        """Names in the order in which they are asked."""
        return tuple(judge.name for judge in self.judges)

    @property
    def has_ended(self) -> bool:
        """Nobody adds to it any more, unless the same command is given again."""
        return self.status in (RunStatus.COMPLETE, RunStatus.INCOMPLETE)

    def restarted(self, at: datetime, environment: Environment) -> "Manifest":
        """The same run taken up again."""
        anew = {"status": RunStatus.RUNNING, "started_at": at.astimezone(UTC), "finished_at": None}
        return self.model_copy(update={**anew, "environment": environment})

    def sealed(
        self, status: RunStatus, at: datetime, counts: Mapping[str, Mapping[str, int]], journal: JournalSeal
    ) -> "Manifest":
        """How the run ended and what its journal came to: the last thing that is written."""
        end = {"status": status, "finished_at": at.astimezone(UTC), "counts": counts, "journal": journal}
        return self.model_copy(update=end)

    def check_resumable(self, request: "Manifest") -> None:
        """Refuse to add other samples, another protocol or other judges to this run; runs are never mixed."""
        panels = zip(self.judges, request.judges, strict=False)
        replies = [
            (f"version of {ours.name}", ours.parameters[REPLIES_SHA256], theirs.parameters.get(REPLIES_SHA256))
            for ours, theirs in panels
            if REPLIES_SHA256 in ours.parameters
        ]
        for what, begun, wanted in (
            ("dataset", self.dataset.get("sha256"), request.dataset.get("sha256")),
            ("plan", plan_digest(self.dataset), plan_digest(request.dataset)),
            ("column mapping", self.dataset.get("mapping"), request.dataset.get("mapping")),
            ("choice of pairs", self.dataset.get("pairs"), request.dataset.get("pairs")),
            ("budget", self.dataset.get("budget"), request.dataset.get("budget")),
            ("number of samples", self.sample_count, request.sample_count),
            ("protocol", self.protocol.hash, request.protocol.hash),
            (
                "set of judges, or other rules",
                *([judge.without_replies for judge in run.judges] for run in (self, request)),
            ),
            *replies,
            ("cascade", self.cascade, request.cascade),
            ("number of repeats", self.repeats, request.repeats),
        ):
            if begun != wanted:
                raise ConfigurationError(
                    f"run {self.run}: was started with another {what}; "
                    "choose a new name with --run, or leave --run out to get one"
                )


def plan_digest(dataset: Mapping[str, Any]) -> str | None:
    """The digest of the list of what was to be judged; None where there was none."""
    plan = dataset.get("plan")
    return plan.get("sha256") if isinstance(plan, Mapping) else None


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Atomic: a reader sees the old one or the new one."""
    document = make_plain(manifest.model_dump(mode="json"), is_readable=True)
    text = json.dumps(document, ensure_ascii=False, indent=2)
    with replacing(path) as stream:
        stream.write(text.encode() + b"\n")


def read_manifest(path: Path) -> Manifest:
    """Raises StorageError where there is none that can be read; DamagedError where it is no manifest.

    A run is called what its directory is called: renaming that is one step, and whoever dies after it loses nothing.
    """
    return read_stored_manifest(path).model_copy(
        update={"run": unicodedata.normalize("NFC", path.absolute().parent.name)}
    )


def read_stored_manifest(path: Path) -> Manifest:
    """The manifest to the letter: its name is the one under which it was written."""
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        raise storage_error("read the manifest", path, error) from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise DamagedError(
            f"{path}: not a manifest ({where}: {first['msg']}); restore it from a copy, or judge under another --run"
        ) from error
