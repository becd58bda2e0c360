"""Limits that many processes share: each asks before a request leaves, and tells what became of it.

The limits themselves are those of one process (`limits.py`), held in one place; who asks there keeps none of its own.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Protocol

from mixseek.domain.ports import Answer, Call, LiveJudge, Usage
from mixseek.engine.adaptive_limit import AdaptiveLimit
from mixseek.engine.budget import Budget, NotNowError
from mixseek.engine.call import estimate_usage, total
from mixseek.engine.endings import STOPPING
from mixseek.engine.endpoint import Endpoint, EndpointDownError
from mixseek.engine.rates import RateLimit
from mixseek.engine.retry import RetryPolicy
from mixseek.engine.slots import Price
from mixseek.errors import MixseekError, TransientJudgeError
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that wants to leave."""

    judge: str
    # What it is about: one sample that fails again and again says nothing about the endpoint.
    sample_key: str
    expected_usd: float
    expected_tokens: int


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a request that was let out: an answer of whatever kind, or the error that brought none."""

    error: TransientJudgeError | None = None
    # Whether a reply came: a refusal says nothing about how fast the endpoint is.
    is_reply: bool = False
    # None where there is no bill, or nobody knows it.
    cost_usd: float | None = None
    # Beyond what was expected, or less.
    more_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave to send one request."""

    ticket: int
    # Whether the endpoint is down, and this request is to find out about it.
    is_probe: bool = False


class Gate(Protocol):
    """Where leave is asked for."""

    async def enter(self, entry: Entry) -> Pass:
        """When the request may leave; raises what ends the run."""
        ...

    def leave(self, granted: Pass, report: Report) -> None:
        """Told without waiting."""
        ...


# Who asks: the local engine without limits of its own, before judges that ask at the gate.


class OpenLimit(AdaptiveLimit):
    """Lets as many calls go as there are places: whoever waits for leave must not be taken for a slow endpoint."""

    def __init__(self, places: int) -> None:
        super().__init__(places, places)

    def succeeded(self, started_at: float, now: float) -> None:
        pass

    def overloaded(self, started_at: float, now: float) -> None:
        pass


def patient(policy: RetryPolicy) -> RetryPolicy:
    """The same retries, by somebody who leaves it to the gate to say that an endpoint is down."""
    return replace(policy, failures_until_down=1 << 62, first_patience_seconds=None)


@dataclass(frozen=True, slots=True)
class GatedJudge:
    """A judge each of whose requests asks for leave first."""

    judge: LiveJudge
    place: Endpoint
    gate: Gate
    price: Price
    counts_money: bool
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.judge.name)

    @property
    def endpoint(self) -> str:
        return self.judge.endpoint

    @property
    def fingerprint(self) -> str:
        return self.judge.fingerprint

    @property
    def description(self) -> Mapping[str, Any]:
        return self.judge.description

    async def close(self) -> None:
        await self.judge.close()

    async def call(self, call: Call) -> Answer:
        """Also raises what ends the run, where no leave is given."""
        expected = estimate_usage(call)
        expected_tokens = total(expected, expected)
        usd = (self.price(expected, None) or 0.0) if self.counts_money else 0.0
        entry = Entry(self.name, call.sample_key, usd, expected_tokens)
        granted = await self.place.unless_halted(self.gate.enter(entry))
        # Refusals and failures of a user's function are answers too.
        report = Report()
        try:
            answer = await self.judge.call(call)
            cost = self.price(answer.usage, answer.model)
            report = Report(None, True, cost, total(answer.usage, expected) - expected_tokens)
        except TransientJudgeError as error:
            lost = None if error.billed_tokens is None else self.price(Usage(*error.billed_tokens), None)
            report = Report(error, cost_usd=lost)
            # The endpoint is known to be down: that is not this request's fault, and none of its tries.
            error.is_overload = error.is_overload or granted.is_probe
            raise
        finally:
            self.gate.leave(granted, report)
        return answer


# Who is asked.


@dataclass(frozen=True, slots=True)
class SharedLimits:
    """What all processes together may do."""

    # Endpoint to calls at once; judge to its endpoint, its requests and its tokens a minute.
    concurrency: Mapping[str, int]
    judges: Mapping[str, tuple[str, int | None, int | None]]
    max_calls: int | None
    max_cost_usd: float | None


# A ticket with leave, or with why there is none.
Reply = tuple[int, Pass | MixseekError]


class Turnstile:
    """Lets requests out for many holders, by the limits, the budget and the breaker of one process."""

    def __init__(self, limits: SharedLimits, make_endpoint: Callable[[str, AdaptiveLimit], Endpoint]) -> None:
        self._endpoints = {
            name: make_endpoint(name, AdaptiveLimit(calls)) for name, calls in limits.concurrency.items()
        }
        self._judges = {
            judge: (
                self._endpoints[endpoint],
                RateLimit(rpm) if rpm else None,
                RateLimit(tpm) if tpm else None,
            )
            for judge, (endpoint, rpm, tpm) in limits.judges.items()
        }
        self._budget = Budget(limits.max_calls, limits.max_cost_usd)
        # Why nobody is let out any more.
        self._end: MixseekError | None = None
        self._served: dict[str, dict[int, asyncio.Task[None]]] = defaultdict(dict)
        self._reports: dict[tuple[str, int], asyncio.Future[Report]] = {}
        self._replies: dict[str, list[Reply]] = defaultdict(list)
        self._news: dict[str, asyncio.Event] = defaultdict(asyncio.Event)

    @property
    def in_flight(self) -> int:
        """Requests that have left and of which nothing was told yet."""
        return sum(endpoint.in_flight for endpoint in self._endpoints.values())

    def enter(self, holder: str, ticket: int, entry: Entry) -> None:
        """Its reply comes with the others of this holder."""
        self._served[holder][ticket] = asyncio.ensure_future(self._serve(holder, ticket, entry))

    def leave(self, holder: str, ticket: int, report: Report) -> None:
        """What became of it; nothing where the holder was forgotten meanwhile."""
        waiting = self._reports.get((holder, ticket))
        if waiting is not None and not waiting.done():
            waiting.set_result(report)

    async def replies(self, holder: str, patience_seconds: float) -> list[Reply]:
        """The replies, as soon as there are some; none after so long."""
        news = self._news[holder]
        if not self._replies[holder]:
            try:
                async with asyncio.timeout(patience_seconds):
                    await news.wait()
            except TimeoutError:
                return []
        news.clear()
        return self._replies.pop(holder)

    def forget(self, holder: str) -> None:
        """It is gone: its requests are over, whatever became of them."""
        for task in self._served.pop(holder, {}).values():
            task.cancel()
        self._replies.pop(holder, None)
        self._news.pop(holder, None)

    def _tell(self, holder: str, ticket: int, reply: Pass | MixseekError) -> None:
        self._replies[holder].append((ticket, reply))
        self._news[holder].set()

    async def _serve(self, holder: str, ticket: int, entry: Entry) -> None:
        try:
            while not await self._let_out(holder, ticket, entry):
                pass
        except EndpointDownError as error:
            # Told to whoever asks next, this holder too: its own request is over.
            self._end = error
            for endpoint in self._endpoints.values():
                endpoint.halt()
        except STOPPING as error:
            self._tell(holder, ticket, self._end or error)
        finally:
            self._reports.pop((holder, ticket), None)
            self._served.get(holder, {}).pop(ticket, None)

    async def _let_out(self, holder: str, ticket: int, entry: Entry) -> bool:
        """False where others cost more meanwhile: it has to be booked again."""
        endpoint, requests, tokens = self._judges[entry.judge]
        budget, has_begun, cost = self._budget, False, None
        await budget.book(entry.expected_usd)
        try:
            rates = ((requests, 1), (tokens, entry.expected_tokens))
            waits = [rate.reserve(units, endpoint.now()) for rate, units in rates if rate is not None]
            await endpoint.rest(max(waits, default=0.0))
            async with endpoint.turn() as turn:
                budget.leave(entry.expected_usd, is_repeat=False)
                has_begun = True
                budget.begin()
                waiting = self._reports[holder, ticket] = asyncio.get_running_loop().create_future()
                started = endpoint.now()
                self._tell(holder, ticket, Pass(ticket, turn.is_probe))
                report = await waiting
                if report.error is None:
                    cost = report.cost_usd
                    endpoint.answered(started if report.is_reply else None)
                else:
                    if report.cost_usd is not None:
                        budget.charge(entry.expected_usd, report.cost_usd)
                    call = hash((entry.judge, entry.sample_key))
                    endpoint.failed(report.error, started, call, is_probe=turn.is_probe)
            if tokens is not None:
                tokens.correct(report.more_tokens)
        except NotNowError:
            return False
        finally:
            budget.settle(entry.expected_usd, cost, has_begun=has_begun)
        return True
