"""Where requests are left that somebody answers later, by the hundred: a batch instead of a call."""

from typing import NamedTuple, Protocol

from mixseek.domain.ports import NOTHING_LOST, Answer, Call, LostRequests
from mixseek.errors import MixseekError


class AwaitedError(MixseekError):
    """Its reply comes with a batch. Not a failure of the sample: it is asked about again when the batch has come."""


class Collected(NamedTuple):
    """An answer out of a batch, what it cost there, and what the same would have cost at once."""

    answer: Answer
    # As the provider names it.
    batch: str
    cost_usd: float | None
    live_cost_usd: float | None
    # How often the request was submitted, and what was billed for submissions that brought no reply.
    tries: int = 1
    lost: LostRequests = NOTHING_LOST


class Desk(Protocol):
    """One judge's. Requests are known by the digest under which the cache keeps their replies."""

    def fetch(self, key: bytes, call: Call) -> Collected | None:
        """What came for it.

        Raises AwaitedError where it is under way or has just been left here, what `LiveJudge.call` raises where it is
        given up, and BudgetSpentError where there is no money for it. None where it is to be asked at once instead.
        """

    def lost(self, key: bytes) -> LostRequests:
        """What was billed for a request that is given up, or asked at once instead."""
