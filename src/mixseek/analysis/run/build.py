"""From counts and rows to the report's data; pure, so a report is the same wherever it is made."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeVar

from mixseek.analysis import scored_model
from mixseek.analysis.checked_model import CheckSummary
from mixseek.analysis.run import model, report_data
from mixseek.analysis.run.agreement import Agreement, SelfConsistency
from mixseek.analysis.run.model import ScoreSummary
from mixseek.analysis.run.route import RouteSummary
from mixseek.analysis.target_pairs import PairsReport
from mixseek.domain import counts
from mixseek.domain.counts import NO_UNITS, OutcomeCount, UnitGroups, UnitSums
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.ports import CallAccount
from mixseek.domain.response_states import UNFINISHED
from mixseek.domain.scored_counts import ScoredCell
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import unit_bounds, unit_interval

_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ReportUnits:
    """What every mean and interval rests on: samples, not judgments. By judge first."""

    judges: UnitGroups = field(default_factory=dict)
    controls: UnitGroups = field(default_factory=dict)  # judges on their own output
    tasks: UnitGroups = field(default_factory=dict)
    targets: UnitGroups = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Counts that a database can group, and rows that are read when a page lists them."""

    run: model.RunHeader
    manifest: Mapping[str, Any]
    outcomes: Iterable[OutcomeCount]
    rows: Iterable[JudgedRow]
    units: ReportUnits = field(default_factory=ReportUnits)
    rules: Sequence[counts.RuleCount] = ()
    flags: Sequence[counts.FlagCount] = ()
    reasons: Sequence[counts.ReasonCount] = ()
    warnings: Sequence[counts.WarningCount] = ()
    reasoning: Sequence[counts.ReasoningCount] = ()
    reasks: Sequence[counts.ReaskCount] = ()
    judges: tuple[str, ...] = ()  # in the order to be shown; judges that only occur in the counts follow by name
    calls: Iterable[CallAccount] = ()  # what live judges were asked, in the order of the judges
    headline: model.Headline | None = None  # None for a run without judgments
    agreement: Agreement | None = None
    consistency: tuple[SelfConsistency, ...] = ()
    scored: scored_model.ScoredReport | None = None  # under a protocol with dimensions
    pairs: PairsReport | None = None  # where two responses were judged at a time
    models: Mapping[str, str] = field(default_factory=dict)  # judge to the model whose recorded replies it brings
    labels: Mapping[str, str] = field(default_factory=dict)  # judge to what a reader knows it by
    checks: tuple[CheckSummary, ...] = ()  # where something was checked without a judge
    route: RouteSummary | None = None  # where a cascade file was followed


# A wording that is unique to each row explains nothing in a table; the rows themselves carry it.
_DETAILS_SHOWN = 5
_ENDS: list[str] = list(Status)


def build_report(source: ReportInput) -> report_data.ReportData:
    """Scores are averaged over valid judgments only; everything else is counted beside them."""
    outcomes = tuple(source.outcomes)
    present = {cell.judge for cell in outcomes}
    ordered = [judge for judge in source.judges if judge in present]
    ordered += sorted(present.difference(ordered))
    return report_data.ReportData(
        run=source.run,
        manifest=source.manifest,
        judges=tuple(_summarise_judge(judge, source, outcomes) for judge in ordered),
        rows=source.rows,
        shown=_count_shown(outcomes),
        calls=tuple(source.calls),
        headline=source.headline,
        agreement=source.agreement,
        consistency=source.consistency,
        scored=source.scored,
        pairs=source.pairs,
        models=source.models,
        labels=source.labels,
        checks=source.checks,
        route=source.route,
    )


def _summarise_judge(judge: str, source: ReportInput, outcomes: Sequence[OutcomeCount]) -> model.JudgeSummary:
    """A model on its own output is shown beside the statistics and is in none of them."""
    cells = [cell for cell in outcomes if cell.judge == judge and not cell.is_control]
    control = [cell for cell in outcomes if cell.judge == judge and cell.is_control]
    units = source.units
    reasoning = [cell for cell in source.reasoning if cell.judge == judge]
    score = summarise_scores(cells, units.judges.get((judge,), NO_UNITS))
    return model.JudgeSummary(
        judge=judge,
        score=score,
        verdicts=tally_verdicts(cells),
        error_types=tally((cell.error_type, cell.count) for cell in cells if cell.status is Status.VALID),
        tasks=_summarise_groups(judge, cells, reasoning, "task", units.tasks),
        rules=_summarise_rules(cell for cell in source.rules if cell.judge == judge),
        flags=tuple(sorted(_explain(judge, source.flags), key=lambda flag: (-flag.count, flag.kind))),
        reasons=tuple(sorted(_explain(judge, source.reasons), key=lambda reason: _ENDS.index(reason.kind))),
        control=summarise_scores(control, units.controls.get((judge,), NO_UNITS)) if control else None,
        # Of pairs, and under a protocol with dimensions, targets have a table of their own.
        targets=()
        if source.scored or source.pairs
        else _summarise_groups(judge, cells, reasoning, "target", units.targets),
        warnings=tally(
            ((cell.warning, cell.count) for cell in source.warnings if cell.judge == judge), whole=score.counts.valid
        ),
        reasoning=summarise_reasoning(reasoning),
        first_replies=next((cell for cell in source.reasks if cell.judge == judge), None),
    )


def summarise_scores(cells: Iterable[OutcomeCount | ScoredCell], units: UnitSums) -> ScoreSummary:
    """A mean over samples with its interval, its bounds and what stands beside it; judgments are only counted."""
    ends = dict.fromkeys((status.value for status in Status), 0)
    total = total_of_squares = 0.0
    unverified = 0
    unfinished = dict.fromkeys((state.value for state in UNFINISHED), 0)
    for cell in cells:
        ends[cell.status] += cell.count
        unverified += cell.unverified
        if isinstance(cell, OutcomeCount):
            for state in unfinished:
                unfinished[state] += getattr(cell, state)
        total += cell.score_total
        total_of_squares += cell.score_total_of_squares
    return ScoreSummary(
        counts=counts.StatusCounts(**ends),
        mean=units.mean,
        interval=unit_interval(units),
        bounds=unit_bounds(units),
        # In 0..1, a score equals its square for 0 and 1 only; sums of those are exact in floating point.
        is_binary=total == total_of_squares,
        samples=units.scored,
        questions=units.questions,
        unverified=unverified,
        effective_questions=units.effective_questions,
        responses=counts.ResponseCounts(sum(ends.values()), **unfinished),
    )


def summarise_reasoning(cells: Sequence[counts.ReasoningCount]) -> model.ReasoningSummary | None:
    """None where no judge assessed any reasoning: rules do not."""
    total = sum(cell.count for cell in cells)
    if not total:
        return None
    judged: dict[tuple[int, bool], int] = defaultdict(int)
    for cell in cells:
        judged[cell.score, cell.is_correct] += cell.count
    scores = range(min(1, *(cell.score for cell in cells)), max(5, *(cell.score for cell in cells)) + 1)
    bars = tuple(
        model.ReasoningBar(score, right := judged[score, True], wrong := judged[score, False], (right + wrong) / total)
        for score in scores
    )
    return model.ReasoningSummary(
        bars=bars,
        mean=sum(bar.score * bar.count for bar in bars) / total,
        mean_correct=_mean_reasoning([(bar.score, bar.correct) for bar in bars]),
        mean_incorrect=_mean_reasoning([(bar.score, bar.incorrect) for bar in bars]),
    )


def _mean_reasoning(counted: Sequence[tuple[int, int]]) -> float | None:
    total = sum(count for _, count in counted)
    return sum(score * count for score, count in counted) / total if total else None


def tally(counted: Iterable[tuple[str | None, int]], *, whole: int | None = None) -> tuple[model.Tally, ...]:
    """The most frequent first, as shares of `whole` or of all that have a name; what names nothing is no bar."""
    totals: dict[str, int] = defaultdict(int)
    for name, count in counted:
        if name is not None:
            totals[name] += count
    of = sum(totals.values()) if whole is None else whole
    ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return tuple(model.Tally(name, count, count / of) for name, count in ordered if count and of)


def tally_verdicts(cells: Iterable[OutcomeCount | ScoredCell]) -> tuple[model.Tally, ...]:
    """Valid verdicts from best to worst score; what carries no verdict is not a bar here."""
    named = grouped((cell for cell in cells if cell.status is Status.VALID), lambda cell: cell.verdict or cell.status)
    totals = {name: sum(cell.count for cell in cells) for name, cells in named.items()}
    means = {name: sum(cell.score_total for cell in named[name]) / count for name, count in totals.items() if count}
    valid = sum(totals.values())
    return tuple(
        model.Tally(name, totals[name], totals[name] / valid, model.tone_of(Status.VALID, mean))
        for name, mean in sorted(means.items(), key=lambda item: (-item[1], item[0]))
    )


def grouped(items: Iterable[_Item], key_of: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """Groups in the order in which the keys come first."""
    groups: dict[_Key, list[_Item]] = defaultdict(list)
    for item in items:
        groups[key_of(item)].append(item)
    return groups


def in_order(names: Iterable[str | None]) -> list[str | None]:
    """Names as people count, Q2 before Q10; what names nothing comes last, whatever the others are called."""
    return sorted(names, key=lambda name: (name is None, natural_key(name or "")))


def natural_key(name: str) -> tuple[str, str]:
    """Numbers inside a name go by their size; 02 and 2 are told apart at the end."""
    return re.sub("[0-9]+", lambda number: number[0].lstrip("0").zfill(20), name), name


def _summarise_groups(
    judge: str,
    cells: Iterable[OutcomeCount],
    reasoning: Sequence[counts.ReasoningCount],
    column: str,
    units: UnitGroups,
) -> tuple[model.GroupSummary, ...]:
    """Groups by task or by target, whichever `column` of the counts names."""
    by_name: dict[str | None, list[OutcomeCount]] = grouped(cells, lambda cell: getattr(cell, column))
    return tuple(
        model.GroupSummary(
            name,
            summarise_scores(by_name[name], units.get((judge, name), NO_UNITS)),
            summarise_reasoning([cell for cell in reasoning if getattr(cell, column) == name]),
        )
        for name in in_order(by_name)
    )


def _summarise_rules(cells: Iterable[counts.RuleCount]) -> tuple[model.RuleUsage, ...]:
    usages = []
    for rule, rule_cells in grouped(cells, lambda cell: cell.rule).items():
        ends = {status: sum(cell.count for cell in rule_cells if cell.status is status) for status in Status}
        valid = ends[Status.VALID]
        mean = sum(cell.score_total for cell in rule_cells) / valid if valid else None
        usages.append(model.RuleUsage(rule, sum(ends.values()), valid, mean, ends[Status.UNDECIDED]))
    return tuple(sorted(usages, key=lambda usage: (-usage.count, usage.rule)))


def _explain(judge: str, cells: Iterable[counts.FlagCount | counts.ReasonCount]) -> Iterator[model.Explanation]:
    """One line a kind: how many there are, the most frequent reasons, and how many reasons in all."""
    for kind, kind_cells in grouped((cell for cell in cells if cell.judge == judge), lambda cell: cell.kind).items():
        # One of several wordings is an example, and said to be one.
        details = [
            model.Detail(("" if cell.wordings == 1 else "such as: ") + cell.reason, cell.count) for cell in kind_cells
        ]
        details.sort(key=lambda detail: (-detail.count, detail.text))
        yield model.Explanation(
            kind, sum(cell.count for cell in kind_cells), tuple(details[:_DETAILS_SHOWN]), len(details)
        )


def _count_shown(outcomes: Iterable[OutcomeCount]) -> tuple[model.ShownCount, ...]:
    """Per outcome word, in the order good, mixed, bad, then what carries no score."""
    parts = []
    for name, cells in grouped(outcomes, lambda cell: model.outcome_word(cell.status, cell.verdict)).items():
        total = sum(cell.count for cell in cells)
        mean = sum(cell.score_total for cell in cells) / total
        parts.append(model.ShownCount(name, model.tone_of(cells[0].status, mean), total))
    order = list(model.Tone)
    return tuple(sorted(parts, key=lambda part: (order.index(part.tone), part.outcome)))
