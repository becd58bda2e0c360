"""The report of a protocol with dimensions on a terminal: dimensions, matrix, coverage, drift and evidence."""

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mixseek.analysis import model, scored_model
from mixseek.domain.judgments import Status
from mixseek.reports import wording
from mixseek.reports.render.tables import Cell, fitted, print_section, table_of
from mixseek.reports.sections import QUIET, number_cell
from mixseek.reports.wording import NOTHING, name_text, percent, problem_text
from mixseek.text.visible import make_visible

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


def print_scored(report: scored_model.ScoredReport, console: Console) -> None:
    confidence = [_shares(f"confidence of {profile.judge}", profile.confidence) for profile in report.judges]
    print_section(console, "Dimensions", _dimension_table(report), *filter(None, confidence))
    if report.targets:
        verdicts = [_shares(f"verdicts on {name_text(one.target)}", one.verdicts) for one in report.targets]
        print_section(
            console, "Targets by dimension, cross judgments only", _target_table(report), *filter(None, verdicts)
        )
    task_types = [
        (one.task_type, _scaled(one.total), *_dimension_cells(report, one.dimensions, with_scale=True))
        for one in report.task_types
    ]
    heads = ("task type", ">total", *_dimension_heads(report))
    print_section(console, "Task types, each on its own scale", table_of(heads, task_types))
    print_section(console, "Judge × target: mean total, cross judgments only", _matrix_table(report))
    print_section(console, "Self-judgments: a control, in no mean above", _control_table(report))
    for comparison in report.variants:
        print_section(console, f"Prompt variants {comparison.base} and {comparison.other}", *_variant_view(comparison))
    if report.coverage:
        print_section(console, "Coverage", *_coverage_view(report.coverage, console))
    print_section(console, "Invalid evaluations", *_invalid_view(report.invalid))
    if report.evidence:
        print_section(console, "Evidence", *_evidence_view(report))
    console.print()


def _shares(title: str, tallies: Sequence[model.Tally]) -> Text | None:
    told = ", ".join(f"{part.name} {percent(part.share)}" for part in tallies)
    return Text(make_visible(f"{title}: {told}"), style=QUIET) if told else None


def _mean_cells(score: scored_model.ScaleMean) -> tuple[Cell, Cell]:
    return (wording.mean_text(score), "bold"), (wording.range_text(score.interval, score.maximum), QUIET)


def _dimension_table(report: scored_model.ScoredReport) -> Table:
    """A line for each judge and dimension, with its shape in small."""
    rows = []
    for profile in report.judges:
        for number, item in enumerate(profile.dimensions):
            mean, interval = _mean_cells(item.score)
            name = profile.judge if number == 0 else ""
            scale, shape = (wording.maximum_text(item.score.maximum), QUIET), (_spark(item), "blue")
            rows.append((name, item.dimension, mean, scale, interval, shape, wording.counted_text(item.score)))
    return table_of(("judge", "dimension", ">mean", "", ">95% interval", "low to high", ">samples"), rows)


def _spark(item: scored_model.DimensionSummary) -> str:
    """The histogram in one line; a mark that never fell is a dot."""
    top = max((bar.count for bar in item.bars), default=0)
    return "".join(_BLOCKS[max(0, round(bar.count / top * 8) - 1)] if bar.count else "·" for bar in item.bars)


def _dimension_heads(report: scored_model.ScoredReport) -> list[str]:
    """A word a line, so that four long names fit beside each other."""
    return [">" + make_visible(name.lower()).replace("_", "\n") for name in report.dimensions]


def _dimension_cells(
    report: scored_model.ScoredReport, means: Sequence[scored_model.DimensionMean], *, with_scale: bool = False
) -> list[Cell]:
    """In the report's order; a dash where the group has no such marks. With its scale: `41.0 of 60`."""
    scores = {item.dimension: item.score for item in means}
    return [_scaled(scores.get(name), with_scale=with_scale) for name in report.dimensions]


def _scaled(score: scored_model.ScaleMean | None, *, with_scale: bool = True) -> str:
    if score is None or score.mean is None:
        return NOTHING
    return wording.mean_text(score) + (f" {wording.maximum_text(score.maximum)}" if with_scale else "")


def _target_table(report: scored_model.ScoredReport) -> Table:
    rows = []
    for one in report.targets:
        total = (*_mean_cells(one.total), wording.counted_text(one.total))
        marks = _dimension_cells(report, one.dimensions)
        critical = [number_cell(one.critical, "red")] if report.has_gates else []
        rows.append((name_text(one.target), *total, *marks, *critical))
    critical_head = [">critical"] if report.has_gates else []
    heads = ("target", ">total", ">95% interval", ">samples", *_dimension_heads(report), *critical_head)
    return table_of(heads, rows)


def _matrix_table(report: scored_model.ScoredReport) -> Table:
    """Rows judge, columns are judged."""
    heads = [f">{make_visible(name_text(target))}" for target in report.matrix_targets]
    rows: list[Sequence[Cell]] = [
        (row.judge, *(_matrix_text(cell, report.maximum) for cell in row.cells)) for row in report.matrix
    ]
    return table_of(("judge \\ target", *heads), rows)


def _matrix_text(cell: scored_model.MatrixCell, maximum: float | None) -> Text:
    """Mean, interval and number in three lines; nothing where a model would judge itself."""
    if cell.is_own_output:
        return Text("control", style=QUIET)
    score = cell.score
    if score.mean is None:
        return Text(f"{NOTHING}\n\nn=0", style=QUIET)
    text = Text(wording.scale_text(score.mean, maximum), style="bold")
    if cell.same_family:
        text.append(" same family", style="yellow")
    if score.interval:
        text.append(f"\n{wording.range_text(score.interval, maximum)}", style=QUIET)
    text.append(f"\nn={score.samples}", style=QUIET)
    if score.counts.unscored:
        text.append(f" +{score.counts.unscored} without", style="magenta")
    return text


def _control_table(report: scored_model.ScoredReport) -> Table:
    rows = []
    for row in report.controls:
        of_itself, counts = wording.scale_text(row.own.mean, report.maximum), row.own.counts
        others = wording.mean_text(row.others), f"{row.others.count:,}"
        own = of_itself, f"{counts.valid:,}", number_cell(counts.invalid, "magenta")
        rows.append((row.judge, *own, *others, wording.signed_text(row.difference, row.others.maximum)))
    return table_of(("model", ">of itself", ">n", ">invalid", ">by others", ">n", ">difference"), rows)


def _variant_view(comparison: scored_model.VariantComparison) -> Iterable[RenderableType]:
    yield Text(make_visible(wording.difference_sentence(comparison)))
    rows = []
    for item in comparison.dimensions:
        style = "bold yellow" if item.difference.is_clear else QUIET
        drift = (wording.difference_text(item), "bold"), (wording.difference_interval_text(item), style)
        rows.append((item.measure or "", *drift))
    yield table_of(("dimension", ">difference", ">95% interval"), rows)
    rates = []
    for one in (comparison.base_invalid, comparison.other_invalid):
        share, interval = wording.part_text(one.invalid, one.judged), wording.range_text(one.interval)
        rates.append(f"{name_text(one.name)} {share} ({interval})")
    yield Text(make_visible(f"invalid: {', '.join(rates)}"), style=QUIET)


def _coverage_view(coverage: scored_model.Coverage, console: Console) -> Iterable[RenderableType]:
    """A grid where it fits, and the holes by name."""
    yield Text(wording.coverage_sentence(coverage))
    if coverage.lines and len(coverage.lines) <= _GRID_LINES and len(coverage.columns) <= _GRID_COLUMNS:
        grid = _coverage_grid(coverage, [make_visible(f"{name_text(own)}\n{judge}") for own, judge in coverage.columns])
        legend = "columns: target over judge · "
        if fitted(grid, console.width - 2) is not grid:
            # The names of the rows come first: columns are numbered, and named below.
            numbered = list(enumerate(coverage.columns, start=1))
            grid = _coverage_grid(coverage, [str(number) for number, _ in numbered])
            legend = "".join(f"{number} {name_text(target)} by {judge}\n" for number, (target, judge) in numbered)
        yield grid
        marks = "● valid  ✗ invalid  – no reply  □ no output in the dataset"
        yield Text(make_visible(f"{legend}{marks}"), style=QUIET)
    yield _listing([wording.hole_text(cell) for cell in coverage.holes], _HOLES_SHOWN, coverage.holes_total)


def _coverage_grid(coverage: scored_model.Coverage, heads: Sequence[str]) -> Table:
    rows: list[Sequence[Cell]] = [
        (line.question, line.variant or "", *(_MARKS[status] for status in line.statuses)) for line in coverage.lines
    ]
    return table_of(("question", "variant", *(f">{head}" for head in heads)), rows)


def _listing(lines: Sequence[str], limit: int, total: int) -> Text:
    text = Text("\n".join(make_visible(line) for line in lines[:limit]))
    if total > limit:
        text.append(f"\n… {total - limit:,} more", style=QUIET)
    return text


def _invalid_view(spread: scored_model.InvalidSpread) -> Iterable[RenderableType]:
    yield Text(wording.invalid_sentence(spread), style="yellow" if spread.uneven else "")
    if not spread.whole.invalid:
        return
    rows = []
    for factor in spread.factors:
        for number, group in enumerate(factor.groups):
            name = (factor.factor if number == 0 else "", "bold"), name_text(group.name)
            share = f"{group.judged:,}", wording.part_text(group.invalid, group.judged)
            interval = (wording.range_text(group.interval), QUIET)
            rows.append((*name, number_cell(group.invalid, "magenta"), *share, interval))
    yield table_of(("by", "", ">invalid", ">of", ">share", ">95% interval"), rows)
    for factor in spread.factors:
        yield Text(f"{factor.factor}: {wording.factor_sentence(factor)}", style="" if factor.is_uneven else QUIET)


def _evidence_view(report: scored_model.ScoredReport) -> Iterable[RenderableType]:
    rows = []
    for support in report.evidence:
        how = [f"{part.name} {part.count}" for part in support.stages]
        how += [f"{problem_text(part.name)} {part.count}" for part in support.problems]
        judge = (support.judge if support.dimension is None else "", "bold")
        found = f"{support.found:,}", f"{support.quotes:,}", wording.part_text(support.found, support.quotes)
        interval = (wording.range_text(support.interval), QUIET)
        rows.append((judge, support.dimension or "all", *found, interval, ", ".join(how)))
    yield table_of(("judge", "dimension", ">found", ">of", ">share", ">95% interval", "how, or why not"), rows)
    if report.evidence_problems:
        lines = [
            f"{item.id} · {item.judge} · {name_text(item.dimension)}: {problem_text(item.problem)}: “{item.quote}”"
            for item in report.evidence_problems
        ]
        total = sum(part.count for item in report.evidence if item.dimension is None for part in item.problems)
        yield _listing(lines, _PROBLEMS_SHOWN, total)
