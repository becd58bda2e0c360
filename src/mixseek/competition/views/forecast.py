"""What a competition would ask of its judges, before anything is sent, in words and for programs."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field
from typing import Any

from mixseek.domain.documents import DocumentName, schema_id
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.sections import Section, sections_of, unbroken_lines


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
    lines.append("retries and re-asks come on top" if forecast.calls else "no judge has to be called")
    yield unbroken_lines(*lines, *(f"note: {remark}" for remark in forecast.remarks), is_indented=True)
