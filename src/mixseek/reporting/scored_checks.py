"""What limits the scores: coverage, invalid evaluations, prompts that drift, quotes without support, disagreement."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random

from mixseek.domain.counts import NO_UNITS, UnitGroups, UnitSums
from mixseek.domain.judgments import Status
from mixseek.domain.scored_counts import (
    CoverageCounts,
    Disagreement,
    EvidenceCount,
    PanelSums,
    ScoredCell,
    ScoredUnits,
    VariantSums,
)
from mixseek.reporting.model import Tally
from mixseek.reporting.scored_model import (
    Coverage,
    CoverageLine,
    EvidenceSupport,
    GroupRate,
    InvalidFactor,
    InvalidSpread,
    MeasureDifference,
    PanelAgreement,
    VariantComparison,
)
from mixseek.stats.agreement import AgreementSums, krippendorff_alpha
from mixseek.stats.intervals import clustered_interval, unit_interval
from mixseek.stats.paired import ClusterSums, paired_difference
from mixseek.stats.uneven import Rate, holm_adjusted, uneven_spread_test

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
