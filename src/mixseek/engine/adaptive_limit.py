"""How many calls an endpoint takes at once, found out while it is asked. Pure arithmetic: time is an argument."""

import math
from collections.abc import Mapping
from typing import NamedTuple

from mixseek.lazy_dataclass import dataclass

# Begin with so many at once, where the caller allows more: the first round trip tells whether it was too much.
START_CALLS = 256
# A share of refusals up to this is noise of the endpoint; above it, or above twice what is known not to be helped by
# asking less, another limit is looked for.
_TOLERATED_SHARE = 0.1
_NO_NEWS = 2.0
# From here on most calls are refused: a wait that one of them was told to keep holds for all.
_BLOCKED_SHARE = 0.5
# Over how many answers the share is taken, where so many are in flight.
_SHARE_SPAN = 64
# While the limit grows, this multiple of the best latency says that more calls would only queue.
_LATENCY_RATIO = 2.5
_RECENT_WEIGHT = 0.05
# The best latency is forgotten slowly, so that an endpoint that became slower for good is not held down.
_BEST_DRIFT = 1.0005
# Fewer calls at once that bring so much of the goodput are as good; the rest is noise of the measurement.
_AS_GOOD = 0.97
# A refusal costs the endpoint and us something: of two limits that bring as much, the one with fewer is better.
_PRICE_OF_REFUSALS = 0.08
# A limit is looked at for so many round trips, or replies; from the first reply to a call that met it.
_ROUND_TRIPS = 3.0
_MANY_REPLIES, _FEWEST_REPLIES = 384, 48
# Neighbours of the best limit that are tried, and how near they must be: nearer above, where looking costs little.
_FEWER, _MORE, _CLOSE, _NEAR = 0.8, 1.2, 1.26, 1.1
# A latency below this share of another is less; the rest is noise.
_SOONER = 0.9
# Round trips for which a limit that was found is left alone; doubled each time that it turns out to be the best again.
_FIRST_HOLD, _LONGEST_HOLD = 24.0, 96.0
# A limit that nobody has looked at yet is no finding: an endpoint slow from the first call on shows no trouble.
_FIRST_LOOK = 1.0


@dataclass(slots=True)
class _Window:
    """What came back since a limit is in force."""

    since: float
    # When the first reply came to a call that met this limit; counted from there.
    begun: float | None = None
    replies: int = 0
    refusals: int = 0
    answering_seconds: float = 0.0


class Look(NamedTuple):
    """What a limit was seen to bring; `worth` is replies a second, less the price of refusals."""

    worth: float
    refused_share: float
    latency_seconds: float


def best_limit(looks: Mapping[int, Look]) -> int:
    """The lowest one that brings as much as any."""
    enough = max(look.worth for look in looks.values()) * _AS_GOOD
    return min(limit for limit, look in looks.items() if look.worth >= enough)


def next_limit(looks: Mapping[int, Look], served: float, maximum: int) -> int | None:
    """The limit to be tried next, given what others brought; None where the best one is known well enough.

    `served` calls at once would have brought the last goodput, had each been answered as fast as the fastest. Steps
    become longer as long as each is of use.
    """
    best = best_limit(looks)
    if not looks[best].worth:
        return best // 2 or None
    below = max((limit for limit in looks if limit < best), default=0)
    above = min((limit for limit in looks if limit > best), default=0)
    is_far_above = above > 2 * best
    # Where fewer calls were answered no sooner and none refused, still fewer bring less by as much.
    is_just_enough = (
        above > 0
        and looks[best].refused_share < _TOLERATED_SHARE
        and looks[best].latency_seconds > looks[above].latency_seconds * _SOONER
    )
    if not below and best > 1 and not is_far_above and not is_just_enough:
        step = _FEWER * (best / above if above else 1.0)
        return max(1, min(best - 1, round(best * step), math.ceil(served)))
    if above > max(best * _NEAR, best + 1):
        return round(min(best * _MORE, math.sqrt(best * above)))
    if below and best > max(below * _CLOSE, below + 1) and not is_just_enough:
        return round(math.sqrt(best * below))
    if not above and best < maximum:
        is_climbing = len(looks) > 1 and best == list(looks)[-1]
        return min(maximum, max(best + 1, round(best * _MORE * (min(2.0, best / below) if is_climbing else 1.0))))
    return None


class AdaptiveLimit:
    """Calls at once: doubled each round trip until there is trouble, then whatever brings the most replies a second.

    Refusals and latency only say when to look. Goodput says what to do: limits are tried, each for a few round trips,
    until the best one lies between two that are worse. So a wall is found, and an endpoint that refuses by lot is not
    asked less for it.
    """

    def __init__(self, maximum: int, start: int = START_CALLS) -> None:
        self.maximum = maximum
        # How many may be in flight now.
        self.calls = max(1, min(start, maximum))
        self._is_growing = True
        self._share = 0.0
        # Refusals that cannot be helped, as the last search found.
        self._known_share = 0.0
        self._recent = 0.0
        self._best = float("inf")
        self._window = _Window(float("-inf"))
        # What each limit brought while the best one is searched for; None while one is kept.
        self._tried: dict[int, Look] | None = None
        # Whether the last limit that was looked at brought nothing at all.
        self._is_silent = False
        self._limit_before = self.calls
        self._held_until = float("inf")
        self._hold_round_trips = _FIRST_LOOK

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
        self._recent = self._recent + _RECENT_WEIGHT * (latency - self._recent) if self._recent else latency
        self._best = min(self._best * _BEST_DRIFT, self._recent)
        self._take_note(0.0)
        window = self._window
        if window.begun is not None:
            window.replies += 1
            window.answering_seconds += latency
        elif started_at >= window.since:
            window.begun = now
        self._move_on(now)

    def overloaded(self, started_at: float, now: float) -> None:
        """Fewer are tried, if this is no exception."""
        self._take_note(1.0)
        if started_at >= self._window.since:
            self._window.refusals += 1
        if self._tried is not None or self.is_overloaded:
            self._move_on(now)

    def _take_note(self, is_refused: float) -> None:
        """One answer is one in so many as are in flight: of a single call at a time, the last one says everything."""
        self._share += (is_refused - self._share) / min(_SHARE_SPAN, self.calls)

    def _move_on(self, now: float) -> None:
        is_queueing = self._is_growing and self._recent > self._best * _LATENCY_RATIO
        # What a limit before this one met is not this one's.
        is_news = now - self._window.since > 2 * self._recent
        if self._tried is not None:
            self._look(self._tried, now)
        elif is_queueing or (self.is_overloaded and is_news):
            self._begin_search(now)
        elif self._is_growing:
            self.calls = min(self.maximum, self.calls + 1)
            if self.calls == self.maximum:
                self._is_growing = False
                self._held_until = now + self._hold_round_trips * self._recent
        elif now >= self._held_until and self.maximum > 1:
            self._begin_search(now)

    def _begin_search(self, now: float) -> None:
        self._is_growing = False
        self._tried = {}
        self._limit_before = self.calls
        self._window = _Window(now)

    def _look(self, tried: dict[int, Look], now: float) -> None:
        """Whether enough has come back to judge this limit; then the next one is tried, or the best one kept."""
        window, latency = self._window, self._recent
        if window.begun is None:
            # Nothing but refusals, for longer than a reply takes.
            if now - window.since < _ROUND_TRIPS * self._recent or window.refusals < max(4, self.calls):
                return
            goodput = 0.0
        elif self._is_silent:
            # It serves again: how much is found anew, and fast.
            self._tried, self._is_growing, self._is_silent = None, True, False
            self._share, self._known_share, self._best = 0.0, 0.0, self._recent
            return
        else:
            is_few = window.replies < min(_FEWEST_REPLIES, 12 * self.calls)
            if is_few and window.refusals < max(_FEWEST_REPLIES, self.calls):
                return
            seconds = now - window.begun
            latency = window.answering_seconds / window.replies if window.replies else latency
            if seconds < latency * (1.0 if window.replies >= _MANY_REPLIES else _ROUND_TRIPS):
                return
            goodput = window.replies / seconds
        self._is_silent = goodput == 0.0
        share = window.refusals / (window.replies + window.refusals)
        tried[self.calls] = Look(goodput * (1 - _PRICE_OF_REFUSALS * share), share, latency)
        following = next_limit(tried, goodput * self._best, self.maximum)
        self._window = _Window(now)
        if following is None:
            self._end_search(tried, now)
        else:
            self.calls = following

    def _end_search(self, tried: dict[int, Look], now: float) -> None:
        self.calls = best_limit(tried)
        self._tried = None
        share = tried[self.calls].refused_share
        self._known_share = share if share >= _TOLERATED_SHARE else 0.0
        self._share = min(self._share, share)
        is_same = abs(self.calls - self._limit_before) <= max(1, self._limit_before * (1 - _FEWER) / 2)
        longer = max(_FIRST_HOLD, 2 * self._hold_round_trips) if is_same else _FIRST_HOLD
        self._hold_round_trips = min(_LONGEST_HOLD, longer)
        self._held_until = now + self._hold_round_trips * self._recent
