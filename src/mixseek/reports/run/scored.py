"""What a run says of a protocol with dimensions: dimensions, matrix, coverage, drift and evidence."""

from collections.abc import Iterator, Sequence

from mixseek.analysis import model, scored_model
from mixseek.domain.judgments import Status
from mixseek.reports.sections import (
    GAP,
    QUIET,
    Cell,
    Fitting,
    Part,
    Section,
    Sentence,
    TableRows,
    Words,
    notes,
    number_cell,
)
from mixseek.reports.wording.names import name_text, problem_text
from mixseek.reports.wording.numbers import NOTHING, part_text, percent
from mixseek.reports.wording.scales import (
    counted_text,
    coverage_sentence,
    difference_interval_text,
    difference_sentence,
    difference_text,
    factor_sentence,
    hole_text,
    invalid_sentence,
    maximum_text,
    mean_text,
    range_text,
    scale_text,
    signed_text,
)

_HOLES_SHOWN = 12
_PROBLEMS_SHOWN = 8
_GRID_LINES = 40
_GRID_COLUMNS = 16
_BLOCKS = "▁▂▃▄▅▆▇█"
_MARKS = {
    Status.VALID: ("●", "green"),
    Status.INVALID: ("✗", "magenta"),
    Status.UNDECIDED: ("?", "yellow"),
    Status.MISSING: ("–", "bright_black"),
    None: ("□", "bright_black"),
}


def scored_sections(report: scored_model.ScoredReport) -> Iterator[Section]:
    confidence = [_shares(f"confidence of {profile.judge}", profile.confidence) for profile in report.judges]
    yield Section("Dimensions", [_dimension_table(report), *notes(confidence)])
    if report.targets:
        verdicts = [_shares(f"verdicts on {name_text(target.target)}", target.verdicts) for target in report.targets]
        yield Section("Targets by dimension, cross judgments only", [_target_table(report), *notes(verdicts)])
    task_types = [
        (task.task_type, _scaled(task.total), *_dimension_cells(report, task.dimensions, with_scale=True))
        for task in report.task_types
    ]
    heads = ("task type", ">total", *_dimension_heads(report))
    yield Section("Task types, each on its own scale", [TableRows(heads, task_types)])
    yield Section("Judge × target: mean total, cross judgments only", [_matrix_table(report)])
    yield Section("Self-judgments: a control, in no mean above", [_control_table(report)])
    for comparison in report.variants:
        yield Section(f"Prompt variants {comparison.base} and {comparison.other}", list(_variant_parts(comparison)))
    if report.coverage:
        yield Section("Coverage", list(_coverage_parts(report.coverage)))
    yield Section("Invalid evaluations", list(_invalid_parts(report.invalid)))
    if report.evidence:
        yield Section("Evidence", list(_evidence_parts(report)))
    yield Section(None, [GAP])


def _shares(title: str, tallies: Sequence[model.Tally]) -> str:
    shares = ", ".join(f"{part.name} {percent(part.share)}" for part in tallies)
    return f"{title}: {shares}" if shares else ""


def _mean_cells(score: scored_model.ScaleMean) -> tuple[Cell, Cell]:
    return (mean_text(score), "bold"), (range_text(score.interval, score.maximum), QUIET)


def _dimension_table(report: scored_model.ScoredReport) -> TableRows:
    """A line for each judge and dimension, with its shape in small."""
    rows = []
    for profile in report.judges:
        for number, item in enumerate(profile.dimensions):
            mean, interval = _mean_cells(item.score)
            name = profile.judge if number == 0 else ""
            scale, shape = (maximum_text(item.score.maximum), QUIET), (_spark(item), "blue")
            rows.append((name, item.dimension, mean, scale, interval, shape, counted_text(item.score)))
    return TableRows(("judge", "dimension", ">mean", "", ">95% interval", "low to high", ">samples"), rows)


def _spark(item: scored_model.DimensionSummary) -> str:
    """The histogram in one line; a mark that never fell is a dot."""
    top = max((bar.count for bar in item.bars), default=0)
    return "".join(_BLOCKS[max(0, round(bar.count / top * 8) - 1)] if bar.count else "·" for bar in item.bars)


def _dimension_heads(report: scored_model.ScoredReport) -> list[str]:
    """A word a line, so that four long names fit beside each other."""
    return [">" + name.lower().replace("_", "\n") for name in report.dimensions]


def _dimension_cells(
    report: scored_model.ScoredReport, means: Sequence[scored_model.DimensionMean], *, with_scale: bool = False
) -> list[Cell]:
    """Means in the report's order, with their scale: `41.0 of 60`; a dash where the group has no such marks."""
    scores = {item.dimension: item.score for item in means}
    return [_scaled(scores.get(name), with_scale=with_scale) for name in report.dimensions]


def _scaled(score: scored_model.ScaleMean | None, *, with_scale: bool = True) -> str:
    if score is None or score.mean is None:
        return NOTHING
    return mean_text(score) + (f" {maximum_text(score.maximum)}" if with_scale else "")


def _target_table(report: scored_model.ScoredReport) -> TableRows:
    rows = []
    for target in report.targets:
        total = (*_mean_cells(target.total), counted_text(target.total))
        marks = _dimension_cells(report, target.dimensions)
        critical = [number_cell(target.critical, "red")] if report.has_gates else []
        rows.append((name_text(target.target), *total, *marks, *critical))
    critical_head = [">critical"] if report.has_gates else []
    heads = ("target", ">total", ">95% interval", ">samples", *_dimension_heads(report), *critical_head)
    return TableRows(heads, rows)


def _matrix_table(report: scored_model.ScoredReport) -> TableRows:
    """Rows judge, columns are judged."""
    heads = [f">{name_text(target)}" for target in report.matrix_targets]
    rows: list[Sequence[Cell]] = [
        (row.judge, *(_matrix_cell(cell, report.maximum) for cell in row.cells)) for row in report.matrix
    ]
    return TableRows(("judge \\ target", *heads), rows)


def _matrix_cell(cell: scored_model.MatrixCell, maximum: float | None) -> Cell:
    """Mean, interval and number in three lines; nothing where a model would judge itself."""
    if cell.is_own_output:
        return "control", QUIET
    score = cell.score
    if score.mean is None:
        return f"{NOTHING}\n\nn=0", QUIET
    pieces = [(scale_text(score.mean, maximum), "bold")]
    if cell.same_family:
        pieces.append((" same family", "yellow"))
    if score.interval:
        pieces.append((f"\n{range_text(score.interval, maximum)}", QUIET))
    pieces.append((f"\nn={score.samples}", QUIET))
    if score.counts.unscored:
        pieces.append((f" +{score.counts.unscored} without", "magenta"))
    return Words(pieces)


def _control_table(report: scored_model.ScoredReport) -> TableRows:
    rows = []
    for row in report.controls:
        of_itself, counts = scale_text(row.own.mean, report.maximum), row.own.counts
        others = mean_text(row.others), f"{row.others.count:,}"
        own_cells = of_itself, f"{counts.valid:,}", number_cell(counts.invalid, "magenta")
        rows.append((row.judge, *own_cells, *others, signed_text(row.difference, row.others.maximum)))
    return TableRows(("model", ">of itself", ">n", ">invalid", ">by others", ">n", ">difference"), rows)


def _variant_parts(comparison: scored_model.VariantComparison) -> Iterator[Part]:
    yield Sentence(difference_sentence(comparison), "")
    rows = []
    for item in comparison.dimensions:
        style = "bold yellow" if item.difference.is_clear else QUIET
        drift = (difference_text(item), "bold"), (difference_interval_text(item), style)
        rows.append((item.measure or "", *drift))
    yield TableRows(("dimension", ">difference", ">95% interval"), rows)
    rates = []
    for rate in (comparison.base_invalid, comparison.other_invalid):
        share, interval = part_text(rate.invalid, rate.judged), range_text(rate.interval)
        rates.append(f"{name_text(rate.name)} {share} ({interval})")
    yield Sentence(f"invalid: {', '.join(rates)}")


def _coverage_parts(coverage: scored_model.Coverage) -> Iterator[Part]:
    """A grid where it fits, and the holes by name."""
    yield Sentence(coverage_sentence(coverage), "")
    if coverage.lines and len(coverage.lines) <= _GRID_LINES and len(coverage.columns) <= _GRID_COLUMNS:
        marks = "● valid  ✗ invalid  – no reply  □ no output in the dataset"
        # The names of the rows come first: without room columns are numbered, and named below.
        numbered = list(enumerate(coverage.columns, start=1))
        named = "".join(f"{number} {name_text(target)} by {judge}\n" for number, (target, judge) in numbered)
        yield Fitting(
            _coverage_grid(coverage, [f"{name_text(target)}\n{judge}" for target, judge in coverage.columns]),
            Sentence(f"columns: target over judge · {marks}"),
            (_coverage_grid(coverage, [str(number) for number, _ in numbered]), Sentence(f"{named}{marks}")),
        )
    yield _listing([hole_text(cell) for cell in coverage.holes], _HOLES_SHOWN, coverage.holes_total)


def _coverage_grid(coverage: scored_model.Coverage, heads: Sequence[str]) -> TableRows:
    rows: list[Sequence[Cell]] = [
        (line.question, line.variant or "", *(_MARKS[status] for status in line.statuses)) for line in coverage.lines
    ]
    return TableRows(("question", "variant", *(f">{head}" for head in heads)), rows)


def _listing(lines: Sequence[str], limit: int, total: int) -> Sentence:
    more = [(f"\n… {total - limit:,} more", QUIET)] if total > limit else []
    return Sentence(Words(["\n".join(lines[:limit]), *more]), "")


def _invalid_parts(spread: scored_model.InvalidSpread) -> Iterator[Part]:
    yield Sentence(invalid_sentence(spread), "yellow" if spread.uneven else "")
    if not spread.whole.invalid:
        return
    rows = []
    for factor in spread.factors:
        for number, group in enumerate(factor.groups):
            name = (factor.factor if number == 0 else "", "bold"), name_text(group.name)
            share = f"{group.judged:,}", part_text(group.invalid, group.judged)
            interval = (range_text(group.interval), QUIET)
            rows.append((*name, number_cell(group.invalid, "magenta"), *share, interval))
    yield TableRows(("by", "", ">invalid", ">of", ">share", ">95% interval"), rows)
    for factor in spread.factors:
        yield Sentence(f"{factor.factor}: {factor_sentence(factor)}", "" if factor.is_uneven else QUIET)


def _evidence_parts(report: scored_model.ScoredReport) -> Iterator[Part]:
    rows = []
    for support in report.evidence:
        how = [f"{part.name} {part.count}" for part in support.stages]
        how += [f"{problem_text(part.name)} {part.count}" for part in support.problems]
        judge = (support.judge if support.dimension is None else "", "bold")
        counts = f"{support.found:,}", f"{support.quotes:,}", part_text(support.found, support.quotes)
        interval = (range_text(support.interval), QUIET)
        rows.append((judge, support.dimension or "all", *counts, interval, ", ".join(how)))
    yield TableRows(("judge", "dimension", ">found", ">of", ">share", ">95% interval", "how, or why not"), rows)
    if report.evidence_problems:
        lines = [
            f"{item.id} · {item.judge} · {name_text(item.dimension)}: {problem_text(item.problem)}: “{item.quote}”"
            for item in report.evidence_problems
        ]
        total = sum(part.count for item in report.evidence if item.dimension is None for part in item.problems)
        yield _listing(lines, _PROBLEMS_SHOWN, total)
