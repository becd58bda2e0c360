"""The judgments of a run as a list that can be filtered, searched, sorted and paged, a million of them as well."""

import bisect
import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import duckdb

from mixseek.domain.judgments import JudgedRow, Status
from mixseek.index.loading import attach_index, index_error
from mixseek.index.run import RunIndex
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import confine, fetch_all, open_duckdb, read_statements, session_settings
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
# The flat table `listed` of a run whose index is attached as `run`.
BUILD = _SQL["build"].format(**{name: _JOINED.format(*parts) for name, parts in _LISTS.items()})
_HAS = "contains({1}, chr(31) || ${0} || chr(31))"
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
    "quote": _HAS.format("quote", "quotes"),
    "error": "error = $error",
    "unverified": "is_unverified = ($unverified = 'yes')",
    "warning": _HAS.format("warning", "warnings"),
    "reasoning": "status = 'valid' AND reasoning::VARCHAR = $reasoning",
    "rule": _HAS.format("rule", "rules"),
    "flag": _HAS.format("flag", "flags"),
}
# Each order by a number that every row has one of its own of; rows stand in the order of the dataset.
SORTS: Mapping[str, str] = {"": "rowid", "newest": "-outcome", "lowest": "lowest", "highest": "highest"}
# Of each filter, what it holds; those that need two values to tell anything are marked.
_CHOICES: Mapping[str, tuple[str, int]] = {
    "judge": ("judge", 2),
    "task": ("task", 2),
    "target": ("target", 2),
    "variant": ("variant", 2),
    "gate": ("gates", 1),
    "control": ("CASE WHEN is_control THEN 'yes' ELSE 'no' END", 2),
    "quote": ("quotes", 1),
    "error": ("error", 1),
    "unverified": ("CASE WHEN is_unverified THEN 'yes' ELSE 'no' END", 2),
    "warning": ("warnings", 1),
    "reasoning": ("CASE WHEN status = 'valid' THEN reasoning::VARCHAR END", 1),
    "rule": ("rules", 1),
    "flag": ("flags", 1),
}
_MOST_CHOICES = 300
# Of one sample: judges times repeats.
_MOST_JUDGMENTS = 1_000
_FOUND = "get_bit($found::BIT, sample::INTEGER) = 1"
# The rows of an order come in parts of about a thousand, so that the deepest page is found without sorting a million.
_PART_BITS = 10
_PARTS_KEPT = 8


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which judgments: `filters` by the names of FILTERS; `found` has a 1 at the position of each sample."""

    filters: Mapping[str, str] = field(default_factory=dict)
    found: str | None = None
    sort: str = ""

    def condition(self) -> tuple[str, dict[str, Any]]:
        """The condition in SQL, with its parameters."""
        parts = [f"({FILTERS[name]})" for name in self.filters]
        parameters: dict[str, Any] = dict(self.filters)
        if self.found is not None:
            parts.append(_FOUND)
            parameters["found"] = self.found
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
            # How many judgments a sample has, and the samples that have another number, by their position.
            self.usual = int(self._all("usual")[0][0])
            self.unusual = self._all("unusual", {"samples": self.samples, "usual": self.usual})
            self.dimensions = [name for (name,) in self._all("dimensions")]
            self.models = self.index.judge_models()
            self.outcomes = [
                OutcomeCount(outcome, Status(status), count, score)
                for outcome, status, count, score in self._all("outcomes")
            ]
            self.total = sum(outcome.count for outcome in self.outcomes)
            self.choices = {name: values for name in _CHOICES if (values := self._choices(name))}

    def sample_positions(self, query: ListQuery, limit: int) -> list[int]:
        """The positions of the samples that are meant, at most so many, always the same ones."""
        where, parameters = query.condition()
        with self._asking():
            return [sample for (sample,) in self._all("samples", {**parameters, "limit": limit}, where=where)]

    def page(self, query: ListQuery, offset: int, limit: int) -> tuple[list[JudgedRow], int]:
        """So many of them from one place on, with their texts; and how many are meant."""
        where, parameters = query.condition()
        rank = SORTS[query.sort]
        with self._asking():
            parts = self._parts(where, parameters, rank)
            ends = [end for _, end in parts]
            first, last = bisect.bisect_right(ends, offset), bisect.bisect_left(ends, offset + limit)
            if first == len(ends):
                return [], ends[-1] if ends else 0
            lowest, highest = parts[first][0] << _PART_BITS, parts[min(last, len(parts) - 1)][0] + 1 << _PART_BITS
            where = f"{rank} >= {lowest} AND {rank} < {highest} AND {where}"
            within = offset - (ends[first - 1] if first else 0)
            return self._read(where, rank, {**parameters, "offset": within, "limit": limit}), ends[-1]

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
            for outcome, sample, *rest, reply in page
        )
        return list(self.index.read_places(places))

    def _choices(self, name: str) -> list[tuple[str, int]]:
        column, fewest = _CHOICES[name]
        value = "unnest(list_distinct(string_split(told, chr(31))))" if column in _LISTS else "told"
        rows = self._all("choice", {"limit": _MOST_CHOICES}, column=column, value=value)
        return [(value, count) for value, count in rows] if len(rows) >= fewest else []

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except duckdb.Error as error:
            raise index_error(self._run.index, error) from error

    def _all(self, name: str, parameters: Mapping[str, Any] | None = None, **parts: str) -> list[tuple[Any, ...]]:
        return fetch_all(self._connection, _SQL[name].format(**parts), parameters or {})


def open_list(workspace: Workspace, run: RunDirectory, path: Path) -> JudgmentList:
    """Makes the table in a file of the caller's; seconds for a million judgments. The index is brought up to date."""
    try:
        connection = open_duckdb(str(path), config=session_settings(path.with_suffix(".spilled")))
        # A connection of its own to the file that is in place now: a newer index does not change what is open here.
        attach_index(connection, workspace, run, "run")
        confine(connection, directories=(path.parent,))
        connection.execute(BUILD)
        connection.execute(_SQL["rank"])
        # What RunIndex asks is asked of the index; `listed` is found in the file that it was made in.
        connection.execute(f"SET search_path = 'run.main,{path.stem}.main'")
    except duckdb.Error as error:
        raise index_error(run.index, error) from error
    judgments = JudgmentList(connection, run)
    # Where lines begin is read with the first page: now, and not while somebody waits for it.
    judgments.page(ListQuery(), 0, 1)
    return judgments
