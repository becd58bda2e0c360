"""From counts to what a report says about a protocol with dimensions; pure, and every mean is of cross judgments."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from mixseek.domain.counts import (
    NO_UNITS,
    CoverageCounts,
    DimensionBucket,
    DimensionCell,
    Disagreement,
    EvidenceCount,
    EvidenceProblem,
    OutcomeCount,
    PanelSums,
    ScoredCell,
    ScoredUnits,
    UnitGroups,
    UnitSums,
    VariantSums,
)
from mixseek.domain.judgments import Status
from mixseek.reporting.build import summarise_scores, tally_verdicts
from mixseek.reporting.model import (
    ControlRow,
    Coverage,
    CoverageLine,
    DimensionMean,
    DimensionSummary,
    EvidenceSupport,
    GroupRate,
    HistogramBar,
    InvalidFactor,
    InvalidSpread,
    JudgeProfile,
    MatrixCell,
    MatrixRow,
    MeasureDifference,
    PanelAgreement,
    ScaleMean,
    ScoredReport,
    Tally,
    TargetProfile,
    TaskTypeProfile,
    VariantComparison,
)
from mixseek.stats.agreement import AgreementSums, ClusterSums, krippendorff_alpha, paired_difference
from mixseek.stats.intervals import clustered_interval, unit_interval
from mixseek.stats.uneven import Rate, holm_adjusted, uneven_spread_test

# What limits the scores: coverage, invalid evaluations, prompts that drift, quotes without support, disagreement.

UNEVEN_LEVEL = 0.05
_FACTORS: Mapping[str, Callable[[ScoredCell], str | None]] = {
    "judge": lambda cell: cell.judge,
    "target": lambda cell: cell.target,
    "variant": lambda cell: cell.variant,
    "language": lambda cell: cell.language,
    "method": lambda cell: "self_judge" if cell.is_control else "cross_judge",
}


def describe_coverage(counts: CoverageCounts | None) -> Coverage | None:
    """A grid needs more than one column of outputs; questions alone are what every dataset has."""
    if counts is None or counts.variants * counts.targets == 1:
        return None
    columns = tuple(dict.fromkeys((cell.target, cell.judge) for cell in counts.grid))
    rows: dict[tuple[str, str | None], dict[tuple[str | None, str], Status | None]] = defaultdict(dict)
    for cell in counts.grid:
        rows[cell.question, cell.variant][cell.target, cell.judge] = cell.status
    return Coverage(
        questions=counts.questions,
        variants=counts.variants,
        targets=counts.targets,
        judges=counts.judges,
        expected=counts.expected,
        valid=counts.valid,
        holes=tuple(counts.holes),
        columns=columns,
        lines=tuple(
            CoverageLine(question, variant, tuple(own[column] for column in columns))
            for (question, variant), own in rows.items()
        ),
        unnamed=counts.unnamed,
    )


def describe_invalid(cells: Sequence[ScoredCell], units: ScoredUnits, *, rng: Random) -> InvalidSpread:
    """Missing ones are left out: no reply came that could have been unusable. Holm over all factors tested."""
    judged = [cell for cell in cells if cell.status in (Status.VALID, Status.INVALID)]
    factors = []
    for factor, value_of in _FACTORS.items():
        groups = group_rates(judged, value_of, units.invalid.get(factor, {}))
        if len(groups) > 1:
            own = units.invalid.get(factor, {})
            test = uneven_spread_test([_sample_rate(own.get((group.name,), NO_UNITS)) for group in groups], rng=rng)
            factors.append((factor, groups, test))
    adjusted = iter(holm_adjusted([test.p_value for _, _, test in factors if test]))
    described = []
    for factor, groups, test in factors:
        p_adjusted = next(adjusted) if test else None
        is_uneven = p_adjusted is not None and p_adjusted <= UNEVEN_LEVEL
        described.append(InvalidFactor(factor, groups, test, p_adjusted, is_uneven))
    whole = group_rates(judged, lambda _: None, {(None,): units.invalid.get("", {}).get((), NO_UNITS)})
    return InvalidSpread(whole[0] if whole else GroupRate(None, 0, 0, None), tuple(described))


def _sample_rate(units: UnitSums) -> Rate:
    """More judges or repeats are no more samples: one that half of its evaluations fail counts as half a hit."""
    return Rate(round(units.total), units.scored)


def group_rates(
    cells: Sequence[ScoredCell], value_of: Callable[[ScoredCell], str | None], units: UnitGroups
) -> tuple[GroupRate, ...]:
    """By name; what names nothing comes last. Evaluations are counted, the interval counts samples."""
    counts: dict[str | None, list[int]] = defaultdict(lambda: [0, 0])
    for cell in cells:
        own = counts[value_of(cell)]
        own[0] += cell.count if cell.status is Status.INVALID else 0
        own[1] += cell.count
    return tuple(
        GroupRate(name, invalid, judged, unit_interval(units.get((name,), NO_UNITS)))
        for name, (invalid, judged) in sorted(counts.items(), key=lambda item: (item[0] is None, item[0] or ""))
    )


def compare_variants(
    sums: Sequence[VariantSums],
    cells: Sequence[ScoredCell],
    maximum: float | None,
    maxima: Mapping[str, float | None],
    units: ScoredUnits,
) -> tuple[VariantComparison, ...]:
    """Every two variants that met; dimensions that drift most come first."""
    judged = [cell for cell in cells if cell.status in (Status.VALID, Status.INVALID)]
    by_variant = group_rates(judged, lambda cell: cell.variant, units.invalid.get("variant", {}))
    rates = {group.name: group for group in by_variant}
    by_pair: dict[tuple[str, str], list[MeasureDifference]] = defaultdict(list)
    for part in sums:
        difference = paired_difference(
            ClusterSums(
                part.questions,
                part.pairs,
                part.total,
                part.total_of_squares,
                part.total_of_products,
                part.pairs_of_squares,
            )
        )
        if difference is not None:
            scale = maximum if part.measure is None else maxima.get(part.measure)
            by_pair[part.base, part.other].append(MeasureDifference(part.measure, difference, scale))
    comparisons = []
    for (base, other), measures in by_pair.items():
        total = next(measure for measure in measures if measure.measure is None)
        dimensions = sorted(
            (measure for measure in measures if measure.measure is not None),
            key=lambda measure: (-abs(measure.difference.mean), measure.measure or ""),
        )
        comparisons.append(VariantComparison(base, other, total, tuple(dimensions), rates[base], rates[other]))
    return tuple(comparisons)


def describe_evidence(
    counts: Sequence[EvidenceCount], order: Sequence[str], units: UnitGroups
) -> tuple[EvidenceSupport, ...]:
    """Per judge: all its quotes first, then dimension by dimension in the protocol's order."""
    judges = dict.fromkeys(cell.judge for cell in counts)
    lines = []
    for judge in judges:
        own = [cell for cell in counts if cell.judge == judge]
        lines.append(support_of(judge, None, own, units.get((judge,), NO_UNITS)))
        named = {cell.dimension for cell in own if cell.dimension is not None}
        dimensions = [*(name for name in order if name in named), *sorted(named.difference(order))]
        lines += [
            support_of(
                judge, name, [cell for cell in own if cell.dimension == name], units.get((judge, name), NO_UNITS)
            )
            for name in dimensions
        ]
    return tuple(lines)


def support_of(judge: str, dimension: str | None, cells: Sequence[EvidenceCount], units: UnitSums) -> EvidenceSupport:
    """A quote is found where the locator named its stage and no problem."""
    quotes = sum(cell.count for cell in cells)
    found = sum(cell.count for cell in cells if cell.problem is None)
    return EvidenceSupport(
        judge=judge,
        dimension=dimension,
        found=found,
        quotes=quotes,
        # Quotes from one sample, or on one question, are found or missed together.
        interval=clustered_interval(units),
        stages=shares([(cell.stage, cell.count) for cell in cells if cell.problem is None]),
        problems=shares([(cell.problem, cell.count) for cell in cells if cell.problem is not None]),
    )


def shares(counts: Sequence[tuple[str | None, int]]) -> tuple[Tally, ...]:
    """The most frequent first."""
    totals: dict[str, int] = defaultdict(int)
    for name, count in counts:
        totals[name or "unnamed"] += count
    whole = sum(totals.values())
    ordered = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Tally(name, count, count / whole) for name, count in ordered)


def describe_panel(sums: PanelSums | None, items: Sequence[Disagreement], unanimous: UnitSums) -> PanelAgreement | None:
    """None where no sample has two judges."""
    if sums is None:
        return None
    alpha = krippendorff_alpha(AgreementSums(sums.judgments, sums.total, sums.total_of_squares, sums.within))
    return PanelAgreement(
        samples=sums.samples,
        unanimous=sums.unanimous,
        interval=unit_interval(unanimous),
        mean_spread=sums.mean_spread,
        alpha=alpha,
        items=tuple(items),
    )


_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class ScoredInput:
    """All counts; in the order in which judges and dimensions are shown."""

    cells: Sequence[ScoredCell]
    units: ScoredUnits = field(default_factory=ScoredUnits)
    dimensions: Sequence[DimensionCell] = ()
    buckets: Sequence[DimensionBucket] = ()
    variants: Sequence[VariantSums] = ()
    evidence: Sequence[EvidenceCount] = ()
    evidence_problems: Sequence[EvidenceProblem] = ()
    panel: PanelSums | None = None
    disagreements: Sequence[Disagreement] = ()
    coverage: CoverageCounts | None = None


def build_scored(source: ScoredInput, *, rng: Random) -> ScoredReport:
    """`rng` is for permutation tests of small counts only."""
    cross = [cell for cell in source.cells if not cell.is_control]
    valid = [cell for cell in cross if cell.status is Status.VALID]
    judges = list(dict.fromkeys(cell.judge for cell in source.cells))
    targets = sorted({cell.target for cell in source.cells}, key=lambda name: (name is None, name or ""))
    maximum = only({cell.maximum for cell in valid})
    dimensions = tuple(dict.fromkeys(cell.dimension for cell in source.dimensions))
    rows = tuple(matrix_row(judge, targets, source) for judge in judges)
    return ScoredReport(
        maximum=maximum,
        dimensions=dimensions,
        critical=sum(cell.count for cell in valid if cell.is_critical),
        judges=tuple(judge_profile(judge, source, valid) for judge in judges),
        targets=tuple(target_profile(target, source, valid) for target in targets) if targets != [None] else (),
        task_types=task_types(source, valid),
        matrix=rows if targets != [None] else (),
        matrix_targets=tuple(targets),
        controls=tuple(control_rows(source)),
        coverage=describe_coverage(source.coverage),
        variants=compare_variants(source.variants, source.cells, maximum, maxima_of(source.dimensions), source.units),
        invalid=describe_invalid(source.cells, source.units, rng=rng),
        evidence=describe_evidence(source.evidence, dimensions, source.units.quotes),
        evidence_problems=tuple(source.evidence_problems),
        panel=describe_panel(source.panel, source.disagreements, source.units.unanimous),
    )


def only(values: Iterable[_Value | None]) -> _Value | None:
    """The one value that all share; None where there are several."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def maxima_of(cells: Iterable[DimensionCell]) -> dict[str, float | None]:
    """Dimension to the maximum that all samples share."""
    found: dict[str, set[float]] = defaultdict(set)
    for cell in cells:
        found[cell.dimension].add(cell.maximum)
    return {dimension: only(maxima) for dimension, maxima in found.items()}


def scale_mean(cells: Sequence[ScoredCell] | Sequence[DimensionCell], units: UnitSums) -> ScaleMean:
    """Of valid cells, as shares of the maximum, so that samples with other weights can be averaged at all."""
    return ScaleMean(
        count=sum(cell.count for cell in cells),
        mean=units.mean,
        interval=unit_interval(units),
        maximum=only(cell.maximum for cell in cells),
        samples=units.scored,
        questions=units.questions,
    )


def judge_profile(judge: str, source: ScoredInput, valid: Sequence[ScoredCell]) -> JudgeProfile:
    """One judge's marks."""
    own = [cell for cell in valid if cell.judge == judge]
    marks = [cell for cell in source.dimensions if cell.judge == judge]
    return JudgeProfile(
        judge=judge,
        critical=sum(cell.count for cell in own if cell.is_critical),
        dimensions=tuple(
            DimensionSummary(
                dimension,
                scale_mean(
                    [cell for cell in marks if cell.dimension == dimension],
                    source.units.judge_dimensions.get((judge, dimension), NO_UNITS),
                ),
                histogram(
                    [part for part in source.buckets if (part.judge, part.dimension) == (judge, dimension)],
                    [part for part in source.buckets if part.dimension == dimension],
                ),
            )
            for dimension in dict.fromkeys(cell.dimension for cell in marks)
        ),
        confidence=tally(own, lambda cell: cell.confidence),
    )


def histogram(own: Sequence[DimensionBucket], everyone: Sequence[DimensionBucket]) -> tuple[HistogramBar, ...]:
    """Every mark of the scale, noughts included; tenths of the maximum where it has too many marks."""
    total = sum(part.count for part in own)
    maxima = {part.maximum for part in everyone}
    is_fine = any(part.high > part.low for part in everyone)
    # Scales of different lengths meet only as shares.
    scale = max(maxima) if len(maxima) == 1 else 1.0
    counts: dict[float, int] = defaultdict(int)
    for part in own:
        counts[round(part.low / part.maximum, 9) if is_fine or scale == 1.0 else part.low] += part.count
    if is_fine or len(maxima) > 1:
        steps = [(step / 10, (step + 1) / 10) for step in range(10)]
        binned: dict[float, int] = defaultdict(int)
        for low, count in counts.items():
            binned[min(9, int(low * 10 + 1e-6)) / 10] += count
        edges = [(low * scale, high * scale, binned[low]) for low, high in steps]
    else:
        marks = range(int(scale) + 1)
        edges = [(float(mark), float(mark), counts[float(mark)]) for mark in marks]
    return tuple(HistogramBar(low, high, count, count / total if total else 0.0) for low, high, count in edges)


def tally(cells: Iterable[ScoredCell], name_of: Callable[[ScoredCell], str | None]) -> tuple[Tally, ...]:
    """The most frequent first; what names nothing is no bar."""
    counts: dict[str, int] = defaultdict(int)
    for cell in cells:
        name = name_of(cell)
        if name is not None:
            counts[name] += cell.count
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Tally(name, count, count / total) for name, count in ordered)


def dimension_means(cells: Sequence[DimensionCell], group: str | None, units: UnitGroups) -> tuple[DimensionMean, ...]:
    """In the protocol's order; `units` are by the group's name and dimension."""
    return tuple(
        DimensionMean(
            dimension,
            scale_mean(
                [cell for cell in cells if cell.dimension == dimension], units.get((group, dimension), NO_UNITS)
            ),
        )
        for dimension in dict.fromkeys(cell.dimension for cell in cells)
    )


def target_profile(target: str | None, source: ScoredInput, valid: Sequence[ScoredCell]) -> TargetProfile:
    """One target under all judges but itself."""
    own = [cell for cell in valid if cell.target == target]
    return TargetProfile(
        target=target,
        total=scale_mean(own, source.units.targets.get((target,), NO_UNITS)),
        dimensions=dimension_means(
            [cell for cell in source.dimensions if cell.target == target], target, source.units.target_dimensions
        ),
        verdicts=tally_verdicts(outcome_cells(own)),
        critical=sum(cell.count for cell in own if cell.is_critical),
    )


def task_types(source: ScoredInput, valid: Sequence[ScoredCell]) -> tuple[TaskTypeProfile, ...]:
    """Each in its own scale; empty where samples have none."""
    names = sorted({cell.task_type for cell in valid if cell.task_type is not None})
    return tuple(
        TaskTypeProfile(
            name,
            scale_mean(
                [cell for cell in valid if cell.task_type == name], source.units.task_types.get((name,), NO_UNITS)
            ),
            dimension_means(
                [cell for cell in source.dimensions if cell.task_type == name], name, source.units.task_type_dimensions
            ),
        )
        for name in names
    )


def outcome_cells(cells: Iterable[ScoredCell]) -> list[OutcomeCount]:
    """As the rest of the report counts."""
    return [
        OutcomeCount(
            cell.judge, None, cell.status, cell.verdict, None, cell.count, cell.score_total, cell.score_total_of_squares
        )
        for cell in cells
    ]


def matrix_row(judge: str, targets: Sequence[str | None], source: ScoredInput) -> MatrixRow:
    """One judge on every target; what it says of its own output is left to the control table."""
    return MatrixRow(judge, tuple(matrix_cell(judge, target, source) for target in targets))


def matrix_cell(judge: str, target: str | None, source: ScoredInput) -> MatrixCell:
    """Cross judgments of one pair."""
    pair = [cell for cell in source.cells if cell.judge == judge and cell.target == target]
    cross = outcome_cells(cell for cell in pair if not cell.is_control)
    return MatrixCell(
        target=target,
        score=summarise_scores(cross, source.units.pairs.get((judge, target), NO_UNITS)),
        verdicts=tally_verdicts(cross),
        same_family=any(cell.same_family for cell in pair),
        is_own_output=bool(pair) and all(cell.is_control for cell in pair),
    )


def control_rows(source: ScoredInput) -> list[ControlRow]:
    """One for each model that judged its own output."""
    own = [cell for cell in source.cells if cell.is_control]
    others = [cell for cell in source.cells if cell.status is Status.VALID and not cell.is_control]
    return [
        ControlRow(
            judge,
            target,
            summarise_scores(
                outcome_cells(cell for cell in own if (cell.judge, cell.target) == (judge, target)),
                source.units.own_outputs.get((judge, target), NO_UNITS),
            ),
            scale_mean(
                [cell for cell in others if cell.target == target], source.units.targets.get((target,), NO_UNITS)
            ),
        )
        for judge, target in dict.fromkeys((cell.judge, cell.target) for cell in own)
    ]
