"""What would be sent, before anything is sent, in words and for programs: said to be estimates."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mixseek.domain.documents import DocumentName, schema_id
from mixseek.runs.dry_run import DryRun


def dry_run_document(dry: DryRun) -> dict[str, Any]:
    known = [one.cost_usd for one in dry.forecasts if one.cost_usd is not None]
    return {
        "schema": schema_id(DocumentName.DRY_RUN),
        **asdict(dry),
        "calls": sum(one.calls for one in dry.forecasts),
        "cost_usd": sum(known) if len(known) == len(dry.forecasts) else None,
        "is_estimate": True,
    }


def describe_dry_run(dry: DryRun) -> str:
    lines = [f"{dry.run}: {dry.pending:,} of {dry.samples:,} samples to be judged; nothing was sent"]
    most = "at most " if dry.is_upper_bound else ""
    for one in dry.forecasts:
        cost = "price unknown" if one.cost_usd is None else f"about {one.cost_usd:.4f} USD"
        lines.append(
            f"  {one.judge}: {most}{one.calls:,} calls ({one.cached:,} more from the cache), about "
            f"{one.input_tokens:,} tokens in and {one.output_tokens:,} out, {cost}"
        )
    if dry.forecasts:
        lines.append("  tokens are estimated from characters; retries and re-asks come on top")
    else:
        lines.append("  no judge has to be called")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class CallForecast:
    """Calls to one judge: as many as the fewest and the most rounds take, without retries and re-asks."""

    judge: str
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class CompeteForecast:
    execution: str
    teams: int
    metrics: tuple[str, ...]
    min_rounds: int
    max_rounds: int
    calls: tuple[CallForecast, ...]
    remarks: tuple[str, ...] = ()
    # By team: the metrics that its own model judges.
    self_judged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def forecast_document(forecast: CompeteForecast) -> dict[str, Any]:
    return {"schema": schema_id(DocumentName.COMPETE_DRY_RUN), **asdict(forecast), "is_estimate": True}


def describe_forecast(forecast: CompeteForecast) -> str:
    rounds = f"{forecast.min_rounds} to {forecast.max_rounds} rounds"
    metrics = ", ".join(forecast.metrics)
    lines = [f"{forecast.execution}: {forecast.teams} teams, {rounds}, metrics {metrics}; nothing was sent"]
    lines += [f"  {one.judge}: {one.least:,} to {one.most:,} calls" for one in forecast.calls]
    lines.append("  retries and re-asks come on top" if forecast.calls else "  no judge has to be called")
    lines += [f"  note: {remark}" for remark in forecast.remarks]
    return "\n".join(lines)
