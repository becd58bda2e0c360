"""Prompts that begin alike, for endpoints that cache beginnings: the first one is asked ahead of the others.

A beginning is written to such a cache by the first prompt that has it. Sent together with it, the others would find
nothing there, and be billed in full. So they wait for its reply: no longer than a reply usually takes, and, where the
beginning is that of one rubric among many, never so many that the endpoint had nothing to do.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from mixseek.domain.ports import Message
from mixseek.lazy_dataclass import dataclass

# Caches hold a beginning for five minutes from its last use.
LIFETIME_SECONDS = 240.0
# Whoever goes ahead may meet a slow endpoint, or one that is to be asked again later.
PATIENCE_SECONDS = 10.0
# Rubrics that are remembered; each sample may have one of its own.
_MOST_KNOWN = 4_096

# The beginnings of a prompt that its endpoint caches, by name, the shortest first: the run's, then the rubric's.
PrefixesOf = Callable[[Sequence[Message]], Sequence[str]]


@dataclass(slots=True)
class _Prefix:
    warm_until: float = float("-inf")
    # Who goes ahead; None where nobody does.
    leader: "asyncio.Future[None] | None" = None


class PrefixQueue:
    """One judge's; `most_waiting` of its calls may wait for a rubric's beginning, and all of them for the run's."""

    def __init__(self, prefixes_of: PrefixesOf, now: Callable[[], float], most_waiting: int) -> None:
        self._prefixes_of = prefixes_of
        self._now = now
        self._most_waiting = most_waiting
        self._known: dict[str, _Prefix] = {}
        self._waiting = 0

    @asynccontextmanager
    async def turn(self, messages: Sequence[Message]) -> AsyncIterator[None]:
        """Entered when the beginning is likely to be in the cache, or to get there by this call."""
        names = self._prefixes_of(messages)
        if len(self._known) > _MOST_KNOWN:
            self._forget_cold()
        led: list[_Prefix] = []
        try:
            for place, name in enumerate(names):
                prefix = self._known.setdefault(name, _Prefix())
                if self._now() < prefix.warm_until:
                    continue
                if prefix.leader is None:
                    prefix.leader = asyncio.get_running_loop().create_future()
                    led.append(prefix)
                else:
                    await self._wait(prefix.leader, is_of_run=place == 0)
            yield
            for name in names:
                self._known.setdefault(name, _Prefix()).warm_until = self._now() + LIFETIME_SECONDS
        finally:
            # Also where no reply came: then those who waited go on together, and nobody waits a second time.
            for prefix in led:
                if prefix.leader is not None and not prefix.leader.done():
                    prefix.leader.set_result(None)
                prefix.leader = None

    def let_go(self, messages: Sequence[Message]) -> None:
        """A request with this beginning got no reply: nobody waits for it any longer.

        Whether the endpoint is down shows only when others have asked it.
        """
        for name in self._prefixes_of(messages):
            prefix = self._known.get(name)
            if prefix is not None and prefix.leader is not None and not prefix.leader.done():
                prefix.leader.set_result(None)

    async def _wait(self, leader: "asyncio.Future[None]", *, is_of_run: bool) -> None:
        if not is_of_run and self._waiting >= self._most_waiting:
            return
        self._waiting += not is_of_run
        try:
            await asyncio.wait((leader,), timeout=PATIENCE_SECONDS)
        finally:
            self._waiting -= not is_of_run

    def _forget_cold(self) -> None:
        now = self._now()
        self._known = {
            name: prefix for name, prefix in self._known.items() if prefix.leader is not None or now < prefix.warm_until
        }
