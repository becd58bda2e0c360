"""The report on a terminal: wide or narrow, with or without colour, in any script."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixseek.domain.calls import CallAccount
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.reporting import wording
from mixseek.reporting.model import (
    GroupSummary,
    JudgeSummary,
    ReasoningSummary,
    ReportData,
    RunComparison,
    RunLine,
    ScoredDetail,
    ScoreSummary,
    StatusCounts,
    Tally,
    Tone,
    outcome_word,
    read_detail,
    tone_of,
)
from mixseek.reporting.scored.terminal import marks_table, print_scored, quotes_table
from mixseek.reporting.tables import (
    DRAWN,
    QUIET,
    Cell,
    bar_text,
    fitted,
    number_cell,
    print_indented,
    print_section,
    table_of,
)
from mixseek.reporting.wording import NO_NAME, NO_TASK, NOTHING, make_visible, percent, plain_number, plural

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
_PLOT_WIDTH = 22
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
        _print_calls(report.calls, console)
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Report  ", QUIET), str(html_path)), soft_wrap=True)


def _print_header(report: ReportData, console: Console) -> None:
    run = report.run
    console.print(Text(make_visible(run.run_id), style="bold"))
    facts = [f"{run.protocol} {run.protocol_version} [{run.protocol_hash[:8]}]", run.dataset]
    facts += [plural(run.samples, "sample"), wording.moment_text(run.ended_at or run.started_at) or ""]
    console.print(Text(make_visible(" · ".join(filter(None, facts))), style=QUIET))
    if run.unreached:
        console.print(Text(wording.unreached_sentence(run), style="yellow"))
    if report.scored and report.scored.critical:
        console.print()
        console.print(Text(wording.critical_sentence(report.scored.critical), style="bold red"))


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
    print_section(console, "Verdicts", _bars(judge.verdicts, console))
    print_section(console, "Error types", _bars(judge.error_types, console))
    print_section(console, "Warnings", _warning_table(judge))
    if judge.reasoning:
        title = f"Reasoning scores: {wording.reasoning_text(judge.reasoning)}"
        print_section(console, title, _reasoning_table(judge.reasoning, console))
    if len(judge.tasks) > 1:
        print_section(console, "Tasks", _group_table("task", judge.tasks, NO_TASK, console))
    if len(judge.targets) > 1:
        print_section(console, "Targets", _group_table("target", judge.targets, NO_NAME, console))
    print_section(console, "Most used rules", _rule_table(judge))
    print_section(console, "Without a score, and why", _unscored_table(judge))
    console.print()


def _headline(judge: JudgeSummary, report: ReportData) -> Text:
    score, maximum = judge.score, report.scored.maximum if report.scored else None
    line = Text.assemble((make_visible(report.label_of(judge.judge)), "bold"), "  ")
    line.append(wording.score_text(score), style="bold")
    line.append(f" {make_visible(wording.mean_label(judge))}")
    if score.mean is not None and maximum is not None:
        line.append(f" = {wording.scale_text(score.mean, maximum)} {wording.maximum_text(maximum)}")
    if score.mean is not None:
        valid = "" if score.counts.valid == score.samples else f", {score.counts.valid:,} valid"
        line.append(f"  ({wording.interval_sentence(score)}{valid})")
    return line


def _status_line(judge: JudgeSummary) -> Text:
    counts = judge.score.counts
    line = Text()
    for status in (Status.UNDECIDED, Status.INVALID, Status.MISSING):
        line.append("beside it: " if not line else " · ", style=QUIET)
        count = counts.of(status)
        line.append(f"{count:,} {status.value}", style=STYLES[Tone(status.value)] if count else QUIET)
        if status is Status.INVALID and judge.asked_again:
            line.append(f" {wording.reasks_text(judge.asked_again)}", style=QUIET)
    if judge.score.unverified:
        line.append(f"\n{judge.score.unverified:,} unverified", style="yellow")
        line.append(": called correct, but the answer they rest on is not in the response", style=QUIET)
    return line


def _bars(tallies: Sequence[Tally], console: Console) -> Table:
    width = max(8, min(40, console.width - 45))
    return table_of(
        ("", "|", ">", ">"),
        [
            (
                tally.name,
                (bar_text(tally.share, width), STYLES[tally.tone] if tally.tone else "default"),
                f"{tally.count:,}",
                (percent(tally.share), QUIET),
            )
            for tally in tallies
        ],
    )


def _warning_table(judge: JudgeSummary) -> Table:
    return table_of(
        (">", ">", ""),
        [
            ((f"{tally.count:,}", "yellow"), (percent(tally.share), QUIET), wording.warning_text(tally.name))
            for tally in judge.warnings
        ],
    )


def _reasoning_table(reasoning: ReasoningSummary, console: Console) -> Table:
    """The distribution, right and wrong answers apart."""
    width = max(8, min(30, console.width - 50))
    return table_of(
        ("|score", "|", ">correct", ">incorrect", ">share"),
        [
            (
                str(bar.score),
                (bar_text(bar.share, width), "blue"),
                number_cell(bar.correct, STYLES[Tone.GOOD]),
                number_cell(bar.incorrect, STYLES[Tone.BAD]),
                (percent(bar.share), QUIET),
            )
            for bar in reasoning.bars
        ],
    )


def _group_table(head: str, groups: Sequence[GroupSummary], unnamed: str, console: Console) -> Table:
    """Tasks or targets. Columns that are nought in every row say nothing; undecided always stays."""
    is_wide = console.width >= _WIDE
    scores = [item.score for item in groups]
    shown = [name for name in ("invalid", "missing") if any(getattr(score.counts, name) for score in scores)]
    shown = ["valid", "undecided", *shown]
    has_unverified = any(score.unverified for score in scores)
    has_reasoning = any(item.reasoning for item in groups)
    named = [*shown, *(["unverified"] if has_unverified else []), *(["reasoning"] if has_reasoning else [])]
    heads = [head, ">score", ">95% interval", *([f"|{DRAWN}"] if is_wide else [])]
    heads += [f">{name if is_wide else _SHORT.get(name, name)}" for name in named]

    def cells(item: GroupSummary) -> Iterable[Cell]:
        score = item.score
        yield unnamed if item.name is None else item.name
        yield wording.score_text(score)
        yield wording.interval_text(score), QUIET
        if is_wide:
            yield _interval_plot(score)
        yield f"{score.counts.valid:,}"
        for name in shown[1:]:
            yield number_cell(getattr(score.counts, name), STYLES[Tone(name)])
        if has_unverified:
            yield number_cell(score.unverified, STYLES[Tone.UNDECIDED])
        if has_reasoning:
            yield wording.mean_reasoning_text(item.reasoning)

    return table_of(heads, [list(cells(item)) for item in groups], limit=_TASKS_SHOWN)


def _interval_plot(score: ScoreSummary) -> Text:
    """A line from 0 to 1: dots where the interval is not, a rule where it is, the mean as a mark."""
    if score.interval is None or score.mean is None:
        return Text("·" * _PLOT_WIDTH, style=QUIET)
    last = _PLOT_WIDTH - 1
    low, high, mean = (round(share * last) for share in (score.interval.low, score.interval.high, score.mean))
    return Text.assemble(
        ("·" * low, QUIET), ("━" * (mean - low), "blue"), ("●", "bold blue"), ("━" * (high - mean), "blue"),
        ("·" * (last - high), QUIET),
    )  # fmt: skip


def _rule_table(judge: JudgeSummary) -> Table:
    return table_of(
        ("rule", ">used", ">mean", ">undecided"),
        [
            (
                usage.rule,
                f"{usage.count:,}",
                NOTHING if usage.mean is None else percent(usage.mean),
                number_cell(usage.undecided, STYLES[Tone.UNDECIDED]),
            )
            for usage in judge.rules
        ],
        limit=_RULES_SHOWN,
    )


def _unscored_table(judge: JudgeSummary) -> Table:
    reasons = [(item.status.value, Tone(item.status.value), item.details) for item in judge.reasons]
    flags = [(item.flag.value, Tone.INVALID, item.details) for item in judge.flags]
    return table_of(
        ("|", ">", ""),
        [
            ((word, STYLES[tone]), f"{detail.count:,}", detail.text)
            for word, tone, details in (*reasons, *flags)
            for detail in details
        ],
    )


def _print_calls(accounts: Sequence[CallAccount], console: Console) -> None:
    """What live judges were asked and what it took; below the numbers, what they leave unsaid."""
    total = wording.add_accounts(accounts)
    heads = ("judge", ">calls", ">tries", ">cached", ">re-asks", ">tokens in", ">out", ">cost", ">p50", ">p90", ">p99")
    rows = [
        (
            account.judge,
            *map(number_cell, (account.calls, account.tries, account.cached, account.reasks)),
            wording.tokens_text(account.input_tokens, account),
            wording.tokens_text(account.output_tokens, account),
            wording.cost_text(account),
            *(wording.seconds_text(getattr(account.latency, name, None)) for name in ("p50", "p90", "p99")),
        )
        for account in (*accounts, *([total] if total else []))
    ]
    notes = [f"{account.judge}: {'; '.join(told)}" for account in accounts if (told := wording.account_notes(account))]
    print_section(console, "Calls", table_of(heads, rows), Text(make_visible("\n".join(notes)), style=QUIET))
    console.print()


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
    detail, style = read_detail(row.fields), STYLES[tone_of(row.status, row.score)]
    console.print(
        Text.assemble(
            (make_visible(row.id), "bold"),
            "  ",
            (make_visible(outcome_word(row.status, row.verdict)), f"bold {style}"),
            (f"  judge {make_visible(row.judge)}{f', repeat {row.take}' if row.take > 1 else ''}", QUIET),
        )
    )
    facts = [((label, QUIET), value) for label, value in _facts(row, detail) if value is not None]
    print_indented(console, table_of(("|", ""), facts))
    for finding in row.flags:
        told = Text.assemble((finding.flag.value, style), "  ", make_visible(finding.detail))
        print_indented(console, told)
    if detail:
        for gate, reason in detail.gates:
            told = Text.assemble((make_visible(gate), "bold red"), "  ", make_visible(reason or "no reason was given"))
            print_indented(console, told)
        print_section(console, "Scores", marks_table(detail))
        print_section(console, "Evidence", quotes_table(detail))
    if row.rules:
        print_section(console, "Rules, in order", Text(make_visible(" → ".join(row.rules))))
    if row.question and with_question:
        print_section(console, "Question", Text(make_visible(row.question)))
    has_colour = console.color_system is not None and not console.no_color
    print_section(console, "Response", response_text(row, has_colour=has_colour))
    if row.raw_reply is not None:
        print_section(console, "Raw reply of the judge", Text(make_visible(row.raw_reply)))


def _facts(row: JudgedRow, detail: ScoredDetail | None) -> Iterable[tuple[str, str | None]]:
    truths = [truth for truth in (row.ground_truth, *row.ground_truth_alternatives) if truth is not None]
    return (
        ("extracted answer", row.extracted_answer),
        ("ground truth", " | ".join(truths) or None),
        ("score", None if row.score is None else plain_number(row.score)),
        ("total", _total_text(detail) if detail else None),
        ("confidence", detail.confidence if detail else None),
        ("task type", detail.task_type if detail else None),
        ("notes", detail.notes if detail else None),
        ("extraction", "not in the response: unverified" if row.is_unverified else None),
        ("reasoning score", None if row.reasoning_score is None else str(row.reasoning_score)),
        ("error type", row.error_type),
        ("warnings", "; ".join(wording.warning_text(name) for name in row.warnings) or None),
        ("reason", row.reason),
        ("comment", row.comment),
        ("task", row.task_name),
        ("target model", row.target_model),
        ("question id", row.question_id),
        ("prompt variant", row.prompt_variant),
        ("method", "self-judgment: a control, in no mean" if row.is_control else None),
    )


def _total_text(detail: ScoredDetail) -> str | None:
    if detail.total is None:
        return None
    return plain_number(detail.total) + ("" if detail.maximum is None else f" of {plain_number(detail.maximum)}")


def response_text(row: JudgedRow, *, has_colour: bool) -> Text:
    """The response with the extracted span set off: by colour, or by ⟦ ⟧ where there is none."""
    if not row.response:
        return Text("(empty)", style=QUIET)
    span = row.span
    if span is None or not 0 <= span.start <= span.end <= len(row.response):
        return Text(make_visible(row.response))
    parts = (row.response[: span.start], row.response[span.start : span.end], row.response[span.end :])
    before, inside, after = map(make_visible, parts)
    if has_colour:
        return Text.assemble(before, (inside, "black on bright_yellow"), after)
    return Text.assemble(before, _OPEN, inside, _CLOSE, after)


# Several runs: what a workspace holds, and runs of one protocol side by side.


def print_runs(runs: Sequence[RunLine], console: Console) -> None:
    """One line a run, in the order given."""
    if not runs:
        console.print(Text("No runs in this workspace yet; start one with `mixseek judge`.", style=QUIET))
        return
    is_wide = console.width >= _WIDE_RUNS
    # With room, the run's name stays whole, because it is what is typed next; datasets and judges give way.
    heads = ("|run", "|protocol", "dataset", "judges") if is_wide else ("run", "|protocol")
    heads += (">score", *_SHORT_COUNTS, *(("|started",) if is_wide else ()))
    rows = [_run_cells(run, is_wide=is_wide) for run in runs]
    console.print(fitted(table_of(heads, rows), console.width))


def _run_cells(run: RunLine, *, is_wide: bool) -> list[Cell]:
    name = Text(make_visible(run.run_id))
    if not run.is_sealed:
        name.append(" (running)" if run.is_running else " (interrupted, resumable)", style="yellow")
    if run.problem is not None:
        name.append(" (not counted)" if run.counts is None else " (counted earlier)", style="yellow")
    cells: list[Cell] = [name, f"{run.protocol} {run.protocol_hash[:8]}" if is_wide else run.protocol]
    if is_wide:
        cells += [run.dataset, ", ".join(run.judges)]
    cells += [NOTHING if run.mean is None else percent(run.mean), *_count_cells(run.counts)]
    if is_wide:
        cells.append((wording.moment_text(run.started_at) or NOTHING, QUIET))
    return cells


def _count_cells(counts: StatusCounts | None) -> list[Cell]:
    return [NOTHING if counts is None else f"{getattr(counts, name):,}" for name in _COUNTS]


def print_comparison(comparison: RunComparison, console: Console) -> None:
    """A line a run, then all of them as one."""
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


def _score_cells(score: ScoreSummary) -> list[Cell]:
    """The mean and what stands beside it."""
    mean, interval = (wording.score_text(score), "bold"), (wording.interval_text(score), QUIET)
    return [mean, interval, *_count_cells(score.counts)]
