"""From counts and rows to the report's data; pure, so a report is the same wherever it is made."""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from random import Random
from typing import Any, TypeVar

from mixseek.domain import counts
from mixseek.domain.counts import NO_UNITS, OutcomeCount, ScoredCell, UnitGroups, UnitSums
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.ports import CallAccount
from mixseek.reporting.findings import model
from mixseek.reporting.findings.agreement import Agreement, PairsReport, SelfConsistency
from mixseek.reporting.findings.model import ScoreSummary
from mixseek.stats.difference import paired_difference
from mixseek.stats.intervals import (
    Rate,
    clustered_interval,
    design_effect,
    holm_adjusted,
    uneven_spread_test,
    unit_bounds,
    unit_interval,
)
from mixseek.stats.raters import Measure

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
    scored: model.ScoredReport | None = None  # under a protocol with dimensions
    pairs: PairsReport | None = None  # where two responses were judged at a time
    models: Mapping[str, str] = field(default_factory=dict)  # judge to the model whose recorded replies it brings


# A wording that is unique to each row explains nothing in a table; the rows themselves carry it.
_DETAILS_SHOWN = 5
_ENDS: list[str] = list(Status)


def build_report(source: ReportInput) -> model.ReportData:
    """Scores are averaged over valid judgments only; everything else is counted beside them."""
    outcomes = tuple(source.outcomes)
    present = {cell.judge for cell in outcomes}
    ordered = [judge for judge in source.judges if judge in present]
    ordered += sorted(present.difference(ordered))
    return model.ReportData(
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
    )


def _summarise_judge(judge: str, source: ReportInput, outcomes: Sequence[OutcomeCount]) -> model.JudgeSummary:
    """A model on its own output is shown beside the statistics and is in none of them."""
    own = [cell for cell in outcomes if cell.judge == judge and not cell.is_control]
    control = [cell for cell in outcomes if cell.judge == judge and cell.is_control]
    units = source.units
    reasoning = [cell for cell in source.reasoning if cell.judge == judge]
    score = summarise_scores(own, units.judges.get((judge,), NO_UNITS))
    return model.JudgeSummary(
        judge=judge,
        score=score,
        verdicts=tally_verdicts(own),
        error_types=tally((cell.error_type, cell.count) for cell in own if cell.status is Status.VALID),
        tasks=_summarise_groups(judge, own, reasoning, "task", units.tasks),
        rules=_summarise_rules(cell for cell in source.rules if cell.judge == judge),
        flags=tuple(sorted(_explain(judge, source.flags), key=lambda flag: (-flag.count, flag.kind))),
        reasons=tuple(sorted(_explain(judge, source.reasons), key=lambda reason: _ENDS.index(reason.kind))),
        control=summarise_scores(control, units.controls.get((judge,), NO_UNITS)) if control else None,
        # Of pairs, and under a protocol with dimensions, targets have a table of their own.
        targets=()
        if source.scored or source.pairs
        else _summarise_groups(judge, own, reasoning, "target", units.targets),
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
    for cell in cells:
        ends[cell.status] += cell.count
        unverified += cell.unverified
        total += cell.score_total
        total_of_squares += cell.score_total_of_squares
    return ScoreSummary(
        counts=model.StatusCounts(**ends),
        mean=units.mean,
        interval=unit_interval(units),
        bounds=unit_bounds(units),
        # In 0..1, a score equals its square for 0 and 1 only; sums of those are exact in floating point.
        is_binary=total == total_of_squares,
        samples=units.scored,
        questions=units.questions,
        unverified=unverified,
        effective_questions=units.effective_questions,
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
    totals = {name: sum(cell.count for cell in own) for name, own in named.items()}
    means = {name: sum(cell.score_total for cell in named[name]) / count for name, count in totals.items() if count}
    valid = sum(totals.values())
    return tuple(
        model.Tally(name, totals[name], totals[name] / valid, model.tone_of(Status.VALID, mean))
        for name, mean in sorted(means.items(), key=lambda item: (-item[1], item[0]))
    )


def grouped(items: Iterable[_Item], key_of: Callable[[_Item], _Key]) -> dict[_Key, list[_Item]]:
    """In the order in which the keys come first."""
    groups: dict[_Key, list[_Item]] = defaultdict(list)
    for item in items:
        groups[key_of(item)].append(item)
    return groups


def in_order(names: Iterable[str | None]) -> list[str | None]:
    """As people count, Q2 before Q10; what names nothing comes last, whatever the others are called."""
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
    """By task or by target, whichever `column` of the counts names."""
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
    for rule, own in grouped(cells, lambda cell: cell.rule).items():
        ends = {status: sum(cell.count for cell in own if cell.status is status) for status in Status}
        valid = ends[Status.VALID]
        mean = sum(cell.score_total for cell in own) / valid if valid else None
        usages.append(model.RuleUsage(rule, sum(ends.values()), valid, mean, ends[Status.UNDECIDED]))
    return tuple(sorted(usages, key=lambda usage: (-usage.count, usage.rule)))


def _explain(judge: str, cells: Iterable[counts.FlagCount | counts.ReasonCount]) -> Iterator[model.Explanation]:
    """By kind: how many there are, the most frequent reasons, and how many reasons in all."""
    for kind, own in grouped((cell for cell in cells if cell.judge == judge), lambda cell: cell.kind).items():
        # One of several wordings is an example, and said to be one.
        details = [model.Detail(("" if cell.wordings == 1 else "such as: ") + cell.reason, cell.count) for cell in own]
        details.sort(key=lambda detail: (-detail.count, detail.text))
        yield model.Explanation(kind, sum(cell.count for cell in own), tuple(details[:_DETAILS_SHOWN]), len(details))


def _count_shown(outcomes: Iterable[OutcomeCount]) -> tuple[model.ShownCount, ...]:
    """Per outcome word, in the order good, mixed, bad, then what carries no score."""
    parts = []
    for name, own in grouped(outcomes, lambda cell: model.outcome_word(cell.status, cell.verdict)).items():
        total = sum(cell.count for cell in own)
        mean = sum(cell.score_total for cell in own) / total
        parts.append(model.ShownCount(name, model.tone_of(own[0].status, mean), total))
    order = list(model.Tone)
    return tuple(sorted(parts, key=lambda part: (order.index(part.tone), part.outcome)))


# Under a protocol with dimensions: every mean is of cross judgments.

UNEVEN_LEVEL = 0.05
_ITEMS_IN_SHORT = 20
_FACTORS: Mapping[str, Callable[[ScoredCell], str | None]] = {
    "judge": lambda cell: cell.judge,
    "target": lambda cell: cell.target,
    "variant": lambda cell: cell.variant,
    "language": lambda cell: cell.language,
    "method": lambda cell: "self_judge" if cell.is_control else "cross_judge",
}
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ScoredInput:
    """All counts; in the order in which judges and dimensions are shown."""

    cells: Sequence[ScoredCell]
    units: counts.ScoredUnits = field(default_factory=counts.ScoredUnits)
    dimensions: Sequence[counts.DimensionCell] = ()
    buckets: Sequence[counts.DimensionBucket] = ()
    variants: Sequence[counts.VariantSums] = ()
    evidence: Sequence[counts.EvidenceCount] = ()
    evidence_problems: Sequence[counts.EvidenceProblem] = ()
    agreement: Agreement | None = None
    coverage: counts.CoverageCounts | None = None

    @property
    def valid(self) -> list[ScoredCell]:
        """What means are of: cross judgments."""
        return [cell for cell in self.cells if cell.status is Status.VALID and not cell.is_control]


def build_scored(source: ScoredInput, *, rng: Random) -> model.ScoredReport:
    """`rng` is for permutation tests of small counts only."""
    valid = source.valid
    judges = list(dict.fromkeys(cell.judge for cell in source.cells))
    targets = in_order({cell.target for cell in source.cells})
    has_targets = targets != [None]
    task_types = sorted({cell.task_type for cell in valid if cell.task_type is not None})
    maximum = _only(cell.maximum for cell in valid)
    dimensions = tuple(dict.fromkeys(cell.dimension for cell in source.dimensions))
    return model.ScoredReport(
        maximum=maximum,
        dimensions=dimensions,
        critical=_count_critical(valid),
        judges=tuple(_profile_judge(judge, source) for judge in judges),
        targets=tuple(_profile_target(target, source) for target in targets) if has_targets else (),
        task_types=tuple(_profile_task_type(name, source) for name in task_types),
        matrix=tuple(
            model.MatrixRow(judge, tuple(_matrix_cell(judge, target, source) for target in targets))
            for judge in judges
            if has_targets
        ),
        matrix_targets=tuple(targets),
        controls=tuple(_compare_with_others(source)),
        coverage=_describe_coverage(source.coverage),
        variants=_compare_variants(source, maximum),
        invalid=_describe_invalid(source.cells, source.units, rng),
        evidence=_describe_evidence(source.evidence, dimensions, source.units.quotes),
        evidence_problems=tuple(source.evidence_problems),
        panel=_describe_panel(source.agreement),
    )


def _only(values: Iterable[_Value | None]) -> _Value | None:
    """The one value that all share; None where there are several."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _count_critical(cells: Iterable[ScoredCell]) -> int:
    return sum(cell.count for cell in cells if cell.is_critical)


# Means: by judge, target and task type, and judge by target.


def _scale_mean(cells: Sequence[ScoredCell] | Sequence[counts.DimensionCell], units: UnitSums) -> model.ScaleMean:
    """Of valid cells, as shares of the maximum, so that samples with other weights can be averaged at all."""
    return model.ScaleMean(
        count=sum(cell.count for cell in cells),
        mean=units.mean,
        interval=unit_interval(units),
        maximum=_only(cell.maximum for cell in cells),
        samples=units.scored,
        questions=units.questions,
    )


def _profile(
    column: str, name: str | None, source: ScoredInput, units: UnitGroups
) -> tuple[list[ScoredCell], tuple[model.DimensionMean, ...]]:
    """One judge, target or task type: its valid cross judgments, and its dimensions in the protocol's order."""
    own = [cell for cell in source.valid if getattr(cell, column) == name]
    marks = grouped((cell for cell in source.dimensions if getattr(cell, column) == name), lambda cell: cell.dimension)
    return own, tuple(
        model.DimensionMean(dimension, _scale_mean(cells, units.get((name, dimension), NO_UNITS)))
        for dimension, cells in marks.items()
    )


def _profile_judge(judge: str, source: ScoredInput) -> model.JudgeProfile:
    own, means = _profile("judge", judge, source, source.units.judge_dimensions)
    dimensions = []
    for item in means:
        buckets = [part for part in source.buckets if part.dimension == item.dimension]
        dimensions.append(model.DimensionSummary(item.dimension, item.score, _draw_histogram(judge, buckets)))
    confidence = tally((cell.confidence, cell.count) for cell in own)
    return model.JudgeProfile(judge, _count_critical(own), tuple(dimensions), confidence)


def _draw_histogram(judge: str, buckets: Sequence[counts.DimensionBucket]) -> tuple[model.HistogramBar, ...]:
    """Of one judge's marks, on the scale that all judges' have.

    Every mark has a bar, noughts included; tenths of the maximum where there are too many marks, or several scales,
    which meet only as shares.
    """
    own = [part for part in buckets if part.judge == judge]
    total = sum(part.count for part in own) or 1
    maximum = _only(part.maximum for part in buckets)
    heights: dict[int, int] = defaultdict(int)
    if maximum is None or any(part.high > part.low for part in buckets):
        for part in own:
            heights[min(9, int(part.low / part.maximum * 10 + 1e-6))] += part.count
        scale = maximum or 1.0
        edges = [(step / 10 * scale, (step + 1) / 10 * scale, heights[step]) for step in range(10)]
    else:
        for part in own:
            heights[int(part.low)] += part.count
        edges = [(float(mark), float(mark), heights[mark]) for mark in range(int(maximum) + 1)]
    return tuple(model.HistogramBar(low, high, count, count / total) for low, high, count in edges)


def _profile_target(target: str | None, source: ScoredInput) -> model.TargetProfile:
    own, means = _profile("target", target, source, source.units.target_dimensions)
    total = _scale_mean(own, source.units.targets.get((target,), NO_UNITS))
    return model.TargetProfile(target, total, means, tally_verdicts(own), _count_critical(own))


def _profile_task_type(task_type: str, source: ScoredInput) -> model.TaskTypeProfile:
    own, means = _profile("task_type", task_type, source, source.units.task_type_dimensions)
    return model.TaskTypeProfile(
        task_type, _scale_mean(own, source.units.task_types.get((task_type,), NO_UNITS)), means
    )


def _matrix_cell(judge: str, target: str | None, source: ScoredInput) -> model.MatrixCell:
    """Cross judgments of one pair; what a judge says of its own output is left to the control table."""
    pair = [cell for cell in source.cells if cell.judge == judge and cell.target == target]
    cross = [cell for cell in pair if not cell.is_control]
    return model.MatrixCell(
        target=target,
        score=summarise_scores(cross, source.units.pairs.get((judge, target), NO_UNITS)),
        verdicts=tally_verdicts(cross),
        same_family=any(cell.same_family for cell in pair),
        is_own_output=bool(pair) and all(cell.is_control for cell in pair),
    )


def _compare_with_others(source: ScoredInput) -> Iterator[model.ControlRow]:
    """One for each model that judged its own output."""
    pairs = grouped((cell for cell in source.cells if cell.is_control), lambda cell: (cell.judge, cell.target))
    for (judge, target), own in pairs.items():
        score = summarise_scores(own, source.units.own_outputs.get((judge, target), NO_UNITS))
        yield model.ControlRow(judge, target, score, _profile_target(target, source).total)


# What limits the scores: coverage, invalid evaluations, prompts that drift, quotes without support, disagreement.


def _describe_coverage(covered: counts.CoverageCounts | None) -> model.Coverage | None:
    """A grid needs more than one column of outputs; questions alone are what every dataset has."""
    if covered is None or covered.variants * covered.targets == 1:
        return None
    grid = sorted(covered.grid, key=_cell_order)
    columns = tuple(dict.fromkeys((cell.target, cell.judge) for cell in grid))
    lines = []
    for (question, variant), own in grouped(grid, lambda cell: (cell.question, cell.variant)).items():
        statuses = {(cell.target, cell.judge): cell.status for cell in own}
        lines.append(model.CoverageLine(question, variant, tuple(statuses[column] for column in columns)))
    shared = {one.name: getattr(covered, one.name) for one in fields(counts.CoverageSizes)}
    shared["holes"] = tuple(sorted(covered.holes, key=_cell_order))
    return model.Coverage(**shared, columns=columns, lines=tuple(lines))


def _cell_order(cell: counts.CoverageCell) -> tuple[Any, ...]:
    """Judges keep the order in which they come."""
    names = (cell.question, cell.variant, cell.target)
    return tuple((name is None, natural_key(name or "")) for name in names)


def _describe_invalid(cells: Sequence[ScoredCell], units: counts.ScoredUnits, rng: Random) -> model.InvalidSpread:
    """Missing ones are left out: no reply came that could have been unusable. Holm over all factors tested."""
    factors = []
    effect = design_effect(units.invalid.get("", {}).get((), NO_UNITS))
    for factor, value_of in _FACTORS.items():
        own = units.invalid.get(factor, {})
        groups = _invalid_rates(cells, value_of, own)
        if len(groups) > 1:
            # More judges or repeats are no more samples: one that half of its evaluations fail counts as half a hit.
            sums = [own.get((group.name,), NO_UNITS) for group in groups]
            # Samples of one question count as the independent ones that they are worth.
            rates = [Rate(round(one.total / effect), round(one.scored / effect)) for one in sums]
            test = uneven_spread_test(rates, rng=rng)
            factors.append((factor, groups, test))
    adjusted = iter(holm_adjusted([test.p_value for _, _, test in factors if test]))
    described = []
    for factor, groups, test in factors:
        p_adjusted = next(adjusted) if test else None
        is_uneven = p_adjusted is not None and p_adjusted <= UNEVEN_LEVEL
        described.append(model.InvalidFactor(factor, groups, test, p_adjusted, is_uneven))
    whole = _invalid_rates(cells, lambda _: None, {(None,): units.invalid.get("", {}).get((), NO_UNITS)})
    return model.InvalidSpread(whole[0] if whole else model.GroupRate(None, 0, 0, None), tuple(described))


def _invalid_rates(
    cells: Iterable[ScoredCell], value_of: Callable[[ScoredCell], str | None], units: UnitGroups
) -> tuple[model.GroupRate, ...]:
    """By name. Evaluations that brought a reply are counted, the interval counts samples."""
    named = grouped((cell for cell in cells if cell.status in (Status.VALID, Status.INVALID)), value_of)
    rates = []
    for name in in_order(named):
        invalid = sum(cell.count for cell in named[name] if cell.status is Status.INVALID)
        interval = unit_interval(units.get((name,), NO_UNITS))
        rates.append(model.GroupRate(name, invalid, sum(cell.count for cell in named[name]), interval))
    return tuple(rates)


def _compare_variants(source: ScoredInput, maximum: float | None) -> tuple[model.VariantComparison, ...]:
    """Every two variants that met; dimensions that drift most come first."""
    by_variant = _invalid_rates(source.cells, lambda cell: cell.variant, source.units.invalid.get("variant", {}))
    rates = {group.name: group for group in by_variant}
    marks = grouped(source.dimensions, lambda cell: cell.dimension)
    scales: dict[str | None, float | None] = {name: _only(cell.maximum for cell in own) for name, own in marks.items()}
    scales[None] = maximum
    comparisons = []
    for (base, other), parts in grouped(source.variants, lambda part: (part.base, part.other)).items():
        measures = [
            model.MeasureDifference(part.measure, difference, scales.get(part.measure))
            for part in parts
            if (difference := paired_difference(part)) is not None
        ]
        # The total comes first: it has no name.
        measures.sort(key=lambda item: (item.measure is not None, -abs(item.difference.mean), item.measure or ""))
        if measures:
            comparisons.append(
                model.VariantComparison(base, other, measures[0], tuple(measures[1:]), rates[base], rates[other])
            )
    return tuple(comparisons)


def _describe_evidence(
    quotes: Sequence[counts.EvidenceCount], order: Sequence[str], units: UnitGroups
) -> tuple[model.EvidenceSupport, ...]:
    """Per judge: all its quotes first, then dimension by dimension in the protocol's order."""
    lines = []
    for judge, own in grouped(quotes, lambda cell: cell.judge).items():
        lines.append(_support_of(judge, None, own, units.get((judge,), NO_UNITS)))
        named = grouped((cell for cell in own if cell.dimension is not None), lambda cell: cell.dimension or "")
        dimensions = [*(name for name in order if name in named), *sorted(named.keys() - set(order))]
        lines += [_support_of(judge, name, named[name], units.get((judge, name), NO_UNITS)) for name in dimensions]
    return tuple(lines)


def _support_of(
    judge: str, dimension: str | None, cells: Sequence[counts.EvidenceCount], units: UnitSums
) -> model.EvidenceSupport:
    """A quote is found where the locator named its stage and no problem."""
    return model.EvidenceSupport(
        judge=judge,
        dimension=dimension,
        found=sum(cell.count for cell in cells if cell.problem is None),
        quotes=sum(cell.count for cell in cells),
        # Quotes from one sample, or on one question, are found or missed together.
        interval=clustered_interval(units),
        stages=tally((cell.stage or "unnamed", cell.count) for cell in cells if cell.problem is None),
        problems=tally((cell.problem, cell.count) for cell in cells),
    )


def _describe_panel(agreement: Agreement | None) -> model.PanelAgreement | None:
    """The agreement of the report in short; None where no sample has two judges."""
    if agreement is None:
        return None
    alpha = agreement.of(Measure.ALPHA_INTERVAL)
    return model.PanelAgreement(
        agreement.samples,
        agreement.unanimous,
        agreement.unanimous_interval,
        agreement.mean_spread,
        alpha.value if alpha else None,
        agreement.items[:_ITEMS_IN_SHORT],
    )
