"""What the index can tell about one run: the counts that a report is made of, and rows to look at."""

import bisect
import contextlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import duckdb
import orjson

from mixseek.domain.calls import CallAccount, Latency
from mixseek.domain.counts import (
    OWN_PARTS,
    FailureGroup,
    OutcomeCount,
    ReaskCount,
    ReasonCount,
    ReasoningCount,
    RuleCount,
    TakeSpread,
    UnitGroups,
    UnitSums,
)
from mixseek.domain.judgments import Finding, Flag, Span, Status
from mixseek.storage.duckdb_session import fetch_all, offline_settings, read_statements
from mixseek.storage.durable import storage_error
from mixseek.storage.index.loading import ensure_indexed, find_damage, reading
from mixseek.storage.index.statements import judged_unit_sums, read_unit_groups
from mixseek.storage.journal.records import decode_line
from mixseek.storage.workspace import RunDirectory, Workspace

if TYPE_CHECKING:
    from mixseek.storage.index.scored import ScoredIndex

# Of a judge that never answered: from `calls` to `finish_reasons`.
_NO_REPLIES: tuple[Any, ...] = (*(0,) * 8, Decimal(0), 0, None, (), {})


_PAGE_ROWS = 500
_SQL = read_statements("mixseek.storage.index", "queries.sql")
_DATASET_ORDER = "sample_position, judge_order, judge, take"


class RowOrder(StrEnum):
    """How rows come."""

    DATASET = "dataset"
    WORST_FIRST = "worst_first"
    LONGEST_FIRST = "longest_first"


_ORDERS = {
    RowOrder.DATASET: _DATASET_ORDER,
    RowOrder.WORST_FIRST: f"score NULLS LAST, {_DATASET_ORDER}",
    RowOrder.LONGEST_FIRST: f"response_characters DESC, {_DATASET_ORDER}",
}


@dataclass(frozen=True, slots=True)
class JudgeTotals:
    """How one judge's samples ended; `mean_score` is over valid ones, None where there are none."""

    judge: str
    valid: int
    invalid: int
    undecided: int
    missing: int
    mean_score: float | None


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One sample under one judge, with all that a person needs to check it."""

    id: str
    judge: str
    take: int
    status: Status
    is_final: bool  # False where a later judge of the cascade was asked
    is_control: bool  # a model on its own output
    method: str | None
    score: float | None
    verdict: str | None
    is_correct: bool | None
    extracted_answer: str | None
    reasoning_score: int | None
    error_type: str | None
    comment: str | None
    span: Span | None
    fields: Mapping[str, Any]  # the protocol's own scale and words; of an invalid judgment: its quotes
    rules: tuple[str, ...]
    flags: tuple[Finding, ...]
    repairs: tuple[str, ...]
    reason: str | None
    raw_reply: str | None  # the last attempt's
    task_name: str | None
    target_model: str | None
    question_id: str | None
    prompt_variant: str | None
    ground_truth: str | None
    ground_truth_alternatives: tuple[str, ...]
    question: str
    response: str


@dataclass(frozen=True, slots=True)
class RowQuery:
    """Which rows, in which order; `limit_per_kind` takes that many of each status, low and high scores apart.

    `offset` passes over rows that an earlier page has shown.
    """

    judge: str | None = None
    status: Status | None = None
    limit: int | None = None
    offset: int = 0
    limit_per_kind: int | None = None
    order: RowOrder = RowOrder.DATASET


ALL_ROWS = RowQuery()


@dataclass(frozen=True, slots=True)
class JudgedTake:
    """One sample before one judge once, as the journal's records say it; None for what is still due."""

    key: str
    sample: dict[str, Any]
    judge: str
    take: int
    outcome: dict[str, Any] | None
    reply: dict[str, Any] | None = None
    # Replies that were invalid and asked for again, in the order of asking.
    earlier: tuple[dict[str, Any], ...] = ()


class RunIndex:
    """Questions about one run, over a connection that somebody else closes."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: RunDirectory) -> None:
        self._connection = connection
        self._run = run
        self._places = JournalPlaces(connection)

    def sample_count(self) -> int:
        """How many samples the journal holds: fewer than the dataset where a run was stopped."""
        return int(self._all("sample_count")[0][0])

    def totals(self) -> list[JudgeTotals]:
        """In the order of the judges."""
        return [JudgeTotals(*row) for row in self._all("totals")]

    def outcome_counts(self, *, final_only: bool = False) -> list[OutcomeCount]:
        """By judge, task, status, verdict and error type; judgments of a model on its own output apart."""
        return [
            OutcomeCount(judge, task, Status(status), *rest)
            for judge, task, status, *rest in self._all("outcome_counts", final_only=final_only)
        ]

    def unit_sums(self, *groups: str, final_only: bool = False, control: bool = False) -> UnitGroups:
        """What every interval rests on, by judge, task_name, target_model or prompt_variant: samples, not judgments."""
        parameters = {"final_only": final_only, "control": control}
        return read_unit_groups(fetch_all(self._connection, judged_unit_sums(groups), parameters), len(groups))

    def failure_groups(self) -> list[FailureGroup]:
        """Invalid and missing judgments by what is wrong, the most frequent first."""
        rows = self._all("failure_groups", own_parts=OWN_PARTS)
        return [FailureGroup(judge, Status(status), *rest) for judge, status, *rest in rows]

    def warning_counts(self) -> list[tuple[str, str, int]]:
        """Judge, warning and how many valid judgments carry it, the most frequent first."""
        return [(judge, warning, count) for judge, warning, count in self._all("warning_counts")]

    def reasoning_counts(self) -> list[ReasoningCount]:
        """Reasoning scores crossed with correctness, by judge, task and target; empty where none was assessed."""
        return [ReasoningCount(*row) for row in self._all("reasoning_counts")]

    def reask_counts(self) -> list[ReaskCount]:
        """Of judges that gave replies, in the order of the judges."""
        return [ReaskCount(*row) for row in self._all("reask_counts")]

    def take_spreads(self) -> list[TakeSpread]:
        """Of judges that were asked several times; empty without repeats."""
        return [TakeSpread(*row) for row in self._all("take_spreads")]

    def rule_counts(self) -> list[RuleCount]:
        """By judge, rule and status; the most frequent first."""
        return [
            RuleCount(judge, rule, Status(status), *rest) for judge, rule, status, *rest in self._all("rule_counts")
        ]

    def flag_counts(self, limit: int = 1_000) -> list[ReasonCount]:
        """By judge, flag and reason; the most frequent first, because reasons may be as many as rows."""
        rows = self._all("flag_counts", own_parts=OWN_PARTS, limit=limit)
        return [ReasonCount(judge, Flag(flag), *rest) for judge, flag, *rest in rows]

    def reason_counts(self, limit: int = 1_000) -> list[ReasonCount]:
        """By judge, status and reason; the most frequent first."""
        rows = self._all("reason_counts", own_parts=OWN_PARTS, limit=limit)
        return [ReasonCount(judge, Status(status), *rest) for judge, status, *rest in rows]

    def call_accounts(self) -> list[CallAccount]:
        """What was asked of live judges and what it cost, in the order of the judges; empty where there are none."""
        accounts: dict[str, CallAccount] = {}
        finished: dict[str, dict[str, int]] = defaultdict(dict)
        for judge, reason, count in self._all("finish_reasons"):
            finished[judge][reason] = count
        for *counted, latency, models in self._all("call_totals"):
            spread = Latency(*latency) if latency else None
            values: list[Any] = [*counted, spread, tuple(models), finished[counted[0]]]
            accounts[counted[0]] = CallAccount(*values)
        for judge, tries, input_tokens, output_tokens, cost_usd in self._all("lost_tries"):
            account = accounts.get(judge) or CallAccount(judge, *_NO_REPLIES)
            accounts[judge] = replace(
                account,
                tries=account.tries + tries,
                input_tokens=account.input_tokens + input_tokens,
                output_tokens=account.output_tokens + output_tokens,
                cost_usd=account.cost_usd + cost_usd,
            )
        return list(accounts.values())

    def missing_for_good(self) -> int:
        """Final judgments that are missing because the endpoint refuses the sample: asking again changes nothing."""
        return int(self._all("missing_for_good")[0][0])

    def judge_models(self) -> dict[str, str]:
        """Judges whose recorded replies are all one model's, with that model."""
        return dict(self._all("only_models"))

    def scored(self) -> "ScoredIndex | None":
        """What else can be asked under a protocol with dimensions; None under one without."""
        # Late: a run's summary asks for counts alone.
        from mixseek.storage.index.scored import ScoredIndex

        index = ScoredIndex(self._connection)
        return index if index.has_scores() else None

    def rows(self, query: RowQuery = ALL_ROWS) -> Iterator[JudgedRow]:
        """One in memory at a time, however many and however long they are."""
        parameters: dict[str, Any] = {
            "judge": query.judge,
            "status": query.status and query.status.value,
            "limit": query.limit,
            "offset": query.offset,
        }
        kinds = ""
        if query.limit_per_kind is not None:
            kinds = f" {_SQL['some_of_each_kind']}"
            parameters["per_kind"] = query.limit_per_kind
        choose = _SQL["choose"].format(kinds=kinds, order=_ORDERS[query.order])
        for page in self._pages(choose, parameters):
            yield from self._read(page)

    def find_sample(self, sample_id: str) -> list[JudgedRow]:
        """One sample under every judge; empty where there is none of that id."""
        return list(self._read(self._all("find", sample_id=sample_id)))

    def similar_ids(self, sample_id: str, limit: int = 5) -> list[str]:
        """Ids that a person may have meant."""
        return [row[0] for row in self._all("similar", sample_id=sample_id, limit=limit)]

    def takes(self) -> Iterator[JudgedTake]:
        """Every judgment with its records as they were written, for the archive; one in memory at a time."""
        with opening_journal(self._run) as journal:
            read = partial(self._places.read, journal, decode=decode_line)
            for page in self._pages(_SQL["takes"], {}):
                for position, place, judge, take, said in page:
                    sample, replies = read("sample", place), [read("reply", one) for one in said]
                    outcome = read("outcome", position) if position > 0 else None
                    if any(record.get("key") != sample.get("key") for record in (*replies, outcome or sample)):
                        raise find_damage(self._run)
                    # What is still due may have been answered: its reply is then read on resuming.
                    reply = replies[-1] if replies and outcome is not None else None
                    yield JudgedTake(sample["key"], sample["sample"], judge, take, outcome, reply, tuple(replies[:-1]))

    def _pages(self, query: str, parameters: Mapping[str, Any]) -> Iterator[list[tuple[Any, ...]]]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(query, parameters)
            while page := cursor.fetchmany(_PAGE_ROWS):
                yield page
        finally:
            cursor.close()

    def _read(self, page: Sequence[tuple[Any, ...]]) -> Iterator[JudgedRow]:
        """Texts are in the journal; the index knows where."""
        told = [IndexedRow(*row) for row in page]
        keys = list({row.key for row in told})
        said = {tuple(place): position for *place, position in self._all("last_replies", keys=keys)} if keys else {}
        with opening_journal(self._run) as journal:
            for row in told:
                yield self._read_one(journal, row, said.get((row.key, row.judge, row.take)))

    def _read_one(self, journal: BinaryIO, row: "IndexedRow", reply: int | None) -> JudgedRow:
        read = partial(self._places.read, journal)
        sample = read("sample", row.sample)
        # What is still due has no line.
        outcome = read("outcome", row.outcome) if row.outcome > 0 else {"key": row.key, "reason": row.reason}
        said = read("reply", reply) if reply is not None else {"key": row.key, "text": None}
        if any(record.get("key") != row.key for record in (sample, outcome, said)):
            raise find_damage(self._run)
        try:
            return read_row(row, sample["sample"], outcome, said["text"])
        except (KeyError, TypeError, ValueError) as error:
            raise find_damage(self._run) from error

    def _all(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return fetch_all(self._connection, _SQL[name], parameters)


@contextlib.contextmanager
def opening_journal(run: RunDirectory) -> Iterator[BinaryIO]:
    """For reading lines here and there."""
    try:
        with run.journal.open("rb") as journal:
            yield journal
    except OSError as error:
        raise storage_error("read the journal", run.journal, error) from error


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """What the index itself knows of a row; the two positions say where the rest is."""

    outcome: int
    sample: int
    key: str
    judge: str
    take: int
    status: str
    is_final: bool
    is_control: bool
    reason: str | None


class JournalPlaces:
    """Lines of the journal by kind and position; eight bytes a line are held of each kind that is asked for."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._parts: dict[str, tuple[list[int], list[array[int]]]] = {}

    def read(
        self, journal: BinaryIO, kind: str, position: int, decode: Callable[[bytes], Any] = orjson.loads
    ) -> dict[str, Any]:
        """The record as every JSON reader sees it; empty where there is none at that place."""
        if kind not in self._parts:
            rows = fetch_all(self._connection, _SQL["places"], {"kind": kind})
            self._parts[kind] = [row[0] for row in rows], [array("q", row[1]) for row in rows]
        firsts, parts = self._parts[kind]
        number = bisect.bisect_right(firsts, position) - 1
        journal.seek(parts[number][position - firsts[number]])
        try:
            record = decode(journal.readline())
        except ValueError:
            return {}
        return record if isinstance(record, dict) else {}


def pooled_unit_sums(workspace: Workspace, runs: Sequence[RunDirectory]) -> UnitSums:
    """Of the last words of several runs together: a sample that several of them judge is one unit."""
    for run in runs:
        ensure_indexed(workspace, run)
    names = [f"run_{number}" for number, _ in enumerate(runs)]
    with duckdb.connect(config=offline_settings()) as connection:
        for name, run in zip(names, runs, strict=True):
            path = str(run.index).replace("'", "''")
            connection.execute(f"ATTACH '{path}' AS {name} (READ_ONLY)")
        parameters = {"final_only": True, "control": False}
        return UnitSums(*fetch_all(connection, judged_unit_sums((), names), parameters)[0])


@contextlib.contextmanager
def open_run_index(workspace: Workspace, run: RunDirectory) -> Iterator[RunIndex]:
    """The run, indexed first if its journal is newer; open for as long as the block lasts and no longer."""
    ensure_indexed(workspace, run)
    with reading(run.index) as connection:
        yield RunIndex(connection, run)


# Columns of a row with where they come from; what a protocol says is taken where it is of this kind.
_OF_OUTCOME = ("method", "score", "verdict", "reason")
_OF_FIELDS = {"is_correct": bool, "extracted_answer": str, "reasoning_score": int, "error_type": str, "comment": str}
_OF_SAMPLE = ("task_name", "target_model", "question_id", "prompt_variant", "ground_truth")


def read_row(
    row: IndexedRow, sample: Mapping[str, Any], outcome: Mapping[str, Any], raw_reply: str | None
) -> JudgedRow:
    """From the records of the journal."""
    fields: Mapping[str, Any] = outcome.get("fields", {})
    span = outcome.get("span")
    named: dict[str, Any] = {
        **{name: outcome.get(name) for name in _OF_OUTCOME},
        **{name: of_kind(fields.get(name), kind) for name, kind in _OF_FIELDS.items()},
        **{name: sample.get(name) for name in _OF_SAMPLE},
    }
    return JudgedRow(
        **named,
        id=sample["id"],
        judge=row.judge,
        take=row.take,
        status=Status(row.status),
        is_final=row.is_final,
        is_control=row.is_control,
        span=Span(*span) if span else None,
        fields=fields,
        rules=tuple(outcome.get("rules", ())),
        flags=tuple(Finding(Flag(item["flag"]), item["detail"]) for item in outcome.get("flags", ())),
        repairs=tuple(outcome.get("repairs", ())),
        raw_reply=raw_reply,
        ground_truth_alternatives=tuple(sample.get("ground_truth_alternatives", ())),
        question=sample.get("question", ""),
        response=sample["response"],
    )


def of_kind(value: Any, kind: type) -> Any:
    """A protocol of somebody else's may use the same word for another thing; that stays in `fields`."""
    return value if isinstance(value, kind) and isinstance(value, bool) == (kind is bool) else None
