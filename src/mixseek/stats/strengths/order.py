"""How alike two boards order those that stand on both."""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.ordering import kendall_tau_b
from mixseek.stats.strengths.model import EQUAL


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How alike two boards order those that stand on both; `same` of `pairs` two of them."""

    names: int
    pairs: int
    same: int
    tau_b: float | None


def order_agreement(first: Mapping[str, float], second: Mapping[str, float]) -> OrderAgreement:
    """How far two boards agree, from strengths or means of any scale.

    Two that are as strong on both boards stand in the same order.
    """
    names = sorted(first.keys() & second.keys())
    places = {name: (_level(first, name), _level(second, name)) for name in names}
    same = sum(
        (left[0] > right[0], left[0] < right[0]) == (left[1] > right[1], left[1] < right[1])
        for left, right in combinations(places.values(), 2)
    )
    return OrderAgreement(len(names), math.comb(len(names), 2), same, kendall_tau_b(Counter(places.values())))


def _level(strengths: Mapping[str, float], name: str) -> float:
    """The least of those that are as strong."""
    return min(value for value in strengths.values() if value > strengths[name] - EQUAL)
