"""One endpoint: who may call it now, what a failure means for the others, and when waiting is over."""

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import Any, Self, TypeVar

from mixseek.domain.ports import Answer, Call, LiveJudge, Usage
from mixseek.engine.adaptive_limit import AdaptiveLimit
from mixseek.engine.retry import PATIENCE_SECONDS, RetryPolicy
from mixseek.errors import DeclinedError, FunctionJudgeError, MixseekError, PermanentJudgeError, TransientJudgeError
from mixseek.lazy_dataclass import dataclass

T = TypeVar("T")


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

    def turn(self) -> "Turn":
        """A place among the calls in flight, first come first served; HaltedError when the run is stopping."""
        return Turn(self)

    def now(self) -> float:
        """Seconds on this endpoint's clock."""
        return self._environment.clock()

    async def rest(self, seconds: float) -> None:
        """Sleep that a halt ends."""
        self.check_halt()
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

    def reopen(self) -> None:
        """Undoes a halt, for another look at the same samples."""
        self._is_halted = False

    def check_halt(self) -> None:
        """HaltedError when the run is stopping."""
        if self._is_halted:
            raise HaltedError("stopping")

    async def take_place(self) -> bool:
        """Wait for a place, first come first served; True when this call is the probe of an endpoint that is down."""
        self.check_halt()
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
                self.leave(place.result())
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

    def leave(self, is_probe: bool) -> None:
        """Give a place that was taken to whoever waits for one."""
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
            reason = f"no reply for {waited:.0f} s" if asked is None else f"asked to wait {asked:.0f} s"
            raise EndpointDownError(
                f"{self.name}: {reason}, and --patience is {self._policy.patience_seconds:.0f} s "
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
    """One request's place at its endpoint, for as long as the block lasts.

    A class, because a generator that is made into a context for every request takes four times as long.
    """

    endpoint: Endpoint
    is_probe: bool = False

    async def __aenter__(self) -> Self:
        self.is_probe = await self.endpoint.take_place()
        try:
            # The place is the call's, unless there was a halt since it was given.
            self.endpoint.check_halt()
        except HaltedError:
            self.endpoint.leave(self.is_probe)
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        self.endpoint.leave(self.is_probe)

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
