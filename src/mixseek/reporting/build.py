"""From counts and rows to the report's data; pure, so a report is the same wherever it is made."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mixseek.domain.counts import (
    NO_UNITS,
    FlagCount,
    OutcomeCount,
    ReasonCount,
    ReasoningCount,
    RuleCount,
    UnitGroups,
    UnitSums,
    WarningCount,
)
from mixseek.domain.judgments import Flag, Status
from mixseek.reporting.counts import ReportInput
from mixseek.reporting.model import (
    Detail,
    FlagSummary,
    GroupSummary,
    JudgeSummary,
    JudgmentRow,
    ReasoningBar,
    ReasoningSummary,
    ReasonSummary,
    RuleUsage,
    ScoreSummary,
    ShownCount,
    StatusCounts,
    Tally,
    Tone,
    tone_of,
)
from mixseek.reporting.report_data import ReportData
from mixseek.reporting.selection import ROW_LIMIT, select_rows
from mixseek.stats.intervals import unit_bounds, unit_interval

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
