"""One sample under each of its judges: everything needed to check a judgment by eye."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mixseek.analysis.run import model
from mixseek.analysis.run.model import Tone
from mixseek.domain import scored_details
from mixseek.domain.check_findings import read_findings
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.judgments import JudgedRow
from mixseek.domain.steps import STEP_TEXTS, StepStatus, step_text
from mixseek.presentation.sections import GAP, MARKED, QUIET, Section, Sentence, TableRows, Words
from mixseek.protocols.certainty import NO_CONFIDENCE
from mixseek.reports.checked import findings_section
from mixseek.reports.excerpts import Excerpt, left_out, split_at_span
from mixseek.reports.pair_words import orders_text
from mixseek.reports.wording.names import SOURCE_WORDS, name_text, problem_text, warning_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.text.phrases import plain_number, plural


def sample_sections(rows: Sequence[JudgedRow]) -> Iterator[Section]:
    """Texts are shown whole, a question once."""
    question = None
    for number, row in enumerate(rows):
        if number:
            yield Section(None, [GAP])
        yield from _row_sections(row, with_question=row.question != question)
        question = row.question


def _row_sections(row: JudgedRow, *, with_question: bool) -> Iterator[Section]:
    detail, style = scored_details.read_detail(row.fields), STYLES[model.tone_of(row.status, row.score)]
    outcome = (model.outcome_word(row.status, row.verdict), f"bold {style}")
    judge = f"  judge {row.judge}{f', repeat {row.take}' if row.take > 1 else ''}"
    yield Section(None, [Sentence(Words([(row.id, "bold"), "  ", outcome, (judge, QUIET)]), "")])
    facts = [((label, QUIET), value) for label, value in _facts(row, detail) if value is not None]
    findings = [((finding.flag.value, style), finding.detail) for finding in row.flags]
    if detail:
        findings += [((gate, "bold red"), reason or "no reason was given") for gate, reason in detail.gates]
    lines = [Sentence(Words([name, "  ", text]), "") for name, text in findings]
    yield Section(None, [TableRows(("|", ""), facts), *lines], is_indented=True)
    if detail:
        marks = [
            (mark.dimension, _of_maximum(mark.score, mark.maximum), mark.reason or NOTHING) for mark in detail.marks
        ]
        yield Section("Scores", [TableRows(("dimension", ">score", "reason"), marks)])
        yield Section("Evidence", [_quotes_table(detail)])
    if findings_of_checks := read_findings(row.fields):
        yield findings_section(findings_of_checks)
    if row.fields.get("claims"):
        yield Section("Claims", [_claims_table(row)])
    if row.rules:
        yield _text_section("Rules, in order", " → ".join(row.rules))
    if row.question and with_question:
        yield _text_section("Question", row.question)
    yield from _step_sections(row)
    yield Section("Response" if row.response_b is None else "Response A", [_response(row)])
    if row.response_b is not None:
        yield _text_section("Response B", row.response_b or "(empty)")
    if row.raw_reply is not None:
        yield _text_section("Raw reply of the judge", row.raw_reply)


def _text_section(title: str, text: str) -> Section:
    return Section(title, [Sentence(text, "")])


# Of a text of a step; the rest is in the export.
_STEP_CHARACTERS = 2_000


def _step_sections(row: JudgedRow) -> Iterator[Section]:
    """What came before the response, step by step, and the documents that were given."""
    sides = [("Steps" if not row.steps_b else "Steps of A", row.steps), ("Steps of B", row.steps_b)]
    for title, steps in sides:
        if steps:
            lines = [line for number, step in enumerate(steps, 1) for line in _step_lines(number, step)]
            yield Section(title, lines)
    if row.contexts:
        rows = [(context["id"], context.get("source", ""), _clipped(context["text"])) for context in row.contexts]
        yield Section("Contexts", [TableRows(("context", "source", "text"), rows)])


def _step_lines(number: int, step: Mapping[str, Any]) -> Iterator[Sentence]:
    status = step.get("status")
    head = Words(
        [
            (f"{number:>3}  ", QUIET),
            (str(step["role"]), "bold"),
            *([f" {step['tool']}"] if "tool" in step else []),
            *([("  failed", "bold red")] if status == StepStatus.ERROR else []),
            *([("  cut off", "yellow")] if status == StepStatus.CUT_OFF else []),
        ]
    )
    yield Sentence(head, "")
    for name in STEP_TEXTS:
        if text := step_text(step, name):
            label = "" if name == "text" else f"{name}: "
            yield Sentence(Words([("     " + label, QUIET), _clipped(text)]), "")
    if images := step.get("images"):
        yield Sentence(Words([(f"     {plural(len(images), 'picture')}", QUIET)]), "")


def _clipped(text: str) -> str:
    left = len(text) - _STEP_CHARACTERS
    return text if left <= 0 else f"{text[:_STEP_CHARACTERS]}… {left:,} more characters"


def _facts(row: JudgedRow, detail: scored_details.ScoredDetail | None) -> Iterable[tuple[str, str | None]]:
    truths = [truth for truth in (row.ground_truth, *row.ground_truth_alternatives) if truth is not None]
    yield "extracted answer", row.extracted_answer
    yield "ground truth", " | ".join(truths) or None
    yield "score", None if row.score is None else plain_number(row.score)
    # What two orders say, or the judge itself, is shown in its own words.
    is_told_elsewhere = row.confidence_source in (ConfidenceSource.ORDERS, ConfidenceSource.WRITTEN)
    expected = None if is_told_elsewhere else row.expected_score
    yield "expected", None if expected is None else f"score {expected:.3f}"
    yield "sure", _sure_text(row)
    yield "reasons", "unexplained: the judge was asked for numbers alone" if row.is_unexplained else None
    if detail:
        yield "total", None if detail.total is None else _of_maximum(detail.total, detail.maximum)
        yield "confidence", detail.confidence
        yield "task type", detail.task_type
        yield "first wrong step", None if detail.first_wrong_step is None else str(detail.first_wrong_step)
        yield "left out", detail.left_out
        yield "notes", detail.notes
    yield "extraction", "not in the response: unverified" if row.is_unverified else None
    yield "reasoning score", None if row.reasoning_score is None else str(row.reasoning_score)
    yield "error type", row.error_type
    yield "warnings", "; ".join(map(warning_text, row.warnings)) or None
    for name in ("reason", "comment", "task_name", "target_model", "question_id", "prompt_variant"):
        yield name.removesuffix("_name").replace("_", " "), getattr(row, name)
    if row.response_b is not None:
        yield "against", row.target_b
        yield "orders", orders_text(row.fields)
        for quote in row.fields.get("evidence") or ():
            outcome = problem_text(quote["problem"]) if quote.get("problem") else "found"
            yield f"quote from {quote['response']}", f"“{quote['quote']}” ({outcome}, order {quote['order']})"
    yield "method", "self-judgment: a control, in no mean" if row.is_control else None


_LEAST_OUTSIDE = 0.0005
_SOURCES = (ConfidenceSource.LOGPROBS, ConfidenceSource.DECISION)


def _sure_text(row: JudgedRow) -> str | None:
    """How sure the judge is of the verdict, and by what; or why the tokens that it was asked for do not say so."""
    source = row.confidence_source
    if row.confidence_value is None or source not in _SOURCES:
        reason = row.fields.get(NO_CONFIDENCE)
        return f"not known: {reason}" if reason else None
    # What rounding leaves is nothing.
    is_worth_saying = (row.confidence_outside or 0.0) >= _LEAST_OUTSIDE
    outside = f", {row.confidence_outside:.1%} on no option" if is_worth_saying else ""
    return f"{row.confidence_value:.3f} of the verdict, by {SOURCE_WORDS[source]}{outside}"


def _of_maximum(value: float, maximum: float | None) -> str:
    return plain_number(value) + ("" if maximum is None else f" of {plain_number(maximum)}")


def _quotes_table(detail: scored_details.ScoredDetail) -> TableRows:
    """One judgment's evidence: where each quote stands, or why it does not."""
    rows = []
    for quote in detail.quotes:
        place = (_found_text(quote), "red" if quote.problem else "green")
        rows.append((name_text(quote.dimension), f"“{quote.text}”", place, quote.reason))
    return TableRows(("dimension", "quote", "found", "reason"), rows)


def _claims_table(row: JudgedRow) -> TableRows:
    """What a response was cut into: how each claim stands to the documents, and which words decide it."""
    rows = []
    for claim in row.fields["claims"]:
        style = {"supported": "green", "contradicted": "red"}.get(claim["verdict"], "yellow")
        problem = f" ({problem_text(claim['problem'])})" if claim.get("problem") else ""
        proof = f"“{claim['quote']}”{problem}" if claim.get("quote") else NOTHING
        verdict = (claim["verdict"].replace("_", " "), style)
        rows.append((f"“{claim['claim_quote']}”", verdict, claim.get("context_id") or NOTHING, proof))
    return TableRows(("claim", "verdict", "context", "quote"), rows)


def _found_text(quote: scored_details.Quote) -> str:
    if quote.problem:
        return problem_text(quote.problem)
    if not (quote.stage or quote.spans):
        return "not looked for"
    where = "" if quote.step is None else f" in step {quote.step}, {quote.part},"
    return f"{quote.stage or 'found'}{where} at {', '.join(f'{span.start}–{span.end}' for span in quote.spans)}"


def _response(row: JudgedRow) -> Sentence:
    """The response with the extracted span set off."""
    if not row.response:
        return Sentence("(empty)")
    parts = split_at_span(Excerpt(row.response, left_out(row).response_before), row.span)
    if parts is None:
        return Sentence(row.response, "")
    before, inside, after = parts
    return Sentence(Words([before, (inside, MARKED), after]), "")


STYLES = {
    Tone.GOOD: "green",
    Tone.MIXED: "blue",
    Tone.BAD: "red",
    Tone.UNDECIDED: "yellow",
    Tone.INVALID: "magenta",
    Tone.MISSING: "bright_black",
}
