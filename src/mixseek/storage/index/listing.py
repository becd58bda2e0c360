"""The judgments of a run as a list that can be filtered, searched, sorted and paged, a million of them as well."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from mixseek.domain.judgments import JudgedRow, Status
from mixseek.storage.duckdb_session import fetch_all, read_statements, session_settings
from mixseek.storage.index.loading import ensure_indexed, index_error
from mixseek.storage.index.run import RunIndex
from mixseek.storage.workspace import RunDirectory, Workspace

_SQL = read_statements("mixseek.storage.index", "listing.sql")
# Which judgments are meant, by the names that pages and programs filter with.
FILTERS: Mapping[str, str] = {
    "status": "status = $status",
    "verdict": "status = 'valid' AND verdict = $verdict",
    "judge": "judge = $judge",
    "task": "task = $task",
    "target": "target = $target",
    "variant": "variant = $variant",
    "gate": "list_contains(gates, $gate)",
    "control": "is_control = ($control = 'yes')",
    "quote": "list_contains(quotes, $quote)",
    "error": "error = $error",
    "unverified": "is_unverified = ($unverified = 'yes')",
    "warning": "list_contains(warnings, $warning)",
    "reasoning": "status = 'valid' AND reasoning::VARCHAR = $reasoning",
    "rule": "list_contains(rules, $rule)",
    "flag": "list_contains(flags, $flag)",
}
SORTS: Mapping[str, str] = {
    "": "rowid",
    "newest": "outcome DESC",
    "lowest": "score NULLS LAST, rowid",
    "highest": "score DESC NULLS LAST, rowid",
}
# Of each filter, what it holds; those that need two values to tell anything are marked.
_CHOICES: Mapping[str, tuple[str, int]] = {
    "judge": ("judge", 2),
    "task": ("task", 2),
    "target": ("target", 2),
    "variant": ("variant", 2),
    "gate": ("unnest(gates)", 1),
    "control": ("CASE WHEN is_control THEN 'yes' ELSE 'no' END", 2),
    "quote": ("unnest(quotes)", 1),
    "error": ("error", 1),
    "unverified": ("CASE WHEN is_unverified THEN 'yes' ELSE 'no' END", 2),
    "warning": ("unnest(warnings)", 1),
    "reasoning": ("CASE WHEN status = 'valid' THEN reasoning::VARCHAR END", 1),
    "rule": ("unnest(list_distinct(rules))", 1),
    "flag": ("unnest(list_distinct(flags))", 1),
}
_MOST_CHOICES = 300
_FOUND = "get_bit($found::BIT, sample::INTEGER) = 1"


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Which judgments: `filters` by the names of FILTERS; `found` has a 1 at the position of each sample."""

    filters: Mapping[str, str] = field(default_factory=dict)
    found: str | None = None
    sort: str = ""

    def condition(self) -> tuple[str, dict[str, Any]]:
        """In SQL, with its parameters."""
        parts = [f"({FILTERS[name]})" for name in self.filters]
        parameters: dict[str, Any] = dict(self.filters)
        if self.found is not None:
            parts.append(_FOUND)
            parameters["found"] = self.found
        return " AND ".join(parts) or "true", parameters


@dataclass(frozen=True, slots=True)
class NamedJudgment:
    """One judgment of the list."""

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
        self.index = RunIndex(connection, run)
        with self._asking():
            self.total = int(self._all("count", where="true")[0][0])
            self.samples = self.index.sample_count()
            self.dimensions = [name for (name,) in self._all("dimensions")]
            self.models = self.index.judge_models()
            self.outcomes = [
                OutcomeCount(outcome, Status(status), count, score)
                for outcome, status, count, score in self._all("outcomes")
            ]
            self.choices = {name: found for name in _CHOICES if (found := self._choices(name))}

    def count(self, query: ListQuery) -> int:
        """How many judgments are meant."""
        where, parameters = query.condition()
        with self._asking():
            return int(self._all("count", parameters, where=where)[0][0])

    def page(self, query: ListQuery, offset: int, limit: int) -> list[JudgedRow]:
        """So many of them from one place on, with their texts."""
        where, parameters = query.condition()
        parameters |= {"offset": offset, "limit": limit}
        with self._asking():
            chosen = [row for (row,) in self._all("page", parameters, where=where, order=SORTS[query.sort])]
            places = {row: place for row, *place in self._all("places", {"chosen": chosen})} if chosen else {}
            return list(self.index.read_places(tuple(places[row]) for row in chosen))

    def rank_of(self, query: ListQuery, named: NamedJudgment) -> int:
        """How many stand before it in the order of the dataset."""
        where, parameters = query.condition()
        parameters |= {"named": named.sample_id, "by": named.judge, "repeat": named.repeat}
        with self._asking():
            return int(self._all("before", parameters, where=where)[0][0])

    def sample(self, sample_id: str) -> tuple[list[JudgedRow], dict[str, Any], list[dict[str, Any]]]:
        """A sample under every judge and repeat, its record and the records of all replies to it."""
        with self._asking():
            return self.index.find_sample(sample_id), *self.index.records_of(sample_id)

    def close(self) -> None:
        """When whoever is asking has done."""
        with self._lock:
            self._connection.close()

    def _choices(self, name: str) -> list[tuple[str, int]]:
        value, fewest = _CHOICES[name]
        found = self._all("choice", {"limit": _MOST_CHOICES}, value=value)
        return [(value, count) for value, count in found] if len(found) >= fewest else []

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
    ensure_indexed(workspace, run)
    index = str(run.index).replace("'", "''")
    try:
        connection = duckdb.connect(str(path), config=session_settings(path.with_suffix(".spilled")))
        # A connection of its own to the file that is in place now: a newer index does not change what is open here.
        connection.execute(f"ATTACH '{index}' AS run (READ_ONLY)")
        connection.execute(_SQL["build"])
        # What RunIndex asks is asked of the index; `listed` is found in the file that it was made in.
        connection.execute(f"SET search_path = 'run.main,{path.stem}.main'")
    except duckdb.Error as error:
        raise index_error(run.index, error) from error
    return JudgmentList(connection, run)
