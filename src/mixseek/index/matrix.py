"""Questions down and targets, variants, judges or runs across: page by page, however many questions there are."""

import contextlib
import itertools
import shutil
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from pathlib import Path
from typing import Any

import duckdb

from mixseek.domain.judge_names import label_judges, sole_models
from mixseek.index.listing import ListQuery, build_list, make_people_tables
from mixseek.index.loading import attach_index, index_error
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

_SQL = read_statements("mixseek.index", "matrix.sql")
# What stands across, by the names that pages and programs ask with; columns of `listed`.
ACROSS = ("target", "variant", "judge")
ACROSS_RUNS = "run"
# Which questions are shown, and in which order; columns of `questions`.
SHOWN: Mapping[str, str] = {"": "true", "differ": "differ", "all_wrong": "all_wrong", "cut_off": "cut_off"}
ORDERS: Mapping[str, str] = {"": "first", "disagreement": "disagreement DESC", "difficulty": "mean NULLS LAST"}
# Tables of ways to look at a run that were looked at last: to lay one out again takes a second for a million judgments.
_TABLES_KEPT = 12
_MOST_CHOICES = 300
Session = Callable[[], AbstractContextManager[duckdb.DuckDBPyConnection]]


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """Where a search has found its words in one run: a 1 at the place of each sample, and of each judgment."""

    samples: str
    outcomes: str


@dataclass(frozen=True, slots=True)
class MatrixQuery:
    """What stands across, of which judgments; `shown` and `sort` are names of SHOWN and ORDERS.

    A search leaves the questions of what it found, with all of their cells; `found` is by the names of the runs, or by
    "" where there is one.
    """

    across: str
    shown: str = ""
    sort: str = ""
    narrowed: ListQuery = field(default_factory=ListQuery)
    found: Mapping[str, FoundPlaces] | None = None

    def condition(self) -> tuple[str, dict[str, Any]]:
        """Which judgments are laid out, in SQL, with its parameters."""
        where, parameters = self.narrowed.condition()
        if self.found is None:
            return where, parameters
        runs = []
        for number, (run, places) in enumerate(self.found.items()):
            runs.append(_SQL["found"].format(number=number, run=f"run = $run{number}" if run else "true"))
            parameters |= {f"samples{number}": places.samples, f"outcomes{number}": places.outcomes}
            parameters |= {f"run{number}": run} if run else {}
        return _SQL["of_found_questions"].format(where=where, found=" OR ".join(runs)), parameters


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """The judgments of one question in one column; controls are in no count but their own."""

    valid: int
    right: int  # with the full score
    mean: float | None
    verdict: str | None  # of all that have one; None where they differ
    undecided: int
    invalid: int
    missing: int
    controls: int
    is_cut_off: bool


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A question, or a sample that names none, with its cells by what stands across."""

    question: str | None
    sample_id: str | None
    first: int  # the place of its first sample in the journal
    run: str | None  # whose journal that is, where there are several
    cells: Mapping[str | None, MatrixCell]


@dataclass(frozen=True, slots=True)
class MatrixCounts:
    """How many questions there are, by the filters that they answer to."""

    all: int
    differ: int
    all_wrong: int
    cut_off: int
    is_graded: bool  # some score is neither 0 nor 1


@dataclass(frozen=True, slots=True)
class MatrixPage:
    """Some rows of a matrix; `places` are its columns, in no order."""

    places: list[str | None]
    offset: int
    place: int | None  # of the row that was asked for
    is_paired: bool  # two targets to a judgment, each with what it says of that one
    counts: MatrixCounts
    matches: int
    rows: list[MatrixRow]


class Matrix:
    """Questions about a table `listed` that does not change; `wrong_at_most` is the highest score that is wrong."""

    # Whose judgment a row of the table is.
    _run_column = "NULL"

    def __init__(self, session: Session, wrong_at_most: float) -> None:
        self._session, self._wrong_at_most = session, wrong_at_most
        self._numbers = itertools.count(1)
        self._tables: OrderedDict[tuple[Any, ...], str] = OrderedDict()

    def is_paired(self) -> bool:
        """Whether judgments are about two targets."""
        with self._session() as connection:
            return names_both(connection)

    def page(self, query: MatrixQuery, offset: int, limit: int, row: str = "") -> MatrixPage:
        """So many rows of the matrix from one place on; those around a question where one is named and there."""
        where, parameters = query.condition()
        parts = {"across": query.across, "run": self._run_column}
        with self._session() as connection:
            is_paired = query.across == "target" and names_both(connection)
            parts["listed"] = _SQL["sides" if is_paired else "judged"].format(where=where)
            base = (query.across, where, *parameters.values())
            wrong = {**parameters, "wrong": self._wrong_at_most}
            questions = self._lay_out(connection, base, "questions", wrong, **parts)
            order = {"questions": questions, "shown": SHOWN[query.shown], "order": ORDERS[query.sort]}
            chosen = self._lay_out(connection, (*base, query.shown, query.sort), "chosen", {}, **order)
            named = _ask(connection, "place", {"row": row}, table=chosen) if row else []
            place = named[0][0] if named else None
            offset = offset if place is None else place // limit * limit
            # A parameter that a statement does not name would be refused.
            asked = {"offset": offset, "limit": limit}
            counts = MatrixCounts(*_ask(connection, "counts", table=questions)[0])
            cells: dict[int, dict[str | None, MatrixCell]] = defaultdict(dict)
            for number, column, *cell in _ask(connection, "cells", {**parameters, **asked}, table=chosen, **parts):
                cells[number][column] = MatrixCell(*cell)
            columns = self._lay_out(connection, base, "places", parameters, **parts)
            places = [column for (column,) in _ask(connection, "columns", table=columns)]
            page = _ask(connection, "page", asked, table=chosen)
        matches = getattr(counts, query.shown or "all")
        return MatrixPage(
            places,
            offset,
            place,
            is_paired,
            counts,
            matches,
            [MatrixRow(name, sample_id, first, run, cells[number]) for number, name, sample_id, first, run in page],
        )

    def _lay_out(
        self,
        connection: duckdb.DuckDBPyConnection,
        key: tuple[Any, ...],
        name: str,
        parameters: Mapping[str, Any],
        **parts: str,
    ) -> str:
        """The table of that statement; it is kept for whoever turns to the next page."""
        key = (name, *key)
        if key not in self._tables:
            table = f"{name}_{next(self._numbers)}"
            _ask(connection, name, parameters, table=table, **parts)
            self._tables[key] = table
            release_memory(connection)
        self._tables.move_to_end(key)
        while len(self._tables) > _TABLES_KEPT:
            connection.execute(f"DROP TABLE {self._tables.popitem(last=False)[1]}")
        return self._tables[key]


class RunsMatrix(Matrix):
    """Several runs beside each other: their lists in one table of a file of the caller's."""

    _run_column = "run"

    def __init__(self, workspace: Workspace, runs: Sequence[RunDirectory], path: Path, wrong_at_most: float) -> None:
        super().__init__(self._asking, wrong_at_most)
        self._lock, self._run, self._path = threading.Lock(), runs[0], path
        path.parent.mkdir(parents=True)
        self._connection = open_duckdb(str(path), config=session_settings(path.with_suffix(".spilled")))
        brought: list[tuple[Any, ...]] = []
        # The places of the last sample and of the last judgment of each run.
        self.ends: dict[str, tuple[int, int]] = {}
        for number, run in enumerate(runs):
            self._run = run
            with self._asking() as connection:
                attach_index(connection, workspace, run, "run")
                build_list(connection)
                _ask(connection, "add" if number else "gather", {"run": run.name})
                ((samples, outcomes),) = _ask(connection, "ends")
                self.ends[run.name] = samples, outcomes
                brought += _ask(connection, "only_models")
                connection.execute("DROP TABLE listed; DETACH run")
        with self._asking() as connection:
            confine(connection, directories=(path.parent,))
            connection.execute("ALTER TABLE gathered RENAME TO listed")
            make_people_tables(connection)
            # What all of them can be narrowed by, and what a reader knows their judges by.
            self.choices = {
                name: _ask(connection, "values", {"limit": _MOST_CHOICES}, column=name) for name in (*ACROSS, "task")
            }
            models = sole_models((judge, model) for judge, model in brought)
            self.labels = label_judges([judge for judge, _ in self.choices["judge"]], models)

    @contextlib.contextmanager
    def _asking(self) -> Iterator[duckdb.DuckDBPyConnection]:
        try:
            with self._lock:
                yield self._connection
        except duckdb.Error as error:
            raise index_error(self._run.index, error) from error

    def close(self) -> None:
        """When whoever is asking has done; the file goes."""
        with self._lock:
            self._connection.close()
        shutil.rmtree(self._path.parent, ignore_errors=True)


def names_both(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether samples say who wrote the second of two responses."""
    return bool(_ask(connection, "is_paired")[0][0])


def _ask(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any] | None = None, **parts: str
) -> list[tuple[Any, ...]]:
    return fetch_all(connection, _SQL[name].format(**parts), parameters or {})
