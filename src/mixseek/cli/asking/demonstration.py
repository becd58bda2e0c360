"""How the demo looks."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from shlex import quote
from typing import Any

from mixseek.audits.views import STATE_STYLES, effect_text
from mixseek.cascades.views import answer_sentence, brief_document, tier_facts
from mixseek.cli.terminal.console import ExitCode, print_answer
from mixseek.comparison.views.sections import brief, comparison_document
from mixseek.competition.views.board import leader_board_document
from mixseek.competition.views.sections import leader_board_sections
from mixseek.datasets.answer_runs import STATES
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.presentation.sections import (
    GAP,
    QUIET,
    Cell,
    Facts,
    Section,
    Sentence,
    TableRows,
    Words,
    notes,
    page_section,
)
from mixseek.reports.answers import WORDS, answers_document
from mixseek.reports.headline import score_document
from mixseek.reports.labels import corrected_document, corrected_text, judges_text
from mixseek.reports.ratings.boards import board_document, standing_ranges
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
    print_answer(demo_document(result), lambda: demo_sections(result), as_json=as_json)
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
        "cascade_plan": brief_document(result.cascade),
        "stricter_plan": brief_document(result.stricter),
        "comparison": comparison_document(result.comparison, result.comparison_page),
        "card": result.card.to_document(with_anchors=False),
        "competition": leader_board_document(result.board),
        "leader_board": board_document(result.pairs),
        "answers": answers_document(result.answers),
        "drift": comparison_document(result.drift, result.drift_page),
    }


def demo_sections(result: DemoResult) -> Iterator[Section]:
    """The point first, then a few rows that show it, then where everything else is."""
    run, workspace = result.summary.header.run_id, result.summary.workspace
    if result.disagreements:
        disagreements = (
            f"  {line.id}: rules say {line.verdict}, the label says {line.label}. {line.why}"
            for line in result.disagreements
        )
        yield lines_section(("Rules and labels disagree:", "bold red"), *disagreements)
    else:
        yield lines_section(("Rules and labels disagree: nowhere.", "bold green"))
    shown = telling_lines(result.lines)
    table = TableRows(("|id", "|rules say", "|by the rule", "|label"), [verdict_row(line) for line in shown])
    counts = Sentence(describe_counts(result.lines), "")
    yield Section(None, [counts, GAP, table, *rest_notes(len(result.lines) - len(shown), run)])
    for example in result.examples:
        yield from example_sections(example)
    yield from corrected_part(result)
    yield from cascade_part(result)
    yield lines_section(GAP, ("A later version of the model, before a judge that was changed as well", "bold"))
    yield Section(None, [Facts(brief(result.comparison))])
    yield page_section(result.comparison_page)
    yield from card_part(result)
    yield lines_section(GAP, ("A competition: two models with recorded replies, and a program", "bold"))
    yield from leader_board_sections(result.board, result.board_page)
    yield lines_section(GAP, ("Which of two answers is better, asked in both orders: the leader board", "bold"))
    yield Section(None, [standing_ranges(result.pairs)])
    yield page_section(result.pairs_page)
    yield from drift_part(result)
    steps = (
        f"mixseek report {quote(run)} --workspace {quote(str(workspace))} --open",
        f"mixseek show {quote(run)} {quote(shown[0].id)} --workspace {quote(str(workspace))}",
        "mixseek judge your-answers.jsonl --protocol semantic --judge rules",
        f"mixseek view --workspace {quote(str(workspace))}",
    )
    # Not wrapped: a path or a command that is broken over two lines cannot be copied.
    places = [("Report  ", result.report), *(("Report  ", example.report) for example in result.examples)]
    named = [Words([(word, "bold"), str(path)]) for word, path in (*places, ("Samples ", result.data))]
    yield Section(None, [GAP, *(Sentence(line, "", is_unbroken=True) for line in named)])
    commands = [Sentence(f"  {step}", "", is_unbroken=True) for step in steps]
    yield Section(None, [Sentence("Next", "bold"), *commands])


def lines_section(*lines: str | tuple[str, str] | Sentence) -> Section:
    """Line after line, some with a style of their own."""
    parts = [
        line if isinstance(line, Sentence) else Sentence(*((line, "") if isinstance(line, str) else line))
        for line in lines
    ]
    return Section(None, parts)


def corrected_part(result: DemoResult) -> Iterator[Section]:
    """Three numbers: what a kind judge says, what people say of a few, and both together."""
    whole, scale = result.corrected.whole, result.corrected.facts.scale
    title = f"A kind judge that contradicts itself, corrected by {whole.labelled} labels of texts drawn blind"
    yield lines_section(GAP, (title, "bold"))
    judged = f"{judges_text(whole.judges, scale)}; labels alone {corrected_text(whole.labels, scale)}"
    how = whole.corrected.estimator or whole.corrected.state
    facts = [("judge", judged), ("corrected", f"{corrected_text(whole.corrected, scale)}: {how}")]
    yield Section(None, [Facts(facts)])
    yield page_section(result.corrected_page)


def cascade_part(result: DemoResult) -> Iterator[Section]:
    """What may be decided without people, by whom; and what the same labels are too few for."""
    yield lines_section(GAP, ("What rules and that judge may decide without people, by these labels", "bold"))
    stricter = ("stricter", answer_sentence(result.stricter))
    yield Section(None, [Facts([("answer", answer_sentence(result.cascade)), *tier_facts(result.cascade), stricter])])
    if result.cascade.path is not None:
        yield page_section(result.cascade.path, "File")


def drift_part(result: DemoResult) -> Iterator[Section]:
    """What the second way to ask changes, and what never came to an end."""
    answers, (before, after) = result.answers, (result.drift.a.variant, result.drift.b.variant)
    ended = ", ".join(f"{answers.count(state):,} {WORDS[state]}" for state in STATES if answers.count(state))
    yield lines_section(GAP, (f"Questions, asked {before} and {after}: what the prompt changes", "bold"))
    yield Section(None, [Facts([("answers", f"{answers.planned:,}: {ended}"), *brief(result.drift)])])
    yield page_section(result.drift_page)


def card_part(result: DemoResult) -> Iterator[Section]:
    """A line for each thing that was tried; the page has the rest."""
    yield lines_section(GAP, ("A judge of one's own, a Python function, examined before it is believed", "bold"))
    for finding in result.card.findings:
        state = (f"{finding.state.value:<5}", STATE_STYLES[finding.state])
        line = Words([(f"{finding.title:<11} ", QUIET), state, f" {effect_text(finding)}"])
        yield Section(None, [Sentence(line, "")])
    yield page_section(result.card_page)


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


def rest_notes(left: int, run: str) -> list[Sentence]:
    """Where the rows are that are not shown here."""
    return notes(
        [f"and {left} more, in the report below, or with `mixseek demo --json` (run {run})"] if left > 0 else []
    )


def example_sections(example: DemoExample) -> Iterator[Section]:
    """A line a sample, a column a judge; what is unusable stands beside what is not."""
    counts, control = example.summary.score.counts, example.summary.control.counts
    beside = f", {control.total} self-judgments apart" if control.total else ""
    title = f"Protocol {example.protocol}: recorded replies of two judges, good and bad"
    counted = f"{counts.valid} valid, {counts.invalid} invalid: counted with their flags, never scored{beside}."
    yield lines_section(GAP, (title, "bold"), counted)
    # A row for each verdict and each flag that no row before it shows.
    seen: set[str] = set()
    shown: list[list[Cell]] = []
    for row in example.rows:
        words = {cell.word for cell in row.cells}
        if not words <= seen:
            seen |= words
            shown.append([row.id, *map(judgment_cell, row.cells)])
    table = TableRows(["|id", *(f"|judge {judge}" for judge in example.judges)], shown)
    yield Section(None, [table, *rest_notes(len(example.rows) - len(shown), example.summary.header.run_id)])


def judgment_cell(cell: DemoCell) -> Words:
    """Verdict and total, or the first flag."""
    word = (cell.word, STYLES.get(cell.word.lower(), STYLES.get(cell.status.value, "")))
    total = [(f" {cell.total}", QUIET)] if cell.total is not None else []
    return Words([word, *total, *([(" self", QUIET)] if cell.is_control else [])])


def verdict_row(line: DemoLine) -> list[Cell]:
    """A sample; the second judge's word stands behind the arrow."""
    verdict = [(line.verdict, STYLES.get(line.verdict, ""))]
    if line.ending is not None:
        verdict += [(" → ", QUIET), (line.ending, STYLES.get(line.ending, ""))]
    label = ("✓", "green") if line.agrees else (f"✗ {line.label}", "bold red")
    return [line.id, Words(verdict), (line.rule, QUIET), label]


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
