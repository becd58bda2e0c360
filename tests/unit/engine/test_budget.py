"""What a run may spend."""

import asyncio

import pytest

from mixseek.engine.limits import Budget, BudgetSpentError


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
