"""Which document a program has before it: every answer as JSON names its schema and the version of that."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

# Keys are added and never renamed, so a document of version 1 stays readable by whoever reads version 1.
VERSION = 1
SCHEMA_KEY = "schema"


class DocumentName(StrEnum):
    """Every document that a command prints; `mixseek schema NAME` prints what it holds."""

    JUDGE = "judge"
    DRY_RUN = "dry-run"
    DEMO = "demo"
    ANSWERS = "answers"
    ANSWERS_DRY_RUN = "answers-dry-run"
    IMPORT = "import"
    CARD = "card"
    AUDIT_DRY_RUN = "audit-dry-run"
    JOBS = "jobs"
    REPORT = "report"
    SIDE_BY_SIDE = "side-by-side"
    COMPARE = "compare"
    SHOW = "show"
    SHOW_ANSWERS = "show-answers"
    EXPORT = "export"
    ARCHIVE = "archive"
    ARCHIVE_ANSWERS = "archive-answers"
    ARCHIVE_CHECK = "archive-check"
    STATS = "stats"
    STATS_BY = "stats-by"
    VOTES = "votes"
    COMPETE = "compete"
    COMPETE_DRY_RUN = "compete-dry-run"
    LEADERBOARD = "leaderboard"
    BOARD = "board"
    EVALUATE = "evaluate"
    RUNS = "runs"
    RUNS_COST = "runs-cost"
    RUNS_RM = "runs-rm"
    RUNS_MV = "runs-mv"
    RUNS_GC = "runs-gc"
    BATCHES = "batches"
    LABEL_SAMPLE = "label-sample"
    LABEL_IMPORT = "label-import"
    LABEL_STATUS = "label-status"
    PLAN = "plan"
    CASCADE_PLAN = "cascade-plan"
    CASCADE_WATCH = "cascade-watch"
    PROTOCOL = "protocol"
    PROTOCOL_NEW = "protocol-new"
    PROTOCOL_LINT = "protocol-lint"
    JUDGES = "judges"
    JUDGES_CHECK = "judges-check"
    MODELS_INSTALL = "models-install"
    CACHE = "cache"
    INIT = "init"
    DOCTOR = "doctor"
    SCHEMAS = "schemas"
    LOG = "log"


def schema_id(name: DocumentName) -> str:
    """The id that a document carries, such as `mixseek.report/1`."""
    return f"mixseek.{name.value}/{VERSION}"


def with_schema(name: DocumentName, document: Mapping[str, Any], key: str = SCHEMA_KEY) -> dict[str, Any]:
    """The same document under its name, which comes first; one that was named before gets the new name."""
    return {key: schema_id(name), **{field: value for field, value in document.items() if field != key}}
