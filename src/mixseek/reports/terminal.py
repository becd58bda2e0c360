"""The report on a terminal: wide or narrow, with or without colour, in any script."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mixseek.analysis import details, model, report_data, scored_model, several_runs
from mixseek.analysis.model import Tone
from mixseek.domain import counts
from mixseek.domain.judgments import Flag, JudgedRow, Span, Status
from mixseek.domain.ports import CallAccount
from mixseek.reports import tables, wording
from mixseek.reports.accounts import account_notes, add_accounts, cost_text, seconds_text, tokens_text
from mixseek.reports.labels import corrected_sections
from mixseek.reports.payload import left_out
from mixseek.reports.render.terminal import print_sections
from mixseek.reports.sections import QUIET, number_cell
from mixseek.reports.tables import Cell, fitted, print_section, table_of
from mixseek.reports.trust import interval_plot, orders_text, print_breakdowns, print_headline, print_pairs, print_trust
from mixseek.reports.wording import NOTHING, name_text, percent, problem_text
from mixseek.text.phrases import plain_number, plural
from mixseek.text.visible import make_visible

STYLES = {
    Tone.GOOD: "green",
    Tone.MIXED: "blue",
    Tone.BAD: "red",
    Tone.UNDECIDED: "yellow",
    Tone.INVALID: "magenta",
    Tone.MISSING: "bright_black",
}
# The words for counts, and what stands for them where there is little room.
_SHORT = {"undecided": "und.", "invalid": "inv.", "missing": "mis.", "unverified": "unv.", "reasoning": "reas."}
_COUNTS = ("valid", "undecided", "invalid", "missing")
_SHORT_COUNTS = tuple(f">{_SHORT.get(name, name)}" for name in _COUNTS)
# Below these widths tables keep their numbers and give up drawings and whatever else can be found elsewhere.
_WIDE, _WIDE_RUNS = 100, 110
# A terminal shows the shape of a run; the page and the export hold the rest.
_TASKS_SHOWN = 60
_RULES_SHOWN = 10
_HOLES_SHOWN = 12
_PROBLEMS_SHOWN = 8
_GRID_LINES = 40
_GRID_COLUMNS = 16
_BLOCKS = "▁▂▃▄▅▆▇█"
# Marks that stay readable in a file, a pipe or a terminal without colour.
_OPEN, _CLOSE = "⟦", "⟧"
_MARKS = {
    Status.VALID: ("●", "green"),
    Status.INVALID: ("✗", "magenta"),
    Status.UNDECIDED: ("?", "yellow"),
    Status.MISSING: ("–", "bright_black"),
    None: ("□", "bright_black"),
}


def print_report(report: report_data.ReportData, console: Console, html_path: Path | str | None = None) -> None:
    """What was judged first, then how far its judges can be trusted, then where the page is."""
    _print_header(report, console)
    headline, maximum = report.headline, report.scored.maximum if report.scored else None
    if headline and headline.leads:
        print_headline(headline, console)
    if headline:
        print_breakdowns(headline, console)
    if report.pairs:
        print_pairs(report.pairs, console)
    if report.corrected:
        print_sections(corrected_sections(report.corrected), console)
        console.print()
    if headline and headline.leads:
        console.print()
        console.rule(Text(wording.TRUST_TITLE, style="bold"), align="left", style=QUIET)
        print_trust(report.agreement, report.consistency, maximum, console)
    for judge in report.judges:
        _print_judge(judge, console, report)
    if headline and not headline.leads:
        print_trust(report.agreement, report.consistency, maximum, console)
    if not report.judges:
        console.print(Text("This run holds no judgments.", style=QUIET))
    if report.scored:
        _print_scored(report.scored, console)
    if report.calls:
        _print_calls(report.calls, console)
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Report  ", QUIET), str(html_path)), soft_wrap=True)


def _print_header(report: report_data.ReportData, console: Console) -> None:
    run = report.run
    console.print(Text(make_visible(run.run_id), style="bold"))
    facts = [f"{run.protocol} {run.protocol_version} [{run.protocol_hash[:8]}]", run.dataset]
    facts += [plural(run.samples, "sample"), wording.moment_text(run.ended_at or run.started_at) or ""]
    console.print(Text(make_visible(" · ".join(filter(None, facts))), style=QUIET))
    if run.unreached:
        unreached = f"Not finished: {run.unreached:,} of {plural(run.samples, 'sample')} not reached yet"
        console.print(Text(f"{unreached}, and in no count or bound below.", style="yellow"))
    if report.scored and report.scored.critical:
        console.print()
        console.print(Text(wording.critical_sentence(report.scored.critical), style="bold red"))


def _print_judge(judge: model.JudgeSummary, console: Console, report: report_data.ReportData) -> None:
    score = judge.score
    console.print()
    console.print(_headline(judge, report))
    console.print(_status_line(judge))
    sentences = (wording.bounds_sentence(score), wording.first_replies_sentence(judge), wording.control_sentence(judge))
    for sentence in filter(None, sentences):
        console.print(Text(sentence, style=QUIET))
    print_section(console, "Verdicts", _bars(judge.verdicts, console))
    print_section(console, "Error types", _bars(judge.error_types, console))
    warnings = [
        ((f"{one.count:,}", "yellow"), (percent(one.share), QUIET), wording.warning_text(one.name))
        for one in judge.warnings
    ]
    print_section(console, "Warnings", table_of((">", ">", ""), warnings))
    if judge.reasoning:
        title = f"Reasoning scores: {wording.reasoning_text(judge.reasoning)}"
        print_section(console, title, _reasoning_table(judge.reasoning, console))
    if len(judge.tasks) > 1:
        print_section(console, "Tasks", _group_table("task", judge.tasks, wording.NO_TASK, console))
    is_told = report.headline is not None and report.headline.leads and len(report.judges) == 1
    if len(judge.targets) > 1 and not is_told:
        print_section(console, "Targets", _group_table("target", judge.targets, wording.NO_NAME, console))
    rules = []
    for usage in judge.rules:
        mean = NOTHING if usage.mean is None else percent(usage.mean)
        rules.append((usage.rule, f"{usage.count:,}", mean, number_cell(usage.undecided, STYLES[Tone.UNDECIDED])))
    heads = ("rule", ">used", ">mean", ">undecided")
    print_section(console, "Most used rules", table_of(heads, rules, limit=_RULES_SHOWN))
    unscored: list[Sequence[Cell]] = []
    for item in (*judge.reasons, *judge.flags):
        tone = Tone.INVALID if isinstance(item.kind, Flag) else Tone(item.kind.value)
        unscored += [((item.kind.value, STYLES[tone]), f"{detail.count:,}", detail.text) for detail in item.details]
    print_section(console, "Without a score, and why", table_of(("|", ">", ""), unscored))
    console.print()


def _headline(judge: model.JudgeSummary, report: report_data.ReportData) -> Text:
    score, maximum = judge.score, report.scored.maximum if report.scored else None
    line = Text.assemble((make_visible(report.label_of(judge.judge)), "bold"), "  ")
    line.append(wording.score_text(score), style="bold")
    line.append(f" {make_visible(wording.mean_label(judge))}")
    if score.mean is not None:
        if maximum is not None:
            line.append(f" = {wording.scale_text(score.mean, maximum)} {wording.maximum_text(maximum)}")
        valid = "" if score.counts.valid == score.samples else f", {score.counts.valid:,} valid"
        line.append(f"  ({wording.interval_sentence(score)}{valid})")
    return line


def _status_line(judge: model.JudgeSummary) -> Text:
    line = Text()
    for status in (Status.UNDECIDED, Status.INVALID, Status.MISSING):
        line.append("beside it: " if not line else " · ", style=QUIET)
        count = judge.score.counts.of(status)
        line.append(f"{count:,} {status.value}", style=STYLES[Tone(status.value)] if count else QUIET)
        if status is Status.INVALID and judge.asked_again:
            line.append(f" {wording.reasks_text(judge.asked_again)}", style=QUIET)
    if judge.score.unverified:
        line.append(f"\n{judge.score.unverified:,} unverified", style="yellow")
        line.append(": called correct, but the answer they rest on is not in the response", style=QUIET)
    return line


def _bars(tallies: Sequence[model.Tally], console: Console) -> Table:
    width = max(8, min(40, console.width - 45))
    rows = []
    for tally in tallies:
        bar = (tables.bar_text(tally.share, width), STYLES[tally.tone] if tally.tone else "default")
        rows.append((tally.name, bar, f"{tally.count:,}", (percent(tally.share), QUIET)))
    return table_of(("", "|", ">", ">"), rows)


def _reasoning_table(reasoning: model.ReasoningSummary, console: Console) -> Table:
    width = max(8, min(30, console.width - 50))
    rows = []
    for bar in reasoning.bars:
        counts = number_cell(bar.correct, STYLES[Tone.GOOD]), number_cell(bar.incorrect, STYLES[Tone.BAD])
        drawn = (tables.bar_text(bar.share, width), "blue")
        rows.append((str(bar.score), drawn, *counts, (percent(bar.share), QUIET)))
    return table_of(("|score", "|", ">correct", ">incorrect", ">share"), rows)


def _group_table(head: str, groups: Sequence[model.GroupSummary], unnamed: str, console: Console) -> Table:
    """Tasks or targets. Columns that are nought in every row say nothing; undecided always stays."""
    is_wide = console.width >= _WIDE
    scores = [item.score for item in groups]
    columns: list[tuple[str, list[Cell]]] = [
        (head, [unnamed if item.name is None else item.name for item in groups]),
        (">score", [wording.score_text(score) for score in scores]),
        (">95% interval", [(wording.interval_text(score), QUIET) for score in scores]),
    ]
    if is_wide:
        columns.append((f"|{tables.DRAWN}", [interval_plot(score) for score in scores]))
    for name in (*_COUNTS, "unverified"):
        numbers = [getattr(score if name == "unverified" else score.counts, name) for score in scores]
        if any(numbers) or name in ("valid", "undecided"):
            style = "" if name == "valid" else STYLES[Tone("undecided" if name == "unverified" else name)]
            columns.append(
                (f">{name if is_wide else _SHORT.get(name, name)}", [number_cell(n, style) for n in numbers])
            )
    if any(item.reasoning for item in groups):
        means: list[Cell] = [wording.mean_reasoning_text(item.reasoning) for item in groups]
        columns.append((f">{'reasoning' if is_wide else _SHORT['reasoning']}", means))
    heads, cells = zip(*columns, strict=True)
    return table_of(heads, zip(*cells, strict=True), limit=_TASKS_SHOWN)


def _print_calls(accounts: Sequence[CallAccount], console: Console) -> None:
    """What live judges were asked and what it took; below the numbers, what they leave unsaid."""
    total = add_accounts(accounts)
    heads = ("judge", ">calls", ">tries", ">cached", ">re-asks", ">tokens in", ">out", ">cost", ">p50", ">p90", ">p99")
    rows: list[tuple[Cell, ...]] = [
        (
            account.judge,
            *map(number_cell, (account.calls, account.tries, account.cached, account.reasks)),
            tokens_text(account.input_tokens, account),
            tokens_text(account.output_tokens, account),
            cost_text(account),
            *(seconds_text(getattr(account.latency, name, None)) for name in ("p50", "p90", "p99")),
        )
        for account in (*accounts, *([total] if total else []))
    ]
    notes = [f"{account.judge}: {'; '.join(told)}" for account in accounts if (told := account_notes(account))]
    print_section(console, "Calls", table_of(heads, rows), Text(make_visible("\n".join(notes)), style=QUIET))
    console.print()


# Under a protocol with dimensions: dimensions, matrix, coverage, drift and evidence.


def _print_scored(report: scored_model.ScoredReport, console: Console) -> None:
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


# One sample under each of its judges: everything needed to check a judgment by eye.


def print_rows(rows: Sequence[JudgedRow], console: Console) -> None:
    """Texts are printed whole, a question once."""
    question = None
    for number, row in enumerate(rows):
        if number:
            console.print()
        _print_row(row, console, with_question=row.question != question)
        question = row.question


def _print_row(row: JudgedRow, console: Console, *, with_question: bool) -> None:
    detail, style = details.read_detail(row.fields), STYLES[model.tone_of(row.status, row.score)]
    outcome = (make_visible(model.outcome_word(row.status, row.verdict)), f"bold {style}")
    judge = f"  judge {make_visible(row.judge)}{f', repeat {row.take}' if row.take > 1 else ''}"
    console.print(Text.assemble((make_visible(row.id), "bold"), "  ", outcome, (judge, QUIET)))
    facts = [((label, QUIET), value) for label, value in _facts(row, detail) if value is not None]
    tables.print_indented(console, table_of(("|", ""), facts))
    for finding in row.flags:
        told = Text.assemble((finding.flag.value, style), "  ", make_visible(finding.detail))
        tables.print_indented(console, told)
    if detail:
        for gate, reason in detail.gates:
            told = Text.assemble((make_visible(gate), "bold red"), "  ", make_visible(reason or "no reason was given"))
            tables.print_indented(console, told)
        marks = [
            (mark.dimension, _of_maximum(mark.score, mark.maximum), mark.reason or NOTHING) for mark in detail.marks
        ]
        print_section(console, "Scores", table_of(("dimension", ">score", "reason"), marks))
        print_section(console, "Evidence", _quotes_table(detail))
    if row.rules:
        print_section(console, "Rules, in order", Text(make_visible(" → ".join(row.rules))))
    if row.question and with_question:
        print_section(console, "Question", Text(make_visible(row.question)))
    has_colour = console.color_system is not None and not console.no_color
    title = "Response" if row.response_b is None else "Response A"
    print_section(console, title, _response_text(row, has_colour=has_colour))
    if row.response_b is not None:
        print_section(console, "Response B", Text(make_visible(row.response_b)) if row.response_b else Text("(empty)"))
    if row.raw_reply is not None:
        print_section(console, "Raw reply of the judge", Text(make_visible(row.raw_reply)))


def _facts(row: JudgedRow, detail: details.ScoredDetail | None) -> Iterable[tuple[str, str | None]]:
    truths = [truth for truth in (row.ground_truth, *row.ground_truth_alternatives) if truth is not None]
    yield "extracted answer", row.extracted_answer
    yield "ground truth", " | ".join(truths) or None
    yield "score", None if row.score is None else plain_number(row.score)
    if detail:
        yield "total", None if detail.total is None else _of_maximum(detail.total, detail.maximum)
        yield "confidence", detail.confidence
        yield "task type", detail.task_type
        yield "notes", detail.notes
    yield "extraction", "not in the response: unverified" if row.is_unverified else None
    yield "reasoning score", None if row.reasoning_score is None else str(row.reasoning_score)
    yield "error type", row.error_type
    yield "warnings", "; ".join(wording.warning_text(name) for name in row.warnings) or None
    for name in ("reason", "comment", "task_name", "target_model", "question_id", "prompt_variant"):
        yield name.removesuffix("_name").replace("_", " "), getattr(row, name)
    if row.response_b is not None:
        yield "against", row.target_b
        yield "orders", orders_text(row.fields)
        for quote in row.fields.get("evidence") or ():
            found = problem_text(quote["problem"]) if quote.get("problem") else "found"
            yield f"quote from {quote['response']}", f"“{quote['quote']}” ({found}, order {quote['order']})"
    yield "method", "self-judgment: a control, in no mean" if row.is_control else None


def _of_maximum(value: float, maximum: float | None) -> str:
    return plain_number(value) + ("" if maximum is None else f" of {plain_number(maximum)}")


def _quotes_table(detail: details.ScoredDetail) -> Table:
    """One judgment's evidence: where each quote stands, or why it does not."""
    rows = []
    for quote in detail.quotes:
        found = (_found_text(quote), "red" if quote.problem else "green")
        rows.append((name_text(quote.dimension), f"“{quote.text}”", found, quote.reason))
    return table_of(("dimension", "quote", "found", "reason"), rows)


def _found_text(quote: details.Quote) -> str:
    if quote.problem:
        return problem_text(quote.problem)
    if not (quote.stage or quote.spans):
        return "not looked for"
    return f"{quote.stage or 'found'} at {', '.join(f'{span.start}–{span.end}' for span in quote.spans)}"


def _response_text(row: JudgedRow, *, has_colour: bool) -> Text:
    """The response with the extracted span set off: by colour, or by ⟦ ⟧ where there is none."""
    if not row.response:
        return Text("(empty)", style=QUIET)
    skipped = left_out(row).response_before
    span = row.span and Span(row.span.start - skipped, row.span.end - skipped)
    if span is None or not 0 <= span.start <= span.end <= len(row.response):
        return Text(make_visible(row.response))
    parts = (row.response[: span.start], row.response[span.start : span.end], row.response[span.end :])
    before, inside, after = map(make_visible, parts)
    if has_colour:
        return Text.assemble(before, (inside, "black on bright_yellow"), after)
    return Text.assemble(before, _OPEN, inside, _CLOSE, after)


# Several runs: what a workspace holds, and runs of one protocol side by side.


def print_runs(runs: Sequence[model.RunLine], console: Console) -> None:
    if not runs:
        console.print(Text("No runs in this workspace yet; start one with `mixseek judge`.", style=QUIET))
        return
    is_wide = console.width >= _WIDE_RUNS
    # With room, the run's name stays whole, because it is what is typed next; datasets and judges give way.
    heads = ("|run", "|protocol", "dataset", "judges") if is_wide else ("run", "|protocol")
    heads += (">score", *_SHORT_COUNTS, *(("|started",) if is_wide else ()))
    rows = [_run_cells(run, is_wide=is_wide) for run in runs]
    console.print(fitted(table_of(heads, rows), console.width))


def _run_cells(run: model.RunLine, *, is_wide: bool) -> list[Cell]:
    name = Text(make_visible(run.run_id))
    if not run.is_sealed:
        name.append(" (running)" if run.is_running else " (interrupted, resumable)", style="yellow")
    if run.problem is not None:
        name.append(" (not counted)" if run.counts is None else " (counted earlier)", style="yellow")
    score = [NOTHING if run.mean is None else percent(run.mean), *_count_cells(run.counts)]
    if not is_wide:
        return [name, run.protocol, *score]
    protocol, judges = f"{run.protocol} {run.protocol_hash[:8]}", ", ".join(run.judges)
    return [name, protocol, run.dataset, judges, *score, (wording.moment_text(run.started_at) or NOTHING, QUIET)]


def _count_cells(counts: counts.StatusCounts | None) -> list[str]:
    return [NOTHING if counts is None else f"{getattr(counts, name):,}" for name in _COUNTS]


def print_comparison(comparison: several_runs.RunComparison, console: Console) -> None:
    title = f"{comparison.protocol} [{comparison.protocol_hash[:8]}]: {len(comparison.runs)} runs"
    console.print(Text(make_visible(title), style="bold"))
    console.print()
    rows: list[Sequence[Cell]] = [
        (run.run_id, run.dataset, ", ".join(run.judges), *_score_cells(run.score)) for run in comparison.runs
    ]
    rows.append((("all runs", "bold"), "", "", *_score_cells(comparison.pooled)))
    heads = ("run", "dataset", "judges", ">score", ">95% interval", *_SHORT_COUNTS)
    console.print(fitted(table_of(heads, rows), console.width))
    for line in (wording.bounds_sentence(comparison.pooled), *comparison.notes):
        if line:
            console.print(Text(line, style=QUIET))


def _score_cells(score: model.ScoreSummary) -> list[Cell]:
    mean, interval = (wording.score_text(score), "bold"), (wording.interval_text(score), QUIET)
    return [mean, interval, *_count_cells(score.counts)]
