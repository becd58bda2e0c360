"""How many labels an interval of a given width needs, for one run."""

import math

from mixseek.analysis.labels.corrected import LEVEL, RIGHT, WRONG, CorrectedReport, scored_sums
from mixseek.domain.labels import WHOLE, LabelledRun, LabelScale
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.estimates import Drawing
from mixseek.stats.label_planning import (
    ASSUMED_AGREEMENT,
    GradedSpread,
    LabelPlan,
    PlannedVerdict,
    binary_width,
    graded_width,
    plan_labels,
    spread_of,
)


@dataclass(frozen=True, slots=True)
class PlanReport:
    """`verdicts` for right-or-wrong labels, `spread` for graded ones.

    `labelled` is how many labels there are, `drawn` how many of them a corrected number rests on: a plan is for a
    random draw, so labels of unknown drawing or from elsewhere are no part of it. `reached` is the half width of today.
    """

    run: str
    plan: LabelPlan
    scale: LabelScale
    labelled: int
    drawn: int
    reached: float | None
    verdicts: tuple[PlannedVerdict, ...] = ()
    spread: GradedSpread | None = None
    has_clusters: bool = False
    columns: tuple[str, ...] = ()  # what texts were drawn by before; more of them are drawn in the same way

    @property
    def more(self) -> int | None:
        """What is left to draw and label."""
        if self.plan.needed is None:
            return None
        left = max(0, self.plan.needed - self.drawn)
        if not left and self.reached is not None and self.reached > self.plan.half_width:
            # The plan was too hopeful: labels in proportion to the square of what the interval is too wide by.
            left = math.ceil(self.drawn * ((self.reached / self.plan.half_width) ** 2 - 1))
        return min(left, max(0, self.plan.items - self.drawn))


def build_plan(run: str, labelled: LabelledRun, report: CorrectedReport, half_width: float) -> PlanReport:
    """A plan from all labels of the run's texts, however they were drawn: a plan is a guess, not an estimate."""
    group, scale = report.whole, report.facts.scale
    effect = group.corrected.design_effect
    items = group.samples
    drawn = group.labelled if group.drawing in (Drawing.RANDOM, Drawing.WEIGHTED) else 0
    low, high = group.corrected.low, group.corrected.high
    reached = (high - low) / 2 if drawn and low is not None and high is not None else None
    known = (group.labelled, drawn, reached)
    if labelled.is_binary:
        verdicts = planned_verdicts(labelled)
        plan = plan_labels(binary_width(verdicts, items, LEVEL), items, half_width, effect)
        return PlanReport(run, plan, scale, *known, verdicts, None, bool(labelled.repeating), report.facts.columns)
    spread = spread_of(scored_sums(labelled))
    plan = plan_labels(graded_width(spread, items, LEVEL), items, half_width, effect)
    return PlanReport(run, plan, scale, *known, (), spread, bool(labelled.repeating), report.facts.columns)


def planned_verdicts(labelled: LabelledRun) -> tuple[PlannedVerdict, ...]:
    """What people will call right of each verdict: as they did so far, a little less sure; or as assumed."""
    cells = [cell for cell in labelled.cells if cell.group == WHOLE]
    items = sum(cell.items for cell in cells)
    assumed = {RIGHT: ASSUMED_AGREEMENT, WRONG: 1 - ASSUMED_AGREEMENT}
    verdicts = []
    for cell in cells:
        units = [unit for unit in labelled.labelled if unit.group == WHOLE and unit.cell == cell.cell]
        weight, positive = sum(unit.weight for unit in units), sum(unit.weight * unit.share for unit in units)
        # Jeffreys' prior: three right ones of three are no promise.
        share = (positive / weight * len(units) + 0.5) / (len(units) + 1) if units else assumed.get(cell.cell, 0.5)
        verdicts.append(PlannedVerdict(cell.cell, cell.items / items, share, len(units)))
    return tuple(verdicts)
