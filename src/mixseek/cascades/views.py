"""How a planned cascade and its certificate are told: to people as sections, to programs as a document."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from mixseek.cascades.auditing import AuditedCascade
from mixseek.cascades.certificate import Certificate, CertifiedLabels
from mixseek.cascades.file import PEOPLE
from mixseek.cascades.plan import PlannedCascade, PlannedTier, PlanState
from mixseek.domain.documents import DocumentName, with_schema
from mixseek.domain.shown import shown_html, shown_text
from mixseek.presentation.render.html import result_html
from mixseek.presentation.render.terminal import result_text
from mixseek.presentation.sections import (
    QUIET,
    Cell,
    Section,
    Sentence,
    TableRows,
    notes,
    page_section,
    sections_of,
)
from mixseek.reports.wording.names import SOURCE_WORDS
from mixseek.reports.wording.numbers import NOTHING, ends_text, percent
from mixseek.stats.cascades import TierState
from mixseek.stats.drift import ALPHA
from mixseek.stats.intervals import Interval
from mixseek.text.phrases import listed, plural

_STYLES = {TierState.DECIDES: "green", TierState.TOO_FEW_LABELS: "magenta", TierState.NOT_SHOWN: "yellow"}


def cascade_document(result: PlannedCascade) -> dict[str, Any]:
    """The plan for programs: shares from 0 to 1, and the certificate as the file has it."""
    document = asdict(result)
    del document["cascade"]
    certificate = result.certificate
    document["labels"] = result.labels.model_dump(mode="json")
    document["sources"] = [source.model_dump(mode="json") for source in result.sources]
    document["certificate"] = None if certificate is None else certificate.model_dump(mode="json")
    return with_schema(DocumentName.CASCADE_PLAN, document)


def brief_document(result: PlannedCascade) -> dict[str, Any]:
    """The same without what differs from day to day and from run to run: the certificate, and digests of sources."""
    document = cascade_document(result)
    return {name: document[name] for name in document if name not in ("schema", "certificate", "sources")}


def tier_facts(result: PlannedCascade) -> Iterator[tuple[str, str]]:
    """A line for each tier: what it decides, and how far labels agree with that."""
    for tier in result.tiers:
        agree = NOTHING if tier.agreement is None else percent(tier.agreement)
        reached = f"{tier.decided:,} of {plural(tier.reached, 'text')}"
        yield tier.name, f"decides {_decided_text(tier)}: {reached}; labels agree with {agree}"


def cascade_sections(result: PlannedCascade) -> Iterator[Section]:
    """The answer, what each tier may do, what it rests on, and the file."""
    yield Section(None, [Sentence(answer_sentence(result), "bold"), *notes(_after_answer(result))])
    rows = [_tier_row(tier) for tier in result.tiers]
    heads = (">", "tier", "decides", ">of what reaches it", ">labels", ">agree", ">95% interval", "sure by")
    yield Section("Tiers", [TableRows(heads, [(str(place), *row) for place, row in enumerate(rows, 1)])])
    yield Section(None, notes(_remarks(result)))
    if result.path is not None:
        yield page_section(result.path, "Cascade")


def answer_sentence(result: PlannedCascade) -> str:
    """What may be decided without people, or why nothing may."""
    wanted = f"{_share(result.agree)} with {_share(result.confidence)} confidence"
    match result.state:
        case PlanState.DECIDES:
            agree = "" if result.agreement is None else f"; labels agree with {percent(result.agreement)} of it"
            ends = "" if result.interval is None else f" ({_ends(result.interval)})"
            return (
                f"{percent(result.decided_share)} of {plural(result.texts, 'text')} may be decided without people"
                f"{agree}{ends}, at least {wanted}."
            )
        case PlanState.NONE:
            best = "" if result.best is None else f"; the best reaches {percent(result.best)}"
            if result.best is None or result.best < result.agree:
                return f"None of these judges can do it: asked was {wanted}{best}."
            # Among the surest somebody disagreed too early: that is no proof that the judge cannot do it.
            needed = result.labels_needed
            more = (
                "" if needed is None else f"; about {needed:,} labels more, if they say what these say, would show it"
            )
            return f"Not shown by these labels: asked was {wanted}{best}{more}."
        case PlanState.TOO_FEW_LABELS:
            more = (
                ""
                if result.labels_needed is None
                else f"; about {result.labels_needed:,} more would allow a first test"
            )
            return f"Too few labels to say: there are {result.labels.count:,}, and asked was {wanted}{more}."


def _after_answer(result: PlannedCascade) -> Iterator[str]:
    left = result.texts - round(result.decided_share * result.texts)
    if result.state is PlanState.DECIDES:
        who = "people" if result.last == PEOPLE else f"{result.last}, of which nothing is shown there"
        yield f"The rest, {plural(left, 'text')}, goes to {who}." if left else f"Nothing is left for {who}."
        if result.cost is not None and result.cost_share is not None:
            yield (
                f"A text costs {result.cost:.4g} in the mean, {percent(result.cost_share)} of the dearest judge on "
                f"every text ({result.dearest:.4g})."
            )
        needed = {tier.name: tier.labels_needed for tier in result.tiers if tier.labels_needed is not None}
        if needed and left:
            name = min(needed, key=lambda name: needed[name])
            yield f"About {needed[name]:,} labels more, if they say what these say, would let {name} decide more."
    else:
        yield "No file is written."


def _tier_row(tier: PlannedTier) -> tuple[Cell, ...]:
    source = "nothing: all or nothing" if tier.confidence is None else SOURCE_WORDS[tier.confidence]
    reached = f"{tier.decided:,} of {tier.reached:,}"
    agree = NOTHING if tier.agreement is None else percent(tier.agreement)
    ends = NOTHING if tier.interval is None else _ends(tier.interval)
    return (
        tier.name,
        (_decided_text(tier), _STYLES[tier.state]),
        reached,
        f"{tier.labelled:,}",
        agree,
        (ends, QUIET),
        (source, QUIET),
    )


def _decided_text(tier: PlannedTier) -> str:
    """What it decides, or why nothing."""
    if tier.threshold is None:
        return f"nothing: {tier.state.value}"
    return "all it judges" if tier.confidence is None else f"from {tier.threshold:.3g} on"


def _remarks(result: PlannedCascade) -> Iterator[str]:
    yield labels_sentence(result.labels)
    yield "What is promised is agreement with these labels over all that is decided together, not of each tier alone."
    if any(tier.agreement is not None and tier.threshold is None for tier in result.tiers):
        yield "Of a tier that decides nothing, agreement is on the surest texts that were tested."
    yield from result.notes


def labels_sentence(labels: CertifiedLabels) -> str:
    """How many there are, of what, and how they were drawn."""
    how = {
        "all": "every text has one",
        "random": "drawn at random",
        "weighted": "drawn at random with known chances, by which they are weighted",
    }[labels.drawn]
    by = f", from seed {labels.seed}" if labels.seed is not None else ""
    where = f" ({listed(labels.draws)})" if labels.draws else ""
    return (
        f"{plural(labels.count, 'label')} on {plural(labels.texts, 'text')} of {plural(labels.questions, 'question')}: "
        f"{how}{by}{where}."
    )


def certificate_sections(certificate: Certificate) -> Iterator[Section]:
    """What is certified, and what it rests on."""
    ends = ends_text(certificate.agreement_low, certificate.agreement_high, is_binary=True)
    yield Section(
        None,
        [
            Sentence(
                f"{percent(certificate.decided_share)} decided without people, at least {_share(certificate.agree)} "
                f"agreement with {_share(certificate.confidence)} confidence; "
                f"labels agree with {percent(certificate.agreement)} ({ends}).",
                "bold",
            ),
            *notes(
                (
                    "; ".join(f"{name} from {value:.3g} on" for name, value in certificate.thresholds.items()),
                    labels_sentence(certificate.labels),
                    f"Made on {certificate.made_on}, from {listed([source.name for source in certificate.sources])}.",
                )
            ),
        ],
    )


def _ends(interval: Interval) -> str:
    return ends_text(interval.low, interval.high, is_binary=True)


def _share(share: float) -> str:
    return f"{share * 100:.4g}%"


# What is printed of a result is what a terminal, a page and a notebook print of it.
sections_of.register(PlannedCascade, cascade_sections)
shown_text.register(PlannedCascade, result_text)
shown_html.register(PlannedCascade, result_html)
sections_of.register(Certificate, certificate_sections)
shown_text.register(Certificate, result_text)
shown_html.register(Certificate, result_html)


def watch_document(audited: AuditedCascade) -> dict[str, Any]:
    """What audits came to, for programs."""
    watch = audited.watch
    return with_schema(
        DocumentName.CASCADE_WATCH,
        {
            "runs": list(audited.runs),
            "agree": audited.agree,
            "drawn": audited.drawn,
            "audited": watch.audited,
            "disagreements": watch.disagreements,
            "agreement": watch.agreement,
            "evidence": watch.evidence,
            "raises_at": 1 / ALPHA,
            "raised_at": watch.raised_at,
            "is_drift": watch.raised_at is not None,
        },
    )


def watch_sections(audited: AuditedCascade) -> Iterator[Section]:
    """Whether drift was raised, and on how many labels that rests."""
    watch = audited.watch
    runs = f"{plural(len(audited.runs), 'run')} ({listed(audited.runs)})"
    if not watch.audited:
        yield Section(None, [Sentence(f"No audited decision has a label yet, of {audited.drawn:,} drawn in {runs}.")])
        return
    agreed = f"{percent(watch.agreement or 0.0)} of {plural(watch.audited, 'audited decision')} agree with people"
    promise = f"at least {percent(audited.agree)} were promised"
    style = "bold" if watch.raised_at is None else "bold red"
    answer = "No drift" if watch.raised_at is None else f"Drift, raised by label {watch.raised_at:,}"
    yield Section(None, [Sentence(f"{answer}: {agreed}, {promise}.", style)])
    yield Section(
        None,
        notes(
            [
                f"{watch.audited:,} of {audited.drawn:,} drawn in {runs} are labelled.",
                f"Evidence against the promise: {watch.evidence:.3g}; {1 / ALPHA:g} raises drift.",
            ]
        ),
    )
