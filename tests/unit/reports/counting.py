"""The counts that a database would give, from rows in memory: for small runs, and as the yardstick for the queries."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mixseek.analysis.run.build import ReportInput, ReportUnits
from mixseek.analysis.run.model import RunHeader
from mixseek.domain.counts import (
    OWN_PARTS,
    FlagCount,
    OutcomeCount,
    ReasonCount,
    ReasoningCount,
    RuleCount,
    UnitSums,
    WarningCount,
)
from mixseek.domain.judgments import Flag, JudgedRow, Status
from mixseek.stats.intervals import with_questions

_Key = tuple[str, str | None, Status, str | None, str | None]


class Unit(NamedTuple):
    """One sample in one group of judgments: `value` is the mean of its valid scores, None where it has none.

    `lowest` and `highest` are what that mean would be if every judgment without a score, and for the lowest also every
    unverified one, had fallen that way.
    """

    question: str  # the sample's own key where it names no question
    value: float | None
    lowest: float = 0.0
    highest: float = 1.0


def sums_of(units: Iterable[Unit]) -> UnitSums:
    """What a database would give: for small runs, and as the yardstick for the query."""
    questions: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        questions[unit.question].append(unit)
    everything = [unit for own in questions.values() for unit in own]
    values = [[unit.value for unit in own if unit.value is not None] for own in questions.values()]
    scored = [own for own in values if own]
    sums = UnitSums(
        samples=len(everything),
        scored=sum(map(len, scored)),
        total=sum(map(sum, scored)),
        total_of_squares=sum(value * value for own in scored for value in own),
        lowest=sum(unit.lowest for unit in everything),
        highest=sum(unit.highest for unit in everything),
    )
    return with_questions(sums, [(len(own), sum(own), 1) for own in scored])


def count_rows(run: RunHeader, manifest: Mapping[str, Any], rows: Sequence[JudgedRow]) -> ReportInput:
    """All that a report is built of."""
    outcomes: dict[tuple[_Key, bool, str | None], list[JudgedRow]] = defaultdict(list)
    rules: dict[tuple[str, str, Status], list[float]] = defaultdict(list)
    flags: dict[tuple[str, Flag, str], list[str]] = defaultdict(list)
    reasons: dict[tuple[str, Status, str], list[str]] = defaultdict(list)
    warnings: Counter[tuple[str, str]] = Counter()
    reasoning: Counter[tuple[str, str | None, str | None, int, bool]] = Counter()
    for row in rows:
        key = (row.judge, row.task_name, row.status, row.verdict, row.error_type)
        outcomes[key, row.is_control, row.target_model].append(row)
        if row.is_control:
            continue
        # A rule that fired twice on one response still concerns one judgment.
        for rule in dict.fromkeys(row.rules):
            rules[row.judge, rule, row.status].append(_score(row))
        for finding in row.flags:
            flags[row.judge, finding.flag, _reason_of(finding.detail)].append(finding.detail)
        if row.reason is not None and row.status in (Status.UNDECIDED, Status.MISSING):
            reasons[row.judge, row.status, _reason_of(row.reason)].append(row.reason)
        if row.status is Status.VALID:
            warnings.update((row.judge, warning) for warning in row.warnings)
            if row.reasoning_score is not None:
                reasoning[row.judge, row.task_name, row.target_model, row.reasoning_score, bool(row.score)] += 1
    return ReportInput(
        run=run,
        manifest=manifest,
        outcomes=[
            OutcomeCount(*key, len(own), *_sums_of(own), is_control, sum(row.is_unverified for row in own), target)
            for (key, is_control, target), own in outcomes.items()
        ],
        rows=rows,
        units=units_of(rows),
        rules=[RuleCount(*key, len(scores), sum(scores)) for key, scores in rules.items()],
        flags=[FlagCount(judge, flag, own[0], len(own), len(set(own))) for (judge, flag, _), own in flags.items()],
        reasons=[ReasonCount(judge, why, own[0], len(own), len(set(own))) for (judge, why, _), own in reasons.items()],
        warnings=[WarningCount(*key, count) for key, count in warnings.items()],
        reasoning=[ReasoningCount(*key, count) for key, count in reasoning.items()],
        judges=tuple(dict.fromkeys(row.judge for row in rows)),
    )


def _reason_of(text: str) -> str:
    """Alike for all tellings of one reason."""
    return re.sub(OWN_PARTS, "_", text)


def units_of(rows: Iterable[JudgedRow]) -> ReportUnits:
    """Samples are told apart by their ids."""
    own = [row for row in rows if not row.is_control]
    return ReportUnits(
        judges=_group_units(own, lambda row: (row.judge,)),
        controls=_group_units((row for row in rows if row.is_control), lambda row: (row.judge,)),
        tasks=_group_units(own, lambda row: (row.judge, row.task_name)),
        targets=_group_units(own, lambda row: (row.judge, row.target_model)),
    )


def _group_units(
    rows: Iterable[JudgedRow], name_of: Callable[[JudgedRow], tuple[str | None, ...]]
) -> dict[tuple[str | None, ...], UnitSums]:
    groups: dict[tuple[str | None, ...], dict[str, list[JudgedRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[name_of(row)][row.id].append(row)
    return {name: sums_of(_unit(own) for own in samples.values()) for name, samples in groups.items()}


def _unit(rows: Sequence[JudgedRow]) -> Unit:
    """One sample, whoever judged it how often."""
    valid = [_score(row) for row in rows if row.status is Status.VALID]
    lowest = sum(0.0 if row.is_unverified else _score(row) for row in rows)
    highest = sum(_score(row) if row.status is Status.VALID else 1.0 for row in rows)
    return Unit(
        question=rows[0].question_id or rows[0].id,
        value=sum(valid) / len(valid) if valid else None,
        lowest=lowest / len(rows),
        highest=highest / len(rows),
    )


def _score(row: JudgedRow) -> float:
    return row.score if row.status is Status.VALID and row.score is not None else 0.0


def _sums_of(rows: Sequence[JudgedRow]) -> tuple[float, float]:
    scores = [_score(row) for row in rows]
    return sum(scores), sum(score * score for score in scores)
