"""One judgment, or a list of runs, on a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mixseek.reporting import wording
from mixseek.reporting.model import JudgmentRow, RunLine
from mixseek.reporting.terminal import QUIET, SHORT_NAMES, STYLES
from mixseek.reporting.visible import make_visible

# Marks that stay readable in a file, a pipe or a terminal without colour.
_OPEN, _CLOSE = "⟦", "⟧"


def render_show(row: JudgmentRow, console: Console) -> None:
    """Everything needed to check one judgment by eye; the response is printed whole."""
    console.print(
        Text.assemble(
            (make_visible(row.id), "bold"),
            "  ",
            (make_visible(row.outcome), f"bold {STYLES[row.tone]}"),
            (f"  judge {make_visible(row.judge)}", QUIET),
        )
    )
    console.print(_fact_table(row))
    for finding in row.flags:
        line = Text.assemble((finding.flag.value, STYLES[row.tone]), "  ", make_visible(finding.detail))
        console.print(Padding(line, (0, 0, 0, 2), expand=False))
    if row.rules:
        _print_block("Rules, in order", Text(" → ".join(make_visible(rule) for rule in row.rules)), console)
    if row.question:
        _print_block("Question", Text(make_visible(row.question)), console)
    _print_block("Response", response_text(row, has_colour=_has_colour(console)), console)
    if row.raw_reply is not None:
        _print_block("Raw reply of the judge", Text(make_visible(row.raw_reply)), console)


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


def render_runs(runs: Sequence[RunLine], console: Console) -> None:
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
    console.print(table)


def _run_cells(run: RunLine, *, is_wide: bool) -> list[Text]:
    name = Text(make_visible(run.run_id))
    if not run.is_sealed:
        name.append(" (unfinished)", style="yellow")
    counts = run.counts
    cells = [name, Text(make_visible(f"{run.protocol} {run.protocol_hash[:8]}" if is_wide else run.protocol))]
    if is_wide:
        cells += [Text(make_visible(run.dataset)), Text(make_visible(", ".join(run.judges)))]
    cells.append(Text(wording.NOTHING if run.mean is None else wording.percent(run.mean)))
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
        ("error type", row.error_type),
        ("reason", row.reason),
        ("comment", row.comment),
        ("task", row.task),
        ("target model", row.target_model),
    )
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style=QUIET)
    table.add_column(overflow="fold")
    for label, value in facts:
        if value is not None:
            table.add_row(label, Text(make_visible(value)))
    return Padding(table, (0, 0, 0, 2), expand=False)


def _print_block(title: str, body: Text, console: Console) -> None:
    console.print()
    console.print(Text(title, style="bold"))
    console.print(Padding(body, (0, 0, 0, 2), expand=False))


def _has_colour(console: Console) -> bool:
    return console.color_system is not None and not console.no_color
