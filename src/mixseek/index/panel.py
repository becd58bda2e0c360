"""One row a sample: what all of its judges amount to, under a rule.

Every headline, gate and comparison reads these rows. `panel_units` is the text of a query, so that it can be asked of
the open index, or of several attached ones: a comparison groups and chooses in DuckDB, over both indexes at once.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import duckdb

from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import (
    NO_UNITS,
    PanelGroup,
    PanelGroups,
    Ratings,
    ResponseCounts,
    RunFacts,
    SettledSample,
    TakeSums,
    TargetPair,
    UnitGroups,
    UnitSums,
)
from mixseek.domain.panels import WITNESS_PREFIX, PanelRule, PanelState, Preference
from mixseek.domain.response_states import ResponseState
from mixseek.domain.scored_counts import Disagreement
from mixseek.errors import ConfigurationError
from mixseek.index.counting import counted_value, has_ended, worst_end
from mixseek.index.loading import object_bytes
from mixseek.index.unit_sums import unit_sums
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.duckdb_session import escape_glob, fetch_all, read_statements
from mixseek.storage.workspace import RunDirectory

_SQL = read_statements("mixseek.index", "panel.sql")
# How many of those who were heard must have said the same, and when that holds even without what is unverified.
_ENOUGH = {
    PanelRule.MAJORITY: ("most * 2 > heard", "winner.verified * 2 > heard"),
    PanelRule.UNANIMOUS: ("heard > 0 AND most = heard", "winner.verified = heard"),
}
# All samples, each with its verdict.
_UNITS = "FROM units"
# Coefficients are computed from patterns, group by group: so many of both keep it within a second.
_MOST_PATTERNS = 1_500
_MOST_GROUPS, _FEWEST_GROUPS = 200, 20
_PATTERNS_TIMES_GROUPS = 30_000
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


def opinions(rule: PanelRule | None, index: str = "main", *, has_repeats: bool = True) -> str:
    """One row a sample and judge: its repeats brought to one opinion; without repeats, each take is one."""
    takes = _SQL["takes"].format(index=index, final_only=False)
    return settle(takes, "sample, judge", rule, is_graded(index)) if has_repeats else takes


def votes(source: str, index: str = "main") -> str:
    """The opinions that count for the verdict."""
    return _SQL["voting"].format(source=source, index=index, witness=WITNESS_PREFIX)


def is_graded(index: str = "main") -> str:
    """An expression: whether any valid score of the run is neither 0 nor 1."""
    return _SQL["is_graded"].format(index=index)


def panel_units(
    rule: PanelRule | None, index: str = "main", *, has_repeats: bool = True, counting: Counting | None = USUAL
) -> str:
    """One row a sample: key, sample (its position), id, question (the cluster), target, variant, question_id,
    task_name, task_type, language, output_id, shown (a digest of what a judge saw), value (NULL where it is in no
    mean), lowest, highest, state (`PanelState`), verdict, is_unverified, voices, response_state (of a pair that of the
    response that is worse off), is_finished.

    `rule` is None for one judge and for a cascade, whose last judge has the last word. `index` names the database;
    `has_repeats=False` saves a step where no judge was asked twice. Without `counting` values are what judges said.
    """
    if rule is None:
        takes = _SQL["takes"].format(index=index, final_only=True)
        # One judge that was asked once: there is nothing to bring together.
        settled = settle(takes, "sample", None) if has_repeats else takes
    else:
        source = votes(opinions(rule, index, has_repeats=has_repeats), index)
        settled = settle(source, "sample", rule, is_graded(index))
    return _join_samples(settled, index, counting)


def _join_samples(settled: str, index: str = "main", counting: Counting | None = USUAL) -> str:
    is_pair = "samples.length_b IS NOT NULL"
    value = pair_value(is_pair)
    if counting is not None:
        is_cut_off = has_ended(ResponseState.CUT_OFF)
        value = counted_value(counting, value, "settled.state", is_cut_off=is_cut_off, is_pair=is_pair)
    return _SQL["units"].format(settled=settled, index=index, value=value, response_state=worst_end())


def pair_value(is_pair: str) -> str:
    """An expression: the value of a row `settled`, and that of a tie where it is a pair on which judges are split."""
    return _SQL["pair_value"].format(is_pair=is_pair, tie=Preference.TIE.score)


def settle_panel(
    connection: duckdb.DuckDBPyConnection,
    run: RunDirectory,
    rule: PanelRule | None,
    judges: Sequence[str],
    facts: RunFacts,
    counting: Counting,
) -> "SettledPanel":
    """Makes the temporary tables `units` and, where there is a rule, `opinions`."""
    panel = SettledPanel(connection, run, rule, tuple(judges), counting, has_unfinished=facts.has_unfinished)
    has_repeats = facts.has_repeats
    units = panel_units(rule, has_repeats=has_repeats, counting=counting)
    if rule is not None:
        panel.ask(f"CREATE OR REPLACE TEMP TABLE opinions AS {opinions(rule, has_repeats=has_repeats)}")
        units = _join_samples(settle(votes("FROM opinions"), "sample", rule, is_graded()), counting=counting)
    panel.ask(f"CREATE OR REPLACE TEMP TABLE units AS {units}")
    return panel


@dataclass(frozen=True, slots=True)
class SettledPanel:
    """Questions about samples that each have one verdict, or none; valid as long as the index is open."""

    connection: duckdb.DuckDBPyConnection
    run: RunDirectory
    rule: PanelRule | None
    judges: tuple[str, ...]
    counting: Counting
    has_unfinished: bool
    # By columns of `units`, which stay as they are: what was summed already.
    known: dict[tuple[str, ...], UnitGroups] = field(default_factory=dict)

    def ask(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        return fetch_all(self.connection, query, parameters or {})

    def whole(self) -> PanelGroup:
        """The group of all samples."""
        return self._groups(_UNITS, ())[()]

    def is_named(self, column: str) -> bool:
        """Whether any sample, or either side of a pair, has something in a column of `units`."""
        named = "coalesce(target, target_b)" if column == "target" else column
        return bool(self.ask(f"SELECT count({named}) > 0 FROM units")[0][0])  # noqa: S608 - our own names

    def groups(self, column: str) -> PanelGroups:
        """The groups by a column of `units`; a pair belongs to both of its targets."""
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
        parameters = {"limit": limit, "below": below, "worst_first": worst_first}
        rows = self.ask(_SQL["SettledSample"], parameters)
        samples = [SettledSample(key, name, PanelState(state), *rest) for key, name, state, *rest, _ in rows]
        return samples, rows[0][-1] if rows else 0

    def by(self, column: str) -> PanelGroups:
        """The groups by any column of the samples; raises ConfigurationError where no sample has such a one."""
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
        text_column = f"sample.{column}" if column in _TEXTS else "NULL"
        query = _SQL["named_in_journal"].format(
            own=text_column, columns=_columns_of(*(_TEXTS if text_column != "NULL" else ()))
        )
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
            name, (state, count, unverified_count) = row[:size], row[size:]
            states[name][PanelState(state)] = count
            unverified[name] += unverified_count
        sums = self.sums(columns) if source == _UNITS else self._sums(source, columns)
        responses = self._responses(source, columns)
        finished = self._sums(_SQL["finished"].format(units=source), columns) if self.has_unfinished else {}
        return {
            name: PanelGroup(
                units,
                states[name],
                unverified[name],
                responses.get(name, ResponseCounts(sum(states[name].values()))),
                _unless_all(finished.get(name, NO_UNITS), units) if self.has_unfinished else None,
            )
            for name, units in sums.items()
        }

    def _responses(self, source: str, columns: tuple[str, ...]) -> dict[tuple[str | None, ...], ResponseCounts]:
        """How responses ended, group by group; nothing where there is nothing to say."""
        if not (self.has_unfinished or self.counting.counts_undecided):
            return {}
        first, size = "".join(f"{name}, " for name in columns), len(columns)
        rows = self.ask(_SQL["responses"].format(first=first, units=source))
        return {row[:size]: ResponseCounts(*row[size:]) for row in rows}

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
        self._group_questions("rated", questions, patterns)
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
        """Sums by judge and group of questions; and by judge, on how many samples all takes give one verdict.

        Both are empty without repeats.
        """
        self.ask(_SQL["repeated"])
        ((questions,),) = self.ask("SELECT count(DISTINCT question) FROM repeated")
        self._group_questions("repeated", questions, 1)
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

    def _group_questions(self, source: str, questions: int, patterns: int) -> None:
        """Questions into groups; fewer of them where there is more to compute for each."""
        groups = max(_FEWEST_GROUPS, min(_MOST_GROUPS, _PATTERNS_TIMES_GROUPS // patterns))
        self.ask(_SQL["question_groups"].format(source=source), {"groups": max(1, min(questions, groups))})

    def _patterns(self, columns: str, highest: str) -> list[dict[tuple[float | None, ...], int]]:
        groups: dict[int, dict[tuple[float | None, ...], int]] = defaultdict(dict)
        for group, *pattern, count in self.ask(_SQL["patterns"].format(columns=columns), {"highest_key": highest}):
            groups[group][tuple(pattern)] = count
        return [groups[group] for group in sorted(groups)]


def _unless_all(finished: UnitSums, units: UnitSums) -> UnitSums | None:
    """The sums of finished samples; None where all are. Where none is, its mean is that of nothing."""
    return None if finished.samples == units.samples else finished


def _columns_of(*texts: str) -> str:
    """The columns for DuckDB's reader: metadata and, where asked for, texts of a sample."""
    fields = ", ".join(("metadata JSON", *(f"{name} VARCHAR" for name in texts)))
    return f"{{t: 'VARCHAR', key: 'VARCHAR', sample: 'STRUCT({fields})'}}"
