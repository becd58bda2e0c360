"""How many requests and tokens a minute an endpoint is asked for. Pure arithmetic: time is an argument."""

from mixseek.lazy_dataclass import dataclass

_BURST_SECONDS = 1.0


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
