"""What the index can tell about one run: the counts that a report is made of, and rows to look at."""

import bisect
import contextlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import duckdb
import orjson

from mixseek.domain.calls import CallAccount, Latency
from mixseek.domain.counts import (
    FlagCount,
    OutcomeCount,
    ReaskCount,
    ReasonCount,
    ReasoningCount,
    RuleCount,
    UnitGroups,
    UnitSums,
    WarningCount,
)
from mixseek.domain.judgments import Finding, Flag, Span, Status
from mixseek.errors import StorageError
from mixseek.storage.duckdb_session import fetch_all, offline_settings
from mixseek.storage.durable import storage_error
from mixseek.storage.index import queries as sql
from mixseek.storage.index.loading import ensure_indexed, find_damage, reading
from mixseek.storage.workspace import RunDirectory, Workspace

if TYPE_CHECKING:
    from mixseek.storage.index.scored import ScoredIndex

# What the calls of a run came to, judge by judge, from the replies in the journal.
#
# Only live judges write down whether a reply came from the cache: that tells their replies from recorded ones.
# Replies from the cache cost nothing and say nothing about the endpoint: they are counted, and left out of the rest.

CALL_TOTALS = """
    SELECT judge, count(*) FILTER (NOT is_cached), count(*) FILTER (is_cached),
        coalesce(sum(coalesce(tries, 1) + coalesce(requests, 1) - 1) FILTER (NOT is_cached), 0),
        count(*) FILTER (NOT is_cached AND ask > 1),
        coalesce(sum(input_tokens) FILTER (NOT is_cached), 0), coalesce(sum(output_tokens) FILTER (NOT is_cached), 0),
        coalesce(sum(cached_input_tokens) FILTER (NOT is_cached), 0),
        count(*) FILTER (NOT is_cached AND (input_tokens IS NULL OR output_tokens IS NULL)),
        coalesce(sum(cost_usd) FILTER (NOT is_cached), 0), count(*) FILTER (NOT is_cached AND cost_usd IS NULL),
        quantile_cont(latency_seconds, [0.5, 0.9, 0.99]) FILTER (NOT is_cached),
        coalesce(list_sort(list(DISTINCT model) FILTER (model IS NOT NULL)), [])
    FROM replies WHERE run = $run AND is_cached IS NOT NULL GROUP BY judge
    ORDER BY list_position((SELECT judges FROM runs WHERE run = $run), judge) NULLS LAST, judge"""

# Requests that brought no reply and what was billed for them: of calls that were given up, whatever became of their
# samples.
LOST_TRIES = """
    SELECT judge, sum(lost_tries), coalesce(sum(lost_bill.input_tokens), 0),
        coalesce(sum(lost_bill.output_tokens), 0), coalesce(sum(lost_bill.cost_usd), 0)
    FROM outcomes WHERE run = $run AND lost_tries > 0 GROUP BY judge, judge_order ORDER BY judge_order, judge"""

MISSING_FOR_GOOD = """
    SELECT count(*) FROM outcomes WHERE run = $run AND is_final AND is_permanent AND status = 'missing'"""

FINISH_REASONS = """
    SELECT judge, finish_reason, count(*) FROM replies WHERE run = $run AND NOT is_cached AND finish_reason IS NOT NULL
    GROUP BY judge, finish_reason ORDER BY count(*) DESC, finish_reason"""


_COLUMNS = (
    *("judge", "calls", "cached", "tries", "reasks", "input_tokens", "output_tokens", "cached_input_tokens"),
    *("uncounted", "cost_usd", "unpriced", "latency", "models"),
)

# Of a judge that never answered: from `calls` to `finish_reasons`.
_NO_REPLIES: tuple[Any, ...] = (*(0,) * 8, Decimal(0), 0, None, (), {})


def read_accounts(
    totals: Iterable[tuple[Any, ...]], reasons: Iterable[tuple[Any, ...]], lost: Iterable[tuple[Any, ...]] = ()
) -> list[CallAccount]:
    """From the rows of the three queries above."""
    by_judge: dict[str, dict[str, int]] = defaultdict(dict)
    for judge, reason, count in reasons:
        by_judge[judge][reason] = count
    accounts = {row[0]: read_account(row, by_judge[row[0]]) for row in totals}
    for judge, tries, input_tokens, output_tokens, cost_usd in lost:
        account = accounts.get(judge) or CallAccount(judge, *_NO_REPLIES)
        accounts[judge] = replace(
            account,
            tries=account.tries + tries,
            input_tokens=account.input_tokens + input_tokens,
            output_tokens=account.output_tokens + output_tokens,
            cost_usd=account.cost_usd + Decimal(cost_usd),
        )
    return list(accounts.values())


def read_account(row: tuple[Any, ...], finish_reasons: Mapping[str, int]) -> CallAccount:
    """From the columns of CALL_TOTALS."""
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    values["latency"] = Latency(*values["latency"]) if values["latency"] else None
    values["models"] = tuple(values["models"])
    values["cost_usd"] = Decimal(values["cost_usd"])
    return CallAccount(**values, finish_reasons=finish_reasons)


_PAGE_ROWS = 500


class RowOrder(StrEnum):
    """How rows come."""

    DATASET = "dataset"
    WORST_FIRST = "worst_first"
    LONGEST_FIRST = "longest_first"


@dataclass(frozen=True, slots=True)
class LengthSummary:
    """Characters of the responses that ended alike."""

    judge: str
    status: Status
    verdict: str | None
    count: int
    shortest: int
    median: float
    mean: float
    ninth_decile: float
    longest: int


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
class TakeSpread:
    """How far a judge agrees with itself over samples with several valid takes; `mean_spread` in units of the score."""

    judge: str
    samples: int
    unanimous: int
    mean_spread: float


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Judgments that are unusable for one reason; `why` is in the words of the first, `sample_id` its sample."""

    judge: str
    status: Status
    why: str
    count: int
    sample_id: str


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


class RunIndex:
    """Questions about one run, over a connection that somebody else closes."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: RunDirectory) -> None:
        self._connection = connection
        self._run = run.name
        self._directory = run
        self._places = JournalPlaces(connection)

    def sample_count(self) -> int:
        """How many samples the journal holds: fewer than the dataset where a run was stopped."""
        return int(self._all("SELECT count(*) FROM samples WHERE run = $run")[0][0])

    def totals(self) -> list[JudgeTotals]:
        """In the order of the judges."""
        return [JudgeTotals(*row) for row in self._all(sql.TOTALS)]

    def final_totals(self) -> JudgeTotals | None:
        """The run as a whole: each sample by the judge that had the last word; None for an empty run."""
        rows = self._all(sql.FINAL_TOTALS)
        counts = rows[0]
        return JudgeTotals("", *counts) if any(counts[:4]) else None

    def outcome_counts(self, *, final_only: bool = False) -> list[OutcomeCount]:
        """By judge, task, status, verdict and error type; judgments of a model on its own output apart."""
        return [
            OutcomeCount(judge, task, Status(status), *rest)
            for judge, task, status, *rest in self._all(sql.OUTCOME_COUNTS, final_only=final_only)
        ]

    def unit_sums(self, *groups: str, final_only: bool = False, control: bool = False) -> UnitGroups:
        """What every interval rests on, by judge, task_name, target_model or prompt_variant: samples, not judgments."""
        parameters = {"final_only": final_only, "control": control}
        rows = fetch_all(self._connection, sql.judged_unit_sums(groups), parameters)
        return {tuple(row[: len(groups)]): UnitSums(*row[len(groups) :]) for row in rows}

    def failure_groups(self) -> list[FailureGroup]:
        """Invalid and missing judgments by what is wrong, the most frequent first."""
        return [FailureGroup(judge, Status(status), *rest) for judge, status, *rest in self._all(sql.FAILURE_GROUPS)]

    def warning_counts(self) -> list[WarningCount]:
        """Of valid judgments, the most frequent first."""
        return [WarningCount(*row) for row in self._all(sql.WARNING_COUNTS)]

    def reasoning_counts(self) -> list[ReasoningCount]:
        """Reasoning scores crossed with correctness, by judge, task and target; empty where none was assessed."""
        return [ReasoningCount(*row) for row in self._all(sql.REASONING_COUNTS)]

    def reask_counts(self) -> list[ReaskCount]:
        """Of judges that gave replies, in the order of the judges."""
        return [ReaskCount(*row) for row in self._all(sql.REASK_COUNTS)]

    def take_spreads(self) -> list[TakeSpread]:
        """Of judges that were asked several times; empty without repeats."""
        return [TakeSpread(*row) for row in self._all(sql.TAKE_SPREADS)]

    def rule_counts(self) -> list[RuleCount]:
        """By judge, rule and status; the most frequent first."""
        return [
            RuleCount(judge, rule, Status(status), *rest) for judge, rule, status, *rest in self._all(sql.RULE_COUNTS)
        ]

    def flag_counts(self, limit: int = 1_000) -> list[FlagCount]:
        """By judge, flag and reason; the most frequent first, because reasons may be as many as rows."""
        return [FlagCount(judge, Flag(flag), *rest) for judge, flag, *rest in self._all(sql.FLAG_COUNTS, limit=limit)]

    def reason_counts(self, limit: int = 1_000) -> list[ReasonCount]:
        """By judge, status and reason; the most frequent first."""
        return [
            ReasonCount(judge, Status(status), *rest)
            for judge, status, *rest in self._all(sql.REASON_COUNTS, limit=limit)
        ]

    def call_accounts(self) -> list[CallAccount]:
        """What was asked of live judges and what it cost, in the order of the judges; empty where there are none."""
        totals = self._all(CALL_TOTALS)
        return read_accounts(totals, self._all(FINISH_REASONS) if totals else (), self._all(LOST_TRIES))

    def missing_for_good(self) -> int:
        """Final judgments that are missing because the endpoint refuses the sample: asking again changes nothing."""
        count: int = self._all(MISSING_FOR_GOOD)[0][0]
        return count

    def judge_models(self) -> dict[str, str]:
        """Judges whose recorded replies are all one model's, with that model."""
        return dict(self._all(sql.JUDGE_MODELS))

    def scored(self) -> "ScoredIndex | None":
        """What else can be asked under a protocol with dimensions; None under one without."""
        # Late: a run's summary asks for counts alone.
        from mixseek.storage.index.scored import ScoredIndex

        index = ScoredIndex(self._connection, self._run)
        return index if index.has_scores() else None

    def response_lengths(self) -> list[LengthSummary]:
        """By judge, status and verdict."""
        return [LengthSummary(judge, Status(status), *rest) for judge, status, *rest in self._all(sql.RESPONSE_LENGTHS)]

    def rows(self, query: RowQuery = ALL_ROWS) -> Iterator[JudgedRow]:
        """One in memory at a time, however many and however long they are."""
        parameters: dict[str, Any] = {
            "run": self._run,
            "judge": query.judge,
            "status": query.status and query.status.value,
            "limit": query.limit,
            "offset": query.offset,
        }
        choose = sql.CHOOSE
        if query.limit_per_kind is not None:
            choose = sql.CHOOSE_OF_EACH_KIND
            parameters["per_kind"] = query.limit_per_kind
        narrow = self._connection.cursor()
        try:
            narrow.execute(choose[query.order], parameters)
            while page := narrow.fetchmany(_PAGE_ROWS):
                yield from self._read(page)
        finally:
            narrow.close()

    def find_sample(self, sample_id: str) -> list[JudgedRow]:
        """One sample under every judge; empty where there is none of that id."""
        return list(self._read(self._all(sql.FIND, sample_id=sample_id)))

    def similar_ids(self, sample_id: str, limit: int = 5) -> list[str]:
        """Ids that a person may have meant."""
        return [row[0] for row in self._all(sql.SIMILAR, sample_id=sample_id, limit=limit)]

    def _read(self, page: Sequence[tuple[Any, ...]]) -> Iterator[JudgedRow]:
        """Texts are in the journal; the index knows where."""
        if not page:
            return
        told = [IndexedRow(*row) for row in page]
        replies = {
            (key, judge, take): position
            for key, judge, take, position in self._all(sql.REPLIES, keys=list({row.key for row in told}))
        }
        try:
            with self._directory.journal.open("rb") as journal:
                for row in told:
                    yield self._read_one(journal, row, replies.get((row.key, row.judge, row.take)))
        except OSError as error:
            raise storage_error("read the journal", self._directory.journal, error) from error

    def _read_one(self, journal: BinaryIO, row: "IndexedRow", reply: int | None) -> JudgedRow:
        read = partial(self._places.read, journal)
        sample = read("sample", row.sample)
        # What is still due has no line.
        outcome = read("outcome", row.outcome) if row.outcome > 0 else {"key": row.key, "reason": row.reason}
        said = read("reply", reply) if reply is not None else {"key": row.key, "text": None}
        if any(record.get("key") != row.key for record in (sample, outcome, said)):
            raise self._damage()
        try:
            return read_row(row, sample["sample"], outcome, said["text"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._damage() from error

    def _damage(self) -> StorageError:
        """A line is not where the index saw it, or not what it was."""
        return find_damage(self._directory)

    def _all(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return fetch_all(self._connection, query, {"run": self._run, **parameters})


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

    def read(self, journal: BinaryIO, kind: str, position: int) -> dict[str, Any]:
        """The record as every JSON reader sees it; empty where there is none at that place."""
        if kind not in self._parts:
            rows = fetch_all(self._connection, sql.PLACES, {"kind": kind})
            self._parts[kind] = [row[0] for row in rows], [array("q", row[1]) for row in rows]
        firsts, parts = self._parts[kind]
        number = bisect.bisect_right(firsts, position) - 1
        journal.seek(parts[number][position - firsts[number]])
        try:
            record = orjson.loads(journal.readline())
        except orjson.JSONDecodeError:
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
        return UnitSums(*fetch_all(connection, sql.pooled_unit_sums(names), parameters)[0])


@contextlib.contextmanager
def open_run_index(workspace: Workspace, run: RunDirectory) -> Iterator[RunIndex]:
    """The run, indexed first if its journal is newer; open for as long as the block lasts and no longer."""
    ensure_indexed(workspace, run)
    with reading(run.index) as connection:
        yield RunIndex(connection, run)


def read_row(
    row: IndexedRow, sample: Mapping[str, Any], outcome: Mapping[str, Any], raw_reply: str | None
) -> JudgedRow:
    """From the records of the journal."""
    fields: Mapping[str, Any] = outcome.get("fields", {})
    span = outcome.get("span")
    return JudgedRow(
        id=sample["id"],
        judge=row.judge,
        take=row.take,
        status=Status(row.status),
        is_final=row.is_final,
        is_control=row.is_control,
        method=outcome.get("method"),
        score=outcome.get("score"),
        verdict=outcome.get("verdict"),
        is_correct=of_kind(fields.get("is_correct"), bool),
        extracted_answer=of_kind(fields.get("extracted_answer"), str),
        reasoning_score=of_kind(fields.get("reasoning_score"), int),
        error_type=of_kind(fields.get("error_type"), str),
        comment=of_kind(fields.get("comment"), str),
        span=Span(*span) if span else None,
        fields=fields,
        rules=tuple(outcome.get("rules", ())),
        flags=tuple(Finding(Flag(item["flag"]), item["detail"]) for item in outcome.get("flags", ())),
        repairs=tuple(outcome.get("repairs", ())),
        reason=outcome.get("reason"),
        raw_reply=raw_reply,
        task_name=sample.get("task_name"),
        target_model=sample.get("target_model"),
        question_id=sample.get("question_id"),
        prompt_variant=sample.get("prompt_variant"),
        ground_truth=sample.get("ground_truth"),
        ground_truth_alternatives=tuple(sample.get("ground_truth_alternatives", ())),
        question=sample.get("question", ""),
        response=sample["response"],
    )


def of_kind(value: Any, kind: type) -> Any:
    """A protocol of somebody else's may use the same word for another thing; that stays in `fields`."""
    return value if isinstance(value, kind) and isinstance(value, bool) == (kind is bool) else None
