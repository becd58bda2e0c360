"""The judgments inside a page: each sample once, each text within a budget, spans in the page's own units."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import Any

from mixseek.analysis.run.model import tone_of
from mixseek.domain.check_findings import failed_checks, read_findings
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.judgments import JudgedRow, Span
from mixseek.domain.scored_details import Quote, ScoredDetail, read_detail
from mixseek.reports.excerpts import Excerpt, excerpt_of, field_limit, left_out, utf16_offset
from mixseek.reports.pages.shown_steps import quoted_text, shown_contexts, shown_steps, text_lengths
from mixseek.reports.pair_words import orders_text
from mixseek.text import phrases

# A judge that quotes the whole response must not make the file twice as large.
_QUOTE_LIMIT = 1_000
# Rows that agree in these are of one sample.
_SAMPLE_KEY = attrgetter(
    "id", "task_name", "target_model", "ground_truth", "ground_truth_alternatives", "question", "response",
    "question_id", "prompt_variant", "response_b", "target_b",
)  # fmt: skip


def rows_payload(rows: Sequence[JudgedRow], budget: int) -> dict[str, Any]:
    """`samples` and `rows`; a row names its sample by position, so a panel of judges repeats no text."""
    details = [read_detail(row.fields) for row in rows]
    places = list(map(numbering().__getitem__, map(_SAMPLE_KEY, rows)))
    firsts: list[JudgedRow] = []
    # The first row of a sample with a span decides which part of a cut response is kept.
    spans: dict[int, Span] = {}
    for row, detail, place in zip(rows, details, places, strict=True):
        if place == len(firsts):
            firsts.append(row)
        if place not in spans and (span := _first_span(row, detail)):
            spans[place] = span
    lengths = [len(text) for row in firsts for text in (row.question, row.response, row.response_b or "")]
    lengths += [len(row.raw_reply or "") for row in rows]
    lengths += [length for row in firsts for length in text_lengths(row)]
    limit = field_limit(lengths, budget)
    responses = [excerpt_of(row, spans.get(place), limit) for place, row in enumerate(firsts)]
    return {
        "samples": [_sample(row, excerpt, limit) for row, excerpt in zip(firsts, responses, strict=True)],
        "rows": [
            _row(row, detail, place, responses[place], limit)
            for row, detail, place in zip(rows, details, places, strict=True)
        ],
    }


def numbering() -> defaultdict[Any, int]:
    """The number of each thing that is asked for, in the order of asking."""
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def _sample(row: JudgedRow, response: Excerpt, limit: int) -> dict[str, Any]:
    question, cut = row.question[:limit], left_out(row)
    return _without_empty(
        {
            "id": row.id,
            "task": row.task_name,
            "model": row.target_model,
            "qid": row.question_id,
            "variant": row.prompt_variant,
            "question": question,
            "question_cut": len(row.question) - len(question) + cut.question_after,
            "response": response.text,
            "before": response.before,
            "after": response.after,
            "truth": row.ground_truth,
            "alternatives": row.ground_truth_alternatives,
            "model_b": row.target_b,
            "response_b": row.response_b[:limit] if row.response_b else row.response_b,
            **dict.fromkeys(row.unfinished, True),
            "steps": shown_steps(row.steps, limit),
            "steps_b": shown_steps(row.steps_b, limit),
            "contexts": shown_contexts(row.contexts, limit),
            "b_cut": max(0, len(row.response_b or "") - limit) + cut.b_after,
            "people": row.people.verdict if row.people else None,
            "raters": [list(rater) for rater in row.people.raters] if row.people else None,
            "panel": row.panel,
            "differ": yes_or_no(row.judges_differ),
        }
    )


def _row(row: JudgedRow, detail: ScoredDetail | None, sample: int, response: Excerpt, limit: int) -> dict[str, Any]:
    reply = row.raw_reply[:limit] if row.raw_reply else None
    return {
        "sample": sample,
        "judge": row.judge,
        "status": row.status.value,
        "tone": tone_of(row.status, row.score).value,
        "score": row.score,  # outside of what may be left out: a score of 0 is a score
        **({"expected": row.expected_score} if _has_expected_score(row) else {}),
        **_without_empty(
            {
                "verdict": row.verdict,
                "answer": row.extracted_answer,
                "span": _page_span(row.span, response),
                "rules": row.rules,
                "error": row.error_type,
                "flags": [[finding.flag.value, finding.detail] for finding in row.flags],
                "comment": row.comment,
                "reason": row.reason,
                "reply": reply,
                "reply_cut": len(row.raw_reply or "") - len(reply or "") + left_out(row).reply_after,
                "control": row.is_control,
                "reasoning": row.reasoning_score,
                "unverified": row.is_unverified,
                "unexplained": row.is_unexplained,
                "sure": [row.confidence_value, row.confidence_source] if _is_measured(row) else None,
                "warnings": row.warnings,
                "checks": [
                    [finding.check, finding.step, finding.detail]
                    for finding in failed_checks(read_findings(row.fields))
                ],
                "repeat": row.take if row.take > 1 else None,
                "reasks": row.ask - 1,
                "orders": orders_text(row.fields) if row.response_b is not None else None,
                "wrong": yes_or_no(row.is_wrong),
                "against": row.differs_from,
                "quotes": _claim_quotes(row, response, limit),
                "claims": [_claim(claim) for claim in _claims_of(row)],
            }
        ),
        **(_detail(row, detail, response, limit) if detail else {}),
    }


def _is_measured(row: JudgedRow) -> bool:
    """Whether a probability says how sure the judge is; orders and the judge's own word are shown as what they are."""
    return row.confidence_source in (ConfidenceSource.LOGPROBS, ConfidenceSource.DECISION)


def _has_expected_score(row: JudgedRow) -> bool:
    return row.expected_score is not None and (row.confidence_source is None or _is_measured(row))


def _failed_checks(row: JudgedRow) -> list[list[Any]]:
    """The name, the step and the detail of each check that failed."""
    return [[finding.check, finding.step, finding.detail] for finding in failed_checks(read_findings(row.fields))]


def yes_or_no(fact: bool | None) -> str | None:
    """The word that a filter has for a fact; None where it is not known."""
    return None if fact is None else "yes" if fact else "no"


def _detail(row: JudgedRow, detail: ScoredDetail, response: Excerpt, limit: int) -> dict[str, Any]:
    """Marks and quotes; `total` outside of what may be left out, because nought is a total."""
    return {
        **({} if detail.total is None else {"total": detail.total}),
        "marks": [[mark.dimension, mark.score, mark.maximum, mark.reason] for mark in detail.marks],
        **_without_empty(
            {
                "maximum": detail.maximum,
                "gates": [list(gate) for gate in detail.gates],
                "quotes": [_quote(quote, _quoted(row, quote, response, limit)) for quote in detail.quotes],
                "confidence": detail.confidence,
                "type": detail.task_type,
                "inferred": detail.inferred_task_type,
                "family": detail.same_family,
                "notes": detail.notes,
                "wrong_step": detail.first_wrong_step,
                "left_out": detail.left_out,
            }
        ),
    }


def _quoted(row: JudgedRow, quote: Quote, response: Excerpt, limit: int) -> Excerpt:
    """The text that the spans of a quote are places in, as far as the page has it."""
    if quote.is_in_response:
        return response
    text = quoted_text(row, quote.step, quote.part, quote.context) or ""
    return Excerpt(text[:limit], 0, max(0, len(text) - limit))


def _quote(quote: Quote, quoted: Excerpt) -> dict[str, Any]:
    spans = [_page_span(span, quoted) for span in quote.spans]
    return {
        "dimension": quote.dimension,
        "text": phrases.shortened(quote.text, _QUOTE_LIMIT),
        **_without_empty(
            {
                "reason": phrases.shortened(quote.reason, _QUOTE_LIMIT),
                "stage": quote.stage,
                "problem": quote.problem,
                "step": quote.step,
                "part": quote.part,
                "context": quote.context,
                "spans": [span for span in spans if span is not None],
            }
        ),
    }


def _claims_of(row: JudgedRow) -> Sequence[Mapping[str, Any]]:
    """What a response was cut into, under a protocol that does so."""
    claims = row.fields.get("claims")
    return claims if isinstance(claims, list) else ()


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    """A claim by its verdict; its words and those of the document are the next two quotes."""
    return _without_empty(
        {
            "verdict": claim["verdict"],
            "text": phrases.shortened(claim["claim_quote"], _QUOTE_LIMIT),
            "context": claim.get("context_id"),
            "quote": phrases.shortened(claim.get("quote") or "", _QUOTE_LIMIT),
            "problem": claim.get("problem"),
        }
    )


def _claim_quotes(row: JudgedRow, response: Excerpt, limit: int) -> list[dict[str, Any]]:
    """Two for each claim, so that both are highlighted where they stand: the claim's words, and the document's."""
    quotes = []
    for claim in _claims_of(row):
        verdict, context = claim["verdict"], claim.get("context_id")
        places = (
            (claim["claim_quote"], claim.get("spans"), None),
            (claim.get("quote"), claim.get("context_spans"), context),
        )
        for text, spans, of_context in places:
            located = tuple([Span(start, end) for start, end in spans or ()])
            quote = Quote(verdict, text or "", "", located, claim.get("stage"), None, context=of_context)
            quotes.append(_quote(quote, _quoted(row, quote, response, limit)))
    return quotes


def _first_span(row: JudgedRow, detail: ScoredDetail | None) -> Span | None:
    """What a cut response is kept around: the extracted answer, or the first quote."""
    quotes = detail.quotes if detail else ()
    return row.span or next((span for quote in quotes if quote.is_in_response for span in quote.spans), None)


def _page_span(span: Span | None, response: Excerpt) -> list[int] | None:
    """None when the span lies outside the text: a highlight in the wrong place would be worse than none."""
    if span is None:
        return None
    start, end = span.start - response.before, span.end - response.before
    if not 0 <= start <= end <= len(response.text):
        return None
    return [utf16_offset(response.text, start), utf16_offset(response.text, end)]


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """Half of the file would be nulls otherwise."""
    return dict(compress(fields.items(), fields.values()))
