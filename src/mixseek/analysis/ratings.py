"""Ratings as counts: who said what about which item, from a table of anybody's making or from a run.

A table is read through DuckDB; what is asked of its rows may be a column or an SQL expression over columns. While such
expressions run, nothing but the table can be read. All that leaves here is aggregated: a million ratings are counts.
"""

import contextlib
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from mixseek.analysis.label_pool import NO_SCORE, LabelPool
from mixseek.analysis.label_units import ensure_texts
from mixseek.datasets.files import read_delimited, read_json_lines, reading
from mixseek.datasets.tables import unnamed
from mixseek.domain.counts import UnitSums
from mixseek.domain.labels import collect_labels
from mixseek.domain.lines import LONGEST_LINE_BYTES, bounded_lines
from mixseek.domain.panels import MARKS, WINNER_COLUMNS, Preference, read_preference
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.index.loading import attach_index
from mixseek.index.unit_sums import unit_sums
from mixseek.stats.corrected import PairSums
from mixseek.stats.estimates import Cell
from mixseek.stats.intervals import Bounds
from mixseek.stats.raters import MOST_GROUPS, AgreementSums, equal_ratings
from mixseek.stats.strengths import listed
from mixseek.storage.duckdb_session import (
    confine,
    escape_glob,
    fetch_all,
    first_line,
    is_short_of_memory,
    open_duckdb,
    quoted,
    read_statements,
    session_settings,
)
from mixseek.storage.journal.records import read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace

_SQL = read_statements("mixseek.analysis", "ratings.sql")
# Names that people give the columns, the likeliest first.
USUAL_NAMES: Mapping[str, Sequence[str]] = {
    "item": ("item", "item_id", "sample_id", "id"),
    "judge": ("judge", "rater", "annotator"),
    "score": ("score", "value", "rating", "label", "verdict", "preference", "winner"),
    "question": ("question_id", "split_key", "question", "instruction"),
    "system": ("system", "target_model", "model"),
    "system-a": ("system_a", "target_a", "model_a", "generator_1"),
    "system-b": ("system_b", "target_b", "model_b", "generator_2"),
    "shown": ("shown", "order"),
}
# One of several columns is marked; words of two that are marked together are no word.
_MARKED = (
    f"CASE WHEN lower(CAST({name} AS VARCHAR)) IN {MARKS} THEN '{said}' END" for name, said in WINNER_COLUMNS.items()
)
_WINNER = f"regexp_extract(concat({', '.join(_MARKED)}), '^({'|'.join(WINNER_COLUMNS.values())})$')"
# Who says what the column of --gold holds; who says which response people prefer, in a run of pairs.
GOLD = "gold"
PEOPLE = "people"
_READERS = {
    ".jsonl": "read_json({path}, format = 'newline_delimited', maximum_object_size = {longest}{more})",
    ".json": "read_json({path}, format = 'auto', maximum_object_size = {longest}{more})",
    ".csv": "read_csv({path}, header = true, comment = '', max_line_size = {longest}{more})",
    ".tsv": "read_csv({path}, header = true, comment = '', delim = '\\t', max_line_size = {longest}{more})",
    ".parquet": "read_parquet({path}, binary_as_string = true)",
}
_READERS[".ndjson"] = _READERS[".jsonl"]
SUPPORTED = ".jsonl, .ndjson, .json, .csv, .tsv (also with .gz), .parquet"
# DuckDB guesses these from texts; an id that looks like a date is an id.
_GUESSED = ("DATE", "TIME", "UUID", "INTERVAL")
_NUMBERS: tuple[str, ...] = ("FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")
_NUMBERS += tuple(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE"))
_NUMBERS += ("INTEGER", "UINTEGER")
# More texts than this are no categories; more numbers are a continuum, where only distances can be compared.
MOST_CATEGORIES = 101
# Rows that a coefficient's groups may bring: with many categories there are fewer groups.
_MOST_GROUPED_CELLS = 200_000
_MOST_PAIR_CELLS = 5_000
_FEWEST_GROUPS = 20
# Beyond so many questions they are put together by number: the design effect of a thousand groups is that of a million.
_MOST_CLUSTERS = 2_000
_CLUSTERS = 1_000
# Sums of squares hold sixteen digits: values beyond these, or that differ by less of their size, would lose them.
_LEAST_SIZE, _GREATEST_SIZE = 1e-6, 1e12
_LEAST_WIDTH = 1e-5


@dataclass(frozen=True, slots=True)
class RatingColumns:
    """A column or an expression for each; None stands for the usual names, and for nothing where none is there."""

    item: str | None = None
    judge: str | None = None
    score: str | None = None
    question: str | None = None
    system: str | None = None
    where: str | None = None
    # Rows in this order instead of the file's: it says which one is the first of an item and judge.
    order: str | None = None
    # Which of the human's rows count as labels; all where it is None.
    labelled: str | None = None
    # The truth about an item, beside its ratings: as if a rater called `gold` had said it.
    gold: str | None = None
    # How long the rated text is; of votes, the length of A divided by that of B.
    length: str | None = None
    # Of votes: who wrote A and B, and which of the two was shown first.
    system_a: str | None = None
    system_b: str | None = None
    shown: str | None = None


def flag_of(column: str) -> str:
    """The option that names it: whoever rates is a rater here, because `--judge` is who is asked."""
    return "--rater" if column == "judge" else f"--{column.replace('_', '-')}"


@dataclass(frozen=True, slots=True)
class RatingSource:
    """`human` is the rater whose word is the truth.

    `uses_mean`: repeated ratings are averaged, not the first taken. None: the first in a table; in a run as its report
    does it, which averages, but takes the first order of a pair.
    """

    columns: RatingColumns = field(default_factory=RatingColumns)
    human: str | None = None
    uses_mean: bool | None = None
    # Of a run: all that people said of a text is one rating, by `PEOPLE`; else each of them is a rater.
    people_as_one: bool = False
    # Of a table: how many bytes a line may have.
    longest_line: int = LONGEST_LINE_BYTES

    @property
    def truth(self) -> str | None:
        """The human, or what a column of the truth is called."""
        return GOLD if self.columns.gold is not None else self.human


@dataclass(frozen=True, slots=True)
class Rater:
    """One that rates; `missing` are items that it has a row for but no value."""

    number: int
    name: str
    ratings: int
    missing: int
    is_binary: bool
    distinct: int
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class SilentRater:
    """One that has rows, and not one value in them."""

    number: int
    name: str
    missing: int


@dataclass(frozen=True, slots=True)
class GroupedAgreement:
    """By groups of questions; `equal` are the items with `ratings` each, which Fleiss' kappa needs (None: no item)."""

    groups: Sequence[AgreementSums]
    equal: Sequence[AgreementSums]
    ratings: int | None


class Ratings:
    """Questions about ratings that are loaded; the connection is somebody else's to close."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        names: Sequence[str],
        categories: Sequence[str],
        *,
        uses_mean: bool = False,
    ) -> None:
        self._connection = connection
        # Of repeated ratings; else the first was taken.
        self.uses_mean = uses_mean
        # By number; also those that gave nothing.
        self.names = tuple(names)
        # Texts that were rated with, in order; empty where ratings are numbers.
        self.categories = tuple(categories)
        sizes = self._all("sizes")[0]
        self.count, self.items, self.questions, self.repeated = sizes[:4]
        self.systems: tuple[str, ...] = tuple(sizes[4])
        missing = dict(self._all("without_value"))
        self.raters = tuple(
            Rater(number, names[number], count, missing.get(number, 0), *rest)
            for number, count, *rest in self._all("raters")
        )
        for rater in self.raters:
            missing.pop(rater.number, None)
        self.silent = tuple(SilentRater(number, names[number], count) for number, count in sorted(missing.items()))

    def unit_sums(self) -> dict[int, UnitSums]:
        """Of each rater: values summed by question, which is all that a clustered interval needs."""
        rows = self.fetch(unit_sums(_SQL["units_of_raters"], ("rater",)))
        return {row[0]: UnitSums(*row[1:]) for row in rows}

    def values(self, raters: Sequence[Rater]) -> list[float]:
        """What these raters said at all, in order; one more than MOST_CATEGORIES where it is a continuum."""
        rows = self._all("values", raters=[one.number for one in raters], limit=MOST_CATEGORIES + 1)
        return [row[0] for row in rows]

    def agreement(self, raters: Sequence[Rater], distinct: int) -> GroupedAgreement:
        """All raters together, by groups of questions."""
        parts: dict[tuple[int, bool], tuple[list[float], dict[str, dict[Any, float]]]] = {}
        numbers = [one.number for one in raters]
        ratings = equal_ratings(dict(self._all("ratings_of_items", raters=numbers)), len(raters))
        for kind, part, is_equal, x, y, a, b in self._all(
            "agreement", raters=numbers, groups=self.group_count(distinct), equal=ratings or 0
        ):
            items, sums = parts.setdefault((part, is_equal), ([], defaultdict(dict)))
            if kind == "item":
                items.append(a)
            elif kind == "one":
                sums["totals"][x], sums["shares"][x] = a, b
            else:
                sums["coincidences"][x, y], sums["pairs"][x, y] = a, b
        made = {key: AgreementSums(int(sum(items)), **sums) for key, (items, sums) in parts.items()}
        together: dict[int, list[AgreementSums]] = defaultdict(list)
        for (part, _), group in sorted(made.items()):
            together[part].append(group)
        return GroupedAgreement(
            [AgreementSums.total(groups) for groups in together.values()],
            [group for (_, is_equal), group in sorted(made.items()) if is_equal],
            ratings,
        )

    def group_count(self, distinct: int) -> int:
        """Into how many groups questions are put for the jackknife."""
        most = max(_FEWEST_GROUPS, _MOST_GROUPED_CELLS // max(1, distinct * distinct))
        return max(1, min(MOST_GROUPS, most, int(self.questions)))

    def _pair_group_count(self, first: Rater, second: Rater) -> int:
        """Fewer, because there is such a table for every judge."""
        cells = max(first.distinct, second.distinct) ** 2
        return max(1, min(MOST_GROUPS, max(_FEWEST_GROUPS, _MOST_PAIR_CELLS // cells), int(self.questions)))

    def pair_groups(self, first: Rater, second: Rater) -> list[dict[tuple[float, float], int]]:
        """What two raters said about the same items, by groups of questions."""
        parts: dict[int, dict[tuple[float, float], int]] = defaultdict(dict)
        asked = {"first": first.number, "second": second.number, "groups": self._pair_group_count(first, second)}
        for part, x, y, count in self._all("pairs", **asked):
            parts[part][x, y] = count
        return [parts[part] for part in sorted(parts)]

    def all_pairs(self, raters: Sequence[Rater]) -> dict[tuple[int, int], dict[tuple[float, float], int]]:
        """What every two of these raters said about the same items; the one that is listed earlier comes first."""
        found: dict[tuple[int, int], dict[tuple[float, float], int]] = defaultdict(dict)
        for first, second, x, y, count in self._all("all_pairs", raters=[one.number for one in raters]):
            found[first, second][x, y] = count
        return found

    def compared(self, rater: Rater | SilentRater, first: str, second: str) -> dict[tuple[float, float], int]:
        """Values of two systems on the questions that both answered, counted."""
        return {(x, y): n for x, y, n in self._all("compared", rater=rater.number, first=first, second=second)}

    def compared_bounds(
        self, rater: Rater | SilentRater, first: str, second: str, span: tuple[float, float]
    ) -> tuple[int, Bounds | None]:
        """How many items of the two systems have no score, and the mean difference whatever those are worth."""
        asked = {"rater": rater.number, "first": first, "second": second, "least": span[0], "greatest": span[1]}
        ((missing, questions, lowest, highest),) = self._all("compared_bounds", **asked)
        return missing, Bounds(lowest, highest) if questions and missing else None

    def pool(self, judge: Rater | SilentRater, human: Rater, *, only_rated: bool) -> LabelPool:
        """Every item of the judge, scored or not; `only_rated`: those that both have rated, label or not."""
        self._all("create_pool", judge=judge.number, human=human.number, only_rated=only_rated)
        return self._read_pool()

    def paired_pool(
        self, judge: Rater | SilentRater, human: Rater, systems: tuple[str, str], *, only_rated: bool
    ) -> LabelPool:
        """Every question that both systems answered; scores and labels are differences."""
        self._all(
            "create_paired_pool",
            judge=judge.number,
            human=human.number,
            first=systems[0],
            second=systems[1],
            only_rated=only_rated,
        )
        return self._read_pool()

    def _read_pool(self) -> LabelPool:
        items, questions, known, known_mean, judge_mean = self._all("pool_sizes")[0]
        # A question's own number where there are few: never two of them in one then.
        modulus = self.questions + 1 if self.questions <= _MOST_CLUSTERS else _CLUSTERS
        parts = [PairSums(*row[1:]) for row in self._all("pool_sums", clusters=modulus)]
        cells: dict[int, dict[str, Cell]] = defaultdict(dict)
        if self._is_countable():
            for cluster, f, *counts in self._all("pool_cells", clusters=modulus):
                cells[cluster][NO_SCORE if f is None else f"{f:g}"] = Cell(*counts)
        label_parts = [
            PairSums(count, labels=labels, ly=total, lyy=squares)
            for _, count, labels, total, squares in self._all("pool_labels", clusters=modulus)
        ]
        labels, given = {}, Counter[float]()
        for f, y, count in self._all("pool_known"):
            given[y] += count
            if f is not None:
                labels[f, y] = count
        return LabelPool(
            items,
            questions,
            known,
            known_mean,
            judge_mean,
            PairSums.total(parts),
            parts,
            list(cells.values()),
            labels,
            PairSums.total(label_parts),
            label_parts,
            given,
        )

    def _is_countable(self) -> bool:
        return bool(self.fetch("SELECT count(DISTINCT f) <= $most FROM pool", most=MOST_CATEGORIES)[0][0])

    def _all(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return self.fetch(_SQL[name], **parameters)

    def fetch(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """For questions of other modules: tables are `rows`, `items`, `answers` and `rated`, as in ratings.sql."""
        return fetch_all(self._connection, query, parameters)


# From a table: columns, expressions, and what is wrong with a row.


@contextlib.contextmanager
def open_table(path: Path, source: RatingSource) -> Iterator[Ratings]:
    """The table's ratings, for as long as the block lasts; raises DatasetError or ConfigurationError in one line."""
    with _session(path) as connection:
        table = _Table(connection, path, source.longest_line)
        table.load(source.columns)
        yield _ratings(connection, source, table.place_of, "no row has a score; name its column with --score")


@contextlib.contextmanager
def open_run(workspace: Workspace, run: RunDirectory, source: RatingSource) -> Iterator[Ratings]:
    """A run's own: scores of valid judgments, the first of repeats, and what people said about the same texts.

    A model on its own output is left out.
    """
    with _session(run.journal) as connection:
        attach_index(connection, workspace, run, "run")
        confine(connection, directories=(run.path,))
        if fetch_all(connection, "SELECT has_pairs FROM run.facts", {})[0][0]:
            fetch_all(connection, _SQL["create_pair_rows"], {"people": PEOPLE})
        else:
            connection.execute(_SCORED_ROWS)
            if source.uses_mean is None:
                source = replace(source, uses_mean=True)
        _add_labels(connection, workspace, run, people_as_one=source.people_as_one)
        nothing = (
            f"{run.name}: no judgment is valid, so there is nothing to count (`mixseek report {run.name}` says why)"
        )
        yield _ratings(connection, source, lambda row: f"{run.name}: judgment {row}", nothing)


_SCORED_ROWS = (
    "CREATE TABLE rows AS SELECT key AS item, coalesce(question_id, key) AS question, "
    "coalesce(target_model, prompt_variant) AS system, coalesce(judge_model, judge) AS rater, "
    "CASE WHEN status = 'valid' THEN score END AS value, NULL::VARCHAR AS said, true AS is_label, "
    "row_number() OVER (ORDER BY take, position) AS row, "
    "row_number() OVER (ORDER BY take, position) AS rank, NULL::DOUBLE AS length, NULL::VARCHAR AS first, "
    "NULL::VARCHAR AS second, NULL::VARCHAR AS shown FROM run.judged_by_model WHERE NOT is_control"
)


def _add_labels(
    connection: duckdb.DuckDBPyConnection, workspace: Workspace, run: RunDirectory, *, people_as_one: bool
) -> None:
    """What people said about each text, under the same protocol: the last word of each, or what all amount to."""
    labels = LabelStore(workspace).read(read_manifest(run.manifest).protocol.name)
    if people_as_one:
        last = {(text, PEOPLE): one.share for text, one in collect_labels(labels).items() if one.by_rater}
    else:
        last = {(label.text, label.rater): label.share for label in labels if not label.is_adjudicated}
    if last:
        texts, raters, shares = zip(*((text, rater, share) for (text, rater), share in last.items()), strict=True)
        said = {"texts": list(texts), "raters": list(raters), "shares": list(shares)}
        fetch_all(connection, _SQL["add_labels"], {**said, "path": escape_glob(ensure_texts(workspace, run))})
        fetch_all(connection, _SQL["drop_doubled"], {"people": PEOPLE})


@contextlib.contextmanager
def _session(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with (
        tempfile.TemporaryDirectory(prefix="mixseek-") as scratch,
        open_duckdb(config=session_settings(Path(scratch) / "spilled", path)) as connection,
    ):
        yield connection


class _Table:
    """A file that is read twice at most: once to see what columns it has, once to take the ratings out."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, longest_line: int) -> None:
        self._connection = connection
        self._path = path
        self._longest_line = longest_line
        suffixes = [suffix.lower() for suffix in path.suffixes]
        self._suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else "".join(suffixes[-1:])
        if self._suffix not in _READERS:
            raise DatasetError(f"{path}: not a table that can be read; expected {SUPPORTED}")
        if not path.is_file():
            raise DatasetError(f"{path}: there is no such file")
        self._refuse_long_lines(is_packed=suffixes[-1:] == [".gz"])
        # Whatever an expression asks for.
        confine(connection, path)
        self._types: dict[str, str] = {}
        try:
            self.kinds = self._look()
        except duckdb.Error as error:
            raise self._unreadable(error) from error

    def _refuse_long_lines(self, *, is_packed: bool) -> None:
        """DuckDB lets lines of JSON be longer than it is told; a file that is shorter than the limit has none."""
        is_small = not is_packed and self._path.stat().st_size <= self._longest_line
        if self._suffix in (".jsonl", ".ndjson") and not is_small:
            with reading(self._path) as stream:
                for _ in bounded_lines(self._path, stream, self._longest_line):
                    pass

    def _look(self) -> dict[str, str]:
        """Columns and their types, from all rows; expressions are then tried on an empty table of the same shape."""
        self._more = ", sample_size = -1" if self._suffix != ".parquet" else ""
        rows = self._connection.execute(f"DESCRIBE SELECT * FROM {self._reader()}").fetchall()  # noqa: S608 - our own
        if not self._connection.execute(f"SELECT 1 FROM {self._reader()} LIMIT 1").fetchall():  # noqa: S608 - our own
            raise DatasetError(f"{self._path}: there is no row in it")
        kinds = {str(row[0]): str(row[1]) for row in rows}
        if self._suffix != ".parquet":
            kinds = {name: "VARCHAR" if kind.startswith(_GUESSED) else kind for name, kind in kinds.items()}
            told = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in kinds.items())
            self._more = f", columns = {{{told}}}"
        self._connection.execute(f"CREATE TABLE shape AS SELECT * FROM {self._reader()} LIMIT 0")  # noqa: S608 - our own
        return kinds

    def load(self, columns: RatingColumns) -> None:
        """Into the table `rows`: item, question, system, rater, value, is_label, row, rank, and what votes need."""
        value, text, is_number = self._score("score", columns.score)
        question = self._optional("question", columns.question)
        names = {"system": columns.system, "system-a": columns.system_a, "system-b": columns.system_b}
        named = {name: self._optional(name, given) or "NULL" for name, given in names.items()}
        item = self._optional("item", columns.item) or self._pair_item(question, named["system-a"], named["system-b"])
        judge = self._optional("judge", columns.judge) or self._expression("judge", None)[0]
        label = f"coalesce(CAST({self._checked('labelled', columns.labelled)} AS BOOLEAN), false)"
        where = f"WHERE {self._checked('where', columns.where)}" if columns.where else ""
        rank = (
            f"row_number() OVER (ORDER BY {self._checked('order', columns.order)}, _row)" if columns.order else "_row"
        )
        shown = self._optional("shown", columns.shown) or "NULL"
        length = f"TRY_CAST({self._checked('length', columns.length)} AS DOUBLE)" if columns.length else "NULL::DOUBLE"
        query = f"""
            CREATE TABLE rows AS SELECT CAST({item} AS VARCHAR) AS item,
                coalesce(CAST({question or item} AS VARCHAR), CAST({item} AS VARCHAR)) AS question,
                CAST({named["system"]} AS VARCHAR) AS system, CAST({judge} AS VARCHAR) AS rater, {value} AS value,
                {text} AS said, {label if columns.labelled else "true"} AS is_label, _row AS row, {rank} AS rank,
                {length} AS length, CAST({named["system-a"]} AS VARCHAR) AS first,
                CAST({named["system-b"]} AS VARCHAR) AS second, CAST({shown} AS VARCHAR) AS shown,
                {self._gold(columns.gold, is_number=is_number)}
            FROM (SELECT *, row_number() OVER () AS _row FROM {self._reader()}) {where}"""  # noqa: S608 - checked
        try:
            fetch_all(self._connection, query, {})
        except duckdb.Error as error:
            raise self._unreadable(error) from error
        for name in ("item", "judge"):
            column = "rater" if name == "judge" else name
            self._refuse(f"{column} IS NULL", f"has no {name}; fill it in, or leave such rows out with --where")
        if "NULL" not in (named["system-a"], named["system-b"]):
            _turn_rows(self._connection)
        if columns.gold is not None:
            self._refuse(f"rater = '{GOLD}'", f"has the judge {GOLD!r}: name it with --human, and leave out --gold")
            fetch_all(self._connection, _SQL["add_gold"], {"gold": GOLD})

    def _pair_item(self, question: str | None, first: str, second: str) -> str:
        """Of votes without an id, whoever stands first: the question and who answered it."""
        if question is None or "NULL" in (first, second):
            return self._expression("item", None)[0]
        names = [f"CAST({name} AS VARCHAR)" for name in (first, second)]
        return f"concat_ws(' / ', {question}, least({', '.join(names)}), greatest({', '.join(names)}))"

    def _score(self, name: str, given: str | None) -> tuple[str, str, bool]:
        """As a number and as a text, one of which is NULL; and which of them it is."""
        score, kind = self._expression(name, given)
        if not kind.startswith((*_NUMBERS, "VARCHAR", "JSON", "ENUM")) or kind.endswith("]"):
            raise ConfigurationError(f"{flag_of(name)} {given or score}: a score is a number, a boolean or a word")
        if kind.startswith(_NUMBERS):
            return f"CAST({score} AS DOUBLE)", "NULL::VARCHAR", True
        text = f"({score}) ->> '$'" if kind == "JSON" else f"CAST({score} AS VARCHAR)"
        return "NULL::DOUBLE", f"nullif(trim({text}), '')", False

    def _gold(self, given: str | None, *, is_number: bool) -> str:
        if given is None:
            return "NULL::DOUBLE AS gold, NULL::VARCHAR AS gold_said"
        value, text, is_numeric = self._score("gold", given)
        if is_number is not is_numeric:
            raise ConfigurationError(
                f"--gold {given!r}: a number and a word cannot be compared; write it as --score is"
            )
        return f"{value} AS gold, {text} AS gold_said"

    def _numbered_rows(self) -> Iterable[tuple[int, Any]]:
        """With their lines; nothing where a file has none."""
        if self._suffix in (".jsonl", ".ndjson"):
            return read_json_lines(self._path, self._longest_line)
        is_delimited = self._suffix in (".csv", ".tsv")
        return read_delimited(self._path, self._suffix[1:], self._longest_line) if is_delimited else ()

    def place_of(self, row: int) -> str:
        """Where that row stands, in words: the line where a file has lines."""
        line = next(islice(self._numbered_rows(), row - 1, None), None)
        return f"{self._path}: line {line[0]}" if line is not None else f"{self._path}: row {row}"

    def _expression(self, name: str, given: str | None) -> tuple[str, str]:
        """The SQL of what was given, or of a column with a usual name; and its type."""
        usual = next((column for column in USUAL_NAMES.get(name, ()) if column in self.kinds), None)
        if name == "score" and usual is None and self.kinds.keys() >= WINNER_COLUMNS.keys():
            usual = _WINNER
        if given is None and usual is None:
            # A table of one judge's votes does not name it.
            more = ", or --rater \"'me'\" where all rows are of one" if name == "judge" else ""
            raise DatasetError(
                f"{self._path}: no column for the {name}; name one with {flag_of(name)}{more} "
                f"(there is {self._named_columns()})"
            )
        sql = self._checked(name, given or usual)
        return sql, self._types[name]

    def _optional(self, name: str, given: str | None) -> str | None:
        usual = any(column in self.kinds for column in USUAL_NAMES[name])
        if given is None and not usual:
            return None
        sql, kind = self._expression(name, given)
        # A column of numbers and texts is JSON, whose texts stand in quotes.
        return f"({sql} ->> '$')" if kind == "JSON" else sql

    def _checked(self, name: str, given: str | None) -> str:
        """A column by its exact name, or an expression over one row: no query of its own, and it fits the table."""
        if given is None:
            return "true"
        if given in self.kinds:
            sql = '"' + given.replace('"', '""') + '"'
        else:
            self._refuse_queries(name, given)
            sql = f"(\n{given}\n)"
        try:
            described = self._connection.execute(f"DESCRIBE SELECT {sql} AS asked FROM shape").fetchall()  # noqa: S608
        except duckdb.Error as error:
            said = first_line(error).partition(": ")[2] or first_line(error)
            problem = f"{said[:1].lower()}{said[1:].rstrip('!')}"
            raise ConfigurationError(
                f"{flag_of(name)} {given!r}: {problem}; {self._path} has {self._named_columns()}"
            ) from error
        self._types[name] = str(described[0][1])
        return sql

    def _refuse_queries(self, name: str, given: str) -> None:
        """What DuckDB's own parser makes of it decides, not a search for words."""
        (parsed,) = fetch_all(self._connection, "SELECT json_serialize_sql($sql)", {"sql": f"SELECT (\n{given}\n)"})
        tree = json.loads(parsed[0])
        if tree["error"]:
            raise ConfigurationError(
                f"{flag_of(name)} {given!r}: {tree['error_message']}; write an SQL expression over columns"
            )
        node = tree["statements"][0]["node"]
        is_plain = len(tree["statements"]) == 1 and len(node.get("select_list", ())) == 1
        if not is_plain or node["from_table"]["type"] != "EMPTY" or '"class":"SUBQUERY"' in parsed[0]:
            raise ConfigurationError(
                f"{flag_of(name)} {given!r}: one expression over the columns of a row, not a query"
            )

    def _reader(self) -> str:
        path = quoted(escape_glob(self._path.resolve()))
        return _READERS[self._suffix].format(path=path, longest=self._longest_line, more=self._more)

    def _named_columns(self) -> str:
        # A header cell may have line breaks in it; a message is one line.
        names = [" ".join(name.split()) for name in self.kinds]
        return ", ".join(names[:12]) + (" and more" if len(names) > 12 else "")

    def _refuse(self, condition: str, problem: str) -> None:
        query = f"SELECT row FROM rows WHERE {condition} ORDER BY row LIMIT 1"  # noqa: S608 - our own text
        for (row,) in fetch_all(self._connection, query, {}):
            raise DatasetError(f"{self.place_of(row)} {problem}")

    def _unreadable(self, error: duckdb.Error) -> DatasetError:
        """Whoever reads lines one by one can say which is wrong; DuckDB's own words otherwise."""
        if not is_short_of_memory(error):
            for _ in self._numbered_rows():
                pass
        return DatasetError(f"{self._path}: cannot be read: {unnamed(first_line(error), self._path)}")


def _turn_rows(connection: duckdb.DuckDBPyConnection) -> None:
    """Votes on one pair, said of the same A and B; ratings that are no votes stay as they are."""
    fetch_all(connection, _SQL["create_turned"], {})
    if not fetch_all(connection, "SELECT 1 FROM turned LIMIT 1", {}):
        return
    said = "SELECT said FROM rows UNION SELECT gold_said FROM rows"
    found = f"SELECT said FROM ({said}) WHERE said IS NOT NULL ORDER BY said LIMIT $limit"  # noqa: S608 - our own text
    words = [row[0] for row in fetch_all(connection, found, {"limit": MOST_CATEGORIES + 1})]
    read = [preference for word in words if (preference := read_preference(word)) is not None]
    if words and len(read) == len(words):
        fetch_all(connection, _SQL["spell_votes"], {"words": words, "spelled": [_SPELLED[one] for one in read]})
    elif not fetch_all(connection, "SELECT coalesce(min(value) < 0, false) FROM rows", {})[0][0]:
        return
    fetch_all(connection, _SQL["turn_rows"], {})


_SPELLED = {Preference.A: "A>B", Preference.B: "B>A", Preference.TIE: "A=B"}


# Rows as ratings: texts become categories, and what cannot be counted is named by its place.


def _ratings(
    connection: duckdb.DuckDBPyConnection, source: RatingSource, place_of: Callable[[int], str], nothing: str
) -> Ratings:
    """`nothing` is said where no row has a value."""
    categories = _read_texts(connection, place_of)
    _refuse_wild(connection, place_of)
    names = [row[0] for row in fetch_all(connection, "SELECT DISTINCT rater FROM rows ORDER BY rater", {})]
    if not names:
        raise ConfigurationError("no row is left to count; check --where")
    if (human := source.truth) is not None:
        if human not in names:
            raise ConfigurationError(f"--human {human!r} has rated nothing; there is {listed(names)}")
        # First, so that pairs are told as human and judge.
        names = [human, *(name for name in names if name != human)]
    fetch_all(connection, _SQL["create_items"], {})
    _refuse_torn(connection)
    fetch_all(connection, _SQL["create_numbered"], {"raters": names})
    ((repeats,),) = fetch_all(connection, _SQL["repeats"], {"raters": names})
    rule = "mean_of_repeats" if source.uses_mean else "first_of_repeats"
    fetch_all(connection, _SQL[rule if repeats else "no_repeats"], {})
    fetch_all(connection, _SQL["create_rated"], {})
    ratings = Ratings(connection, names, categories, uses_mean=bool(source.uses_mean))
    if not ratings.count:
        raise ConfigurationError(nothing)
    if silent := next((one for one in ratings.silent if one.name == human), None):
        raise ConfigurationError(
            f"--human {human!r} has rated nothing: {silent.missing:,} of {silent.missing:,} items have no score"
        )
    for one in ratings.raters:
        size, width = max(abs(one.least), abs(one.greatest)), one.greatest - one.least
        if width and (not _LEAST_SIZE < size < _GREATEST_SIZE or width < _LEAST_WIDTH * size):
            raise ConfigurationError(
                f"{one.name} gave {one.least:g} to {one.greatest:g}, of which squares cannot be counted exactly; bring "
                f"scores near 1 with --score, such as '(score - {one.least:g}) / {width:g}'"
            )
    if categories and source.uses_mean and ratings.repeated:
        raise ConfigurationError("--takes mean: texts have no mean; take the first")
    return ratings


def _read_texts(connection: duckdb.DuckDBPyConnection, place_of: Callable[[int], str]) -> list[str]:
    """Values of texts: numbers and booleans where they are written so, else places in the list that is returned."""
    counted = "SELECT count(said), count(TRY_CAST(said AS DOUBLE)), count(*) FILTER (lower(said) IN ('true', 'false'))"
    ((texts, numbers, booleans),) = fetch_all(connection, f"{counted} FROM rows", {})
    if not texts:
        return []
    if numbers + booleans == texts:
        fetch_all(
            connection,
            "UPDATE rows SET value = coalesce(TRY_CAST(said AS DOUBLE), CAST(TRY_CAST(said AS BOOLEAN) AS DOUBLE))",
            {},
        )
        return []
    if 2 * numbers > texts:
        odd = "SELECT row, said FROM rows WHERE said IS NOT NULL AND TRY_CAST(said AS DOUBLE) IS NULL"
        ((row, said),) = fetch_all(connection, f"{odd} ORDER BY row LIMIT 1", {})
        raise DatasetError(
            f"{place_of(row)}: the score {said[:40]!r} is not a number as others are; null means missing"
        )
    found = "SELECT DISTINCT said FROM rows WHERE said IS NOT NULL ORDER BY said LIMIT $limit"
    categories = [row[0] for row in fetch_all(connection, found, {"limit": MOST_CATEGORIES + 1})]
    if len(categories) > MOST_CATEGORIES:
        raise ConfigurationError(
            f"scores are more than {MOST_CATEGORIES} different texts, such as {categories[0][:40]!r}; name the column "
            "of the rating with --score"
        )
    fetch_all(connection, "UPDATE rows SET value = list_position($texts, said) - 1", {"texts": categories})
    return categories


def _refuse_wild(connection: duckdb.DuckDBPyConnection, place_of: Callable[[int], str]) -> None:
    wild = "SELECT row, value FROM rows WHERE isnan(value) OR isinf(value) ORDER BY row LIMIT 1"
    for row, value in fetch_all(connection, wild, {}):
        raise DatasetError(f"{place_of(row)}: the score is {value}; leave it out (null) where there is none")


def _refuse_torn(connection: duckdb.DuckDBPyConnection) -> None:
    for item, first, second in fetch_all(connection, _SQL["torn_item"], {}):
        raise ConfigurationError(
            f"the item {item!r} stands under two questions, {first!r} and {second!r}; an item is one judged text: "
            "give --item an expression that tells them apart"
        )
