"""Two responses shown in both orders: how often a judge says the same, and how often it follows the order.

A vote is 1 for response A, 0 for response B, 0.5 for a tie and None where there is none, always by the responses
themselves and not by where they stood.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mixseek.stats.distributions import binomial_two_sided

Vote = float | None


@dataclass(frozen=True, slots=True)
class VoteCount:
    """So many rows with this vote, shown in this order (AB or BA); `truth` is None where nobody knows."""

    shown: str | None
    vote: Vote
    truth: Vote
    count: int


@dataclass(frozen=True, slots=True)
class Position:
    """Pairs that were shown as AB and as BA.

    Those without a vote in one order are `with_null`, of the others those with a tie in one order `with_tie`; the rest
    are decisive. Of these, `first_both` voted for whatever came first in both orders, `second_both` for what came last.
    `known` of them have a truth, of which `right_both` were told right in both orders and `right_votes` votes were.
    """

    pairs: int = 0
    with_null: int = 0
    with_tie: int = 0
    consistent: int = 0
    first_both: int = 0
    second_both: int = 0
    known: int = 0
    right_both: int = 0
    right_votes: int = 0

    @property
    def decisive(self) -> int:
        return self.consistent + self.first_both + self.second_both

    @property
    def consistency(self) -> float | None:
        return self.consistent / self.decisive if self.decisive else None

    @property
    def bias(self) -> float | None:
        """From -1 (always what came last) to 1 (always what came first)."""
        return (self.first_both - self.second_both) / self.decisive if self.decisive else None

    @property
    def first_shown_rate(self) -> float | None:
        """The share of decisive pairs' votes for what came first; a half is no preference."""
        return (self.consistent + 2 * self.first_both) / (2 * self.decisive) if self.decisive else None

    @property
    def sign_test_p(self) -> float:
        """Exact, two-sided: that inconsistent pairs follow the first as often as the last."""
        return binomial_two_sided(self.first_both, self.first_both + self.second_both)

    @property
    def accuracy_both_orders(self) -> float | None:
        return self.right_both / self.known if self.known else None

    @property
    def accuracy_mean_of_orders(self) -> float | None:
        return self.right_votes / (2 * self.known) if self.known else None


def position_of(votes: Mapping[tuple[Vote, Vote, Vote], int]) -> Position:
    """From counted pairs: the vote where A came first, the vote where B came first, and the truth (None: unknown)."""
    counts = dict.fromkeys(Position.__dataclass_fields__, 0)
    for (first, second, truth), count in votes.items():
        counts["pairs"] += count
        if first is None or second is None:
            counts["with_null"] += count
            continue
        if 0.5 in (first, second):
            counts["with_tie"] += count
            continue
        kind = "consistent" if first == second else "first_both" if first == 1 else "second_both"
        counts[kind] += count
        if truth is not None:
            counts["known"] += count
            counts["right_both"] += count * (first == second == truth)
            counts["right_votes"] += count * ((first == truth) + (second == truth))
    return Position(**counts)
