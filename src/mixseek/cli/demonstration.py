"""How the demo looks."""

from collections import Counter
from dataclasses import asdict
from shlex import quote
from typing import Any

from rich.console import Console
from rich.text import Text

from mixseek.cli.console import ExitCode, print_answer
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.reports.boards import board_document, board_table
from mixseek.reports.cards import STATE_STYLES, effect_text
from mixseek.reports.comparison import brief, comparison_document
from mixseek.reports.headline import score_document
from mixseek.reports.labels import corrected_document, corrected_text, judges_text
from mixseek.reports.races.board import leader_board_document
from mixseek.reports.races.terminal import print_leader_board
from mixseek.reports.render.tables import table_of
from mixseek.reports.render.terminal import print_sections
from mixseek.reports.sections import Section
from mixseek.reports.summary import summary_document
from mixseek.setup.demo import DemoCell, DemoExample, DemoLine, DemoResult

STYLES = {
    "correct": "green",
    "incorrect": "red",
    "undecided": "yellow",
    "invalid": "magenta",
    "missing": "bright_black",
    "pass": "green",
    "partial": "blue",
    "scored": "blue",
    "fail": "red",
    "critical_fail": "bold red",
}

# More rows than this hide the point.
TELLING_ROWS = 10


def print_demo(result: DemoResult, *, as_json: bool) -> ExitCode:
    """The table, where rules and labels disagree, and what to do next."""
    print_answer(demo_document(result), lambda console: render_demo(result, console), as_json=as_json)
    return ExitCode.GATE_NOT_MET if result.disagreements else ExitCode.OK


def demo_document(result: DemoResult) -> dict[str, Any]:
    """The same for programs."""
    return {
        **with_schema(DocumentName.DEMO, summary_document(result.summary)),
        "report": str(result.report),
        "disagreements": [line.id for line in result.disagreements],
        "lines": [{**asdict(line), "agrees": line.agrees} for line in result.lines],
        "examples": [
            {
                "protocol": example.protocol,
                "run": example.summary.header.run_id,
                "judges": list(example.judges),
                **score_document(example.summary.headline.score),
                "counts": asdict(example.summary.score.counts),
                "control": score_document(example.summary.control),
                "report": str(example.report),
                "rows": [asdict(row) for row in example.rows],
            }
            for example in result.examples
        ],
        "corrected": corrected_document(result.corrected),
        "comparison": comparison_document(result.comparison, result.comparison_page),
        "card": result.card.to_document(with_anchors=False),
        "competition": leader_board_document(result.board),
        "leader_board": board_document(result.pairs),
    }


def render_demo(result: DemoResult, console: Console) -> None:
    """The demo on a terminal: the point first, then a few rows that show it, then where everything else is."""
    run, workspace = result.summary.header.run_id, result.summary.workspace
    if result.disagreements:
        console.print(Text("Rules and labels disagree:", style="bold red"))
        for line in result.disagreements:
            console.print(Text(f"  {line.id}: rules say {line.verdict}, the label says {line.label}. {line.why}"))
    else:
        console.print(Text("Rules and labels disagree: nowhere.", style="bold green"))
    console.print(Text(describe_counts(result.lines)))
    console.print()
    shown = telling_lines(result.lines)
    console.print(table_of(("|id", "|rules say", "|by the rule", "|label"), map(verdict_row, shown)))
    tell_rest(len(result.lines) - len(shown), run, console)
    for example in result.examples:
        render_example(example, console)
    render_corrected(result, console)
    render_later(result, console)
    render_card(result, console)
    console.print()
    console.print(Text("A competition: two models with recorded replies, and a program", style="bold"))
    print_leader_board(result.board, console, result.board_page)
    console.print()
    console.print(Text("Which of two answers is better, asked in both orders: the leader board", style="bold"))
    print_sections([Section(None, [board_table(result.pairs)])], console)
    console.print(Text.assemble(("Page  ", "dim"), str(result.pairs_page)), soft_wrap=True)
    steps = (
        f"mixseek report {quote(run)} --workspace {quote(str(workspace))} --open",
        f"mixseek show {quote(run)} {quote(shown[0].id)} --workspace {quote(str(workspace))}",
        "mixseek judge your-answers.jsonl --protocol semantic --judge rules",
        f"mixseek view --workspace {quote(str(workspace))}",
    )
    console.print()
    # Not wrapped: a path or a command that is broken over two lines cannot be copied.
    for report in (result.report, *(example.report for example in result.examples)):
        console.print(Text.assemble(("Report  ", "bold"), str(report)), soft_wrap=True)
    console.print(Text.assemble(("Samples ", "bold"), str(result.data)), soft_wrap=True)
    console.print(Text("Next", style="bold"))
    for step in steps:
        console.print(Text(f"  {step}"), soft_wrap=True)


def render_corrected(result: DemoResult, console: Console) -> None:
    """Three numbers: what a kind judge says, what people say of a few, and both together."""
    whole, scale = result.corrected.whole, result.corrected.facts.scale
    console.print()
    heading = f"A kind judge that contradicts itself, corrected by {whole.labelled} labels of texts drawn blind"
    console.print(Text(heading, style="bold"))
    lines = {
        "judge": f"{judges_text(whole.judges, scale)}; labels alone {corrected_text(whole.labels, scale)}",
        "corrected": f"{corrected_text(whole.corrected, scale)}: {whole.corrected.estimator or whole.corrected.state}",
    }
    for head, line in lines.items():
        console.print(Text.assemble((f"{head:<11} ", "dim"), line))
    console.print(Text.assemble(("Page  ", "dim"), str(result.corrected_page)), soft_wrap=True)


def render_card(result: DemoResult, console: Console) -> None:
    """A line for each thing that was tried; the page has the rest."""
    console.print()
    console.print(Text("A judge of one's own, a Python function, examined before it is believed", style="bold"))
    for finding in result.card.findings:
        state = Text(f"{finding.state.value:<5}", style=STATE_STYLES[finding.state])
        console.print(Text.assemble((f"{finding.title:<11} ", "dim"), state, f" {effect_text(finding)}"))
    console.print(Text.assemble(("Page  ", "dim"), str(result.card_page)), soft_wrap=True)


def render_later(result: DemoResult, console: Console) -> None:
    """What changed, and what of it is the judge's doing, in a few lines."""
    console.print()
    console.print(Text("A later version of the model, before a judge that was changed as well", style="bold"))
    for head, line in brief(result.comparison):
        console.print(Text.assemble((f"{head:<11} ", "dim"), line))
    console.print(Text.assemble(("Page  ", "dim"), str(result.comparison_page)), soft_wrap=True)


def telling_lines(lines: tuple[DemoLine, ...]) -> tuple[DemoLine, ...]:
    """All that disagree; each way in which a sample can end; then, with room, each verdict in each language."""
    chosen = {line.id: line for line in lines if not line.agrees}
    seen: set[tuple[str, str | None]] = set()
    for by_language in (False, True):
        for line in lines:
            kind = (line.verdict, line.language if by_language else line.ending)
            if kind not in seen and (not by_language or len(chosen) < TELLING_ROWS):
                seen.add(kind)
                chosen.setdefault(line.id, line)
    return tuple(line for line in lines if line.id in chosen)


def tell_rest(left: int, run: str, console: Console) -> None:
    """Where the rows are that are not shown here."""
    if left > 0:
        where = f"in the report below, or with `mixseek demo --json` (run {run})"
        console.print(Text(f"and {left} more, {where}", style="dim"))


def render_example(example: DemoExample, console: Console) -> None:
    """A line a sample, a column a judge; what is unusable stands beside what is not."""
    counts, control = example.summary.score.counts, example.summary.control.counts
    beside = f", {control.total} self-judgments apart" if control.total else ""
    console.print()
    console.print(Text(f"Protocol {example.protocol}: recorded replies of two judges, good and bad", style="bold"))
    summary = f"{counts.valid} valid, {counts.invalid} invalid: counted with their flags, never scored{beside}."
    console.print(Text(summary))
    # A row for each verdict and each flag that no row before it shows.
    seen: set[str] = set()
    shown = []
    for row in example.rows:
        words = {cell.word for cell in row.cells}
        if not words <= seen:
            seen |= words
            shown.append([Text(row.id), *map(cell_text, row.cells)])
    console.print(table_of(["|id", *(f"|judge {judge}" for judge in example.judges)], shown))
    tell_rest(len(example.rows) - len(shown), example.summary.header.run_id, console)


def cell_text(cell: DemoCell) -> Text:
    """Verdict and total, or the first flag."""
    text = Text(cell.word, style=STYLES.get(cell.word.lower(), STYLES.get(cell.status.value, "")))
    if cell.total is not None:
        text.append(f" {cell.total}", style="dim")
    return text.append(" self", style="dim") if cell.is_control else text


def verdict_row(line: DemoLine) -> list[Text]:
    """A sample; the second judge's word stands behind the arrow."""
    verdict = Text(line.verdict, style=STYLES.get(line.verdict, ""))
    if line.ending is not None:
        verdict.append(" → ", style="dim").append(line.ending, style=STYLES.get(line.ending, ""))
    label = Text("✓", style="green") if line.agrees else Text(f"✗ {line.label}", style="bold red")
    return [Text(line.id), verdict, Text(line.rule, style="dim"), label]


def describe_counts(lines: tuple[DemoLine, ...]) -> str:
    """Who decided how many."""
    verdicts = Counter(line.verdict for line in lines)
    endings = Counter(line.ending for line in lines if line.ending is not None)
    usable = endings["correct"] + endings["incorrect"]
    unusable = ", ".join(f"{endings[word]} {word}" for word in ("invalid", "missing") if endings[word])
    aside = f" ({unusable}: counted, never scored)" if unusable else ""
    return (
        f"{len(lines)} samples in {len({line.language for line in lines})} languages. Rules decided "
        f"{verdicts['correct'] + verdicts['incorrect']}: {verdicts['correct']} correct, {verdicts['incorrect']} "
        f"incorrect. They left {verdicts['undecided']} undecided; recorded replies of a model judge settled "
        f"{usable} of them{aside}."
    )
