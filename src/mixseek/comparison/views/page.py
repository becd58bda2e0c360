"""The page of a comparison: the difference drawn task by task, and what changed with both outputs side by side."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mixseek.analysis.run.model import outcome_word, tone_of
from mixseek.comparison.model import ChangedSample, Comparison
from mixseek.comparison.views import words
from mixseek.comparison.views.sections import difference_ranges, group_sections, side_table
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.scored_details import read_detail
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.render.markdown import sections_markdown
from mixseek.presentation.sections import Section, sections_of
from mixseek.reports.excerpts import excerpt_around, field_limit, split_at_span
from mixseek.reports.pages.html import inert_json, joined_assets, render_page
from mixseek.text.messages import Message, message, verbatim
from mixseek.text.phrases import plain_number

STYLES = ("tokens.css", "page.css", "summary.css", "scored.css", "panel.css", "comparison.css")
SCRIPTS = ("leaderboard.js", "copying.js", "comparison.js", "word_difference.js", "difference.js")
# Characters of judged text in one file: a few seconds to load on a telephone.
TEXT_BUDGET = 6_000_000
_LONGEST_QUESTION = 4_000
_LONGEST_REASON = 1_500


@dataclass(frozen=True, slots=True)
class ShownJudgment:
    """One judge on one side."""

    judge: Message
    outcome: str
    tone: str
    score: Message | None
    reasons: tuple[tuple[Message, str], ...]


@dataclass(frozen=True, slots=True)
class ShownSide:
    """A response in three parts, the one that decided in the middle; and who said what of it."""

    sample_id: str
    before: str
    marked: str
    after: str
    left_out_before: int
    left_out_after: int
    judgments: tuple[ShownJudgment, ...]
    # What all of them amount to.
    outcome: str
    tone: str


@dataclass(frozen=True, slots=True)
class ShownChange:
    """One entry of the list; `kinds` are the filters that it answers to."""

    name: str
    task: str | None
    kinds: tuple[str, ...]
    difference: str
    question: str
    truth: str | None
    side_a: ShownSide
    side_b: ShownSide
    is_same_text: bool
    samples: int


def render_comparison(comparison: Comparison, changed: Sequence[ChangedSample]) -> str:
    """The whole file as text that UTF-8 can hold."""
    context = comparison_context(comparison, changed)
    return render_page("comparison.html.j2", STYLES, joined_assets(SCRIPTS), **context)


def comparison_context(comparison: Comparison, changed: Sequence[ChangedSample]) -> dict[str, Any]:
    """What the template shows."""
    shown = show_changes(comparison, changed)
    sums, unscored, drift = comparison.difference.sums, comparison.difference.unscored, comparison.drift
    kinds = (
        ("worse", message("compare.worse_word", "worse"), sums.worse, "bad"),
        ("better", message("compare.better_word", "better"), sums.better, "good"),
        ("drift", message("compare.same_text_other_score", "same text, other score"), drift.changed, "mixed"),
        ("unscored", message("compare.no_score_on_a_side", "no score on a side"), unscored, "undecided"),
    )
    counts = [
        (key, label, count, sum(key in change.kinds for change in shown), tone) for key, label, count, tone in kinds
    ]
    return {
        "comparison": comparison,
        "words": words,
        "sides": [Section(None, [side_table(comparison)])],
        "differences": [Section(None, [difference_ranges(comparison)])],
        "groups": list(group_sections(comparison)),
        "kinds": counts,
        "listed_words": words.listed_sentence(
            [(label, count, listed) for _, label, count, listed, _ in counts], len(shown)
        ),
        "changes": shown,
        # What a button copies: the sections that a terminal shows, by the renderer that build servers get.
        "markdown": inert_json(sections_markdown(sections_of(comparison)).strip()),
        "tasks": sorted({change.task for change in shown if change.task is not None}),
    }


# What changed.


def show_changes(comparison: Comparison, changed: Sequence[ChangedSample]) -> list[ShownChange]:
    """Each text as long as the budget allows all of them to be."""
    firsts = [sample.rows_a[0] for sample in changed if sample.rows_a] + [
        sample.rows_b[0] for sample in changed if sample.rows_b
    ]
    limit = field_limit([len(row.response) for row in firsts], TEXT_BUDGET)
    return [show_change(comparison, sample, limit) for sample in changed]


def show_change(comparison: Comparison, change: ChangedSample, limit: int) -> ShownChange:
    pair = change.pair
    row = next(iter((*change.rows_b, *change.rows_a)))
    difference = pair.difference
    kinds = (
        ["unscored"] if difference is None else ["better"] if difference > 0 else ["worse"] if difference < 0 else []
    )
    if pair.is_same_text and pair.score_a != pair.score_b:
        kinds.append("drift")
    return ShownChange(
        name=words.pair_name(pair),
        task=pair.task,
        kinds=tuple(kinds),
        # Right or wrong says it all.
        difference="" if comparison.is_binary else words.difference_text(difference, is_binary=False),
        question=row.question[:_LONGEST_QUESTION],
        truth=row.ground_truth,
        side_a=show_side(pair.id_a, pair.status_a, pair.score_a, called(change.rows_a, comparison), limit),
        side_b=show_side(pair.id_b, pair.status_b, pair.score_b, called(change.rows_b, comparison), limit),
        is_same_text=pair.is_same_text,
        samples=max(pair.samples_a, pair.samples_b),
    )


def called(rows: Sequence[JudgedRow], comparison: Comparison) -> list[JudgedRow]:
    """The same rows, with their judges as a reader knows them."""
    return [replace(row, judge=comparison.labels.get(row.judge, row.judge)) for row in rows]


def show_side(sample_id: str, status: str, score: float | None, rows: Sequence[JudgedRow], limit: int) -> ShownSide:
    first = rows[0]
    span = next((row.span for row in rows if row.span is not None), None)
    excerpt = excerpt_around(first.response, span, limit)
    parts = split_at_span(excerpt, span) or (excerpt.text, "", "")
    # One word where all who gave a verdict gave the same, else the score that became of them.
    verdicts = {row.verdict for row in rows if row.status is Status.VALID and row.is_final and not row.is_control}
    word = status if score is None else verdicts.pop() if len(verdicts) == 1 else None
    tone = status if score is None else tone_of(Status.VALID, score).value
    return ShownSide(
        sample_id,
        *parts,
        excerpt.before,
        excerpt.after,
        tuple(map(show_judgment, rows)),
        outcome=word or f"{score:.3f}",
        tone="undecided" if tone == "split" else tone,
    )


def show_judgment(row: JudgedRow) -> ShownJudgment:
    detail = read_detail(row.fields)
    score = None
    if row.score is not None:
        score = verbatim(plain_number(row.score) if math.isclose(row.score, round(row.score)) else f"{row.score:.3f}")
    if detail is not None and detail.total is not None and detail.maximum:
        score = message(
            "score.of",
            "{value} of {maximum}",
            value=plain_number(detail.total),
            maximum=plain_number(detail.maximum),
        )
    judge = verbatim(row.judge)
    if row.take > 1:
        judge = message("judgment.judge_repeat", "{judge}, repeat {n}", judge=judge, n=row.take)
    if row.is_control:
        judge = message("judgment.own_output", "{judge} (own output)", judge=judge)
    return ShownJudgment(
        judge=judge,
        outcome=outcome_word(row.status, row.verdict),
        tone=tone_of(row.status, row.score).value,
        score=score,
        reasons=tuple((label, text[:_LONGEST_REASON]) for label, text in reasons_of(row)),
    )


def reasons_of(row: JudgedRow) -> list[tuple[Message, str]]:
    """Whatever a judge said for its verdict."""
    detail = read_detail(row.fields)
    error = None if row.error_type == "none" else row.error_type
    reasons: list[tuple[Message, str | None]] = [
        (message("judgment.answer", "answer"), row.extracted_answer),
        (message("judgment.error", "error"), error),
        (message("judgment.comment", "comment"), row.comment),
        (message("judgment.why", "why"), row.reason),
    ]
    reasons += [(verbatim(finding.flag.value), finding.detail) for finding in row.flags]
    if detail is not None:
        for mark in detail.marks:
            maximum = "" if mark.maximum is None else f"/{plain_number(mark.maximum)}"
            reason = mark.reason or next(
                (quote.reason for quote in detail.quotes if quote.dimension == mark.dimension), ""
            )
            reasons.append((verbatim(f"{mark.dimension} {plain_number(mark.score)}{maximum}"), reason or "–"))
        reasons += [(verbatim(gate), reason or "not passed") for gate, reason in detail.gates]
        reasons.append((message("judgment.notes_word", "notes"), detail.notes))
    elif row.rules:
        reasons.append((message("judgment.rules_word", "rules"), " → ".join(row.rules)))
    return [(label, text) for label, text in reasons if text]
