"""A run that followed a cascade file, in words and for programs: who decided how much, by which promise."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from mixseek.analysis.run.route import RoutedTier, RouteSummary
from mixseek.presentation.sections import QUIET, Cell, Section, TableRows, notes, number_head
from mixseek.reports.wording.names import SOURCE_WORDS, name_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.text.messages import Message, message
from mixseek.text.phrases import plural


def route_sections(route: RouteSummary | None) -> Iterator[Section]:
    """A row a tier; nothing for a run that followed no file."""
    if route is None:
        return
    heads = (
        message("cascade.tier", "tier"),
        message("cascade.sure_by", "sure by"),
        number_head(message("cascade.threshold", "from")),
        number_head(message("cascade.asked", "asked")),
        number_head(message("cascade.decided", "decided")),
    )
    title = message("cascade.title", "Decided by certificate")
    rows = [_row(tier) for tier in route.tiers]
    table = TableRows(heads, rows, name="cascade", label=title)
    yield Section(title, [table, *notes(list(route_sentences(route)))], name="cascade")


def _row(tier: RoutedTier) -> Sequence[Cell]:
    source: Cell = NOTHING if tier.source is None else SOURCE_WORDS[tier.source]
    threshold = NOTHING if tier.threshold is None else f"{tier.threshold:.3g}"
    return name_text(tier.name), source, (threshold, QUIET), f"{tier.asked:,}", f"{tier.decided:,}"


def route_sentences(route: RouteSummary) -> Iterator[Message]:
    """What was decided, by which promise, and what was not."""
    yield message(
        "cascade.decided_of",
        "{decided} of {samples} samples were decided by certificate: at least {agree} of such decisions agree with the "
        "labels, with confidence {confidence} ({labels} labels of {made_on}: {agreement}, 95% interval {low}–{high}).",
        decided=f"{route.decided:,}",
        samples=f"{route.samples:,}",
        agree=f"{100 * route.agree:g}%",
        confidence=f"{100 * route.confidence:g}%",
        labels=f"{route.labels:,}",
        made_on=route.made_on,
        agreement=f"{route.agreement:.1%}",
        low=f"{100 * route.agreement_low:.1f}",
        high=f"{route.agreement_high:.1%}",
    )
    if route.by_last:
        yield message(
            "cascade.by_last",
            "{count} have the verdict of the last judge, which the certificate does not speak of.",
            count=f"{route.by_last:,}",
        )
    if route.left:
        yield message(
            "cascade.left",
            "{count} are left for people, and in no mean before they are labelled.",
            count=f"{route.left:,}",
        )


def describe_route(route: RouteSummary | None) -> Iterator[str]:
    """Lines for a terminal."""
    if route is None:
        return
    parts = [
        f"{tier.name} decided {tier.decided:,} of {tier.asked:,}" for tier in route.tiers if tier.threshold is not None
    ]
    if route.by_last:
        parts.append(f"{plural(route.by_last, 'last word')} beside the certificate")
    parts.append(f"{route.left:,} left for people")
    yield f"{'cascade':<10}  {'; '.join(parts)}"


def route_document(route: RouteSummary | None) -> dict[str, Any] | None:
    """What programs are given."""
    return None if route is None else {**asdict(route), "decided": route.decided}
