"""The report of a run: what was judged first, then how far its judges can be trusted, then each judge and its calls."""

from collections.abc import Iterator

from mixseek.analysis.run import report_data
from mixseek.presentation.sections import GAP, Divider, Section, Sentence, notes, sections_of
from mixseek.reports.accounts import call_sections
from mixseek.reports.cascades import route_sections
from mixseek.reports.checked import checked_sections
from mixseek.reports.confidence import confidence_sections
from mixseek.reports.labels import corrected_sections
from mixseek.reports.run.judges import judge_lead, judge_sections
from mixseek.reports.run.ranking import asked_sections, headline_sections
from mixseek.reports.run.responses import response_sections
from mixseek.reports.run.scored import scored_sections
from mixseek.reports.run.trust import pairs_sections, trust_sections
from mixseek.reports.wording.names import TRUST_TITLE, moment_text
from mixseek.reports.wording.responses import cut_off_warning
from mixseek.reports.wording.scales import critical_sentence
from mixseek.text.phrases import plural


@sections_of.register
def report_sections(report: report_data.ReportData) -> Iterator[Section]:
    """Everything that a report shows but its rows."""
    yield Section(None, list(_header(report)))
    headline, maximum = report.headline, report.scored.maximum if report.scored else None
    if headline and headline.leads:
        yield from headline_sections(headline)
    if headline:
        yield from asked_sections(headline)
        yield from response_sections(headline)
    yield from route_sections(report.route)
    yield from checked_sections(report.checks)
    if report.pairs:
        yield from pairs_sections(report.pairs)
    if report.corrected:
        yield from corrected_sections(report.corrected)
        yield Section(None, [GAP])
    if headline and headline.leads:
        yield Section(None, [GAP, Divider(TRUST_TITLE)])
        yield from trust_sections(report.agreement, report.consistency, maximum)
    for judge in report.judges:
        yield judge_lead(judge, report)
        yield from judge_sections(judge, report)
        yield Section(None, [GAP])
    if headline and not headline.leads:
        yield from trust_sections(report.agreement, report.consistency, maximum)
    if not report.judges:
        yield Section(None, notes(["This run holds no judgments."]))
    yield from confidence_sections(report.confidences)
    if report.scored:
        yield from scored_sections(report.scored)
    if report.calls:
        yield from call_sections(report.calls)
        yield Section(None, [GAP])


def _header(report: report_data.ReportData) -> Iterator[Sentence]:
    run = report.run
    yield Sentence(run.run_id, "bold")
    facts = [f"{run.protocol} {run.protocol_version} [{run.protocol_hash[:8]}]", run.dataset]
    facts += [plural(run.samples, "sample"), moment_text(run.ended_at or run.started_at) or ""]
    yield Sentence(" · ".join(filter(None, facts)))
    if report.headline and (warning := cut_off_warning(report.headline.score, report.headline.maximum)):
        yield Sentence(f"⚠ {warning}", "yellow")
    if run.unreached:
        unreached = f"Not finished: {run.unreached:,} of {plural(run.samples, 'sample')} not reached yet"
        yield Sentence(f"{unreached}, and in no count or bound below.", "yellow")
    if report.scored and report.scored.critical:
        yield GAP
        yield Sentence(critical_sentence(report.scored.critical), "bold red")
