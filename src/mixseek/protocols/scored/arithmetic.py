"""The arithmetic of a scored protocol: maxima, totals, verdicts, and the score between 0 and 1; no text is read."""

import math
from collections.abc import Collection, Mapping

from mixseek.protocols.scored.parameters import ScoredParameters

# Decimal scores such as 0.1 + 0.2 add up as decimals do on paper, not as binary fractions do.
TOLERANCE = 1e-9
# The verdict of a protocol that declares none.
SCORED = "scored"


def factors_of(parameters: ScoredParameters, task_type: str | None) -> dict[str, int | float]:
    """What each dimension counts for in the total: one, or its weight in the task type."""
    types = parameters.task_types.types if parameters.total.rule == "weighted_sum" else {}
    weights = types[task_type].weights if task_type in types else {}
    return {key: weights.get(key, 1) for key in parameters.dimensions}


def maxima_of(parameters: ScoredParameters, task_type: str | None) -> dict[str, int | float]:
    """The top of each dimension's scale; of any task type where the type is not known."""
    maximum = parameters.scale.maximum
    if maximum is not None:
        return dict.fromkeys(parameters.dimensions, maximum)
    types = parameters.task_types.types
    tables = [types[task_type].weights] if task_type in types else [declared.weights for declared in types.values()]
    return {key: max(table[key] for table in tables) for key in parameters.dimensions}


def total_of(parameters: ScoredParameters, scores: Mapping[str, int | float], task_type: str | None) -> int | float:
    """The total by the declared rule; whole where all scores and weights are."""
    terms = [factor * scores[key] for key, factor in factors_of(parameters, task_type).items()]
    return sum(terms) if all(isinstance(term, int) for term in terms) else math.fsum(terms)


def total_range(parameters: ScoredParameters, task_type: str | None) -> tuple[int | float, int | float]:
    """The lowest and the highest total; of any task type where the type is not known."""
    types = parameters.task_types.types
    if types and task_type not in types:
        bottoms, tops = zip(*(total_range(parameters, name) for name in types), strict=True)
        return min(bottoms), max(tops)
    lowest = dict.fromkeys(parameters.dimensions, parameters.scale.minimum)
    return (
        total_of(parameters, lowest, task_type),
        total_of(parameters, maxima_of(parameters, task_type), task_type),
    )


def verdict_of(
    parameters: ScoredParameters, scores: Mapping[str, int | float], total: int | float, failed: Collection[str]
) -> str:
    """The first rule whose conditions all hold; `failed` names the gates that did."""
    for word, rule in parameters.verdict.rules.items():
        if (
            (rule.at_most is None or total <= rule.at_most + TOLERANCE)
            and (rule.at_least is None or total >= rule.at_least - TOLERANCE)
            and all(scores[key] != 0 for key in rule.nonzero)
            and (not rule.gate or rule.gate in failed)
        ):
            return word
    return SCORED


def score_of(parameters: ScoredParameters, total: int | float, task_type: str | None) -> float:
    """The total's place between the lowest and the highest, 0..1, high is good."""
    lowest, highest = total_range(parameters, task_type)
    share = min(1.0, max(0.0, (total - lowest) / (highest - lowest)))
    return 1.0 - share if parameters.scale.direction == "lower_is_better" else share
