"""What a run may spend."""

import pytest

from mixseek.engine.budget import Budget, BudgetSpentError


def test_calls_are_counted_as_they_leave() -> None:
    """The one that would be too many does not leave."""
    budget = Budget(max_calls=2)
    budget.begin(0.0)
    budget.begin(0.0)

    with pytest.raises(
        BudgetSpentError, match=r"^--max-calls 2 is reached; run the same command with more to go on from here$"
    ):
        budget.begin(0.0)


def test_money_in_flight_counts_before_the_bill_comes() -> None:
    """Two at 0.4 fit into 1.0, three do not, until one turns out cheaper."""
    budget = Budget(max_cost_usd=1.0)
    budget.begin(0.4)
    budget.begin(0.4)
    with pytest.raises(BudgetSpentError) as spent:
        budget.begin(0.4)
    assert str(spent.value) == (
        "--max-cost 1 is reached (0.0000 USD spent); run the same command with more to go on from here"
    )

    budget.end(0.4, 0.1)
    budget.begin(0.4)

    assert budget.cost_usd == pytest.approx(0.1)
    assert budget.calls == 3


def test_without_limits_everything_leaves() -> None:
    """And is counted all the same."""
    budget = Budget()
    for _ in range(100):
        budget.begin(1.0)
        budget.end(1.0, None)

    assert (budget.calls, budget.cost_usd) == (100, 0.0)


def test_an_estimate_is_given_back_whole_and_once() -> None:
    """Nothing of it stays booked, and more than was booked makes no room."""
    budget = Budget(max_cost_usd=1.0)
    budget.begin(0.4)
    budget.end(0.4, None)
    budget.begin(1.0)
    budget.end(5.0, None)

    with pytest.raises(BudgetSpentError):
        budget.begin(1.1)
