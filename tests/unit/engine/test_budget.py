"""What a run may spend."""

import asyncio

import pytest

from mixseek.engine.budget import Budget, BudgetSpentError, NotNowError


def test_calls_are_counted_as_they_leave() -> None:
    """The one that would be too many does not leave."""
    budget = Budget(max_calls=2)
    budget.begin()
    budget.begin()

    with pytest.raises(
        BudgetSpentError, match=r"^--max-calls 2 is reached; run the same command with more to go on from here$"
    ):
        budget.begin()


def test_what_does_not_fit_beside_what_is_out_waits_for_its_bill() -> None:
    """Two at 0.4 fit into 1.0, the third waits until one turns out cheaper, and then leaves."""

    async def spend() -> list[bool]:
        budget = Budget(max_cost_usd=1.0)
        await budget.book(0.1)
        budget.settle(0.1, 0.1)
        await budget.book(0.4)
        await budget.book(0.4)
        third = asyncio.create_task(budget.book(0.4))
        await asyncio.sleep(0)
        seen = [third.done()]
        budget.settle(0.4, 0.1)
        await asyncio.sleep(0)
        return [*seen, third.done()]

    assert asyncio.run(spend()) == [False, True]


def test_it_ends_when_nothing_is_out_and_what_is_left_does_not_pay_for_a_call() -> None:
    """What it says was spent is all that was spent."""

    async def spend() -> str:
        budget = Budget(max_cost_usd=1.0)
        for _ in range(3):
            await budget.book(0.3)
            budget.settle(0.3, 0.3)
        with pytest.raises(BudgetSpentError) as spent:
            await budget.book(0.3)
        return str(spent.value)

    assert asyncio.run(spend()) == (
        "--max-cost 1 is reached (0.9000 USD spent by this command); run the same command with more to go on from here"
    )


def test_before_the_first_bill_a_quarter_is_out_at_most() -> None:
    """An estimate may be wrong by far: a judge that thinks aloud costs many times what its verdict would."""

    async def spend() -> tuple[int, int]:
        budget = Budget(max_cost_usd=1.0)
        waiting = [asyncio.create_task(budget.book(0.1)) for _ in range(20)]
        await asyncio.sleep(0)
        first = [task for task in waiting if task.done()]
        budget.settle(0.1, 0.4)
        await asyncio.sleep(0)
        out = sum(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        return len(first), out

    # Two at the estimate; then each is taken for as dear as the first one was, also the one that is still out.
    assert asyncio.run(spend()) == (2, 2)


def test_without_limits_everything_leaves() -> None:
    """And is counted all the same."""

    async def spend() -> Budget:
        budget = Budget()
        for _ in range(100):
            budget.begin()
            await budget.book(1.0)
            budget.settle(1.0, None)
        return budget

    budget = asyncio.run(spend())

    assert (budget.calls, budget.cost_usd) == (100, 0.0)


def test_an_answer_without_a_reply_is_paid_for_at_once_and_its_repeat_stays_booked() -> None:
    """Nobody else is let out for the money that the repeat will take."""

    async def spend() -> tuple[float, bool, bool]:
        budget = Budget(max_cost_usd=1.0)
        await budget.book(0.4)
        budget.leave(0.4, is_repeat=False)
        budget.charge(0.4, 0.4)
        other = asyncio.create_task(budget.book(0.4))
        await asyncio.sleep(0)
        is_let_out = other.done()
        budget.leave(0.4, is_repeat=True)
        budget.settle(0.4, 0.4, has_begun=True)
        await asyncio.gather(other, return_exceptions=True)
        return round(budget.cost_usd, 9), is_let_out, isinstance(other.exception(), BudgetSpentError)

    assert asyncio.run(spend()) == (0.8, False, True)


def test_a_repeat_that_would_pass_the_limit_does_not_leave() -> None:
    """However often answers are lost."""

    async def spend() -> Budget:
        budget = Budget(max_cost_usd=1.0)
        await budget.book(0.3)
        budget.leave(0.3, is_repeat=False)
        for _ in range(2):
            budget.charge(0.3, 0.3)
            budget.leave(0.3, is_repeat=True)
        budget.charge(0.3, 0.3)
        with pytest.raises(BudgetSpentError, match=r"0\.9000 USD spent"):
            budget.leave(0.3, is_repeat=True)
        return budget

    assert asyncio.run(spend()).is_money_spent


def test_what_was_booked_before_others_lost_money_is_booked_again() -> None:
    """And waits then for what has begun, instead of being told the same over and over."""

    async def spend() -> bool:
        budget = Budget(max_cost_usd=1.0)
        await budget.book(0.1)
        budget.leave(0.1, is_repeat=False)
        await budget.book(0.1)
        budget.charge(0.1, 0.7)
        with pytest.raises(NotNowError):
            budget.leave(0.1, is_repeat=False)
        budget.settle(0.1, None)
        again = asyncio.create_task(budget.book(0.1))
        await asyncio.sleep(0)
        is_waiting = not again.done()
        budget.settle(0.1, 0.1, has_begun=True)
        with pytest.raises(BudgetSpentError):
            await again
        return is_waiting

    assert asyncio.run(spend())


def test_until_it_is_known_that_no_answer_is_lost_not_everything_is_let_out() -> None:
    """A queue that is booked to the last cent has nothing left for repeats."""

    async def spend(bills: int) -> int:
        budget = Budget(max_cost_usd=1.0)
        for _ in range(bills):
            await budget.book(0.0001)
            budget.settle(0.0001, 0.0001)
        waiting = [asyncio.create_task(budget.book(0.01)) for _ in range(120)]
        await asyncio.sleep(0)
        out = sum(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        return out

    assert [asyncio.run(spend(bills)) for bills in (1, 300)] == [51, 96]
