"""The report of a run: what was judged first, then how far its judges can be trusted, then each judge and its calls."""

from collections.abc import Iterable, Iterator, Sequence

from mixseek.analysis import model, report_data
from mixseek.analysis.model import Tone
from mixseek.domain.judgments import Flag, Status
from mixseek.reports.accounts import call_sections
from mixseek.reports.labels import corrected_sections
from mixseek.reports.pictures import Bar
from mixseek.reports.run.sample import STYLES
from mixseek.reports.run.scored import scored_sections
from mixseek.reports.run.trust import breakdown_sections, headline_sections, pairs_sections, plot_of, trust_sections
from mixseek.reports.run_list import COUNTS, count_head
from mixseek.reports.sections import (
    GAP,
    PLOT_HEAD,
    QUIET,
    Cell,
    Divider,
    Head,
    Section,
    Sentence,
    TableRows,
    Words,
    notes,
    number_cell,
    sections_of,
    table_by_columns,
)
from mixseek.reports.wording.names import NO_NAME, NO_TASK, TRUST_TITLE, moment_text, warning_text
from mixseek.reports.wording.numbers import NOTHING, percent
from mixseek.reports.wording.scales import critical_sentence, maximum_text, scale_text
from mixseek.reports.wording.scores import (
    bounds_sentence,
    control_sentence,
    first_replies_sentence,
    interval_sentence,
    interval_text,
    mean_label,
    mean_reasoning_text,
    reasks_text,
    reasoning_text,
    score_text,
)
from mixseek.text.phrases import plural

# A terminal shows the shape of a run; the page and the export hold the rest.
_TASKS_SHOWN = 60
_RULES_SHOWN = 10


@sections_of.register
def report_sections(report: report_data.ReportData) -> Iterator[Section]:
    """Everything that a report shows but its rows."""
    yield Section(None, list(_header(report)))
    headline, maximum = report.headline, report.scored.maximum if report.scored else None
    if headline and headline.leads:
        yield from headline_sections(headline)
    if headline:
        yield from breakdown_sections(headline.asked, headline.maximum)
    if report.pairs:
        yield from pairs_sections(report.pairs)
    if report.corrected:
        yield from corrected_sections(report.corrected)
        yield Section(None, [GAP])
    if headline and headline.leads:
        yield Section(None, [GAP, Divider(TRUST_TITLE)])
        yield from trust_sections(report.agreement, report.consistency, maximum)
    for judge in report.judges:
        yield from _judge_sections(judge, report)
    if headline and not headline.leads:
        yield from trust_sections(report.agreement, report.consistency, maximum)
    if not report.judges:
        yield Section(None, notes(["This run holds no judgments."]))
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
    if run.unreached:
        unreached = f"Not finished: {run.unreached:,} of {plural(run.samples, 'sample')} not reached yet"
        yield Sentence(f"{unreached}, and in no count or bound below.", "yellow")
    if report.scored and report.scored.critical:
        yield GAP
        yield Sentence(critical_sentence(report.scored.critical), "bold red")


def _judge_sections(judge: model.JudgeSummary, report: report_data.ReportData) -> Iterator[Section]:
    beside = (
        bounds_sentence(judge.score), first_replies_sentence(judge), control_sentence(judge)
    )  # fmt: skip
    lead = (GAP, Sentence(_headline(judge, report), ""), Sentence(_status_line(judge), ""))
    yield Section(None, [*lead, *notes(filter(None, beside))])
    yield Section("Verdicts", [_bars(judge.verdicts)])
    yield Section("Error types", [_bars(judge.error_types)])
    warnings = [
        ((f"{warning.count:,}", "yellow"), (percent(warning.share), QUIET), warning_text(warning.name))
        for warning in judge.warnings
    ]
    yield Section("Warnings", [TableRows((">", ">", ""), warnings)])
    if judge.reasoning:
        title = f"Reasoning scores: {reasoning_text(judge.reasoning)}"
        yield Section(title, [_reasoning_table(judge.reasoning)])
    if len(judge.tasks) > 1:
        yield Section("Tasks", [_group_table("task", judge.tasks, NO_TASK)])
    is_shown_above = report.headline is not None and report.headline.leads and len(report.judges) == 1
    if len(judge.targets) > 1 and not is_shown_above:
        yield Section("Targets", [_group_table("target", judge.targets, NO_NAME)])
    rules = []
    for usage in judge.rules:
        mean = NOTHING if usage.mean is None else percent(usage.mean)
        rules.append((usage.rule, f"{usage.count:,}", mean, number_cell(usage.undecided, STYLES[Tone.UNDECIDED])))
    yield Section("Most used rules", [TableRows(("rule", ">used", ">mean", ">undecided"), rules, _RULES_SHOWN)])
    unscored: list[Sequence[Cell]] = []
    for item in (*judge.reasons, *judge.flags):
        tone = Tone.INVALID if isinstance(item.kind, Flag) else Tone(item.kind.value)
        unscored += [((item.kind.value, STYLES[tone]), f"{detail.count:,}", detail.text) for detail in item.details]
    yield Section("Without a score, and why", [TableRows(("|", ">", ""), unscored)])
    yield Section(None, [GAP])


def _headline(judge: model.JudgeSummary, report: report_data.ReportData) -> Words:
    score, maximum = judge.score, report.scored.maximum if report.scored else None
    pieces: list[str | tuple[str, str]] = [(report.label_of(judge.judge), "bold"), "  "]
    pieces += [(score_text(score), "bold"), f" {mean_label(judge)}"]
    if score.mean is not None:
        if maximum is not None:
            pieces.append(f" = {scale_text(score.mean, maximum)} {maximum_text(maximum)}")
        valid = "" if score.counts.valid == score.samples else f", {score.counts.valid:,} valid"
        pieces.append(f"  ({interval_sentence(score)}{valid})")
    return Words(pieces)


def _status_line(judge: model.JudgeSummary) -> Words:
    pieces: list[tuple[str, str]] = []
    for status in (Status.UNDECIDED, Status.INVALID, Status.MISSING):
        pieces.append((" · " if pieces else "beside it: ", QUIET))
        count = judge.score.counts.of(status)
        pieces.append((f"{count:,} {status.value}", STYLES[Tone(status.value)] if count else QUIET))
        if status is Status.INVALID and judge.asked_again:
            pieces.append((f" {reasks_text(judge.asked_again)}", QUIET))
    if judge.score.unverified:
        pieces.append((f"\n{judge.score.unverified:,} unverified", "yellow"))
        pieces.append((": called correct, but the answer they rest on is not in the response", QUIET))
    return Words(pieces)


def _bars(tallies: Iterable[model.Tally]) -> TableRows:
    rows = []
    for tally in tallies:
        bar = Bar(tally.share, 40, STYLES[tally.tone] if tally.tone else "default", beside=45)
        rows.append((tally.name, bar, f"{tally.count:,}", (percent(tally.share), QUIET)))
    return TableRows(("", "|", ">", ">"), rows)


def _reasoning_table(reasoning: model.ReasoningSummary) -> TableRows:
    rows = []
    for bar in reasoning.bars:
        counts = number_cell(bar.correct, STYLES[Tone.GOOD]), number_cell(bar.incorrect, STYLES[Tone.BAD])
        rows.append((str(bar.score), Bar(bar.share, 30, beside=50), *counts, (percent(bar.share), QUIET)))
    return TableRows(("|score", "|", ">correct", ">incorrect", ">share"), rows)


def _group_table(head: str, groups: Sequence[model.GroupSummary], unnamed: str) -> TableRows:
    """Tasks or targets. Columns that are nought in every row say nothing; undecided always stays."""
    scores = [item.score for item in groups]
    columns: list[tuple[str | Head, list[Cell]]] = [
        (head, [unnamed if item.name is None else item.name for item in groups]),
        (">score", [score_text(score) for score in scores]),
        (">95% interval", [(interval_text(score), QUIET) for score in scores]),
        (PLOT_HEAD, [plot_of(score) for score in scores]),
    ]
    for name in (*COUNTS, "unverified"):
        numbers = [getattr(score if name == "unverified" else score.counts, name) for score in scores]
        if any(numbers) or name in ("valid", "undecided"):
            style = "" if name == "valid" else STYLES[Tone("undecided" if name == "unverified" else name)]
            columns.append((count_head(name), [number_cell(number, style) for number in numbers]))
    if any(item.reasoning for item in groups):
        means: list[Cell] = [mean_reasoning_text(item.reasoning) for item in groups]
        columns.append((count_head("reasoning"), means))
    return table_by_columns(columns, _TASKS_SHOWN)
