"""Whether the number of calls at once finds what an endpoint serves: `python -m bench.limits [--seconds S]`.

Three loopback endpoints that say in their own way that they have enough, asked under fixed limits and under ours;
goodput is counted in the second half of the time. `tests/unit/engine/test_limits.py` does the same in virtual time.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from mixseek.domain.ports import Answer, Call, Message
from mixseek.engine.adaptive_limit import AdaptiveLimit
from mixseek.engine.endpoint import Attempts, Endpoint, Environment
from mixseek.engine.retry import RetryPolicy
from mixseek.judges.endpoint.address import resolve_target
from mixseek.judges.endpoint.judge import EndpointJudge

MAXIMUM = 256
THINKING_SECONDS = 0.4
FIXED = (32, 64, 100, 128, 180, 256)
_REPLY = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}

# Calls in service, this one included, to whether it is served and after how many seconds.
Behaviour = Callable[[int], tuple[bool, float]]


def _wall(at_once: int) -> tuple[bool, float]:
    return (True, _thinking()) if at_once <= 100 else (False, 0.0)


def _by_lot(at_once: int) -> tuple[bool, float]:
    is_refused = random.random() < (0.5 if at_once > 128 else 0.2)
    return (False, _thinking()) if is_refused else (True, _thinking())


def _knee(at_once: int) -> tuple[bool, float]:
    return True, _thinking() * max(1.0, at_once / 64) ** 1.3


def _thinking() -> float:
    return THINKING_SECONDS * random.uniform(0.8, 1.2)


ENDPOINTS: dict[str, Behaviour] = {"wall": _wall, "lot": _by_lot, "knee": _knee}
DESCRIPTIONS = {
    "wall": "takes 100 at once and answers 429 above",
    "lot": "refuses half above 128 at once, a fifth below",
    "knee": "is slower and slower above 64 at once",
}


class FixedLimit(AdaptiveLimit):
    """So many, whatever happens."""

    def succeeded(self, started_at: float, now: float) -> None:
        """No news."""

    def overloaded(self, started_at: float, now: float) -> None:
        """No news either."""


@dataclass
class Server:
    """HTTP, as little of it as one client needs."""

    behaviour: Behaviour
    in_service: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Request after request until the client leaves."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]))
                is_served, seconds = self.behaviour(self.in_service + 1)
                self.in_service += is_served
                try:
                    await asyncio.sleep(seconds)
                finally:
                    self.in_service -= is_served
                body = json.dumps(_REPLY if is_served else {"error": {"message": "too many"}}).encode()
                status = "200 OK" if is_served else "429 Too Many Requests"
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        writer.close()


@contextlib.asynccontextmanager
async def _serving(behaviour: Behaviour) -> AsyncIterator[str]:
    server = await asyncio.start_server(Server(behaviour).serve, "127.0.0.1", 0, backlog=1_024)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def measure(behaviour: Behaviour, limit: AdaptiveLimit, seconds: float) -> tuple[float, int]:
    """Replies a second in the second half, and the limit in the end."""
    replies: list[float] = []
    async with _serving(behaviour) as base_url:
        judge = EndpointJudge(resolve_target(f"vllm:m@{base_url}", {}, {}), {})
        around = Environment(time.monotonic, asyncio.sleep, random.random, lambda text: None)
        endpoint = Endpoint(base_url, limit, RetryPolicy(), around)
        numbers = itertools.count()

        async def ask_on() -> None:
            while True:
                call, attempts = Call(str(next(numbers)), (Message("user", "?"),), {}), Attempts()
                answer: Answer | float = 0.0
                while isinstance(answer, float):
                    await endpoint.rest(answer)
                    async with endpoint.turn() as turn:
                        answer = await turn.ask(judge, call, attempts)
                replies.append(time.monotonic())

        began = time.monotonic()
        callers = [asyncio.create_task(ask_on()) for _ in range(2 * MAXIMUM)]
        await asyncio.sleep(seconds)
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
        await judge.close()
    return sum(moment - began > seconds / 2 for moment in replies) / (seconds / 2), limit.calls


def main(arguments: Sequence[str] | None = None) -> None:
    """Print goodput under each fixed limit and under ours."""
    parser = argparse.ArgumentParser(prog="python -m bench.limits", description=__doc__)
    parser.add_argument("--only", choices=sorted(ENDPOINTS), help="one endpoint instead of all of them")
    parser.add_argument("--seconds", type=float, default=30.0, help="for our limit; fixed ones take a third")
    options = parser.parse_args(arguments)
    for name in [options.only] if options.only else ENDPOINTS:
        behaviour = ENDPOINTS[name]
        print(f"calls at once, endpoint that {DESCRIPTIONS[name]}:")
        found = {}
        for calls in FIXED:
            found[calls], _ = asyncio.run(measure(behaviour, FixedLimit(calls), options.seconds / 3))
        best = max(found, key=lambda calls: found[calls])
        print("  fixed: " + ", ".join(f"{calls}: {goodput:,.0f}/s" for calls, goodput in found.items()))
        ours, limit = asyncio.run(measure(behaviour, AdaptiveLimit(MAXIMUM), options.seconds))
        print(f"  ours: {ours:,.0f}/s at {limit} in the end, {ours / found[best]:.0%} of the best ({best} at once)")


if __name__ == "__main__":
    main()
