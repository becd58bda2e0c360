"""What would be sent, before anything is sent, in words and for programs: said to be estimates."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from mixseek.domain.documents import DocumentName, schema_id
from mixseek.presentation.sections import Section, sections_of, unbroken_lines
from mixseek.reports.accounts import forecast_cost_text
from mixseek.runs.dry_run import DryRun


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
    lines = [
        f"{forecast.judge}: {most}{forecast.calls:,} calls ({forecast.cached:,} more from the cache), about "
        f"{forecast.input_tokens:,} tokens in and {forecast.output_tokens:,} out, {forecast_cost_text(forecast)}"
        for forecast in dry.forecasts
    ]
    on_top = "tokens are estimated from characters; retries and re-asks come on top"
    yield unbroken_lines(*lines, on_top if lines else "no judge has to be called", is_indented=True)
