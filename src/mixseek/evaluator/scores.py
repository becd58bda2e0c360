"""What is evaluated, and what comes of it: a score for each metric, or the name of what is missing."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.domain.judgments import Reply
from mixseek.domain.response_states import ResponseState, state_of_reason
from mixseek.domain.rounds import MAX_SCORE, check_name, check_round_number, check_score
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass

_SUM_TOLERANCE = 1e-6


class Direction(StrEnum):
    """Whether more of a metric is better; the overall score counts what is lower-is-better from the top."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """One submission and what it answers. The rest says whose it is; no judge is shown that."""

    user_query: str
    submission: str
    team_id: str = "team"
    round_number: int = 1
    # The model that wrote the submission, where one did: a protocol may have to know that judge and judged are one.
    target_model: str | None = None
    # The competition that it is part of; None where there is none.
    execution_id: str | None = None

    def __post_init__(self) -> None:
        for name in ("user_query", "submission", "team_id"):
            check_name(getattr(self, name), name)
        if self.execution_id is not None:
            check_name(self.execution_id, "execution_id")
        check_round_number(self.round_number)

    @property
    def author(self) -> str:
        """Who wrote the submission; a team that is no model is known by its own name."""
        return self.target_model or self.team_id

    @property
    def place(self) -> str:
        """Names the round; recorded replies are matched by it."""
        return f"{self.team_id}/{self.round_number}"


class Scale(NamedTuple):
    """What a metric's numbers run from and to; both ends belong to it."""

    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


POINTS = Scale(0.0, MAX_SCORE)


@dataclass(frozen=True, slots=True)
class MetricScore:
    """One metric's score on its own scale, as the metric counts; NaN, infinities and what is off it are refused."""

    name: str
    score: float
    comment: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    direction: Direction = Direction.HIGHER
    replies: tuple[Reply, ...] = ()
    scale: Scale = POINTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "score", check_score(self.score, *self.scale))

    @property
    def points(self) -> float:
        """0..100 where more is better, whichever way and on whichever scale the metric counts."""
        points = self.score
        if self.scale != POINTS:
            # 4.1 on 0..5 is 82 to a person and 81.99999999999999 in binary.
            points = round((self.score - self.scale.low) / self.scale.width * MAX_SCORE, 9)
        return points if self.direction is Direction.HIGHER else MAX_SCORE - points


@dataclass(frozen=True, slots=True)
class MissingMetric:
    """A metric that gave no score, and why; `is_permanent` where evaluating this submission again changes nothing."""

    name: str
    reason: str
    replies: tuple[Reply, ...] = ()
    is_permanent: bool = False
    # Its judge replied, and the reply cannot be used.
    is_invalid: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """All metrics in order. Without one there is no overall score: teams would be compared on different scales."""

    metrics: tuple[MetricScore | MissingMetric, ...]
    weights: Mapping[str, float]

    @property
    def scores(self) -> tuple[MetricScore, ...]:
        return tuple(metric for metric in self.metrics if isinstance(metric, MetricScore))

    @property
    def missing(self) -> tuple[MissingMetric, ...]:
        return tuple(metric for metric in self.metrics if isinstance(metric, MissingMetric))

    @property
    def overall_score(self) -> float | None:
        """The weighted mean of all metrics' points; None as soon as one is missing."""
        if self.missing or not self.scores:
            return None
        total = math.fsum(self.weights[metric.name] * metric.points for metric in self.scores)
        # Weights that sum to 1 only within tolerance must not lift a perfect score over the scale.
        return min(MAX_SCORE, max(0.0, total))

    def details(self) -> dict[str, Any]:
        """What the store keeps, as plain JSON."""
        return {
            "metrics": [
                {
                    "name": metric.name,
                    "score": metric.score,
                    "weight": self.weights[metric.name],
                    "direction": metric.direction.value,
                    "comment": metric.comment,
                    "details": dict(metric.details),
                }
                # Only where the score is not on 0..100 already.
                | ({} if metric.scale == POINTS else {"scale": list(metric.scale), "points": metric.points})
                for metric in self.scores
            ],
            "missing": [
                {"name": metric.name, "reason": metric.reason}
                | ({"permanent": True} if metric.is_permanent else {})
                | ({"invalid": True} if metric.is_invalid else {})
                for metric in self.missing
            ],
            "usage": usage_of([reply for metric in self.metrics for reply in metric.replies]),
        }


def resolve_weights(configured: Mapping[str, float | None]) -> dict[str, float]:
    """The weights as given when they sum to 1, or equal ones when none is given; anything else is refused."""
    without = [name for name, weight in configured.items() if weight is None]
    if len(without) == len(configured):
        return dict.fromkeys(configured, 1.0 / len(configured))
    if without:
        raise ConfigurationError(
            f"evaluator.metrics: {', '.join(without)} has no weight while others have; give all of them one, or none"
        )
    weights = {name: weight for name, weight in configured.items() if weight is not None}
    for name, weight in weights.items():
        if not (math.isfinite(weight) and 0 < weight <= 1):
            raise ConfigurationError(f"evaluator.metrics: weight of {name} is {weight:g}, expected above 0, at most 1")
    total = math.fsum(weights.values())
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise ConfigurationError(
            f"evaluator.metrics: weight sums to {total:g}, expected 1.0; adjust the weights or drop them all"
        )
    return weights


def usage_of(replies: Sequence[Reply]) -> dict[str, Any]:
    """Calls, tokens and cost of replies; `cost_usd` None says that the price of some call is not known.

    `masked_replies`: in which a key stood that the endpoint had repeated, the cached included.
    `cut_off_replies`: which a limit ended; what a team handed in is then only a part of what it had to say.
    """
    fresh = [reply for reply in replies if not reply.details.get("cached") and "usage" in reply.details]
    costs = [reply.details.get("cost_usd") for reply in fresh]
    known = [cost for cost in costs if isinstance(cost, int | float)]
    counts = [reply.details["usage"] for reply in fresh]
    return {
        "calls": len(fresh),
        "input_tokens": sum(count.get("input_tokens") or 0 for count in counts),
        "output_tokens": sum(count.get("output_tokens") or 0 for count in counts),
        "cost_usd": math.fsum(known) if len(known) == len(costs) else None,
        "masked_replies": sum("masked_keys_in" in reply.details for reply in replies),
        "cut_off_replies": sum(
            state_of_reason(reply.details.get("finish_reason")) is ResponseState.CUT_OFF for reply in replies
        ),
    }
