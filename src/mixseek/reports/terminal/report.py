"""The report on a terminal: wide or narrow, with or without colour, in any script."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixseek.analysis import model, report_data
from mixseek.analysis.model import Tone
from mixseek.domain.judgments import Flag, Status
from mixseek.domain.ports import CallAccount
from mixseek.reports import wording
from mixseek.reports.accounts import account_notes, add_accounts, cost_text, seconds_text, tokens_text
from mixseek.reports.labels import corrected_sections
from mixseek.reports.render import tables
from mixseek.reports.render.tables import COUNT_HEADS, SHORT_HEADS, Cell, print_section, table_of
from mixseek.reports.render.terminal import print_sections
from mixseek.reports.sections import QUIET, number_cell
from mixseek.reports.terminal.sample import STYLES
from mixseek.reports.terminal.scored import print_scored
from mixseek.reports.terminal.trust import (
    interval_plot,
    print_breakdowns,
    print_headline,
    print_pairs,
    print_trust,
)
from mixseek.reports.wording import NOTHING, percent
from mixseek.text.phrases import plural
from mixseek.text.visible import make_visible

# Below these widths tables keep their numbers and give up drawings and whatever else can be found elsewhere.
_WIDE = 100
# A terminal shows the shape of a run; the page and the export hold the rest.
_TASKS_SHOWN = 60
_RULES_SHOWN = 10


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
        print_scored(report.scored, console)
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
    for name in (*COUNT_HEADS, "unverified"):
        numbers = [getattr(score if name == "unverified" else score.counts, name) for score in scores]
        if any(numbers) or name in ("valid", "undecided"):
            style = "" if name == "valid" else STYLES[Tone("undecided" if name == "unverified" else name)]
            columns.append(
                (f">{name if is_wide else SHORT_HEADS.get(name, name)}", [number_cell(n, style) for n in numbers])
            )
    if any(item.reasoning for item in groups):
        means: list[Cell] = [wording.mean_reasoning_text(item.reasoning) for item in groups]
        columns.append((f">{'reasoning' if is_wide else SHORT_HEADS['reasoning']}", means))
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
