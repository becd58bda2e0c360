"""All metrics of one submission, at once."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mixseek.engine.live import all_of
from mixseek.errors import ConfigurationError, MixseekError
from mixseek.evaluator.llm_metric import LLMJudgeMetric
from mixseek.evaluator.metric import BaseMetric
from mixseek.evaluator.models import (
    EvaluationRequest,
    EvaluationResult,
    MetricScore,
    MissingMetric,
    resolve_weights,
)

# For metrics that users bring: a judge has its own timeout, a hanging function has none.
DEFAULT_METRIC_SECONDS = 600.0


class Evaluator:
    """Metrics in the order of the configuration; one that fails is named as missing, and never weighed away."""

    def __init__(
        self,
        metrics: Sequence[BaseMetric],
        weights: Mapping[str, float | None] | None = None,
        *,
        metric_seconds: float = DEFAULT_METRIC_SECONDS,
    ) -> None:
        refuse_unclear_names([metric.name for metric in metrics], weights or {})
        given = {metric.name: (weights or {}).get(metric.name) for metric in metrics}
        self.metrics = tuple(metrics)
        self.weights = resolve_weights(given)
        self._metric_seconds = metric_seconds

    async def evaluate(self, request: EvaluationRequest) -> EvaluationResult:
        """Raises only what concerns more than this submission: a halt, a spent budget, a disk, a bad configuration."""
        results = await all_of([self._evaluate(metric, request) for metric in self.metrics])
        return EvaluationResult(tuple(results), self.weights)

    async def _evaluate(self, metric: BaseMetric, request: EvaluationRequest) -> MetricScore | MissingMetric:
        timer = asyncio.timeout(self._metric_seconds if is_foreign(metric) else None)
        try:
            async with timer:
                result = await metric.evaluate(request)
        except asyncio.CancelledError as error:
            # Its own doing, unless somebody cancels us.
            if is_cancelled():
                raise
            return MissingMetric(metric.name, describe_failure(error))
        # Whatever a user's metric raises loses that metric and nothing else: this is where foreign code comes in.
        except (Exception, SystemExit) as error:
            if isinstance(error, MixseekError) and not is_foreign(metric):
                raise
            if timer.expired():
                return MissingMetric(metric.name, f"no score within {self._metric_seconds:g} s")
            return MissingMetric(metric.name, describe_failure(error))
        return checked(metric, result)


def refuse_unclear_names(names: Sequence[str], weights: Mapping[str, float | None]) -> None:
    """Scores, weights and the board know a metric by its name: one name, one metric."""
    for name in names:
        if not name.strip():
            raise ConfigurationError("evaluator.metrics: a metric has no name; give it one")
        if names.count(name) > 1:
            raise ConfigurationError(f"evaluator.metrics: two metrics are called {name!r}; give one of them a name")
    for name in weights:
        if name not in names:
            raise ConfigurationError(f"evaluator.metrics: a weight for {name!r}, but there is {', '.join(names)}")


def is_cancelled() -> bool:
    """Whether the task that runs this is being cancelled from outside."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def is_foreign(metric: BaseMetric) -> bool:
    """Whether its code is not ours; what asks a judge has the judge's timeouts, whoever wrote it."""
    return not isinstance(metric, LLMJudgeMetric) and not type(metric).__module__.startswith("mixseek.")


def checked(metric: BaseMetric, result: object) -> MetricScore | MissingMetric:
    """What a metric may return, under its own name and direction."""
    match result:
        case MetricScore():
            problem = why_not_storable(result)
            if problem is not None:
                return MissingMetric(metric.name, problem, result.replies)
            return MetricScore(
                metric.name, result.score, result.comment, result.details, metric.direction, result.replies
            )
        case MissingMetric():
            return replace(result, name=metric.name)
        case _:
            return MissingMetric(metric.name, f"returned {type(result).__name__}, expected MetricScore")


def why_not_storable(result: MetricScore) -> str | None:
    """None for what the store can keep; a score whose details cannot be kept cannot be explained later."""
    comment: object = result.comment
    if not isinstance(comment, str):
        return f"its comment is {type(comment).__name__}, expected text"
    try:
        json.dumps(dict(result.details), allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        return f"its details are not plain JSON ({error})"
    return None


def describe_failure(error: BaseException) -> str:
    """One line."""
    said = " ".join(str(error).split())
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
