"""What a run amounts to in a few lines: for a person, and as a document for programs and the manifest."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from shlex import quote
from typing import Any

from mixseek.analysis.run.model import ScoreSummary, split_of
from mixseek.analysis.run.summary import RunSummary
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import ConfidenceCount, ReaskCount
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.judgments import Status
from mixseek.domain.ports import CallAccount
from mixseek.domain.response_states import UNFINISHED
from mixseek.domain.scored_counts import FailureGroup
from mixseek.domain.scored_details import document_of
from mixseek.presentation.pictures import SHARES
from mixseek.presentation.sections import VERBATIM, Cell, Section, TableRows, Words, sections_of, unbroken_lines
from mixseek.reports.accounts import call_documents, cost_text, masked_text, saving_notes, tokens_text
from mixseek.reports.cascades import describe_route, route_document
from mixseek.reports.checked import check_documents, describe_checks
from mixseek.reports.headline import describe_headline, headline_document, score_document, score_plot
from mixseek.reports.labels import corrected_document, corrected_lines
from mixseek.reports.pair_words import describe_pairs, pairs_document
from mixseek.reports.wording.names import SOURCE_WORDS
from mixseek.reports.wording.responses import (
    choices_text,
    cut_off_warning,
    finished_sentence,
    state_count_text,
    state_word,
)
from mixseek.reports.wording.scores import (
    bounds_sentence,
    in_unit_of,
    interval_sentence,
    no_interval_sentence,
    reasks_text,
    score_text,
)
from mixseek.text import phrases


def summary_document(summary: RunSummary, gates: Sequence[Any] = ()) -> dict[str, Any]:
    """The contract for programs: keys are never renamed, only added. Gates are of this module or of a baseline."""
    header, first_replies = summary.header, {count.judge: count for count in summary.reasks}
    return {
        "schema": schema_id(DocumentName.JUDGE),
        "run": header.run_id,
        "workspace": str(summary.workspace),
        "protocol": header.protocol,
        "protocol_hash": header.protocol_hash,
        "dataset": dict(summary.dataset),
        "samples": header.samples,
        "judges": list(summary.judges),
        "cascade": summary.cascade,
        "repeats": summary.repeats,
        # Of samples, each with one verdict; the counts are of judgments, `headline.counts` has those of samples.
        **score_document(summary.headline.score),
        "counts": asdict(summary.score.counts),
        "headline": headline_document(summary.headline),
        "control": score_document(summary.control) if summary.control.counts.total else None,
        "per_judge": {
            judge: {
                **score_document(score),
                "asked_again": summary.asked_again(judge),
                "first_replies": first_replies_document(first_replies.get(judge)),
            }
            for judge, score in summary.by_judge.items()
        },
        "asked_again": summary.asked_again(),
        "calls": call_documents(summary.calls),
        "spreads": {spread.judge: asdict(spread) for spread in summary.spreads},
        "gates": [document_of(gate, name="gate", is_met="met") for gate in gates],
        "unmatched_replies": {
            judge: {"count": count, "first": first} for judge, (count, first) in summary.unmatched.items()
        },
        "needs_maths": summary.needs_maths,
        "complete": summary.is_complete,
        "journal": str(summary.journal),
        "manifest": str(summary.manifest),
        "seconds": round(summary.seconds, 3),
        "notices": list(summary.notices),
        "corrected": corrected_document(summary.corrected) if summary.corrected else None,
        "pairs": pairs_document(summary.pairs) if summary.pairs else None,
        "checks": check_documents(summary.checks),
        "route": route_document(summary.route),
        "confidences": [asdict(count) for count in summary.confidences],
    }


def first_replies_document(count: ReaskCount | None) -> dict[str, Any] | None:
    """How many first replies were invalid, whatever came of asking again; null for judges without replies."""
    if count is None:
        return None
    share = count.first_invalid / count.replies if count.replies else None
    return {"replies": count.replies, "invalid": count.first_invalid, "invalid_share": share}


def describe_calls(account: CallAccount) -> str:
    cached = f", {account.cached:,} from the cache" if account.cached else ""
    again = f", {account.reasks:,} asked again" if account.reasks else ""
    masked = f"; {masked_text(account.masked)}" if account.masked else ""
    return (
        f"{account.judge}: {account.tries:,} requests for {account.calls:,} replies{cached}{again}; "
        f"{tokens_text(account.input_tokens, account)} tokens in, {tokens_text(account.output_tokens, account)} out; "
        f"cost {cost_text(account)}{''.join(f'; {note}' for note in saving_notes(account))}{masked}"
    )


@sections_of.register
def summary_sections(summary: RunSummary) -> Iterator[Section]:
    """A few lines for a person; `mixseek report` says more."""
    first, *lines = _summary_lines(summary)
    yield unbroken_lines(first)
    yield unbroken_lines(*lines, is_indented=True)


# Reasons and flags in a cell of a notebook; the report has them all.
_CARD_LINES = 5
_WHY_CHARACTERS = 160


def run_card_sections(
    summary: RunSummary,
    state: str,
    reasons: Sequence[str] = (),
    failures: Sequence[FailureGroup] = (),
    *,
    has_page: bool = False,
) -> Iterator[Section]:
    """A run in a cell of a notebook: the headline with its interval, counts, flags, and what is not well."""
    score = summary.headline.score
    interval = interval_sentence(score) if score.interval else no_interval_sentence(score)
    rows: list[Sequence[Cell]] = [("mean score", Words([(score_text(score), "bold"), f" ({interval})"]))]
    rows.append(("", score_plot(score, SHARES, label=f"mean score {score_text(score)}, {interval}")))
    beside = {"finished": finished_sentence(score), "bounds": bounds_sentence(score)}
    rows += [(name, sentence) for name, sentence in beside.items() if sentence]
    rows += [(name, f"{count:,}") for name, count in asdict(score.counts).items() if count]
    ended = [state for state in UNFINISHED if score.responses.of(state)]
    rows += [(state_word(state), state_count_text(score.responses, state)) for state in ended]
    warning = cut_off_warning(score)
    reasons = [*([warning] if warning else []), *reasons]
    rows.append(("judged by", f"{', '.join(summary.judges)} ({summary.header.protocol})"))
    for group in failures[:_CARD_LINES]:
        rows.append(("unusable", f"{group.count:,}: {phrases.shortened(group.why, _WHY_CHARACTERS)}"))
    rows += [("⚠", reason) for reason in reasons]
    if not has_page:
        rows.append(("page", Words([('.report("report.html")', VERBATIM), " writes it"])))
    yield Section(f"{summary.header.run_id}: {state.replace('_', ' ')}", [TableRows(("", ""), rows)])


def describe_summary(summary: RunSummary) -> str:
    """The same as a text, for which nothing that draws has to be loaded."""
    return "\n  ".join(_summary_lines(summary))


def _summary_lines(summary: RunSummary) -> Iterator[str]:
    samples = phrases.plural(summary.header.samples, "sample")
    yield f"{summary.header.run_id}: {samples}, {summary.seconds:.1f} s"
    yield from describe_headline(summary.headline)
    yield from describe_pairs(summary.pairs) if summary.pairs else ()
    # Which of a pair is A is chance, or the dataset's: the mean of A is only of use where that means something.
    label = "A preferred" if summary.pairs else "mean score"
    score, counting = summary.headline.score, summary.headline.counting
    yield from describe_score(score, summary.asked_again(), label, counting)
    yield from describe_checks(summary.checks)
    yield from describe_route(summary.route)
    yield from describe_confidences(summary.confidences)
    yield from corrected_lines(summary.corrected) if summary.corrected else ()
    # Where a file is followed its tiers say more.
    yield from describe_judges(summary) if len(summary.by_judge) > 1 and summary.route is None else ()
    if total := summary.control.counts.total:
        mean = score_text(in_unit_of(summary.score, summary.control))
        yield f"control     {phrases.plural(total, 'self-judgment')} apart, mean {mean}"
    yield from map(describe_calls, summary.calls)
    for spread in summary.spreads:
        several = f"{phrases.plural(spread.samples, 'sample')} with several valid takes"
        agreed = f"agrees with itself on {spread.unanimous:,} of {several}"
        yield f"{spread.judge}: {agreed}; mean spread {spread.mean_spread:.3f}"
    yield from (f"{judge}: {warning}" for judge, warning in summary.warnings)
    if summary.needs_maths:
        yield needs_maths_text(summary.needs_maths)
    run, workspace = quote(summary.header.run_id), quote(str(summary.workspace))
    yield f"report      mixseek report {run} --workspace {workspace}"


# What is said of every run with probabilities; the others say how sure a judge is wherever there is one.
_SOURCES_TOLD = (ConfidenceSource.LOGPROBS, ConfidenceSource.DECISION)


def describe_confidences(confidences: Sequence[ConfidenceCount]) -> Iterator[str]:
    """A line a judge that was asked for probabilities: how many judgments have them, and why others have not."""
    for judge in dict.fromkeys(count.judge for count in confidences):
        counts = [count for count in confidences if count.judge == judge]
        valid = sum(count.count for count in counts)
        sources = [
            f"{count.count:,} of {valid:,} valid judgments by {SOURCE_WORDS[count.source]}"
            for count in counts
            if count.source in _SOURCES_TOLD
        ]
        without = [f"{count.count:,} of {valid:,} without: {count.why_not}" for count in counts if count.why_not]
        if sources or without:
            whose = f"{judge}: " if len({count.judge for count in confidences}) > 1 else ""
            yield f"confidence  {whose}{'; '.join([*sources, *without])}"
        if unexplained := sum(count.unexplained for count in counts):
            yield f"unexplained {unexplained:,} of {valid:,}: {judge} gives neither reasons nor quotes"


def describe_judges(summary: RunSummary) -> Iterator[str]:
    """A line a judge: what it gave, and its own mean where it judged everything."""
    for judge, score in summary.by_judge.items():
        counts = [f"{count:,} {status}" for status, count in asdict(score.counts).items() if count]
        mean = f"mean {score_text(score)}, " if summary.is_panel and score.mean is not None else ""
        yield f"{judge}: {mean}{', '.join(counts) or 'not asked'}"


def needs_maths_text(count: int) -> str:
    """What would help where mathematics was left undecided."""
    answers = phrases.plural(count, "answer is mathematics", "answers are mathematics")
    return f"{answers} that only the extra `maths` can compare: pip install 'mixseek[maths]'"


def describe_score(
    score: ScoreSummary, asked_again: int, label: str = "mean score", counting: Counting = USUAL
) -> list[str]:
    """The mean with what limits it, then how samples and their responses ended."""
    counts = score.counts
    interval = f" ({interval_sentence(score)})" if score.interval else ""
    if score.mean is not None and not score.interval:
        interval = f" ({no_interval_sentence(score)})"
    lines = [f"{label:<10}  {score_text(score)}{interval}"]
    beside = {
        "counted": choices_text(counting, score.responses),
        "finished": finished_sentence(score),
        "bounds": bounds_sentence(score),
    }
    lines += [f"{name:<10}  {sentence}" for name, sentence in beside.items() if sentence]
    unverified = f", {score.unverified:,} of them unverified: the answer they call correct is not in the response"
    notes = {
        Status.VALID: unverified if score.unverified else "",
        Status.INVALID: f" {reasks_text(asked_again)}" if asked_again else "",
    }
    for status, note in {**dict.fromkeys(Status, ""), **notes}.items():
        # "0 invalid" is true of a judge's last replies only, where first ones had to be asked for again.
        if counts.of(status) or status is Status.VALID or note:
            lines.append(f"{status.value:<10}  {counts.of(status):,}{note}")
    if split := split_of(counts):
        lines.append(f"{'split':<10}  {split:,}: no verdict, because the judges cancel each other out")
    for state in UNFINISHED:
        if score.responses.of(state):
            lines.append(f"{state_word(state):<10}  {state_count_text(score.responses, state)}")
    return lines
