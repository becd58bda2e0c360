"""Dimensions, matrix, coverage, drift and evidence on a terminal; long lists end with how many are left out."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from mixseek.domain.judgments import Status
from mixseek.reporting import wording
from mixseek.reporting.model import (
    Coverage,
    DimensionSummary,
    InvalidSpread,
    MatrixCell,
    PanelAgreement,
    ScaleMean,
    ScoredDetail,
    ScoredReport,
    VariantComparison,
)
from mixseek.reporting.scored import wording as words
from mixseek.reporting.wording import QUIET, make_visible

_BLOCKS = "▁▂▃▄▅▆▇█"
_HOLES_SHOWN = 12
_ITEMS_SHOWN = 8
_PROBLEMS_SHOWN = 8
_GRID_LINES = 40
# Characters by which names mostly differ.
_LEAST_NAME = 16
# The head of a column that holds a picture.
_DRAWN = "0%                100%"
_MARKS = {
    Status.VALID: ("●", "green"),
    Status.INVALID: ("✗", "magenta"),
    Status.UNDECIDED: ("?", "yellow"),
    Status.MISSING: ("–", "bright_black"),
    None: ("□", "bright_black"),
}


def print_scored(report: ScoredReport, console: Console) -> None:
    """Section by section, what is empty left out."""
    section(console, "Dimensions", dimension_table(report), *confidence_lines(report))
    if report.targets:
        section(console, "Targets, cross judgments only", target_table(report), *verdict_lines(report))
    if report.task_types:
        section(console, "Task types, each on its own scale", task_type_table(report))
    if report.matrix:
        section(console, "Judge × target: mean total, cross judgments only", matrix_table(report))
    if report.controls:
        section(console, "Self-judgments: a control, in no mean above", control_table(report))
    for comparison in report.variants:
        section(console, f"Prompt variants {comparison.base} and {comparison.other}", *variant_view(comparison))
    if report.coverage:
        section(console, "Coverage", *coverage_view(report.coverage, console))
    section(console, "Invalid evaluations", *invalid_view(report.invalid))
    if report.evidence:
        section(console, "Evidence", *evidence_view(report))
    if report.panel:
        section(console, "Agreement between judges", *panel_view(report.panel, report.maximum))
    console.print()


def section(console: Console, title: str, *parts: RenderableType) -> None:
    """A heading with something below it."""
    console.print()
    console.print(Text(make_visible(title), style="bold"))
    for part in parts:
        console.print(Padding(fitted(part, console) if isinstance(part, Table) else part, (0, 0, 0, 2), expand=False))


def fitted(table: Table, console: Console, indent: int = 2) -> RenderableType:
    """The table, or its rows below each other where names would be squeezed out: numbers need their names."""
    needed = sum(least_width(column, console) + 2 for column in table.columns)
    if needed <= console.width - indent + 2 or not table.rows:
        return table
    return stacked(table)


def least_width(column: Column, console: Console) -> int:
    """What a column must have: all of a number, and of a name so much that it can be told from others."""
    cells = [cell for cell in (column.header, *column.cells) if isinstance(cell, Text | str)]
    lines = [line for cell in cells for line in str(cell).split("\n")]
    longest = max((cell_len(line) for line in lines), default=0)
    return longest if column.no_wrap else min(longest, _LEAST_NAME)


def stacked(table: Table) -> Text:
    """A line with the name of each row, and its values with their heads below."""
    text = Text()
    heads = [str(column.header).replace("\n", " ").strip() for column in table.columns]
    names = 1 + (len(table.columns) > 1 and not table.columns[1].no_wrap)
    for cells in zip(*(list(column.cells) for column in table.columns), strict=True):
        first = " · ".join(str(cell) for cell in cells[:names] if str(cell).strip())
        told = [
            f"{head} {flat}".strip()
            for head, cell in zip(heads[names:], cells[names:], strict=True)
            if (flat := " ".join(str(cell).split())) and head != _DRAWN
        ]
        text.append("\n" if text else "")
        text.append(first, style="bold")
        if told:
            text.append("\n  " + " · ".join(told))
    return text


def plain_table(*columns: tuple[str, str]) -> Table:
    """Heads and their alignment; names give way, numbers stay whole."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    for name, align in columns:
        if align == "right":
            table.add_column(name, justify="right", no_wrap=True)
        else:
            # At least as wide as its head: a word that breaks there is not read.
            table.add_column(name, overflow="fold", min_width=len(name))
    return table


def mean_cells(score: ScaleMean) -> tuple[Text, Text]:
    """Mean and interval."""
    return Text(words.mean_text(score), style="bold"), Text(words.mean_interval_text(score), style=QUIET)


def dimension_table(report: ScoredReport) -> Table:
    """A line for each judge and dimension, with its shape in small."""
    table = plain_table(
        ("judge", "left"), ("dimension", "left"), ("mean", "right"), ("", "left"), ("95% interval", "right"),
        ("low to high", "left"), ("samples", "right"),
    )  # fmt: skip
    for profile in report.judges:
        for number, item in enumerate(profile.dimensions):
            mean, interval = mean_cells(item.score)
            table.add_row(
                Text(make_visible(profile.judge) if number == 0 else ""),
                Text(make_visible(item.dimension)),
                mean,
                Text(words.maximum_text(item.score.maximum), style=QUIET),
                interval,
                Text(spark(item), style="blue"),
                Text(words.counted_text(item.score)),
            )
    return table


def confidence_lines(report: ScoredReport) -> Iterable[Text]:
    """One for each judge that says how sure it is."""
    for profile in report.judges:
        if profile.confidence:
            told = ", ".join(f"{part.name} {wording.percent(part.share)}" for part in profile.confidence)
            yield Text(make_visible(f"confidence of {profile.judge}: {told}"), style=QUIET)


def spark(item: DimensionSummary) -> str:
    """The histogram in one line; a mark that never fell is a dot."""
    top = max((bar.count for bar in item.bars), default=0)
    return "".join(_BLOCKS[max(0, round(bar.count / top * 8) - 1)] if bar.count else "·" for bar in item.bars)


def target_table(report: ScoredReport) -> Table:
    """Means of total and dimensions, critical fails."""
    table = plain_table(
        ("target", "left"), ("total", "right"), ("95% interval", "right"), ("samples", "right"),
        *((short_head(name), "right") for name in report.dimensions), ("critical", "right"),
    )  # fmt: skip
    for profile in report.targets:
        own = {item.dimension: item.score for item in profile.dimensions}
        table.add_row(
            Text(make_visible(words.name_text(profile.target))),
            *mean_cells(profile.total),
            Text(words.counted_text(profile.total)),
            *(Text(words.mean_text(own[name]) if name in own else wording.NOTHING) for name in report.dimensions),
            Text(wording.count_text(profile.critical), style="red" if profile.critical else QUIET),
        )
    return table


def short_head(name: str) -> str:
    """A word a line, so that four long names fit beside each other."""
    return make_visible(name.lower()).replace("_", "\n")


def verdict_lines(report: ScoredReport) -> Iterable[Text]:
    """Shares, target by target."""
    for profile in report.targets:
        if profile.verdicts:
            told = ", ".join(f"{part.name} {wording.percent(part.share)}" for part in profile.verdicts)
            yield Text(make_visible(f"verdicts on {words.name_text(profile.target)}: {told}"), style=QUIET)


def task_type_table(report: ScoredReport) -> Table:
    """Weights differ, so each has its own maxima."""
    heads = [(short_head(name), "right") for name in report.dimensions]
    table = plain_table(("task type", "left"), ("total", "right"), *heads)
    for profile in report.task_types:
        own = {item.dimension: item.score for item in profile.dimensions}
        table.add_row(
            Text(make_visible(profile.task_type)),
            Text(scaled(profile.total)),
            *(Text(scaled(own[name]) if name in own else wording.NOTHING) for name in report.dimensions),
        )
    return table


def scaled(score: ScaleMean) -> str:
    """`41.0 of 60`."""
    return wording.NOTHING if score.mean is None else f"{words.mean_text(score)} {words.maximum_text(score.maximum)}"


def matrix_table(report: ScoredReport) -> Table:
    """Rows judge, columns are judged."""
    heads = [(make_visible(words.name_text(target)), "right") for target in report.matrix_targets]
    table = plain_table(("judge \\ target", "left"), *heads)
    for row in report.matrix:
        table.add_row(Text(make_visible(row.judge)), *(matrix_text(cell, report.maximum) for cell in row.cells))
    return table


def matrix_text(cell: MatrixCell, maximum: float | None) -> Text:
    """Mean, interval and number in three lines; nothing where a model would judge itself."""
    if cell.is_own_output:
        return Text("control", style=QUIET)
    score = cell.score
    if score.mean is None:
        return Text(f"{wording.NOTHING}\n\nn=0", style=QUIET)
    text = Text(words.scale_text(score.mean, maximum), style="bold")
    if cell.same_family:
        text.append(" same family", style="yellow")
    if score.interval:
        text.append(f"\n{words.range_text(score.interval.low, score.interval.high, maximum)}", style=QUIET)
    text.append(f"\nn={score.samples}", style=QUIET)
    if score.counts.unscored:
        text.append(f" +{score.counts.unscored} without", style="magenta")
    return text


def control_table(report: ScoredReport) -> Table:
    """What a model says of itself beside what others say of it."""
    table = plain_table(
        ("model", "left"), ("of itself", "right"), ("n", "right"), ("invalid", "right"), ("by others", "right"),
        ("n", "right"), ("difference", "right"),
    )  # fmt: skip
    for row in report.controls:
        own = row.own
        table.add_row(
            Text(make_visible(row.judge)),
            Text(wording.NOTHING if own.mean is None else words.scale_text(own.mean, report.maximum)),
            Text(wording.count_text(own.counts.valid)),
            Text(wording.count_text(own.counts.invalid), style="magenta" if own.counts.invalid else QUIET),
            Text(words.mean_text(row.others)),
            Text(wording.count_text(row.others.count)),
            Text(words.control_difference_text(row)),
        )
    return table


def variant_view(comparison: VariantComparison) -> Iterable[RenderableType]:
    """The total in a sentence, then the dimensions that drift most."""
    yield Text(make_visible(words.difference_sentence(comparison)))
    table = plain_table(("dimension", "left"), ("difference", "right"), ("95% interval", "right"))
    for item in comparison.dimensions:
        table.add_row(
            Text(make_visible(item.measure or words.TOTAL)),
            Text(words.difference_text(item), style="bold"),
            Text(words.difference_interval_text(item), style="bold yellow" if item.difference.is_clear else QUIET),
        )
    yield table
    rates = ", ".join(
        f"{words.name_text(group.name)} {words.rate_text(group)} ({words.rate_interval_text(group)})"
        for group in (comparison.base_invalid, comparison.other_invalid)
    )
    yield Text(make_visible(f"invalid: {rates}"), style=QUIET)


def coverage_view(coverage: Coverage, console: Console) -> Iterable[RenderableType]:
    """A grid where it fits, and the holes by name."""
    yield Text(words.coverage_sentence(coverage))
    if coverage.lines and len(coverage.lines) <= _GRID_LINES and len(coverage.columns) <= 16:
        names = [make_visible(f"{words.name_text(target)}\n{judge}") for target, judge in coverage.columns]
        grid = coverage_grid(coverage, names)
        legend = "columns: target over judge · "
        if fitted(grid, console) is not grid:
            # The names of the rows come first: columns are numbered, and named below.
            grid = coverage_grid(coverage, [str(number) for number, _ in enumerate(names, start=1)])
            legend = "".join(
                f"{number} {make_visible(words.name_text(target))} by {make_visible(judge)}\n"
                for number, (target, judge) in enumerate(coverage.columns, start=1)
            )
        yield grid
        yield Text(f"{legend}● valid  ✗ invalid  – no reply  □ no output in the dataset", style=QUIET)
    yield listing([words.hole_text(cell) for cell in coverage.holes], _HOLES_SHOWN, coverage.holes_total)


def coverage_grid(coverage: Coverage, heads: Sequence[str]) -> Table:
    """A mark for each cell; questions and variants name the rows."""
    table = plain_table(("question", "left"), ("variant", "left"), *((head, "right") for head in heads))
    for line in coverage.lines:
        marks = [Text(*_MARKS[status]) for status in line.statuses]
        table.add_row(Text(make_visible(line.question)), Text(make_visible(line.variant or "")), *marks)
    return table


def listing(lines: Sequence[str], limit: int, total: int) -> Text:
    """The first lines, and how many more there are."""
    text = Text("\n".join(make_visible(line) for line in lines[:limit]))
    if total > limit:
        text.append(f"\n… {total - limit:,} more", style=QUIET)
    return text


def invalid_view(spread: InvalidSpread) -> Iterable[RenderableType]:
    """The sentence, then each factor with its groups."""
    yield Text(words.invalid_sentence(spread), style="yellow" if spread.uneven else "")
    if not spread.whole.invalid:
        return
    table = plain_table(("by", "left"), ("", "left"), ("invalid", "right"), ("of", "right"), ("share", "right"),
        ("95% interval", "right"))  # fmt: skip
    for factor in spread.factors:
        for number, group in enumerate(factor.groups):
            table.add_row(
                Text(factor.factor if number == 0 else "", style="bold"),
                Text(make_visible(words.name_text(group.name))),
                Text(wording.count_text(group.invalid), style="magenta" if group.invalid else QUIET),
                Text(wording.count_text(group.judged)),
                Text(words.rate_text(group)),
                Text(words.rate_interval_text(group), style=QUIET),
            )
    yield table
    for factor in spread.factors:
        yield Text(f"{factor.factor}: {words.factor_sentence(factor)}", style="" if factor.is_uneven else QUIET)


def evidence_view(report: ScoredReport) -> Iterable[RenderableType]:
    """How many quotes stand in the response, and which do not."""
    table = plain_table(
        ("judge", "left"), ("dimension", "left"), ("found", "right"), ("of", "right"), ("share", "right"),
        ("95% interval", "right"), ("how, or why not", "left"),
    )  # fmt: skip
    for support in report.evidence:
        how = [f"{part.name} {part.count}" for part in support.stages]
        why = [f"{words.problem_text(part.name)} {part.count}" for part in support.problems]
        table.add_row(
            Text(make_visible(support.judge) if support.dimension is None else "", style="bold"),
            Text("all" if support.dimension is None else make_visible(support.dimension)),
            Text(wording.count_text(support.found)),
            Text(wording.count_text(support.quotes)),
            Text(words.support_text(support)),
            Text(words.support_interval_text(support), style=QUIET),
            Text(make_visible(", ".join([*how, *why]))),
        )
    yield table
    if report.evidence_problems:
        lines = [
            f"{item.id} · {item.judge} · {words.name_text(item.dimension)}: {words.problem_text(item.problem)}: "
            f"“{item.quote}”"
            for item in report.evidence_problems
        ]
        total = sum(part.count for item in report.evidence if item.dimension is None for part in item.problems)
        yield listing(lines, _PROBLEMS_SHOWN, total)


def panel_view(panel: PanelAgreement, maximum: float | None) -> Iterable[RenderableType]:
    """The summary, then where judges differ most."""
    yield Text(words.panel_sentence(panel, maximum))
    if panel.items:
        table = plain_table(("sample", "left"), ("apart", "right"), ("what they say, the strictest first", "left"))
        for item in panel.items[:_ITEMS_SHOWN]:
            table.add_row(
                Text(make_visible(item.id)),
                Text(words.scale_text(item.spread, maximum)),
                Text(make_visible(words.told_text(item, maximum))),
            )
        yield table


def marks_view(detail: ScoredDetail) -> Table:
    """One judgment, dimension by dimension, with the reasons."""
    table = plain_table(("dimension", "left"), ("score", "right"), ("reason", "left"))
    for mark in detail.marks:
        top = "" if mark.maximum is None else f" of {words.plain_number(mark.maximum)}"
        table.add_row(
            Text(make_visible(mark.dimension)),
            Text(f"{words.plain_number(mark.score)}{top}"),
            Text(make_visible(mark.reason or wording.NOTHING)),
        )
    return table


def quotes_view(detail: ScoredDetail) -> Table:
    """One judgment's evidence: where each quote stands, or why it does not."""
    table = plain_table(("dimension", "left"), ("quote", "left"), ("found", "left"), ("reason", "left"))
    for quote in detail.quotes:
        places = ", ".join(f"{span.start}–{span.end}" for span in quote.spans)
        found = words.problem_text(quote.problem) if quote.problem else f"{quote.stage or 'found'} at {places}"
        if not (quote.problem or quote.stage or places):
            found = "not looked for"
        table.add_row(
            Text(make_visible(words.name_text(quote.dimension))),
            Text(f"“{make_visible(quote.text)}”"),
            Text(make_visible(found), style="red" if quote.problem else "green"),
            Text(make_visible(quote.reason)),
        )
    return table
