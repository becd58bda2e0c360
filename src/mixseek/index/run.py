"""What the index can tell about one run: the counts that a report is made of, and rows to look at."""

import bisect
import contextlib
import functools
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Any, BinaryIO, NamedTuple, TypeVar, get_type_hints

import duckdb
import orjson

from mixseek.datasets.endings import state_of_sample
from mixseek.domain.confidence import columns_of, read_confidence
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import OWN_PARTS, OrderCount, PairCounts, RunFacts, UnitGroups, UnitSums
from mixseek.domain.judge_names import label_judges
from mixseek.domain.judgments import UNEXPLAINED, Finding, Flag, JudgedRow, Span, Status
from mixseek.domain.panels import PanelRule
from mixseek.domain.ports import PLAIN, CallAccount, Latency
from mixseek.domain.scored_counts import CoverageCell, CoverageCounts, ScoredUnits
from mixseek.domain.steps import STEP_FIELDS
from mixseek.index.counting import worst_end
from mixseek.index.loading import attach_index, find_damage, read_facts
from mixseek.index.panel import SettledPanel, panel_units, settle_panel
from mixseek.index.reading import reading
from mixseek.index.unit_sums import judged_unit_sums, sample_units, unit_sums
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import (
    confine,
    fetch_all,
    offline_settings,
    open_duckdb,
    read_statements,
    reading_beside,
)
from mixseek.storage.journal.journal import opening_journal
from mixseek.storage.journal.records import decode_line
from mixseek.storage.workspace import RunDirectory, Workspace

Counted = TypeVar("Counted")
# Of a judge that never answered: from `calls` to `finish_reasons`.
_NO_REPLIES: tuple[Any, ...] = (*(0,) * 8, Decimal(0), 0, None, (), {})
# Of `call_totals`, the columns up to the models that answered.
_FIXED_CALLS = 13
_PAGE_ROWS = 500
_SQL = {
    **read_statements("mixseek.index", "queries.sql"),
    **read_statements("mixseek.index", "scored.sql"),
}
_SQL["OutcomeCount"] = _SQL["OutcomeCount"].format(ended=worst_end("judged"))
# What a page can show as a grid, and what can be laid out in a moment to find the holes.
_GRID_CELLS = 2_000
_PRODUCT_CELLS = 500_000
# What must be there, of the facts about a run, for anything to be counted.
_NEEDED = {
    "FlagCount": "has_flags",
    "ReasonCount": "has_reasons",
    "WarningCount": "has_warnings",
    "CheckCount": "has_checks",
    "ConfidenceCount": "has_confidences",
    "ConfidenceSums": "has_confidences",
    "ReasoningCount": "has_reasoning_scores",
    "ReaskCount": "has_replies",
    "TakeSpread": "has_repeats",
}
# Columns that samples may leave empty, the fact that tells whether all do, and how the panel calls them.
_NAMES = {
    "task_name": ("has_tasks", "task_name"),
    "target_model": ("has_targets", "target"),
    "prompt_variant": ("has_variants", "variant"),
}
# Factor of a report to the column that holds its values; the whole has none.
_INVALID_FACTORS = {
    "": (),
    "judge": ("judge",),
    "target": ("target_model",),
    "variant": ("prompt_variant",),
    "language": ("language",),
    "method": ("method",),
}


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
    # The replies that count by presentation, where the sample was shown in several.
    shown: Mapping[str, dict[str, Any]] = field(default_factory=dict)


class RunIndex:
    """Questions about one run, over a connection that somebody else closes."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: RunDirectory) -> None:
        self._connection = connection
        self._run = run
        self._places = JournalPlaces(connection)
        # The panel where one judge gave every verdict: its sums are the judge's.
        self._alone: SettledPanel | None = None
        self._counting = USUAL

    @functools.cached_property
    def facts(self) -> RunFacts:
        """What the run has; nothing else is asked for."""
        return read_facts(self._connection)

    def counts(self, kind: type[Counted], **parameters: Any) -> list[Counted]:
        """All values of one of the types in `domain.counts`, in the order of a report; see the query of its name."""
        if not getattr(self.facts, _NEEDED.get(kind.__name__, "samples")):
            return []
        if "$own_parts" in _SQL[kind.__name__]:
            parameters["own_parts"] = OWN_PARTS
        make: Callable[..., Counted] = kind
        # Words of the table become members of the enums that the type has in their places.
        enums = [
            hint if isinstance(hint, type) and issubclass(hint, StrEnum) else None
            for hint in get_type_hints(kind).values()
        ]
        return [
            make(*(enum(cell) if enum else cell for enum, cell in zip(enums, row, strict=False)))
            for row in self._all(kind.__name__, **parameters)
        ]

    def unit_sums(self, *groups: str, final_only: bool = False, control: bool = False) -> UnitGroups:
        """What every interval rests on, by judge, task_name, target_model or prompt_variant: samples, not judgments."""
        if control and not self.facts.has_controls:
            return {}
        # What no sample names is no group: the sums are those of the other columns.
        named = [group for group in groups if group not in _NAMES or getattr(self.facts, _NAMES[group][0])]
        shared: dict[str, str | None] = {}
        if self._alone is not None and not control:
            shared["judge"] = self._alone.judges[0]
            named = [group for group in named if group != "judge"]
            known = self._alone.sums(tuple(_NAMES[group][1] for group in named))
        else:
            query = judged_unit_sums(named, self._counting)
            known = self._units(query, named, final_only=final_only, control=control)
        by_group = {}
        for values, sums in known.items():
            of_group = {**shared, **dict(zip(named, values, strict=True))}
            if sums.samples:
                by_group[tuple(of_group.get(group) for group in groups)] = sums
        return by_group

    # The panel: one row a sample, whoever judged it how often.

    def settle(self, rule: PanelRule | None, judges: Sequence[str] = (), counting: Counting = USUAL) -> SettledPanel:
        """Every sample with one verdict; see `panel_units`. Judges are in the order of the manifest.

        What is asked of single judges from now on is counted in the same way.
        """
        panel = settle_panel(self._connection, self._run, rule, judges, self.facts, counting)
        self._counting = counting
        self._alone = panel if rule is None and len(judges) == 1 else None
        return panel

    def pair_counts(self, panel: SettledPanel) -> PairCounts:
        """What each order said, by judge, and what became of the targets; measures of the panel are under `None`."""
        measures = dict(self._units(unit_sums(_SQL["pair_measures"], ("judge", "measure")), ("judge", "measure")))
        if panel.rule is not None:
            measures[None, "human"] = panel.human_agreement()
        return PairCounts(self.counts(OrderCount), measures, panel.target_pairs())

    def call_accounts(self) -> list[CallAccount]:
        """What was asked of live judges and what it cost, in the order of the judges; empty where there are none."""
        if not (self.facts.has_calls or self.facts.has_lost_tries):
            return []
        accounts: dict[str, CallAccount] = {}
        finished: dict[str, dict[str, int]] = defaultdict(dict)
        for judge, reason, count in self._all("finish_reasons"):
            finished[judge][reason] = count
        for row in self._all("call_totals"):
            (*counted, latency, models), rest = row[:_FIXED_CALLS], row[_FIXED_CALLS:]
            spread = Latency(*latency) if latency else None
            values: list[Any] = [*counted, spread, tuple(models), finished[counted[0]], *rest]
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

    def count_last_words(self) -> int:
        """Verdicts of a cascade's last judge that it was not sure enough of."""
        return int(self._all("last_words")[0][0])

    def judge_models(self) -> dict[str, str]:
        """Judges whose recorded replies are all one model's, with that model."""
        return dict(self._all("only_models")) if self.facts.has_models else {}

    def judge_labels(self, judges: Sequence[str]) -> dict[str, str]:
        """What a reader knows each of them by."""
        return label_judges(judges, self.judge_models())

    # Under a protocol with dimensions.

    def scored_units(self) -> ScoredUnits:
        """What every interval rests on: samples and their questions, not judgments."""
        return ScoredUnits(
            task_types=self._sums("units_of_totals", "task_type", control=False),
            pairs=self._sums("units_of_totals", "judge", "target_model", control=False),
            own_outputs=self._sums("units_of_totals", "judge", "target_model", control=True),
            judge_dimensions=self._sums("units_of_marks", "judge", "dimension"),
            target_dimensions=self._sums("units_of_marks", "target_model", "dimension"),
            task_type_dimensions=self._sums("units_of_marks", "task_type", "dimension"),
            invalid={name: self._sums("units_of_invalid", *columns) for name, columns in _INVALID_FACTORS.items()},
            quotes={**self._sums("quotes", "judge", "dimension"), **self._sums("quotes", "judge")},
        )

    def coverage(self, holes: int = 200) -> CoverageCounts | None:
        """None where no sample names its question."""
        questions, variants, targets, judges = self._all("coverage_sizes")[0]
        if not questions:
            return None
        expected = questions * variants * targets * judges
        is_small = expected <= _GRID_CELLS
        grid = self._coverage_cells("coverage_grid", holes_only=False, limit=expected) if is_small else []
        if expected <= _PRODUCT_CELLS:
            empty = self._coverage_cells("coverage_grid", holes_only=True, limit=holes)
        else:
            empty = self._coverage_cells("coverage_holes", limit=holes)
        return CoverageCounts(
            questions,
            variants,
            targets,
            judges,
            expected,
            valid=self._all("covered")[0][0],
            holes=tuple(empty),
            grid=tuple(grid),
            unnamed=self._all("unnamed")[0][0],
        )

    def _coverage_cells(self, name: str, **parameters: Any) -> list[CoverageCell]:
        rows = self._all(name, **parameters)
        return [
            CoverageCell(question, variant, target, judge, Status(status) if status else None)
            for question, variant, target, judge, status in rows
        ]

    # Rows to look at: the index knows where their texts stand in the journal.

    def rows(
        self, *, status: Status | None = None, limit: int | None = None, limit_per_kind: int | None = None
    ) -> Iterator[JudgedRow]:
        """The rows in dataset order, one in memory at a time.

        `limit_per_kind` of each status, low and high scores apart.
        """
        parameters: dict[str, Any] = {"status": status and status.value, "limit": limit}
        kinds = ""
        if limit_per_kind is not None:
            kinds = f" {_SQL['some_of_each_kind']}"
            parameters["per_kind"] = limit_per_kind
        for page in self._pages(_SQL["choose"].format(kinds=kinds), parameters):
            yield from self.read_places(page)

    def find_sample(self, sample_id: str) -> list[JudgedRow]:
        """One sample under every judge; empty where there is none of that id."""
        return list(self._read(self._all("find", sample_id=sample_id)))

    def rows_of(self, keys: Sequence[str]) -> dict[str, list[JudgedRow]]:
        """The judgments of some samples, by the samples' ids."""
        by_id: dict[str, list[JudgedRow]] = defaultdict(list)
        for row in self._read(self._all("rows_of", keys=list(keys))):
            by_id[row.id].append(row)
        return by_id

    def similar_ids(self, sample_id: str, limit: int = 5) -> list[str]:
        """Ids that a person may have meant."""
        return [row[0] for row in self._all("similar", sample_id=sample_id, limit=limit)]

    def takes(self) -> Iterator[JudgedTake]:
        """Every judgment with its records as they were written, for the archive; one in memory at a time."""
        with opening_journal(self._run.journal) as journal:
            read = partial(self._places.read, journal, decode=decode_line)
            for page in self._pages(_SQL["takes"], {}):
                for position, place, judge, take, positions in page:
                    sample, replies = (
                        read("sample", place),
                        [read("reply", reply_position) for reply_position in positions],
                    )
                    outcome = read("outcome", position) if position > 0 else None
                    if any(record.get("key") != sample.get("key") for record in (*replies, outcome or sample)):
                        raise find_damage(self._run)
                    # What is still due may have been answered: its reply is then read on resuming.
                    reply = replies[-1] if replies and outcome is not None else None
                    # The last one counts, in each presentation.
                    shown = {record["details"].get("presentation", PLAIN): record for record in replies}
                    earlier = tuple(record for record in replies if all(record is not last for last in shown.values()))
                    shown = {} if PLAIN in shown else shown
                    yield JudgedTake(sample["key"], sample["sample"], judge, take, outcome, reply, earlier, shown)

    def _pages(self, query: str, parameters: Mapping[str, Any]) -> Iterator[list[tuple[Any, ...]]]:
        with reading_beside(self._connection) as cursor:
            cursor.execute(query, parameters)
            while page := cursor.fetchmany(_PAGE_ROWS):
                yield page

    def _read(self, page: Sequence[tuple[Any, ...]]) -> Iterator[JudgedRow]:
        places = [ChosenRow(*row) for row in page]
        keys = list({row.key for row in places})
        positions = (
            {tuple(place): position for *place, position in self._all("last_replies", keys=keys)} if keys else {}
        )
        yield from self.read_places(
            row._replace(replies=positions.get((row.key, row.judge, row.take))) for row in places
        )

    def read_places(self, places: Iterable[tuple[Any, ...]]) -> Iterator[JudgedRow]:
        """What stands in the journal at the places that a query has found, in the order of `ChosenRow`."""
        position, sample = None, {}
        with opening_journal(self._run.journal) as journal:
            for row in map(ChosenRow._make, places):
                # Judges of one sample follow each other.
                if row.sample != position:
                    position, sample = row.sample, self._places.read(journal, "sample", row.sample)
                yield self._read_one(journal, row, sample)

    def records_of(self, sample_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The sample and every reply to it as they were written, in the order of asking; both empty for no such id."""
        places = self._all("records_of", sample_id=sample_id)
        if not places:
            return {}, []
        with opening_journal(self._run.journal) as journal:
            read = partial(self._places.read, journal, decode=decode_line)
            return read("sample", places[0][0]), [read("reply", reply) for _, reply in places if reply is not None]

    def read_questions(self, positions: Sequence[int]) -> list[str]:
        """The questions of samples, by their places; empty where a sample has none."""
        with opening_journal(self._run.journal) as journal:
            samples = [self._places.read(journal, "sample", position).get("sample") or {} for position in positions]
        return [str(sample.get("question") or "") for sample in samples]

    def _read_one(self, journal: BinaryIO, row: "ChosenRow", sample: Mapping[str, Any]) -> JudgedRow:
        read, key, places = self._places.read, row.key, row.replies
        # What is still due has no line.
        outcome = read(journal, "outcome", row.outcome) if row.outcome > 0 else {"key": key, "reason": row.reason}
        replies = [read(journal, "reply", place) for place in ([places] if isinstance(places, int) else places or ())]
        if not sample.get("key") == outcome.get("key") == key or (
            replies and any(reply.get("key") != key for reply in replies)
        ):
            raise find_damage(self._run)
        try:
            return read_row(row, sample["sample"], outcome, replies)
        except (KeyError, TypeError, ValueError) as error:
            raise find_damage(self._run) from error

    def _sums(self, name: str, *groups: str, **parameters: Any) -> UnitGroups:
        """The sums of judgments brought to samples first; quotes and panels are units already."""
        units = sample_units(_SQL[name], groups) if name.startswith("units_of") else _SQL[name]
        return self._units(unit_sums(units, groups), groups, **parameters)

    def _units(self, query: str, groups: Sequence[str], **parameters: Any) -> UnitGroups:
        """The first columns name the group, the others are its sums."""
        rows = fetch_all(self._connection, query, parameters)
        return {tuple(row[: len(groups)]): UnitSums(*row[len(groups) :]) for row in rows}

    def _all(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return fetch_all(self._connection, _SQL[name], parameters)


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


def pooled_unit_sums(
    workspace: Workspace, runs: Sequence[RunDirectory], rule: PanelRule | None, counting: Counting = USUAL
) -> UnitSums:
    """The sums of the verdicts of several runs together: a sample that several of them judge is one unit."""
    names = [f"run_{number}" for number, _ in enumerate(runs)]
    with open_duckdb(config=offline_settings()) as connection:
        for name, run in zip(names, runs, strict=True):
            attach_index(connection, workspace, run, name)
        confine(connection)
        everything = " UNION ALL ".join(panel_units(rule, name, counting=counting) for name in names)
        units = f"""SELECT any_value(question) AS question, avg(value) AS value, avg(lowest) AS lowest,
            avg(highest) AS highest FROM ({everything}) GROUP BY key"""  # noqa: S608 - our own text
        return UnitSums(*fetch_all(connection, unit_sums(units, ()), {})[0])


@contextlib.contextmanager
def open_run_index(workspace: Workspace, run: RunDirectory) -> Iterator[RunIndex]:
    """The run, indexed first if its journal is newer; open for as long as the block lasts and no longer."""
    with reading(workspace, run) as connection:
        yield RunIndex(connection, run)


class ChosenRow(NamedTuple):
    """What the index knows of a row: positions of lines, that of its reply or of one a presentation the last."""

    outcome: int
    sample: int
    key: str
    judge: str
    take: int
    status: str
    is_final: bool
    is_control: bool
    reason: str | None
    replies: int | list[int] | None = None


def read_row(
    row: ChosenRow, sample: Mapping[str, Any], outcome: Mapping[str, Any], replies: Sequence[Mapping[str, Any]]
) -> JudgedRow:
    """The row from what the index knows and the records of the journal.

    A report reads a hundred thousand, so it is plain.
    """
    fields: Mapping[str, Any] = outcome.get("fields", {})
    field, sample_field, outcome_field = fields.get, sample.get, outcome.get
    return JudgedRow(
        judge=row.judge,
        take=row.take,
        is_final=row.is_final,
        is_control=row.is_control,
        status=Status(row.status),
        method=outcome_field("method"),
        score=outcome_field("score"),
        verdict=outcome_field("verdict"),
        reason=outcome_field("reason"),
        span=Span(*outcome["span"]) if outcome_field("span") else None,
        rules=tuple(outcome_field("rules", ())),
        repairs=tuple(outcome_field("repairs", ())),
        flags=tuple([Finding(Flag(item["flag"]), item["detail"]) for item in outcome_field("flags") or ()]),
        fields=fields,
        **(read_certainty(outcome) if "confidence" in outcome or "expected_score" in outcome else {}),
        # What a protocol says is taken where it is of this kind.
        is_correct=of_kind(field("is_correct"), bool),
        extracted_answer=of_kind(field("extracted_answer"), str),
        reasoning_score=of_kind(field("reasoning_score"), int),
        error_type=of_kind(field("error_type"), str),
        comment=of_kind(field("comment"), str),
        is_unexplained=field(UNEXPLAINED) is True,
        raw_reply=join_presentations(replies) if replies else None,
        ask=(of_kind((replies[-1].get("details") or {}).get("ask"), int) or 1) if replies else 1,
        id=sample["id"],
        response=sample["response"],
        task_name=sample_field("task_name"),
        target_model=sample_field("target_model"),
        question_id=sample_field("question_id"),
        prompt_variant=sample_field("prompt_variant"),
        ground_truth=sample_field("ground_truth"),
        ground_truth_alternatives=tuple(sample_field("ground_truth_alternatives", ())),
        question=sample_field("question", ""),
        response_b=sample_field("response_b"),
        target_b=sample_field("target_b"),
        **{name: sample[name] for name in STEP_FIELDS if name in sample},
        response_state=state_of_sample(sample),
        response_state_b=state_of_sample(sample, is_second=True),
    )


def read_certainty(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """How sure the judge is, as the fields of a row."""
    confidence, fields = read_confidence(outcome.get("confidence")), {"expected_score": outcome.get("expected_score")}
    return fields if confidence is None else {**fields, **columns_of(confidence)}


def join_presentations(replies: Sequence[Mapping[str, Any]]) -> str | None:
    """One reply to the letter; of several presentations each under its name."""
    if len(replies) == 1:
        text: str | None = replies[0]["text"]
        return text
    return "\n\n".join(f"{reply['details'].get('presentation')}:\n{reply['text']}" for reply in replies)


def of_kind(value: Any, kind: type) -> Any:
    """A protocol of somebody else's may use the same word for another thing; that stays in `fields`."""
    return value if type(value) is kind else None
