"""How a corrected headline is told: in words, on a terminal, and as a document for programs."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from mixseek.domain.labels import LabelScale
from mixseek.reporting.labels.corrected import (
    LEVEL,
    RIGHT,
    WRONG,
    ConfusionRow,
    CorrectedGroup,
    CorrectedReport,
    JudgeMean,
)
from mixseek.reporting.tables import QUIET, Cell, print_section, table_of
from mixseek.reporting.wording import NOTHING, make_visible, name_text, percent, plural
from mixseek.stats.corrected import Corrected, Drawing, State

_DRAWN = {
    Drawing.RANDOM: "drawn at random",
    Drawing.STRATIFIED: "drawn at random within verdicts",
    Drawing.WEIGHTED: "drawn at random within strata, weighted by their chances",
    Drawing.ELSEWHERE: "from another mix of cases",
    Drawing.UNKNOWN: "whose drawing is unknown",
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


def verdict_word(cell: str) -> str:
    """As the protocol says it."""
    return _VERDICTS.get(cell, cell)


def group_sentence(group: CorrectedGroup) -> str:
    """The estimator, or why there is no number; and what would help."""
    found = group.corrected
    if found.state is State.CORRECTED and found.estimator is not None:
        clustered = f", {plural(found.clusters, 'labelled question')} as clusters" if found.clusters is not None else ""
        return f"{found.estimator.value}; {_labels_text(group)}{clustered}"
    said = f"{found.sentence}; {_labels_text(group)}"
    if group.unlabelled:
        named = ", ".join(f"{verdict_word(cell)} ({items:,})" for cell, items in group.unlabelled)
        said += f"; without a label: {named}"
    return said


def _labels_text(group: CorrectedGroup) -> str:
    return f"{plural(group.labelled, 'label')} {_DRAWN[group.drawing]}, {plural(group.samples, 'sample')}"


def facts_sentence(report: CorrectedReport) -> str:
    """Who labelled, and what raters dispute."""
    facts = report.facts
    parts = [f"{plural(facts.texts, 'labelled text')} by {', '.join(facts.raters)}"]
    if facts.drawn_from is not None:
        parts.append(f"drawn from run {facts.drawn_from}")
    if facts.disputed:
        parts.append(f"{facts.disputed:,} disputed, counted with the mean of their raters until adjudicated")
    if facts.from_dataset:
        parts.append(f"{facts.from_dataset:,} from the dataset's own column `label`")
    if facts.unreadable:
        parts.append(f"{facts.unreadable:,} values of that column are no labels here")
    return "; ".join(parts)


def people_sentence(report: CorrectedReport) -> str | None:
    """How judges and people differ, over what was labelled."""
    scale = report.facts.scale
    if report.bias is None or report.distance is None:
        return None
    if scale.is_binary:
        kappa = "" if report.kappa is None else f"; Cohen's kappa {report.kappa:.2f}"
        return f"Judges and people agree on {percent(1 - report.distance)} of labelled verdicts{kappa}."
    span = scale.span
    way = "above" if report.bias >= 0 else "below"
    return (
        f"Over labelled texts judges are {abs(report.bias) * span:.2f} {way} people on average, and "
        f"{report.distance * span:.2f} away from them, on a scale of {scale.describe()}."
    )


def corrected_lines(report: CorrectedReport) -> list[str]:
    """For the summary after judging: the run as a whole."""
    group, scale = report.whole, report.facts.scale
    return [f"corrected   {corrected_text(group.corrected, scale)}: {group_sentence(group)}"]


def print_corrected(report: CorrectedReport, console: Console) -> None:
    """Judges, labels and correction side by side; then what judges and people make of the same texts."""
    scale = report.facts.scale
    rows: list[list[Cell]] = [
        [
            "all" if group is report.whole else name_text(group.name),
            judges_text(group.judges, scale),
            corrected_text(group.labels, scale),
            (corrected_text(group.corrected, scale), "bold"),
        ]
        for group in report.groups
    ]
    table = table_of(("", ">judges alone", ">labels alone", ">corrected"), rows)
    sentences = [group_sentence(report.whole)]
    sentences += [
        f"{name_text(group.name)}: {group_sentence(group)}"
        for group in report.targets
        if group.corrected.state is not report.whole.corrected.state
    ]
    sentences += filter(None, [facts_sentence(report), people_sentence(report)])
    notes = [Text(make_visible(sentence), style=QUIET) for sentence in sentences]
    unit = f"{LEVEL:.0%} intervals" + ("" if scale.is_binary else f", on a scale of {scale.describe()}")
    print_section(console, f"{TITLE} ({unit})", table, *notes, table_of(*_people_table(report)))
    console.print()


def _people_table(report: CorrectedReport) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    if report.confusion:
        heads = ("|judges say", ">samples", ">people: correct", ">incorrect", ">disputed", ">share correct")
        return heads, [_confusion_cells(row) for row in report.confusion]
    scale = report.facts.scale
    points: list[tuple[Cell, ...]] = [
        (on_scale(point.judges, scale), on_scale(point.people, scale), f"{point.count:,}")
        for point in report.calibration
    ]
    return (">judges give", ">people give", ">labelled"), points


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
    }
