"""`mixseek label`: how many labels a width needs, and where they stand; for people and programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mixseek.analysis.labels.corrected import (
    LEVEL,
    RIGHT,
    WRONG,
    ConfusionRow,
    CorrectedGroup,
    CorrectedReport,
    JudgeAgainstPeople,
    JudgeMean,
    JudgeShare,
)
from mixseek.analysis.labels.of_run import DATASET
from mixseek.domain.labels import LabelScale
from mixseek.domain.people import DISPUTED
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.pictures import Axis, Estimate, ScatterPoint
from mixseek.presentation.sections import (
    QUIET,
    Cell,
    EstimateRow,
    Estimates,
    Link,
    Scatter,
    Section,
    Sentence,
    Shaded,
    TableRows,
    Words,
    number_head,
)
from mixseek.reports.wording.names import name_text, verdict_text
from mixseek.reports.wording.numbers import NOTHING, coefficient_text, p_text, percent
from mixseek.stats.estimates import Corrected, Drawing, Estimator, State
from mixseek.text.messages import Message, counted, end_sentence, join, message
from mixseek.text.phrases import plain_number, with_minus

_DRAWN = {
    Drawing.RANDOM: message("drawing.random", "drawn at random"),
    Drawing.STRATIFIED: message("drawing.stratified", "drawn at random within verdicts"),
    Drawing.WEIGHTED: message("drawing.weighted", "drawn at random within strata, weighted by their chances"),
    Drawing.ELSEWHERE: message("drawing.elsewhere", "from another mix of cases"),
    Drawing.CHOSEN: message("drawing.chosen", "chosen beside a judgment"),
    Drawing.UNKNOWN: message("drawing.unknown", "drawing unknown"),
}
_ESTIMATORS = {
    Estimator.POST_STRATIFIED: message("estimator.post_stratified", "post-stratified by verdict"),
    Estimator.REGRESSION: message("estimator.regression", "prediction-powered regression"),
    Estimator.ROGAN_GLADEN: message("estimator.rogan_gladen", "sensitivity and specificity (Rogan-Gladen)"),
    Estimator.LABELS_ONLY: message("estimator.labels_only", "labels only"),
    Estimator.LABELS_BY_VERDICT: message("estimator.labels_by_verdict", "labels only, weighted by verdict"),
}
_VERDICTS = {RIGHT: "correct", WRONG: "incorrect"}
TITLE = message("labels.corrected_by_human_labels", "Corrected by human labels")


def on_scale(share: float, scale: LabelScale) -> str:
    """A share of right answers in percent; a graded mean on its own scale."""
    if scale.is_binary:
        return percent(share)
    return with_minus(f"{scale.minimum + share * (scale.maximum - scale.minimum):z.2f}")


def scale_tick(share: float, scale: LabelScale) -> str:
    """The same beside an axis, as short as it can be."""
    return f"{share:.0%}" if scale.is_binary else plain_number(scale.minimum + share * (scale.maximum - scale.minimum))


def limits_text(low: float | None, high: float | None, scale: LabelScale) -> str:
    """Both ends, the unit once."""
    if low is None or high is None:
        return NOTHING
    return f"{on_scale(low, scale).removesuffix('%')}–{on_scale(high, scale)}"


def judges_text(judges: JudgeMean, scale: LabelScale) -> str:
    """The mean with its interval."""
    if judges.mean is None:
        return NOTHING
    limits = judges.interval
    interval = f" ({limits_text(limits.low, limits.high, scale)})" if limits else ""
    return f"{on_scale(judges.mean, scale)}{interval}"


def corrected_text(corrected: Corrected, scale: LabelScale) -> str:
    """A number with its interval, bounds without one, or nothing."""
    limits = limits_text(corrected.low, corrected.high, scale)
    if corrected.point is None:
        return f"between {limits.replace('–', ' and ')}" if corrected.low is not None else NOTHING
    return (
        f"{on_scale(corrected.point, scale)} ({limits})"
        if corrected.low is not None
        else on_scale(corrected.point, scale)
    )


def verdict_word(cell: str) -> Message:
    """A verdict as the protocol says it."""
    return verdict_text(_VERDICTS.get(cell, cell))


def estimator_text(estimator: Estimator) -> Message:
    return _ESTIMATORS[estimator]


def group_sentence(group: CorrectedGroup) -> Message:
    """The estimator, or why there is no number; and what would help."""
    corrected = group.corrected
    if corrected.state is State.CORRECTED and corrected.estimator is not None:
        labels = _labels_text(group)
        if corrected.clusters is not None:
            questions = counted(corrected.clusters, "labelled question")
            clusters = message("labels.clusters", "{questions} as clusters", questions=questions)
            labels = join((labels, clusters), ", ")
        return join((estimator_text(corrected.estimator), labels), "; ")
    clauses = [corrected.sentence]
    if corrected.estimator is not None and corrected.point is not None:
        clauses.append(estimator_text(corrected.estimator))
    clauses.append(_labels_text(group))
    if group.unlabelled:
        cells = [
            message("labels.verdict_with_samples", "{verdict} ({n})", verdict=verdict_word(cell), n=items)
            for cell, items in group.unlabelled
        ]
        clauses.append(message("labels.without_a_label", "without a label: {verdicts}", verdicts=join(cells, ", ")))
    return join(clauses, "; ")


def _labels_text(group: CorrectedGroup) -> Message:
    # One label of a text is one of every sample with that text.
    drawn, chance = _DRAWN[group.drawing], group.corrected.random_p
    if group.corrected.is_odd and chance is not None:
        drawn = message("drawing.not_like_random", "not like a random draw ({p})", p=p_text(chance))
    samples = counted(group.samples, "sample")
    labelled = message("labels.labelled", "{n} of {samples} labelled", n=group.labelled, samples=samples)
    labels, caveat = join((labelled, drawn), ", "), group.labels.label_caveat
    return join((labels, caveat), "; ") if caveat else labels


def facts_sentence(report: CorrectedReport) -> Message:
    """Who labelled, and what raters dispute."""
    facts = report.facts
    # What the data bring is nobody's name.
    names = [message("labels.dataset", "dataset") if rater == DATASET else rater for rater in facts.raters]
    texts, raters = counted(facts.texts, "labelled text"), join(names, ", ")
    clauses = [message("labels.by_raters", "{texts} by {raters}", texts=texts, raters=raters)]
    if facts.drawn_from is not None:
        clauses.append(message("labels.drawn_from", "drawn from run {run}", run=facts.drawn_from))
    if facts.disputed:
        disputed = "{n} disputed, counted with the mean of their raters until adjudicated"
        clauses.append(message("labels.disputed_texts", disputed, n=facts.disputed))
    if facts.from_dataset:
        column = "{n} from the dataset's own column `label`"
        clauses.append(message("labels.from_dataset", column, n=facts.from_dataset))
    if facts.unreadable:
        unreadable = "{n} values of that column are no labels here"
        clauses.append(message("labels.unreadable", unreadable, n=facts.unreadable))
    return join(clauses, "; ")


def people_sentence(report: CorrectedReport) -> Message | None:
    """How judges and people differ, over what was labelled."""
    scale = report.facts.scale
    if report.bias is None or report.distance is None:
        return None
    if scale.is_binary:
        agree = "Judges and people agree on {share} of labelled verdicts"
        clauses = [message("labels.people_agree", agree, share=percent(1 - report.distance))]
        if report.kappa is not None:
            clauses.append(message("labels.kappa", "Cohen's kappa {kappa}", kappa=coefficient_text(report.kappa)))
        return end_sentence(join(clauses, "; "))
    far = {
        "bias": f"{abs(report.bias) * scale.span:.2f}",
        "distance": f"{report.distance * scale.span:.2f}",
        "scale": scale.describe(),
    }
    if report.bias >= 0:
        above = (
            "Over labelled texts judges are {bias} above people on average, and {distance} away from them, "
            "on a scale of {scale}."
        )
        return message("labels.judges_above", above, **far)
    below = (
        "Over labelled texts judges are {bias} below people on average, and {distance} away from them, "
        "on a scale of {scale}."
    )
    return message("labels.judges_below", below, **far)


def corrected_lines(report: CorrectedReport) -> list[str]:
    """The run as a whole, for the summary after judging."""
    group, scale = report.whole, report.facts.scale
    return [f"corrected   {corrected_text(group.corrected, scale)}: {group_sentence(group)}"]


def corrected_sections(report: CorrectedReport) -> Iterator[Section]:
    """Judges, labels and correction side by side; then what judges and people make of the same texts."""
    scale = report.facts.scale
    sentence = end_sentence(facts_sentence(report))
    note = message("labels.intervals_95", "95% intervals")
    if not scale.is_binary:
        note = join((note, message("labels.on_a_scale_of", "on a scale of {scale}", scale=scale.describe())), ", ")
    ways = (
        message("word.judges_alone", "judges alone"),
        message("word.labels_alone", "labels alone"),
        message("word.corrected", "corrected"),
    )
    rows = [_estimate_row(group, report) for group in report.groups]
    estimates = Estimates(ways, rows, scale_axis(scale, (0.0, 0.5, 1.0)))
    yield Section(TITLE, [Sentence(sentence, ""), estimates], note=note, name="corrected")
    people = people_sentence(report)
    if report.confusion or report.calibration:
        how = message("labels.verdicts_down_labels_across", "verdicts down, labels across")
        dots = message("labels.larger_dots_more_labels", "larger dots: more labels")
        # Of one judge there is nothing to say twice.
        alone = report.by_judge[0] if len(report.by_judge) == 1 else None
        sentences = [] if alone is None else [*judge_sentences(alone)]
        parts = [*([Sentence(people, "")] if people else []), *sentences, _people_part(report, alone)]
        title = message("labels.judges_against_people", "Judges against people")
        yield Section(title, parts, note=how if report.confusion else dots, name="against-people")
        if alone is None:
            yield from map(_judge_section, report.by_judge)


def _judge_section(judge: JudgeAgainstPeople) -> Section:
    title = message("labels.judge_against_people", "{judge} against people", judge=judge.name)
    table = _confusion_table(judge.confusion, Sayer(judge.name, judge_filters(judge)), title)
    return Section(title, [*judge_sentences(judge), table])


def judge_sentences(judge: JudgeAgainstPeople) -> Iterator[Sentence]:
    """Sensitivity and specificity, and the labels that they rest on."""
    if judge.sensitivity is not None:
        words = "Sensitivity {share}: so much of what people call correct it calls correct"
        yield _share_sentence(
            message("labels.sensitivity", words, share=_share_text(judge.sensitivity)), judge.sensitivity
        )
    if judge.specificity is not None:
        words = "Specificity {share}: so much of what people call incorrect it calls incorrect"
        yield _share_sentence(
            message("labels.specificity", words, share=_share_text(judge.specificity)), judge.specificity
        )
    if judge.sensitivity is not None or judge.specificity is not None:
        drawn = message("labels.of_labels", "Of labels: {drawn}", drawn=_DRAWN[judge.drawing])
        yield Sentence(end_sentence(drawn))


def _share_text(share: JudgeShare) -> str:
    limits = share.interval
    interval = f" ({limits_text(limits.low, limits.high, LabelScale())})" if limits else ""
    return f"{percent(share.share)}{interval}"


def _share_sentence(shares: Message, share: JudgeShare) -> Sentence:
    words = join((shares, counted(share.labels, "label")), "; ")
    return Sentence(end_sentence(words), "")


Filters = Mapping[str, str | None]


def judge_filters(judge: JudgeAgainstPeople) -> Callable[[str], Filters]:
    """What the list is narrowed by to show a verdict of the judge; one that its own repeats split is in no row."""

    def filters_of(cell: str) -> Filters:
        verdict = {RIGHT: {"verdict": "correct"}, WRONG: {"verdict": "incorrect"}, "split": {}}
        return {"judge": judge.judge, **verdict.get(cell, {"status": cell})}

    return filters_of


@dataclass(frozen=True, slots=True)
class Sayer:
    """Whose verdicts a matrix is about, and what the list is narrowed by to show one of them."""

    name: str
    filters_of: Callable[[str], Filters]


def panel_filters(cell: str) -> Filters:
    """The same of what the judges together say."""
    return {"panel": _VERDICTS.get(cell, cell)}


def scale_axis(scale: LabelScale, ticks: tuple[float, ...]) -> Axis:
    """Shares of the scale, with the numbers of the scale at the ticks."""
    return Axis(0.0, 1.0, ticks, tuple(scale_tick(tick, scale) for tick in ticks))


def _estimate_row(group: CorrectedGroup, report: CorrectedReport) -> EstimateRow:
    scale, interval = report.facts.scale, group.judges.interval
    name = message("labels.all_samples", "All samples") if group is report.whole else name_text(group.name)
    judges, labels, corrected = (
        judges_text(group.judges, scale),
        corrected_text(group.labels, scale),
        corrected_text(group.corrected, scale),
    )
    low, high = (interval.low, interval.high) if interval else (None, None)
    words = "{name}: judges alone {judges}, labels alone {labels}, corrected {corrected}"
    label = message("labels.drawn", words, name=name, judges=judges, labels=labels, corrected=corrected)
    estimates = (
        (Estimate(group.judges.mean, low, high, "of-judges"), judges),
        (Estimate(group.labels.point, group.labels.low, group.labels.high, "of-labels"), labels),
        (Estimate(group.corrected.point, group.corrected.low, group.corrected.high, "of-both"), corrected),
    )
    return EstimateRow(name, estimates, end_sentence(group_sentence(group)), label)


def _people_part(report: CorrectedReport, alone: JudgeAgainstPeople | None) -> TableRows | Scatter:
    if report.confusion:
        title = message("labels.judges_against_people", "Judges against people")
        if alone is not None:
            return _confusion_table(alone.confusion, Sayer(alone.name, judge_filters(alone)), title)
        return _confusion_table(report.confusion, Sayer(message("word.judges", "Judges"), panel_filters), title)
    scale = report.facts.scale
    points, rows = [], []
    for point in report.calibration:
        judges, people, count = on_scale(point.judges, scale), on_scale(point.people, scale), f"{point.count:,}"
        words = "judges {judges}, people {people}, {n} labelled"
        label = message("labels.point", words, judges=judges, people=people, n=count)
        points.append(ScatterPoint(point.judges, point.people, point.count, label))
        rows.append((judges, people, count))
    heads = (
        message("labels.judges_give", "judges give"),
        message("labels.people_give", "people give"),
        message("head.labelled", "labelled"),
    )
    places = join([point.label for point in points], "; ")
    label = message("labels.people_to_judges", "What people give to what judges give: {points}", points=places)
    return Scatter(heads, points, scale_axis(scale, (0.0, 0.25, 0.5, 0.75, 1.0)), rows, label)


def _confusion_table(confusion: Sequence[ConfusionRow], sayer: Sayer, label: str) -> TableRows:
    """Rows are the judges' verdicts, columns what people say; the darker, the larger the part of its row. Each cell
    leads to its judgments."""
    is_disputed = any(row.disputed for row in confusion)
    rows: list[Sequence[Cell]] = []
    for row in confusion:
        counts = [(RIGHT, row.right), (WRONG, row.wrong), *([(DISPUTED, row.disputed)] if is_disputed else [])]
        shaded = [
            Shaded(_confusion_cell(row, people, count, sayer), count / row.labelled if row.labelled else 0.0)
            for people, count in counts
        ]
        rows.append((verdict_word(row.verdict), f"{row.samples:,}", *shaded, confusion_share(row)))
    heads = (
        message("labels.judges_say", "judges say"),
        number_head(message("head.samples", "samples")),
        number_head(message("labels.people_correct", "people: correct")),
        number_head(message("word.incorrect", "incorrect")),
        *([number_head(message("labels.disputed", "disputed"))] if is_disputed else []),
        number_head(message("labels.share_correct", "share correct")),
    )
    return TableRows(heads, rows, name="matrix confusion", label=label)


def _confusion_cell(row: ConfusionRow, people: str, count: int, sayer: Sayer) -> Cell:
    text = f"{count:,}"
    if not count:
        return (text, QUIET)
    words = {"verdict": verdict_word(row.verdict), "people": verdict_word(people), "n": text}
    label = message("labels.cell", "{judge}: {verdict}, people: {people}: {n}", judge=sayer.name, **words)
    filters = {**sayer.filters_of(row.verdict), "people": _VERDICTS.get(people, people)}
    return Link(Words([(text, "bold")]), filters, label=label)


def confusion_share(row: ConfusionRow) -> str:
    """The share of one verdict's labels that people call correct."""
    if row.interval is None:
        return NOTHING
    share = row.right / (row.right + row.wrong)
    return f"{percent(share)} ({limits_text(row.interval.low, row.interval.high, LabelScale())})"


def corrected_document(report: CorrectedReport) -> dict[str, Any]:
    """The report for programs: shares of the scale, states by name, and the sentence that a person reads."""
    return {
        "level": LEVEL,
        "scale": asdict(report.facts.scale),
        "labels": {
            "texts": report.facts.texts,
            "raters": list(report.facts.raters),
            "disputed": report.facts.disputed,
            "draws": list(report.facts.draws),
            "drawn_from": report.facts.drawn_from,
            "from_dataset": report.facts.from_dataset,
            "unreadable": report.facts.unreadable,
        },
        **group_document(report.whole),
        "targets": {name_text(group.name): group_document(group) for group in report.targets},
        "confusion": [_confusion_document(row) for row in report.confusion],
        "by_judge": [_judge_document(judge) for judge in report.by_judge],
        "kappa": report.kappa,
        "calibration": [asdict(point) for point in report.calibration],
        "bias": report.bias,
        "distance": report.distance,
    }


def _judge_document(judge: JudgeAgainstPeople) -> dict[str, Any]:
    shares = {"sensitivity": judge.sensitivity, "specificity": judge.specificity}
    return {
        "judge": judge.judge,
        "confusion": [_confusion_document(row) for row in judge.confusion],
        **{name: asdict(share) if share is not None else None for name, share in shares.items()},
        "drawing": judge.drawing.value,
    }


def _confusion_document(row: ConfusionRow) -> dict[str, Any]:
    return {"verdict": verdict_word(row.verdict), **{k: v for k, v in asdict(row).items() if k != "verdict"}}


def group_document(group: CorrectedGroup) -> dict[str, Any]:
    """One headline, three ways."""
    return {
        "samples": group.samples,
        "labelled": group.labelled,
        "drawing": group.drawing.value,
        "judges": asdict(group.judges),
        "labels_only": estimate_document(group.labels),
        "corrected": estimate_document(group.corrected),
        "unlabelled": [{"verdict": verdict_word(cell), "samples": items} for cell, items in group.unlabelled],
        "sentence": group_sentence(group),
    }


def estimate_document(corrected: Corrected) -> dict[str, Any]:
    """`state` says whether there is a number; `mean`, `low` and `high` are null where there is none."""
    return {
        "state": corrected.state.value,
        "estimator": corrected.estimator.value if corrected.estimator is not None else None,
        "mean": corrected.point,
        "low": corrected.low,
        "high": corrected.high,
        "labels": corrected.labels,
        "clusters": corrected.clusters,
        "design_effect": corrected.design_effect,
        "random_p": corrected.random_p,
        "sentence": corrected.sentence,
    }
