"""`mixseek label`: how many labels a width needs, and where they stand; for people and programs."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Any

from mixseek.analysis.labels.corrected import (
    LEVEL,
    RIGHT,
    WRONG,
    ConfusionRow,
    CorrectedGroup,
    CorrectedReport,
    JudgeMean,
)
from mixseek.analysis.labels.plan import PlanReport
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.labels import Draw, LabelScale
from mixseek.reports.sections import QUIET, Bar, Cell, Section, Sentence, TableRows, notes
from mixseek.reports.wording import NOTHING, name_text, p_text, percent, verdict_text
from mixseek.stats.corrected import ASSURANCE
from mixseek.stats.estimates import Corrected, Drawing, Estimator, State
from mixseek.stats.label_planning import ASSUMED_AGREEMENT, ASSUMED_RESIDUAL
from mixseek.text.messages import Message, counted, join, message
from mixseek.text.phrases import plural
from mixseek.text.visible import make_visible

_DRAWN = {
    Drawing.RANDOM: message("drawing.random", "drawn at random"),
    Drawing.STRATIFIED: message("drawing.stratified", "drawn at random within verdicts"),
    Drawing.WEIGHTED: message("drawing.weighted", "drawn at random within strata, weighted by their chances"),
    Drawing.ELSEWHERE: message("drawing.elsewhere", "from another mix of cases"),
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
TITLE = "Corrected by human labels"


def on_scale(share: float, scale: LabelScale) -> str:
    """A share of right answers in percent; a graded mean on its own scale."""
    if scale.is_binary:
        return percent(share)
    return f"{scale.minimum + share * (scale.maximum - scale.minimum):.2f}"


def scale_tick(share: float, scale: LabelScale) -> str:
    """The same beside an axis, as short as it can be."""
    return f"{share:.0%}" if scale.is_binary else f"{scale.minimum + share * (scale.maximum - scale.minimum):g}"


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


def corrected_text(found: Corrected, scale: LabelScale) -> str:
    """A number with its interval, bounds without one, or nothing."""
    limits = limits_text(found.low, found.high, scale)
    if found.point is None:
        return f"between {limits.replace('–', ' and ')}" if found.low is not None else NOTHING
    return f"{on_scale(found.point, scale)} ({limits})" if found.low is not None else on_scale(found.point, scale)


def verdict_word(cell: str) -> Message:
    """As the protocol says it."""
    return verdict_text(_VERDICTS.get(cell, cell))


def estimator_text(estimator: Estimator) -> Message:
    return _ESTIMATORS[estimator]


def group_sentence(group: CorrectedGroup) -> Message:
    """The estimator, or why there is no number; and what would help."""
    found = group.corrected
    if found.state is State.CORRECTED and found.estimator is not None:
        labels = _labels_text(group)
        if found.clusters is not None:
            questions = counted(found.clusters, "labelled question")
            clusters = message("labels.clusters", "{questions} as clusters", questions=questions)
            labels = join((labels, clusters), ", ")
        return join((estimator_text(found.estimator), labels), "; ")
    clauses = [found.sentence]
    if found.estimator is not None and found.point is not None:
        clauses.append(estimator_text(found.estimator))
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
    texts, raters = counted(facts.texts, "labelled text"), ", ".join(facts.raters)
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
            clauses.append(message("labels.kappa", "Cohen's kappa {kappa}", kappa=f"{report.kappa:.2f}"))
        return message("joint.sentence", "{words}.", words=join(clauses, "; "))
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
    """For the summary after judging: the run as a whole."""
    group, scale = report.whole, report.facts.scale
    return [f"corrected   {corrected_text(group.corrected, scale)}: {group_sentence(group)}"]


def corrected_sections(report: CorrectedReport) -> Iterator[Section]:
    """Judges, labels and correction side by side; then what judges and people make of the same texts."""
    scale = report.facts.scale
    rows = [
        (
            "all" if group is report.whole else name_text(group.name),
            judges_text(group.judges, scale),
            corrected_text(group.labels, scale),
            (corrected_text(group.corrected, scale), "bold"),
        )
        for group in report.groups
    ]
    table = TableRows(("", ">judges alone", ">labels alone", ">corrected"), rows)
    sentences: list[str] = [group_sentence(report.whole)]
    sentences += [
        f"{name_text(group.name)}: {group_sentence(group)}"
        for group in report.targets
        if group.corrected.state is not report.whole.corrected.state
    ]
    sentences += filter(None, [facts_sentence(report), people_sentence(report)])
    unit = f"{LEVEL:.0%} intervals" + ("" if scale.is_binary else f", on a scale of {scale.describe()}")
    yield Section(f"{TITLE} ({unit})", (table, *notes(sentences), _people_table(report)))


def _people_table(report: CorrectedReport) -> TableRows:
    if report.confusion:
        heads = ("|judges say", ">samples", ">people: correct", ">incorrect", ">disputed", ">share correct")
        return TableRows(heads, [_confusion_cells(row) for row in report.confusion])
    scale = report.facts.scale
    points: list[tuple[Cell, ...]] = [
        (on_scale(point.judges, scale), on_scale(point.people, scale), f"{point.count:,}")
        for point in report.calibration
    ]
    return TableRows((">judges give", ">people give", ">labelled"), points)


def _confusion_cells(row: ConfusionRow) -> tuple[Cell, ...]:
    return (
        verdict_word(row.verdict),
        f"{row.samples:,}",
        f"{row.right:,}",
        f"{row.wrong:,}",
        (f"{row.disputed:,}", QUIET),
        confusion_share(row),
    )


def confusion_share(row: ConfusionRow) -> str:
    """Of one verdict's labels, how many people call correct."""
    if row.interval is None:
        return NOTHING
    share = row.right / (row.right + row.wrong)
    return f"{percent(share)} ({limits_text(row.interval.low, row.interval.high, LabelScale())})"


def corrected_document(report: CorrectedReport) -> dict[str, Any]:
    """For programs: shares of the scale, states by name, and the sentence that a person reads."""
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
        "confusion": [
            {"verdict": verdict_word(row.verdict), **{k: v for k, v in asdict(row).items() if k != "verdict"}}
            for row in report.confusion
        ],
        "kappa": report.kappa,
        "calibration": [asdict(point) for point in report.calibration],
        "bias": report.bias,
        "distance": report.distance,
    }


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


def estimate_document(found: Corrected) -> dict[str, Any]:
    """`state` says whether there is a number; `mean`, `low` and `high` are null where there is none."""
    return {
        "state": found.state.value,
        "estimator": found.estimator.value if found.estimator is not None else None,
        "mean": found.point,
        "low": found.low,
        "high": found.high,
        "labels": found.labels,
        "clusters": found.clusters,
        "design_effect": found.design_effect,
        "random_p": found.random_p,
        "sentence": found.sentence,
    }


_BAR_WIDTH = 30


def width_text(half_width: float, scale: LabelScale) -> str:
    """Points of percent, or points of the scale."""
    if scale.is_binary:
        return f"±{half_width * 100:.1f} points"
    return f"±{half_width * scale.span:.2f} on a scale of {scale.describe()}"


def plan_sentence(report: PlanReport) -> str:
    """How many labels are needed, or why no number of them is enough."""
    plan = report.plan
    wanted = width_text(plan.half_width, report.scale)
    if plan.needed is None:
        best = width_text(plan.curve[-1][1], report.scale)
        return (
            f"Not even labels for all {plural(plan.items, 'sample')} give {wanted}: they would give {best}, because so "
            "many samples say no more about others like them. Judge more samples, or ask for less."
        )
    return f"About {plural(plan.needed, 'label')} for a {LEVEL:.0%} interval of {wanted} ({report.run})."


def known_sentences(report: PlanReport) -> list[str]:
    """What the plan rests on, and what of it is assumed."""
    sentences = []
    for one in report.verdicts:
        basis = f"assumed: {percent(one.share)}" if one.is_assumed else f"{percent(one.share)}, from {one.labels:,}"
        basis += "" if one.is_assumed else f" labelled sample{'s' * (one.labels != 1)}"
        sentences.append(f"{verdict_word(one.verdict)}: {percent(one.weight)} of samples; people call right {basis}")
    if spread := report.spread:
        span = report.scale.span
        basis = "assumed" if spread.is_assumed else f"from {plural(spread.labels, 'label')}"
        sentences.append(f"labels lie {spread.residual * span:.2f} around what the judges' scores tell ({basis})")
    if report.has_clusters:
        known = report.plan.design_effect > 1 or report.drawn
        effect = f"design effect {report.plan.design_effect:.2f} so far" if known else "assumed to be independent"
        sentences.append(f"questions repeat: {effect}")
    sentences.append(f"with {ASSURANCE - 1:.0%} more than the least, so that about nine plans in ten hold")
    return sentences


def plan_sections(report: PlanReport, where: str = "") -> Iterator[Section]:
    """The answer, what it rests on, and the curve; `where` ends the command that comes next."""
    known = notes(f"  {sentence}" for sentence in known_sentences(report))
    yield Section(None, (Sentence(plan_sentence(report), "bold"), *known))
    if report.more:
        have = f"{plural(report.drawn, 'label')} are there; " if report.drawn > 1 else ""
        if report.labelled > report.drawn:
            have = f"{plural(report.labelled, 'label is', 'labels are')} there, none drawn at random; "
        strata = f" --stratify {','.join(report.columns)}" if report.columns else ""
        command = f"mixseek label sample {quote(report.run)} --n {report.more}{strata} --to sheet.csv{where}"
        yield Section(None, [Sentence(f"  {have}{report.more:,} more: {command}", "", is_unbroken=True)])
    elif report.more == 0:
        yield Section(None, [Sentence(f"  {plural(report.drawn, 'label is', 'labels are')} there already", "")])
    widest = max(width for _, width in report.plan.curve)
    rows = [
        (f"{labels:,}", width_text(width, report.scale).partition(" on")[0], Bar(width / widest, _BAR_WIDTH))
        for labels, width in report.plan.curve
    ]
    yield Section("Width to expect", [TableRows((">labels", ">interval", "|"), rows)])


def plan_document(report: PlanReport) -> dict[str, Any]:
    """For programs: widths are half widths, as shares of the scale."""
    assumed = [one.verdict for one in report.verdicts if one.is_assumed]
    return {
        "schema": schema_id(DocumentName.PLAN),
        "run": report.run,
        "level": LEVEL,
        "half_width": report.plan.half_width,
        "samples": report.plan.items,
        "labelled": report.labelled,
        "drawn": report.drawn,
        "needed": report.plan.needed,
        "more": report.more,
        "design_effect": report.plan.design_effect,
        "verdicts": [
            {**asdict(one), "verdict": verdict_word(one.verdict), "assumed": one.is_assumed} for one in report.verdicts
        ],
        "spread": asdict(report.spread) if report.spread else None,
        "assumed": bool(assumed) or (report.spread is not None and report.spread.is_assumed),
        "assumptions": {"agreement": ASSUMED_AGREEMENT, "residual": ASSUMED_RESIDUAL, "assurance": ASSURANCE},
        "curve": [{"labels": labels, "half_width": width} for labels, width in report.plan.curve],
        "sentence": plan_sentence(report),
    }


# How labels are told: what was drawn, what was taken in, and where it stands.

_DISPUTES_SHOWN = 10
_DRAWN_WORDS = {
    "random draw": "drawn here at random",
    "random": "said to be a random sample",
    "elsewhere": "from another mix of cases",
    "unknown": "drawing unknown: agreement only",
}


def draw_result_document(draw: Draw, sheet: Path, *, is_repeated: bool) -> dict[str, Any]:
    """For programs: what was drawn from what, without the rows."""
    return {
        "schema": schema_id(DocumentName.LABEL_SAMPLE),
        "draw": draw.draw,
        "run": draw.run,
        "sheet": str(sheet),
        "seed": draw.seed,
        "drawn": len(draw.rows),
        "texts": draw.texts,
        "stratify": list(draw.columns),
        "strata": [
            {
                "values": dict(zip(draw.columns, one.values, strict=True)),
                "texts": one.texts,
                "drawn": one.drawn,
                "probability": one.probability,
            }
            for one in draw.strata
        ],
        "repeated": is_repeated,
    }


def describe_draw(draw: Draw, sheet: Path, where: str, *, is_repeated: bool) -> str:
    """A few lines for a person; `where` ends the command that comes next."""
    again = " (drawn before: the same sheet again)" if is_repeated else ""
    lines = [f"{sheet}: {plural(len(draw.rows), 'text')} of {draw.texts:,}, drawn at random from {draw.run}{again}"]
    if draw.columns:
        lines.append(f"  stratified by {', '.join(draw.columns)}:")
        lines += [
            f"    {make_visible(' · '.join(value or '(none)' for value in one.values))}: {one.drawn:,} of {one.texts:,}"
            for one in draw.strata
        ]
    lines.append(f"  draw {draw.draw}, seed {draw.seed}; write into the column `label`, then:")
    lines.append(f"  mixseek label import {quote(str(sheet))} --rater NAME{where}")
    return "\n".join(lines)


def describe_import(told: Mapping[str, Any], where: str) -> str:
    """What was new, and what it counts for; `where` ends the command that comes next."""
    lines = [f"{plural(told['added'], 'label')} of {told['rater']} for run {told['run']}"]
    if told["revised"]:
        lines.append(f"  {told['revised']:,} of them take the place of earlier ones")
    if told["known"]:
        lines.append(f"  {told['known']:,} more were there already")
    if told["draw"] is not None:
        lines.append(f"  draw {told['draw']}: {plural(told['empty'], 'row waits', 'rows wait')} for a label")
    else:
        lines.append(f"  {_DRAWN_WORDS[told['drawn']]}")
    lines.append(f"  mixseek report {quote(told['run'])}{where}")
    return "\n".join(lines)


def status_sections(status: Mapping[str, Any]) -> Iterator[Section]:
    """Protocol by protocol: labels of different scales are different things."""
    where = f"run {status['run']}: {plural(status['texts'], 'text')}" if status["run"] else "all labels"
    yield Section(None, [Sentence(where, "bold")])
    if not status["protocols"]:
        advice = "No labels yet. Draw a sheet: mixseek label sample RUN --n 100 --to sheet.csv"
        yield Section(None, [Sentence(advice)])
    for one in status["protocols"]:
        raters = ", ".join(f"{rater} {count:,}" for rater, count in one["raters"])
        drawn = ", ".join(f"{count:,} {_DRAWN_WORDS.get(word, word)}" for word, count in one["drawn"])
        lead = Sentence(f"{one['protocol']}: {plural(one['texts'], 'labelled text')}; {drawn}", "")
        yield Section(None, (lead, *notes((f"  raters: {raters}", f"  {_agreement_sentence(one)}"))))
        disputes = [
            (each["sample"], ", ".join(f"{rater}: {given}" for rater, given in each["said"]))
            for each in one["disputes"]
        ]
        title = f"Raters differ on {plural(len(disputes), 'text')}; settle them with `label import --adjudicate`"
        yield Section(title, [TableRows(("sample", "said"), disputes, _DISPUTES_SHOWN)])
    draws = [
        (one["draw"], one["run"], ", ".join(one["columns"]) or "–", f"{one['labelled']:,} of {one['drawn']:,}")
        for one in status["draws"]
    ]
    yield Section("Draws", [TableRows(("draw", "run", "stratified by", ">labelled"), draws)])


def _agreement_sentence(one: Mapping[str, Any]) -> str:
    settled = f"; {one['adjudicated']:,} adjudicated" if one["adjudicated"] else ""
    if one["agreement"] is None:
        return f"one rater a text: nothing to compare{settled}"
    alpha = "no alpha: all labels are the same" if one["alpha"] is None else f"Krippendorff's alpha {one['alpha']:.2f}"
    several = plural(one["rated_twice"], "text")
    return f"raters agree on {percent(one['agreement'])} of pairs over {several} of several raters; {alpha}{settled}"
