"""The report's data under a protocol with dimensions: every mean is of cross judgments."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from random import Random
from typing import Any, TypeVar

from mixseek.analysis import scored_model
from mixseek.analysis.run.agreement import Agreement
from mixseek.analysis.run.build import grouped, in_order, natural_key, summarise_scores, tally, tally_verdicts
from mixseek.domain import scored_counts
from mixseek.domain.counts import NO_UNITS, UnitGroups, UnitSums
from mixseek.domain.judgments import Status
from mixseek.domain.scored_counts import ScoredCell
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.difference import paired_difference
from mixseek.stats.intervals import clustered_interval, unit_interval
from mixseek.stats.raters import Measure
from mixseek.stats.uneven import Rate, design_effect, holm_adjusted, uneven_spread_test

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
    units: scored_counts.ScoredUnits = field(default_factory=scored_counts.ScoredUnits)
    dimensions: Sequence[scored_counts.DimensionCell] = ()
    buckets: Sequence[scored_counts.DimensionBucket] = ()
    variants: Sequence[scored_counts.VariantSums] = ()
    evidence: Sequence[scored_counts.EvidenceCount] = ()
    evidence_problems: Sequence[scored_counts.EvidenceProblem] = ()
    agreement: Agreement | None = None
    coverage: scored_counts.CoverageCounts | None = None
    # Whether the protocol has gates at which a sample may fail.
    has_gates: bool = False

    @property
    def valid(self) -> list[ScoredCell]:
        """What means are of: cross judgments."""
        return [cell for cell in self.cells if cell.status is Status.VALID and not cell.is_control]


def build_scored(source: ScoredInput, *, rng: Random) -> scored_model.ScoredReport:
    """`rng` is for permutation tests of small counts only."""
    valid = source.valid
    judges = list(dict.fromkeys(cell.judge for cell in source.cells))
    targets = in_order({cell.target for cell in source.cells})
    has_targets = targets != [None]
    task_types = sorted({cell.task_type for cell in valid if cell.task_type is not None})
    maximum = _only(cell.maximum for cell in valid)
    dimensions = tuple(dict.fromkeys(cell.dimension for cell in source.dimensions))
    return scored_model.ScoredReport(
        maximum=maximum,
        dimensions=dimensions,
        critical=_count_critical(valid),
        judges=tuple(_profile_judge(judge, source) for judge in judges),
        targets=tuple(_profile_target(target, source) for target in targets) if has_targets else (),
        task_types=tuple(_profile_task_type(name, source) for name in task_types),
        matrix=tuple(
            scored_model.MatrixRow(judge, tuple(_matrix_cell(judge, target, source) for target in targets))
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
        has_gates=source.has_gates,
    )


def _only(values: Iterable[_Value | None]) -> _Value | None:
    """The one value that all share; None where there are several."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _count_critical(cells: Iterable[ScoredCell]) -> int:
    return sum(cell.count for cell in cells if cell.is_critical)


def _scale_mean(
    cells: Sequence[ScoredCell] | Sequence[scored_counts.DimensionCell], units: UnitSums
) -> scored_model.ScaleMean:
    """The mean of valid cells, as shares of the maximum, so that samples with other weights can be averaged at all."""
    return scored_model.ScaleMean(
        count=sum(cell.count for cell in cells),
        mean=units.mean,
        interval=unit_interval(units),
        maximum=_only(cell.maximum for cell in cells),
        samples=units.scored,
        questions=units.questions,
    )


def _profile(
    column: str, name: str | None, source: ScoredInput, units: UnitGroups
) -> tuple[list[ScoredCell], tuple[scored_model.DimensionMean, ...]]:
    """One judge, target or task type: its valid cross judgments, and its dimensions in the protocol's order."""
    cells = [cell for cell in source.valid if getattr(cell, column) == name]
    marks = grouped((cell for cell in source.dimensions if getattr(cell, column) == name), lambda cell: cell.dimension)
    return cells, tuple(
        scored_model.DimensionMean(dimension, _scale_mean(cells, units.get((name, dimension), NO_UNITS)))
        for dimension, cells in marks.items()
    )


def _profile_judge(judge: str, source: ScoredInput) -> scored_model.JudgeProfile:
    cells, means = _profile("judge", judge, source, source.units.judge_dimensions)
    dimensions = []
    for item in means:
        buckets = [part for part in source.buckets if part.dimension == item.dimension]
        dimensions.append(scored_model.DimensionSummary(item.dimension, item.score, _draw_histogram(judge, buckets)))
    confidence = tally((cell.confidence, cell.count) for cell in cells)
    return scored_model.JudgeProfile(judge, _count_critical(cells), tuple(dimensions), confidence)


def _draw_histogram(
    judge: str, buckets: Sequence[scored_counts.DimensionBucket]
) -> tuple[scored_model.HistogramBar, ...]:
    """The bars of one judge's marks, on the scale that all judges' have.

    Every mark has a bar, noughts included; tenths of the maximum where there are too many marks, or several scales,
    which meet only as shares.
    """
    judge_buckets = [part for part in buckets if part.judge == judge]
    total = sum(part.count for part in judge_buckets) or 1
    maximum = _only(part.maximum for part in buckets)
    heights: dict[int, int] = defaultdict(int)
    if maximum is None or any(part.high > part.low for part in buckets):
        for part in judge_buckets:
            heights[min(9, int(part.low / part.maximum * 10 + 1e-6))] += part.count
        scale = maximum or 1.0
        edges = [(step / 10 * scale, (step + 1) / 10 * scale, heights[step]) for step in range(10)]
    else:
        for part in judge_buckets:
            heights[int(part.low)] += part.count
        edges = [(float(mark), float(mark), heights[mark]) for mark in range(int(maximum) + 1)]
    return tuple(scored_model.HistogramBar(low, high, count, count / total) for low, high, count in edges)


def _profile_target(target: str | None, source: ScoredInput) -> scored_model.TargetProfile:
    cells, means = _profile("target", target, source, source.units.target_dimensions)
    total = _scale_mean(cells, source.units.targets.get((target,), NO_UNITS))
    return scored_model.TargetProfile(target, total, means, tally_verdicts(cells), _count_critical(cells))


def _profile_task_type(task_type: str, source: ScoredInput) -> scored_model.TaskTypeProfile:
    cells, means = _profile("task_type", task_type, source, source.units.task_type_dimensions)
    return scored_model.TaskTypeProfile(
        task_type, _scale_mean(cells, source.units.task_types.get((task_type,), NO_UNITS)), means
    )


def _matrix_cell(judge: str, target: str | None, source: ScoredInput) -> scored_model.MatrixCell:
    """Cross judgments of one pair; what a judge says of its own output is left to the control table."""
    pair = [cell for cell in source.cells if cell.judge == judge and cell.target == target]
    cross = [cell for cell in pair if not cell.is_control]
    return scored_model.MatrixCell(
        target=target,
        score=summarise_scores(cross, source.units.pairs.get((judge, target), NO_UNITS)),
        verdicts=tally_verdicts(cross),
        same_family=any(cell.same_family for cell in pair),
        is_own_output=bool(pair) and all(cell.is_control for cell in pair),
    )


def _compare_with_others(source: ScoredInput) -> Iterator[scored_model.ControlRow]:
    """One for each model that judged its own output."""
    pairs = grouped((cell for cell in source.cells if cell.is_control), lambda cell: (cell.judge, cell.target))
    for (judge, target), cells in pairs.items():
        score = summarise_scores(cells, source.units.own_outputs.get((judge, target), NO_UNITS))
        yield scored_model.ControlRow(judge, target, score, _profile_target(target, source).total)


def _describe_coverage(covered: scored_counts.CoverageCounts | None) -> scored_model.Coverage | None:
    """A grid needs more than one column of outputs; questions alone are what every dataset has."""
    if covered is None or covered.variants * covered.targets == 1:
        return None
    grid = sorted(covered.grid, key=_cell_order)
    columns = tuple(dict.fromkeys((cell.target, cell.judge) for cell in grid))
    lines = []
    for (question, variant), cells in grouped(grid, lambda cell: (cell.question, cell.variant)).items():
        statuses = {(cell.target, cell.judge): cell.status for cell in cells}
        lines.append(scored_model.CoverageLine(question, variant, tuple(statuses[column] for column in columns)))
    shared = {field.name: getattr(covered, field.name) for field in fields(scored_counts.CoverageSizes)}
    shared["holes"] = tuple(sorted(covered.holes, key=_cell_order))
    return scored_model.Coverage(**shared, columns=columns, lines=tuple(lines))


def _cell_order(cell: scored_counts.CoverageCell) -> tuple[Any, ...]:
    """Judges keep the order in which they come."""
    names = (cell.question, cell.variant, cell.target)
    return tuple((name is None, natural_key(name or "")) for name in names)


def _describe_invalid(
    cells: Sequence[ScoredCell], units: scored_counts.ScoredUnits, rng: Random
) -> scored_model.InvalidSpread:
    """Missing ones are left out: no reply came that could have been unusable. Holm over all factors tested."""
    factors = []
    effect = design_effect(units.invalid.get("", {}).get((), NO_UNITS))
    for factor, value_of in _FACTORS.items():
        rates_of_values = units.invalid.get(factor, {})
        groups = _invalid_rates(cells, value_of, rates_of_values)
        if len(groups) > 1:
            # More judges or repeats are no more samples: one that half of its evaluations fail counts as half a hit.
            sums = [rates_of_values.get((group.name,), NO_UNITS) for group in groups]
            # Samples of one question count as the independent ones that they are worth.
            rates = [Rate(round(unit_sums.total / effect), round(unit_sums.scored / effect)) for unit_sums in sums]
            test = uneven_spread_test(rates, rng=rng)
            factors.append((factor, groups, test))
    adjusted = iter(holm_adjusted([test.p_value for _, _, test in factors if test]))
    described = []
    for factor, groups, test in factors:
        p_adjusted = next(adjusted) if test else None
        is_uneven = p_adjusted is not None and p_adjusted <= UNEVEN_LEVEL
        described.append(scored_model.InvalidFactor(factor, groups, test, p_adjusted, is_uneven))
    whole = _invalid_rates(cells, lambda _: None, {(None,): units.invalid.get("", {}).get((), NO_UNITS)})
    return scored_model.InvalidSpread(whole[0] if whole else scored_model.GroupRate(None, 0, 0, None), tuple(described))


def _invalid_rates(
    cells: Iterable[ScoredCell], value_of: Callable[[ScoredCell], str | None], units: UnitGroups
) -> tuple[scored_model.GroupRate, ...]:
    """Rates by name. Evaluations that brought a reply are counted, the interval counts samples."""
    named = grouped((cell for cell in cells if cell.status in (Status.VALID, Status.INVALID)), value_of)
    rates = []
    for name in in_order(named):
        invalid = sum(cell.count for cell in named[name] if cell.status is Status.INVALID)
        interval = unit_interval(units.get((name,), NO_UNITS))
        rates.append(scored_model.GroupRate(name, invalid, sum(cell.count for cell in named[name]), interval))
    return tuple(rates)


def _compare_variants(source: ScoredInput, maximum: float | None) -> tuple[scored_model.VariantComparison, ...]:
    """Every two variants that met; dimensions that drift most come first."""
    by_variant = _invalid_rates(source.cells, lambda cell: cell.variant, source.units.invalid.get("variant", {}))
    rates = {group.name: group for group in by_variant}
    marks = grouped(source.dimensions, lambda cell: cell.dimension)
    scales: dict[str | None, float | None] = {
        name: _only(cell.maximum for cell in cells) for name, cells in marks.items()
    }
    scales[None] = maximum
    comparisons = []
    for (base, other), parts in grouped(source.variants, lambda part: (part.base, part.other)).items():
        measures = [
            scored_model.MeasureDifference(part.measure, difference, scales.get(part.measure))
            for part in parts
            if (difference := paired_difference(part)) is not None
        ]
        # The total comes first: it has no name.
        measures.sort(key=lambda item: (item.measure is not None, -abs(item.difference.mean), item.measure or ""))
        if measures:
            comparisons.append(
                scored_model.VariantComparison(base, other, measures[0], tuple(measures[1:]), rates[base], rates[other])
            )
    return tuple(comparisons)


def _describe_evidence(
    quotes: Sequence[scored_counts.EvidenceCount], order: Sequence[str], units: UnitGroups
) -> tuple[scored_model.EvidenceSupport, ...]:
    """Per judge: all its quotes first, then dimension by dimension in the protocol's order."""
    lines = []
    for judge, cells in grouped(quotes, lambda cell: cell.judge).items():
        lines.append(_support_of(judge, None, cells, units.get((judge,), NO_UNITS)))
        named = grouped((cell for cell in cells if cell.dimension is not None), lambda cell: cell.dimension or "")
        dimensions = [*(name for name in order if name in named), *sorted(named.keys() - set(order))]
        lines += [_support_of(judge, name, named[name], units.get((judge, name), NO_UNITS)) for name in dimensions]
    return tuple(lines)


def _support_of(
    judge: str, dimension: str | None, cells: Sequence[scored_counts.EvidenceCount], units: UnitSums
) -> scored_model.EvidenceSupport:
    """A quote is found where the locator named its stage and no problem."""
    return scored_model.EvidenceSupport(
        judge=judge,
        dimension=dimension,
        found=sum(cell.count for cell in cells if cell.problem is None),
        quotes=sum(cell.count for cell in cells),
        # Quotes from one sample, or on one question, are found or missed together.
        interval=clustered_interval(units),
        stages=tally((cell.stage or "unnamed", cell.count) for cell in cells if cell.problem is None),
        problems=tally((cell.problem, cell.count) for cell in cells),
    )


def _describe_panel(agreement: Agreement | None) -> scored_model.PanelAgreement | None:
    """The agreement of the report in short; None where no sample has two judges."""
    if agreement is None:
        return None
    alpha = agreement.of(Measure.ALPHA_INTERVAL)
    return scored_model.PanelAgreement(
        agreement.samples,
        agreement.unanimous,
        agreement.unanimous_interval,
        agreement.mean_spread,
        alpha.value if alpha else None,
        agreement.items[:_ITEMS_IN_SHORT],
    )
