"""What a run would send, judge by judge, as plain data."""

from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Forecast:
    """One judge. In a cascade `calls` is an upper bound: earlier judges may decide. `cost_usd` None: price unknown."""

    judge: str
    calls: int
    cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    # The same calls in batches; None where the judge has none, or the price is unknown.
    batch_cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class DryRun:
    run: str
    samples: int
    pending: int
    is_upper_bound: bool
    forecasts: tuple[Forecast, ...]
