"""What a run may spend; the call that would go beyond is not made."""

import asyncio
from collections import deque

from mixseek.errors import MixseekError

# Before the first bill nobody knows what a call costs: so much of the limit may be out at its estimate until then.
_UNBILLED_SHARE = 0.25
# Sums of binary fractions: a limit that is met to the cent is met.
_ROUNDING_USD = 1e-12


class BudgetSpentError(MixseekError):
    """A limit that the caller set is reached; what was begun is finished."""


class Budget:
    """Requests sent and money spent: the one account, of which the report's is a copy.

    Money in flight is booked at its estimate, scaled by the dearest call so far. A call that does not fit beside what
    is in flight waits for those bills: the limit is used up as far as calls can be had for what is left of it.
    """

    def __init__(self, max_calls: int | None = None, max_cost_usd: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_cost_usd = max_cost_usd
        self.calls = 0
        self.cost_usd = 0.0
        # Estimates of what is out; when calls turn out dearer, all of them do.
        self._booked_usd = 0.0
        self._bookings = 0
        # What the dearest call cost of its estimate; None before the first bill.
        self._dearest: float | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def counts_money(self) -> bool:
        """Whether anybody has to be told what a request will cost before it leaves."""
        return self._max_cost_usd is not None

    def begin(self) -> None:
        """A request is about to leave; raises BudgetSpentError instead of letting one too many out."""
        if self._max_calls is not None and self.calls >= self._max_calls:
            raise BudgetSpentError(
                f"--max-calls {self._max_calls} is reached; run the same command with more to go on from here"
            )
        self.calls += 1

    async def book(self, expected_usd: float) -> None:
        """Set aside what one call and its repeats may cost; to be followed by `settle`, whatever becomes of it.

        Raises BudgetSpentError where it does not fit although nothing else is out.
        """
        while self._max_cost_usd is not None and not self._fits(expected_usd, self._max_cost_usd):
            if not self._bookings:
                raise BudgetSpentError(self.describe_spent())
            waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            await waiting
        self._booked_usd += expected_usd
        self._bookings += 1

    def _fits(self, expected_usd: float, limit: float) -> bool:
        booked = (self._booked_usd + expected_usd) * (1.0 if self._dearest is None else self._dearest)
        if self.cost_usd + booked > limit + _ROUNDING_USD:
            return False
        return self._dearest is not None or not self._bookings or booked <= limit * _UNBILLED_SHARE

    def settle(self, expected_usd: float, cost_usd: float | None) -> None:
        """The bill; None where nothing came back or the price is not known."""
        self._bookings -= 1
        # Exactly nothing when nothing is out, whatever the rounding.
        self._booked_usd = self._booked_usd - expected_usd if self._bookings else 0.0
        if cost_usd is not None:
            self.cost_usd += cost_usd
            if expected_usd > 0:
                self._dearest = max(self._dearest or 0.0, cost_usd / expected_usd)
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)

    def describe_spent(self) -> str:
        """For a person, when all bills have come."""
        return (
            f"--max-cost {self._max_cost_usd:g} is reached ({self.cost_usd:.4f} USD spent by this command); "
            "run the same command with more to go on from here"
        )
