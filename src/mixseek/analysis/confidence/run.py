"""How sure the judges of a run are: what their judgments say of it, and what labels make of that.

Shares of repeats and of a panel are no judgment's own: they are made here, where labels are there to hold them against.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mixseek.analysis.confidence.found import SureJudgment
from mixseek.analysis.labels.judges import preferred_drawing
from mixseek.analysis.labels.of_run import GatheredLabels, gather_labels, is_labelled, open_labelled
from mixseek.analysis.labels.units import LabelUnits
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.counts import ConfidenceSums
from mixseek.domain.labels import TextLabels
from mixseek.domain.panels import PanelRule
from mixseek.domain.people import APART
from mixseek.index.loading import INDEX, read_facts
from mixseek.index.panel import opinions
from mixseek.index.run import RunIndex
from mixseek.stats.calibration import Calibration, Forecast, calibrate
from mixseek.stats.confidence import JudgeConfidence
from mixseek.stats.estimates import Drawing
from mixseek.stats.expected import ScoredItem, compare_expected
from mixseek.stats.risk_coverage import Decision
from mixseek.storage.duckdb_session import fetch_all, read_statements
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace

_SQL = read_statements("mixseek.analysis.confidence", "confidence.sql")
# Who has the confidence that several judges make together.
PANEL = "panel"


def load_confidences(
    workspace: Workspace, run: RunDirectory, index: RunIndex, requested: PanelRule | None = None
) -> tuple[JudgeConfidence, ...]:
    """Each judge with each source of its confidences, under the names that a reader knows; nothing where no judgment
    says how sure it is, and no label shows what shares of repeats or of a panel are worth."""
    manifest = read_manifest(run.manifest)
    sums = index.counts(ConfidenceSums)
    lines = {(source.judge, source.source): _counted_line(source) for source in sums}
    is_panel = len(manifest.judge_names) > 1 and not manifest.cascade
    if (lines or index.facts.has_repeats or is_panel) and is_labelled(workspace, run):
        with open_labelled(workspace, run, requested) as units:
            gathered = gather_labels(workspace, run, units)
            if gathered.facts.texts:
                lines = _labelled_lines(units, gathered, lines, is_panel=is_panel)
    return tuple(_named(lines, index, manifest))


def _named(
    lines: Mapping[tuple[str, str], JudgeConfidence], index: RunIndex, manifest: Manifest
) -> list[JudgeConfidence]:
    """They stand in the order of the judges; what several of them make comes last."""
    names, order = index.judge_labels(manifest.judge_names), [*manifest.judge_names]
    places = {judge: number for number, judge in enumerate(order)}
    keys = sorted(lines, key=lambda key: (places.get(key[0], len(order)), key))
    return [replace(lines[key], judge=names.get(key[0], key[0])) for key in keys]


def _counted_line(count: ConfidenceSums) -> JudgeConfidence:
    return JudgeConfidence(
        count.judge,
        count.source,
        count.judgments,
        without=count.without,
        is_order=not count.probabilities,
        mean_confidence=count.mean_confidence,
        mean_given=count.mean_given,
        mean_expected=count.mean_expected,
    )


def _labelled_lines(
    units: LabelUnits,
    gathered: GatheredLabels,
    counted: Mapping[tuple[str, str], JudgeConfidence],
    *,
    is_panel: bool,
) -> dict[tuple[str, str], JudgeConfidence]:
    """The same with what labels say, and the shares of repeats and of all judges."""
    labelled = gathered.join(units)
    _make_sure(units, is_panel=is_panel)
    lines = dict(counted)
    for judge, source, judgments, confidence, given, expected in fetch_all(units.connection, _SQL["derived"], {}):
        lines[judge, source] = JudgeConfidence(
            judge, source, judgments, mean_confidence=confidence, mean_given=given, mean_expected=expected
        )
    drawing = preferred_drawing({unit.drawn for unit in labelled.labelled})
    parameters = {"drawn": drawing.value if drawing is not None else None}
    judgments_of: defaultdict[tuple[str, str], list[SureJudgment]] = defaultdict(list)
    for text, judge, source, weight, *fields in fetch_all(units.connection, _SQL["labelled"], parameters):
        judgment = SureJudgment(_each_label(gathered.by_text[text]), weight, *fields)
        judgments_of[judge, source].append(judgment)
    drawn = (drawing or Drawing.UNKNOWN).value
    return {key: with_labels(line, judgments_of.get(key, ()), drawn) for key, line in lines.items()}


def _make_sure(units: LabelUnits, *, is_panel: bool) -> None:
    """The table `sure`: one row a sample, judge and source."""
    facts = read_facts(units.connection)
    rule = PanelRule.MEDIAN if facts.is_graded else PanelRule.MAJORITY
    query = opinions(rule, INDEX, has_repeats=facts.has_repeats)
    shared = {"repeats": ConfidenceSource.REPEATS.value, "panel": ConfidenceSource.PANEL.value}
    parameters: dict[str, Any] = {"apart": APART, **shared}
    fetch_all(units.connection, _SQL["sure"].format(opinions=query), parameters)
    if is_panel:
        parameters = {"apart": APART, "panel": ConfidenceSource.PANEL.value, "name": PANEL}
        fetch_all(units.connection, _SQL["sure_panel"].format(opinions=query), parameters)


def _each_label(labels: TextLabels) -> tuple[float, ...]:
    """What each person says, or whoever settled their dispute."""
    if labels.adjudicated is not None:
        return (labels.adjudicated.share,)
    return tuple(label.share for label in (labels.counted or labels.by_rater).values())


def with_labels(line: JudgeConfidence, judgments: Sequence[SureJudgment], drawn: str | None) -> JudgeConfidence:
    """How often people say the same as a verdict, by how sure the judge was of it: a label that lies less than a
    quarter of the scale from the score is the same (`domain.people.APART`)."""
    forecasts, decisions, items = [], [], []
    for judgment in judgments:
        same = sum(abs(judgment.score - label) < APART for label in judgment.labels) / len(judgment.labels)
        decisions.append(Decision(judgment.confidence, 1 - same, judgment.question, judgment.weight))
        if judgment.is_probability:
            forecasts.append(Forecast(judgment.confidence, same, judgment.question, judgment.weight))
        if judgment.expected is not None:
            people = math.fsum(judgment.labels) / len(judgment.labels)
            items.append(
                ScoredItem(judgment.expected, judgment.score, None, people, judgment.question, judgment.weight)
            )
    calibration: Calibration = calibrate(forecasts, decisions)
    return replace(line, calibration=calibration, expected=compare_expected(items), drawing=drawn)
