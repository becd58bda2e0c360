"""How much may be asked of an endpoint at once and per minute. Pure arithmetic: time is an argument."""

from dataclasses import dataclass

# Begin with so many at once, where the caller allows more: the first round trip tells whether it was too much.
START_CALLS = 256
_DECREASE = 0.7
# Latency counts as unstable from this multiple of the best one: more calls at once would only queue there.
_LATENCY_RATIO = 2.5
_RECENT_WEIGHT = 0.05
# The best latency is forgotten slowly, so that an endpoint that became slower for good is not held down.
_BEST_DRIFT = 1.0005
_BURST_SECONDS = 1.0


class AdaptiveLimit:
    """Calls at once: doubled each round trip until the first overload, then one more a round trip (AIMD)."""

    def __init__(self, maximum: int, start: int = START_CALLS) -> None:
        self.maximum = maximum
        self._limit = float(max(1, min(start, maximum)))
        self._is_starting = True
        self._lowered_at = float("-inf")
        self._recent: float | None = None
        self._best = float("inf")

    @property
    def calls(self) -> int:
        """How many may be in flight now."""
        return int(self._limit)

    def succeeded(self, latency_seconds: float) -> None:
        """Room for more, unless latency says that the endpoint is queueing already."""
        self._recent = (
            latency_seconds
            if self._recent is None
            else self._recent + _RECENT_WEIGHT * (latency_seconds - self._recent)
        )
        self._best = min(self._best * _BEST_DRIFT, self._recent)
        if self._recent > self._best * _LATENCY_RATIO:
            self._is_starting = False
            return
        self._limit = min(float(self.maximum), self._limit + (1.0 if self._is_starting else 1.0 / self._limit))

    def overloaded(self, started_at: float, now: float) -> None:
        """Fewer from now on. Calls that began before the last lowering say nothing new: they met the old limit."""
        self._is_starting = False
        if started_at < self._lowered_at:
            return
        self._lowered_at = now
        self._limit = max(1.0, self._limit * _DECREASE)


@dataclass
class RateLimit:
    """So many units a minute, spread evenly, with one second's worth at once."""

    per_minute: int
    _next_at: float = float("-inf")

    def reserve(self, units: float, now: float) -> float:
        """Seconds to wait before these units may be used; they are booked from then on."""
        begin = max(self._next_at, now - _BURST_SECONDS)
        self._next_at = begin + units * 60.0 / self.per_minute
        return max(0.0, begin - now)

    def correct(self, units: float) -> None:
        """Book what was used beyond the reservation, or give back what was not."""
        self._next_at += units * 60.0 / self.per_minute
