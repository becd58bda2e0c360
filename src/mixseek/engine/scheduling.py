"""One endpoint: who may call it now, what a failure means for the others, and when waiting is over."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from mixseek.domain.calls import Answer, Call, LiveJudge, Usage
from mixseek.engine.limits import AdaptiveLimit
from mixseek.engine.retries import RetryPolicy
from mixseek.errors import MixseekError, PermanentJudgeError, TransientJudgeError

T = TypeVar("T")
Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]


class HaltedError(MixseekError):
    """The run is stopping: nothing new is begun. Not a failure of the sample that met it."""


class EndpointDownError(MixseekError):
    """An endpoint gave no sign of life for longer than the caller's patience."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Time and chance as arguments."""

    clock: Clock
    sleep: Sleep
    draw: Callable[[], float]  # uniform in 0..1
    tell: Callable[[str], None]


class Called(NamedTuple):
    """An answer, how many requests it took, and what those before it counted though they brought no reply."""

    answer: Answer
    tries: int
    lost: tuple[Usage, ...] = ()


class Endpoint:
    """Shared by every judge behind one address: their limit, their pauses and their luck are common."""

    def __init__(self, name: str, limit: AdaptiveLimit, policy: RetryPolicy, around: Surroundings) -> None:
        self.name = name
        self.in_flight = 0
        self.retries = 0
        self._limit = limit
        self._policy = policy
        self._around = around
        self._waiting: deque[asyncio.Future[bool]] = deque()
        self._resting: set[asyncio.Future[None]] = set()
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

    async def call(
        self,
        judge: LiveJudge,
        call: Call,
        permit: Callable[[], None],
        keep: Callable[[Called], T],
        pace: Callable[[], float] = lambda: 0.0,
        spent: Callable[[Usage], object] = lambda usage: None,
    ) -> T:
        """What `keep` makes of the answer, however many tries that takes within the policy.

        `pace` says how long each request has to wait; `permit` is asked when it is to leave and may raise; `spent`
        is told of answers that count tokens and hold no reply. `keep` gets the answer while the call still has its
        place. Raises Permanent- and TransientJudgeError, EndpointDownError beyond patience, HaltedError.
        """
        tries = failures = 0
        lost: list[Usage] = []
        while True:
            await self.rest(pace())
            is_probe = await self._turn()
            started = self._around.clock()
            try:
                permit()
                tries += 1
                answer = await judge.call(call)
            except TransientJudgeError as error:
                failures += not error.is_overload
                if error.billed_tokens is not None:
                    lost.append(Usage(*error.billed_tokens))
                    spent(lost[-1])
                self._failed_requests.add(id(call))
                self._failed(error, started, is_probe)
                # While the endpoint is down, nobody's tries are counted out: it is not this request's fault.
                if not self._is_down and self._policy.gives_up(failures):
                    raise
                delay = self._policy.delay_before_retry(max(1, failures), error, self._around.draw())
                if delay > self._policy.patience_seconds:
                    raise
            except PermanentJudgeError:
                self._revived()
                raise
            else:
                self._limit.succeeded(started, self._around.clock())
                self._revived()
                return keep(Called(answer, tries, tuple(lost)))
            finally:
                self._leave(is_probe)
            self.retries += 1
            await self.rest(delay)

    def now(self) -> float:
        """Seconds on this endpoint's clock."""
        return self._around.clock()

    async def rest(self, seconds: float) -> None:
        """Sleep that a halt ends."""
        if self._is_halted:
            raise HaltedError("stopping")
        if seconds <= 0:
            return
        resting = asyncio.ensure_future(self._around.sleep(seconds))
        self._resting.add(resting)
        try:
            await resting
        except asyncio.CancelledError:
            if self._is_halted:
                raise HaltedError("stopping") from None
            resting.cancel()
            raise
        finally:
            self._resting.discard(resting)

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

    async def _turn(self) -> bool:
        """Wait for a place, first come first served; True when this call is the probe of an endpoint that is down."""
        if self._is_halted:
            raise HaltedError("stopping")
        has_room = not self._waiting and not self._is_down and self.in_flight < self._limit.calls
        if has_room and self._paused_until <= self._around.clock():
            # The usual case, without the cost of a queue.
            self.in_flight += 1
            return False
        place: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._dispatch()
        try:
            return self._taken(await place)
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._leave(place.result())
            raise

    def _taken(self, is_probe: bool) -> bool:
        """The place is the call's, unless there was a halt since it was given."""
        if self._is_halted:
            self._leave(is_probe)
            raise HaltedError("stopping")
        return is_probe

    def _dispatch(self) -> None:
        while self._waiting:
            if self._waiting[0].done():
                self._waiting.popleft()
                continue
            if self.in_flight >= (1 if self._is_down else self._limit.calls) or self._is_probing:
                return
            wait = self._paused_until - self._around.clock()
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
            await self._around.sleep(seconds)
            self._alarm = None
            self._dispatch()

        self._alarm = asyncio.ensure_future(wake())

    def _leave(self, is_probe: bool) -> None:
        self.in_flight -= 1
        if is_probe:
            self._is_probing = False
        self._dispatch()

    def _failed(self, error: TransientJudgeError, started: float, is_probe: bool) -> None:
        now = self._around.clock()
        if self._failing_since is None:
            self._failing_since = now
        if error.is_overload:
            self._limit.overloaded(started, now)
        else:
            self._failures += 1
        # One refusal among many answers was told to one call; where refusals are the rule, it was told to all.
        if error.retry_after_seconds is not None and (self._limit.is_blocked or not error.is_overload):
            self._pause(now + error.retry_after_seconds)
        is_common = self._failures >= self._policy.failures_until_down and len(self._failed_requests) > 1
        if self._is_down or is_common:
            self._go_down(error, now, is_probe)
        waited = max(now, self._paused_until) - self._failing_since
        if (self._is_down or error.is_overload) and waited >= self._policy.patience_seconds:
            asked = error.retry_after_seconds
            if asked is not None and self._paused_until > now:
                told = f"asked to wait {asked:.0f} s"
            else:
                told = f"no reply for {waited:.0f} s"
            raise EndpointDownError(
                f"{self.name}: {told}, and --patience is {self._policy.patience_seconds:.0f} s "
                f"({error}); run the same command again to resume"
            ) from error

    def _go_down(self, error: TransientJudgeError, now: float, is_probe: bool) -> None:
        if not self._is_down:
            self._is_down = True
            self._probes = 0
            self._around.tell(f"{self.name} does not answer ({error}); waiting for it to come back")
            self._pause(now + self._policy.delay_before_probe(0))
        elif is_probe:
            self._probes += 1
            self._pause(now + self._policy.delay_before_probe(self._probes))

    def _pause(self, until: float) -> None:
        self._paused_until = max(self._paused_until, until)

    def _revived(self) -> None:
        self._failures = 0
        self._failed_requests.clear()
        self._failing_since = None
        if self._is_down:
            self._is_down = False
            self._paused_until = float("-inf")
            self._around.tell(f"{self.name} answers again")
            self._dispatch()
