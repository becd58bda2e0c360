"""Documents of everything around judging: files, protocols, judges, upkeep, logs."""

from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from mixseek.archive.check import Problem
from mixseek.domain.decisions import DecisionQuestion
from mixseek.schemas.parts import Anything
from mixseek.setup.findings import Finding


class LogError(TypedDict):
    id: str
    error: str


class ImportDocument(TypedDict):
    """What a log of another tool holds."""

    file: str
    format: str
    tool_version: str | None
    log_version: str | None
    samples: int
    questions: int
    responses: int
    empty_responses: int
    targets: int
    errors: int
    withheld: int
    with_steps: int
    with_contexts: int
    repeats: int
    scores: Mapping[str, Mapping[str, int]]
    stop_reasons: Mapping[str, int]
    target_models: Mapping[str, int]
    first_errors: Sequence[LogError]
    companions: Sequence[str]
    notices: Sequence[str]
    to: str | None


class JobDocument(TypedDict):
    """One job: the document of its run, and that of each step by its key."""

    name: str
    exit_code: int | None
    state: str
    summary: Anything | None
    steps: Mapping[str, Anything]
    errors: Sequence[str]


class JobsDocument(TypedDict):
    """What became of the jobs of a file; the exit code is the worst of all."""

    file: str
    exit_code: int
    jobs: Sequence[JobDocument]


class ExportDocument(TypedDict):
    """A table that was written."""

    run: str
    file: str
    rows: int


class ArchiveDocument(TypedDict):
    """An archive that was written: files of valid and invalid judgments."""

    run: str
    directory: str
    valid: int
    invalid: int
    unjudged: int
    asked_again: int


class ArchiveAnswersDocument(TypedDict):
    """An archive of answers that was written."""

    run: str
    directory: str
    answers: int
    prompts: int


class ArchiveCheckDocument(TypedDict):
    """An archive that was read again; `files` are judgments, or the files of an archive of answers."""

    directory: str
    kind: str
    run: str
    files: int
    problems: Sequence[Problem]
    ok: bool


class RemovedEntry(TypedDict):
    kind: str
    name: str
    bytes: int


class RemovedDocument(TypedDict):
    """Runs and competitions that are gone."""

    removed: Sequence[RemovedEntry]


class MovedDocument(TypedDict):
    """A run or a competition under its new name."""

    kind: str
    name: str
    new_name: str


class GarbageEntry(TypedDict):
    path: str
    kind: str
    why: str
    bytes: int


class GarbageDocument(TypedDict):
    """What nobody needs, and what looks like it and stays."""

    dry_run: bool
    removed: Sequence[GarbageEntry]
    bytes: int
    kept: Sequence[str]


class MessageDocument(TypedDict):
    role: str
    content: str


class ProtocolDocument(TypedDict):
    """Everything that is asked of a judge and demanded of its reply."""

    name: str
    version: str
    language: str
    hash: str
    parameters: Anything
    reply_schema: Anything
    messages: Sequence[MessageDocument]
    documentation: str | None
    # What a decision endpoint is asked, or why it cannot be.
    questions: Sequence[DecisionQuestion]
    no_questions: str | None


class ProtocolNewDocument(TypedDict):
    """A protocol that was written to begin with."""

    file: str
    name: str


class ComplaintDocument(TypedDict):
    file: str
    line: int | None
    what: str
    advice: str
    is_hint: bool


class ProtocolLintDocument(TypedDict):
    """What is wrong with protocols and task rubrics."""

    files: Sequence[str]
    problems: int
    complaints: Sequence[ComplaintDocument]


class ConfiguredJudge(TypedDict):
    name: str
    provider: str | None
    model: str | None
    base_url: str | None
    gives: str | None
    problem: str | None


class ProviderDocument(TypedDict):
    name: str
    base_url: str | None
    key_variables: Sequence[str]
    key_found: bool | None


class JudgesDocument(TypedDict):
    """Judges of mixseek.toml, and providers that are known."""

    configured: Sequence[ConfiguredJudge]
    providers: Sequence[ProviderDocument]
    forms: Mapping[str, str]


class JudgesCheckDocument(TypedDict):
    """One call to a judge.

    `schema` says how the shape of its reply could be asked for, so the version of this document is `schema_version`.
    """

    judge: str
    endpoint: str
    problem: str | None
    advice: Sequence[str]
    latency_seconds: float | None
    model: str | None
    schema: str | None
    input_tokens: int | None
    output_tokens: int | None
    is_schema_obeyed: bool | None
    is_usable: bool


class ModelsInstallDocument(TypedDict):
    """Weights that were fetched."""

    name: str
    path: str
    warning: str


class InitDocument(TypedDict):
    """A job file that was written, and what to type next."""

    file: str
    samples: str
    next: str


class DoctorDocument(TypedDict):
    """What is installed, who answers, and what is wrong."""

    ok: bool
    problems: int
    findings: Sequence[Finding]


class SchemaEntry(TypedDict):
    name: str
    id: str
    what: str
    commands: Sequence[str]


class SchemasDocument(TypedDict):
    """The names of all schemas."""

    schemas: Sequence[SchemaEntry]


class LogDocument(TypedDict):
    """One line of `--log-json` on standard error: progress, a notice, or an error."""

    time: str
    logger: str
    message: str
