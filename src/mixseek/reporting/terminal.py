"""The report on a terminal: wide or narrow, with or without colour, in any script."""

from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mixseek.reporting import wording
from mixseek.reporting.model import JudgeSummary, ReportData, ScoreSummary, Tally, Tone
from mixseek.reporting.visible import make_visible

STYLES = {
    Tone.GOOD: "green",
    Tone.MIXED: "blue",
    Tone.BAD: "red",
    Tone.UNDECIDED: "yellow",
    Tone.INVALID: "magenta",
    Tone.MISSING: "bright_black",
}
QUIET = "dim"
SHORT_NAMES = {"valid": "valid", "undecided": "und.", "invalid": "inv.", "missing": "mis."}
# Below this width a table keeps its numbers and gives up its drawings.
_WIDE = 100
# A terminal shows the shape of a run; the page and the export hold the rest.
_TASKS_SHOWN = 60
_RULES_SHOWN = 10
_EIGHTHS = " ▏▎▍▌▋▊▉"


def print_report(report: ReportData, console: Console, html_path: Path | str | None = None) -> None:
    """Headline first, then what stands behind it, then where the page is."""
    _print_header(report, console)
    for judge in report.judges:
        _print_judge(judge, console)
    if not report.judges:
        console.print(Text("This run holds no judgments.", style=QUIET))
    if html_path is not None:
        # Not wrapped and not styled: a path that is broken over two lines cannot be opened.
        console.print(Text.assemble(("Report  ", QUIET), str(html_path)), soft_wrap=True)


def _print_header(report: ReportData, console: Console) -> None:
    run = report.run
    console.print(Text(make_visible(run.run_id), style="bold"))
    facts = [
        f"{run.protocol} {run.protocol_version} [{run.protocol_hash[:8]}]",
        run.dataset,
        f"{wording.count_text(run.samples)} samples",
    ]
    if moment := wording.moment_text(run.ended_at or run.started_at):
        facts.append(moment)
    console.print(Text(make_visible(" · ".join(facts)), style=QUIET))


def _print_judge(judge: JudgeSummary, console: Console) -> None:
    console.print()
    console.print(_headline(judge))
    console.print(_status_line(judge))
    if sentence := wording.bounds_sentence(judge.score):
        console.print(Text(sentence, style=QUIET))
    _print_section("Verdicts", _bars(judge.verdicts, console), console, is_shown=bool(judge.verdicts))
    _print_section("Error types", _bars(judge.error_types, console), console, is_shown=bool(judge.error_types))
    _print_section("Tasks", _task_table(judge, console), console, is_shown=len(judge.tasks) > 1)
    _print_section("Most used rules", _rule_table(judge, console), console, is_shown=bool(judge.rules))
    _print_section("Without a score, and why", _unscored_table(judge), console, is_shown=bool(_unscored_lines(judge)))
    console.print()


def _print_section(title: str, body: Table, console: Console, *, is_shown: bool) -> None:
    if not is_shown:
        return
    console.print()
    console.print(Text(title, style="bold"))
    console.print(Padding(body, (0, 0, 0, 2), expand=False))


def _headline(judge: JudgeSummary) -> Text:
    score = judge.score
    line = Text()
    line.append(make_visible(judge.judge), style="bold")
    line.append("  ")
    line.append(wording.score_text(score), style="bold")
    line.append(f" {make_visible(wording.mean_label(judge))}")
    if score.interval is not None:
        valid = wording.count_text(score.counts.valid)
        line.append(f"  ({wording.level_text(score.interval)} {wording.interval_text(score)}, {valid} valid)")
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


def _task_table(judge: JudgeSummary, console: Console) -> Table:
    is_wide = console.width >= _WIDE
    # Columns that are nought in every row say nothing; undecided always stays, because honesty about it is the point.
    scores = [item.score for item in judge.tasks]
    has_invalid = any(score.counts.invalid for score in scores)
    has_missing = any(score.counts.missing for score in scores)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    # Folded, not cut: names often differ in their last word. The only column that gives way, so numbers stay whole.
    table.add_column("task", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("95% interval", justify="right", no_wrap=True)
    if is_wide:
        table.add_column("0%" + " " * 16 + "100%", no_wrap=True)
    for name, is_shown in (("valid", True), ("undecided", True), ("invalid", has_invalid), ("missing", has_missing)):
        if is_shown:
            table.add_column(name if is_wide else SHORT_NAMES[name], justify="right", no_wrap=True)
    for item in judge.tasks[:_TASKS_SHOWN]:
        score = item.score
        cells = [
            Text(wording.NO_TASK if item.task is None else make_visible(item.task)),
            Text(wording.score_text(score)),
            Text(wording.interval_text(score), style=QUIET),
        ]
        if is_wide:
            cells.append(_interval_plot(score, 22))
        cells += [Text(wording.count_text(score.counts.valid)), _count(score.counts.undecided, Tone.UNDECIDED)]
        cells += [_count(score.counts.invalid, Tone.INVALID)] if has_invalid else []
        cells += [_count(score.counts.missing, Tone.MISSING)] if has_missing else []
        table.add_row(*cells)
    if len(judge.tasks) > _TASKS_SHOWN:
        table.add_row(Text(f"… {len(judge.tasks) - _TASKS_SHOWN:,} more", style=QUIET))
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
