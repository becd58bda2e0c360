"""Statistics of ratings: as a JSON document, and as sections."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mixseek.analysis.ratings.found import (
    RATINGS,
    AgreementSection,
    CorrectedLine,
    PairLine,
    PartedStatistics,
    RaterLine,
    Statistics,
    SystemComparison,
)
from mixseek.analysis.ratings.relation import PEOPLE
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.shown import shown_html, shown_text
from mixseek.presentation.render.html import result_html
from mixseek.presentation.render.terminal import result_text
from mixseek.presentation.sections import Cell, Section, Sentence, TableRows, notes, number_cell, sections_of
from mixseek.reports.confidence import (
    calibration_section,
    confidence_document,
    confidence_sections,
    expected_section,
    malformed_text,
)
from mixseek.reports.responses import responses_document, unfinished_notes
from mixseek.reports.wording.numbers import (
    NOTHING,
    coefficient_ends_text,
    coefficient_text,
    ends_text,
    estimate_text,
    lead_ends_text,
    lead_text,
    p_text,
    score_number,
)
from mixseek.reports.wording.scores import equal_items_text, few_questions_text
from mixseek.stats.corrected import PredictionPowered
from mixseek.stats.estimates import Corrected
from mixseek.stats.intervals import Interval, wilson_interval
from mixseek.stats.known_judge import KnownJudge
from mixseek.stats.paired_test import PairedTest
from mixseek.stats.raters import Coefficient, Confusion, Estimate, Measure
from mixseek.text.phrases import plural

# Raters whose matrix fits on a terminal.
_MATRIX_RATERS = 9
_CLEAR = "clear"
# The coefficients that fit on a line: of graded scores the weighted ones.
_SHOWN = (Measure.RAW, Measure.KAPPA, Measure.ALPHA_NOMINAL, Measure.AC1)
_SHOWN_OF_GRADED = (
    *(Measure.RAW, Measure.KAPPA, Measure.KAPPA_QUADRATIC, Measure.ALPHA_ORDINAL),
    Measure.AC2_QUADRATIC,
)


# For programs.


def statistics_document(statistics: Statistics) -> dict[str, Any]:
    """One JSON document; a number that cannot be had is null."""
    return {
        "schema": schema_id(DocumentName.STATS),
        "source": statistics.source,
        "ratings": statistics.ratings,
        "items": statistics.items,
        "questions": statistics.questions,
        "repeated": {"ratings": statistics.repeated, "rule": "mean" if statistics.uses_mean else "first"},
        "categories": list(statistics.categories) or None,
        "scale": list(statistics.scale) if statistics.scale else None,
        "human": statistics.human,
        "labels": statistics.drawing.value if statistics.human else None,
        "raters": [_rater_document(line) for line in statistics.raters],
        "against_human": [_pair_document(line) for line in statistics.against_human],
        "agreement": _agreement_document(statistics.agreement) if statistics.agreement else None,
        "verdict_agreement": _agreement_document(statistics.verdict_agreement)
        if statistics.verdict_agreement
        else None,
        "pairs": [_pair_document(line) for line in statistics.pairs],
        "corrected": [_corrected_document(line) for line in statistics.corrected],
        "comparison": _comparison_document(statistics.comparison) if statistics.comparison else None,
        "responses": {name: responses_document(counts) for name, counts in statistics.responses.items()},
        "notes": list(statistics.notes),
        "confidences": [confidence_document(line) for line in statistics.confidences],
    }


def parted_document(parted: PartedStatistics) -> dict[str, Any]:
    """The document of each part, under what tells them apart."""
    parts = []
    for value, statistics in parted.parts:
        document = statistics_document(statistics)
        del document["schema"]
        parts.append({"part": value, **document})
    return {"schema": schema_id(DocumentName.STATS_BY), "source": parted.source, "by": parted.by, "parts": parts}


def _rater_document(line: RaterLine) -> dict[str, Any]:
    errors = asdict(line.errors) if line.errors else dict.fromkeys(("iid", "cr0", "cr1", "miller"))
    return {
        "name": line.name,
        "n": line.ratings,
        "missing": line.missing,
        "questions": line.questions,
        "mean": line.mean,
        "interval": interval_document(line.interval),
        "se": errors,
        "t_interval": list(line.t_interval) if line.t_interval else None,
        "bounds": asdict(line.bounds) if line.bounds else None,
        "effective_questions": line.effective_questions,
    }


def interval_document(interval: Interval | None) -> dict[str, Any] | None:
    """Never without its method."""
    return asdict(interval) if interval else None


def _coefficient_document(coefficient: Coefficient) -> dict[str, Any]:
    independent = Estimate(coefficient.value, coefficient.se).interval() if coefficient.value is not None else None
    return {
        "value": coefficient.value,
        "interval": interval_document(coefficient.interval),
        "se": coefficient.se,
        "independent_interval": list(independent) if independent else None,
        "over": asdict(coefficient.over) if coefficient.over else None,
    }


def _pair_document(line: PairLine) -> dict[str, Any]:
    return {
        "rater_1": line.first,
        "rater_2": line.second,
        "n": line.items,
        "coefficients": {
            coefficient.measure.value: _coefficient_document(coefficient) for coefficient in line.coefficients
        },
        "mean_difference": line.mean_difference,
        "pearson": line.pearson,
        "spearman": line.spearman,
        "kendall_tau_b": line.kendall_tau_b,
        "auc": line.auc,
        "brier": line.brier,
        "confusion": _confusion_document(line.confusion, line.shares) if line.confusion else None,
    }


def _confusion_document(confusion: Confusion, intervals: Mapping[str, Interval | None]) -> dict[str, Any]:
    """Shares with the interval over questions, and Wilson's (`low`, `high`), which takes items for independent."""
    shares = {name: _share_document(*counts, intervals.get(name)) for name, counts in confusion.shares.items()}
    return {**asdict(confusion), **shares, "mcc": confusion.mcc}


def _share_document(part: int, whole: int, interval: Interval | None) -> dict[str, Any] | None:
    if not whole:
        return None
    wilson = wilson_interval(part, whole)
    over_questions = {"low": interval.low, "high": interval.high, "method": interval.method.value} if interval else None
    ends = {"low": wilson.low, "high": wilson.high, "n": whole, "over_questions": over_questions}
    return {"value": part / whole, **ends}


def _agreement_document(section: AgreementSection) -> dict[str, Any]:
    return {
        "raters": list(section.raters),
        "items": section.items,
        "complete_items": section.complete_items,
        "ratings": section.ratings,
        "categories": list(section.categories),
        "of": section.of,
        "coefficients": {
            coefficient.measure.value: _coefficient_document(coefficient) for coefficient in section.coefficients
        },
    }


def corrected_document(corrected: Corrected) -> dict[str, Any]:
    """The estimate with its state in words: a number is never alone."""
    return {
        "state": corrected.state.value,
        "sentence": corrected.sentence,
        "estimator": corrected.estimator.value if corrected.estimator else None,
        "point": corrected.point,
        "low": corrected.low,
        "high": corrected.high,
        "labels": corrected.labels,
        "items": corrected.items,
        "labelled_questions": corrected.clusters,
        "design_effect": corrected.design_effect,
        "random_p": corrected.random_p,
    }


def _corrected_document(line: CorrectedLine) -> dict[str, Any]:
    beside: dict[str, Any] = {}
    for name, estimate in line.beside.items():
        if isinstance(estimate, PredictionPowered):
            beside[name] = {
                "point": estimate.point,
                "low": estimate.low,
                "high": estimate.high,
                "lam": estimate.weight,
                "se": estimate.se,
            }
        else:
            beside[name] = corrected_document(estimate) if estimate else None
    return {
        "judge": line.judge,
        "corrected": corrected_document(line.corrected),
        "labels_only": corrected_document(line.labels_only),
        "judge_mean": line.judge_mean,
        "human": {"n": line.known, "mean": line.known_mean},
        "cells": {name: [cell.items, cell.labels, cell.positive] for name, cell in sorted(line.cells.items())},
        "known_judge": _known_document(line.known_judge) if line.known_judge else None,
        "unlabelled_share": line.unlabelled_share,
        "unscored": line.unscored,
        "left_out": line.left_out,
        "beside": beside,
    }


def _known_document(known: KnownJudge) -> dict[str, Any]:
    return {
        "positive": known.positive,
        "negative": known.negative,
        "sensitivity": known.true_positive / known.positive if known.positive else None,
        "specificity": known.true_negative / known.negative if known.negative else None,
    }


def _comparison_document(comparison: SystemComparison) -> dict[str, Any]:
    return {
        "first": comparison.first,
        "second": comparison.second,
        "raters": [
            {
                "name": line.rater,
                **_test_document(line.test),
                "unscored": line.unscored,
                "bounds": asdict(line.bounds) if line.bounds else None,
            }
            for line in comparison.tests
        ],
        "corrected": [_corrected_document(line) for line in comparison.corrected],
    }


def _test_document(test: PairedTest | None) -> dict[str, Any]:
    if test is None:
        return {"questions": 0}
    return {
        "questions": test.questions,
        "difference": test.mean,
        "se": test.se,
        "interval": interval_document(test.interval),
        "better": test.better,
        "worse": test.worse,
        "p": test.p_value,
        "test": test.method.value,
        "t_p": test.t_p,
        "mcnemar_exact_p": test.exact_p,
        "mcnemar_mid_p": test.mid_p,
        "correlation": test.correlation,
        "is_clear": test.is_clear,
    }


# For people.


@sections_of.register
def statistics_sections(statistics: Statistics) -> Iterator[Section]:
    """Raters first, then how far to trust them, then what labels make of them."""
    counts = (
        plural(statistics.ratings, "rating"),
        plural(statistics.items, "item"),
        plural(statistics.questions, "question"),
    )
    lead = Sentence(f"{statistics.source}: {', '.join(counts)}", "")
    yield Section(None, (lead, *unfinished_notes(statistics.responses), *notes(statistics.notes)))
    yield Section("Raters", (_rater_table(statistics), *notes(_uneven_notes(statistics))))
    if statistics.against_human:
        shares = ("judge", ">n", ">accuracy", ">sensitivity", ">specificity", ">MCC")
        yield Section(
            f"Against {statistics.human}", [TableRows(shares, list(_confusion_rows(statistics.against_human)))]
        )
        graded = [line for line in statistics.against_human if line.confusion is None and line.auc is not None]
        cells = [(line.second, number_cell(line.items), _number(line.auc), _number(line.brier)) for line in graded]
        yield Section(f"Scores against {statistics.human}", [TableRows(("judge", ">n", ">AUC", ">Brier"), cells)])
        heads = ("judge", ">n", *(f">{measure.value}" for measure in _shown_measures(statistics.against_human)))
        yield Section(
            f"Agreement with {statistics.human}", [TableRows(heads, list(_pair_rows(statistics.against_human)))]
        )
    yield from confidence_sections(statistics.confidences)
    yield from map(_agreement_section, _agreements(statistics))
    yield from _matrix_sections(statistics.pairs)
    yield _corrected_section(statistics.corrected, f"What {statistics.human} would say, from labels")
    if statistics.comparison is not None:
        yield from _comparison_sections(statistics.comparison)


@sections_of.register
def parted_sections(parted: PartedStatistics) -> Iterator[Section]:
    """A row for each part and rater: what they say, how far they agree, and what the expected score is worth."""
    count = plural(len(parted.parts), "part")
    yield Section(None, [Sentence(f"{parted.source}: {count} by {parted.by}", ""), *notes(_part_notes(parted))])
    yield Section("Raters", [_parted_raters(parted)])
    yield Section("Agreement", [_parted_agreement(parted)])
    lines = [(value, line) for value, statistics in parted.parts for line in statistics.confidences]
    yield expected_section(lines, parted.by)
    yield calibration_section(lines, parted.by)


def _part_notes(parted: PartedStatistics) -> Iterator[str]:
    people = {statistics.people for _, statistics in parted.parts if statistics.people}
    if people:
        yield f"{PEOPLE}: the mean of those who rated an item, {max(people)} in all"
    for value, statistics in parted.parts:
        unused = [malformed_text(line) for line in statistics.confidences if line.malformed]
        yield from (f"{value or NOTHING}: {note}" for note in (*statistics.notes, *unused))


def _parted_raters(parted: PartedStatistics) -> TableRows:
    rows: list[Sequence[Cell]] = []
    for value, statistics in parted.parts:
        for line in statistics.raters:
            limits = (line.interval.low, line.interval.high) if line.interval else (None, None)
            mean = score_number(line.mean, is_binary=line.is_binary)
            ends = ends_text(*limits, is_binary=line.is_binary)
            rows.append(
                (value or NOTHING, line.name, number_cell(line.ratings), number_cell(line.questions), mean, ends)
            )
    return TableRows((parted.by, "rater", ">n", ">questions", ">mean", ">95% interval"), rows)


def _parted_agreement(parted: PartedStatistics) -> TableRows:
    """How far each rater agrees with the human, where one is named."""
    every_line = [line for _, statistics in parted.parts for line in statistics.against_human]
    measures = _shown_measures(every_line)
    rows: list[Sequence[Cell]] = []
    for value, statistics in parted.parts:
        for line in statistics.against_human:
            coefficients = {coefficient.measure: coefficient for coefficient in line.coefficients}
            texts = (_coefficient_text(coefficients.get(measure)) for measure in measures)
            rows.append((value or NOTHING, line.second, number_cell(line.items), *texts))
    return TableRows((parted.by, "judge", ">n", *(f">{measure.value}" for measure in measures)), rows)


for _shown in (Statistics, PartedStatistics):
    shown_text.register(_shown, result_text)
    shown_html.register(_shown, result_html)


def _uneven_notes(statistics: Statistics) -> Iterator[str]:
    """Raters whose mean few questions carry, in the words of a report."""
    for line in statistics.raters:
        if few := few_questions_text(line.questions, line.effective_questions):
            units = f"{plural(line.ratings, 'item')} of {plural(line.questions, 'question')}"
            yield f"{line.name}: {units}, {few}"


def _number(value: float | None) -> str:
    return score_number(value, is_binary=False)


def _rater_table(statistics: Statistics) -> TableRows:
    """How many items have no score, and what the mean could be, where there are any."""
    has_missing, has_bounds = (any(getattr(line, name) for line in statistics.raters) for name in ("missing", "bounds"))
    heads = ["rater", ">n", *([">no score"] if has_missing else []), ">questions", ">mean", ">95% interval"]
    rows: list[Sequence[Cell]] = []
    for line in statistics.raters:
        limits = (line.interval.low, line.interval.high) if line.interval else (None, None)
        ends = (line.bounds.worst, line.bounds.best) if line.bounds else (None, None)
        rows.append(
            (
                line.name,
                number_cell(line.ratings),
                *([number_cell(line.missing)] if has_missing else []),
                number_cell(line.questions),
                score_number(line.mean, is_binary=line.is_binary),
                ends_text(*limits, is_binary=line.is_binary),
                *([ends_text(*ends, is_binary=line.is_binary)] if has_bounds else []),
            )
        )
    return TableRows((*heads, *([">bounds"] if has_bounds else [])), rows)


def _confusion_rows(lines: Sequence[PairLine]) -> Iterator[Sequence[Cell]]:
    for line in lines:
        if line.confusion is None:
            continue
        shares = []
        for name in ("accuracy", "sensitivity", "specificity"):
            part, whole = line.confusion.shares[name]
            interval = line.shares.get(name)
            limits = (interval.low, interval.high) if interval else (None, None)
            shares.append(estimate_text(part / whole, *limits, is_binary=True) if whole else NOTHING)
        yield line.second, number_cell(line.items), *shares, coefficient_text(line.confusion.mcc)


def _shown_measures(lines: Sequence[PairLine]) -> list[Measure]:
    """The measures that fit and are defined."""
    defined = {coefficient.measure for line in lines for coefficient in line.coefficients}
    is_graded = Measure.KAPPA_QUADRATIC in defined and any(
        line.confusion is None and line.coefficients for line in lines
    )
    return [measure for measure in (_SHOWN_OF_GRADED if is_graded else _SHOWN) if measure in defined]


def _pair_rows(lines: Sequence[PairLine]) -> Iterator[Sequence[Cell]]:
    measures = _shown_measures(lines)
    for line in lines:
        coefficients = {coefficient.measure: coefficient for coefficient in line.coefficients}
        yield (
            line.second,
            number_cell(line.items),
            *(_coefficient_text(coefficients.get(measure)) for measure in measures),
        )


def _coefficient_text(coefficient: Coefficient | None) -> str:
    if coefficient is None:
        return NOTHING
    limits = f" ({coefficient_ends_text(coefficient.interval)})" if coefficient.interval else ""
    return f"{coefficient_text(coefficient.value)}{limits}"


def _agreements(statistics: Statistics) -> Iterator[AgreementSection]:
    """Verdicts, and scores where those are more than another name of the verdicts."""
    verdicts, scores = statistics.verdict_agreement, statistics.agreement
    if verdicts is not None:
        yield verdicts
    if scores is not None and (verdicts is None or len(scores.categories) > len(verdicts.categories)):
        yield scores


def _agreement_section(section: AgreementSection) -> Section:
    raters = len(section.raters)
    whose = f"All {raters} together" if section.of == RATINGS else f"{section.of.capitalize()} of all {raters}"
    title = f"{whose}: {plural(section.items, 'item')} with two ratings or more"
    rows = [
        (coefficient.measure.value, coefficient_text(coefficient.value), coefficient_ends_text(coefficient.interval))
        for coefficient in section.coefficients
    ]
    limits = [
        (coefficient.measure.value, equal_items_text(coefficient.over, "item")) for coefficient in section.coefficients
    ]
    heads = ("coefficient", ">value", ">95% interval over questions")
    return Section(title, (TableRows(heads, rows), *notes(f"{name}: {over}" for name, over in limits if over)))


def _matrix_sections(pairs: Sequence[PairLine]) -> Iterator[Section]:
    """Kappa of every two, the weighted one where scores are graded."""
    names = list(dict.fromkeys(name for line in pairs for name in (line.first, line.second)))
    if len(names) < 3 or len(names) > _MATRIX_RATERS:
        return
    is_graded = any(line.confusion is None and line.spearman is not None for line in pairs)
    measure = Measure.KAPPA_QUADRATIC if is_graded else Measure.KAPPA
    values = {
        frozenset((line.first, line.second)): coefficient.value
        for line in pairs
        for coefficient in line.coefficients
        if coefficient.measure is measure
    }
    rows: list[Sequence[Cell]] = [
        (
            f"{number} {name}",
            *(coefficient_text(values.get(frozenset((name, other)))) if other != name else "" for other in names),
        )
        for number, name in enumerate(names, 1)
    ]
    title = "Rater by rater: Cohen's kappa" + (", quadratic weights" if is_graded else "")
    yield Section(title, [TableRows(("", *(f">{number}" for number in range(1, len(names) + 1))), rows)])


def _corrected_section(lines: Sequence[CorrectedLine], title: str) -> Section:
    rows: list[Sequence[Cell]] = []
    for line in lines:
        corrected, labels_only = line.corrected, line.labels_only
        rows.append(
            (
                line.judge,
                number_cell(corrected.labels),
                number_cell(corrected.items),
                _estimate(line, line.judge_mean, None, None),
                _estimate(line, labels_only.point, labels_only.low, labels_only.high)
                if labels_only.point is not None
                else NOTHING,
                _estimate(line, corrected.point, corrected.low, corrected.high),
            )
        )
    heads = ("judge", ">labels", ">of", ">judge only", ">labels only", ">corrected")
    judges_of: dict[str, list[str]] = {}
    for line in lines:
        estimator = f" ({line.corrected.estimator.value})" if line.corrected.estimator else ""
        judges_of.setdefault(line.corrected.sentence + estimator, []).append(line.judge)
    sentences = [
        sentence if len(judges_of) == 1 else f"{', '.join(judges)}: {sentence}"
        for sentence, judges in judges_of.items()
    ]
    sentences += [_unscored_sentence(line) for line in lines if line.unscored or line.left_out]
    sentences += dict.fromkeys(line.labels_only.label_caveat for line in lines if line.labels_only.label_caveat)
    return Section(title, (TableRows(heads, rows), *notes(sentences)))


def _estimate(line: CorrectedLine, point: float | None, low: float | None, high: float | None) -> str:
    if not line.is_difference:
        return estimate_text(point, low, high, is_binary=line.is_share)
    ends = lead_ends_text(low, high, is_binary=line.is_share)
    if point is None:
        return ends
    lead = lead_text(point, is_binary=line.is_share)
    return lead if ends == NOTHING else f"{lead} ({ends})"


def _unscored_sentence(line: CorrectedLine) -> str:
    """That they are not in the judge's mean, and that the corrected number is about them, too, where there is one."""
    if line.left_out:
        return f"{line.judge}: {plural(line.left_out, 'item')} without a score, left out here by --pool rated"
    what = plural(line.unscored, "question" if line.is_difference else "item")
    whole = "" if line.corrected.low is None else ", but in the corrected number"
    return f"{line.judge}: {what} without a score, not in its own mean{whole}"


def _comparison_sections(comparison: SystemComparison) -> Iterator[Section]:
    has_bounds = any(line.bounds for line in comparison.tests)
    rows: list[Sequence[Cell]] = []
    for line in comparison.tests:
        test, is_share = line.test, line.is_share
        ends = (line.bounds.worst, line.bounds.best) if line.bounds else (None, None)
        missing: list[Cell] = []
        if has_bounds:
            missing = [number_cell(line.unscored), lead_ends_text(*ends, is_binary=is_share)]
        if test is None:
            why = "no score" if line.unscored else "no question in common"
            rows.append((line.rater, number_cell(0), NOTHING, NOTHING, *missing, NOTHING, NOTHING, why))
            continue
        limits = (test.interval.low, test.interval.high) if test.interval else (None, None)
        rows.append(
            (
                line.rater,
                number_cell(test.questions),
                lead_text(test.mean, is_binary=is_share),
                lead_ends_text(*limits, is_binary=is_share),
                *missing,
                f"{test.better:,} / {test.worse:,}",
                f"{p_text(test.p_value)} ({test.method.value})",
                _CLEAR if test.is_clear else "not clear",
            )
        )
    more = (">no score", ">bounds") if has_bounds else ()
    heads = ("rater", ">questions", ">difference", ">95% interval", *more, ">better / worse", ">p", "")
    yield Section(f"{comparison.first} minus {comparison.second}", [TableRows(heads, rows)])
    yield _corrected_section(comparison.corrected, "The difference that people would see, from labels")
