"""What a person asked for, checked and turned into parts."""

import hashlib
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib import metadata, resources
from itertools import islice
from pathlib import Path

from mixseek.composition.catalogue import get_judges, get_protocol
from mixseek.domain.judgments import Method
from mixseek.domain.ports import Judge, JudgeProtocol
from mixseek.errors import DatasetError
from mixseek.storage.datasets import Dataset, open_dataset
from mixseek.storage.manifest import Environment, JudgeEntry, Manifest, ProtocolEntry, RunStatus
from mixseek.storage.workspace import RunDirectory, Workspace, default_run_id

RULES = Method.RULES.value
# What decides a verdict or the shape of a file; anything else can be looked up from these.
PACKAGES = ("mixseek", "duckdb", "jinja2", "orjson", "pydantic", "math-verify")


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """`mixseek judge` as data; `data` is a path, or `-` for stdin."""

    data: str
    workspace: Path
    protocol: str = "semantic"
    language: str | None = None
    judges: Sequence[str] = (RULES,)
    cascade: bool = False
    run: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    workers: int = 0
    gates: Mapping[str, float] = field(default_factory=dict)
    command_line: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Every part of a run, ready to work; nothing has been written yet."""

    request: JudgeRequest
    workspace: Workspace
    run: RunDirectory
    dataset: Dataset
    samples: int
    protocol: JudgeProtocol
    judges: tuple[Judge, ...]
    workers: int

    @property
    def cascade(self) -> bool:
        return self.request.cascade

    @property
    def judge_names(self) -> tuple[str, ...]:
        """In the order in which they are asked."""
        return tuple(judge.name for judge in self.judges)


def make_plan(request: JudgeRequest, cores: int) -> Plan:
    """Raises ConfigurationError for whatever cannot work, before anything is written.

    The cheap checks come first: a misspelt judge is said before a million rows are read.
    """
    protocol = get_protocol(request.protocol, request.language)
    judges = get_judges(request.judges)
    workspace = Workspace(request.workspace)
    if request.run is not None:
        workspace.run(request.run)
    dataset = open_dataset(request.data, mapping=request.mapping, spool_directory=workspace.spool)
    refuse_blind_rules(dataset, judges)
    survey = dataset.survey()
    samples = min(survey.rows, request.limit or survey.rows)
    name = request.run or default_run_id(
        dataset_stem=dataset.stem,
        dataset_digest=survey.sha256,
        protocol_name=protocol.name,
        protocol_hash=protocol.hash,
        judges=[describe_judge(judge).model_dump_json() for judge in judges],
        options={"cascade": request.cascade, "mapping": dict(survey.mapping), "samples": samples},
    )
    # Rules are pure computation and spread well; a replay file would be opened again by every process.
    spreads = all(judge.name == RULES for judge in judges)
    workers = (request.workers or cores) if spreads else 1
    return Plan(request, workspace, workspace.run(name), dataset, samples, protocol, judges, workers)


def refuse_blind_rules(dataset: Dataset, judges: Sequence[Judge]) -> None:
    """Rules without a single ground truth would leave everything undecided: surely a column with another name."""
    survey = dataset.survey()
    if survey.rows_without_ground_truth == survey.rows and any(judge.name == RULES for judge in judges):
        columns = ", ".join(islice(survey.columns, 12))
        raise DatasetError(
            f"{dataset.name}: no row has a `ground_truth`, so rules have nothing to compare with; "
            f"name its column with --map ground_truth=COLUMN (columns: {columns})"
        )


def first_manifest(plan: Plan, now: datetime) -> Manifest:
    """What is about to be run."""
    protocol = plan.protocol
    return Manifest(
        run=plan.run.name,
        status=RunStatus.RUNNING,
        created_at=now,
        started_at=now,
        dataset=plan.dataset.description,
        sample_count=plan.samples,
        protocol=ProtocolEntry(
            name=protocol.name,
            version=protocol.version,
            language=protocol.language,
            hash=protocol.hash,
            parameters=protocol.parameters,
        ),
        judges=tuple(describe_judge(judge) for judge in plan.judges),
        cascade=plan.cascade,
        gates=plan.request.gates,
        environment=Environment(
            command_line=tuple(plan.request.command_line),
            package_versions=package_versions(),
            python=platform.python_version(),
            platform=f"{sys.platform} {platform.machine()}",
        ),
    )


def describe_judge(judge: Judge) -> JudgeEntry:
    """Rules are named by their own digest: a run begun by other rules is another run, not half of this one."""
    kind = judge.name.partition(":")[0]
    return JudgeEntry(name=judge.name, kind=kind, parameters={"rules_sha256": digest_rules()} if kind == RULES else {})


@cache
def digest_rules() -> str:
    """Over the text of every module that matches answers."""
    room = Path(str(resources.files("mixseek.matching")))
    digest = hashlib.sha256()
    for path in sorted(room.rglob("*.py")):
        digest.update(path.relative_to(room).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def package_versions() -> dict[str, str]:
    """Installed versions; an extra that is not there is left out."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
