"""How many labels an interval of a given width needs, before they are made: from labels so far, or from assumptions.

Right or wrong: estimator 1 at the counts to expect. Graded: estimator 2 with the spread of labels around the judges'
scores. Both for a plain random draw; docs/labels.md says what is assumed where nothing is known."""

import math
from collections.abc import Callable, Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.corrected import ASSURANCE, PairSums, expected_half_width, first_holding
from mixseek.stats.distributions import student_quantile
from mixseek.stats.estimates import FEWEST_LABELS

# What is assumed where nobody has labelled yet: people agree with so many verdicts, and are undecided about the rest.
ASSUMED_AGREEMENT = 0.8
# Of graded labels around the judges' scores, as a share of the scale: a judge that is off by a fifth of it, typically.
ASSUMED_RESIDUAL = 0.2
# Numbers of labels that a curve shows, as far as there are texts.
_LABELS_TRIED = (15, 25, 50, 75, 100, 150, 200, 300, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 10_000)


@dataclass(frozen=True, slots=True)
class PlannedVerdict:
    """Samples of one verdict: their share of all, the share that people will call right, and how many labels say so."""

    verdict: str
    weight: float
    share: float
    labels: int

    @property
    def is_assumed(self) -> bool:
        return not self.labels


@dataclass(frozen=True, slots=True)
class GradedSpread:
    """How labels lie around the judges' scores: `residual` is a standard deviation, all on a scale of 0..1."""

    slope: float
    residual: float
    score_spread: float  # standard deviation of the judges' scores
    labels: int

    @property
    def is_assumed(self) -> bool:
        return not self.labels


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """`needed` is None where not even all labels would do; `design_effect` is what clusters have shown so far."""

    items: int
    half_width: float
    needed: int | None
    curve: tuple[tuple[int, float], ...]
    design_effect: float = 1.0


def plan_labels(
    expected: Callable[[float], float], items: int, half_width: float, design_effect: float = 1.0
) -> LabelPlan:
    """`expected`: the half width to expect of so many independent labels; clustered ones are worth fewer."""

    def width(labels: int) -> float:
        return expected(max(2.0, labels / design_effect))

    steps = sorted({*(step for step in _LABELS_TRIED if step < items), items})
    curve = tuple((labels, width(labels)) for labels in steps)
    reached = first_holding(lambda labels: width(labels) <= half_width, FEWEST_LABELS, items)
    needed = None if reached is None else min(items, math.ceil(reached * ASSURANCE))
    return LabelPlan(items, half_width, needed, curve, design_effect)


def binary_width(verdicts: Sequence[PlannedVerdict], items: int, level: float = 0.95) -> Callable[[float], float]:
    """The half width to expect from a number of labels, by estimator 1."""
    shares = [(verdict.weight, verdict.share) for verdict in verdicts]
    return lambda labels: expected_half_width(shares, items, round(labels), level)


def graded_width(spread: GradedSpread, items: int, level: float = 0.95) -> Callable[[float], float]:
    """The half width of estimator 2; the judges' own mean of all items does not get better by labels."""

    def width(labels: float) -> float:
        variance = spread.residual**2 / labels + (spread.slope * spread.score_spread) ** 2 / items
        return student_quantile((1 + level) / 2, max(1, round(labels) - 2)) * math.sqrt(variance)

    return width


def spread_of(sums: PairSums) -> GradedSpread:
    """The spread as labels so far show it, or as assumed: fifteen of them are the fewest that say anything."""
    pool = math.sqrt(max(0.0, sums.ff - sums.f**2 / sums.items) / max(1, sums.items - 1)) if sums.items else 0.0
    if sums.labels < FEWEST_LABELS:
        return GradedSpread(1.0, ASSUMED_RESIDUAL, pool, 0)
    n = sums.labels
    total = max(0.0, sums.lyy - sums.ly**2 / n)
    explained = sums.slope * (sums.lfy - sums.lf * sums.ly / n)
    residual = math.sqrt(max(0.0, total - explained) / (n - 2))
    return GradedSpread(sums.slope, residual, pool, round(n))
