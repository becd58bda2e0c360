"""A small run under a protocol with dimensions, as counts and rows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.unit.reports import counting
from tests.unit.reports.counting import Unit, count_rows

from mixseek.analysis.run.agreement import Agreement, build_agreement
from mixseek.analysis.run.build import build_report
from mixseek.analysis.run.headline import build_headline
from mixseek.analysis.run.model import Headline, RunHeader
from mixseek.analysis.run.report_data import ReportData
from mixseek.analysis.scored import ScoredInput, build_scored
from mixseek.analysis.scored_model import ScoredReport
from mixseek.domain.counts import NO_UNITS, PanelGroup, Ratings, UnitGroups, UnitSums
from mixseek.domain.judgments import Finding, Flag, JudgedRow, Status
from mixseek.domain.panels import PanelRule, PanelState
from mixseek.domain.scored_counts import (
    CoverageCell,
    CoverageCounts,
    DimensionBucket,
    DimensionCell,
    Disagreement,
    EvidenceCount,
    EvidenceProblem,
    ScoredCell,
    ScoredUnits,
    VariantSums,
)


def agreement_of(*items: Disagreement, judges: tuple[str, str] = ("m1", "m2")) -> Agreement:
    """Two judges on two samples: alike on one, half of the scale apart on the other."""
    ratings = Ratings(
        judges=judges,
        samples=2,
        verdicts=("FAIL", "PARTIAL"),
        score_groups=[{(0.75, 0.75): 1}, {(0.75, 0.25): 1}],
        verdict_groups=[{(1.0, 1.0): 1}, {(1.0, 0.0): 1}],
        unanimous=counting.sums_of([Unit("Q1", 0.0), Unit("Q2", 1.0)]),
        mean_spread=0.25,
        counted=2,
    )
    return build_agreement(ratings, (len(items), items), is_graded=True)


AGREEMENT = agreement_of(
    Disagreement("Q1-A-m3", "m3", "A", "Q1", 0.5, 2, (("m2", 0.25, "FAIL"), ("m1", 0.75, "PARTIAL")))
)


def headline_of(*targets: str, judges: tuple[str, ...] = ("m1", "m2")) -> Headline:
    """Every target with two samples, the first with the highest mean; one sample more has no verdict."""
    groups: dict[str | None, PanelGroup] = {
        target: PanelGroup(
            counting.sums_of([Unit("Q1", 1 / (place + 1)), Unit("Q2", 0.5 / (place + 1)), Unit("Q3", None)]),
            {PanelState.VALID: 2, PanelState.SPLIT: 1},
        )
        for place, target in enumerate(targets)
    }
    whole = PanelGroup(
        counting.sums_of([Unit("Q1", 0.75), Unit("Q2", 0.25), Unit("Q3", None)]),
        {PanelState.VALID: 2, PanelState.SPLIT: 1},
    )
    return build_headline(
        PanelRule.MEDIAN, judges, whole, {"target_model": groups}, asked={}, is_graded=True, maximum=4.0
    )


RUN = RunHeader("run-1", "cross", "1", "ab" * 32, "outputs.jsonl", 4)
VALID_CELL = ScoredCell(
    judge="m1", target="m2", variant="A", language="zh", task_type=None, status=Status.VALID, verdict="PASS",
    confidence="high", is_control=False, same_family=False, is_critical=False, maximum=4.0, count=1, score_total=1.0,
    score_total_of_squares=1.0,
)  # fmt: skip


def cell(*scores: float, **changes: Any) -> ScoredCell:
    """Valid judgments with these scores."""
    sums = {
        "count": len(scores),
        "score_total": sum(scores),
        "score_total_of_squares": sum(score * score for score in scores),
    }
    return replace(VALID_CELL, **{**sums, **changes})


def invalid(count: int, **changes: Any) -> ScoredCell:
    """Unusable ones."""
    unscored = {"verdict": None, "confidence": None, "maximum": None, "score_total": 0.0, "score_total_of_squares": 0.0}
    return replace(VALID_CELL, **{"status": Status.INVALID, "count": count, **unscored, **changes})


CELLS = (
    cell(1.0, 0.5, verdict="PASS"),
    cell(0.0, verdict="FAIL", variant="B", is_critical=True),
    cell(1.0, 1.0, target="m1", is_control=True),
    cell(0.5, judge="m2", target="m1", same_family=True, verdict="PARTIAL"),
    invalid(3, judge="m2", target="m1", variant="B"),
    invalid(1, target="m1", is_control=True),
)


def units_of(cells: Sequence[Any], *names: str) -> UnitGroups:
    """As if every judgment were of another sample, and every sample of another question."""
    groups: dict[tuple[str | None, ...], list[Any]] = defaultdict(list)
    for part in cells:
        groups[tuple(getattr(part, name) for name in names)].append(part)
    return {name: sums_of(own) for name, own in groups.items()}


def sums_of(cells: Sequence[Any]) -> UnitSums:
    """Marks become shares of their maximum; invalid judgments have no value."""
    scored = samples = 0
    total = squares = 0.0
    for part in cells:
        is_mark = isinstance(part, DimensionCell)
        scale = part.maximum if is_mark else 1.0
        samples += part.count
        if is_mark or part.status is Status.VALID:
            scored += part.count
            total += (part.total if is_mark else part.score_total) / scale
            squares += (part.total_of_squares if is_mark else part.score_total_of_squares) / scale**2
    lowest, highest = total, total + samples - scored
    return UnitSums(samples, scored, scored, total, squares, squares, total, scored, lowest, highest)


def rates_of(cells: Sequence[ScoredCell], *names: str) -> UnitGroups:
    """Invalid ones as a share of those that brought a reply."""
    ones = [
        replace(part, status=Status.VALID, score_total=hits, score_total_of_squares=hits)
        for part in cells
        if part.status in (Status.VALID, Status.INVALID)
        for hits in [float(part.count) if part.status is Status.INVALID else 0.0]
    ]
    return units_of(ones, *names)


def scored_units(cells: Sequence[ScoredCell], dimensions: Sequence[DimensionCell]) -> ScoredUnits:
    """What the database would give for these cells."""
    cross = [part for part in cells if not part.is_control]
    return ScoredUnits(
        targets=units_of(cross, "target"),
        task_types=units_of(cross, "task_type"),
        pairs=units_of(cross, "judge", "target"),
        own_outputs=units_of([part for part in cells if part.is_control], "judge", "target"),
        judge_dimensions=units_of(dimensions, "judge", "dimension"),
        target_dimensions=units_of(dimensions, "target", "dimension"),
        task_type_dimensions=units_of(dimensions, "task_type", "dimension"),
        invalid={"": rates_of(cells), **{name: rates_of(cells, name) for name in ("judge", "target", "variant")}},
        quotes={("m1",): units_of([cell(1.0, 1.0, 1.0, 1.0, 1.0, 0.0)]).get((), NO_UNITS)},
    )


def source(**changes: Any) -> ScoredInput:
    """One of everything."""
    fields: dict[str, Any] = {
        "cells": CELLS,
        "dimensions": (
            DimensionCell("m1", "m2", "A", None, "FORMAT", 2.0, 3, 4.0, 6.0),
            DimensionCell("m2", "m1", "A", None, "FORMAT", 2.0, 1, 2.0, 4.0),
            DimensionCell("m1", "m2", "A", None, "FIDELITY", 2.0, 3, 2.0, 2.0),
        ),
        "buckets": (
            DimensionBucket("m1", "FORMAT", 2.0, 1.0, 1.0, 2),
            DimensionBucket("m1", "FORMAT", 2.0, 2.0, 2.0, 1),
            DimensionBucket("m2", "FORMAT", 2.0, 2.0, 2.0, 1),
            DimensionBucket("m1", "FIDELITY", 2.0, 0.0, 0.0, 1),
            DimensionBucket("m1", "FIDELITY", 2.0, 1.0, 1.0, 2),
        ),
        "variants": (
            VariantSums(None, "A", "B", 3, 3, -0.75, 0.3125, -0.75, 3),
            VariantSums("FIDELITY", "A", "B", 3, 3, -0.3, 0.05, -0.3, 3),
            VariantSums("FORMAT", "A", "B", 3, 3, -1.5, 1.25, -1.5, 3),
        ),
        "evidence": (
            EvidenceCount("m1", "FIDELITY", None, "not_found", 1),
            EvidenceCount("m1", "FIDELITY", "folded", None, 2),
            EvidenceCount("m1", "FORMAT", "exact", None, 3),
        ),
        "evidence_problems": (EvidenceProblem("Q1-A-m2", "m1", "FIDELITY", "not_found", "nowhere"),),
        "agreement": AGREEMENT,
        "coverage": CoverageCounts(
            questions=1, variants=2, targets=1, judges=1, expected=2, valid=1, unnamed=0,
            holes=(CoverageCell("Q1", "B", "m2", "m1", None),),
            grid=(CoverageCell("Q1", "A", "m2", "m1", Status.VALID), CoverageCell("Q1", "B", "m2", "m1", None)),
        ),
    }  # fmt: skip
    fields |= changes
    fields.setdefault("units", scored_units(fields["cells"], fields["dimensions"]))
    return ScoredInput(**fields)


def scored_report(**changes: Any) -> ScoredReport:
    """Built from the above."""
    return build_scored(source(**changes), rng=Random(1))


DETAIL: dict[str, Any] = {
    "total": 3,
    "total_maximum": 4,
    "scores": {"FORMAT": 2, "FIDELITY": 1},
    "maxima": {"FORMAT": 2, "FIDELITY": 2},
    "reasons": {"FORMAT": "three sections", "FIDELITY": "drifts at the end"},
    "evidence": [
        {"dimension": "FORMAT", "quote": "alpha", "reason": "names it", "spans": [[0, 5]], "stage": "exact"},
        {"dimension": "FIDELITY", "quote": "alpha beta", "reason": "says both", "spans": [[0, 10]], "stage": "folded"},
        {"dimension": "FIDELITY", "quote": "nowhere", "reason": "made up", "problem": "not_found"},
    ],
    "confidence": "high",
    "notes": "a note",
}


def judged(name: str, **changes: Any) -> JudgedRow:
    """A valid row with marks and quotes."""
    fields: dict[str, Any] = {
        "id": name,
        "judge": "m1",
        "status": Status.VALID,
        "response": "alpha beta gamma",
        "question": "Which?",
        "verdict": "PARTIAL",
        "score": 0.75,
        "target_model": "m2",
        "question_id": "Q1",
        "prompt_variant": "A",
        "fields": DETAIL,
    }
    return JudgedRow(**{**fields, **changes})


ROWS = (
    judged("Q1-A-m2"),
    judged("unusable", status=Status.INVALID, verdict=None, score=None, fields={}, raw_reply="{",
        flags=(Finding(Flag.UNPARSABLE_OUTPUT, "cut off"),)),
    judged("critical", verdict="critical_fail", score=0.0,
        fields={**DETAIL, "total": 0, "critical_fail": True, "critical_fail_reason": "names another lighthouse"}),
    judged("own", judge="m2", target_model="m2", is_control=True),
)  # fmt: skip


def page_report(*rows: JudgedRow, **changes: Any) -> ReportData:
    """A whole report."""
    counted = count_rows(RUN, {}, rows or ROWS)
    headline = changes.pop("headline", headline_of("m2", "m3"))
    agreement = changes.setdefault("agreement", AGREEMENT)
    scored = scored_report(**changes)
    return build_report(replace(counted, scored=scored, headline=headline, agreement=agreement))
