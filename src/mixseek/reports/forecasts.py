"""What would be sent, before anything is sent, in words and for programs: said to be estimates."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from typing import Any

from mixseek.domain.documents import DocumentName, schema_id
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.sections import Section, sections_of, unbroken_lines
from mixseek.runs.dry_run import DryRun

_NO_CALL = "no judge has to be called"


def dry_run_document(dry: DryRun) -> dict[str, Any]:
    known = [forecast.cost_usd for forecast in dry.forecasts if forecast.cost_usd is not None]
    return {
        "schema": schema_id(DocumentName.DRY_RUN),
        **asdict(dry),
        "calls": sum(forecast.calls for forecast in dry.forecasts),
        "cost_usd": sum(known) if len(known) == len(dry.forecasts) else None,
        "is_estimate": True,
    }


@sections_of.register
def dry_run_sections(dry: DryRun) -> Iterator[Section]:
    yield unbroken_lines(f"{dry.run}: {dry.pending:,} of {dry.samples:,} samples to be judged; nothing was sent")
    most = "at most " if dry.is_upper_bound else ""
    lines = []
    for forecast in dry.forecasts:
        cost = "price unknown" if forecast.cost_usd is None else f"about {forecast.cost_usd:.4f} USD"
        lines.append(
            f"{forecast.judge}: {most}{forecast.calls:,} calls ({forecast.cached:,} more from the cache), about "
            f"{forecast.input_tokens:,} tokens in and {forecast.output_tokens:,} out, {cost}"
        )
    on_top = "tokens are estimated from characters; retries and re-asks come on top"
    yield unbroken_lines(*lines, on_top if lines else _NO_CALL, is_indented=True)


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


@sections_of.register
def forecast_sections(forecast: CompeteForecast) -> Iterator[Section]:
    rounds = f"{forecast.min_rounds} to {forecast.max_rounds} rounds"
    metrics = ", ".join(forecast.metrics)
    yield unbroken_lines(f"{forecast.execution}: {forecast.teams} teams, {rounds}, metrics {metrics}; nothing was sent")
    lines = [f"{call.judge}: {call.least:,} to {call.most:,} calls" for call in forecast.calls]
    lines.append("retries and re-asks come on top" if forecast.calls else _NO_CALL)
    yield unbroken_lines(*lines, *(f"note: {remark}" for remark in forecast.remarks), is_indented=True)
