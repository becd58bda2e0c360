"""What an answer took, as its sample says: tokens, dollars, seconds; None where it does not say."""

import json
import math
from collections.abc import Mapping
from typing import Any

from mixseek.domain.samples import Sample
from mixseek.domain.steps import StepRole
from mixseek.lazy_dataclass import dataclass

# In the metadata of a sample, as `mixseek answer` writes it.
_USAGE, _COST, _LATENCY = "usage", "cost_usd", "latency_seconds"
# What goes in and what comes out, in the words of providers.
_TOKENS = (("input_tokens", "prompt_tokens"), ("output_tokens", "completion_tokens"))
# Nobody waits for what these say.
_INSTANT = (StepRole.SYSTEM, StepRole.USER)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, or what it is at least: not all that it is made of is known."""

    value: float
    is_whole: bool = True


def tokens_of(sample: Sample) -> Figure | None:
    """Tokens of input and output together; each alone is what there is at least."""
    usage = sample.metadata.get(_USAGE)
    if isinstance(usage, str):
        try:
            usage = json.loads(usage)
        except ValueError:
            return None
    if not isinstance(usage, Mapping):
        return None
    if (total := read_figure(usage.get("total_tokens"))) is not None:
        return Figure(total)
    parts = [next((read_figure(usage[name]) for name in names if name in usage), None) for names in _TOKENS]
    known = [part for part in parts if part is not None]
    return Figure(sum(known), len(known) == len(parts)) if known else None


def cost_of(sample: Sample) -> Figure | None:
    """What the answer cost in US dollars."""
    cost = read_figure(sample.metadata.get(_COST))
    return None if cost is None else Figure(cost)


def latency_of(sample: Sample) -> Figure | None:
    """What the sample says of itself, else the sum over its steps."""
    latency = read_figure(sample.metadata.get(_LATENCY))
    if latency is not None:
        return Figure(latency)
    lasting = [step.seconds for step in sample.steps if step.role not in _INSTANT or step.seconds is not None]
    known = [seconds for seconds in lasting if seconds is not None]
    return Figure(sum(known), len(known) == len(lasting)) if known else None


def read_figure(value: Any) -> float | None:
    """A number that is not negative, or the text of one: CSV has nothing better."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        return None
    return float(value)
