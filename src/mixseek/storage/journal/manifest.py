"""What was run, with what, on what: written before the first call, sealed at the end."""

import json
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mixseek.domain.counting import Counting, CutOffChoice, UndecidedChoice
from mixseek.domain.panels import PanelRule
from mixseek.errors import ConfigurationError, DamagedError
from mixseek.storage.durable import replacing, storage_error
from mixseek.storage.journal.records import make_plain, replace_surrogates

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
    # What may decide what: the whole of a cascade file with its certificate. None: the first valid judgment decides.
    route: Mapping[str, Any] | None = None
    # Independent takes of each judge that has to be waited for; rules are asked once.
    repeats: int = 1
    gates: Mapping[str, float] = Field(default_factory=dict)
    # What was checked of every sample, as documents.
    checks: tuple[Mapping[str, Any], ...] = ()
    # The rule that several judges become one by, where the user named one; it changes no judgment.
    panel: PanelRule | None = None
    # What means take of what was cut off and of what is undecided, where the user said so; no judgment changes.
    cut_off: CutOffChoice | None = None
    undecided: UndecidedChoice | None = None
    # Judge to status to number of samples.
    counts: Mapping[str, Mapping[str, int]] = Field(default_factory=dict)
    tools_used: bool = False
    network_used: bool = False
    environment: Environment = Environment()
    # Of a run in progress, the part of the journal that was on disk a moment ago; None for runs of an older mixseek.
    journal: JournalSeal | None = None

    @property
    def counting(self) -> Counting:
        """What its means take, where nobody chooses otherwise."""
        return Counting(self.cut_off, self.undecided)

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
            ("list of checks", list(self.checks), list(request.checks)),
            ("cascade", self.cascade, request.cascade),
            ("cascade file", self.route, request.route),
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
