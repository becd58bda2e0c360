"""How sure judges are, what their expected scores come to, and how often they are right: sections and documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mixseek.analysis.confidence.found import ConfidenceKind
from mixseek.presentation.pictures import SHARES, Axis, ScatterPoint
from mixseek.presentation.sections import (
    QUIET,
    Cell,
    Part,
    Scatter,
    Section,
    Sentence,
    TableRows,
    notes,
    number_cell,
    number_head,
)
from mixseek.reports.wording.names import SOURCE_WORDS
from mixseek.reports.wording.numbers import (
    NOTHING,
    coefficient_text,
    ends_text,
    estimate_text,
    lead_ends_text,
    lead_text,
    percent,
    score_number,
)
from mixseek.stats.calibration import Calibration, CalibrationError, CalibrationState, ReliabilityBin
from mixseek.stats.confidence import JudgeConfidence
from mixseek.stats.estimates import FEWEST_CLUSTERS, FEWEST_LABELS
from mixseek.stats.expected import Closeness, Gain
from mixseek.stats.intervals import Interval
from mixseek.stats.risk_coverage import RiskCoverage, RiskPoint
from mixseek.text.messages import Message, message

_SOURCES: Mapping[str, Message] = {
    **SOURCE_WORDS,
    ConfidenceKind.PROBABILITIES: message("confidence.probabilities", "probabilities"),
    ConfidenceKind.SCORES: message("confidence.scores", "its scores"),
    ConfidenceKind.COLUMN: message("confidence.column", "a column"),
}
_STATES: Mapping[CalibrationState, Message] = {
    CalibrationState.NO_LABELS: message("confidence.no_labels", "no judgment with a confidence has a label"),
    CalibrationState.TOO_FEW_LABELS: message(
        "confidence.few_labels", "fewer than {least} labels show noise, and no calibration", least=FEWEST_LABELS
    ),
    CalibrationState.FEW_QUESTIONS: message(
        "confidence.few_questions", "labels of fewer than {least} questions: no calibration", least=FEWEST_CLUSTERS
    ),
}
# Ends of an axis of risks that are easily read.
_ROUND_RISKS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
_POINTS_SHOWN = 10


def source_text(source: str) -> Message:
    """What a confidence was made from; a name of somebody else's stays as it is."""
    return _SOURCES.get(source) or Message(source)


# A judge, and the part of a table that it stands in where there are several.
NamedLine = tuple[str | None, JudgeConfidence]


# For programs.


def confidence_document(line: JudgeConfidence) -> dict[str, Any]:
    """All that is known; a number that cannot be had is null, and `state` says why."""
    return {
        "judge": line.judge,
        "source": line.source,
        "judgments": line.judgments,
        "without": line.without,
        "malformed": dict(line.malformed),
        "levels": list(line.levels),
        "is_order": line.is_order,
        "mean_confidence": line.mean_confidence,
        "mean_given": line.mean_given,
        "mean_expected": line.mean_expected,
        "labels_drawn": line.drawing,
        "calibration": _calibration_document(line.calibration) if line.calibration is not None else None,
        "expected": asdict(line.expected) if line.expected is not None else None,
    }


def _calibration_document(calibration: Calibration) -> dict[str, Any]:
    document = asdict(calibration)
    names = {"error": "ece", "equal_mass_error": "ece_of_equal_mass", "risk": "risk_coverage"}
    return {names.get(name, name): value for name, value in document.items()} | {"state": calibration.state.value}


# For people.


def confidence_sections(lines: Sequence[JudgeConfidence]) -> Iterator[Section]:
    """Counts and means first, then expected scores against people, then each judge's calibration."""
    if not lines:
        return
    yield count_section(lines)
    compared = [(None, line) for line in lines if line.expected is not None]
    yield expected_section(compared)
    yield calibration_section([(None, line) for line in lines])
    for line in lines:
        yield from picture_sections(line)


def expected_section(lines: Sequence[NamedLine], by: str | None = None) -> Section:
    """The expected score beside the given one."""
    title = message("confidence.expected_title", "Expected scores against people")
    note = message("confidence.expected_note", "differences to the given score, intervals over questions")
    return Section(title, expected_parts(lines, by), note=note, name="expected-scores")


def calibration_section(lines: Sequence[NamedLine], by: str | None = None) -> Section:
    """How often people agree, by how sure the judge is."""
    title = message("confidence.calibration_title", "Calibration")
    note = message("confidence.calibration_note", "how often people agree, by how sure the judge is")
    return Section(title, calibration_parts(lines, by), note=note, name="calibration")


def count_section(lines: Sequence[JudgeConfidence]) -> Section:
    """How many judgments say how sure they are, what they were made from, and what means come to."""
    has_means = any(line.mean_expected is not None for line in lines)
    has_malformed = any(line.malformed for line in lines)
    rows: list[Sequence[Cell]] = []
    for line in lines:
        means: list[Cell] = [
            score_number(line.mean_given, is_binary=False),
            (score_number(line.mean_expected, is_binary=False), "bold"),
        ]
        unusable = [number_cell(sum(line.malformed.values()), "red")] if has_malformed else []
        counts = (number_cell(line.judgments), number_cell(line.without), *unusable)
        confidence = NOTHING if line.mean_confidence is None else percent(line.mean_confidence)
        rows.append((line.judge, (source_text(line.source), QUIET), *counts, confidence, *(means if has_means else [])))
    heads = (
        message("head.judge", "judge"),
        message("confidence.from", "from"),
        number_head(message("head.judgments", "judgments")),
        number_head(message("confidence.without", "without")),
        *([number_head(message("confidence.unusable", "unusable"))] if has_malformed else []),
        number_head(message("confidence.mean", "mean confidence")),
        *([
            number_head(message("confidence.given", "given score")),
            number_head(message("confidence.expected", "expected score")),
        ] if has_means else []),
    )  # fmt: skip
    title = message("confidence.title", "How sure the judges are")
    words = [malformed_text(line) for line in lines if line.malformed]
    words += [
        message("confidence.is_order", "{judge}: written words are an order and no probabilities", judge=line.judge)
        for line in lines
        if line.is_order
    ]
    return Section(title, [TableRows(heads, rows, name="confidences", label=title), *notes(words)], name="confidences")


def malformed_text(line: JudgeConfidence) -> Message:
    """How many were not used, by what is wrong with them."""
    reasons = ", ".join(f"{reason} ({count:,})" for reason, count in line.malformed.items())
    return message("confidence.malformed", "{judge}: not used, because of {reasons}", judge=line.judge, reasons=reasons)


def expected_tables(lines: Sequence[NamedLine], by: str | None = None) -> tuple[TableRows, TableRows]:
    """How far scores are from people's, and how far they order items alike: a row a judge, and a part of the table
    where it has some."""
    errors, orders = [], []
    # A run has the verdicts of its judges, and no levels beside them.
    has_levels = any(line.expected is not None and line.expected.likeliest is not None for _, line in lines)
    for part, line in lines:
        scores = line.expected
        if scores is None:
            continue
        names: list[Cell] = [part or NOTHING] if by is not None else []
        names += [line.judge, number_cell(scores.items)]
        ways = [scores.expected, scores.given, *([scores.likeliest] if has_levels else [])]
        errors.append((*names, *_bold_first([_error_text(way) for way in ways]), _gain_text(scores.rmse_gain)))
        texts = [NOTHING if way is None else coefficient_text(way.spearman) for way in ways]
        orders.append((*names, *_bold_first(texts), _gain_text(scores.spearman_gain)))
    error = message("confidence.rmse", "RMSE against people")
    order = message("confidence.order", "Spearman with people")
    gains = message("confidence.rmse_gain", "less by"), message("confidence.order_gain", "more by")
    return (
        TableRows(_expected_heads(gains[0], by, has_levels=has_levels), errors, name="expected", label=error),
        TableRows(_expected_heads(gains[1], by, has_levels=has_levels), orders, name="expected", label=order),
    )


def _expected_heads(gain: Message, by: str | None, *, has_levels: bool) -> tuple[str, ...]:
    return (
        *([by] if by is not None else []),
        message("head.judge", "judge"),
        number_head(message("head.items", "items")),
        number_head(message("confidence.expected", "expected score")),
        number_head(message("confidence.given", "given score")),
        *([number_head(message("confidence.likeliest", "likeliest level"))] if has_levels else []),
        number_head(gain),
    )


def expected_parts(lines: Sequence[NamedLine], by: str | None = None) -> list[Part]:
    """Both tables, each under what it measures, and how often the given score is another level."""
    tables = expected_tables(lines, by)
    if not tables[0].rows:
        return []
    parts: list[Part] = []
    for table in tables:
        parts += [Sentence(table.label, ""), table]
    counted = [line.expected for _, line in lines if line.expected is not None]
    words = "the given score is not the likeliest level in {n} of {items} items"
    numbers = [sum(getattr(scores, name) for scores in counted) for name in ("unlike", "items")]
    unlike = message("confidence.unlike", words, n=numbers[0], items=numbers[1])
    return [*parts, *notes([unlike] if numbers[0] else [])]


def _bold_first(texts: Sequence[str]) -> list[Cell]:
    return [(texts[0], "bold"), *texts[1:]]


def _error_text(closeness: Closeness | None) -> str:
    return NOTHING if closeness is None else score_number(closeness.rmse, is_binary=False)


def _gain_text(gain: Gain) -> str:
    if gain.value is None:
        return NOTHING
    limits = gain.interval
    ends = f" ({lead_ends_text(limits.low, limits.high, is_binary=False)})" if limits else ""
    return f"{lead_text(gain.value, is_binary=False)}{ends}"


def calibration_tables(lines: Sequence[NamedLine], by: str | None = None) -> tuple[TableRows, TableRows]:
    """How often people agree against how sure the judge is, and what its confidence is worth; a row a judge and source
    of which labels say something."""
    errors, worths = [], []
    for part, line in lines:
        calibration = line.calibration
        if calibration is None or calibration.state is not CalibrationState.MEASURED:
            continue
        names: list[Cell] = [part or NOTHING] if by is not None else []
        names += [line.judge, (source_text(line.source), QUIET), number_cell(calibration.labels)]
        if calibration.error is not None:
            chances = [
                NOTHING if share is None else percent(share)
                for share in (calibration.mean_chance, calibration.mean_label)
            ]
            by_chance = score_number(calibration.error.by_chance, is_binary=False)
            errors.append((*names, *chances, (_ece_text(calibration.error), "bold"), (by_chance, QUIET)))
        worths.append((*names, *_brier_cells(calibration), _area_text(calibration.risk)))
    heads = (
        *([by] if by is not None else []),
        message("head.judge", "judge"),
        message("confidence.from", "from"),
        number_head(message("head.labels", "labels")),
    )
    error_heads = (
        number_head(message("confidence.mean_short", "confidence")),
        number_head(message("confidence.people_agree", "people agree")),
        number_head(message("confidence.ece", "ECE")),
        number_head(message("confidence.by_chance", "by chance")),
    )
    worth_heads = (
        number_head(message("confidence.brier", "Brier")),
        number_head(message("confidence.base_rate", "base rate's")),
        number_head(message("confidence.area", "AURC")),
    )
    title = message("confidence.calibration_title", "Calibration")
    worth = message("confidence.worth", "What its confidence is worth")
    return (
        TableRows((*heads, *error_heads), errors, name="calibrations", label=title),
        TableRows((*heads, *worth_heads), worths, name="calibrations", label=worth),
    )


def calibration_parts(lines: Sequence[NamedLine], by: str | None = None) -> list[Part]:
    """Both tables, what was refused, and how to read them."""
    tables = calibration_tables(lines, by)
    words = [_in_part(part, text) for part, line in lines if (text := refusal_text(line))]
    first, second = tables
    title = [Sentence(second.label, "")] if second.rows else []
    return [first, *notes(_chance_notes(lines)), *title, second, *notes(words)]


def _in_part(part: str | None, text: Message) -> Message:
    return text if part is None else message("confidence.in_part", "{part}: {text}", part=part, text=text)


def refusal_text(line: JudgeConfidence) -> Message | None:
    """Why labels say nothing of it; None where they do, or nobody asked."""
    if line.calibration is None or line.calibration.state is CalibrationState.MEASURED:
        return None
    why, labels = _STATES[line.calibration.state], line.calibration.labels
    words = "{judge} ({source}), {n} labelled: {why}"
    return message("confidence.refused", words, judge=line.judge, source=source_text(line.source), n=labels, why=why)


def _chance_notes(lines: Sequence[NamedLine]) -> Iterator[Message]:
    if any(line.calibration is not None and line.calibration.error is not None for _, line in lines):
        words = (
            "by chance: the ECE of a judge without any fault on as many labels; the interval of ECE allows for it, and "
            "holds 0 where chance alone explains what is seen"
        )
        yield message("confidence.chance_note", words)


def _ece_text(error: CalibrationError | None) -> str:
    if error is None:
        return NOTHING
    return estimate_text(error.value, error.interval.low, error.interval.high, is_binary=False)


def _brier_cells(calibration: Calibration) -> tuple[Cell, Cell]:
    score = calibration.brier
    if score is None:
        return NOTHING, NOTHING
    limits = score.interval
    ends = (limits.low, limits.high) if limits else (None, None)
    return estimate_text(score.value, *ends, is_binary=False), (score_number(score.reference, is_binary=False), QUIET)


def _area_text(risk: RiskCoverage | None) -> str:
    if risk is None:
        return NOTHING
    ends = (risk.interval.low, risk.interval.high) if risk.interval else (None, None)
    return estimate_text(risk.area, *ends, is_binary=False)


def picture_sections(line: JudgeConfidence) -> Iterator[Section]:
    """The reliability diagram and the curve of one judge, each with its numbers."""
    calibration = line.calibration
    if calibration is None or calibration.state is not CalibrationState.MEASURED:
        return
    whose = {"judge": line.judge, "source": source_text(line.source)}
    if calibration.bins:
        title = message("confidence.reliability", "Reliability of {judge}, by {source}", **whose)
        yield Section(title, [reliability_diagram(calibration.bins, title)], name="reliability")
    if calibration.risk is not None:
        title = message("confidence.risk", "Risk against coverage of {judge}, by {source}", **whose)
        yield Section(
            title, [risk_curve(calibration.risk, title), *notes([_risk_note(calibration.risk)])], name="risk-coverage"
        )


def reliability_diagram(bins: Sequence[ReliabilityBin], title: str) -> Scatter:
    """How often people agree over how sure the judge is; on the broken line both are the same."""
    points, rows = [], []
    for cell in bins:
        ends = _ends(cell.interval)
        texts = (percent(cell.chance), percent(cell.label), ends_text(*ends, is_binary=True), f"{cell.labels:,}")
        words = "confidence {chance}, people agree {people} ({ends}), {n} labels"
        label = message("confidence.bin", words, chance=texts[0], people=texts[1], ends=texts[2], n=texts[3])
        points.append(
            ScatterPoint(
                cell.chance,
                cell.label,
                cell.labels,
                label,
                None if cell.interval is None else (cell.interval.low, cell.interval.high),
            )
        )
        rows.append(texts)
    heads = (
        message("confidence.mean_short", "confidence"),
        message("confidence.people_agree", "people agree"),
        message("word.interval_95", "95% interval"),
        message("head.labels", "labels"),
    )
    return Scatter(heads, points, SHARES, rows, title, has_table=True)


def risk_curve(risk: RiskCoverage, title: str) -> Scatter:
    """How far people disagree with what is decided from each confidence upwards."""
    highest = max(
        point.interval.high if point.interval else point.risk for point in risk.points[len(risk.points) // 4 :]
    )
    highest = max(highest, *(point.risk for point in risk.points))
    end = next((end for end in _ROUND_RISKS if end >= highest), 1.0)
    axis = Axis(0.0, end, (0.0, end / 2, end), ("0%", f"{end * 50:g}%", f"{end * 100:g}%"))
    points, rows = [], []
    for point in risk.points:
        low, high = _ends(point.interval)
        texts = _risk_texts(point)
        words = "{coverage} decided from a confidence of {threshold} up: people disagree with {risk} ({ends})"
        label = message("confidence.step", words, coverage=texts[0], risk=texts[1], ends=texts[2], threshold=texts[3])
        ends = None if low is None or high is None else (axis.place(low), axis.place(high))
        points.append(ScatterPoint(point.coverage, axis.place(point.risk), point.labels, label, ends))
        rows.append(texts)
    heads = (
        message("confidence.coverage", "decided"),
        message("confidence.disagree", "people disagree"),
        message("word.interval_95", "95% interval"),
        message("confidence.threshold", "confidence from"),
    )
    return Scatter(heads, points, SHARES, rows, title, up_axis=axis, has_table=True)


def _risk_texts(point: RiskPoint) -> tuple[str, str, str, str]:
    ends = ends_text(*_ends(point.interval), is_binary=True)
    return percent(point.coverage), percent(point.risk), ends, f"{point.threshold:.3f}"


def _risk_note(risk: RiskCoverage) -> Message:
    words = "area {area}: a confidence that says nothing has {chance}, one that knows all {best}"
    return message(
        "confidence.area_note", words, area=_area_text(risk),
        chance=score_number(risk.by_chance, is_binary=False), best=score_number(risk.best, is_binary=False),
    )  # fmt: skip


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval is not None else (None, None)
