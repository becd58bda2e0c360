"""What votes between two responses, their length and juries come to, as plain data."""

from collections.abc import Sequence

from mixseek.domain.shown import Shown
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Interval
from mixseek.stats.jury import Accuracy, DawidSkene, Position, VoteCount
from mixseek.stats.regression import Fit

ORDERS = ("AB", "BA")


@dataclass(frozen=True, slots=True)
class VoteLine:
    """One judge: pairs that it saw in both orders, and all of its votes. Intervals are over questions."""

    judge: str
    position: Position
    consistency: Interval | None
    bias: Interval | None
    counts: Sequence[VoteCount]
    first_shown: Interval | None

    def votes_for(self, order: str, *, first: bool) -> int:
        """How often what came first (or last) won in that order."""
        wanted = float((order == "AB") is first)
        return sum(row.count for row in self.counts if row.shown == order and row.vote == wanted)

    def count(self, vote: float | None, order: str | None = None) -> int:
        return sum(row.count for row in self.counts if row.vote == vote and order in (None, row.shown))

    @property
    def decisive(self) -> int:
        return self.count(0.0) + self.count(1.0)

    @property
    def first_votes(self) -> int:
        return sum(self.votes_for(order, first=True) for order in ORDERS)

    @property
    def accuracy(self) -> Accuracy:
        """The accuracy of decisive votes whose truth is known."""
        known = [row for row in self.counts if row.vote in (0, 1) and row.truth is not None]
        return Accuracy(sum(row.count for row in known if row.vote == row.truth), sum(row.count for row in known))


@dataclass(frozen=True, slots=True)
class LengthLine:
    """One judge: what its votes (a logit) or its lead over others (a line) follow; `fit` is None where that is open."""

    judge: str
    predictors: Sequence[str]
    n: int
    fit: Fit | None
    is_vote: bool = False


@dataclass(frozen=True, slots=True)
class VoterLine:
    """How good one judge alone is."""

    judge: str
    accuracy: Accuracy


@dataclass(frozen=True, slots=True)
class JurySection:
    """All judges together against the best of them, which only the truth could name beforehand."""

    items: int
    votes: int
    labels: Sequence[str]
    majority: Accuracy
    ties: int
    estimated: DawidSkene
    estimated_accuracy: Accuracy
    voters: Sequence[VoterLine]

    @property
    def best(self) -> VoterLine | None:
        """The name that sorts first where several are as good."""
        known = [voter for voter in self.voters if voter.accuracy.share is not None]
        return max(known, key=lambda voter: voter.accuracy.share or 0.0) if known else None

    @property
    def mean_single(self) -> float | None:
        shares = [voter.accuracy.share for voter in self.voters if voter.accuracy.share is not None]
        return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True, slots=True)
class VoteStatistics(Shown):
    """What `mixseek stats` says with --votes, --length or --jury."""

    source: str
    ratings: int
    items: int
    questions: int
    truth: str | None
    votes: Sequence[VoteLine]
    length: Sequence[LengthLine]
    jury: JurySection | None
    notes: Sequence[str]
