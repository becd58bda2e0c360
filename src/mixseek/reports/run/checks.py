"""Whether the scores of a run can be relied on: invalid evaluations, prompt variants, coverage, evidence."""

from collections.abc import Callable, Iterator, Sequence

from mixseek.analysis import scored_model
from mixseek.analysis.run import model
from mixseek.domain.judgments import Status
from mixseek.presentation.pictures import Axis, Bar, IntervalPlot
from mixseek.presentation.sections import (
    QUIET,
    Cell,
    Fitting,
    Head,
    Link,
    Listing,
    Part,
    Section,
    Sentence,
    TableRows,
    Words,
    number_cell,
    number_head,
)
from mixseek.reports.wording.names import factor_text, name_text, problem_text, stage_text, state_text
from mixseek.reports.wording.numbers import part_text
from mixseek.reports.wording.scales import (
    coverage_sentence,
    difference_interval_text,
    difference_reach,
    difference_sentence,
    difference_text,
    dimension_style,
    factor_sentence,
    hole_text,
    invalid_sentence,
    range_text,
    widest_rate,
)
from mixseek.text.messages import COMMA, Message, join, message

_HOLES_SHOWN = 12
_PROBLEMS_SHOWN = 8
# On a terminal; a page has more room to scroll.
_GRID_LINES, _GRID_COLUMNS = 40, 16
_PAGE_COLUMNS = 40
_MARKS = {
    Status.VALID: ("●", "green"),
    Status.INVALID: ("✗", "magenta"),
    Status.UNDECIDED: ("?", "yellow"),
    Status.MISSING: ("–", "bright_black"),
    None: ("□", "bright_black"),
}


def check_sections(report: scored_model.ScoredReport) -> Iterator[Section]:
    """What speaks for and against the numbers above."""
    for comparison in report.variants:
        yield _variant_section(comparison, report)
    if report.coverage:
        yield _coverage_section(report.coverage)
    yield _invalid_section(report.invalid)
    if report.evidence:
        yield _evidence_section(report)


def _invalid_section(spread: scored_model.InvalidSpread) -> Section:
    """How invalid evaluations spread over whatever could be behind them."""
    title = message("checks.invalid_evaluations", "Invalid evaluations")
    unusable = "unusable, not low: in no mean; the bounds in the headline count them all worst and all best"
    note = message("checks.unusable_not_low_in_no_mean_the", unusable)
    lead = Sentence(invalid_sentence(spread), "yellow" if spread.uneven else "")
    table = _rate_table(spread) if spread.whole.invalid else TableRows((), ())
    tests = [
        Sentence(
            Words([(factor_text(factor.factor), "bold"), ": ", factor_sentence(factor)]),
            "yellow" if factor.is_uneven else "",
        )
        for factor in (spread.factors if spread.whole.invalid else ())
    ]
    return Section(title, [lead, table, *tests], note=note, name="invalid")


def _rate_table(spread: scored_model.InvalidSpread) -> TableRows:
    axis = Axis(0.0, widest_rate(spread))
    rows: list[Sequence[Cell]] = []
    for factor in spread.factors:
        for number, group in enumerate(factor.groups):
            name = (factor_text(factor.factor) if number == 0 else "", "bold"), name_text(group.name)
            share = f"{group.judged:,}", part_text(group.invalid, group.judged)
            interval = (range_text(group.interval), QUIET)
            rows.append((*name, number_cell(group.invalid, "magenta"), *share, interval, _rate_plot(group, axis)))
    heads = (
        message("checks.by", "by"),
        "",
        number_head(message("word.invalid", "invalid")),
        number_head(message("word.of", "of")),
        number_head(message("head.share", "share")),
        number_head(message("word.interval_95", "95% interval")),
        Head(None, page=message("word.share_drawn", "Share, drawn")),
    )
    return TableRows(heads, rows, name="rates", label=message("checks.invalid_evaluations", "Invalid evaluations"))


def _rate_plot(group: scored_model.GroupRate, axis: Axis) -> IntervalPlot:
    label = f"{part_text(group.invalid, group.judged)}, {range_text(group.interval)}"
    if group.interval is None:
        return IntervalPlot(None, axis=axis, label=label)
    ends = (group.interval.low, group.interval.high)
    return IntervalPlot(group.invalid / group.judged, ends, axis, label=label, tone="tone-invalid")


def _variant_section(comparison: scored_model.VariantComparison, report: scored_model.ScoredReport) -> Section:
    """The total, then dimensions; those that drift most come first."""
    reach = difference_reach(comparison)
    axis = Axis(-reach, reach, (-reach, 0.0, reach), ("−", "0", "+"))
    rows: list[Sequence[Cell]] = []
    for item in (comparison.total, *comparison.dimensions):
        style = "bold yellow" if item.difference.is_clear else QUIET
        drift = (difference_text(item), "bold"), (difference_interval_text(item), style)
        name: Cell = message("head.total", "total")
        if item.measure is not None:
            name = item.measure, dimension_style(item.measure, report.dimensions)
        rows.append((name, *drift, _difference_plot(item, axis)))
    rates = ", ".join(
        f"{name_text(rate.name)} {part_text(rate.invalid, rate.judged)} ({range_text(rate.interval)})"
        for rate in (comparison.base_invalid, comparison.other_invalid)
    )
    heads = (
        message("head.dimension", "dimension"),
        number_head(message("head.difference", "difference")),
        number_head(message("word.interval_95", "95% interval")),
        Head(None, axis=axis, page=message("word.interval_drawn", "Interval, drawn")),
    )
    title = message(
        "checks.variants", "Prompt variants {base} and {other}", base=comparison.base, other=comparison.other
    )
    note = message("checks.paired_by_question", "paired by question, target and judge; drifts most first")
    label = message("checks.differences_between_prompt_variants", "Differences between prompt variants")
    below = Sentence(message("checks.invalid_rates", "invalid: {rates}", rates=rates))
    lead = Sentence(difference_sentence(comparison), "")
    return Section(title, [lead, TableRows(heads, rows, name="variants", label=label), below], note=note)


def _difference_plot(item: scored_model.MeasureDifference, axis: Axis) -> IntervalPlot:
    """Differences of all measures on one axis, nought in its middle."""
    interval = item.difference.interval
    ends = (interval.low, interval.high) if interval else None
    return IntervalPlot(item.difference.mean, ends, axis, references=(0.0,), label=difference_text(item))


def _coverage_section(coverage: scored_model.Coverage) -> Section:
    """A grid where it fits, and the holes by name."""
    title = message("checks.coverage", "Coverage")
    note = message("checks.question_by_variant_by_target_by_judge", "question × variant × target × judge")
    parts: list[Part] = [Sentence(coverage_sentence(coverage), "")]
    if coverage.lines and len(coverage.columns) <= _PAGE_COLUMNS:
        parts.append(_coverage_grids(coverage))
    lines = [hole_text(cell) for cell in coverage.holes]
    parts.append(Listing(lines, _HOLES_SHOWN, coverage.holes_total, title=message("checks.holes", "Holes")))
    return Section(title, parts, note=note)


def _coverage_grids(coverage: scored_model.Coverage) -> Fitting:
    """The names of the rows come first: without room columns are numbered, and named below."""
    explained = "● valid · ✗ invalid · – no reply · □ no output in the dataset"
    marks = message("checks.valid_invalid_no_reply_no_output_in", explained)
    full = _coverage_grid(coverage, [f"{name_text(target)}\n{judge}" for target, judge in coverage.columns])
    legend = Sentence(message("checks.columns", "columns: target over judge · {marks}", marks=marks))
    if len(coverage.lines) > _GRID_LINES or len(coverage.columns) > _GRID_COLUMNS:
        larger = message("checks.the_page_has_the_grid", "the grid is too large for a terminal: the page has it")
        return Fitting(full, legend, (TableRows((), ()), Sentence(larger)), is_for_pages=True)
    numbered = list(enumerate(coverage.columns, start=1))
    named = "".join(f"{number} {name_text(target)} by {judge}\n" for number, (target, judge) in numbered)
    small = _coverage_grid(coverage, [str(number) for number, _ in numbered])
    return Fitting(full, legend, (small, Sentence(f"{named}{explained}")))


def _coverage_grid(coverage: scored_model.Coverage, heads: Sequence[str]) -> TableRows:
    rows: list[Sequence[Cell]] = []
    for line in coverage.lines:
        marks = [
            _coverage_cell(line, status, column) for status, column in zip(line.statuses, coverage.columns, strict=True)
        ]
        rows.append((line.question, line.variant or "", *marks))
    named = message("head.question", "question"), message("head.variant", "variant")
    label = message("checks.coverage_grid", "Coverage grid")
    return TableRows((*named, *(f">{head}" for head in heads)), rows, name="coverage", label=label)


def _coverage_cell(line: scored_model.CoverageLine, status: Status | None, column: tuple[str | None, str]) -> Cell:
    """A mark that leads to its judgments; where there is no output there are none."""
    if status is None:
        return _MARKS[status]
    target, judge = column
    place = {"question": line.question, "variant": line.variant, "target": target, "judge": judge}
    label = join([*filter(None, place.values()), state_text(status.value)], ", ")
    return Link(Words([_MARKS[status]]), place, label)


def _evidence_section(report: scored_model.ScoredReport) -> Section:
    """Quotes of each judge, how they were found, and those that were not."""
    rows: list[Sequence[Cell]] = []
    for support in report.evidence:
        style = "" if support.dimension is None else dimension_style(support.dimension, report.dimensions)
        judge = (support.judge if support.dimension is None else "", "bold")
        counts = f"{support.found:,}", f"{support.quotes:,}", part_text(support.found, support.quotes)
        interval = (range_text(support.interval), QUIET)
        bar = Bar(support.found / max(1, support.quotes), 0, "green")
        rows.append(
            (
                judge,
                (support.dimension or message("word.all", "all"), style),
                *counts,
                interval,
                bar,
                _how_found(support),
            )
        )
    heads = (
        message("head.judge", "judge"),
        message("head.dimension", "dimension"),
        number_head(message("checks.found", "found")),
        number_head(message("word.of", "of")),
        number_head(message("head.share", "share")),
        number_head(message("word.interval_95", "95% interval")),
        Head(None, page=message("word.share_drawn", "Share, drawn")),
        message("checks.how_or_why_not", "how, or why not"),
    )
    title = message("word.evidence", "Evidence")
    note = message("checks.quotes_that_stand_in_the_judged_response", "quotes that stand in the judged response")
    table = TableRows(heads, rows, name="evidence", label=message("checks.support_of_quotes", "Support of quotes"))
    return Section(title, [table, _problem_listing(report)], note=note, name="evidence")


def _how_found(support: scored_model.EvidenceSupport) -> Words:
    """The stages by which quotes were found, and what is wrong with the others."""
    pieces: list[str | tuple[str, str]] = [_counts(support.stages, stage_text)]
    if support.problems:
        pieces += [COMMA if support.stages else "", (_counts(support.problems, problem_text), "magenta")]
    return Words(pieces)


def _counts(tallies: Sequence[model.Tally], word: Callable[[str], Message]) -> Message:
    counts = [message("evidence.counted", "{name} {n}", name=word(part.name), n=part.count) for part in tallies]
    return join(counts, ", ")


def _problem_listing(report: scored_model.ScoredReport) -> Listing:
    """Each leads to its sample."""
    lines = []
    for item in report.evidence_problems:
        place = f" · {item.judge} · {name_text(item.dimension)}: "
        words = Words([(item.id, "bold"), place, problem_text(item.problem), ": ", f"“{item.quote}”"])
        lines.append(Link(words, {"id": item.id}))
    total = sum(part.count for item in report.evidence if item.dimension is None for part in item.problems)
    title = message("checks.quotes_that_are_not_in_the_response", "Quotes that are not in the response")
    return Listing(lines, _PROBLEMS_SHOWN, total, title=title)
