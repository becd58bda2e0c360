"""What a run may spend; the call that would go beyond is not made."""

from mixseek.errors import MixseekError


class BudgetSpentError(MixseekError):
    """A limit that the caller set is reached; what was begun is finished."""


class Budget:
    """Requests sent and money spent. Money in flight is counted at its estimate until the bill comes."""

    def __init__(self, max_calls: int | None = None, max_cost_usd: float | None = None) -> None:
        self._max_calls = max_calls
        self._max_cost_usd = max_cost_usd
        self.calls = 0
        self.cost_usd = 0.0
        self._reserved_usd = 0.0

    @property
    def counts_money(self) -> bool:
        """Whether anybody has to be told what a request will cost before it leaves."""
        return self._max_cost_usd is not None

    def begin(self, expected_usd: float) -> None:
        """Raises BudgetSpentError instead of letting a request out that does not fit."""
        if self._max_calls is not None and self.calls >= self._max_calls:
            raise BudgetSpentError(
                f"--max-calls {self._max_calls} is reached; run the same command with more to go on from here"
            )
        if self._max_cost_usd is not None:
            committed = self.cost_usd + self._reserved_usd
            if committed + expected_usd > self._max_cost_usd:
                raise BudgetSpentError(
                    f"--max-cost {self._max_cost_usd:g} is reached ({self.cost_usd:.4f} USD spent); "
                    "run the same command with more to go on from here"
                )
        self.calls += 1
        self._reserved_usd += expected_usd

    def end(self, expected_usd: float, cost_usd: float | None) -> None:
        """The bill; None where nothing came back or the price is not known."""
        self._reserved_usd = max(0.0, self._reserved_usd - expected_usd)
        self.cost_usd += cost_usd or 0.0
