"""Dimensions, matrix, coverage, drift and evidence on a terminal; long lists end with how many are left out."""

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mixseek.domain.judgments import Status
from mixseek.reporting import wording as words
from mixseek.reporting.model import (
    Coverage,
    DimensionMean,
    DimensionSummary,
    InvalidSpread,
    MatrixCell,
    PanelAgreement,
    Quote,
    ScaleMean,
    ScoredDetail,
    ScoredReport,
    Tally,
    VariantComparison,
)
from mixseek.reporting.tables import QUIET, Cell, fitted, number_cell, print_section, table_of
from mixseek.reporting.wording import NOTHING, make_visible, name_text, percent, plain_number, problem_text

_BLOCKS = "▁▂▃▄▅▆▇█"
_HOLES_SHOWN = 12
_ITEMS_SHOWN = 8
_PROBLEMS_SHOWN = 8
_GRID_LINES = 40
_GRID_COLUMNS = 16
_MARKS = {
    Status.VALID: ("●", "green"),
    Status.INVALID: ("✗", "magenta"),
    Status.UNDECIDED: ("?", "yellow"),
    Status.MISSING: ("–", "bright_black"),
    None: ("□", "bright_black"),
}


def print_scored(report: ScoredReport, console: Console) -> None:
    """Section by section, what is empty left out."""
    confidence = [_shares(f"confidence of {profile.judge}", profile.confidence) for profile in report.judges]
    print_section(console, "Dimensions", _dimension_table(report), *filter(None, confidence))
    if report.targets:
        verdicts = [_shares(f"verdicts on {name_text(one.target)}", one.verdicts) for one in report.targets]
        print_section(console, "Targets, cross judgments only", _target_table(report), *filter(None, verdicts))
    print_section(console, "Task types, each on its own scale", _task_type_table(report))
    print_section(console, "Judge × target: mean total, cross judgments only", _matrix_table(report))
    print_section(console, "Self-judgments: a control, in no mean above", _control_table(report))
    for comparison in report.variants:
        print_section(console, f"Prompt variants {comparison.base} and {comparison.other}", *_variant_view(comparison))
    if report.coverage:
        print_section(console, "Coverage", *_coverage_view(report.coverage, console))
    print_section(console, "Invalid evaluations", *_invalid_view(report.invalid))
    if report.evidence:
        print_section(console, "Evidence", *_evidence_view(report))
    if report.panel:
        print_section(console, "Agreement between judges", *_panel_view(report.panel, report.maximum))
    console.print()


def _shares(title: str, tallies: Sequence[Tally]) -> Text | None:
    told = ", ".join(f"{part.name} {percent(part.share)}" for part in tallies)
    return Text(make_visible(f"{title}: {told}"), style=QUIET) if told else None


def _mean_cells(score: ScaleMean) -> tuple[Cell, Cell]:
    """Mean and interval."""
    return (words.mean_text(score), "bold"), (words.mean_interval_text(score), QUIET)


def _dimension_table(report: ScoredReport) -> Table:
    """A line for each judge and dimension, with its shape in small."""
    rows = []
    for profile in report.judges:
        for number, item in enumerate(profile.dimensions):
            mean, interval = _mean_cells(item.score)
            name = profile.judge if number == 0 else ""
            scale, shape = (words.maximum_text(item.score.maximum), QUIET), (_spark(item), "blue")
            rows.append((name, item.dimension, mean, scale, interval, shape, words.counted_text(item.score)))
    return table_of(("judge", "dimension", ">mean", "", ">95% interval", "low to high", ">samples"), rows)


def _spark(item: DimensionSummary) -> str:
    """The histogram in one line; a mark that never fell is a dot."""
    top = max((bar.count for bar in item.bars), default=0)
    return "".join(_BLOCKS[max(0, round(bar.count / top * 8) - 1)] if bar.count else "·" for bar in item.bars)


def _dimension_heads(report: ScoredReport) -> list[str]:
    """A word a line, so that four long names fit beside each other."""
    return [">" + make_visible(name.lower()).replace("_", "\n") for name in report.dimensions]


def _dimension_cells(report: ScoredReport, means: Sequence[DimensionMean], *, with_scale: bool = False) -> list[Cell]:
    """In the report's order; a dash where the group has no such marks. With its scale: `41.0 of 60`."""
    scores = {item.dimension: item.score for item in means}
    return [_scaled(scores.get(name), with_scale=with_scale) for name in report.dimensions]


def _scaled(score: ScaleMean | None, *, with_scale: bool = True) -> str:
    if score is None or score.mean is None:
        return NOTHING
    return f"{words.mean_text(score)} {words.maximum_text(score.maximum)}" if with_scale else words.mean_text(score)


def _target_table(report: ScoredReport) -> Table:
    """Means of total and dimensions, critical fails."""
    return table_of(
        ("target", ">total", ">95% interval", ">samples", *_dimension_heads(report), ">critical"),
        [
            (
                name_text(profile.target),
                *_mean_cells(profile.total),
                words.counted_text(profile.total),
                *_dimension_cells(report, profile.dimensions),
                number_cell(profile.critical, "red"),
            )
            for profile in report.targets
        ],
    )


def _task_type_table(report: ScoredReport) -> Table:
    """Weights differ, so each has its own maxima."""
    return table_of(
        ("task type", ">total", *_dimension_heads(report)),
        [
            (one.task_type, _scaled(one.total), *_dimension_cells(report, one.dimensions, with_scale=True))
            for one in report.task_types
        ],
    )


def _matrix_table(report: ScoredReport) -> Table:
    """Rows judge, columns are judged."""
    heads = [f">{make_visible(name_text(target))}" for target in report.matrix_targets]
    rows: list[Sequence[Cell]] = [
        (row.judge, *(_matrix_text(cell, report.maximum) for cell in row.cells)) for row in report.matrix
    ]
    return table_of(("judge \\ target", *heads), rows)


def _matrix_text(cell: MatrixCell, maximum: float | None) -> Text:
    """Mean, interval and number in three lines; nothing where a model would judge itself."""
    if cell.is_own_output:
        return Text("control", style=QUIET)
    score = cell.score
    if score.mean is None:
        return Text(f"{NOTHING}\n\nn=0", style=QUIET)
    text = Text(words.scale_text(score.mean, maximum), style="bold")
    if cell.same_family:
        text.append(" same family", style="yellow")
    if score.interval:
        text.append(f"\n{words.range_text(score.interval.low, score.interval.high, maximum)}", style=QUIET)
    text.append(f"\nn={score.samples}", style=QUIET)
    if score.counts.unscored:
        text.append(f" +{score.counts.unscored} without", style="magenta")
    return text


def _control_table(report: ScoredReport) -> Table:
    """What a model says of itself beside what others say of it."""
    return table_of(
        ("model", ">of itself", ">n", ">invalid", ">by others", ">n", ">difference"),
        [
            (
                row.judge,
                NOTHING if row.own.mean is None else words.scale_text(row.own.mean, report.maximum),
                f"{row.own.counts.valid:,}",
                number_cell(row.own.counts.invalid, "magenta"),
                words.mean_text(row.others),
                f"{row.others.count:,}",
                words.control_difference_text(row),
            )
            for row in report.controls
        ],
    )


def _variant_view(comparison: VariantComparison) -> Iterable[RenderableType]:
    """The total in a sentence, then the dimensions that drift most."""
    yield Text(make_visible(words.difference_sentence(comparison)))
    yield table_of(
        ("dimension", ">difference", ">95% interval"),
        [
            (
                item.measure or "",
                (words.difference_text(item), "bold"),
                (words.difference_interval_text(item), "bold yellow" if item.difference.is_clear else QUIET),
            )
            for item in comparison.dimensions
        ],
    )
    rates = [
        f"{name_text(one.name)} {words.part_text(one.invalid, one.judged)} ({words.share_interval_text(one.interval)})"
        for one in (comparison.base_invalid, comparison.other_invalid)
    ]
    yield Text(make_visible(f"invalid: {', '.join(rates)}"), style=QUIET)


def _coverage_view(coverage: Coverage, console: Console) -> Iterable[RenderableType]:
    """A grid where it fits, and the holes by name."""
    yield Text(words.coverage_sentence(coverage))
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
    yield _listing([words.hole_text(cell) for cell in coverage.holes], _HOLES_SHOWN, coverage.holes_total)


def _coverage_grid(coverage: Coverage, heads: Sequence[str]) -> Table:
    """A mark for each cell; questions and variants name the rows."""
    rows: list[Sequence[Cell]] = [
        (line.question, line.variant or "", *(_MARKS[status] for status in line.statuses)) for line in coverage.lines
    ]
    return table_of(("question", "variant", *(f">{head}" for head in heads)), rows)


def _listing(lines: Sequence[str], limit: int, total: int) -> Text:
    """The first lines, and how many more there are."""
    text = Text("\n".join(make_visible(line) for line in lines[:limit]))
    if total > limit:
        text.append(f"\n… {total - limit:,} more", style=QUIET)
    return text


def _invalid_view(spread: InvalidSpread) -> Iterable[RenderableType]:
    """The sentence, then each factor with its groups."""
    yield Text(words.invalid_sentence(spread), style="yellow" if spread.uneven else "")
    if not spread.whole.invalid:
        return
    yield table_of(
        ("by", "", ">invalid", ">of", ">share", ">95% interval"),
        [
            (
                (factor.factor if number == 0 else "", "bold"),
                name_text(group.name),
                number_cell(group.invalid, "magenta"),
                f"{group.judged:,}",
                words.part_text(group.invalid, group.judged),
                (words.share_interval_text(group.interval), QUIET),
            )
            for factor in spread.factors
            for number, group in enumerate(factor.groups)
        ],
    )
    for factor in spread.factors:
        yield Text(f"{factor.factor}: {words.factor_sentence(factor)}", style="" if factor.is_uneven else QUIET)


def _evidence_view(report: ScoredReport) -> Iterable[RenderableType]:
    """How many quotes stand in the response, and which do not."""
    rows = []
    for support in report.evidence:
        how = [f"{part.name} {part.count}" for part in support.stages]
        how += [f"{problem_text(part.name)} {part.count}" for part in support.problems]
        rows.append(
            (
                (support.judge if support.dimension is None else "", "bold"),
                support.dimension or "all",
                f"{support.found:,}",
                f"{support.quotes:,}",
                words.part_text(support.found, support.quotes),
                (words.share_interval_text(support.interval), QUIET),
                ", ".join(how),
            )
        )
    yield table_of(("judge", "dimension", ">found", ">of", ">share", ">95% interval", "how, or why not"), rows)
    if report.evidence_problems:
        lines = [
            f"{item.id} · {item.judge} · {name_text(item.dimension)}: {problem_text(item.problem)}: “{item.quote}”"
            for item in report.evidence_problems
        ]
        total = sum(part.count for item in report.evidence if item.dimension is None for part in item.problems)
        yield _listing(lines, _PROBLEMS_SHOWN, total)


def _panel_view(panel: PanelAgreement, maximum: float | None) -> Iterable[RenderableType]:
    """The summary, then where judges differ most."""
    yield Text(words.panel_sentence(panel, maximum))
    yield table_of(
        ("sample", ">apart", "what they say, the strictest first"),
        [
            (one.id, words.scale_text(one.spread, maximum), words.told_text(one, maximum))
            for one in panel.items[:_ITEMS_SHOWN]
        ],
    )


def marks_table(detail: ScoredDetail) -> Table:
    """One judgment, dimension by dimension, with the reasons."""
    return table_of(
        ("dimension", ">score", "reason"),
        [
            (
                mark.dimension,
                plain_number(mark.score) + ("" if mark.maximum is None else f" of {plain_number(mark.maximum)}"),
                mark.reason or NOTHING,
            )
            for mark in detail.marks
        ],
    )


def quotes_table(detail: ScoredDetail) -> Table:
    """One judgment's evidence: where each quote stands, or why it does not."""
    return table_of(
        ("dimension", "quote", "found", "reason"),
        [
            (
                name_text(quote.dimension),
                f"“{quote.text}”",
                (_found_text(quote), "red" if quote.problem else "green"),
                quote.reason,
            )
            for quote in detail.quotes
        ],
    )


def _found_text(quote: Quote) -> str:
    if quote.problem:
        return problem_text(quote.problem)
    if not (quote.stage or quote.spans):
        return "not looked for"
    return f"{quote.stage or 'found'} at {', '.join(f'{span.start}–{span.end}' for span in quote.spans)}"
