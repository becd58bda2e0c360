"""Ratings as counts: who said what about which item, from a table of anybody's making or from a run.

A table is read through DuckDB; what is asked of its rows may be a column or an SQL expression over columns. While such
expressions run, nothing but the table can be read. All that leaves here is aggregated: a million ratings are counts.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import duckdb

from mixseek.analysis.confidence.found import CertainRow
from mixseek.analysis.labels.pool import NO_SCORE, LabelPool
from mixseek.domain.counts import ResponseCounts, UnitSums
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.index.unit_sums import unit_sums
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.corrected import PairSums
from mixseek.stats.estimates import Cell
from mixseek.stats.intervals import MOST_GROUPS, Bounds
from mixseek.stats.raters import AgreementSums, equal_ratings
from mixseek.storage.duckdb_session import fetch_all, read_statements

STATEMENTS = read_statements("mixseek.analysis.ratings", "ratings.sql")
# Who says what the column of --gold holds; who says which response people prefer, in a run of pairs.
GOLD = "gold"
PEOPLE = "people"
# More texts than this are no categories; more numbers are a continuum, where only distances can be compared.
MOST_CATEGORIES = 101
# Rows that a coefficient's groups may bring: with many categories there are fewer groups.
_MOST_GROUPED_CELLS = 200_000
_MOST_PAIR_CELLS = 5_000
_FEWEST_GROUPS = 20
# Beyond so many questions they are put together by number: the design effect of a thousand groups is that of a million.
_MOST_CLUSTERS = 2_000
_CLUSTERS = 1_000


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
    # How likely each level was, or how sure the rater is of its score; and what says so.
    probabilities: str | None = None
    confidence: str | None = None
    confidence_source: str | None = None
    # Which rows people wrote: together they are one rater, `PEOPLE`.
    people: str | None = None


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
        """The human, all people together, or what a column of the truth is called."""
        if self.columns.people is not None:
            return PEOPLE
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
    """Agreement by groups of questions.

    `equal` are the items with `ratings` each, which Fleiss' kappa needs (None: no item).
    """

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
        # Of a run: how responses ended, by who wrote them, where not all are finished.
        self.responses: Mapping[str, ResponseCounts] = {}
        # Of a table: how many people are one rater, and whether it has columns of probabilities or confidences.
        self.people = 0
        self.has_confidences = False
        # A column of criteria, which one item and rater may have several of.
        self.criterion: str | None = None
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
        """Each rater's values summed by question, which is all that a clustered interval needs."""
        rows = self.fetch(unit_sums(STATEMENTS["units_of_raters"], ("rater",)))
        return {row[0]: UnitSums(*row[1:]) for row in rows}

    def values(self, raters: Sequence[Rater]) -> list[float]:
        """What these raters said at all, in order; one more than MOST_CATEGORIES where it is a continuum."""
        rows = self._all("values", raters=[rater.number for rater in raters], limit=MOST_CATEGORIES + 1)
        return [row[0] for row in rows]

    def agreement(self, raters: Sequence[Rater], distinct: int) -> GroupedAgreement:
        """All raters together, by groups of questions."""
        parts: dict[tuple[int, bool], tuple[list[float], dict[str, dict[Any, float]]]] = {}
        numbers = [rater.number for rater in raters]
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
        """The number of groups into which questions are put for the jackknife."""
        most = max(_FEWEST_GROUPS, _MOST_GROUPED_CELLS // max(1, distinct * distinct))
        return max(1, min(MOST_GROUPS, most, int(self.questions)))

    def _pair_group_count(self, first: Rater, second: Rater) -> int:
        """Fewer, because there is such a table for every judge."""
        cells = max(first.distinct, second.distinct) ** 2
        return max(1, min(MOST_GROUPS, max(_FEWEST_GROUPS, _MOST_PAIR_CELLS // cells), int(self.questions)))

    def pair_groups(self, first: Rater, second: Rater) -> list[dict[tuple[float, float], int]]:
        """What two raters said about the same items, by groups of questions."""
        parts: dict[int, dict[tuple[float, float], int]] = defaultdict(dict)
        parameters = {"first": first.number, "second": second.number, "groups": self._pair_group_count(first, second)}
        for part, x, y, count in self._all("pairs", **parameters):
            parts[part][x, y] = count
        return [parts[part] for part in sorted(parts)]

    def all_pairs(self, raters: Sequence[Rater]) -> dict[tuple[int, int], dict[tuple[float, float], int]]:
        """What every two of these raters said about the same items; the one that is listed earlier comes first."""
        pairs: dict[tuple[int, int], dict[tuple[float, float], int]] = defaultdict(dict)
        for first, second, x, y, count in self._all("all_pairs", raters=[rater.number for rater in raters]):
            pairs[first, second][x, y] = count
        return pairs

    def compared(self, rater: Rater | SilentRater, first: str, second: str) -> dict[tuple[float, float], int]:
        """Values of two systems on the questions that both answered, counted."""
        return {(x, y): n for x, y, n in self._all("compared", rater=rater.number, first=first, second=second)}

    def compared_bounds(
        self, rater: Rater | SilentRater, first: str, second: str, span: tuple[float, float]
    ) -> tuple[int, Bounds | None]:
        """How many items of the two systems have no score, and the mean difference whatever those are worth."""
        parameters = {"rater": rater.number, "first": first, "second": second, "least": span[0], "greatest": span[1]}
        ((missing, questions, lowest, highest),) = self._all("compared_bounds", **parameters)
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
        labels, label_counts = {}, Counter[float]()
        for f, y, count in self._all("pool_known"):
            label_counts[y] += count
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
            label_counts,
        )

    def certain_rows(self, raters: Sequence[Rater], human: Rater | None) -> list[CertainRow]:
        """What each of these judgments of a table says of how sure it is, and what people say of the same item."""
        says = "said_by_people" if self.people else "said_by_human"
        query = STATEMENTS["certain_rows"].format(says=STATEMENTS[says])
        parameters: dict[str, Any] = {"raters": [rater.number for rater in raters], "names": self.names}
        rows = self.fetch(query, human=-1 if human is None else human.number, **parameters)
        return [CertainRow(unit, str(question), *rest) for unit, question, *rest in rows]

    def _is_countable(self) -> bool:
        return bool(self.fetch("SELECT count(DISTINCT f) <= $most FROM pool", most=MOST_CATEGORIES)[0][0])

    def _all(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        return self.fetch(STATEMENTS[name], **parameters)

    def fetch(self, query: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a query from elsewhere: tables are `rows`, `items`, `answers` and `rated`, as in ratings.sql."""
        return fetch_all(self._connection, query, parameters)
