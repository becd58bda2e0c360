"""How sure a judge is of the verdict that it gave, and what says so. Never one source in the place of another."""

import math
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any

from mixseek.lazy_dataclass import dataclass

# Probabilities that an endpoint gives may miss their sum by so much: it rounds.
SUM_TOLERANCE = 0.02
# The words of seed 000, the surest first. An order, and no probabilities.
WRITTEN_WORDS = ("high", "medium", "low")


class ConfidenceSource(StrEnum):
    """What a confidence was made from."""

    LOGPROBS = "logprobs"  # the probability of the verdict's token
    DECISION = "decision"  # what a decision endpoint answered
    REPEATS = "repeats"  # of one judge's takes, the share with the verdict
    ORDERS = "orders"  # of a pair's orders, the share with the verdict
    PANEL = "panel"  # of several judges, the share with the verdict
    WRITTEN = "written"  # what the judge wrote of itself


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a judge is of its verdict; where `shares` is empty, `value` orders judgments and is no probability."""

    value: float  # 0..1
    source: ConfidenceSource
    # The probability of each verdict, over all that could have been given.
    shares: Mapping[str, float] = field(default_factory=dict)
    # The probability that was on none of them, before that; None where nobody knows.
    outside: float | None = None

    def __post_init__(self) -> None:
        if not all(is_share(number) for number in (self.value, *self.shares.values(), self.outside or 0.0)):
            raise ValueError(f"a confidence is a number from 0 to 1, and {self.value!r} or a share beside it is none")

    @property
    def is_probability(self) -> bool:
        """Whether it may be held against how often such verdicts are right; a written word may not."""
        return bool(self.shares)

    def document(self) -> dict[str, Any]:
        """What the journal has of it."""
        shares = dict(self.shares)
        return {"value": self.value, "source": self.source, "shares": shares, "outside": self.outside}


def read_confidence(document: Mapping[str, Any] | None) -> Confidence | None:
    """What `Confidence.document` wrote; raises ValueError or KeyError for what it never would."""
    if document is None:
        return None
    source = ConfidenceSource(document["source"])
    return Confidence(document["value"], source, document["shares"], document["outside"])


def is_share(number: object) -> bool:
    """A finite number from 0 to 1; True is none."""
    # A comparison with NaN is false.
    return isinstance(number, int | float) and not isinstance(number, bool) and 0.0 <= number <= 1.0


def confidence_in(
    verdict: str, masses: Mapping[str, float], source: ConfidenceSource, outside: float | None = None
) -> Confidence | None:
    """The confidence in a verdict from the mass of each that could be given; None where there is no mass at all."""
    shares = renormalise(masses)
    if shares is None or verdict not in shares:
        return None
    return Confidence(shares[verdict], source, shares, outside)


def renormalise(masses: Mapping[str, float]) -> dict[str, float] | None:
    """The masses as shares of their sum; None where that is nothing."""
    whole = math.fsum(masses.values())
    return {name: min(mass / whole, 1.0) for name, mass in masses.items()} if whole > 0 else None


def written_confidence(word: str) -> Confidence | None:
    """The place of the word in its order: 1, ⅔ and ⅓."""
    if word not in WRITTEN_WORDS:
        return None
    return Confidence(1 - WRITTEN_WORDS.index(word) / len(WRITTEN_WORDS), ConfidenceSource.WRITTEN)


def expected_value(shares: Mapping[str, float], values: Mapping[str, float]) -> float:
    """The mean of the values by their shares; a share without a value is an error of the caller's."""
    lowest, highest = min(values.values()), max(values.values())
    mean = math.fsum(share * values[name] for name, share in shares.items())
    # Whatever the last digit of a sum says.
    return min(max(mean, lowest), highest)


def columns_of(confidence: Confidence) -> dict[str, Any]:
    """The same beside other columns of a table, where `confidence` alone is a word that some judges write."""
    return {f"confidence_{name}": value for name, value in confidence.document().items()}
