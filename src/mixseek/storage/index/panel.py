"""One row a sample: what all of its judges amount to, under a rule; and the rows of two runs held against each other.

Every headline, gate and comparison reads these rows. `panel_units` is the text of a query, so that it can be asked of
the open index, or of several attached ones: a comparison groups and chooses in DuckDB, over both indexes at once.
"""

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb

from mixseek.domain.counts import (
    SMALLEST_DIFFERENCE,
    DifferenceSums,
    Disagreement,
    Pair,
    PanelGroup,
    PanelGroups,
    Ratings,
    SettledSample,
    SideCount,
    StatusPairs,
    TakeSums,
    TargetPair,
    UnitGroups,
    UnitSums,
)
from mixseek.domain.panels import WITNESS_PREFIX, PanelRule, PanelState, Preference
from mixseek.errors import ConfigurationError
from mixseek.storage.duckdb_session import (
    attaching,
    confine,
    escape_glob,
    fetch_all,
    read_statements,
    session_settings,
)
from mixseek.storage.index.loading import attach_index, index_error, object_bytes
from mixseek.storage.workspace import RunDirectory, Workspace

_SQL = read_statements("mixseek.storage.index", "panel.sql")
_PAIRS_SQL = read_statements("mixseek.storage.index", "pairs.sql")
# How many of those who were heard must have said the same, and when that holds even without what is unverified.
_ENOUGH = {
    PanelRule.MAJORITY: ("most * 2 > heard", "winner.verified * 2 > heard"),
    PanelRule.UNANIMOUS: ("heard > 0 AND most = heard", "winner.verified = heard"),
}
# All samples, each with its verdict.
_UNITS = "FROM units"
# Coefficients are computed from patterns, hand by hand: so many of both keep it within a second.
_MOST_PATTERNS = 1_500
_MOST_HANDS, _FEWEST_HANDS = 200, 20
_PATTERNS_TIMES_HANDS = 30_000
# Columns of a sample that the index holds, those that only the journal does, and how it calls the rest.
_INDEXED = ("target_model", "prompt_variant", "task_name", "task_type", "question_id", "output_id", "id")
_TEXTS = ("ground_truth", "question", "response", "rubric")
# A breakdown with more groups compares nothing with anything.
MOST_GROUPS = 2_000


def settle(source: str, by: str, rule: PanelRule | None, is_graded: str = "false") -> str:
    """The rule applied to the rows of `source` that agree in the columns `by`; without a rule, one judge's mean."""
    parts = {"source": source, "by": by, "best_state": _SQL["best_state"], "is_graded": is_graded}
    if rule is None:
        return _SQL["alone"].format(**parts)
    if rule in _ENOUGH:
        enough, verified = _ENOUGH[rule]
        return _SQL["voted"].format(enough=enough, verified=verified, **parts)
    return _SQL[rule.value].format(**parts)


def opinions(rule: PanelRule, index: str = "main", *, has_repeats: bool = True) -> str:
    """One row a sample and judge: its repeats brought to one opinion; without repeats, each take is one."""
    takes = _SQL["takes"].format(index=index, final_only=False)
    return settle(takes, "sample, judge", rule, is_graded(index)) if has_repeats else takes


def votes(source: str, index: str = "main") -> str:
    """The opinions that count for the verdict."""
    return _SQL["voting"].format(source=source, index=index, witness=WITNESS_PREFIX)


def is_graded(index: str = "main") -> str:
    """An expression: whether any valid score of the run is neither 0 nor 1."""
    return _SQL["is_graded"].format(index=index)


def panel_units(rule: PanelRule | None, index: str = "main", *, has_repeats: bool = True) -> str:
    """One row a sample: key, sample (its position), id, question (the cluster), target, variant, question_id,
    task_name, task_type, language, output_id, shown (a digest of what a judge saw), value (NULL without a verdict),
    lowest, highest, state (`PanelState`), verdict, is_unverified, voices.

    `rule` is None for one judge and for a cascade, whose last judge has the last word. `index` names the database;
    `has_repeats=False` saves a step where no judge was asked twice.
    """
    if rule is None:
        takes = _SQL["takes"].format(index=index, final_only=True)
        # One judge that was asked once: there is nothing to bring together.
        settled = settle(takes, "sample", None) if has_repeats else takes
    else:
        source = votes(opinions(rule, index, has_repeats=has_repeats), index)
        settled = settle(source, "sample", rule, is_graded(index))
    return _join_samples(settled, index)


def _join_samples(settled: str, index: str = "main") -> str:
    value = pair_value("samples.length_b IS NOT NULL")
    return _SQL["units"].format(settled=settled, index=index, value=value)


def pair_value(is_pair: str) -> str:
    """An expression: the value of a row `settled`, and that of a tie where it is a pair on which judges are split."""
    return _SQL["pair_value"].format(is_pair=is_pair, tie=Preference.TIE.score)


def settle_panel(
    connection: duckdb.DuckDBPyConnection,
    run: RunDirectory,
    rule: PanelRule | None,
    judges: Sequence[str],
    *,
    has_repeats: bool,
) -> "SettledPanel":
    """Makes the temporary tables `units` and, where there is a rule, `opinions`."""
    panel = SettledPanel(connection, run, rule, tuple(judges))
    units = panel_units(rule, has_repeats=has_repeats)
    if rule is not None:
        panel.ask(f"CREATE OR REPLACE TEMP TABLE opinions AS {opinions(rule, has_repeats=has_repeats)}")
        units = _join_samples(settle(votes("FROM opinions"), "sample", rule, is_graded()))
    panel.ask(f"CREATE OR REPLACE TEMP TABLE units AS {units}")
    return panel


@dataclass(frozen=True, slots=True)
class SettledPanel:
    """Questions about samples that each have one verdict, or none; valid as long as the index is open."""

    connection: duckdb.DuckDBPyConnection
    run: RunDirectory
    rule: PanelRule | None
    judges: tuple[str, ...]
    # By columns of `units`, which stay as they are: what was summed already.
    known: dict[tuple[str, ...], UnitGroups] = field(default_factory=dict)

    def ask(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        return fetch_all(self.connection, query, parameters or {})

    def whole(self) -> PanelGroup:
        """All samples."""
        return self._groups(_UNITS, ())[()]

    def is_named(self, column: str) -> bool:
        """Whether any sample, or either side of a pair, has something in a column of `units`."""
        named = "coalesce(target, target_b)" if column == "target" else column
        return bool(self.ask(f"SELECT count({named}) > 0 FROM units")[0][0])  # noqa: S608 - our own names

    def groups(self, column: str) -> PanelGroups:
        """By a column of `units`; a pair belongs to both of its targets."""
        ((has_pairs,),) = self.ask("SELECT count(target_b) > 0 FROM units")
        source = _SQL["sides"] if has_pairs and column == "target" else _UNITS
        return {name: group for (name,), group in self._groups(source, (column,)).items()}

    def target_pairs(self) -> list[TargetPair]:
        """Every two targets that were compared, by name."""
        units = _SQL["pair_units"]
        sums = {row[:2]: UnitSums(*row[2:]) for row in self.ask(unit_sums(units, ("first", "second")))}
        return [
            TargetPair(first, second, wins, ties, losses, without, sums[first, second])
            for first, second, wins, ties, losses, without in self.ask(_SQL["pair_ends"].format(units=units))
        ]

    def human_agreement(self) -> UnitSums:
        """How often the panel says of a pair what people say."""
        return UnitSums(*self.ask(unit_sums(_SQL["panel_human"], ()))[0])

    def failing(self, limit: int, *, below: float, worst_first: bool = False) -> tuple[list[SettledSample], int]:
        """Samples with a lower score, and those that are invalid or missing; and how many there are of them."""
        asked = {"limit": limit, "below": below, "worst_first": worst_first}
        rows = self.ask(_SQL["SettledSample"], asked)
        found = [SettledSample(key, name, PanelState(state), *rest) for key, name, state, *rest, _ in rows]
        return found, rows[0][-1] if rows else 0

    def by(self, column: str) -> PanelGroups:
        """By any column of the samples; raises ConfigurationError where no sample has such a one."""
        self._name(column)
        ((different,),) = self.ask("SELECT count(DISTINCT name) FROM named")
        if not different:
            raise ConfigurationError(
                f"run {self.run.name}: no sample has a column {column!r}; there is {', '.join(self.columns())}"
            )
        if different > MOST_GROUPS:
            raise ConfigurationError(
                f"run {self.run.name}: column {column!r} has {different:,} different values; "
                f"a breakdown has at most {MOST_GROUPS:,}"
            )
        source = "SELECT units.*, named.name FROM units LEFT JOIN named USING (key)"
        return {name: group for (name,), group in self._groups(source, ("name",)).items()}

    def columns(self) -> list[str]:
        """What samples can be grouped by: columns that at least one of them fills."""
        counted = self.ask(_SQL["filled_columns"].format(columns=", ".join(f"count({name})" for name in _INDEXED)))[0]
        filled = [name for name, count in zip(_INDEXED, counted, strict=True) if count]
        query = _SQL["names_in_journal"].format(columns=_columns_of())
        return [*filled, *(name for (name,) in self.ask(query, self._journal()))]

    def _name(self, column: str) -> None:
        """The temporary table `named`: what each sample has in that column."""
        if column in _INDEXED:
            self.ask(_SQL["named"].format(column=column))
            return
        # A pointer, because a name may hold dots and quotes.
        pointer = "/" + column.replace("~", "~0").replace("/", "~1")
        own = f"sample.{column}" if column in _TEXTS else "NULL"
        query = _SQL["named_in_journal"].format(own=own, columns=_columns_of(*(_TEXTS if own != "NULL" else ())))
        self.ask(query, {**self._journal(), "pointer": pointer})

    def _journal(self) -> dict[str, Any]:
        ((longest,),) = self.ask("SELECT longest_bytes FROM index_state")
        return {"journal": escape_glob(self.run.journal), "object_bytes": object_bytes(longest)}

    def sums(self, columns: tuple[str, ...]) -> UnitGroups:
        """What every interval rests on, by columns of `units`."""
        if columns not in self.known:
            self.known[columns] = self._sums(_UNITS, columns)
        return self.known[columns]

    def _sums(self, source: str, columns: tuple[str, ...]) -> UnitGroups:
        rows, size = self.ask(unit_sums(source, columns)), len(columns)
        return {row[:size]: UnitSums(*row[size:]) for row in rows}

    def _groups(self, source: str, columns: tuple[str, ...]) -> dict[tuple[str | None, ...], PanelGroup]:
        size = len(columns)
        first = "".join(f"{name}, " for name in columns)
        states: dict[tuple[str | None, ...], dict[PanelState, int]] = defaultdict(dict)
        unverified: dict[tuple[str | None, ...], int] = defaultdict(int)
        for row in self.ask(_SQL["states"].format(first=first, units=source)):
            name, (state, count, own) = row[:size], row[size:]
            states[name][PanelState(state)] = count
            unverified[name] += own
        sums = self.sums(columns) if source == _UNITS else self._sums(source, columns)
        return {name: PanelGroup(units, states[name], unverified[name]) for name, units in sums.items()}

    # How far the judges agree with each other, and each with itself.

    def ratings(self) -> Ratings | None:
        """None where no sample has two opinions."""
        if self.rule is None or len(self.judges) < 2:
            return None
        numbers = range(len(self.judges))
        scores, verdicts = (", ".join(f"{letter}{number}" for number in numbers) for letter in "sv")
        columns = ", ".join(
            f"max(opinions.value) FILTER (judge = $judge_{number}) AS s{number}, "
            f"max(place) FILTER (judge = $judge_{number})::DOUBLE AS v{number}"
            for number in numbers
        )
        self.ask(_SQL["verdict_order"])
        names = {f"judge_{number}": judge for number, judge in enumerate(self.judges)}
        self.ask(_SQL["rated"].format(columns=columns), names)
        ((samples, questions, spread),) = self.ask(_SQL["rated_sizes"])
        if not samples:
            return None
        patterns, highest = self._draw(scores)
        self._deal("rated", questions, patterns)
        score_groups = self._patterns(scores, highest)
        verdict_groups = self._patterns(verdicts, highest)
        unanimous = UnitSums(*self.ask(unit_sums(_SQL["unanimous"], ()))[0])
        words = [word for (word,) in self.ask("SELECT verdict FROM verdict_order ORDER BY place")]
        counted = sum(sum(group.values()) for group in score_groups)
        return Ratings(
            self.judges, samples, tuple(words), score_groups, verdict_groups, unanimous, float(spread), counted
        )

    def disagreements(self, limit: int) -> tuple[int, list[Disagreement]]:
        """How many samples judges differ on, and those on which they differ most; after `ratings`."""
        ((total,),) = self.ask("SELECT count(*) FROM rated WHERE verdicts > 1 OR spread > 0")
        rows = self.ask(_SQL["disagreements"], {"limit": limit})
        return total, [Disagreement(*row) for row in rows]

    def takes(self) -> tuple[list[TakeSums], dict[str, UnitSums]]:
        """By judge and hand; and by judge, on how many samples all takes give one verdict. Empty without repeats."""
        self.ask(_SQL["repeated"])
        ((questions,),) = self.ask("SELECT count(DISTINCT question) FROM repeated")
        self._deal("repeated", questions, 1)
        alike = {row[0]: UnitSums(*row[1:]) for row in self.ask(unit_sums(_SQL["repeated_alike"], ("judge",)))}
        return [TakeSums(*row) for row in self.ask(_SQL["TakeSums"])], alike

    def _draw(self, scores: str) -> tuple[int, str]:
        """How many different patterns are counted, and the highest key of a sample that is; beyond all: no draw."""
        share, highest = 1.0, "g"
        while True:
            ((patterns,),) = self.ask(_SQL["pattern_count"].format(scores=scores), {"highest_key": highest})
            if patterns <= _MOST_PATTERNS:
                return patterns or 1, highest
            # Common patterns stay when samples are left out, so one step may not do.
            share *= 0.95 * _MOST_PATTERNS / patterns
            highest = f"{int(share * 16**8):08x}"

    def _deal(self, source: str, questions: int, patterns: int) -> None:
        """Fewer hands where there is more to compute for each."""
        hands = max(_FEWEST_HANDS, min(_MOST_HANDS, _PATTERNS_TIMES_HANDS // patterns))
        self.ask(_SQL["hands"].format(source=source), {"hands": max(1, min(questions, hands))})

    def _patterns(self, columns: str, highest: str) -> list[dict[tuple[float | None, ...], int]]:
        found: dict[int, dict[tuple[float | None, ...], int]] = defaultdict(dict)
        for hand, *pattern, count in self.ask(_SQL["patterns"].format(columns=columns), {"highest_key": highest}):
            found[hand][tuple(pattern)] = count
        return [found[hand] for hand in sorted(found)]


def _columns_of(*texts: str) -> str:
    """For DuckDB's reader: metadata and, where asked for, texts of a sample."""
    fields = ", ".join(("metadata JSON", *(f"{name} VARCHAR" for name in texts)))
    return f"{{t: 'VARCHAR', key: 'VARCHAR', sample: 'STRUCT({fields})'}}"


# From judgments to what an interval counts: samples, summed by question.
#
# Whatever is averaged, compared or given an interval is first brought to one row a sample (`sample_units`, or
# `panel_units`: more judges or repeats are no more samples), then summed by question (`unit_sums`: samples of one
# question resemble each other). A new statistic needs a SELECT of judgments in `queries.sql` or `scored.sql`, and
# these two functions.


def unit_sums(units: str, groups: Sequence[str]) -> str:
    """From units (of each group, rows with question, value, lowest and highest) to the columns of UnitSums."""
    named = ", ".join(groups)
    first = f"{named}, " if named else ""
    grouped = f"GROUP BY {named} ORDER BY {named}" if named else ""
    return f"""
    WITH questions AS (
        SELECT {first}count(*) AS samples, count(value) AS n, coalesce(sum(value), 0) AS s,
            coalesce(sum(value * value), 0) AS squares, sum(lowest) AS lowest, sum(highest) AS highest
        FROM (SELECT {first}question, value::DOUBLE AS value, lowest::DOUBLE AS lowest, highest::DOUBLE AS highest
            FROM ({units})) GROUP BY {first}question
    ),
    beside_all AS (
        SELECT *, s - n * (sum(s) OVER whole) / nullif(sum(n) OVER whole, 0) AS e,
            n / nullif(sum(n) OVER whole, 0) AS h, count(*) FILTER (n > 0) OVER whole AS counted
        FROM questions WINDOW whole AS ({f"PARTITION BY {named}" if named else ""})
    )
    SELECT {first}coalesce(sum(samples), 0)::BIGINT, coalesce(sum(n), 0)::BIGINT, count(*) FILTER (n > 0),
        coalesce(sum(s), 0), coalesce(sum(squares), 0), coalesce(sum(s * s), 0), coalesce(sum(n * s), 0),
        coalesce(sum(n * n), 0)::DOUBLE, coalesce(sum(lowest), 0), coalesce(sum(highest), 0),
        coalesce(sum(e * e / pow(greatest(1 - h, 1e-9), least(4, h * counted))), 0), coalesce(sum(e * e * e), 0)
    FROM beside_all {grouped}"""  # noqa: S608 - our own text


def sample_units(judged: str, groups: Sequence[str]) -> str:
    """One row a sample and group, of judgments with key, question_id, status, score, is_unverified and the groups."""
    first = "".join(f"{name}, " for name in groups)
    return f"""
        SELECT {first}coalesce(any_value(question_id), key) AS question, avg(score) FILTER (status = 'valid') AS value,
            avg(CASE WHEN status = 'valid' AND NOT is_unverified THEN score ELSE 0 END) AS lowest,
            avg(CASE WHEN status = 'valid' THEN score ELSE 1 END) AS highest
        FROM ({judged}) GROUP BY {first}key"""  # noqa: S608 - our own text


def judged_unit_sums(groups: Sequence[str]) -> str:
    """Of all judgments of one index."""
    columns = ", ".join(dict.fromkeys(("key", "question_id", "status", "score", "is_unverified", *groups)))
    judged = f"SELECT {columns} FROM judged WHERE is_control = $control AND (is_final OR NOT $final_only)"  # noqa: S608 - our own names
    return unit_sums(sample_units(judged, groups), groups)


# Two runs, or two parts of one: which samples they share, and how those differ.

SideName = Literal["a", "b"]
# Which pairs are meant, in SQL; the names are what callers ask for.
EVERYTHING, BETTER, WORSE = "true", "d > $smallest", "d < -$smallest"
UNSCORED, SAME_TEXT = "d IS NULL", "is_same"
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

    def names(self, side: SideName, column: str) -> list[str]:
        """What a column of a side's run holds: for hints."""
        return [row[0] for row in self._all("names", index=self._indexes[side], column=column)]

    def lay_out(self, a: Side, b: Side) -> None:
        """Make the pairs; everything else is asked of them."""
        sides: tuple[tuple[SideName, Side], ...] = (("a", a), ("b", b))
        for name, side in sides:
            index = self._indexes[name]
            units = panel_units(side.rule, index, has_repeats=bool(self._count("has_repeats", index=index)))
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
        """By question, where that finds more pairs than the ids do; those are the finer of the two."""
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
        """By the values of one of FACTORS; without it, of all pairs together under None."""
        rows = self._all("sums", group=group or "NULL", where=where, smallest=SMALLEST_DIFFERENCE)
        return {row[0]: DifferenceSums(*row[1:]) for row in rows}

    def moves(self, most: int, group: str | None = None, where: str = EVERYTHING) -> dict[str | None, list[float]]:
        """The sums of the questions that moved, of groups with at most so many of them."""
        found: dict[str | None, list[float]] = defaultdict(list)
        parameters = {"smallest": SMALLEST_DIFFERENCE, "most": most}
        for name, moved in self._all("moves", group=group or "NULL", where=where, **parameters):
            found[name].append(moved)
        return found

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
        """Of all such pairs, in the order of B's dataset: one id, or both where they differ."""
        return [row[0] for row in self._all("pair_names", where=where, smallest=SMALLEST_DIFFERENCE)]

    def count_side(self, side: SideName) -> SideCount:
        """Samples of a side, and those without a partner."""
        samples = self._count("side_size", side=side)
        if self.pairing.is_by_id:
            # Ids are unique in a run.
            return SideCount(samples, samples - self._count("pair_count"))
        ((unpaired,),) = fetch_all(self._connection, f"SELECT count(*) FROM ({self._unpaired(side)})", {})  # noqa: S608 - ours
        return SideCount(samples, unpaired)

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
