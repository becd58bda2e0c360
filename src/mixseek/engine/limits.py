"""How much may be asked of an endpoint at once and per minute. Pure arithmetic: time is an argument."""

from dataclasses import dataclass

# Begin with so many at once, where the caller allows more: the first round trip tells whether it was too much.
START_CALLS = 256
# A share of refusals up to this is noise of the endpoint; above it, fewer calls at once are tried.
_TOLERATED_SHARE = 0.1
# Where refusals cannot be helped, so many times their share is still no news.
_NO_NEWS = 1.5
# From here on most calls are refused: a wait that one of them was told to keep holds for all.
_BLOCKED_SHARE = 0.5
# Over how many answers the share is taken, where so many are in flight.
_SHARE_SPAN = 64
# Latency counts as unstable from this multiple of the best one: more calls at once would only queue there.
_LATENCY_RATIO = 2.5
_RECENT_WEIGHT = 0.05
# The best latency is forgotten slowly, so that an endpoint that became slower for good is not held down.
_BEST_DRIFT = 1.0005
# Fewer calls at once that bring so much of the goodput are as good; the rest is noise of the measurement.
_AS_GOOD = 0.95
# A limit is looked at for so many round trips, after the one that it takes to come into force.
_ROUND_TRIPS = 3.0
_LEAST_SUCCESSES = 16
# Between a limit that is too low and the best one, nothing is looked for any more from here on.
_CLOSE = 1.12
# Round trips for which a limit that was found is left alone; doubled each time that it turns out to be the best again.
_FIRST_HOLD, _LONGEST_HOLD = 24.0, 100.0
# A limit that nobody has looked at yet is no finding: an endpoint slow from the first call on shows no trouble.
_FIRST_LOOK = 2.0
# Without any trouble, so much of the limit is tried once in a while: an endpoint may be slower for being asked more.
_SECOND_LOOK = 0.8
_LOOK_UP = 1.25
_LONG_STEP = 0.75
# Where calls queue, so much more than what fits at the best latency is tried.
_ROOM = 1.1
_BURST_SECONDS = 1.0


@dataclass(slots=True)
class _Window:
    """What came back since a limit is in force."""

    since: float
    # When the first reply came to a call that met this limit; counted from there.
    begun: float | None = None
    successes: int = 0
    refusals: int = 0
    answering_seconds: float = 0.0

    @property
    def refused_share(self) -> float:
        answers = self.successes + self.refusals
        return self.refusals / answers if answers else 0.0


@dataclass(slots=True)
class _Search:
    """The lowest limit so far with the most goodput, and one that turned out too low."""

    first_limit: float
    best_limit: float
    goodput: float | None = None
    share: float = 0.0
    too_low: float | None = None
    # Nothing was wrong: it is only seen whether another limit is better by now.
    is_check: bool = False
    # More calls are tried, and stay if they bring more.
    is_upward: bool = False


class AdaptiveLimit:
    """Calls at once: doubled each round trip until there is trouble, then whatever brings the most replies a second.

    Refusals and latency only say when to look, goodput says what to do: as many calls are tried as the endpoint was
    seen to serve. Where they bring as many replies they stay; where they bring fewer, the limit goes back half the
    way. So a wall is found, and an endpoint that refuses by lot is not asked less for it.
    """

    def __init__(self, maximum: int, start: int = START_CALLS) -> None:
        self.maximum = maximum
        self._limit = float(max(1, min(start, maximum)))
        self._is_starting = True
        self._share = 0.0
        # Refusals that cannot be helped, as the last search found.
        self._known_share = 0.0
        self._recent: float | None = None
        self._best = float("inf")
        self._window = _Window(float("-inf"))
        self._search: _Search | None = None
        # Until when a limit that was found is left alone; None while it grows.
        self._held_until: float | None = None
        self._goodput = 0.0
        self._hold_round_trips = _FIRST_LOOK

    @property
    def calls(self) -> int:
        """How many may be in flight now."""
        return int(self._limit)

    @property
    def is_overloaded(self) -> bool:
        """Whether refusals are more than noise, or than what cannot be helped."""
        return self._share >= max(_TOLERATED_SHARE, _NO_NEWS * self._known_share)

    @property
    def is_blocked(self) -> bool:
        """Whether refusals are the rule: then a wait that one call was told to keep holds for all of them."""
        return self._share >= _BLOCKED_SHARE

    def succeeded(self, started_at: float, now: float) -> None:
        """Room for more, unless refusals or latency say that the endpoint has enough already."""
        latency = now - started_at
        self._recent = latency if self._recent is None else self._recent + _RECENT_WEIGHT * (latency - self._recent)
        self._best = min(self._best * _BEST_DRIFT, self._recent)
        self._take_note(0.0)
        window = self._window
        if window.begun is not None:
            window.successes += 1
            window.answering_seconds += latency
        elif started_at >= window.since:
            window.begun = now
        if self._search is not None:
            self._look(self._search, now)
        elif self.is_overloaded or (self._is_starting and self._is_queueing):
            self._begin_search(now)
        else:
            self._move_on(now)

    def overloaded(self, started_at: float, now: float) -> None:
        """Fewer are tried, if this is no exception."""
        self._take_note(1.0)
        if started_at >= self._window.since:
            self._window.refusals += 1
        if self._search is not None:
            self._look(self._search, now)
        elif self.is_overloaded:
            self._begin_search(now)

    @property
    def _is_queueing(self) -> bool:
        return self._recent is not None and self._recent > self._best * _LATENCY_RATIO

    def _take_note(self, is_refused: float) -> None:
        """One answer is one in so many as are in flight: of a single call at a time, the last one says everything."""
        self._share += (is_refused - self._share) / min(_SHARE_SPAN, max(1, self.calls))

    def _move_on(self, now: float) -> None:
        """Double, or hold what was found; in the end, see whether it is still the best."""
        if self._is_starting and self._held_until is None:
            self._limit = min(float(self.maximum), self._limit + 1.0)
            if self.calls < self.maximum:
                return
            self._hold(now)
        is_well_again = self._known_share > 0 and self._share < _TOLERATED_SHARE / 5
        if self._held_until is not None and now < self._held_until and not is_well_again:
            return
        if self._is_starting and self.calls < self.maximum:
            self._held_until, self._known_share = None, 0.0
        elif self.maximum > 1:
            self._begin_search(now, is_check=True)

    def _hold(self, now: float) -> None:
        self._held_until = now + self._hold_round_trips * (self._recent or 0.0)

    def _begin_search(self, now: float, *, is_check: bool = False) -> None:
        is_upward = is_check and self.calls < self.maximum
        self._search = _Search(self._limit, self._limit, is_check=is_check)
        if is_upward:
            self._search.goodput, self._search.share, self._search.is_upward = self._goodput, self._known_share, True
            self._limit = min(float(self.maximum), self._more())
        self._window = _Window(now)

    def _more(self) -> float:
        return max(self._limit + 1, self._limit * _LOOK_UP)

    def _look(self, search: _Search, now: float) -> None:
        """Whether enough has come back to judge this limit; then the next one is tried, or the best one kept."""
        window = self._window
        if window.begun is None:
            # Nothing but refusals, for longer than a reply takes.
            is_early = now - window.since < _ROUND_TRIPS * (self._recent or 0.0)
            if is_early or window.refusals < max(4, self.calls):
                return
            goodput = served = latency = 0.0
        elif search.goodput == 0.0:
            # It serves again: how much is found anew, and fast.
            self._search, self._held_until, self._is_starting, self._known_share = None, None, True, 0.0
            return
        else:
            seconds = now - window.begun
            is_too_few = window.successes < min(_LEAST_SUCCESSES, 4 * self.calls)
            if is_too_few and window.refusals < max(_LEAST_SUCCESSES, self.calls):
                return
            latency = window.answering_seconds / window.successes if window.successes else self._recent or 0.0
            if seconds < _ROUND_TRIPS * latency:
                return
            goodput, served = window.successes / seconds, window.answering_seconds / seconds
        following = self._judge(search, goodput, served, latency)
        if following is None:
            self._end_search(search, now)
        else:
            self._limit = min(float(self.maximum), max(1.0, following))
            self._window = _Window(now)

    def _judge(self, search: _Search, goodput: float, served: float, latency: float) -> float | None:
        """The limit to be tried next; None where the best one is found."""
        share = self._window.refused_share if goodput else 1.0
        if search.is_upward:
            if goodput * _AS_GOOD < (search.goodput or 0.0):
                return None
            search.best_limit, search.goodput, search.share = self._limit, goodput, share
            return self._more() if self.calls < self.maximum else None
        if search.goodput is None or goodput >= search.goodput * _AS_GOOD:
            # Much fewer calls that bring more: the step was so long that the best limit may lie in between.
            is_long_step = self._limit < search.best_limit * _LONG_STEP and share < _TOLERATED_SHARE
            search.is_upward = search.goodput is not None and is_long_step and goodput * _AS_GOOD > search.goodput
            search.best_limit, search.share = self._limit, share
            search.goodput = max(goodput, search.goodput or 0.0)
            if search.is_upward:
                return self._more()
        else:
            search.too_low = self._limit
        if int(search.best_limit) <= 1:
            return None
        if search.too_low is not None:
            is_found = search.best_limit <= max(search.too_low * _CLOSE, search.too_low + 1)
            return None if is_found else (search.best_limit * search.too_low) ** 0.5
        if not goodput:
            return self._limit / 2
        if share >= _TOLERATED_SHARE:
            return min(self._limit * _AS_GOOD, served)
        if latency > self._best * _LATENCY_RATIO:
            return min(self._limit * _AS_GOOD, _ROOM * goodput * self._best)
        return self._limit * _SECOND_LOOK if search.is_check else None

    def _end_search(self, search: _Search, now: float) -> None:
        is_same = int(search.best_limit) == int(search.first_limit)
        is_false_alarm = is_same and not search.is_check and search.share < _TOLERATED_SHARE
        self._limit = search.best_limit
        self._search = None
        self._window = _Window(now)
        self._goodput = search.goodput or 0.0
        self._known_share = search.share if search.share >= _TOLERATED_SHARE else 0.0
        self._share = min(self._share, search.share)
        # After a time in which nothing was served, what it serves is to be found anew, and fast.
        self._is_starting = not search.goodput or (self._is_starting and is_false_alarm)
        longer = max(_FIRST_HOLD, self._hold_round_trips * 2)
        self._hold_round_trips = min(_LONGEST_HOLD, longer) if is_same else _FIRST_HOLD
        if self._is_starting and search.goodput:
            self._held_until = None
        else:
            self._hold(now)


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
