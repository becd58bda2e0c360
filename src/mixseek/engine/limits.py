"""How much may be asked of an endpoint at once and per minute. Pure arithmetic: time is an argument."""

from dataclasses import dataclass

# Begin with so many at once, where the caller allows more: the first round trip tells whether it was too much.
START_CALLS = 256
# A share of refusals up to this is noise of the endpoint; above it, there are too many calls at once.
_TOLERATED_SHARE = 0.1
# From here on most calls are refused: a wait that one of them was told to keep holds for all.
_BLOCKED_SHARE = 0.5
# Halving that leaves so much of the share of refusals was in vain: they do not come from too many calls at once.
_UNMOVED = 0.67
# Down to this part of the limit at which it began, the share is that of the beginning.
_NEAR = 0.75
# Nothing is in vain where nearly everything is refused.
_HOPELESS_SHARE = 0.6
# Over how many answers the share is taken, where so many are in flight.
_SHARE_SPAN = 64
# An endpoint that refuses everything is left with this part of the calls, once a round trip.
_LEAST_KEPT = 0.5
# Growth in a round trip after the first overload, and never less than one call.
_GROWTH = 0.05
# Latency counts as unstable from this multiple of the best one: more calls at once would only queue there.
_LATENCY_RATIO = 2.5
_RECENT_WEIGHT = 0.05
# The best latency is forgotten slowly, so that an endpoint that became slower for good is not held down.
_BEST_DRIFT = 1.0005
_BURST_SECONDS = 1.0


class AdaptiveLimit:
    """Calls at once: doubled each round trip until the first overload, then a few more a round trip.

    Lowered by the share of answers that say "too many", as DCTCP does: a stray 429 among hundreds of good answers costs
    nothing, an endpoint that refuses every second call loses a quarter of them, one that refuses all of them half.
    Where half as many calls are refused as often as before, the endpoint refuses by lot, and the limit is what it was.
    """

    def __init__(self, maximum: int, start: int = START_CALLS) -> None:
        self.maximum = maximum
        self._limit = float(max(1, min(start, maximum)))
        self._is_starting = True
        self._share = 0.0
        self._tolerated = _TOLERATED_SHARE
        # The limit at which refusals became too many, and their largest share near it.
        self._first_limit: float | None = None
        self._first_share = 0.0
        self._lowered_at = float("-inf")
        self._before_lowering = self._limit
        self._recent: float | None = None
        self._best = float("inf")

    @property
    def calls(self) -> int:
        """How many may be in flight now."""
        return int(self._limit)

    @property
    def is_overloaded(self) -> bool:
        """Whether refusals are more than noise."""
        return self._share >= self._tolerated

    @property
    def is_blocked(self) -> bool:
        """Whether refusals are the rule: then a wait that one call was told to keep holds for all of them."""
        return self._share >= _BLOCKED_SHARE

    def succeeded(self, latency_seconds: float) -> None:
        """Room for more, unless refusals or latency say that the endpoint has enough already."""
        self._recent = (
            latency_seconds
            if self._recent is None
            else self._recent + _RECENT_WEIGHT * (latency_seconds - self._recent)
        )
        self._best = min(self._best * _BEST_DRIFT, self._recent)
        self._take_note(0.0)
        if self._recent > self._best * _LATENCY_RATIO:
            self._is_starting = False
            return
        if self.is_overloaded:
            return
        if self._share < _TOLERATED_SHARE / 5:
            self._tolerated, self._first_limit = _TOLERATED_SHARE, None
        growth = 1.0 if self._is_starting else max(1.0 / self._limit, _GROWTH)
        self._limit = min(float(self.maximum), self._limit + growth)

    def overloaded(self, started_at: float, now: float) -> None:
        """Fewer from now on, if this is no exception.

        Calls that began before the last lowering met the old limit: they can only deepen that lowering.
        """
        self._take_note(1.0)
        if not self.is_overloaded:
            return
        self._is_starting = False
        if started_at >= self._lowered_at:
            self._lowered_at = now
            self._before_lowering = self._limit
            if self._is_in_vain():
                return
        if self._first_limit is not None and self._before_lowering > self._first_limit * _NEAR:
            self._first_share = max(self._first_share, self._share)
        lowered = self._before_lowering * (1.0 - (1.0 - _LEAST_KEPT) * self._share)
        self._limit = max(1.0, min(self._limit, lowered))

    def _is_in_vain(self) -> bool:
        """Whether half as many calls are refused as often: then lowering ends, and the limit is what it was."""
        if self._first_limit is None:
            self._first_limit, self._first_share = self._limit, 0.0
        is_unmoved = self._share > self._first_share * _UNMOVED and self._first_share < _HOPELESS_SHARE
        if self._limit > self._first_limit / 2 or not is_unmoved:
            return False
        self._tolerated = min(_HOPELESS_SHARE, self._share * 1.5)
        self._limit, self._first_limit = self._first_limit, None
        return True

    def _take_note(self, is_refused: float) -> None:
        """One answer is one in so many as are in flight: of a single call at a time, the last one says everything."""
        self._share += (is_refused - self._share) / min(_SHARE_SPAN, max(1, self.calls))


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
