"""Two runs, or two parts of one: which samples they share, and how those differ."""

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import duckdb

from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import ResponseCounts, RunFacts
from mixseek.domain.judge_names import label_judges, sole_models
from mixseek.domain.pair_counts import SMALLEST_DIFFERENCE, DifferenceSums, Pair, SideCount, StatusPairs
from mixseek.domain.panels import PanelRule
from mixseek.index.loading import attach_index, index_error, read_facts
from mixseek.index.panel import panel_units
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import attaching, confine, fetch_all, read_statements, session_settings
from mixseek.storage.workspace import RunDirectory, Workspace

_PAIRS_SQL = read_statements("mixseek.index", "pairs.sql")
SideName = Literal["a", "b"]
# Which pairs are meant, in SQL; the names are what callers ask for.
EVERYTHING, BETTER, WORSE = "true", "d > $smallest", "d < -$smallest"
UNSCORED, SAME_TEXT, FINISHED = "d IS NULL", "is_same", "is_finished"
# One text, two outcomes: another score, or a score on one side only.
CHANGED_JUDGMENT = "is_same AND (abs(d) > $smallest OR (a IS NULL) <> (b IS NULL))"
WITHOUT_DRIFT = f"NOT coalesce({CHANGED_JUDGMENT}, false)"
NO_PAIRS = DifferenceSums()
# Columns of a pair by which differences are broken down.
FACTORS = ("task", "target", "variant")


@dataclass(frozen=True, slots=True)
class Side:
    """A run, or what one target wrote or one prompt variant brought in it."""

    run: RunDirectory
    target: str | None = None
    variant: str | None = None
    rule: PanelRule | None = None  # how its judges become one


@dataclass(frozen=True, slots=True)
class Pairing:
    """What makes two samples a pair: their id, or these columns."""

    columns: tuple[str, ...] = ()

    @property
    def is_by_id(self) -> bool:
        return not self.columns


class PairIndex:
    """Questions about two sides, over a connection that somebody else closes."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, indexes: Mapping[SideName, str]) -> None:
        self._connection = connection
        self._indexes = indexes
        self.pairing = Pairing()
        # Whether A and B are the same samples of the same run.
        self.is_one_side = False

    def facts(self, side: SideName) -> RunFacts:
        """What the whole run of a side has."""
        return read_facts(self._connection, self._indexes[side])

    def judge_labels(self, a: Sequence[str], b: Sequence[str]) -> dict[str, str]:
        """What a reader knows the judges of both sides by; one that brings two models' replies keeps its name."""
        brought = [row for index in self._indexes.values() for row in self._all("only_models", index=index)]
        return label_judges([*dict.fromkeys((*a, *b))], sole_models((judge, model) for judge, model in brought))

    def names(self, side: SideName, column: str) -> list[str]:
        """What a column of a side's run holds: for hints."""
        return [row[0] for row in self._all("names", index=self._indexes[side], column=column)]

    def lay_out(self, a: Side, b: Side, counting: Counting = USUAL) -> None:
        """Make the pairs; everything else is asked of them. What means take is the same on both sides."""
        sides: tuple[tuple[SideName, Side], ...] = (("a", a), ("b", b))
        for name, side in sides:
            index = self._indexes[name]
            has_repeats = bool(self._count("has_repeats", index=index))
            units = panel_units(side.rule, index, has_repeats=has_repeats, counting=counting)
            parameters = {"target": side.target, "variant": side.variant}
            fetch_all(self._connection, _PAIRS_SQL["side"].format(side=name, index=index, units=units), parameters)
        self.is_one_side = (a.run.path, a.target, a.variant) == (b.run.path, b.target, b.variant)
        self._pair_up(Pairing())
        better = self._better_pairing()
        if better is not None:
            self._pair_up(better)

    def _pair_up(self, pairing: Pairing) -> None:
        """The same id for another question is another sample."""
        self.pairing = pairing
        columns = ", ".join(pairing.columns)
        name, condition = "by_id", "a.id = b.id AND coalesce(a.question_id = b.question_id, true)"
        if not pairing.is_by_id:
            name, condition = "by_question", self._same_columns("a", "b")
        parts = {side: _PAIRS_SQL[name].format(side=side, columns=columns) for side in ("a", "b")}
        self._all("pairs", condition=condition, **parts)

    def _better_pairing(self) -> Pairing | None:
        """The pairing by question, where that finds more pairs than the ids do; those are the finer of the two."""
        by_id = self._count("pair_count")
        if by_id and by_id == min(self._count("side_size", side=side) for side in ("a", "b")):
            return None
        # A column that holds other values on each side is what is compared, and tells no pair.
        both = ("prompt_variant", "target_model")
        columns = ("question_id", *(column for column in both if self._count("common_values", column=column)))
        by_question = self._count("common_questions", columns=", ".join(columns))
        return Pairing(columns) if by_question > by_id else None

    def _same_columns(self, left: str, right: str) -> str:
        return " AND ".join(f"{left}.{column} IS NOT DISTINCT FROM {right}.{column}" for column in self.pairing.columns)

    def sums(self, group: str | None = None, where: str = EVERYTHING) -> dict[str | None, DifferenceSums]:
        """The sums by the values of one of FACTORS; without it, of all pairs together under None."""
        rows = self._all("sums", group=group or "NULL", where=where, smallest=SMALLEST_DIFFERENCE)
        return {row[0]: DifferenceSums(*row[1:]) for row in rows}

    def moves(self, most: int, group: str | None = None, where: str = EVERYTHING) -> dict[str | None, list[float]]:
        """The sums of the questions that moved, of groups with at most so many of them."""
        by_group: dict[str | None, list[float]] = defaultdict(list)
        parameters = {"smallest": SMALLEST_DIFFERENCE, "most": most}
        for name, moved in self._all("moves", group=group or "NULL", where=where, **parameters):
            by_group[name].append(moved)
        return by_group

    def is_varied(self, factor: str) -> bool:
        """Whether a factor has several values, or some pairs have none."""
        return bool(self._all("is_varied", factor=factor)[0][0])

    def averaged_pairs(self) -> int:
        """Pairs of which a side is several samples."""
        return self._count("averaged")

    def statuses(self) -> list[StatusPairs]:
        return [StatusPairs(*row) for row in self._all("StatusPairs")]

    def pairs(self, where: str, limit: int | None = None) -> list[Pair]:
        """The largest changes first."""
        indexes = {f"index_{side}": name for side, name in self._indexes.items()}
        rows = self._all("Pair", where=where, limit=limit, smallest=SMALLEST_DIFFERENCE, **indexes)
        return [Pair(*row) for row in rows]

    def pair_names(self, where: str) -> list[str]:
        """The names of all such pairs, in the order of B's dataset: one id, or both where they differ."""
        return [row[0] for row in self._all("pair_names", where=where, smallest=SMALLEST_DIFFERENCE)]

    def count_side(self, side: SideName) -> SideCount:
        """Samples of a side, and those without a partner."""
        samples = self._count("side_size", side=side)
        if self.pairing.is_by_id:
            # Ids are unique in a run.
            return SideCount(samples, samples - self._count("pair_count"))
        ((unpaired,),) = fetch_all(self._connection, f"SELECT count(*) FROM ({self._unpaired(side)})", {})  # noqa: S608 - ours
        return SideCount(samples, unpaired)

    def responses(self, side: SideName) -> ResponseCounts:
        """How the responses of a side ended, in a pair or not."""
        return ResponseCounts(*self._all("responses", side=side)[0])

    def unpaired(self, side: SideName, limit: int | None = None) -> list[str]:
        """Ids of samples without a partner, in the order of the dataset."""
        query = f"{self._unpaired(side)} ORDER BY position LIMIT $limit"
        return [row[0] for row in fetch_all(self._connection, query, {"limit": limit})]

    def _unpaired(self, side: SideName) -> str:
        if self.pairing.is_by_id:
            return _PAIRS_SQL["unpaired_ids"].format(side=side)
        condition = self._same_columns(f"side_{side}", "common")
        columns = ", ".join(self.pairing.columns)
        return _PAIRS_SQL["unpaired_questions"].format(side=side, columns=columns, condition=condition)

    def _count(self, name: str, **parts: str) -> int:
        return int(self._all(name, **parts)[0][0])

    def _all(self, name: str, **given: Any) -> list[tuple[Any, ...]]:
        """`given` goes into the braces of a query, or is one of its parameters."""
        query = _PAIRS_SQL[name].format(**given)
        parameters = {key: value for key, value in given.items() if f"${key}" in query}
        return fetch_all(self._connection, query, parameters)


@contextlib.contextmanager
def open_pairs(a: RunDirectory, b: RunDirectory) -> Iterator[PairIndex]:
    """Two runs, or one twice, indexed first if a journal is newer; open for as long as the block lasts."""
    # By their places: a program may compare runs of one name in two workspaces.
    runs = {run.path: run for run in (a, b)}
    attached = {path: f"run_{number}" for number, path in enumerate(runs)}
    # Not in the workspace, which may be read-only. No text of anybody goes there.
    with tempfile.TemporaryDirectory(prefix="mixseek-") as scratch:
        try:
            settings = session_settings(Path(scratch), *(run.index for run in runs.values()), is_ample=True)
            with attaching(None, config=settings) as connection:
                for run in runs.values():
                    attach_index(connection, Workspace(run.workspace), run, attached[run.path])
                confine(connection)
                yield PairIndex(connection, {"a": attached[a.path], "b": attached[b.path]})
        except duckdb.Error as error:
            raise index_error(b.index, error) from error
