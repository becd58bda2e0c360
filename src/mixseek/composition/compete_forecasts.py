"""What a competition would ask, before it asks anything."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from mixseek.composition.catalogue import is_waited_for
from mixseek.composition.compete_parts import check_prices
from mixseek.composition.compete_plans import (
    CompetePlan,
    CompeteRequest,
    NobodyToAsk,
    make_compete_plan,
    make_evaluator,
)
from mixseek.evaluator.llm_metric import LLMJudgeMetric
from mixseek.evaluator.protocol_metric import ProtocolMetric
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.settings.import_paths import importable_from


@dataclass(frozen=True, slots=True)
class CallForecast:
    """Calls to one judge: as many as the fewest and the most rounds take, without retries and re-asks."""

    judge: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class CompeteForecast:
    """Everything that `--dry-run` shows."""

    execution: str
    teams: int
    metrics: tuple[str, ...]
    min_rounds: int
    max_rounds: int
    calls: tuple[CallForecast, ...]
    remarks: tuple[str, ...] = ()


def forecast_competition(request: CompeteRequest) -> CompeteForecast:
    """Checks the whole race; sends nothing and writes nothing."""
    plan = make_compete_plan(request)
    check_prices(plan)
    file, rules = plan.race.file, plan.rules
    least = count_calls(plan, rules.min_rounds)
    most = count_calls(plan, rules.max_rounds)
    calls = tuple(
        CallForecast(judge.name, least[judge.name], most[judge.name]) for judge in plan.judges if is_waited_for(judge)
    )
    names = tuple(metric.shown_name for metric in file.evaluator.metrics)
    return CompeteForecast(
        plan.execution_id, len(file.teams), names, rules.min_rounds, rules.max_rounds, calls, tuple(plan.remarks)
    )


def count_calls(plan: CompetePlan, rounds: int) -> Counter[str]:
    """By judge, when every team plays so many rounds."""
    file, calls = plan.race.file, Counter[str]()
    for team in file.teams:
        if team.model is not None:
            calls[team.model] += rounds
    with importable_from(plan.race.directory):
        evaluator = make_evaluator(plan, NobodyToAsk(), UserPromptBuilder(settings=plan.prompts))
    for metric, table in zip(evaluator.metrics, file.evaluator.metrics, strict=True):
        judge = table.judge or file.evaluator.judge
        if isinstance(metric, LLMJudgeMetric | ProtocolMetric) and judge is not None:
            calls[judge] += rounds * len(file.teams)
    if file.judgment is not None:
        # From the minimum on; after the very last round only for the sake of its opinion.
        asked = rounds - file.rounds.min + 1
        if rounds == file.rounds.max and not file.judgment.after_last_round:
            asked -= 1
        calls[file.judgment.judge] += asked * len(file.teams)
    return calls


def forecast_document(forecast: CompeteForecast) -> dict[str, Any]:
    """For programs."""
    return {**asdict(forecast), "is_estimate": True}


def describe_forecast(forecast: CompeteForecast) -> str:
    """A few lines for a person."""
    rounds = f"{forecast.min_rounds} to {forecast.max_rounds} rounds"
    metrics = ", ".join(forecast.metrics)
    lines = [f"{forecast.execution}: {forecast.teams} teams, {rounds}, metrics {metrics}; nothing was sent"]
    lines += [f"  {one.judge}: {one.least:,} to {one.most:,} calls" for one in forecast.calls]
    lines.append("  retries and re-asks come on top" if forecast.calls else "  no judge has to be called")
    lines += [f"  note: {remark}" for remark in forecast.remarks]
    return "\n".join(lines)
