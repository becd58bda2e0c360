"""From counts to what a report says about a protocol with dimensions; pure, and every mean is of cross judgments."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from mixseek.domain.counts import NO_UNITS, OutcomeCount, UnitGroups, UnitSums
from mixseek.domain.judgments import Status
from mixseek.domain.scored_counts import (
    CoverageCounts,
    DimensionBucket,
    DimensionCell,
    Disagreement,
    EvidenceCount,
    EvidenceProblem,
    PanelSums,
    ScoredCell,
    ScoredUnits,
    VariantSums,
)
from mixseek.reporting.build import summarise_scores, tally_verdicts
from mixseek.reporting.model import Tally
from mixseek.reporting.scored_checks import (
    compare_variants,
    describe_coverage,
    describe_evidence,
    describe_invalid,
    describe_panel,
)
from mixseek.reporting.scored_model import (
    ControlRow,
    DimensionMean,
    DimensionSummary,
    HistogramBar,
    JudgeProfile,
    MatrixCell,
    MatrixRow,
    ScaleMean,
    ScoredReport,
    TargetProfile,
    TaskTypeProfile,
)
from mixseek.stats.intervals import unit_interval

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
