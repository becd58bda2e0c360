"""From counts and rows to the report's data; pure, so a report is the same wherever it is made."""

import hashlib
import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from mixseek.domain.calls import CallAccount
from mixseek.domain.counts import (
    NO_UNITS,
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
from mixseek.reporting.model import (
    Detail,
    FlagSummary,
    GroupSummary,
    JudgeSummary,
    JudgmentRow,
    ReasoningBar,
    ReasoningSummary,
    ReasonSummary,
    ReportData,
    RuleUsage,
    RunHeader,
    ScoreSummary,
    ShownCount,
    StatusCounts,
    Tally,
    Tone,
    tone_of,
)
from mixseek.stats.intervals import unit_bounds, unit_interval

if TYPE_CHECKING:
    from mixseek.reporting.model import ScoredReport

# What a report is made from: counts that a database can group, so that a million judgments are never held at once.

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


# Which judgments a report lists when there are too many: first those that a person must look at.

ROW_LIMIT = 2_000
# Each kind keeps a tenth of the list if it has that many: 40,000 undecided samples must not hide every wrong answer.
_FLOOR_SHARE = 0.1

_Ranked = tuple[int, int, JudgmentRow]  # draw, position in the dataset, row


class Kind(IntEnum):
    """In the order in which places are given out."""

    CRITICAL = 0
    INVALID = 1
    UNDECIDED = 2
    MISSING = 3
    LOW = 4
    HIGH = 5


def kind_of(status: Status, score: float | None, *, is_critical: bool = False) -> Kind:
    """A valid judgment is low below half marks: for right-or-wrong scores that is every wrong one."""
    if is_critical:
        return Kind.CRITICAL
    match status:
        case Status.INVALID:
            return Kind.INVALID
        case Status.UNDECIDED:
            return Kind.UNDECIDED
        case Status.MISSING:
            return Kind.MISSING
        case Status.VALID:
            return Kind.LOW if score is not None and score < 0.5 else Kind.HIGH


def select_rows(rows: Iterable[JudgmentRow], limit: int = ROW_LIMIT) -> tuple[JudgmentRow, ...]:
    """At most `limit` rows, critical fails first, else in the order they came; the same for the same run, every time.

    Memory stays within a few times `limit` rows however many come in.
    """
    kept: dict[Kind, list[_Ranked]] = {kind: [] for kind in Kind}
    for position, row in enumerate(rows):
        heap = kept[kind_of(row.status, row.score, is_critical=row.is_critical)]
        # Negated, so that the heap's smallest is the next one to go.
        entry = (-_draw(row), -position, row)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        elif heap and entry[:2] > heap[0][:2]:
            heapq.heapreplace(heap, entry)
    places = _places({kind: len(heap) for kind, heap in kept.items()}, limit)
    chosen: Iterator[_Ranked] = (
        entry for kind, heap in kept.items() for entry in heapq.nlargest(places[kind], heap, key=lambda item: item[:2])
    )
    return tuple(row for _, _, row in sorted(chosen, key=lambda item: (not item[2].is_critical, -item[1])))


def _places(available: dict[Kind, int], limit: int) -> dict[Kind, int]:
    """First the floor of every kind, then the rest in order of kind."""
    floor = int(limit * _FLOOR_SHARE)
    places = {kind: min(count, floor) for kind, count in available.items()}
    left = limit - sum(places.values())
    for kind in Kind:
        more = min(left, available[kind] - places[kind])
        places[kind] += more
        left -= more
    return places


def _draw(row: JudgmentRow) -> int:
    """A fair lot that does not depend on the clock, on a seed or on the order of the rows."""
    blob = f"{row.judge}\x1f{row.id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(blob, digest_size=8).digest(), "big")


# A wording that is unique to each row explains nothing in a table; the rows themselves carry it.
_DETAILS_SHOWN = 5


def build_report(source: ReportInput, row_limit: int = ROW_LIMIT) -> ReportData:
    """Scores are averaged over valid judgments only; everything else is counted beside them."""
    outcomes = tuple(source.outcomes)
    rows = select_rows(source.rows, row_limit)
    present = {cell.judge for cell in outcomes}
    ordered = [judge for judge in source.judges if judge in present]
    ordered += sorted(present.difference(ordered))
    return ReportData(
        run=source.run,
        manifest=source.manifest,
        judges=tuple(_summarise_judge(judge, source, outcomes) for judge in ordered),
        rows=rows,
        shown=_count_shown(outcomes, rows),
        calls=tuple(source.calls),
        scored=source.scored,
        models=source.models,
    )


def _summarise_judge(judge: str, source: ReportInput, outcomes: Sequence[OutcomeCount]) -> JudgeSummary:
    """A model on its own output is shown beside the statistics and is in none of them."""
    own = [cell for cell in outcomes if cell.judge == judge and not cell.is_control]
    control = [cell for cell in outcomes if cell.judge == judge and cell.is_control]
    units = source.units
    reasoning = [cell for cell in source.reasoning if cell.judge == judge]
    score = summarise_scores(own, units.judges.get((judge,), NO_UNITS))
    return JudgeSummary(
        judge=judge,
        score=score,
        verdicts=tally_verdicts(own),
        error_types=_tally_error_types(own),
        tasks=_summarise_groups(judge, own, reasoning, "task", units.tasks),
        rules=_summarise_rules([cell for cell in source.rules if cell.judge == judge]),
        flags=_summarise_flags([cell for cell in source.flags if cell.judge == judge]),
        reasons=_summarise_reasons([cell for cell in source.reasons if cell.judge == judge]),
        control=summarise_scores(control, units.controls.get((judge,), NO_UNITS)) if control else None,
        # Under a protocol with dimensions targets have a table of their own.
        targets=() if source.scored else _summarise_groups(judge, own, reasoning, "target", units.targets),
        warnings=_tally_warnings([cell for cell in source.warnings if cell.judge == judge], score.counts.valid),
        reasoning=summarise_reasoning(reasoning),
        first_replies=next((cell for cell in source.reasks if cell.judge == judge), None),
    )


def summarise_scores(cells: Iterable[OutcomeCount], units: UnitSums) -> ScoreSummary:
    """A mean over samples with its interval, its bounds and what stands beside it; judgments are only counted."""
    by_status: dict[Status, int] = defaultdict(int)
    total = total_of_squares = 0.0
    unverified = 0
    for cell in cells:
        by_status[cell.status] += cell.count
        unverified += cell.unverified
        if cell.status is Status.VALID:
            total += cell.score_total
            total_of_squares += cell.score_total_of_squares
    return ScoreSummary(
        counts=StatusCounts(
            valid=by_status[Status.VALID],
            undecided=by_status[Status.UNDECIDED],
            invalid=by_status[Status.INVALID],
            missing=by_status[Status.MISSING],
        ),
        mean=units.mean,
        interval=unit_interval(units),
        bounds=unit_bounds(units),
        # In 0..1, a score equals its square for 0 and 1 only; sums of those are exact in floating point.
        is_binary=total == total_of_squares,
        samples=units.scored,
        questions=units.questions,
        unverified=unverified,
    )


def summarise_reasoning(cells: Sequence[ReasoningCount]) -> ReasoningSummary | None:
    """None where no judge assessed any reasoning: rules do not."""
    total = sum(cell.count for cell in cells)
    if not total:
        return None
    counts: dict[tuple[int, bool], int] = defaultdict(int)
    for cell in cells:
        counts[cell.score, cell.is_correct] += cell.count
    scores = range(min(1, *(cell.score for cell in cells)), max(5, *(cell.score for cell in cells)) + 1)
    bars = tuple(
        ReasoningBar(score, right := counts[score, True], wrong := counts[score, False], (right + wrong) / total)
        for score in scores
    )
    return ReasoningSummary(
        bars=bars,
        mean=sum(bar.score * bar.count for bar in bars) / total,
        mean_correct=_mean_reasoning((bar.score, bar.correct) for bar in bars),
        mean_incorrect=_mean_reasoning((bar.score, bar.incorrect) for bar in bars),
    )


def _mean_reasoning(counted: Iterable[tuple[int, int]]) -> float | None:
    pairs = list(counted)
    total = sum(count for _, count in pairs)
    return sum(score * count for score, count in pairs) / total if total else None


def tally_verdicts(cells: Iterable[OutcomeCount]) -> tuple[Tally, ...]:
    """Valid verdicts from best to worst score; what carries no verdict is not a bar here."""
    totals: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for cell in cells:
        if cell.status is Status.VALID:
            name = cell.verdict or cell.status.value
            count, score = totals[name]
            totals[name] = (count + cell.count, score + cell.score_total)
    valid = sum(count for count, _ in totals.values())
    ordered = sorted(
        ((name, count, score / count) for name, (count, score) in totals.items() if count),
        key=lambda item: (-item[2], item[0]),
    )
    return tuple(Tally(name, count, count / valid, tone_of(Status.VALID, mean)) for name, count, mean in ordered)


def _tally_error_types(cells: Iterable[OutcomeCount]) -> tuple[Tally, ...]:
    totals: dict[str, int] = defaultdict(int)
    for cell in cells:
        if cell.status is Status.VALID and cell.error_type is not None:
            totals[cell.error_type] += cell.count
    all_typed = sum(totals.values())
    ordered = sorted(((name, count) for name, count in totals.items() if count), key=lambda item: (-item[1], item[0]))
    return tuple(Tally(name, count, count / all_typed) for name, count in ordered)


def _summarise_groups(
    judge: str, cells: Iterable[OutcomeCount], reasoning: Sequence[ReasoningCount], column: str, units: UnitGroups
) -> tuple[GroupSummary, ...]:
    """By task or by target, whichever `column` of the counts names."""
    by_name: dict[str | None, list[OutcomeCount]] = defaultdict(list)
    for cell in cells:
        by_name[getattr(cell, column)].append(cell)
    return tuple(
        GroupSummary(
            name,
            summarise_scores(by_name[name], units.get((judge, name), NO_UNITS)),
            summarise_reasoning([cell for cell in reasoning if getattr(cell, column) == name]),
        )
        for name in _in_order(by_name)
    )


def _in_order(names: Iterable[str | None]) -> list[str | None]:
    """What names nothing comes last, whatever the others are called."""
    return sorted(names, key=lambda name: (name is None, name or ""))


def _tally_warnings(cells: Iterable[WarningCount], valid: int) -> tuple[Tally, ...]:
    """The most frequent first; a judgment may carry several."""
    ordered = sorted(cells, key=lambda cell: (-cell.count, cell.warning))
    return tuple(Tally(cell.warning, cell.count, cell.count / valid) for cell in ordered if valid)


def _summarise_rules(cells: Iterable[RuleCount]) -> tuple[RuleUsage, ...]:
    by_rule: dict[str, list[RuleCount]] = defaultdict(list)
    for cell in cells:
        by_rule[cell.rule].append(cell)
    usages = []
    for rule, own in by_rule.items():
        valid = sum(cell.count for cell in own if cell.status is Status.VALID)
        score = sum(cell.score_total for cell in own if cell.status is Status.VALID)
        usages.append(
            RuleUsage(
                rule=rule,
                count=sum(cell.count for cell in own),
                valid=valid,
                mean=score / valid if valid else None,
                undecided=sum(cell.count for cell in own if cell.status is Status.UNDECIDED),
            )
        )
    return tuple(sorted(usages, key=lambda usage: (-usage.count, usage.rule)))


def _summarise_flags(cells: Iterable[FlagCount]) -> tuple[FlagSummary, ...]:
    by_flag: dict[Flag, list[Detail]] = defaultdict(list)
    for cell in cells:
        by_flag[cell.flag].append(Detail(_told(cell.detail, cell.wordings), cell.count))
    summaries = [
        FlagSummary(flag, sum(detail.count for detail in details), _most_frequent(details), len(details))
        for flag, details in by_flag.items()
    ]
    return tuple(sorted(summaries, key=lambda summary: (-summary.count, summary.flag)))


def _summarise_reasons(cells: Iterable[ReasonCount]) -> tuple[ReasonSummary, ...]:
    by_status: dict[Status, list[Detail]] = defaultdict(list)
    for cell in cells:
        by_status[cell.status].append(Detail(_told(cell.reason, cell.wordings), cell.count))
    return tuple(
        ReasonSummary(status, sum(detail.count for detail in details), _most_frequent(details), len(details))
        for status in Status
        if (details := by_status[status])
    )


def _told(text: str, wordings: int) -> str:
    """One of several wordings is an example, and said to be one."""
    return text if wordings == 1 else f"such as: {text}"


def _most_frequent(details: list[Detail]) -> tuple[Detail, ...]:
    return tuple(sorted(details, key=lambda detail: (-detail.count, detail.text))[:_DETAILS_SHOWN])


def _count_shown(outcomes: Iterable[OutcomeCount], rows: Iterable[JudgmentRow]) -> tuple[ShownCount, ...]:
    """Per outcome word, in the order good, mixed, bad, then what carries no score."""
    totals: dict[str, int] = defaultdict(int)
    scores: dict[str, float] = defaultdict(float)
    statuses: dict[str, Status] = {}
    for cell in outcomes:
        name = cell.verdict if cell.status is Status.VALID and cell.verdict else cell.status.value
        totals[name] += cell.count
        scores[name] += cell.score_total
        statuses[name] = cell.status
    listed: dict[str, int] = defaultdict(int)
    for row in rows:
        listed[row.outcome] += 1
    parts = [
        ShownCount(name, tone_of(statuses[name], scores[name] / total), listed[name], total)
        for name, total in totals.items()
        if total
    ]
    order = list(Tone)
    return tuple(sorted(parts, key=lambda part: (order.index(part.tone), part.outcome)))
