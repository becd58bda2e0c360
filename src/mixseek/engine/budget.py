"""What a run may spend; the call that would go beyond is not made."""

import asyncio
import math
from typing import NoReturn

from mixseek.errors import MixseekError

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
        # Estimates of what waits in batches.
        self._aside_usd = 0.0
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

    def set_aside(self, expected_usd: float) -> None:
        """A request that waits for its batch, until `return_aside`; BudgetSpentError where there is no room for it."""
        others = self._aside_usd + self._booked_usd
        limit = self._max_cost_usd
        if limit is not None:
            # As with calls: before the first bill nobody knows what a request costs. The first one may always go.
            share = _UNBILLED_SHARE if others and self._dearest is None else 1.0
            if self._foreseen(self._booked_usd + expected_usd) > (limit + _ROUNDING_USD) * share:
                self._end()
        self.begin()
        self._aside_usd += expected_usd

    def hold_aside(self, expected_usd: float) -> None:
        """What an earlier process has submitted: it is under way, whatever the limit."""
        self._aside_usd += expected_usd

    def return_aside(self, expected_usd: float) -> None:
        """It has come, or will not come."""
        self._aside_usd = max(0.0, self._aside_usd - expected_usd)

    def _end(self) -> NoReturn:
        self.is_money_spent = True
        raise BudgetSpentError(self.describe_spent())

    def _foreseen(self, expected_usd: float) -> float:
        return self.cost_usd + (self._aside_usd + expected_usd) * (1.0 if self._dearest is None else self._dearest)

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
        """A sentence for a person, when all bills have come."""
        return (
            f"--max-cost {self._max_cost_usd:g} is reached ({self.cost_usd:.4f} USD spent by this command); "
            "run the same command with more to go on from here"
        )
