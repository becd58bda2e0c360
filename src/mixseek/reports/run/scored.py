"""What a run says of a protocol with dimensions: dimensions, targets, matrix, and how a model judges itself."""

from collections.abc import Callable, Iterator, Sequence

from mixseek.analysis import scored_model
from mixseek.analysis.run import model
from mixseek.presentation.pictures import Axis, Bar, Histogram, IntervalPlot, Strip
from mixseek.presentation.sections import (
    GAP,
    QUIET,
    Cell,
    Head,
    Link,
    Section,
    Sentence,
    Shaded,
    Stack,
    TableRows,
    Words,
    notes,
    number_cell,
    number_head,
)
from mixseek.reports.run.checks import check_sections
from mixseek.reports.run.sample import STYLES
from mixseek.reports.wording.names import confidence_text, name_text, verdict_text
from mixseek.reports.wording.numbers import NOTHING, percent
from mixseek.reports.wording.scales import (
    bar_text,
    counted_text,
    dimension_style,
    maximum_text,
    mean_text,
    of_maximum_text,
    range_text,
    scale_text,
    signed_text,
)
from mixseek.text.messages import Message, join, message


def scored_sections(report: scored_model.ScoredReport) -> Iterator[Section]:
    """Everything beyond headline, verdicts and reasons."""
    yield _dimension_section(report)
    if report.targets:
        yield _target_section(report)
    if report.task_types:
        yield _task_type_section(report)
    if report.matrix:
        yield _matrix_section(report)
    yield _control_section(report)
    yield from check_sections(report)
    yield Section(None, [GAP])


def _shares(tallies: Sequence[model.Tally], word: Callable[[str], Message]) -> Message:
    """`high 60.0%, low 40.0%`."""
    shares = [
        message("scores.share_of", "{name} {share}", name=word(part.name), share=percent(part.share))
        for part in tallies
    ]
    return join(shares, ", ")


def _mean_cells(score: scored_model.ScaleMean) -> tuple[Cell, Cell]:
    return (mean_text(score), "bold"), (range_text(score.interval, score.maximum), QUIET)


def _plot(score: scored_model.ScaleMean) -> IntervalPlot:
    """The mean on the whole of its scale."""
    ends = (score.interval.low, score.interval.high) if score.interval else None
    mean = of_maximum_text(mean_text(score), score.maximum)
    label = join((mean, range_text(score.interval, score.maximum)), ", ")
    return IntervalPlot(score.mean, ends, Axis(0.0, 1.0), label=label)


def _dimension_section(report: scored_model.ScoredReport) -> Section:
    """A line for each judge and dimension, with its shape in small."""
    rows: list[Sequence[Cell]] = []
    for profile in report.judges:
        for number, item in enumerate(profile.dimensions):
            mean, interval = _mean_cells(item.score)
            scale = (maximum_text(item.score.maximum), QUIET)
            name = item.dimension, dimension_style(item.dimension, report.dimensions)
            judge, shape = (profile.judge if number == 0 else "", "bold"), _histogram(item, name[1])
            rows.append((judge, name, mean, scale, interval, shape, counted_text(item.score)))
    heads = (
        message("head.judge", "judge"),
        message("head.dimension", "dimension"),
        number_head(message("head.mean", "mean")),
        "",
        number_head(message("word.interval_95", "95% interval")),
        message("scores.low_to_high", "low to high"),
        number_head(message("head.samples", "samples")),
    )
    title = message("scores.dimensions", "Dimensions")
    explained = "distribution, mean and 95% interval on the protocol's own scale; cross judgments only"
    note = message("scores.how_dimensions_are_shown", explained)
    confidence = [
        message("scores.confidence_of", "confidence of {judge}: {shares}", judge=profile.judge, shares=shares)
        for profile in report.judges
        if (shares := _shares(profile.confidence, confidence_text))
    ]
    critical = [
        Sentence(
            message("scores.critical_of", "critical fails by {judge}: {n}", judge=profile.judge, n=profile.critical),
            "red",
        )
        for profile in report.judges
        if profile.critical
    ]
    table = TableRows(heads, rows, name="dimensions", label=title)
    return Section(title, [table, *critical, *notes(confidence)], note=note, name="dimensions")


def _histogram(item: scored_model.DimensionSummary, style: str) -> Histogram:
    bars = [(bar_text(bar, item.score.maximum), bar.share) for bar in item.bars]
    label = ", ".join(f"{name}: {percent(share)}" for name, share in bars)
    return Histogram(bars, label, style)


def _dimension_heads(report: scored_model.ScoredReport) -> list[Head]:
    """A word a line, so that four long names fit beside each other."""
    heads = []
    for name in report.dimensions:
        text = ">" + name.lower().replace("_", "\n")
        heads.append(Head(text, text, page=Words([(name, dimension_style(name, report.dimensions))])))
    return heads


def _dimension_cells(report: scored_model.ScoredReport, means: Sequence[scored_model.DimensionMean]) -> list[Cell]:
    """Means in the report's order, and where there is more than characters as bars of their colour."""
    scores = {item.dimension: item.score for item in means}
    cells: list[Cell] = []
    for name in report.dimensions:
        score = scores.get(name)
        if score is None or score.mean is None:
            cells.append(NOTHING)
        else:
            cells.append(Stack([mean_text(score), Bar(score.mean, 0, dimension_style(name, report.dimensions))]))
    return cells


def _scaled(score: scored_model.ScaleMean | None) -> str:
    """`41.0 of 60`; a dash where the group has no such marks."""
    if score is None or score.mean is None:
        return NOTHING
    return of_maximum_text(mean_text(score), score.maximum)


def _verdict_strip(verdicts: Sequence[model.Tally]) -> Strip:
    return Strip(
        [(verdict_text(part.name), part.share, STYLES[part.tone] if part.tone else "default") for part in verdicts]
    )


def _target_section(report: scored_model.ScoredReport) -> Section:
    rows: list[Sequence[Cell]] = []
    for target in report.targets:
        total = (*_mean_cells(target.total), _plot(target.total), counted_text(target.total))
        strip = _verdict_strip(target.verdicts)
        critical = [number_cell(target.critical, "red")] if report.has_gates else []
        rows.append((name_text(target.target), *total, *_dimension_cells(report, target.dimensions), strip, *critical))
    heads: tuple[str | Head, ...] = (
        message("head.target", "target"),
        number_head(message("head.total", "total")),
        number_head(message("word.interval_95", "95% interval")),
        Head(None, page=message("word.interval_drawn", "Interval, drawn")),
        number_head(message("head.samples", "samples")),
        *_dimension_heads(report),
        Head(None, page=message("word.verdicts_head", "Verdicts")),
        *([number_head(message("scores.critical", "critical"))] if report.has_gates else []),
    )
    title = message("scores.targets_by_dimension", "Targets by dimension")
    totals = "total: the verdict of the panel; dimensions: the mean mark of all judges but the model itself"
    note = message("scores.total_the_verdict_of_the_panel_dimensions", totals)
    label = message("scores.scores_per_target", "Scores per target")
    verdicts = [
        message("scores.verdicts_on", "verdicts on {target}: {shares}", target=name_text(target.target), shares=shares)
        for target in report.targets
        if (shares := _shares(target.verdicts, verdict_text))
    ]
    table = TableRows(heads, rows, name="targets", label=label)
    return Section(title, [table, *notes(verdicts)], note=note, name="targets")


def _task_type_section(report: scored_model.ScoredReport) -> Section:
    rows: list[Sequence[Cell]] = []
    for task in report.task_types:
        scores = {item.dimension: item.score for item in task.dimensions}
        marks = [_scaled(scores.get(name)) for name in report.dimensions]
        rows.append((task.task_type, _scaled(task.total), *marks, counted_text(task.total)))
    heads: tuple[str | Head, ...] = (
        message("head.task_type", "task type"),
        number_head(message("head.total", "total")),
        *_dimension_heads(report),
        number_head(message("head.samples", "samples")),
    )
    title = message("scores.task_types", "Task types")
    note = message("scores.weights_differ_so_each_has_its_own", "weights differ, so each has its own scale")
    label = message("scores.scores_per_task_type", "Scores per task type")
    return Section(title, [TableRows(heads, rows, label=label)], note=note, name="task-types")


def _matrix_section(report: scored_model.ScoredReport) -> Section:
    """Rows judge, columns are judged."""
    heads = [f">{name_text(target)}" for target in report.matrix_targets]
    rows: list[Sequence[Cell]] = [
        (row.judge, *(_matrix_cell(cell, report.maximum) for cell in row.cells)) for row in report.matrix
    ]
    title = message("scores.judge_times_target", "Judge × target")
    of = maximum_text(report.maximum)
    note = message("scores.mean_total", "mean total {of_maximum}, cross judgments only", of_maximum=of)
    label = message("scores.judge_by_target", "Judge by target")
    corner = message("scores.judge_and_target", "judge \\ target")
    return Section(title, [TableRows((corner, *heads), rows, name="matrix", label=label)], note=note, name="matrix")


def _matrix_cell(cell: scored_model.MatrixCell, maximum: float | None) -> Shaded:
    """Mean, interval and number in three lines; nothing where a model would judge itself."""
    if cell.is_own_output:
        return Shaded((message("scores.control", "control"), QUIET))
    score = cell.score
    if score.mean is None:
        return Shaded((f"{NOTHING}\n\nn=0", QUIET))
    pieces: list[str | tuple[str, str]] = [(scale_text(score.mean, maximum), "bold")]
    if cell.same_family:
        pieces.append((message("scores.same_family", " same family"), "yellow"))
    if score.interval:
        pieces.append((f"\n{range_text(score.interval, maximum)}", QUIET))
    pieces.append((f"\nn={score.samples}", QUIET))
    if score.counts.unscored:
        pieces.append((message("scores.without", " +{n} without", n=score.counts.unscored), "magenta"))
    return Shaded(Stack([Words(pieces), _verdict_strip(cell.verdicts)]), score.mean)


def _control_section(report: scored_model.ScoredReport) -> Section:
    """A model on its own output, beside what others say of it."""
    rows: list[Sequence[Cell]] = []
    for row in report.controls:
        of_itself, counts = scale_text(row.own.mean, report.maximum), row.own.counts
        others = mean_text(row.others), f"{row.others.count:,}"
        own_cells = of_itself, f"{counts.valid:,}", number_cell(counts.invalid, "magenta")
        name = Link(row.judge, {"control": "yes", "target": row.target})
        rows.append((name, *own_cells, *others, (signed_text(row.difference, row.others.maximum), "bold")))
    heads = (
        message("scores.model", "model"),
        number_head(message("scores.of_itself", "of itself")),
        ">n",
        number_head(message("word.invalid", "invalid")),
        number_head(message("scores.by_others", "by others")),
        ">n",
        number_head(message("head.difference", "difference")),
    )
    title = message("scores.self_judgments", "Self-judgments")
    note = message("scores.a_control_in_no_mean_matrix_or", "a control: in no mean, matrix or gate")
    return Section(title, [TableRows(heads, rows, label=title)], note=note, name="controls")
