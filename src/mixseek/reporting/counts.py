"""What a report is made from: counts that a database can group, so that a million judgments are never held at once."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mixseek.domain.calls import CallAccount
from mixseek.domain.counts import (
    OWN_PARTS,
    FlagCount,
    OutcomeCount,
    ReaskCount,
    ReasonCount,
    ReasoningCount,
    RuleCount,
    Unit,
    UnitGroups,
    UnitSums,
    WarningCount,
)
from mixseek.domain.judgments import Flag, Status
from mixseek.reporting.model import JudgmentRow, RunHeader

if TYPE_CHECKING:
    from mixseek.reporting.scored_model import ScoredReport

_Key = tuple[str, str | None, Status, str | None, str | None]


@dataclass(frozen=True, slots=True)
class ReportUnits:
    """What every mean and interval rests on: samples, not judgments. By judge first."""

    judges: UnitGroups = field(default_factory=dict)
    controls: UnitGroups = field(default_factory=dict)  # judges on their own output
    tasks: UnitGroups = field(default_factory=dict)
    targets: UnitGroups = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportInput:
    """`rows` may be all judgments, or any part that holds `row_limit` of each kind (see `selection.kind_of`)."""

    run: RunHeader
    manifest: Mapping[str, Any]
    outcomes: Iterable[OutcomeCount]
    rows: Iterable[JudgmentRow]
    units: ReportUnits = field(default_factory=ReportUnits)
    rules: Sequence[RuleCount] = ()
    flags: Sequence[FlagCount] = ()
    reasons: Sequence[ReasonCount] = ()
    warnings: Sequence[WarningCount] = ()
    reasoning: Sequence[ReasoningCount] = ()
    reasks: Sequence[ReaskCount] = ()
    # The order in which judges are shown; judges that only occur in the counts follow by name.
    judges: tuple[str, ...] = field(default=())
    # What live judges were asked, in the order of the judges.
    calls: Iterable[CallAccount] = ()
    # Under a protocol with dimensions.
    scored: "ScoredReport | None" = None
    # Judge to the model whose recorded replies it brings.
    models: Mapping[str, str] = field(default_factory=dict)


def count_rows(run: RunHeader, manifest: Mapping[str, Any], rows: Sequence[JudgmentRow]) -> ReportInput:
    """The counts that a database would give, from rows in memory: small runs, and the yardstick for the queries."""
    outcomes: dict[tuple[_Key, bool, str | None], list[JudgmentRow]] = defaultdict(list)
    rules: dict[tuple[str, str, Status], list[float]] = defaultdict(list)
    flags: dict[tuple[str, Flag, str], list[str]] = defaultdict(list)
    reasons: dict[tuple[str, Status, str], list[str]] = defaultdict(list)
    warnings: Counter[tuple[str, str]] = Counter()
    reasoning: Counter[tuple[str, str | None, str | None, int, bool]] = Counter()
    for row in rows:
        key = (row.judge, row.task, row.status, row.verdict, row.error_type)
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
                reasoning[row.judge, row.task, row.target_model, row.reasoning_score, bool(row.score)] += 1
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


def units_of(rows: Iterable[JudgmentRow]) -> ReportUnits:
    """Samples are told apart by their ids."""
    own = [row for row in rows if not row.is_control]
    return ReportUnits(
        judges=_group_units(own, lambda row: (row.judge,)),
        controls=_group_units((row for row in rows if row.is_control), lambda row: (row.judge,)),
        tasks=_group_units(own, lambda row: (row.judge, row.task)),
        targets=_group_units(own, lambda row: (row.judge, row.target_model)),
    )


def _group_units(
    rows: Iterable[JudgmentRow], name_of: Callable[[JudgmentRow], tuple[str | None, ...]]
) -> dict[tuple[str | None, ...], UnitSums]:
    groups: dict[tuple[str | None, ...], dict[str, list[JudgmentRow]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        groups[name_of(row)][row.id].append(row)
    return {name: UnitSums.of(_unit(own) for own in samples.values()) for name, samples in groups.items()}


def _unit(rows: Sequence[JudgmentRow]) -> Unit:
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


def _score(row: JudgmentRow) -> float:
    return row.score if row.status is Status.VALID and row.score is not None else 0.0


def _sums_of(rows: Sequence[JudgmentRow]) -> tuple[float, float]:
    scores = [_score(row) for row in rows]
    return sum(scores), sum(score * score for score in scores)
