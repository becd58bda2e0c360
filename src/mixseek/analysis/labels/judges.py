"""Each judge against what people say: its verdicts on labelled samples, and how often it sees what they see."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from mixseek.analysis.labels.corrected import LEVEL, RIGHT, WRONG, ConfusionRow, JudgeAgainstPeople, JudgeShare
from mixseek.analysis.labels.units import JudgeCell, JudgeQuestions, LabelUnits
from mixseek.domain.counts import UnitSums
from mixseek.stats.estimates import Drawing
from mixseek.stats.intervals import Interval, unit_interval, wilson_interval, with_questions

# Labels that a judge is measured by: those whose drawing is known, where there are any. Others may have been looked for
# where judges fail; those that were are not asked at all.
_PREFERRED = (Drawing.WEIGHTED, Drawing.RANDOM, Drawing.ELSEWHERE)
_ORDER = {RIGHT: 0, WRONG: 1}


def judges_against_people(
    units: LabelUnits, judges: Sequence[str], names: Mapping[str, str], drawn: set[str]
) -> tuple[JudgeAgainstPeople, ...]:
    """Each of `judges` that has judged, after `join`; `names` are what a reader knows, `drawn` how labels were."""
    preferred = preferred_drawing(drawn)
    cells: dict[str, list[JudgeCell]] = defaultdict(list)
    for cell in units.judge_cells():
        cells[cell.judge].append(cell)
    questions: dict[tuple[str, float], list[JudgeQuestions]] = defaultdict(list)
    for part in units.judge_questions(preferred):
        questions[part.judge, part.share].append(part)
    return tuple(
        JudgeAgainstPeople(
            judge,
            names.get(judge, judge),
            tuple(
                _confusion_row(cell)
                for cell in sorted(cells[judge], key=lambda cell: (_ORDER.get(cell.cell, 2), cell.cell))
            ),
            _share_of(questions[judge, 1.0]),
            _reversed(_share_of(questions[judge, 0.0])),
            preferred or Drawing.UNKNOWN,
        )
        for judge in judges
        if judge in cells
    )


def preferred_drawing(drawn: set[str]) -> Drawing | None:
    """The kind of labels that judges are measured by; None where no drawing is known."""
    return next((drawing for drawing in _PREFERRED if drawing in drawn), None)


def _confusion_row(cell: JudgeCell) -> ConfusionRow:
    settled = cell.right + cell.wrong
    interval = wilson_interval(cell.right, settled, LEVEL) if settled else None
    return ConfusionRow(cell.cell, cell.samples, cell.right, cell.wrong, cell.disputed, interval)


def _share_of(parts: Sequence[JudgeQuestions]) -> JudgeShare | None:
    """How often the judge says correct, with questions as clusters; None without a label.

    Weighted labels count as many as their weights are worth (Kish).
    """
    labels = sum(part.labels * part.times for part in parts)
    weight = math.fsum(part.weight * part.times for part in parts)
    squares = math.fsum(part.squares * part.times for part in parts)
    if not labels:
        return None
    accepted = math.fsum(part.accepted * part.times for part in parts)
    # Where all weights are equal, this is exact.
    trials = labels if squares == labels else max(min(2, labels), int(weight * weight / squares))
    scale = trials / weight
    total = accepted * scale
    sums = UnitSums(labels, trials, trials, total, total, lowest=total, highest=total)
    sums = with_questions(sums, [(part.weight * scale, part.accepted * scale, part.times) for part in parts])
    return JudgeShare(accepted / weight, unit_interval(sums, LEVEL), labels, sums.questions)


def _reversed(share: JudgeShare | None) -> JudgeShare | None:
    """How often the judge does not say correct."""
    if share is None:
        return None
    limits = share.interval
    interval = Interval(1 - limits.high, 1 - limits.low, limits.level, limits.method) if limits else None
    return JudgeShare(1 - share.share, interval, share.labels, share.questions)
