"""The report on a terminal: wide or narrow, with or without colour, in any script."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mixseek.domain.calls import CallAccount
from mixseek.reporting import wording
from mixseek.reporting.model import (
    GroupSummary,
    JudgeSummary,
    JudgmentRow,
    ReasoningSummary,
    ReportData,
    RunLine,
    ScoredDetail,
    ScoreSummary,
    Tally,
    Tone,
)
from mixseek.reporting.scored.terminal import fitted, marks_view, print_scored, quotes_view
from mixseek.reporting.scored.wording import NO_NAME, critical_sentence, maximum_text, plain_number, scale_text
from mixseek.reporting.wording import (
    NOTHING,
    QUIET,
    account_notes,
    add_accounts,
    cost_text,
    count_text,
    make_visible,
    plural,
    seconds_text,
    tokens_text,
)

# The calls of a run on a terminal: a table where there is room, a few lines a judge where there is none.

# What the report sets its sections in by.
_INDENT = 2
_COUNTS = ("calls", "tries", "cached", "re-asks")


def calls_view(accounts: Sequence[CallAccount], console: Console) -> Table | Text:
    """For a section of the report."""
    total = add_accounts(accounts)
    shown = [*accounts, *([total] if total else [])]
    table = _table(shown)
    # Eleven columns of numbers that break over lines say less than a few lines do.
    fits = Measurement.get(console, console.options, table).maximum <= console.width - _INDENT
    return table if fits else _lines(shown)


def notes_view(accounts: Sequence[CallAccount]) -> Text:
    """A line a judge, below the numbers."""
    lines = [f"{account.judge}: {'; '.join(notes)}" for account in accounts if (notes := account_notes(account))]
    return Text(make_visible("\n".join(lines)), style=QUIET)


def _table(accounts: Sequence[CallAccount]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("judge", no_wrap=True)
    for name in (*_COUNTS, "tokens in", "out"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cost", justify="right", no_wrap=True)
    for name in ("p50", "p90", "p99"):
        table.add_column(name, justify="right", no_wrap=True)
    for account in accounts:
        table.add_row(
            Text(make_visible(account.judge)),
            *(_number(count) for count in (account.calls, account.tries, account.cached, account.reasks)),
            Text(tokens_text(account.input_tokens, account)),
            Text(tokens_text(account.output_tokens, account)),
            Text(cost_text(account)),
            *(Text(text) for text in _latencies(account)),
        )
    return table


def _lines(accounts: Sequence[CallAccount]) -> Text:
    view = Text()
    for account in accounts:
        p50, p90, p99 = _latencies(account)
        tokens_in, tokens_out = (tokens_text(n, account) for n in (account.input_tokens, account.output_tokens))
        view.append("\n" if view else "")
        view.append(make_visible(account.judge), style="bold")
        view.append(f"\n{plural(account.calls, 'call')} · {count_text(account.tries)} tries")
        view.append(f" · {count_text(account.cached)} cached · {plural(account.reasks, 're-ask')}")
        view.append(f"\ntokens {tokens_in} in · {tokens_out} out")
        view.append(f"\ncost {cost_text(account)}")
        if account.latency:
            view.append(f"\nlatency p50 {p50} · p90 {p90} · p99 {p99}")
    return view


def _latencies(account: CallAccount) -> tuple[str, str, str]:
    latency = account.latency
    if latency is None:
        return NOTHING, NOTHING, NOTHING
    return seconds_text(latency.p50), seconds_text(latency.p90), seconds_text(latency.p99)


def _number(count: int) -> Text:
    return Text(count_text(count), style="" if count else QUIET)


STYLES = {
    Tone.GOOD: "green",
    Tone.MIXED: "blue",
    Tone.BAD: "red",
    Tone.UNDECIDED: "yellow",
    Tone.INVALID: "magenta",
    Tone.MISSING: "bright_black",
}
SHORT_NAMES = {"valid": "valid", "undecided": "und.", "invalid": "inv.", "missing": "mis."}
# Below this width a table keeps its numbers and gives up its drawings.
_WIDE = 100
# A terminal shows the shape of a run; the page and the export hold the rest.
_TASKS_SHOWN = 60
_RULES_SHOWN = 10
_EIGHTHS = " ▏▎▍▌▋▊▉"
# Marks that stay readable in a file, a pipe or a terminal without colour.
_OPEN, _CLOSE = "⟦", "⟧"


def print_report(report: ReportData, console: Console, html_path: Path | str | None = None) -> None:
    """Headline first, then what stands behind it, then where the page is."""
    _print_header(report, console)
    for judge in report.judges:
        _print_judge(judge, console, report)
    if not report.judges:
        console.print(Text("This run holds no judgments.", style=QUIET))
    if report.scored:
        print_scored(report.scored, console)
    if report.calls:
        _print_section("Calls", calls_view(report.calls, console), console)
        notes = notes_view(report.calls)
        if notes:
            console.print(Padding(notes, (0, 0, 0, 2), expand=False))
        console.print()
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Report  ", QUIET), str(html_path)), soft_wrap=True)


def _print_header(report: ReportData, console: Console) -> None:
    run = report.run
    console.print(Text(make_visible(run.run_id), style="bold"))
    facts = [
        f"{run.protocol} {run.protocol_version} [{run.protocol_hash[:8]}]",
        run.dataset,
        wording.plural(run.samples, "sample"),
    ]
    if moment := wording.moment_text(run.ended_at or run.started_at):
        facts.append(moment)
    console.print(Text(make_visible(" · ".join(facts)), style=QUIET))
    if run.unreached:
        console.print(Text(wording.unreached_sentence(run), style="yellow"))
    if report.scored and report.scored.critical:
        console.print()
        console.print(Text(critical_sentence(report.scored.critical), style="bold red"))


def _print_judge(judge: JudgeSummary, console: Console, report: ReportData) -> None:
    console.print()
    console.print(_headline(judge, report))
    console.print(_status_line(judge))
    for sentence in (
        wording.bounds_sentence(judge.score),
        wording.first_replies_sentence(judge),
        wording.control_sentence(judge),
    ):
        if sentence:
            console.print(Text(sentence, style=QUIET))
    _print_section("Verdicts", _bars(judge.verdicts, console), console, is_shown=bool(judge.verdicts))
    _print_section("Error types", _bars(judge.error_types, console), console, is_shown=bool(judge.error_types))
    _print_section("Warnings", _warning_table(judge), console, is_shown=bool(judge.warnings))
    if judge.reasoning:
        _print_section(_reasoning_title(judge.reasoning), _reasoning_table(judge.reasoning, console), console)
    if len(judge.tasks) > 1:
        _print_section("Tasks", _group_table("task", judge.tasks, wording.NO_TASK, console), console)
    if len(judge.targets) > 1:
        _print_section("Targets", _group_table("target", judge.targets, NO_NAME, console), console)
    _print_section("Most used rules", _rule_table(judge, console), console, is_shown=bool(judge.rules))
    _print_section("Without a score, and why", _unscored_table(judge), console, is_shown=bool(_unscored_lines(judge)))
    console.print()


def _print_section(title: str, body: Table | Text, console: Console, *, is_shown: bool = True) -> None:
    if not is_shown:
        return
    console.print()
    console.print(Text(title, style="bold"))
    console.print(Padding(fitted(body, console) if isinstance(body, Table) else body, (0, 0, 0, 2), expand=False))


def _headline(judge: JudgeSummary, report: ReportData) -> Text:
    score, maximum = judge.score, report.scored.maximum if report.scored else None
    line = Text()
    line.append(make_visible(report.label_of(judge.judge)), style="bold")
    line.append("  ")
    line.append(wording.score_text(score), style="bold")
    line.append(f" {make_visible(wording.mean_label(judge))}")
    if score.mean is not None and maximum is not None:
        line.append(f" = {scale_text(score.mean, maximum)} {maximum_text(maximum)}")
    if score.mean is not None:
        valid = "" if score.counts.valid == score.samples else f", {wording.count_text(score.counts.valid)} valid"
        line.append(f"  ({wording.interval_sentence(score)}{valid})")
    return line


def _status_line(judge: JudgeSummary) -> Text:
    counts = judge.score.counts
    line = Text()
    for tone, count in (
        (Tone.UNDECIDED, counts.undecided),
        (Tone.INVALID, counts.invalid),
        (Tone.MISSING, counts.missing),
    ):
        line.append("beside it: " if not line else " · ", style=QUIET)
        line.append(f"{wording.count_text(count)} {tone.value}", style=STYLES[tone] if count else QUIET)
        if tone is Tone.INVALID and judge.asked_again:
            line.append(f" {wording.reasks_text(judge.asked_again)}", style=QUIET)
    if judge.score.unverified:
        line.append("\n")
        line.append(f"{wording.count_text(judge.score.unverified)} unverified", style="yellow")
        line.append(": called correct, but the answer they rest on is not in the response", style=QUIET)
    return line


def _bars(tallies: tuple[Tally, ...], console: Console) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="ellipsis", no_wrap=True, max_width=max(12, console.width // 3))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    width = max(8, min(40, console.width - 45))
    for tally in tallies:
        style = STYLES[tally.tone] if tally.tone else "default"
        table.add_row(
            Text(make_visible(tally.name)),
            Text(_bar(tally.share, width), style=style),
            Text(wording.count_text(tally.count)),
            Text(wording.percent(tally.share), style=QUIET),
        )
    return table


def _bar(share: float, width: int) -> str:
    """Eighths of a cell, and at least one of them for anything that occurred."""
    eighths = max(1, round(share * width * 8)) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    bar = "█" * full + (_EIGHTHS[rest] if rest else "")
    return bar.ljust(width)


def _warning_table(judge: JudgeSummary) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for tally in judge.warnings:
        told = wording.warning_text(tally.name)
        table.add_row(
            Text(wording.count_text(tally.count), style="yellow"),
            Text(wording.percent(tally.share), style=QUIET),
            Text(make_visible(told)),
        )
    return table


def _reasoning_title(reasoning: ReasoningSummary) -> str:
    return f"Reasoning scores: {wording.reasoning_text(reasoning)}"


def _reasoning_table(reasoning: ReasoningSummary, console: Console) -> Table:
    """The distribution, right and wrong answers apart."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("score", no_wrap=True)
    table.add_column("", no_wrap=True)
    for name in ("correct", "incorrect", "share"):
        table.add_column(name, justify="right", no_wrap=True)
    width = max(8, min(30, console.width - 50))
    for bar in reasoning.bars:
        table.add_row(
            Text(str(bar.score)),
            Text(_bar(bar.share, width), style="blue"),
            _count(bar.correct, Tone.GOOD),
            _count(bar.incorrect, Tone.BAD),
            Text(wording.percent(bar.share), style=QUIET),
        )
    return table


def _group_table(head: str, groups: Sequence[GroupSummary], unnamed: str, console: Console) -> Table:
    """Tasks or targets. Columns that are nought in every row say nothing; undecided always stays."""
    is_wide = console.width >= _WIDE
    scores = [item.score for item in groups]
    shown = ["valid", "undecided"]
    shown += [name for name in ("invalid", "missing") if any(getattr(score.counts, name) for score in scores)]
    has_unverified = any(score.unverified for score in scores)
    has_reasoning = any(item.reasoning for item in groups)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    # Folded, not cut: names often differ in their last word.
    table.add_column(head, overflow="fold")
    heads = ["score", "95% interval", *(name if is_wide else SHORT_NAMES[name] for name in shown)]
    heads += ["unverified" if is_wide else "unv."] if has_unverified else []
    heads += ["reasoning" if is_wide else "reas."] if has_reasoning else []
    for place, name in enumerate(heads):
        if is_wide and place == 2:
            table.add_column("0%" + " " * 16 + "100%", no_wrap=True)
        table.add_column(name, justify="right", no_wrap=True)
    for item in groups[:_TASKS_SHOWN]:
        score = item.score
        cells = [Text(unnamed if item.name is None else make_visible(item.name)), Text(wording.score_text(score))]
        cells.append(Text(wording.interval_text(score), style=QUIET))
        cells += [_interval_plot(score, 22)] if is_wide else []
        cells.append(Text(wording.count_text(score.counts.valid)))
        cells += [_count(getattr(score.counts, name), Tone(name)) for name in shown[1:]]
        cells += [_count(score.unverified, Tone.UNDECIDED)] if has_unverified else []
        cells += [Text(wording.mean_reasoning_text(item.reasoning))] if has_reasoning else []
        table.add_row(*cells)
    if len(groups) > _TASKS_SHOWN:
        table.add_row(Text(f"… {len(groups) - _TASKS_SHOWN:,} more", style=QUIET))
    return table


def _interval_plot(score: ScoreSummary, width: int) -> Text:
    """A line from 0 to 1: dots where the interval is not, a rule where it is, the mean as a mark."""
    if score.interval is None or score.mean is None:
        return Text("·" * width, style=QUIET)
    last = width - 1
    low, high, mean = (round(share * last) for share in (score.interval.low, score.interval.high, score.mean))
    line = Text("·" * low, style=QUIET)
    line.append("━" * (mean - low), style="blue")
    line.append("●", style="bold blue")
    line.append("━" * (high - mean), style="blue")
    line.append("·" * (last - high))
    return line


def _count(count: int, tone: Tone) -> Text:
    return Text(wording.count_text(count), style=STYLES[tone] if count else QUIET)


def _rule_table(judge: JudgeSummary, console: Console) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("rule", overflow="ellipsis", no_wrap=True, max_width=max(16, console.width - 34))
    table.add_column("used", justify="right", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("undecided", justify="right", no_wrap=True)
    for usage in judge.rules[:_RULES_SHOWN]:
        table.add_row(
            Text(make_visible(usage.rule)),
            Text(wording.count_text(usage.count)),
            Text(wording.NOTHING if usage.mean is None else wording.percent(usage.mean)),
            _count(usage.undecided, Tone.UNDECIDED),
        )
    if len(judge.rules) > _RULES_SHOWN:
        table.add_row(Text(f"… {len(judge.rules) - _RULES_SHOWN:,} more", style=QUIET))
    return table


def _unscored_lines(judge: JudgeSummary) -> list[tuple[Tone, str, int, str]]:
    lines = [
        (Tone(summary.status.value), summary.status.value, detail.count, detail.text)
        for summary in judge.reasons
        for detail in summary.details
    ]
    return lines + [
        (Tone.INVALID, summary.flag.value, detail.count, detail.text)
        for summary in judge.flags
        for detail in summary.details
    ]


def _unscored_table(judge: JudgeSummary) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for tone, word, count, text in _unscored_lines(judge):
        table.add_row(Text(word, style=STYLES[tone]), Text(wording.count_text(count)), Text(make_visible(text)))
    return table


def print_rows(rows: Sequence[JudgmentRow], console: Console) -> None:
    """One sample under each of its judges: everything needed to check a judgment by eye, texts printed whole."""
    question = None
    for number, row in enumerate(rows):
        if number:
            console.print()
        _print_row(row, console, with_question=row.question != question)
        question = row.question


def _print_row(row: JudgmentRow, console: Console, *, with_question: bool) -> None:
    console.print(
        Text.assemble(
            (make_visible(row.id), "bold"),
            "  ",
            (make_visible(row.outcome), f"bold {STYLES[row.tone]}"),
            (f"  judge {make_visible(row.judge)}{f', repeat {row.repeat}' if row.repeat > 1 else ''}", QUIET),
        )
    )
    console.print(_fact_table(row))
    for finding in row.flags:
        line = Text.assemble((finding.flag.value, STYLES[row.tone]), "  ", make_visible(finding.detail))
        console.print(Padding(line, (0, 0, 0, 2), expand=False))
    if row.detail:
        _print_detail(row.detail, console)
    if row.rules:
        _print_section("Rules, in order", Text(" → ".join(make_visible(rule) for rule in row.rules)), console)
    if row.question and with_question:
        _print_section("Question", Text(make_visible(row.question)), console)
    _print_section("Response", response_text(row, has_colour=_has_colour(console)), console)
    if row.raw_reply is not None:
        _print_section("Raw reply of the judge", Text(make_visible(row.raw_reply)), console)


def _print_detail(detail: ScoredDetail, console: Console) -> None:
    for gate, reason in detail.gates:
        line = Text.assemble((make_visible(gate), "bold red"), "  ", make_visible(reason or "no reason was given"))
        console.print(Padding(line, (0, 0, 0, 2), expand=False))
    _print_section("Scores", marks_view(detail), console, is_shown=bool(detail.marks))
    _print_section("Evidence", quotes_view(detail), console, is_shown=bool(detail.quotes))


def response_text(row: JudgmentRow, *, has_colour: bool) -> Text:
    """The response with the extracted span set off: by colour, or by ⟦ ⟧ where there is none."""
    if not row.response:
        return Text("(empty)", style=QUIET)
    span = row.span
    if span is None or not 0 <= span.start <= span.end <= len(row.response):
        return Text(make_visible(row.response))
    before, inside, after = (
        make_visible(part)
        for part in (row.response[: span.start], row.response[span.start : span.end], row.response[span.end :])
    )
    if has_colour:
        return Text.assemble(before, (inside, "black on bright_yellow"), after)
    return Text.assemble(before, _OPEN, inside, _CLOSE, after)


def print_runs(runs: Sequence[RunLine], console: Console) -> None:
    """One line a run, in the order given."""
    if not runs:
        console.print(Text("No runs in this workspace yet; start one with `mixseek judge`.", style=QUIET))
        return
    is_wide = console.width >= 110
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    # With room, the run's name stays whole, because it is what is typed next; datasets and judges give way.
    table.add_column("run", overflow="fold", no_wrap=is_wide)
    table.add_column("protocol", no_wrap=True)
    if is_wide:
        table.add_column("dataset", overflow="fold")
        table.add_column("judges", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    for name in ("valid", "undecided", "invalid", "missing"):
        table.add_column(SHORT_NAMES[name], justify="right", no_wrap=True)
    if is_wide:
        table.add_column("started", no_wrap=True)
    for run in runs:
        table.add_row(*_run_cells(run, is_wide=is_wide))
    console.print(fitted(table, console, indent=0))


def _run_cells(run: RunLine, *, is_wide: bool) -> list[Text]:
    name = Text(make_visible(run.run_id))
    if not run.is_sealed:
        name.append(" (running)" if run.is_running else " (interrupted, resumable)", style="yellow")
    if run.problem is not None:
        name.append(" (not counted)" if run.counts is None else " (counted earlier)", style="yellow")
    counts = run.counts
    cells = [name, Text(make_visible(f"{run.protocol} {run.protocol_hash[:8]}" if is_wide else run.protocol))]
    if is_wide:
        cells += [Text(make_visible(run.dataset)), Text(make_visible(", ".join(run.judges)))]
    cells.append(Text(wording.NOTHING if run.mean is None else wording.percent(run.mean)))
    if counts is None:
        cells += [Text(wording.NOTHING)] * 4
    else:
        cells += [Text(wording.count_text(n)) for n in (counts.valid, counts.undecided, counts.invalid, counts.missing)]
    if is_wide:
        cells.append(Text(make_visible(wording.moment_text(run.started_at) or wording.NOTHING), style=QUIET))
    return cells


def _fact_table(row: JudgmentRow) -> Padding:
    truths = [truth for truth in (row.ground_truth, *row.ground_truth_alternatives) if truth is not None]
    facts = (
        ("extracted answer", row.extracted_answer),
        ("ground truth", " | ".join(truths) or None),
        ("score", None if row.score is None else f"{row.score:g}"),
        ("total", _total_text(row.detail)),
        ("confidence", row.detail.confidence if row.detail else None),
        ("task type", row.detail.task_type if row.detail else None),
        ("notes", row.detail.notes if row.detail else None),
        ("extraction", "not in the response: unverified" if row.is_unverified else None),
        ("reasoning score", None if row.reasoning_score is None else str(row.reasoning_score)),
        ("error type", row.error_type),
        ("warnings", "; ".join(wording.warning_text(name) for name in row.warnings) or None),
        ("reason", row.reason),
        ("comment", row.comment),
        ("task", row.task),
        ("target model", row.target_model),
        ("question id", row.question_id),
        ("prompt variant", row.prompt_variant),
        ("method", "self-judgment: a control, in no mean" if row.is_control else None),
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style=QUIET)
    table.add_column(overflow="fold")
    for label, value in facts:
        if value is not None:
            table.add_row(label, Text(make_visible(value)))
    return Padding(table, (0, 0, 0, 2), expand=False)


def _total_text(detail: ScoredDetail | None) -> str | None:
    if detail is None or detail.total is None:
        return None
    return plain_number(detail.total) + ("" if detail.maximum is None else f" of {plain_number(detail.maximum)}")


def _has_colour(console: Console) -> bool:
    return console.color_system is not None and not console.no_color
