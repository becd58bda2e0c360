"""One sample under each of its judges: everything needed to check a judgment by eye."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixseek.analysis import details, model
from mixseek.analysis.model import Tone
from mixseek.domain.judgments import JudgedRow, Span
from mixseek.reports import wording
from mixseek.reports.pair_words import orders_text
from mixseek.reports.payload import left_out
from mixseek.reports.render import tables
from mixseek.reports.render.tables import print_section, table_of
from mixseek.reports.sections import QUIET
from mixseek.reports.wording import NOTHING, name_text, problem_text
from mixseek.text.phrases import plain_number
from mixseek.text.visible import make_visible

# Marks that stay readable in a file, a pipe or a terminal without colour.
_OPEN, _CLOSE = "⟦", "⟧"


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


STYLES = {
    Tone.GOOD: "green",
    Tone.MIXED: "blue",
    Tone.BAD: "red",
    Tone.UNDECIDED: "yellow",
    Tone.INVALID: "magenta",
    Tone.MISSING: "bright_black",
}
