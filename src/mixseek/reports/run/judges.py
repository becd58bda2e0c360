"""One judge of a run: its headline in words, and what it said, by verdict, task, rule and reason."""

from collections.abc import Iterator, Sequence

from mixseek.analysis.run import model
from mixseek.analysis.run.model import Tone
from mixseek.analysis.run.report_data import ReportData
from mixseek.domain.judgments import Flag, Status
from mixseek.presentation.pictures import SHARES, Bar, Strip
from mixseek.presentation.sections import (
    GAP,
    PLOT_HEAD,
    QUIET,
    Cell,
    Head,
    Link,
    Part,
    Section,
    Sentence,
    TableRows,
    Words,
    notes,
    number_cell,
    number_head,
)
from mixseek.reports.headline import score_plot
from mixseek.reports.run.sample import STYLES
from mixseek.reports.wording.names import NO_NAME, NO_TASK, state_text, verdict_text, warning_text
from mixseek.reports.wording.numbers import NOTHING, percent
from mixseek.reports.wording.scales import maximum_text, scale_text
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
from mixseek.reports.workspace.run_list import COUNTS, count_head
from mixseek.text.messages import Message, message

# A terminal shows the shape of a run; the page and the export hold the rest.
_GROUPS_SHOWN = 60
_RULES_SHOWN = 10
_BAR_WIDTH = 40


def judge_lead(judge: model.JudgeSummary, report: ReportData) -> Section:
    """The headline of a judge, how its judgments ended, and what limits them; a page has a picture of that."""
    beside = (bounds_sentence(judge.score), first_replies_sentence(judge), control_sentence(judge))
    lead = (GAP, Sentence(_headline(judge, report), ""), Sentence(_status_line(judge), ""))
    return Section(None, [*lead, *notes(filter(None, beside))])


def judge_sections(judge: model.JudgeSummary, report: ReportData) -> Iterator[Section]:
    """What a judge said, told apart in every way that is recorded."""
    yield Section(message("word.verdicts_head", "Verdicts"), list(_verdict_parts(judge)))
    title = message("report.error_types", "Error types")
    yield Section(title, [_bars(judge.error_types, judge, "error")])
    yield _warning_section(judge)
    if judge.reasoning:
        yield _reasoning_section(judge.reasoning, judge)
    if len(judge.tasks) > 1:
        title, head = message("report.tasks", "Tasks"), message("head.task", "task")
        yield Section(title, [_group_table(head, "task", judge.tasks, NO_TASK, judge)], name="tasks")
    is_shown_above = report.headline is not None and report.headline.leads and len(report.judges) == 1
    if len(judge.targets) > 1 and not is_shown_above:
        title, head = message("word.targets", "Targets"), message("head.target", "target")
        yield Section(title, [_group_table(head, "target", judge.targets, NO_NAME, judge)], name="judged-targets")
    yield _rule_section(judge)
    yield _unscored_section(judge)


def _headline(judge: model.JudgeSummary, report: ReportData) -> Words:
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


def _link(text: str, judge: model.JudgeSummary, key: str, value: str | None = None) -> Link:
    """What leads to the judgments of a judge that are so."""
    return Link(text, {"judge": judge.filter_name, key: text if value is None else value})


def _bars(tallies: Sequence[model.Tally], judge: model.JudgeSummary, key: str) -> TableRows:
    rows: list[Sequence[Cell]] = []
    for tally in tallies:
        bar = Bar(tally.share, _BAR_WIDTH, STYLES[tally.tone] if tally.tone else "default", beside=45)
        name = verdict_text(tally.name) if key == "verdict" else tally.name
        rows.append((_link(name, judge, key, tally.name), bar, f"{tally.count:,}", (percent(tally.share), QUIET)))
    return TableRows(("", "|", ">", ">"), rows, name="bars")


def _verdict_parts(judge: model.JudgeSummary) -> Iterator[Part]:
    """Verdicts, and to the same scale what ended without one: beside the score, not in it, so without a share."""
    yield _bars(judge.verdicts, judge, "verdict")
    counts = judge.score.counts
    rows: list[Sequence[Cell]] = []
    for status in (Status.UNDECIDED, Status.INVALID, Status.MISSING):
        if count := counts.of(status):
            share = min(1.0, count / max(1, counts.valid))
            bar = Bar(share, _BAR_WIDTH, STYLES[Tone(status.value)], beside=45)
            rows.append(
                (_link(state_text(status.value), judge, "status", status.value), bar, f"{count:,}", (NOTHING, QUIET))
            )
    if rows:
        yield Sentence(message("report.beside_them_without_a_score", "Beside them, without a score"))
        yield TableRows(("", "|", ">", ">"), rows, name="bars")


def _warning_section(judge: model.JudgeSummary) -> Section:
    rows = [
        (
            (f"{warning.count:,}", "yellow"),
            (percent(warning.share), QUIET),
            _link(warning_text(warning.name), judge, "warning", warning.name),
        )
        for warning in judge.warnings
    ]
    on_valid = "on valid judgments; they are in the mean, and the bounds allow for the unverified ones"
    note = message("report.on_valid_judgments_they_are_in_the", on_valid)
    return Section(message("report.warnings", "Warnings"), [TableRows((">", ">", ""), rows)], note=note)


def _reasoning_section(reasoning: model.ReasoningSummary, judge: model.JudgeSummary) -> Section:
    rows: list[Sequence[Cell]] = []
    right, wrong = message("word.correct", "correct"), message("word.incorrect", "incorrect")
    for bar in reasoning.bars:
        counts = number_cell(bar.correct, STYLES[Tone.GOOD]), number_cell(bar.incorrect, STYLES[Tone.BAD])
        parts = ((right, bar.correct, "green"), (wrong, bar.incorrect, "red"))
        strip = Strip([(name, count / reasoning.count, style) for name, count, style in parts], 30)
        rows.append((_link(str(bar.score), judge, "reasoning"), strip, *counts, (percent(bar.share), QUIET)))
    heads = (
        message("head.score", "score"),
        Head("|", "|", page=message("word.share_drawn", "Share, drawn")),
        number_head(right),
        number_head(wrong),
        number_head(message("head.share", "share")),
    )
    title = message("report.reasoning_scores", "Reasoning scores")
    return Section(title, [TableRows(heads, rows, name="reasoning")], note=reasoning_text(reasoning))


def _group_table(
    head: Message, key: str, groups: Sequence[model.GroupSummary], unnamed: str, judge: model.JudgeSummary
) -> TableRows:
    """Tasks or targets. Columns that are nought in every row say nothing; undecided always stays."""
    counted = [
        name
        for name in (*COUNTS, "unverified")
        if name in ("valid", "undecided") or any(_count(item.score, name) for item in groups)
    ]
    has_reasoning = any(item.reasoning for item in groups)
    rows: list[Sequence[Cell]] = []
    values: list[Sequence[str | float | None]] = []
    for item in groups:
        score, numbers = item.score, [_count(item.score, name) for name in counted]
        reasoning = [mean_reasoning_text(item.reasoning)] if has_reasoning else []
        name = (unnamed, QUIET) if item.name is None else _link(item.name, judge, key)
        estimate = (score_text(score), "bold"), (interval_text(score), QUIET), score_plot(score, SHARES)
        rows.append((name, *estimate, *map(_count_cell, counted, numbers), *reasoning))
        width = score.interval.high - score.interval.low if score.interval else 2.0
        mean = -1.0 if score.mean is None else score.mean
        sorted_by = (item.name or "\uffff", mean, width, None)
        values.append(
            (*sorted_by, *numbers, *([item.reasoning.mean if item.reasoning else 0.0] if has_reasoning else []))
        )
    heads: tuple[str | Head, ...] = (
        head,
        number_head(message("head.score", "score")),
        number_head(message("word.interval_95", "95% interval")),
        PLOT_HEAD,
        *map(count_head, counted),
        *([count_head("reasoning")] if has_reasoning else []),
    )
    labels = {
        "task": message("report.scores_per_task", "Scores per task"),
        "target": message("scores.scores_per_target", "Scores per target"),
    }
    return TableRows(heads, rows, _GROUPS_SHOWN, values=values, name="tasks", label=labels[key])


def _count(score: model.ScoreSummary, name: str) -> int:
    return score.unverified if name == "unverified" else int(getattr(score.counts, name))


def _count_cell(name: str, number: int) -> Cell:
    style = "" if name == "valid" else STYLES[Tone("undecided" if name == "unverified" else name)]
    return number_cell(number, style)


def _rule_section(judge: model.JudgeSummary) -> Section:
    """The rules that were used most come first."""
    top = max((usage.count for usage in judge.rules), default=1)
    rows: list[Sequence[Cell]] = []
    values: list[Sequence[str | float | None]] = []
    for usage in judge.rules:
        mean = NOTHING if usage.mean is None else percent(usage.mean)
        undecided = number_cell(usage.undecided, STYLES[Tone.UNDECIDED])
        bar = Bar(usage.count / top, 0, "default")
        rows.append((_link(usage.rule, judge, "rule"), f"{usage.count:,}", bar, mean, undecided))
        values.append((usage.rule, usage.count, None, -1.0 if usage.mean is None else usage.mean, usage.undecided))
    heads = (
        message("head.rule", "rule"),
        number_head(message("report.used", "used")),
        Head(None, page=message("report.use_drawn", "Use, drawn")),
        number_head(message("head.mean", "mean")),
        number_head(message("word.undecided", "undecided")),
    )
    label = message("report.use_of_rules", "Use of rules")
    table = TableRows(heads, rows, _RULES_SHOWN, values=values, name="rules", label=label)
    return Section(message("report.rules_that_fired", "Rules that fired"), [table], name="rules")


def _reason_text(reason: str) -> str:
    """What the rules say of themselves is ours; what is wrong with a reply is said in the words of its protocol."""
    declined, _, rule = reason.partition(": ")
    return (
        message("report.rules_decline", "rules decline: {rule}", rule=rule) if declined == "rules decline" else reason
    )


def _unscored_section(judge: model.JudgeSummary) -> Section:
    """Every way in which a judgment can end without a score, and what was said about it most often."""
    rows: list[Sequence[Cell]] = []
    for item in (*judge.reasons, *judge.flags):
        is_flag = isinstance(item.kind, Flag)
        tone = Tone.INVALID if is_flag else Tone(item.kind.value)
        word = item.kind.value if isinstance(item.kind, Flag) else state_text(item.kind.value)
        kind = Link(Words([(word, STYLES[tone])]),
                    {"judge": judge.filter_name, "flag" if is_flag else "status": item.kind.value})  # fmt: skip
        rows += [(kind, f"{detail.count:,}", _reason_text(detail.text)) for detail in item.details]
        if rest := item.details_total - len(item.details):
            rows.append((kind, "", message("report.other_reasons", "and {n} other reasons", n=rest)))
    title = message("report.without_a_score_and_why", "Without a score, and why")
    if rows:
        return Section(title, [TableRows(("|", ">", ""), rows, name="reasons")])
    if judge.score.counts.unscored == 0:
        return Section(title, [])
    why = message("report.the_judges_own_pages", "The judges' own pages say why.")
    return Section(title, notes([why if judge.is_whole else message("report.no_reasons", "No reasons were recorded.")]))
