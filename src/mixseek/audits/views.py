"""A judge's card: who was examined, what was found and when it no longer fits; as sections, and as a page."""

from collections.abc import Iterator, Sequence

from mixseek.domain.shown import shown_html, shown_text
from mixseek.presentation.pictures import Axis, IntervalPlot
from mixseek.presentation.render.html import result_html
from mixseek.presentation.render.terminal import result_text
from mixseek.presentation.sections import (
    GAP,
    QUIET,
    VERBATIM,
    Cell,
    Link,
    Listing,
    Section,
    Sentence,
    TableRows,
    Words,
    plot_head,
    sections_of,
)
from mixseek.reports.confidence import confidence_sections
from mixseek.reports.pages.result_page import Chapter, ResultPage, render_result_page
from mixseek.reports.wording.numbers import NOTHING, p_number, percent
from mixseek.reports.wording.scales import signed_text
from mixseek.runs.cards import Card, CardExample, CardFinding
from mixseek.stats.audits import AUDITS, AuditState, Side
from mixseek.text.phrases import plural

STATE_STYLES = {
    AuditState.PASS: "green",
    AuditState.CONCERN: "yellow",
    AuditState.FAIL: "bold red",
    AuditState.NOT_APPLICABLE: "dim",
    AuditState.TOO_FEW: "magenta",
}
UNITS = "effects are shares of the scale, those of order and injection of the samples; all audits are one family (Holm)"
# Characters from which a terminal draws effects, too.
_ROOMY = 140
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
    when = f"{drawn}, {moment_text(card)}: {verdict_text(card)}"
    yield Section(None, (Sentence(head, "bold"), Sentence(when, "")))
    yield Section("", (finding_table(card), Sentence(UNITS)))
    remarks = [(finding.title, remark(finding)) for finding in card.findings if remark(finding)]
    yield Section("", [TableRows(("", ""), remarks)])
    for finding in card.findings:
        if finding.is_flagged:
            title = Sentence(f"{finding.title}: {finding.measure}", "bold")
            yield Section(None, [GAP, title, *_changes(finding)])
    yield from confidence_sections(card.confidences)
    yield Section(None, [Sentence(place, "", is_unbroken=True) for place in places])


sections_of.register(Card, card_sections)
shown_text.register(Card, result_text)
shown_html.register(Card, result_html)


def finding_table(card: Card) -> TableRows:
    """All audits on one axis, which goes as far to one side as to the other."""
    axis = card_axis(card)
    heads = (
        "audit",
        "|state",
        ">items",
        "|effect and 95% interval",
        plot_head(axis),
        ">p (Holm)",
        ">flagged at",
    )
    rows: list[Sequence[Cell]] = [
        (
            Link(finding.title, {}, place=finding.audit),
            (finding.state.value, STATE_STYLES[finding.state]),
            f"{finding.items:,}",
            effect_text(finding),
            finding_plot(finding, axis),
            p_number(finding.p_adjusted),
            limit_text(finding),
        )
        for finding in card.findings
    ]
    return TableRows(heads, rows, wide=_ROOMY, name="audits", label="Audits")


def finding_plot(finding: CardFinding, axis: Axis) -> IntervalPlot:
    """The effect between its ends; limits are where it would be flagged."""
    limits = (-finding.minimum, finding.minimum) if AUDITS[finding.audit].side is Side.BOTH else (finding.minimum,)
    return IntervalPlot(
        finding.effect,
        None if finding.low is None or finding.high is None else (finding.low, finding.high),
        axis,
        references=(0.0,),
        limits=[limit for limit in limits if abs(limit) <= axis.high] if finding.effect is not None else (),
        label=f"{finding.title}: {effect_text(finding)}",
    )


def card_axis(card: Card) -> Axis:
    """Round ends around all effects and intervals."""
    ends = [
        abs(end) for finding in card.findings for end in (finding.low, finding.high, finding.effect) if end is not None
    ]
    end = next((end for end in _ROUND_ENDS if end >= max(ends, default=_ROUND_ENDS[0])), _ROUND_ENDS[-1])
    return Axis(-end, end, (-end, 0.0, end), (signed_share(-end), "0", signed_share(end)))


def _changes(finding: CardFinding) -> Iterator[Sentence]:
    """Mean effects by kind of change, and samples with what opens them."""
    for kind, (count, mean) in finding.kinds.items() if len(finding.kinds) > 1 else ():
        yield Sentence(f"  {kind}: {signed_share(mean)} in {plural(count, 'sample')}", "")
    for example in finding.examples:
        yield Sentence(f"  {example_text(example)}   {example.command}", "", is_unbroken=True)


def example_text(example: CardExample) -> str:
    """Which change of which sample, and the scores before and after it, where there is a before."""
    scores = (example.after,) if example.before is None else (example.before, example.after)
    shown = " → ".join(NOTHING if score is None else f"{score:.2f}" for score in scores)
    return f"{example.original}, {example.kind}: {shown}"


def moment_text(card: Card) -> str:
    """When the judge was examined."""
    return f"{card.created_at:%Y-%m-%d %H:%M} UTC"


def render_card_page(card: Card) -> str:
    """One self-contained file: what terminals show, and all that was found by each audit."""
    protocol = card.protocol
    facts = (
        ("Model", card.judge.model or NOTHING),
        ("Protocol", f"{protocol.name} {protocol.version} ({protocol.language}, {protocol.hash[:8]})"),
        ("Samples", f"{card.samples:,} of {card.dataset}, seed {card.seed}"),
        ("Examined", moment_text(card)),
    )
    legend = Sentence(f"{begun(UNITS)}. Broken lines mark the least effect that is flagged.")
    summary = Section(verdict_text(card), (finding_table(card), legend))
    findings = [Section("Findings", [Sentence(f"{plural(len(card.findings), 'audit')}, one by one.")])]
    findings += map(finding_section, card.findings)
    sure = tuple(confidence_sections(card.confidences))
    chapters = (
        Chapter("summary", "Summary", (summary,)),
        Chapter("findings", "Findings", findings),
        *([Chapter("confidence", "Confidence", sure)] if sure else []),
        Chapter("fit", "What it fits", (fit_section(card),)),
    )
    return render_result_page(ResultPage(card.judge.name, "judge card", facts, chapters))


def begun(sentence: str) -> str:
    """A sentence, as it begins where it stands by itself."""
    return f"{sentence[:1].upper()}{sentence[1:]}"


def finding_section(finding: CardFinding) -> Section:
    """What was measured, what a pass is worth, and the samples that changed most."""
    lines = [f"{begun(finding.measure)}."]
    if finding.effect is not None:
        counts = f"{plural(finding.items, 'sample')}, {plural(finding.clusters, 'question')}"
        lines = [f"{begun(finding.measure)}: {effect_text(finding)}, {counts}."]
    if sought := sought_text(finding):
        lines.append(f"Flagged at {limit_text(finding)}; {sought}.")
    if remark(finding):
        lines.append(f"{begun(remark(finding))}.")
    several = finding.kinds.items() if len(finding.kinds) > 1 else ()
    kinds = [Words([f"{kind}: {signed_share(mean)} ", (f"in {count:,}", QUIET)]) for kind, (count, mean) in several]
    examples = [Words([example_text(example), "  ", (example.command, VERBATIM)]) for example in finding.examples]
    shown = Listing(examples) if finding.is_flagged else Listing(examples, shown=0, title="Largest changes")
    state = (finding.state.value, STATE_STYLES[finding.state])
    return Section(
        finding.title, (Sentence(" ".join(lines), ""), Listing(kinds), shown), note=state, name=finding.audit
    )


def fit_section(card: Card) -> Section:
    """What the card belongs to: with anything else it is another judge's."""
    rows = [(name, (str(value), VERBATIM)) for name, value in card.judge.parameters.items()]
    other = "Another model, prompt or temperature is another judge: "
    refused = Words([other, ("mixseek judge --require-card", VERBATIM), " refuses this card then."])
    return Section("What this card belongs to", (TableRows(("", ""), rows), Sentence(refused)))
