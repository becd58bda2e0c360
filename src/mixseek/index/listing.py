"""The judgments of a run as a list that can be filtered, searched, sorted and paged, a million of them as well."""

import bisect
import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import duckdb

from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.people import APART, LabelledSamples, PeopleVerdict
from mixseek.index.loading import attach_index, index_error
from mixseek.index.run import RunIndex
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import (
    confine,
    fetch_all,
    open_duckdb,
    read_statements,
    release_memory,
    session_settings,
)
from mixseek.storage.workspace import RunDirectory, Workspace

_SQL = read_statements("mixseek.index", "listing.sql")
# Lists as texts: U+001F around each part; most lists are empty, and a million of them are looked at once.
_LISTS = {
    "rules": ("len(rules) > 0", "rules"),
    "flags": ("len(flags) > 0", "list_transform(flags, lambda one: one.flag)"),
    "warnings": ("len(warnings) > 2", "from_json(warnings, '[\"VARCHAR\"]')"),
    "gates": ("gated.gates IS NOT NULL", "gated.gates"),
    "quotes": ("quoted.quotes IS NOT NULL", "quoted.quotes"),
}
_JOINED = "CASE WHEN {} THEN chr(31) || array_to_string({}, chr(31)) || chr(31) END"
_MARK = "\x1f"
_HAS = "contains({1}, chr(31) || ${0} || chr(31))"
# Whether the response, or one of a pair, ended so.
_ENDED = "coalesce('{}' IN (response_state, response_state_b), false)"
# Which judgments are meant, by the names that pages and programs filter with.
FILTERS: Mapping[str, str] = {
    "status": "status = $status",
    "verdict": "status = 'valid' AND verdict = $verdict",
    "judge": "judge = $judge",
    "task": "task = $task",
    "target": "target = $target",
    "variant": "variant = $variant",
    "question": "question = $question",
    "gate": _HAS.format("gate", "gates"),
    "control": "is_control = ($control = 'yes')",
    "cut_off": "is_cut_off = ($cut_off = 'yes')",
    "withheld": f"{_ENDED.format('withheld')} = ($withheld = 'yes')",
    "empty": f"{_ENDED.format('empty')} = ($empty = 'yes')",
    "quote": _HAS.format("quote", "quotes"),
    "error": "error = $error",
    "unverified": "is_unverified = ($unverified = 'yes')",
    "warning": _HAS.format("warning", "warnings"),
    "reasoning": "status = 'valid' AND reasoning::VARCHAR = $reasoning",
    "rule": _HAS.format("rule", "rules"),
    "flag": _HAS.format("flag", "flags"),
    "people": "sample IN (SELECT sample FROM people WHERE verdict = $people)",
    "wrong": "rowid IN (SELECT place FROM held WHERE is_wrong = ($wrong = 'yes'))",
    "differ": "differ = ($differ = 'yes')",
    "against": _HAS.format("against", "against"),
    "panel": "sample IN (SELECT sample FROM people WHERE panel = $panel)",
}
# The filters that are questions.
YES_OR_NO = frozenset({"control", "cut_off", "withheld", "empty", "unverified", "wrong", "differ"})
# Each order by a number that every row has one of its own of; rows stand in the order of the dataset.
_CONFIDENCE = """CASE lower(confidence) WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'high' THEN 2
    ELSE try_cast(confidence AS DOUBLE) END"""
# Orders that are made when somebody first asks for them: by which value, and where it stands beside the list.
_MADE_LATER: Mapping[str, tuple[str, str, str]] = {
    "least_confident": (_CONFIDENCE, "ASC", "by_confidence"),
    "longest": ("length", "DESC", "by_length"),
    "shortest": ("length", "ASC", "by_length"),
    "slowest": ("latency", "DESC", "by_call"),
    "dearest": ("cost", "DESC", "by_call"),
}
# Which of them go with each of the known values, in their order.
_OF_KNOWN = (("least_confident",), ("longest", "shortest"), ("slowest",), ("dearest",))
SORTS: Mapping[str, str] = {
    "": "rowid",
    "newest": "-outcome",
    "lowest": "lowest",
    "highest": "highest",
    **{name: name for name in _MADE_LATER},
}
# Of each filter, what it holds; those that need two values to tell anything are marked.
_CHOICES: Mapping[str, tuple[str, int]] = {
    "judge": ("judge", 2),
    "task": ("task", 2),
    "target": ("target", 2),
    "variant": ("variant", 2),
    "gate": ("gates", 1),
    "control": ("CASE WHEN is_control THEN 'yes' ELSE 'no' END", 2),
    "cut_off": ("CASE WHEN is_cut_off THEN 'yes' ELSE 'no' END", 2),
    "withheld": (f"CASE WHEN {_ENDED.format('withheld')} THEN 'yes' ELSE 'no' END", 2),
    "empty": (f"CASE WHEN {_ENDED.format('empty')} THEN 'yes' ELSE 'no' END", 2),
    "quote": ("quotes", 1),
    "error": ("error", 1),
    "unverified": ("CASE WHEN is_unverified THEN 'yes' ELSE 'no' END", 2),
    "warning": ("warnings", 1),
    "reasoning": ("CASE WHEN status = 'valid' THEN reasoning::VARCHAR END", 1),
    "rule": ("rules", 1),
    "flag": ("flags", 1),
    "differ": ("CASE WHEN differ THEN 'yes' WHEN NOT differ THEN 'no' END", 2),
}
# The same of what people say, which changes while the list stays.
_PEOPLE_CHOICES: Mapping[str, tuple[str, int]] = {
    "people": ("people.verdict", 1),
    "wrong": ("CASE WHEN is_wrong THEN 'yes' ELSE 'no' END", 1),
}
_SOURCES = {"people": "listed JOIN people USING (sample)", "wrong": "held"}
_MOST_CHOICES = 300
# Of one sample: judges times repeats.
_MOST_JUDGMENTS = 1_000
_FOUND = "get_bit($found::BIT, sample::INTEGER) = 1"
# What is still due has no line in the journal, and nothing was written of it.
_WRITTEN = "CASE WHEN outcome > 0 THEN get_bit($written::BIT, outcome::INTEGER) = 1 ELSE false END"
_WITHIN = "get_bit($within::BIT, sample::INTEGER) = 1"
# The rows of an order come in parts of about a thousand, so that the deepest page is found without sorting a million.
_PART_BITS = 10
_PARTS_KEPT = 8


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which judgments: `filters` by the names of FILTERS; `found` has a 1 at the position of each sample.

    A judgment whose place has a 1 in `written` is meant as well, if its sample is `within`.
    """

    filters: Mapping[str, str] = field(default_factory=dict)
    found: str | None = None
    sort: str = ""
    written: str | None = None
    within: str | None = None

    def condition(self) -> tuple[str, dict[str, Any]]:
        """The condition in SQL, with its parameters."""
        parts = [f"({FILTERS[name]})" for name in self.filters]
        parameters: dict[str, Any] = dict(self.filters)
        if self.found is not None:
            written = [_WRITTEN] if self.written is not None else []
            within = [_WITHIN] if written and self.within is not None else []
            parts.append(f"({_FOUND} OR {' AND '.join([*written, *within])})" if written else _FOUND)
            parameters |= {"found": self.found}
            parameters |= {"written": self.written} if written else {}
            parameters |= {"within": self.within} if within else {}
        return " AND ".join(parts) or "true", parameters


@dataclass(frozen=True, slots=True)
class NamedJudgment:
    """The one judgment that an address means, as far as it says."""

    sample_id: str
    judge: str | None = None
    repeat: int | None = None


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How many judgments ended in a word; the score is their mean."""

    outcome: str
    status: Status
    count: int
    score: float | None


class JudgmentList:
    """A table of our own beside the index as it was when this was opened; one question at a time."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: RunDirectory) -> None:
        self._connection, self._run = connection, run
        self._lock = threading.Lock()
        self._parts_kept: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
        self.index = RunIndex(connection, run)
        with self._asking():
            self.samples = int(self._all("last_sample")[0][0])
            self.last_outcome = int(self._all("last_outcome")[0][0])
            # How many judgments a sample has, and the samples that have another number, by their position.
            self.usual = int(self._all("usual")[0][0])
            self.unusual = self._all("unusual", {"samples": self.samples, "usual": self.usual})
            self.dimensions = [name for (name,) in self._all("dimensions")]
            self.outcomes = [
                OutcomeCount(outcome, Status(status), count, score)
                for outcome, status, count, score in self._all("outcomes")
            ]
            self.total = sum(outcome.count for outcome in self.outcomes)
            self._own_choices = self._read_choices(_CHOICES)
            (known,) = self._all("known_values")
            # What the list can be sorted by beside score and place.
            self.sorts = [name for names, is_there in zip(_OF_KNOWN, known, strict=True) if is_there for name in names]
            self._ranked: set[str] = set()
        self._people_choices: dict[str, list[tuple[str, int]]] = {}
        self._verdicts: Sequence[PeopleVerdict] = ()

    @property
    def choices(self) -> dict[str, list[tuple[str, int]]]:
        """What judgments can be filtered by, with how many of them have it."""
        return {**self._own_choices, **self._people_choices}

    def take_people(self, labelled: LabelledSamples) -> None:
        """What people say from now on."""
        with self._asking():
            self._connection.execute(_SQL["forget_people"])
            self._verdicts = labelled.verdicts
            if labelled.positions:
                columns = {
                    "positions": list(labelled.positions),
                    "codes": list(labelled.codes),
                    "panel": list(labelled.panel),
                    "verdicts": [verdict.verdict for verdict in labelled.verdicts],
                    "shares": [verdict.share for verdict in labelled.verdicts],
                }
                self._all("take_people", columns)
                self._all("hold", {"apart": APART})
            # What was counted of the people before is no longer so.
            self._parts_kept.clear()
            self._people_choices = self._read_choices(_PEOPLE_CHOICES)

    def sample_positions(self, query: ListQuery, limit: int) -> list[int]:
        """The positions of the samples that are meant, at most so many, always the same ones."""
        where, parameters = query.condition()
        with self._asking():
            return [sample for (sample,) in self._all("samples", {**parameters, "limit": limit}, where=where)]

    def outcome_positions(self, query: ListQuery) -> list[int]:
        """Which judgments are meant, all of them, by their place in the index."""
        where, parameters = query.condition()
        with self._asking():
            return [position for (position,) in self._all("outcome_positions", parameters, where=where)]

    def page(self, query: ListQuery, offset: int, limit: int) -> tuple[list[JudgedRow], int]:
        """So many of them from one place on, with their texts; and how many are meant."""
        where, parameters = query.condition()
        rank = SORTS[query.sort]
        with self._asking():
            self._rank(query.sort)
            parts = self._parts(where, parameters, rank)
            ends = [end for _, end in parts]
            first, last = bisect.bisect_right(ends, offset), bisect.bisect_left(ends, offset + limit)
            if first == len(ends):
                return [], ends[-1] if ends else 0
            lowest, highest = parts[first][0] << _PART_BITS, parts[min(last, len(parts) - 1)][0] + 1 << _PART_BITS
            where = f"{rank} >= {lowest} AND {rank} < {highest} AND {where}"
            within = offset - (ends[first - 1] if first else 0)
            return self._read(where, rank, {**parameters, "offset": within, "limit": limit}), ends[-1]

    def _rank(self, sort: str) -> None:
        """Gives every row its place in an order, once; a second for a million."""
        if sort in self._ranked or sort not in _MADE_LATER:
            return
        value, direction, beside = _MADE_LATER[sort]
        statement = _SQL["rank_by"].format(name=sort, value=value, direction=direction, beside=_SQL[beside])
        self._connection.execute(statement)
        self._ranked.add(sort)
        release_memory(self._connection)

    def _parts(self, where: str, parameters: Mapping[str, Any], rank: str) -> list[tuple[Any, ...]]:
        """Kept for whoever turns to the next page."""
        key = (where, rank, *parameters.values())
        if key not in self._parts_kept:
            if len(self._parts_kept) >= _PARTS_KEPT:
                del self._parts_kept[next(iter(self._parts_kept))]
            self._parts_kept[key] = self._all("parts", parameters, where=where, part=f"({rank}) >> {_PART_BITS}")
        return self._parts_kept[key]

    def rank_of(self, query: ListQuery, named: NamedJudgment) -> int:
        """How many stand before it in the order of the dataset."""
        where, parameters = query.condition()
        parameters |= {"named": named.sample_id, "by": named.judge, "repeat": named.repeat}
        with self._asking():
            return int(self._all("before", parameters, where=where)[0][0])

    def sample(self, sample_id: str) -> tuple[list[JudgedRow], dict[str, Any], list[dict[str, Any]]]:
        """A sample under every judge and repeat, its record and the records of all replies to it."""
        with self._asking():
            rows = self._read("id = $id", SORTS[""], {"id": sample_id, "offset": 0, "limit": _MOST_JUDGMENTS})
            return rows, *self.index.records_of(sample_id)

    @contextlib.contextmanager
    def session(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """The connection to the table `listed`, while nobody else asks it."""
        with self._asking():
            yield self._connection

    def close(self) -> None:
        """When whoever is asking has done."""
        with self._lock:
            self._connection.close()

    def _read(self, where: str, rank: str, parameters: Mapping[str, Any]) -> list[JudgedRow]:
        page = self._all("page", parameters, where=where, rank=rank)
        positions = ", ".join(str(row[0]) for row in page)
        keys = {position: key for position, *key in self._all("keys", positions=positions)} if page else {}
        places = (
            (outcome, sample, keys[outcome][0], *rest, keys[outcome][1], reply)
            for outcome, sample, *rest, reply, _, _, _ in page
        )
        rows = self.index.read_places(places)
        return [self._beside(row, *listed[-3:]) for row, listed in zip(rows, page, strict=True)]

    def _beside(
        self, row: JudgedRow, differ: bool | None, against: str | None, people: Mapping[str, Any] | None
    ) -> JudgedRow:
        """The row with what people and other judges say of its sample."""
        others = tuple(against.strip(_MARK).split(_MARK)) if against else ()
        row = replace(row, judges_differ=differ, differs_from=others)
        return replace(row, people=self._verdicts[people["code"]], panel=people["panel"]) if people else row

    def _read_choices(self, columns: Mapping[str, tuple[str, int]]) -> dict[str, list[tuple[str, int]]]:
        choices = {}
        for name, (column, fewest) in columns.items():
            value = "unnest(list_distinct(string_split(told, chr(31))))" if column in _LISTS else "told"
            source = _SOURCES.get(name, "listed")
            rows = self._all("choice", {"limit": _MOST_CHOICES}, column=column, value=value, source=source)
            if len(rows) >= fewest:
                choices[name] = [(value, count) for value, count in rows]
        return choices

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except duckdb.Error as error:
            raise index_error(self._run.index, error) from error

    def _all(self, name: str, parameters: Mapping[str, Any] | None = None, **parts: str) -> list[tuple[Any, ...]]:
        return fetch_all(self._connection, _SQL[name].format(**parts), parameters or {})


def divided_samples(index: str) -> str:
    """A query: samples that several judges gave a verdict, by key, and whether they differ."""
    return _SQL["divided"].format(apart=APART, index=index)


def build_list(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the flat table `listed` of a run whose index is attached as `run`."""
    lists = {name: _JOINED.format(*parts) for name, parts in _LISTS.items()}
    ((judges,),) = fetch_all(connection, _SQL["judge_count"], {})
    # One judge differs from nobody: most runs need not be compared.
    columns = {"compared": "", "differ": "NULL::BOOLEAN", "against": "NULL::VARCHAR"}
    if judges > 1:
        against = _JOINED.format("opposed.against IS NOT NULL", "opposed.against")
        columns = {
            "compared": _SQL["compared"].format(apart=APART, divided=divided_samples("run")),
            "differ": "is_divided",
            "against": against,
        }
    connection.execute(_SQL["build"].format(**lists, **columns))


def make_people_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """What people say of the listed samples: nothing, until it is taken in."""
    connection.execute(_SQL["people_tables"])


def open_list(workspace: Workspace, run: RunDirectory, path: Path) -> JudgmentList:
    """Makes the table in a file of the caller's; seconds for a million judgments. The index is brought up to date."""
    try:
        connection = open_duckdb(str(path), config=session_settings(path.with_suffix(".spilled")))
        # A connection of its own to the file that is in place now: a newer index does not change what is open here.
        attach_index(connection, workspace, run, "run")
        confine(connection, directories=(path.parent,))
        build_list(connection)
        make_people_tables(connection)
        connection.execute(_SQL["rank"])
        # What RunIndex asks is asked of the index; `listed` is found in the file that it was made in.
        connection.execute(f"SET search_path = 'run.main,{path.stem}.main'")
    except duckdb.Error as error:
        raise index_error(run.index, error) from error
    judgments = JudgmentList(connection, run)
    # Where lines begin is read with the first page: now, and not while somebody waits for it.
    judgments.page(ListQuery(), 0, 1)
    with judgments.session():
        release_memory(connection)
    return judgments
