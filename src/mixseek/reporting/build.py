"""From counts and rows to the report's data; pure, so a report is the same wherever it is made."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mixseek.domain.counts import FlagCount, OutcomeCount, ReasonCount, RuleCount
from mixseek.domain.judgments import Flag, Status
from mixseek.reporting.counts import ReportInput
from mixseek.reporting.model import (
    Detail,
    FlagSummary,
    JudgeSummary,
    JudgmentRow,
    ReasonSummary,
    RuleUsage,
    ScoreSummary,
    ShownCount,
    StatusCounts,
    Tally,
    TaskSummary,
    Tone,
    tone_of,
)
from mixseek.reporting.report_data import ReportData
from mixseek.reporting.selection import ROW_LIMIT, select_rows
from mixseek.stats.intervals import Moments, bounds_with_undecided, mean_interval

# A wording that is unique to each row explains nothing in a table; the rows themselves carry it.
_DETAILS_SHOWN = 5


def build_report(source: ReportInput, row_limit: int = ROW_LIMIT) -> ReportData:
    """Scores are averaged over valid judgments only; everything else is counted beside them."""
    outcomes = tuple(source.outcomes)
    rules, flags, reasons = tuple(source.rules), tuple(source.flags), tuple(source.reasons)
    rows = select_rows(source.rows, row_limit)
    # A model on its own output is shown beside the statistics and is in none of them.
    main = tuple(cell for cell in outcomes if not cell.is_control)
    present = {cell.judge for cell in outcomes}
    ordered = [judge for judge in source.judges if judge in present]
    ordered += sorted(present.difference(ordered))
    summaries = tuple(
        JudgeSummary(
            judge=judge,
            score=summarise_scores(own := [cell for cell in main if cell.judge == judge]),
            verdicts=tally_verdicts(own),
            error_types=_tally_error_types(own),
            tasks=_summarise_tasks(own),
            rules=_summarise_rules([cell for cell in rules if cell.judge == judge]),
            flags=_summarise_flags([cell for cell in flags if cell.judge == judge]),
            reasons=_summarise_reasons([cell for cell in reasons if cell.judge == judge]),
            control=_summarise_control([cell for cell in outcomes if cell.judge == judge and cell.is_control]),
        )
        for judge in ordered
    )
    return ReportData(
        run=source.run,
        manifest=source.manifest,
        judges=summaries,
        rows=rows,
        shown=_count_shown(outcomes, rows),
        calls=tuple(source.calls),
        scored=source.scored,
        models=source.models,
    )


def summarise_scores(cells: Iterable[OutcomeCount]) -> ScoreSummary:
    """A mean with its interval, its bounds and what stands beside it."""
    by_status: dict[Status, int] = defaultdict(int)
    moments = Moments(0, 0.0, 0.0)
    for cell in cells:
        by_status[cell.status] += cell.count
        if cell.status is Status.VALID:
            moments += Moments(cell.count, cell.score_total, cell.score_total_of_squares)
    counts = StatusCounts(
        valid=by_status[Status.VALID],
        undecided=by_status[Status.UNDECIDED],
        invalid=by_status[Status.INVALID],
        missing=by_status[Status.MISSING],
    )
    return ScoreSummary(
        counts=counts,
        mean=moments.mean,
        interval=mean_interval(moments),
        bounds=bounds_with_undecided(moments.total, counts.valid, counts.unscored),
        is_binary=moments.is_binary,
    )


def _summarise_control(cells: Sequence[OutcomeCount]) -> ScoreSummary | None:
    return summarise_scores(cells) if cells else None


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


def _summarise_tasks(cells: Iterable[OutcomeCount]) -> tuple[TaskSummary, ...]:
    by_task: dict[str | None, list[OutcomeCount]] = defaultdict(list)
    for cell in cells:
        by_task[cell.task].append(cell)
    # Samples without a task come last, whatever the others are called.
    names = sorted(by_task, key=lambda name: (name is None, name or ""))
    return tuple(TaskSummary(name, summarise_scores(by_task[name])) for name in names)


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
        by_flag[cell.flag].append(Detail(cell.detail, cell.count))
    summaries = [
        FlagSummary(flag, sum(detail.count for detail in details), _most_frequent(details), len(details))
        for flag, details in by_flag.items()
    ]
    return tuple(sorted(summaries, key=lambda summary: (-summary.count, summary.flag)))


def _summarise_reasons(cells: Iterable[ReasonCount]) -> tuple[ReasonSummary, ...]:
    by_status: dict[Status, list[Detail]] = defaultdict(list)
    for cell in cells:
        by_status[cell.status].append(Detail(cell.reason, cell.count))
    return tuple(
        ReasonSummary(status, sum(detail.count for detail in details), _most_frequent(details), len(details))
        for status in Status
        if (details := by_status[status])
    )


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
