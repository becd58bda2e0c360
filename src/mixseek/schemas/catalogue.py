"""All documents by name: who prints them, and their JSON Schema (draft 2020-12)."""

from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.domain.documents import SCHEMA_KEY, VERSION, DocumentName, schema_id
from mixseek.errors import ConfigurationError
from mixseek.labels.intake import ImportResult
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.sections import Section, unbroken_lines
from mixseek.protocols.declaration import unknown_among
from mixseek.runs.batches.listed import BatchList
from mixseek.runs.cards import Card
from mixseek.schemas import of_answers, of_numbers, of_races, of_runs, of_tools
from mixseek.storage.reply_cache import CacheState

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Declared:
    """One document: the type that lists its keys, and the commands that print it with `--json`."""

    type: Any
    commands: tuple[str, ...]
    # Where its version stands; another key only where that one was taken before there were versions.
    key: str = SCHEMA_KEY


DECLARED: dict[DocumentName, Declared] = {
    DocumentName.JUDGE: Declared(of_runs.JudgeDocument, ("judge",)),
    DocumentName.DRY_RUN: Declared(of_runs.DryRunDocument, ("judge --dry-run",)),
    DocumentName.DEMO: Declared(of_runs.DemoDocument, ("demo",)),
    DocumentName.ANSWERS: Declared(of_answers.AnswersDocument, ("answer",)),
    DocumentName.ANSWERS_DRY_RUN: Declared(of_answers.AnswersDryRunDocument, ("answer --dry-run",)),
    DocumentName.IMPORT: Declared(of_tools.ImportDocument, ("import",)),
    DocumentName.CARD: Declared(Card, ("audit",)),
    DocumentName.AUDIT_DRY_RUN: Declared(of_runs.AuditDryRunDocument, ("audit --dry-run",)),
    DocumentName.JOBS: Declared(of_tools.JobsDocument, ("run",)),
    DocumentName.REPORT: Declared(of_runs.ReportDocument, ("report RUN",)),
    DocumentName.SIDE_BY_SIDE: Declared(of_runs.SideBySideDocument, ("report RUN RUN",)),
    DocumentName.COMPARE: Declared(of_numbers.CompareDocument, ("compare",)),
    DocumentName.SHOW: Declared(of_runs.ShowDocument, ("show",)),
    DocumentName.SHOW_ANSWERS: Declared(of_answers.ShowAnswersDocument, ("show, of answers",)),
    DocumentName.EXPORT: Declared(of_tools.ExportDocument, ("export",)),
    DocumentName.ARCHIVE: Declared(of_tools.ArchiveDocument, ("archive",)),
    DocumentName.ARCHIVE_ANSWERS: Declared(of_tools.ArchiveAnswersDocument, ("archive, of answers",)),
    DocumentName.ARCHIVE_CHECK: Declared(of_tools.ArchiveCheckDocument, ("archive --check",)),
    DocumentName.STATS: Declared(of_numbers.StatsDocument, ("stats",)),
    DocumentName.STATS_BY: Declared(of_numbers.StatsByDocument, ("stats",)),
    DocumentName.VOTES: Declared(of_numbers.VotesDocument, ("stats, of votes",)),
    DocumentName.COMPETE: Declared(of_races.CompeteDocument, ("compete",)),
    DocumentName.COMPETE_DRY_RUN: Declared(of_races.CompeteDryRunDocument, ("compete --dry-run",)),
    DocumentName.LEADERBOARD: Declared(of_races.LeaderboardDocument, ("leaderboard, of a competition",)),
    DocumentName.BOARD: Declared(of_numbers.BoardDocument, ("leaderboard, of a run or a table",)),
    DocumentName.EVALUATE: Declared(of_races.EvaluateDocument, ("evaluate",)),
    DocumentName.RUNS: Declared(of_runs.RunsDocument, ("runs",)),
    DocumentName.RUNS_COST: Declared(of_runs.RunsCostDocument, ("runs --cost",)),
    DocumentName.RUNS_RM: Declared(of_tools.RemovedDocument, ("runs rm",)),
    DocumentName.RUNS_MV: Declared(of_tools.MovedDocument, ("runs mv",)),
    DocumentName.RUNS_GC: Declared(of_tools.GarbageDocument, ("runs gc",)),
    DocumentName.BATCHES: Declared(BatchList, ("batches",)),
    DocumentName.LABEL_SAMPLE: Declared(of_runs.LabelSampleDocument, ("label sample",)),
    DocumentName.LABEL_IMPORT: Declared(ImportResult, ("label import",)),
    DocumentName.LABEL_STATUS: Declared(of_runs.LabelStatusDocument, ("label status",)),
    DocumentName.PLAN: Declared(of_runs.PlanDocument, ("plan",)),
    DocumentName.CASCADE_PLAN: Declared(of_numbers.CascadePlanDocument, ("cascade plan",)),
    DocumentName.CASCADE_WATCH: Declared(of_numbers.CascadeWatchDocument, ("cascade watch",)),
    DocumentName.PROTOCOL: Declared(of_tools.ProtocolDocument, ("protocol show",)),
    DocumentName.PROTOCOL_NEW: Declared(of_tools.ProtocolNewDocument, ("protocol new",)),
    DocumentName.PROTOCOL_LINT: Declared(of_tools.ProtocolLintDocument, ("protocol lint",)),
    DocumentName.JUDGES: Declared(of_tools.JudgesDocument, ("judges",)),
    DocumentName.JUDGES_CHECK: Declared(of_tools.JudgesCheckDocument, ("judges check",), "schema_version"),
    DocumentName.MODELS_INSTALL: Declared(of_tools.ModelsInstallDocument, ("models install",)),
    DocumentName.CACHE: Declared(CacheState, ("cache size", "cache prune")),
    DocumentName.INIT: Declared(of_tools.InitDocument, ("init",)),
    DocumentName.DOCTOR: Declared(of_tools.DoctorDocument, ("doctor",)),
    DocumentName.SCHEMAS: Declared(of_tools.SchemasDocument, ("schema",)),
    DocumentName.LOG: Declared(of_tools.LogDocument, ("judge --log-json", "run --log-json")),
}


def named_document(name: str) -> DocumentName:
    """The document by its name, or by the id that a document carries.

    Raises ConfigurationError with what was probably meant.
    """
    known = {document.value: document for document in DocumentName} | {
        schema_id(document): document for document in DocumentName
    }
    if name not in known:
        raise ConfigurationError(
            f"unknown schema {unknown_among(name, [document.value for document in DocumentName])}; "
            "`mixseek schema` lists them"
        )
    return known[name]


def json_schema(name: DocumentName) -> dict[str, Any]:
    """Open for keys that a later version adds, and strict about those that are declared."""
    # Here and not above: listing the names does not pay for it.
    from pydantic import TypeAdapter

    from mixseek.schemas.generation import PromisedFields

    declared = DECLARED[name]
    made = TypeAdapter(declared.type).json_schema(mode="serialization", schema_generator=PromisedFields)
    parts = made.pop("$defs", {})
    whole = parts.pop(made["$ref"].rpartition("/")[2]) if "$ref" in made else made
    # A document inside another one says which it is, too.
    known = {declared.type.__name__: document for document, declared in DECLARED.items()}
    parts = {part: with_version(body, known[part]) if part in known else body for part, body in parts.items()}
    return {
        "$schema": DRAFT,
        "$id": f"urn:mixseek:{name.value}:{VERSION}",
        **with_version(whole, name),
        **({"$defs": parts} if parts else {}),
    }


def with_version(body: Mapping[str, Any], name: DocumentName) -> dict[str, Any]:
    """The schema of a document with the key that names it, before all others."""
    key = DECLARED[name].key
    version = {"const": schema_id(name), "description": "Which document this is, and the version of its schema."}
    return {
        **body,
        "title": schema_id(name),
        "description": sentence_of(name),
        "properties": {key: version, **body["properties"]},
        "required": [key, *body.get("required", ())],
    }


def sentence_of(name: DocumentName) -> str:
    """The first paragraph of what the declaration says of itself."""
    return " ".join((DECLARED[name].type.__doc__ or "").strip().split("\n\n")[0].split())


def list_schemas() -> list[dict[str, Any]]:
    return [
        {"name": name.value, "id": schema_id(name), "what": sentence_of(name), "commands": list(declared.commands)}
        for name, declared in DECLARED.items()
    ]


def schema_sections() -> Iterator[Section]:
    """A line a document: its name, the commands that print it, what it is."""
    width = max(len(name.value) for name in DECLARED)
    lines = (
        f"{name.value:<{width}}  {', '.join(declared.commands)}: {sentence_of(name)}"
        for name, declared in DECLARED.items()
    )
    yield unbroken_lines(*lines)
