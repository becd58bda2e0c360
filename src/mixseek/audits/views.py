"""A judge's card: who was examined, what was found and when it no longer fits; as sections, and as a page."""

from collections.abc import Iterator

from mixseek.domain.shown import shown_html, shown_text
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.render.html import result_html
from mixseek.presentation.render.terminal import result_text
from mixseek.presentation.sections import Section, Sentence, TableRows, sections_of
from mixseek.reports.pages.html import joined_assets, render_page
from mixseek.reports.wording.numbers import NOTHING, p_number, percent
from mixseek.reports.wording.scales import signed_text
from mixseek.runs.cards import Card, CardExample, CardFinding
from mixseek.stats.audits import AUDITS, AuditState, Side
from mixseek.text.phrases import plural

STYLES = ("tokens.css", "page.css", "summary.css", "comparison.css", "card.css")
STATE_STYLES = {
    AuditState.PASS: "green",
    AuditState.CONCERN: "yellow",
    AuditState.FAIL: "bold red",
    AuditState.NOT_APPLICABLE: "dim",
    AuditState.TOO_FEW: "magenta",
}
UNITS = "effects are shares of the scale, those of order and injection of the samples; all audits are one family (Holm)"
# Ends of an axis that are easily read.
_ROUND_ENDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)


def signed_share(share: float | None) -> str:
    """A share of the scale, or of the samples."""
    return signed_text(share, None)


def effect_text(finding: CardFinding) -> str:
    """A signed share, with its interval where there is one."""
    if finding.low is None:
        return signed_share(finding.effect)
    return f"{signed_share(finding.effect)} ({signed_share(finding.low)} to {signed_share(finding.high)})"


def limit_text(finding: CardFinding) -> str:
    """The least effect that is flagged; nothing where nothing could be."""
    if finding.effect is None:
        return NOTHING
    sign = "±" if AUDITS[finding.audit].side is Side.BOTH else "≥ "
    return f"{sign}{percent(finding.minimum) if finding.minimum >= 0 else signed_share(finding.minimum)}"


def sought_text(finding: CardFinding) -> str | None:
    """What a pass is worth: the defect that would have been seen."""
    if finding.state is not AuditState.PASS or finding.sought is None:
        return None
    if not finding.sought:
        # Planted defects that cost nothing.
        return "a judge that overlooks them would have been seen"
    either = " to either side" if AUDITS[finding.audit].side is Side.BOTH else ""
    return f"an effect of {percent(finding.sought)}{either} would have been seen"


def remark(finding: CardFinding) -> str:
    """What else must be known: why there is nothing, how many would do, who was left out."""
    sentences = []
    if finding.reason is not None:
        sentences.append(finding.reason)
    elif finding.state is AuditState.TOO_FEW:
        sentences.append(f"{finding.needed:,} items are needed" if finding.needed else "one question is no spread")
    if finding.reason is None:
        sentences += [f"{plural(count, 'sample')} left out: {reason}" for reason, count in finding.left_out.items()]
    return "; ".join(sentences)


def verdict_text(card: Card) -> str:
    """The card in one line."""
    counted = [(state, len(card.of_state(state))) for state in AuditState]
    return ", ".join(f"{count} {state.value}" for state, count in counted if count)


def card_sections(card: Card, *places: str) -> Iterator[Section]:
    """Flagged audits with samples to open; `places` are files that hold the card."""
    protocol = card.protocol
    head = f"{card.judge.name} under {protocol.name} {protocol.version} ({protocol.language}, {protocol.hash[:8]})"
    drawn = f"{plural(card.samples, 'sample')} of {card.dataset}, seed {card.seed}"
    when = f"{drawn}, {card.created_at:%Y-%m-%d %H:%M} UTC: {verdict_text(card)}"
    yield Section(None, (Sentence(head, "bold"), Sentence(when, "")))
    heads = ("audit", "|state", ">items", "|effect and 95% interval", ">p (Holm)", ">flagged at")
    rows = [
        (
            finding.title,
            (finding.state.value, STATE_STYLES[finding.state]),
            str(finding.items),
            effect_text(finding),
            p_number(finding.p_adjusted),
            limit_text(finding),
        )
        for finding in card.findings
    ]
    yield Section("", (TableRows(heads, rows), Sentence(UNITS)))
    remarks = [(finding.title, remark(finding)) for finding in card.findings if remark(finding)]
    yield Section("", [TableRows(("", ""), remarks)])
    for finding in card.findings:
        if finding.is_flagged:
            yield Section(None, list(_flagged_lines(finding)))
    yield Section(None, [Sentence(place, "", is_unbroken=True) for place in places])


sections_of.register(Card, card_sections)
shown_text.register(Card, result_text)
shown_html.register(Card, result_html)


def _flagged_lines(finding: CardFinding) -> Iterator[Sentence]:
    yield Sentence("")
    yield Sentence(f"{finding.title}: {finding.measure}", "bold")
    for kind, (count, mean) in finding.kinds.items() if len(finding.kinds) > 1 else ():
        yield Sentence(f"  {kind}: {signed_share(mean)} in {plural(count, 'sample')}", "")
    for example in finding.examples:
        shown = f"  {example.original}, {example.kind}: {example_scores(example)}   {example.command}"
        yield Sentence(shown, "", is_unbroken=True)


def example_scores(example: CardExample) -> str:
    """The scores before and after the change, where there is a before."""
    scores = (example.after,) if example.before is None else (example.before, example.after)
    return " → ".join(NOTHING if score is None else f"{score:.2f}" for score in scores)


@dataclass(frozen=True, slots=True)
class DrawnFinding:
    """Places are shares of the drawing's width."""

    finding: CardFinding
    zero: float
    mean: float | None
    low: float | None
    high: float | None
    minima: tuple[float, ...]


def render_card_page(card: Card) -> str:
    """One self-contained file."""
    end = axis_end(card)
    return render_page(
        "card.html.j2",
        STYLES,
        joined_assets(("leaderboard.js",)),
        card=card,
        rows=list(draw(card, end)),
        end=end,
        verdict=verdict_text(card),
        effect_text=effect_text,
        limit_text=limit_text,
        remark=remark,
        sought_text=sought_text,
        units=UNITS,
        signed_share=signed_share,
        example_scores=example_scores,
    )


def axis_end(card: Card) -> float:
    """The same to both sides."""
    ends = [
        abs(end) for finding in card.findings for end in (finding.low, finding.high, finding.effect) if end is not None
    ]
    return next((end for end in _ROUND_ENDS if end >= max(ends, default=0.05)), 1.0)


def draw(card: Card, end: float) -> Iterator[DrawnFinding]:
    def place(value: float | None) -> float | None:
        return None if value is None else min(1.0, max(0.0, (value + end) / (2 * end)))

    for finding in card.findings:
        both = AUDITS[finding.audit].side is Side.BOTH
        minima = (-finding.minimum, finding.minimum) if both else (finding.minimum,)
        inside = tuple((value + end) / (2 * end) for value in minima if abs(value) <= end)
        yield DrawnFinding(finding, 0.5, place(finding.effect), place(finding.low), place(finding.high), inside)
