"""Endpoints in virtual time, and callers that ask them as the engine does: for limits that are to be found."""

import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Limit(Protocol):
    """What tells how many may be in flight."""

    @property
    def calls(self) -> int: ...
    def succeeded(self, started_at: float, now: float) -> None: ...
    def overloaded(self, started_at: float, now: float) -> None: ...


@dataclass
class FixedLimit:
    """So many, whatever happens."""

    calls: int

    def succeeded(self, started_at: float, now: float) -> None:
        pass

    def overloaded(self, started_at: float, now: float) -> None:
        pass


# Calls in service, this one included, and a lot in 0..1, to whether the call is served and how long that takes.
Endpoint = Callable[[int, random.Random], tuple[bool, float]]
LATENCY_SECONDS = 0.5


def jitter(rng: random.Random) -> float:
    return LATENCY_SECONDS * rng.uniform(0.7, 1.3)


def wall(capacity: int, refusing_seconds: float = 0.01) -> Endpoint:
    """Takes so many at once and refuses every other one."""
    return lambda at_once, rng: (True, jitter(rng)) if at_once <= capacity else (False, refusing_seconds)


def by_lot(above: float, below: float, border: int, refusing_seconds: float = 0.01) -> Endpoint:
    """Refuses one share of the calls above a border and another below it."""

    def answer(at_once: int, rng: random.Random) -> tuple[bool, float]:
        is_refused = rng.random() < (above if at_once > border else below)
        return (False, refusing_seconds) if is_refused else (True, jitter(rng))

    return answer


def knee(at: int, decline: float = 0.0) -> Endpoint:
    """Answers in the usual time up to so many at once; beyond, the more the slower, and slower still by `decline`."""

    def answer(at_once: int, rng: random.Random) -> tuple[bool, float]:
        load = max(1.0, at_once / at)
        return True, jitter(rng) * load ** (1.0 + decline)

    return answer


def crowded(at: int, decline: float) -> Endpoint:
    """The same, but the first calls come all at once: none of them is there before the others, and none is fast."""
    numbers = itertools.count()
    slower = knee(at, decline)
    return lambda at_once, rng: slower(max(at_once, 256) if next(numbers) < 256 else at_once, rng)


@dataclass
class Simulation:
    """Callers who never run out of samples; one that was refused waits a moment, as the retry policy says."""

    limit: Limit
    endpoint: Endpoint
    callers: int
    rng: random.Random = field(default_factory=lambda: random.Random(5))
    now: float = 0.0
    in_flight: int = 0
    in_service: int = 0  # a call that is being refused takes nobody's place there
    served: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    limits: list[tuple[float, int]] = field(default_factory=list)
    _events: list[tuple[float, int, str, float, bool]] = field(default_factory=list)
    _ready: int = 0
    _count: int = 0

    def run(self, seconds: float) -> "Simulation":
        self._ready = self.callers
        self._send()
        while self._events and self._events[0][0] <= seconds:
            self.now, _, kind, started, is_served = heapq.heappop(self._events)
            if kind == "ready":
                self._ready += 1
            else:
                self._come_back(started, is_served)
            self._send()
        return self

    def goodput(self, since: float, until: float) -> float:
        return sum(since < moment <= until for moment in self.served) / (until - since)

    def refused_share(self, since: float) -> float:
        refused = sum(moment > since for moment in self.refused)
        return refused / max(1, refused + sum(moment > since for moment in self.served))

    def _come_back(self, started: float, is_served: bool) -> None:
        self.in_flight -= 1
        self.in_service -= is_served
        if is_served:
            self.served.append(self.now)
            self.limit.succeeded(started, self.now)
            self._ready += 1
        else:
            self.refused.append(self.now)
            self.limit.overloaded(started, self.now)
            self._later(self.rng.uniform(0.25, 0.5), "ready", 0.0, False)
        self.limits.append((self.now, self.limit.calls))

    def _send(self) -> None:
        while self._ready and self.in_flight < self.limit.calls:
            self._ready -= 1
            self.in_flight += 1
            is_served, seconds = self.endpoint(self.in_service + 1, self.rng)
            self.in_service += is_served
            self._later(seconds, "answer", self.now, is_served)

    def _later(self, seconds: float, kind: str, started: float, is_served: bool) -> None:
        self._count += 1
        heapq.heappush(self._events, (self.now + seconds, self._count, kind, started, is_served))


def best_fixed(endpoint: Endpoint, maximum: int, seconds: float) -> tuple[int, float]:
    """The limit with the most goodput, and that."""
    tried = sorted({max(1, round(maximum * 0.85**step)) for step in range(40)})
    found = [
        (Simulation(FixedLimit(calls), endpoint, 2 * maximum).run(seconds).goodput(2.0, seconds), calls)
        for calls in tried
    ]
    goodput, calls = max(found)
    return calls, goodput
