"""How much a judge decides from which confidence upwards, and what that risks: the curve, and the area below it.

one home of the formulas: Geifman & El-Yaniv 2017 (AURC)
"""

import math
from collections.abc import Iterable, Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Interval, jackknife, mean_over_questions, question_groups

# Thresholds of a curve that are shown; the area below it knows all of them.
MOST_POINTS = 20


@dataclass(frozen=True, slots=True)
class Decision:
    """How sure a judge is of its verdict, and what it risks: how far people disagree with it, 0 to 1."""

    confidence: float
    risk: float
    question: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """What is decided from that confidence upwards: its share of all, and how far people disagree with it."""

    threshold: float
    coverage: float
    risk: float
    labels: int
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """The area is the mean risk over all coverages: equal confidences are decided in no order, so it is that of a
    random one. `by_chance` is the area of a confidence that says nothing, `best` that of one that knows all."""

    points: tuple[RiskPoint, ...]
    area: float
    interval: Interval | None
    by_chance: float
    best: float


def risk_coverage(decisions: Sequence[Decision]) -> RiskCoverage:
    """The curve begins with the surest verdicts: how much is decided, and what that risks."""
    ordered = sorted(decisions, key=lambda decision: -decision.confidence)
    area = risk_area(ordered)
    numbers = {id(decision): number for number, group in enumerate(
        question_groups(ordered, lambda decision: decision.question)) for decision in group}  # fmt: skip
    without = [
        risk_area([decision for decision in ordered if numbers[id(decision)] != number])
        for number in range(max(numbers.values()) + 1)
    ]
    interval = jackknife(area, without)
    if interval is not None:
        interval = Interval(max(0.0, interval.low), interval.high, interval.level, interval.method)
    total = math.fsum(decision.weight for decision in decisions)
    overall = math.fsum(decision.weight * decision.risk for decision in decisions) / total
    # Whoever knows all decides first what nobody disputes.
    knowing = sorted(decisions, key=lambda decision: decision.risk)
    best = risk_area([Decision(-decision.risk, decision.risk, "", decision.weight) for decision in knowing])
    return RiskCoverage(tuple(_risk_points(ordered, total)), area or 0.0, interval, overall, best or 0.0)


def risk_area(ordered: Sequence[Decision]) -> float | None:
    """The mean of the risk over all coverages, one step a decision; those of one confidence share theirs."""
    total = math.fsum(decision.weight for decision in ordered)
    if not total:
        return None
    area = weight = risk = 0.0
    for group in equal_confidences(ordered):
        step = math.fsum(decision.weight for decision in group) / len(group)
        each = math.fsum(decision.weight * decision.risk for decision in group) / len(group)
        for _ in group:
            weight += step
            risk += each
            area += step * risk / weight
    return area / total


def equal_confidences(ordered: Sequence[Decision]) -> Iterable[Sequence[Decision]]:
    """Decisions of the same confidence together, in the order that they stand in."""
    start = 0
    for place in range(1, len(ordered) + 1):
        if place == len(ordered) or ordered[place].confidence != ordered[start].confidence:
            yield ordered[start:place]
            start = place


def _risk_points(ordered: Sequence[Decision], total: float) -> Iterable[RiskPoint]:
    """The curve at every confidence that there is, or at even shares of all where these are many."""
    ends, reached = [], 0
    for group in equal_confidences(ordered):
        reached += len(group)
        ends.append(reached)
    if len(ends) > MOST_POINTS:
        wanted = [math.ceil(len(ordered) * number / MOST_POINTS) for number in range(1, MOST_POINTS + 1)]
        ends = sorted({next(end for end in ends if end >= place) for place in wanted})
    for end in ends:
        decided = ordered[:end]
        risk, interval = mean_over_questions(
            [(decision.risk, decision.question, decision.weight) for decision in decided]
        )
        covered = math.fsum(decision.weight for decision in decided) / total
        yield RiskPoint(decided[-1].confidence, min(1.0, covered), risk, end, interval)
