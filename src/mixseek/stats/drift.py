"""Whether what a certificate promised still holds, looked at after every audited item and never too often.

A bet against the promise: each audited item multiplies the evidence, by more than one where people disagree, by less
where they agree. While the promise holds, the evidence is a game that nobody wins in the mean, so the chance that it
ever reaches 1 / alpha is at most alpha, however often somebody looks (Ville's inequality).
"""

from collections.abc import Iterable

from mixseek.lazy_dataclass import dataclass

ALPHA = 0.05
# The drift that is bet on: disagreement more by so much than was promised. A larger one is found the sooner.
BET_ON = 0.05


@dataclass(frozen=True, slots=True)
class DriftWatch:
    """What audits came to; `raised_at` is the number of the item with which drift was raised, None while it was not."""

    audited: int
    disagreements: float
    # The most evidence that there ever was; 1 / alpha raises.
    evidence: float
    raised_at: int | None

    @property
    def agreement(self) -> float | None:
        return None if not self.audited else 1 - self.disagreements / self.audited


def watch_drift(disagreements: Iterable[float], agree: float, alpha: float = ALPHA) -> DriftWatch:
    """Audited items in the order of being labelled: 0 where people agree with the decision, 1 where they do not."""
    promised = 1 - agree
    stake = min(BET_ON / (promised * (1 - promised)), 0.5 / promised)
    audited, disagreed, evidence, most = 0, 0.0, 1.0, 1.0
    raised_at: int | None = None
    for disagreement in disagreements:
        audited += 1
        disagreed += disagreement
        evidence *= 1 + stake * (disagreement - promised)
        most = max(most, evidence)
        if raised_at is None and evidence >= 1 / alpha:
            raised_at = audited
    return DriftWatch(audited, disagreed, most, raised_at)
