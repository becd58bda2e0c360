"""One self-contained page: nothing is fetched, and no judged text can break out of its place."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib import resources
from inspect import isfunction
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from mixseek.domain.counts import FailureGroup
from mixseek.domain.judgments import JudgedRow, Span
from mixseek.reporting import wording
from mixseek.reporting.build import grouped
from mixseek.reporting.excerpts import Excerpt, excerpt_of, field_limit, left_out, utf16_offset
from mixseek.reporting.labels import corrected_text
from mixseek.reporting.model import Quote, ReportData, ScoredDetail, read_detail, tone_of
from mixseek.reporting.panel import headline, trust
from mixseek.reporting.summary import RunSummary

# The judgments as JSON for the page: each sample once, each text within a budget, spans in the page's own units.

# Characters of judged text in one file. 16 million open in a browser in about a second; far more do not.
TEXT_BUDGET = 16_000_000
# A judge that quotes the whole response must not make the file twice as large.
_QUOTE_LIMIT = 1_000

# In a script element only `<` can end it (`</script`) or change how the rest is read (`<!--`), and U+2028/9 end a line
# in older script engines. Unpaired surrogates have no UTF-8 bytes, but JSON has an escape for them.
_UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
# Rows that agree in these are of one sample.
_SAMPLE_KEY = attrgetter(
    "id", "task_name", "target_model", "ground_truth", "ground_truth_alternatives", "question", "response",
    "question_id", "prompt_variant",
)  # fmt: skip


def page_payload(report: ReportData, budget: int = TEXT_BUDGET) -> dict[str, Any]:
    """The run and its listed judgments."""
    return {
        "run": report.run.run_id,
        "judges": [judge.judge for judge in report.judges],
        "labels": dict(sorted(report.models.items())),
        "dimensions": list(report.scored.dimensions) if report.scored else [],
        **rows_payload(report.rows, budget),
    }


def rows_payload(rows: Sequence[JudgedRow], budget: int = TEXT_BUDGET) -> dict[str, Any]:
    """`samples` and `rows`; a row names its sample by position, so a panel of judges repeats no text."""
    samples = grouped(rows, _SAMPLE_KEY)
    places = {key: place for place, key in enumerate(samples)}
    firsts = [own[0] for own in samples.values()]
    texts = [text for row in firsts for text in (row.question, row.response)]
    texts += [row.raw_reply or "" for row in rows]
    limit = field_limit([len(text) for text in texts], budget)
    # The first row of a sample with a span decides which part of a cut response is kept.
    spans = [next(filter(None, map(_first_span, own)), None) for own in samples.values()]
    responses = [excerpt_of(row, span, limit) for row, span in zip(firsts, spans, strict=True)]
    return {
        "samples": [_sample(row, excerpt, limit) for row, excerpt in zip(firsts, responses, strict=True)],
        "rows": [_row(row, index, responses[index], limit) for row in rows for index in [places[_SAMPLE_KEY(row)]]],
    }


def embed_json(payload: Any) -> str:
    """JSON that is inert inside a script element, whatever the judged texts hold."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def _sample(row: JudgedRow, response: Excerpt, limit: int) -> dict[str, Any]:
    question = row.question[:limit]
    return _without_empty(
        {
            "id": row.id,
            "task": row.task_name,
            "model": row.target_model,
            "qid": row.question_id,
            "variant": row.prompt_variant,
            "question": question,
            "question_cut": len(row.question) - len(question) + left_out(row).question_after,
            "response": response.text,
            "before": response.before,
            "after": response.after,
            "truth": row.ground_truth,
            "alternatives": list(row.ground_truth_alternatives),
        }
    )


def _row(row: JudgedRow, sample: int, response: Excerpt, limit: int) -> dict[str, Any]:
    reply = row.raw_reply[:limit] if row.raw_reply else None
    detail = read_detail(row.fields)
    return {
        "sample": sample,
        "judge": row.judge,
        "status": row.status.value,
        "tone": tone_of(row.status, row.score).value,
        "score": row.score,  # outside of what may be left out: a score of 0 is a score
        **_without_empty(
            {
                "verdict": row.verdict,
                "answer": row.extracted_answer,
                "span": _page_span(row.span, response),
                "rules": list(row.rules),
                "error": row.error_type,
                "flags": [[finding.flag.value, finding.detail] for finding in row.flags],
                "comment": row.comment,
                "reason": row.reason,
                "reply": reply,
                "reply_cut": len(row.raw_reply or "") - len(reply or "") + left_out(row).reply_after,
                "control": row.is_control,
                "reasoning": row.reasoning_score,
                "unverified": row.is_unverified,
                "warnings": list(row.warnings),
                "repeat": row.take if row.take > 1 else None,
            }
        ),
        **(_detail(detail, response) if detail else {}),
    }


def _detail(detail: ScoredDetail, response: Excerpt) -> dict[str, Any]:
    """Marks and quotes; `total` outside of what may be left out, because nought is a total."""
    return {
        **({} if detail.total is None else {"total": detail.total}),
        "marks": [[mark.dimension, mark.score, mark.maximum, mark.reason] for mark in detail.marks],
        **_without_empty(
            {
                "maximum": detail.maximum,
                "gates": [list(gate) for gate in detail.gates],
                "quotes": [_quote(quote, response) for quote in detail.quotes],
                "confidence": detail.confidence,
                "type": detail.task_type,
                "inferred": detail.inferred_task_type,
                "family": detail.same_family,
                "notes": detail.notes,
            }
        ),
    }


def _quote(quote: Quote, response: Excerpt) -> dict[str, Any]:
    spans = [_page_span(span, response) for span in quote.spans]
    return {
        "dimension": quote.dimension,
        "text": wording.shortened(quote.text, _QUOTE_LIMIT),
        **_without_empty(
            {
                "reason": wording.shortened(quote.reason, _QUOTE_LIMIT),
                "stage": quote.stage,
                "problem": quote.problem,
                "spans": [span for span in spans if span is not None],
            }
        ),
    }


def _first_span(row: JudgedRow) -> Span | None:
    """What a cut response is kept around: the extracted answer, or the first quote."""
    detail = read_detail(row.fields)
    quotes = detail.quotes if detail else ()
    return row.span or next((span for quote in quotes for span in quote.spans), None)


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
    return {name: value for name, value in fields.items() if value}


# Joined in this order; each script file only uses names of the files before it.
STYLES = (
    "tokens.css",
    "page.css",
    "summary.css",
    "corrected.css",
    "scored.css",
    "panel.css",
    "browser.css",
    "print.css",
)
SCRIPTS = ("text.js", "state.js", "evidence.js", "detail.js", "list.js", "local.js", "page.js")
# Beyond this many verdict words a row of buttons is no longer a row.
_MAX_OUTCOME_BUTTONS = 7
_WHY_CHARACTERS = 160


def render_html(report: ReportData) -> str:
    """The whole file as text that UTF-8 can hold."""
    return render_page(
        "report.html.j2",
        STYLES,
        wrapped_script(joined_assets(SCRIPTS)),
        data=inert_json(page_payload(report)),
        outcome_buttons=report.shown if len(report.shown) <= _MAX_OUTCOME_BUTTONS else (),
        **report_context(report),
    )


def report_context(report: ReportData) -> dict[str, Any]:
    """What the template shows of a run, apart from the list of judgments."""
    return {
        "report": report,
        "run": report.run,
        "manifest": manifest_entries(report.manifest),
        "calls_total": wording.add_accounts(report.calls),
        "latency_scale": wording.latency_scale(report.calls),
    }


def wrapped_script(source: str) -> str:
    """In a scope of its own."""
    return '"use strict";(() => {\n' + source + "})();"


def inert_json(payload: Any) -> Markup:
    """For a script element that holds data."""
    return Markup(embed_json(payload))  # noqa: S704 every `<`, `>` and `&` is a JSON escape


def render_page(template: str, styles: Sequence[str], script: str, **context: Any) -> str:
    """For every page: only our own style and script go in unescaped, and only they may run."""
    style = joined_assets(styles)
    page = (
        page_environment()
        .get_template(template)
        .render(
            policy=content_security_policy(style, script),
            style=Markup(style),  # noqa: S704 our own asset, read from the package
            script=Markup(script),  # noqa: S704 our own asset, read from the package
            **context,
        )
    )
    # Imports and macros leave their line ends before the page begins.
    return wording.replace_unpaired_surrogates(page.lstrip())


# Reasons and flags in a cell of a notebook; the report has them all.
_CARD_LINES = 5


def render_card(
    summary: RunSummary, state: str, reasons: Sequence[str] = (), failures: Sequence[FailureGroup] = ()
) -> str:
    """A run as a small table for a notebook: the headline with its interval, counts, flags, and what is not well."""
    score = summary.headline.score
    interval = wording.interval_sentence(score) if score.interval else wording.no_interval_sentence(score)
    card = (
        page_environment()
        .get_template("run_card.html.j2")
        .render(
            summary=summary,
            score=score,
            interval=interval,
            state=state.replace("_", " "),
            counts=[(name, count) for name, count in asdict(score.counts).items() if count],
            failures=[(wording.shortened(one.why, _WHY_CHARACTERS), one.count) for one in failures[:_CARD_LINES]],
            reasons=reasons,
        )
    )
    return wording.replace_unpaired_surrogates(card)


def render_table(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A plain table for a notebook; every text in it is text, whatever it looks like."""
    return page_environment().get_template("table.html.j2").render(heads=heads, rows=rows, caption=caption)


def manifest_entries(manifest: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Keys with a text or with entries of their own; plain lines first: a reader meets the short facts first."""
    entries = [(str(key), _manifest_value(value)) for key, value in manifest.items()]
    return sorted(entries, key=lambda entry: not isinstance(entry[1], str))


def _manifest_value(value: Any) -> str | list[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        return manifest_entries(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        if any(isinstance(item, Mapping) for item in value):
            return [(str(number), _manifest_value(item)) for number, item in enumerate(value, 1)]
        return " ".join(str(_manifest_value(item)) for item in value) or wording.NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return wording.NOTHING if value is None or value == {} else str(value)


def link_to(**filters: str | None) -> str:
    """The address inside the page that shows exactly these judgments."""
    return "#" + urlencode({name: value for name, value in filters.items() if value is not None}, errors="replace")


def position(share: float) -> str:
    """A place on a 0..1 axis as SVG writes it; five digits are finer than any screen."""
    return f"{share * 100:.3f}%"


def content_security_policy(*blocks: str) -> str:
    """Only this style and this script run, by hash: even a text that broke out could not execute or call home."""
    hashes = [base64.b64encode(hashlib.sha256(block.encode()).digest()).decode() for block in blocks]
    style, script = (f"'sha256-{digest}'" for digest in hashes)
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


@cache
def asset_text(name: str) -> str:
    return (resources.files("mixseek.reporting") / "assets" / name).read_text(encoding="utf-8")


def joined_assets(names: Sequence[str]) -> str:
    return "\n".join(asset_text(name) for name in names)


@cache
def page_environment() -> Environment:
    """For every page: escaped by default, strict, with the words that all renderers share."""
    environment = Environment(
        loader=FunctionLoader(asset_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = {
        name: word
        for module in (corrected_text, wording, headline, trust)
        for name, word in vars(module).items()
        if isfunction(word) and word.__module__ == module.__name__ and not name.startswith("_")
    }
    environment.filters.update(words, position=position)
    environment.globals.update(
        words, link_to=link_to, NO_TASK=wording.NO_TASK, NO_NAME=wording.NO_NAME, TRUST_TITLE=wording.TRUST_TITLE
    )
    return environment
