"""One endpoint: who may call it now, what a failure means for the others, and when waiting is over."""

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn, TypeVar

from mixseek.domain.ports import Answer, Call, LiveJudge, Usage
from mixseek.errors import DeclinedError, FunctionJudgeError, MixseekError, PermanentJudgeError, TransientJudgeError

T = TypeVar("T")

# The one retry policy: what is tried again, after how long, and when it is enough. Pure.

# An endpoint that has answered is worth waiting for; one that never has is more likely misspelt, or not started.
PATIENCE_SECONDS, FIRST_PATIENCE_SECONDS = 600.0, 10.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter; `patience_seconds` is how long an endpoint may go without one success."""

    tries: int = 8
    first_delay_seconds: float = 0.5
    longest_delay_seconds: float = 30.0
    # Failures in a row, without a success in between, that mean: the endpoint is down, not the request unlucky.
    # Lower than `tries`, so that an outage is recognised before it costs a sample its reply.
    failures_until_down: int = 5
    first_probe_seconds: float = 1.0
    longest_probe_seconds: float = 10.0
    patience_seconds: float = PATIENCE_SECONDS
    # The same for one that has not answered yet, nothing being in flight that might; None: no other.
    first_patience_seconds: float | None = None

    @classmethod
    def of_patience(cls, seconds: float | None) -> "RetryPolicy":
        """As long as the user says from the first request on; where nothing is said, not long for a first answer."""
        if seconds is None:
            return cls(first_patience_seconds=FIRST_PATIENCE_SECONDS)
        return cls(patience_seconds=seconds)

    def delay_before_retry(self, failures: int, error: TransientJudgeError, jitter: float) -> float:
        """Seconds until the next try; `jitter` is in 0..1. What the endpoint named is kept, with a little on top."""
        backoff = min(self.longest_delay_seconds, self.first_delay_seconds * 2.0 ** min(failures - 1, 30))
        if error.retry_after_seconds is not None:
            return error.retry_after_seconds + jitter * self.first_delay_seconds
        # Never less than half: a retry at once meets what the first one met.
        return backoff * (0.5 + jitter / 2)

    def delay_before_probe(self, probes: int) -> float:
        """Seconds until a silent endpoint is tried again, after `probes` in vain."""
        return min(self.longest_probe_seconds, self.first_probe_seconds * 2.0 ** min(probes, 30))


# How much may be asked of an endpoint at once and per minute. Pure arithmetic: time is an argument.

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
_BURST_SECONDS = 1.0


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


# What a run may spend; the call that would go beyond is not made.

# Before the first bill nobody knows what a call costs: so much of the limit may be out at its estimate until then.
_UNBILLED_SHARE = 0.25
# Billed answers without a reply: as long as there was none, so many are expected still, but for a handful of calls.
_UNSEEN_LOSSES, _RISKED_CALLS = 3.0, 4
# Sums of binary fractions: a limit that is met to the cent is met.
_ROUNDING_USD = 1e-12


class BudgetSpentError(MixseekError):
    """A limit that the caller set is reached; what was begun is finished."""


class NotNowError(MixseekError):
    """Since it was booked, others cost more than was thought: it has to be booked again. Nothing has left."""


class Budget:
    """Requests sent and money spent: the one account, of which the report's is a copy.

    Money in flight is booked at its estimate, scaled by the dearest request so far, with repeats of answers that are
    billed without a reply. What does not fit beside it waits for those bills: the limit is used up as far as calls
    can be had for the rest, and passed only by what a request costs more than every one before it.
    """

    def __init__(self, max_calls: int | None = None, max_cost_usd: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_cost_usd = max_cost_usd
        # Whether anybody has to be told what a request will cost before it leaves.
        self.counts_money = max_cost_usd is not None
        self.calls = 0
        self.cost_usd = 0.0
        self.is_money_spent = False
        # Estimates of what is out; when calls turn out dearer, all of them do.
        self._booked_usd, self._bookings = 0.0, 0
        # Of these, the calls of which a request has left already.
        self._begun_usd, self._begun = 0.0, 0
        # What the dearest request cost of its estimate; None before the first bill.
        self._dearest: float | None = None
        self._bills = self._lost_bills = 0
        self._waiting: list[asyncio.Future[None]] = []

    def begin(self) -> None:
        """A request is about to leave; raises BudgetSpentError instead of letting one too many out."""
        if self._max_calls is not None and self.calls >= self._max_calls:
            raise BudgetSpentError(
                f"--max-calls {self._max_calls} is reached; run the same command with more to go on from here"
            )
        self.calls += 1

    async def book(self, expected_usd: float) -> None:
        """Set aside what a call may cost, until `settle`; BudgetSpentError where it cannot fit."""
        # Beside what has begun too, or whoever is told "not now" would come back at once, for ever.
        while not (
            self._fits(expected_usd, self._booked_usd, self._bookings)
            and self._fits(expected_usd, self._begun_usd, self._begun)
        ):
            if not self._bookings:
                self._end()
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
        self._booked_usd += expected_usd
        self._bookings += 1

    def leave(self, expected_usd: float, *, is_repeat: bool) -> None:
        """NotNowError for a request that has no room any more beside what has begun, BudgetSpentError for a repeat."""
        if not is_repeat:
            if not self._fits(expected_usd, self._begun_usd, self._begun):
                raise NotNowError("not now")
            self._begun_usd += expected_usd
            self._begun += 1
        elif self._max_cost_usd is not None and self._foreseen(self._begun_usd) > self._max_cost_usd + _ROUNDING_USD:
            self._end()

    def _end(self) -> NoReturn:
        self.is_money_spent = True
        raise BudgetSpentError(self.describe_spent())

    def _foreseen(self, expected_usd: float) -> float:
        return self.cost_usd + expected_usd * (1.0 if self._dearest is None else self._dearest)

    def _fits(self, expected_usd: float, others_usd: float, others: int) -> bool:
        """Whether it can be paid beside the others, with the repeats that all of them probably need."""
        if self._max_cost_usd is None:
            return True
        limit = (self._max_cost_usd + _ROUNDING_USD) * (_UNBILLED_SHARE if others and self._dearest is None else 1.0)
        repeats = self._repeats(others + 1) / (others + 1)
        return self._foreseen((others_usd + expected_usd) * (1 + repeats)) <= limit

    def _repeats(self, calls: int) -> float:
        """How many requests of so many calls may well be paid for and lost: likely ones, and twice the usual chance."""
        if not self._lost_bills:
            return max(0, calls - _RISKED_CALLS) * min(1.0, _UNSEEN_LOSSES / self._bills) if self._bills else 0.0
        likely = calls * self._lost_bills / max(1, self._bills - self._lost_bills)
        return max(1.0, likely + 2 * math.sqrt(likely))

    def charge(self, expected_usd: float, cost_usd: float, *, is_lost: bool = True) -> None:
        """The bill for an answer without a reply: the call goes on, and stays booked for its next request."""
        self._lost_bills += is_lost
        self._bills += 1
        self.cost_usd += cost_usd
        if expected_usd > 0:
            self._dearest = max(self._dearest or 0.0, cost_usd / expected_usd)

    def settle(self, expected_usd: float, cost_usd: float | None, *, has_begun: bool = False) -> None:
        """The bill for the reply, None where there is none or nobody knows it; `has_begun` says that a request left."""
        self._bookings -= 1
        self._begun -= has_begun
        # Exactly nothing when nothing is out, whatever the rounding.
        self._booked_usd = self._booked_usd - expected_usd if self._bookings else 0.0
        if has_begun:
            self._begun_usd = self._begun_usd - expected_usd if self._begun else 0.0
        if cost_usd is not None:
            self.charge(expected_usd, cost_usd, is_lost=False)
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    def describe_spent(self) -> str:
        """For a person, when all bills have come."""
        return (
            f"--max-cost {self._max_cost_usd:g} is reached ({self.cost_usd:.4f} USD spent by this command); "
            "run the same command with more to go on from here"
        )


class HaltedError(MixseekError):
    """The run is stopping: nothing new is begun. Not a failure of the sample that met it."""


class EndpointDownError(MixseekError):
    """An endpoint gave no sign of life for longer than the caller's patience."""


@dataclass(frozen=True, slots=True)
class Environment:
    """Time and chance as arguments."""

    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    draw: Callable[[], float]  # uniform in 0..1
    notify: Callable[[str], None]


@dataclass(slots=True)
class Attempts:
    """One call's requests: how many left, how many of its own failures, and what was billed without a reply."""

    tries: int = 0
    failures: int = 0
    lost: list[Usage] = field(default_factory=list)


class Endpoint:
    """Shared by every judge behind one address: their limit, their pauses and their luck are common."""

    def __init__(self, name: str, limit: AdaptiveLimit, policy: RetryPolicy, environment: Environment) -> None:
        self.name = name
        self.in_flight = 0
        self._limit = limit
        self._policy = policy
        self._environment = environment
        self._waiting: deque[asyncio.Future[bool]] = deque()
        self._resting: set[asyncio.Future[Any]] = set()
        self._alarm: asyncio.Future[None] | None = None
        self._is_halted = False
        self._paused_until = float("-inf")
        # The circuit breaker: open while the endpoint is taken for down.
        self._is_down = False
        self._is_probing = False
        self._probes = 0
        self._failures = 0
        # Which requests failed since the last success: one alone says nothing about the others.
        self._failed_requests: set[int] = set()
        self._failing_since: float | None = None
        # Whether there is something that speaks as an endpoint does, here or when this run was judged before.
        self.has_answered = False

    @asynccontextmanager
    async def turn(self) -> AsyncIterator["Turn"]:
        """A place among the calls in flight, first come first served; HaltedError when the run is stopping."""
        is_probe = await self._take_place()
        try:
            # The place is the call's, unless there was a halt since it was given.
            self._check_halt()
            yield Turn(self, is_probe)
        finally:
            self._leave(is_probe)

    def now(self) -> float:
        """Seconds on this endpoint's clock."""
        return self._environment.clock()

    async def rest(self, seconds: float) -> None:
        """Sleep that a halt ends."""
        self._check_halt()
        if seconds > 0:
            await self.unless_halted(self._environment.sleep(seconds))

    async def unless_halted(self, waited_for: Awaitable[T]) -> T:
        """What it brings; HaltedError where a halt comes first."""
        waiting = asyncio.ensure_future(waited_for)
        self._resting.add(waiting)
        try:
            return await waiting
        except asyncio.CancelledError:
            if self._is_halted:
                raise HaltedError("stopping") from None
            waiting.cancel()
            raise
        finally:
            self._resting.discard(waiting)

    def halt(self) -> None:
        """Nothing new leaves from now on; what is in flight may come back."""
        self._is_halted = True
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_exception(HaltedError("stopping"))
        self._waiting.clear()
        for resting in list(self._resting):
            resting.cancel()
        if self._alarm is not None:
            self._alarm.cancel()

    def _check_halt(self) -> None:
        if self._is_halted:
            raise HaltedError("stopping")

    async def _take_place(self) -> bool:
        """Wait for a place, first come first served; True when this call is the probe of an endpoint that is down."""
        self._check_halt()
        has_room = not self._waiting and not self._is_down and self.in_flight < self._limit.calls
        if has_room and self._paused_until <= self.now():
            # The usual case, without the cost of a queue.
            self.in_flight += 1
            return False
        place: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._dispatch()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._leave(place.result())
            raise

    def _dispatch(self) -> None:
        while self._waiting:
            if self._waiting[0].done():
                self._waiting.popleft()
                continue
            if self.in_flight >= (1 if self._is_down else self._limit.calls) or self._is_probing:
                return
            wait = self._paused_until - self.now()
            if wait > 0:
                self._wake_after(wait)
                return
            self.in_flight += 1
            self._is_probing = self._is_down
            self._waiting.popleft().set_result(self._is_down)

    def _wake_after(self, seconds: float) -> None:
        if self._alarm is not None and not self._alarm.done():
            return

        async def wake() -> None:
            await self._environment.sleep(seconds)
            self._alarm = None
            self._dispatch()

        self._alarm = asyncio.ensure_future(wake())

    def _leave(self, is_probe: bool) -> None:
        self.in_flight -= 1
        if is_probe:
            self._is_probing = False
        self._dispatch()

    def failed(self, error: TransientJudgeError, started: float, call: int, *, is_probe: bool) -> None:
        """A request brought nothing; EndpointDownError where that has been so for longer than the caller's patience."""
        now = self.now()
        self._failed_requests.add(call)
        if self._failing_since is None:
            self._failing_since = now
        if error.is_overload:
            # Busy, or loading its model: it is there.
            self.has_answered = True
            self._limit.overloaded(started, now)
        else:
            self._failures += 1
        # One refusal among many answers was told to one call; where refusals are the rule, it was told to all.
        if error.retry_after_seconds is not None and (self._limit.is_blocked or not error.is_overload):
            self._pause(now + error.retry_after_seconds)
        is_common = self._failures >= self._policy.failures_until_down and len(self._failed_requests) > 1
        if self._is_down or is_common:
            self._go_down(error, now, is_probe)
        waited = now - self._failing_since
        if waited >= self._first_patience() and self.in_flight <= 1:
            raise EndpointDownError(
                f"{self.name}: nothing has answered for {waited:.0f} s ({error}); correct the address, or start what "
                f"is to answer there; to wait for one that is still starting, add --patience {PATIENCE_SECONDS:.0f}"
            ) from error
        waited = max(now, self._paused_until) - self._failing_since
        if (self._is_down or error.is_overload) and waited >= self._policy.patience_seconds:
            asked = error.retry_after_seconds if self._paused_until > now else None
            told = f"no reply for {waited:.0f} s" if asked is None else f"asked to wait {asked:.0f} s"
            raise EndpointDownError(
                f"{self.name}: {told}, and --patience is {self._policy.patience_seconds:.0f} s "
                f"({error}); run the same command again to resume"
            ) from error

    def _go_down(self, error: TransientJudgeError, now: float, is_probe: bool) -> None:
        if not self._is_down:
            self._is_down, self._probes = True, 0
            patience = min(self._first_patience(), self._policy.patience_seconds)
            self._environment.notify(
                f"{self.name} does not answer ({error}); waiting for it, at most {patience:.0f} s (--patience)"
            )
        elif is_probe:
            self._probes += 1
        else:
            return
        self._pause(now + self._until_given_up(self._policy.delay_before_probe(self._probes)))

    def _first_patience(self) -> float:
        """Seconds for an endpoint of which nothing was ever heard; no limit of its own otherwise."""
        first = self._policy.first_patience_seconds
        return math.inf if first is None or self.has_answered else first

    def _until_given_up(self, delay: float) -> float:
        """The last try of an endpoint that never answered is when patience ends, not long after."""
        if self._failing_since is None:
            return delay
        return min(
            delay, max(self._failing_since + self._first_patience() - self.now(), self._policy.first_delay_seconds)
        )

    def _pause(self, until: float) -> None:
        self._paused_until = max(self._paused_until, until)

    def delay_before_retry(self, attempts: Attempts, error: TransientJudgeError) -> float:
        """Seconds; raises the error where a call has had its tries, or is told to wait beyond patience."""
        # While the endpoint is down, nobody's tries are counted out: it is not this request's fault.
        if not self._is_down and attempts.failures >= self._policy.tries:
            raise error
        delay = self._policy.delay_before_retry(max(1, attempts.failures), error, self._environment.draw())
        if delay > self._policy.patience_seconds:
            raise error
        return self._until_given_up(delay)

    def answered(self, started: float | None = None) -> None:
        """It lives; where a request that was started then has brought a reply, the limit is told."""
        if started is not None:
            self._limit.succeeded(started, self.now())
        self.has_answered = True
        self._failures = 0
        self._failed_requests.clear()
        self._failing_since = None
        if self._is_down:
            self._is_down = False
            self._paused_until = float("-inf")
            self._environment.notify(f"{self.name} answers again")
            self._dispatch()


@dataclass(slots=True)
class Turn:
    """One request's place at its endpoint."""

    endpoint: Endpoint
    is_probe: bool

    async def ask(self, judge: LiveJudge, call: Call, attempts: Attempts) -> Answer | float:
        """The answer, or the seconds to rest before the next turn; EndpointDownError beyond patience."""
        started = self.endpoint.now()
        attempts.tries += 1
        try:
            answer = await judge.call(call)
        except TransientJudgeError as error:
            attempts.failures += not error.is_overload
            if error.billed_tokens is not None:
                attempts.lost.append(Usage(*error.billed_tokens))
            self.endpoint.failed(error, started, id(call), is_probe=self.is_probe)
            return self.endpoint.delay_before_retry(attempts, error)
        except (PermanentJudgeError, FunctionJudgeError, DeclinedError):
            self.endpoint.answered()
            raise
        self.endpoint.answered(started)
        return answer
