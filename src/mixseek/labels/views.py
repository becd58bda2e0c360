"""How labels are told: what is still needed, what was drawn, what was taken in, and where it stands."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import Any

from mixseek.analysis.labels.corrected import LEVEL
from mixseek.analysis.labels.plan import PlanReport
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.labels import Draw, LabelScale
from mixseek.presentation.pictures import Bar
from mixseek.presentation.sections import Section, Sentence, TableRows, notes, unbroken_lines
from mixseek.reports.labels import verdict_word
from mixseek.reports.wording.numbers import coefficient_text, percent
from mixseek.stats.corrected import ASSURANCE
from mixseek.stats.label_planning import ASSUMED_AGREEMENT, ASSUMED_RESIDUAL
from mixseek.text.phrases import plural
from mixseek.text.visible import make_visible

_BAR_WIDTH = 30
_DISPUTES_SHOWN = 10
_DRAWN_WORDS = {
    "random draw": "drawn here at random",
    "random": "said to be a random sample",
    "elsewhere": "from another mix of cases",
    "chosen": "chosen beside a judgment: never in a number",
    "unknown": "drawing unknown: agreement only",
}


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
    for verdict in report.verdicts:
        basis = (
            f"assumed: {percent(verdict.share)}"
            if verdict.is_assumed
            else f"{percent(verdict.share)}, from {verdict.labels:,}"
        )
        basis += "" if verdict.is_assumed else f" labelled sample{'s' * (verdict.labels != 1)}"
        sentences.append(
            f"{verdict_word(verdict.verdict)}: {percent(verdict.weight)} of samples; people call right {basis}"
        )
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
    """The plan for programs: widths are half widths, as shares of the scale."""
    assumed = [known.verdict for known in report.verdicts if known.is_assumed]
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
            {**asdict(known), "verdict": verdict_word(known.verdict), "assumed": known.is_assumed}
            for known in report.verdicts
        ],
        "spread": asdict(report.spread) if report.spread else None,
        "assumed": bool(assumed) or (report.spread is not None and report.spread.is_assumed),
        "assumptions": {"agreement": ASSUMED_AGREEMENT, "residual": ASSUMED_RESIDUAL, "assurance": ASSURANCE},
        "curve": [{"labels": labels, "half_width": width} for labels, width in report.plan.curve],
        "sentence": plan_sentence(report),
    }


def draw_result_document(draw: Draw, sheet: Path, *, is_repeated: bool) -> dict[str, Any]:
    """A draw for programs: what was drawn from what, without the rows."""
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
                "values": dict(zip(draw.columns, stratum.values, strict=True)),
                "texts": stratum.texts,
                "drawn": stratum.drawn,
                "probability": stratum.probability,
            }
            for stratum in draw.strata
        ],
        "repeated": is_repeated,
    }


def draw_sections(draw: Draw, sheet: Path, where: str, *, is_repeated: bool) -> Iterator[Section]:
    """What was drawn, by stratum; `where` ends the command that comes next."""
    again = " (drawn before: the same sheet again)" if is_repeated else ""
    lines = [f"{sheet}: {plural(len(draw.rows), 'text')} of {draw.texts:,}, drawn at random from {draw.run}{again}"]
    if draw.columns:
        lines.append(f"  stratified by {', '.join(draw.columns)}:")
        for stratum in draw.strata:
            values = make_visible(" · ".join(value or "(none)" for value in stratum.values))
            lines.append(f"    {values}: {stratum.drawn:,} of {stratum.texts:,}")
    lines.append(f"  draw {draw.draw}, seed {draw.seed}; write into the column `label`, then:")
    lines.append(f"  mixseek label import {quote(str(sheet))} --rater NAME{where}")
    yield unbroken_lines(*lines)


def import_sentence(taken_in: Mapping[str, Any]) -> str:
    """Whose labels were taken in, and for what."""
    return f"{plural(taken_in['added'], 'label')} of {taken_in['rater']} for run {taken_in['run']}"


def import_sections(taken_in: Mapping[str, Any], where: str) -> Iterator[Section]:
    """What was new, and what it counts for; `where` ends the command that comes next."""
    lines = [import_sentence(taken_in)]
    if taken_in["revised"]:
        lines.append(f"  {taken_in['revised']:,} of them take the place of earlier ones")
    if taken_in["known"]:
        lines.append(f"  {taken_in['known']:,} more were there already")
    if taken_in["draw"] is not None:
        lines.append(f"  draw {taken_in['draw']}: {plural(taken_in['empty'], 'row waits', 'rows wait')} for a label")
    else:
        lines.append(f"  {_DRAWN_WORDS[taken_in['drawn']]}")
    lines.append(f"  mixseek report {quote(taken_in['run'])}{where}")
    yield unbroken_lines(*lines)


def status_sections(status: Mapping[str, Any]) -> Iterator[Section]:
    """Protocol by protocol: labels of different scales are different things."""
    where = f"run {status['run']}: {plural(status['texts'], 'text')}" if status["run"] else "all labels"
    yield Section(None, [Sentence(where, "bold")])
    if not status["protocols"]:
        advice = "No labels yet. Draw a sheet: mixseek label sample RUN --n 100 --to sheet.csv"
        yield Section(None, [Sentence(advice)])
    for protocol in status["protocols"]:
        raters = ", ".join(f"{rater} {count:,}" for rater, count in protocol["raters"])
        drawn = ", ".join(f"{count:,} {_DRAWN_WORDS.get(word, word)}" for word, count in protocol["drawn"])
        lead = Sentence(f"{protocol['protocol']}: {plural(protocol['texts'], 'labelled text')}; {drawn}", "")
        yield Section(None, (lead, *notes((f"  raters: {raters}", f"  {_agreement_sentence(protocol)}"))))
        disputes = [
            (each["sample"], ", ".join(f"{rater}: {given}" for rater, given in each["said"]))
            for each in protocol["disputes"]
        ]
        title = f"Raters differ on {plural(len(disputes), 'text')}; settle them with `label import --adjudicate`"
        yield Section(title, [TableRows(("sample", "said"), disputes, _DISPUTES_SHOWN)])
    draws = [
        (draw["draw"], draw["run"], ", ".join(draw["columns"]) or "–", f"{draw['labelled']:,} of {draw['drawn']:,}")
        for draw in status["draws"]
    ]
    yield Section("Draws", [TableRows(("draw", "run", "stratified by", ">labelled"), draws)])


def _agreement_sentence(agreement: Mapping[str, Any]) -> str:
    settled = f"; {agreement['adjudicated']:,} adjudicated" if agreement["adjudicated"] else ""
    if agreement["agreement"] is None:
        return f"one rater a text: nothing to compare{settled}"
    alpha = (
        "no alpha: all labels are the same"
        if agreement["alpha"] is None
        else f"Krippendorff's alpha {coefficient_text(agreement['alpha'])}"
    )
    several = plural(agreement["rated_twice"], "text")
    return (
        f"raters agree on {percent(agreement['agreement'])} of pairs over {several} of several raters; {alpha}{settled}"
    )
