"""What became of a run that followed a cascade file: which tier decided how much, and what is left for people."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.counts import StatusCounts
from mixseek.domain.routing import joined_name
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RoutedTier:
    """One tier that was asked; `decided` are samples whose verdict counts because it was sure enough."""

    name: str
    judges: tuple[str, ...]
    source: str | None
    threshold: float | None
    asked: int
    decided: int


@dataclass(frozen=True, slots=True)
class RouteSummary:
    """The promise of the certificate, and what each tier came to.

    `by_last` are samples whose verdict counts although nobody is sure enough: a judge has the last word, and they are
    beside the promise. `left` have no verdict: they wait for people, or no judge gave one.
    """

    agree: float
    confidence: float
    made_on: str
    labels: int
    agreement: float
    agreement_low: float
    agreement_high: float
    certificate: str
    tiers: tuple[RoutedTier, ...]
    samples: int
    by_last: int
    left: int

    @property
    def decided(self) -> int:
        return sum(tier.decided for tier in self.tiers)


def summarise_route(route: Mapping[str, Any], counts: Mapping[str, StatusCounts], last_words: int) -> RouteSummary:
    """`counts` are by judge, `last_words` verdicts of the last one that it was not sure enough of."""
    cascade, certificate, last = route["cascade"], route["certificate"], route["cascade"]["last"]
    tiers = []
    for table in route["tiers"]:
        if table.get("threshold") is None and table["name"] != last:
            continue
        judges = tuple(table["judges"])
        voice = joined_name(table["name"], judges, table.get("repeats", 1)) or judges[0]
        known = counts.get(voice, StatusCounts())
        # The last judge may be sure enough of some, and those are decided by certificate as any other tier's.
        decided = known.valid - (last_words if table["name"] == last else 0)
        tiers.append(
            RoutedTier(table["name"], judges, table.get("confidence"), table.get("threshold"), known.total, decided)
        )
    asked = tiers[0].asked if tiers else 0
    return RouteSummary(
        agree=cascade["agree"],
        confidence=cascade["confidence"],
        made_on=str(certificate["made_on"]),
        labels=certificate["labels"]["count"],
        agreement=certificate["agreement"],
        agreement_low=certificate["agreement_low"],
        agreement_high=certificate["agreement_high"],
        certificate=certificate["digest"],
        tiers=tuple(tiers),
        samples=asked,
        by_last=last_words,
        left=asked - last_words - sum(tier.decided for tier in tiers),
    )
