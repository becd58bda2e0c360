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
from mixseek.reporting.build import grouped, in_order, summarise_scores, tally, tally_verdicts
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
    TargetProfile,
    TaskTypeProfile,
    VariantComparison,
)
from mixseek.stats.agreement import AgreementSums, ClusterSums, krippendorff_alpha, paired_difference
from mixseek.stats.intervals import clustered_interval, unit_interval
from mixseek.stats.uneven import Rate, holm_adjusted, uneven_spread_test

UNEVEN_LEVEL = 0.05
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
    valid = [cell for cell in source.cells if cell.status is Status.VALID and not cell.is_control]
    judges = list(dict.fromkeys(cell.judge for cell in source.cells))
    targets = in_order({cell.target for cell in source.cells})
    has_targets = targets != [None]
    maximum = _only(cell.maximum for cell in valid)
    dimensions = tuple(dict.fromkeys(cell.dimension for cell in source.dimensions))
    return ScoredReport(
        maximum=maximum,
        dimensions=dimensions,
        critical=_count_critical(valid),
        judges=tuple(_profile_judge(judge, source, valid) for judge in judges),
        targets=tuple(_profile_target(target, source, valid) for target in targets) if has_targets else (),
        task_types=_profile_task_types(source, valid),
        matrix=tuple(
            MatrixRow(judge, tuple(_matrix_cell(judge, target, source) for target in targets))
            for judge in judges
            if has_targets
        ),
        matrix_targets=tuple(targets),
        controls=_compare_with_others(source, valid),
        coverage=_describe_coverage(source.coverage),
        variants=_compare_variants(source, maximum),
        invalid=_describe_invalid(source.cells, source.units, rng),
        evidence=_describe_evidence(source.evidence, dimensions, source.units.quotes),
        evidence_problems=tuple(source.evidence_problems),
        panel=_describe_panel(source.panel, source.disagreements, source.units.unanimous),
    )


def _only(values: Iterable[_Value | None]) -> _Value | None:
    """The one value that all share; None where there are several."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def _count_critical(cells: Iterable[ScoredCell]) -> int:
    return sum(cell.count for cell in cells if cell.is_critical)


# Means: by judge, target and task type, and judge by target.


def _scale_mean(cells: Sequence[ScoredCell] | Sequence[DimensionCell], units: UnitSums) -> ScaleMean:
    """Of valid cells, as shares of the maximum, so that samples with other weights can be averaged at all."""
    return ScaleMean(
        count=sum(cell.count for cell in cells),
        mean=units.mean,
        interval=unit_interval(units),
        maximum=_only(cell.maximum for cell in cells),
        samples=units.scored,
        questions=units.questions,
    )


def _dimension_means(cells: Iterable[DimensionCell], group: str | None, units: UnitGroups) -> tuple[DimensionMean, ...]:
    """In the protocol's order; `units` are by the group's name and dimension."""
    return tuple(
        DimensionMean(dimension, _scale_mean(own, units.get((group, dimension), NO_UNITS)))
        for dimension, own in grouped(cells, lambda cell: cell.dimension).items()
    )


def _profile_judge(judge: str, source: ScoredInput, valid: Sequence[ScoredCell]) -> JudgeProfile:
    own = [cell for cell in valid if cell.judge == judge]
    marks = [cell for cell in source.dimensions if cell.judge == judge]
    return JudgeProfile(
        judge=judge,
        critical=_count_critical(own),
        dimensions=tuple(
            DimensionSummary(
                item.dimension,
                item.score,
                _draw_histogram(judge, [part for part in source.buckets if part.dimension == item.dimension]),
            )
            for item in _dimension_means(marks, judge, source.units.judge_dimensions)
        ),
        confidence=tally((cell.confidence, cell.count) for cell in own),
    )


def _draw_histogram(judge: str, buckets: Sequence[DimensionBucket]) -> tuple[HistogramBar, ...]:
    """Of one judge's marks, on the scale that all judges' have.

    Every mark has a bar, noughts included; tenths of the maximum where there are too many marks, or several scales,
    which meet only as shares.
    """
    own = [part for part in buckets if part.judge == judge]
    total = sum(part.count for part in own) or 1
    maximum = _only(part.maximum for part in buckets)
    counts: dict[int, int] = defaultdict(int)
    if maximum is None or any(part.high > part.low for part in buckets):
        for part in own:
            counts[min(9, int(part.low / part.maximum * 10 + 1e-6))] += part.count
        scale = maximum or 1.0
        edges = [(step / 10 * scale, (step + 1) / 10 * scale, counts[step]) for step in range(10)]
    else:
        for part in own:
            counts[int(part.low)] += part.count
        edges = [(float(mark), float(mark), counts[mark]) for mark in range(int(maximum) + 1)]
    return tuple(HistogramBar(low, high, count, count / total) for low, high, count in edges)


def _profile_target(target: str | None, source: ScoredInput, valid: Sequence[ScoredCell]) -> TargetProfile:
    """One target under all judges but itself."""
    own = [cell for cell in valid if cell.target == target]
    marks = [cell for cell in source.dimensions if cell.target == target]
    return TargetProfile(
        target=target,
        total=_scale_mean(own, source.units.targets.get((target,), NO_UNITS)),
        dimensions=_dimension_means(marks, target, source.units.target_dimensions),
        verdicts=tally_verdicts(_outcome_counts(own)),
        critical=_count_critical(own),
    )


def _profile_task_types(source: ScoredInput, valid: Sequence[ScoredCell]) -> tuple[TaskTypeProfile, ...]:
    """Each in its own scale; empty where samples have none."""
    units = source.units
    return tuple(
        TaskTypeProfile(
            name,
            _scale_mean([cell for cell in valid if cell.task_type == name], units.task_types.get((name,), NO_UNITS)),
            _dimension_means(
                (cell for cell in source.dimensions if cell.task_type == name), name, units.task_type_dimensions
            ),
        )
        for name in sorted({cell.task_type for cell in valid if cell.task_type is not None})
    )


def _outcome_counts(cells: Iterable[ScoredCell]) -> list[OutcomeCount]:
    """As the rest of the report counts."""
    return [
        OutcomeCount(
            cell.judge, None, cell.status, cell.verdict, None, cell.count, cell.score_total, cell.score_total_of_squares
        )
        for cell in cells
    ]


def _matrix_cell(judge: str, target: str | None, source: ScoredInput) -> MatrixCell:
    """Cross judgments of one pair; what a judge says of its own output is left to the control table."""
    pair = [cell for cell in source.cells if cell.judge == judge and cell.target == target]
    cross = _outcome_counts(cell for cell in pair if not cell.is_control)
    return MatrixCell(
        target=target,
        score=summarise_scores(cross, source.units.pairs.get((judge, target), NO_UNITS)),
        verdicts=tally_verdicts(cross),
        same_family=any(cell.same_family for cell in pair),
        is_own_output=bool(pair) and all(cell.is_control for cell in pair),
    )


def _compare_with_others(source: ScoredInput, valid: Sequence[ScoredCell]) -> tuple[ControlRow, ...]:
    """One for each model that judged its own output."""
    pairs = grouped((cell for cell in source.cells if cell.is_control), lambda cell: (cell.judge, cell.target))
    return tuple(
        ControlRow(
            judge,
            target,
            summarise_scores(_outcome_counts(own), source.units.own_outputs.get((judge, target), NO_UNITS)),
            _scale_mean(
                [cell for cell in valid if cell.target == target], source.units.targets.get((target,), NO_UNITS)
            ),
        )
        for (judge, target), own in pairs.items()
    )


# What limits the scores: coverage, invalid evaluations, prompts that drift, quotes without support, disagreement.


def _describe_coverage(counts: CoverageCounts | None) -> Coverage | None:
    """A grid needs more than one column of outputs; questions alone are what every dataset has."""
    if counts is None or counts.variants * counts.targets == 1:
        return None
    columns = tuple(dict.fromkeys((cell.target, cell.judge) for cell in counts.grid))
    lines = []
    for (question, variant), own in grouped(counts.grid, lambda cell: (cell.question, cell.variant)).items():
        statuses = {(cell.target, cell.judge): cell.status for cell in own}
        lines.append(CoverageLine(question, variant, tuple(statuses[column] for column in columns)))
    return Coverage(
        questions=counts.questions,
        variants=counts.variants,
        targets=counts.targets,
        judges=counts.judges,
        expected=counts.expected,
        valid=counts.valid,
        holes=tuple(counts.holes),
        columns=columns,
        lines=tuple(lines),
        unnamed=counts.unnamed,
    )


def _describe_invalid(cells: Sequence[ScoredCell], units: ScoredUnits, rng: Random) -> InvalidSpread:
    """Missing ones are left out: no reply came that could have been unusable. Holm over all factors tested."""
    factors = []
    for factor, value_of in _FACTORS.items():
        own = units.invalid.get(factor, {})
        groups = _invalid_rates(cells, value_of, own)
        if len(groups) > 1:
            # More judges or repeats are no more samples: one that half of its evaluations fail counts as half a hit.
            sums = [own.get((group.name,), NO_UNITS) for group in groups]
            test = uneven_spread_test([Rate(round(one.total), one.scored) for one in sums], rng=rng)
            factors.append((factor, groups, test))
    adjusted = iter(holm_adjusted([test.p_value for _, _, test in factors if test]))
    described = []
    for factor, groups, test in factors:
        p_adjusted = next(adjusted) if test else None
        is_uneven = p_adjusted is not None and p_adjusted <= UNEVEN_LEVEL
        described.append(InvalidFactor(factor, groups, test, p_adjusted, is_uneven))
    whole = _invalid_rates(cells, lambda _: None, {(None,): units.invalid.get("", {}).get((), NO_UNITS)})
    return InvalidSpread(whole[0] if whole else GroupRate(None, 0, 0, None), tuple(described))


def _invalid_rates(
    cells: Iterable[ScoredCell], value_of: Callable[[ScoredCell], str | None], units: UnitGroups
) -> tuple[GroupRate, ...]:
    """By name. Evaluations that brought a reply are counted, the interval counts samples."""
    named = grouped((cell for cell in cells if cell.status in (Status.VALID, Status.INVALID)), value_of)
    return tuple(
        GroupRate(
            name,
            sum(cell.count for cell in named[name] if cell.status is Status.INVALID),
            sum(cell.count for cell in named[name]),
            unit_interval(units.get((name,), NO_UNITS)),
        )
        for name in in_order(named)
    )


def _compare_variants(source: ScoredInput, maximum: float | None) -> tuple[VariantComparison, ...]:
    """Every two variants that met; dimensions that drift most come first."""
    by_variant = _invalid_rates(source.cells, lambda cell: cell.variant, source.units.invalid.get("variant", {}))
    rates = {group.name: group for group in by_variant}
    marks = grouped(source.dimensions, lambda cell: cell.dimension)
    scales = {dimension: _only(cell.maximum for cell in own) for dimension, own in marks.items()}
    comparisons = []
    for (base, other), parts in grouped(source.variants, lambda part: (part.base, part.other)).items():
        measures = [
            MeasureDifference(part.measure, difference, maximum if part.measure is None else scales.get(part.measure))
            for part in parts
            if (difference := paired_difference(_cluster_sums(part))) is not None
        ]
        # The total comes first: it has no name.
        measures.sort(key=lambda item: (item.measure is not None, -abs(item.difference.mean), item.measure or ""))
        if measures:
            comparisons.append(
                VariantComparison(base, other, measures[0], tuple(measures[1:]), rates[base], rates[other])
            )
    return tuple(comparisons)


def _cluster_sums(part: VariantSums) -> ClusterSums:
    """Pairs of one question are no independent pairs."""
    sums = (part.total, part.total_of_squares, part.total_of_products, part.pairs_of_squares)
    return ClusterSums(part.questions, part.pairs, *sums)


def _describe_evidence(
    counts: Sequence[EvidenceCount], order: Sequence[str], units: UnitGroups
) -> tuple[EvidenceSupport, ...]:
    """Per judge: all its quotes first, then dimension by dimension in the protocol's order."""
    lines = []
    for judge, own in grouped(counts, lambda cell: cell.judge).items():
        lines.append(_support_of(judge, None, own, units.get((judge,), NO_UNITS)))
        named = grouped((cell for cell in own if cell.dimension is not None), lambda cell: cell.dimension or "")
        dimensions = [*(name for name in order if name in named), *sorted(named.keys() - set(order))]
        lines += [_support_of(judge, name, named[name], units.get((judge, name), NO_UNITS)) for name in dimensions]
    return tuple(lines)


def _support_of(judge: str, dimension: str | None, cells: Sequence[EvidenceCount], units: UnitSums) -> EvidenceSupport:
    """A quote is found where the locator named its stage and no problem."""
    return EvidenceSupport(
        judge=judge,
        dimension=dimension,
        found=sum(cell.count for cell in cells if cell.problem is None),
        quotes=sum(cell.count for cell in cells),
        # Quotes from one sample, or on one question, are found or missed together.
        interval=clustered_interval(units),
        stages=tally((cell.stage or "unnamed", cell.count) for cell in cells if cell.problem is None),
        problems=tally((cell.problem, cell.count) for cell in cells),
    )


def _describe_panel(
    sums: PanelSums | None, items: Sequence[Disagreement], unanimous: UnitSums
) -> PanelAgreement | None:
    """None where no sample has two judges."""
    if sums is None:
        return None
    return PanelAgreement(
        samples=sums.samples,
        unanimous=sums.unanimous,
        interval=unit_interval(unanimous),
        mean_spread=sums.mean_spread,
        alpha=krippendorff_alpha(AgreementSums(sums.judgments, sums.total, sums.total_of_squares, sums.within)),
        items=tuple(items),
    )
