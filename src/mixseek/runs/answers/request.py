"""What `mixseek answer` was asked to do, and the parts that it is made into."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import orjson

from mixseek.datasets.questions import open_questions
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.answers import AnswerProtocol
from mixseek.runs.answers.grid import QuestionGrid
from mixseek.runs.answers.targets import get_targets
from mixseek.runs.answers.variants import read_variants
from mixseek.runs.requests.manifest_entries import describe_judge
from mixseek.runs.requests.named import NamedJudge, replays_file
from mixseek.runs.requests.request import ClusterOptions, JudgeRequest, LiveOptions, Plan, check_cluster
from mixseek.settings.models import JudgeSettings
from mixseek.storage.workspace import Workspace, default_run_id


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """`mixseek answer` as data; `questions` is a path, or `-` for stdin."""

    questions: str
    workspace: Path
    targets: Sequence[NamedJudge]
    # By name a file, or a table of `user` and `system`.
    variants: Mapping[str, Any] = field(default_factory=dict)
    run: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    limit: int | None = None
    command_line: Sequence[str] = ()
    live: LiveOptions = LiveOptions()
    cluster: ClusterOptions | None = None
    configured: Mapping[str, JudgeSettings] = field(default_factory=dict)
    # What the questions are called where the file is only a copy of what was in memory.
    data_name: str | None = None
    longest_line: int = LONGEST_LINE_BYTES
    keeps_empty_run: bool = False
    # Where keys are found; never to be shown.
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def plan_answers(request: AnswerRequest) -> Plan:
    """Raises ConfigurationError for whatever cannot work, before anything is written; cheap checks come first."""
    check_cluster(request.cluster, request.live.batches)
    variants = read_variants(request.variants)
    targets = get_targets(request.targets, request.configured, request.environment, request.live.timeout_seconds)
    workspace = Workspace(request.workspace)
    if request.run is not None:
        workspace.answers(request.run)
    questions = open_questions(
        request.questions, request.mapping, workspace.spool, request.longest_line, request.data_name
    )
    noting = [target.note_sample for target in targets if replays_file(target)]
    grid = QuestionGrid(questions, variants, request.limit, noting)
    survey = grid.survey()
    name = request.run or default_run_id(
        dataset_stem=questions.stem,
        dataset_digest=survey.sha256,
        protocol_name="answers",
        protocol_hash=hashlib.sha256(orjson.dumps([variant.sha256 for variant in variants])).hexdigest(),
        judges=[describe_judge(target).model_dump_json() for target in targets],
        options={"mapping": dict(request.mapping), "limit": request.limit, "repeats": request.live.repeats},
    )
    return Plan(
        request=as_judging(request),
        workspace=workspace,
        run=workspace.answers(name),
        dataset=grid,
        samples=survey.rows,
        protocol=AnswerProtocol(),
        judges=targets,
        workers=1,
    )


def as_judging(request: AnswerRequest) -> JudgeRequest:
    """What is asked as judges are asked: the same wire, limits, cache, budget and journal."""
    if request.live.repeats < 1:
        raise ConfigurationError("--repeats: at least 1")
    return JudgeRequest(
        data=request.questions,
        workspace=request.workspace,
        protocol=AnswerProtocol(),
        judges=tuple(request.targets),
        run=request.run,
        mapping=request.mapping,
        command_line=request.command_line,
        live=replace(request.live, max_reasks=0),
        cluster=request.cluster,
        configured={
            name: settings.model_copy(update={"max_reasks": 0}) for name, settings in request.configured.items()
        },
        keeps_empty_run=request.keeps_empty_run,
        environment=request.environment,
    )
