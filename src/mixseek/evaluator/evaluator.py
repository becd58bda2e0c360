"""Metrics by name, and the evaluator that weighs them into one score."""

import asyncio
import difflib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mixseek.engine.endings import all_of
from mixseek.errors import ConfigurationError, MixseekError
from mixseek.evaluator.metrics import (
    BaseMetric,
    ClarityCoherence,
    Coverage,
    JudgeBench,
    LLMJudgeMetric,
    LLMPlain,
    MetricSetting,
    ProtocolMetric,
    Relevance,
)
from mixseek.evaluator.scores import (
    EvaluationRequest,
    EvaluationResult,
    MetricScore,
    MissingMetric,
    Scale,
    resolve_weights,
)
from mixseek.protocols.registry import load_protocol, names_version, protocol_names
from mixseek.settings.load import is_import_path, load_object

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
        self.metrics = check_metrics(metrics)
        self.weights = resolve_weights(weights_of([metric.name for metric in metrics], weights or {}))
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
            task = asyncio.current_task()
            if task is not None and task.cancelling():
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


def check_metrics(metrics: Sequence[BaseMetric]) -> tuple[BaseMetric, ...]:
    """Raises ConfigurationError for none at all, for a name that is blank or given twice, and for a scale that is none.

    Weights and scores go by name: two metrics of one name would both count with the weight of one.
    """
    names = [metric.name for metric in metrics]
    if not names:
        raise ConfigurationError("evaluator.metrics: there is none; an evaluator needs at least one metric")
    for metric in metrics:
        if not metric.name.strip():
            raise ConfigurationError(f"evaluator.metrics: a {type(metric).__name__} has no name; give it one")
        if names.count(metric.name) > 1:
            raise ConfigurationError(
                f"evaluator.metrics: two metrics are called {metric.name!r}; give one of them another name"
            )
        if not is_scale(metric.scale):
            raise ConfigurationError(
                f"metric {metric.name}: its scale is {metric.scale!r}, expected two numbers, the lower one first"
            )
    return tuple(metrics)


def is_scale(scale: object) -> bool:
    """A scale is declared in the user's code, where anything may stand."""
    if not isinstance(scale, tuple | list) or len(scale) != 2:
        return False
    numbers = [
        end for end in scale if isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end)
    ]
    return len(numbers) == 2 and numbers[0] < numbers[1]


def weights_of(names: Sequence[str], weights: Mapping[str, float | None]) -> dict[str, float | None]:
    """The weight that each metric was given; raises ConfigurationError for one that no metric would have."""
    strangers = [name for name, weight in weights.items() if weight is not None and name not in names]
    if strangers:
        raise ConfigurationError(
            f"evaluator.metrics: a weight is given to {strangers[0]!r}, which is none of {', '.join(names)}"
        )
    return {name: weights.get(name) for name in names}


def is_foreign(metric: BaseMetric) -> bool:
    """Whether its code is not ours; what asks a judge has the judge's timeouts, whoever wrote it."""
    return not isinstance(metric, LLMJudgeMetric) and not type(metric).__module__.startswith("mixseek.")


def checked(metric: BaseMetric, result: object) -> MetricScore | MissingMetric:
    """What a metric may return, under its own name and direction and on its own scale."""
    match result:
        case MetricScore():
            problem = why_not_storable(result)
            if problem is not None:
                return MissingMetric(metric.name, problem, result.replies)
            try:
                return replace(result, name=metric.name, direction=metric.direction, scale=Scale(*metric.scale))
            except ValueError as error:
                # A MetricScore that the metric made by itself, without its own scale.
                return MissingMetric(metric.name, describe_failure(error), result.replies)
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
    """Its kind and what it said, as one line."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


BUILT_IN: Mapping[str, type[LLMJudgeMetric]] = {
    kind.__name__: kind for kind in (ClarityCoherence, Coverage, Relevance, LLMPlain)
}
PROTOCOL_PREFIX = "protocol:"


def make_metric(kind: str, setting: MetricSetting, bench: JudgeBench, language: str | None = None) -> BaseMetric:
    """Raises ConfigurationError for what cannot work; `language` is for a protocol of ours, None for its own."""
    where = f"metric {setting.name}"
    if kind in BUILT_IN:
        # A built-in is what it is; only the plain one is in the user's words.
        if setting.options and kind != "LLMPlain":
            got = next(iter(setting.options))
            raise ConfigurationError(
                f"{where}: {kind} takes no options (got {got!r}); use LLMPlain for criteria of your own"
            )
        return BUILT_IN[kind](setting, bench)
    if kind in protocol_names() or names_version(kind) or kind.startswith(PROTOCOL_PREFIX):
        name = kind.removeprefix(PROTOCOL_PREFIX)
        protocol = load_protocol(name, language if name.partition("@")[0] in protocol_names() else None)
        return ProtocolMetric(setting, protocol, bench.asker, bench.judge)
    if is_import_path(kind):
        return make_foreign(kind, load_object(kind, where), setting, bench)
    known = [*BUILT_IN, *protocol_names()]
    close = difflib.get_close_matches(kind, known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ConfigurationError(
        f"{where}: unknown type {kind!r}; {hint}available: {', '.join(known)}, {PROTOCOL_PREFIX}FILE.toml, "
        "or package.module:Class"
    )


def make_foreign(path: str, loaded: object, setting: MetricSetting, bench: JudgeBench) -> BaseMetric:
    """A class of the user's, made; an LLM metric also gets its judge."""
    where = f"metric {setting.name}"
    if not isinstance(loaded, type) or not issubclass(loaded, BaseMetric):
        raise ConfigurationError(f"{where}: {path} is not a subclass of mixseek.evaluator.metrics:BaseMetric")
    try:
        return loaded(setting, bench) if issubclass(loaded, LLMJudgeMetric) else loaded(setting)
    except ConfigurationError:
        raise
    # The user's own constructor may fail in any way there is.
    except Exception as error:
        raise ConfigurationError(f"{where}: {path} cannot be made ({describe_failure(error)})") from error
