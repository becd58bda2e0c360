"""Votes of a jury as one verdict: the majority, or Dawid and Skene's estimate of who errs how.

Dawid–Skene assumes that voters err independently of each other, given the truth, and each alike on all items. Judges
made of the same model, or of the same training data, do not; then it trusts their common error. An option, not a rule.

one home of the formulas: Dawid & Skene 1979 (EM from vote shares, no smoothing)
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import binomial_two_sided

ASSUMPTION = (
    "Dawid–Skene assumes that judges err independently of each other; judges that share a model or its training data "
    "do not, and then it trusts their common error"
)
_MOST_ITERATIONS = 10_000
_SMALL_GAIN = 1e-13


@dataclass(frozen=True, slots=True)
class Ballot:
    """What voters said about items that look alike to a jury: (voter, label) each; `truth` is None where unknown."""

    votes: Sequence[tuple[int, float]]
    items: int = 1
    truth: float | None = None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """`right` of `known` items; a majority of k labels with as many votes is right by 1/k."""

    right: float
    known: int

    @property
    def share(self) -> float | None:
        return self.right / self.known if self.known else None


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """`labels[n]` is the likeliest one of the n-th ballot; `prior` says how common each is."""

    labels: Sequence[float]
    prior: Mapping[float, float]
    log_likelihood: float
    iterations: int
    has_converged: bool


def majority_labels(ballot: Ballot) -> list[float]:
    """The label with most votes; several where they have as many."""
    counts = Counter(label for _, label in ballot.votes)
    most = max(counts.values())
    return sorted(label for label, count in counts.items() if count == most)


def majority_accuracy(ballots: Sequence[Ballot]) -> tuple[Accuracy, int]:
    """The majority's accuracy, and in how many items no label had most votes."""
    right, known, tied = 0.0, 0, 0
    for ballot in ballots:
        labels = majority_labels(ballot)
        tied += ballot.items * (len(labels) > 1)
        if ballot.truth is not None:
            known += ballot.items
            right += ballot.items * (ballot.truth in labels) / len(labels)
    return Accuracy(right, known), tied


def voter_accuracy(ballots: Sequence[Ballot]) -> dict[int, Accuracy]:
    """The accuracy of each voter on what it voted about."""
    right, known = Counter[int](), Counter[int]()
    for ballot in ballots:
        if ballot.truth is not None:
            for voter, label in ballot.votes:
                known[voter] += ballot.items
                right[voter] += ballot.items * (label == ballot.truth)
    return {voter: Accuracy(right[voter], known[voter]) for voter in sorted(known)}


def dawid_skene(ballots: Sequence[Ballot]) -> DawidSkene:
    """Labels by EM, until an item's likelihood no longer grows; of at least one vote."""
    labels = sorted({label for ballot in ballots for _, label in ballot.votes})
    places = {label: place for place, label in enumerate(labels)}
    # Ballots that say the same are weighed once, however many there are.
    same = Counter[tuple[tuple[int, float], ...]]()
    for ballot in ballots:
        same[tuple(ballot.votes)] += ballot.items
    votes = [[(voter, places[label]) for voter, label in pattern] for pattern in same]
    sizes = list(same.values())
    items = sum(sizes)
    beliefs = [
        [sum(label == place for _, label in pattern) / len(pattern) for place in range(len(labels))]
        for pattern in votes
    ]
    before, iteration, has_converged = -math.inf, 0, False
    while iteration < _MOST_ITERATIONS and not has_converged:
        iteration += 1
        prior, errors = _maximise(votes, sizes, beliefs, len(labels))
        likelihood = _expect(votes, sizes, beliefs, prior, errors)
        has_converged = abs(likelihood - before) < _SMALL_GAIN * items
        before = likelihood
    likeliest = {
        pattern: labels[max(range(len(labels)), key=belief.__getitem__)]
        for pattern, belief in zip(same, beliefs, strict=True)
    }
    decided = [likeliest[tuple(ballot.votes)] for ballot in ballots]
    return DawidSkene(decided, dict(zip(labels, prior, strict=True)), before, iteration, has_converged)


def dawid_skene_accuracy(ballots: Sequence[Ballot], fit: DawidSkene) -> Accuracy:
    """The accuracy of the likeliest labels."""
    pairs = [(ballot, label) for ballot, label in zip(ballots, fit.labels, strict=True) if ballot.truth is not None]
    right = sum(ballot.items for ballot, label in pairs if ballot.truth == label)
    return Accuracy(right, sum(ballot.items for ballot, _ in pairs))


_Errors = Mapping[int, Sequence[Sequence[float]]]


def _maximise(
    votes: Sequence[Sequence[tuple[int, int]]], sizes: Sequence[int], beliefs: Sequence[Sequence[float]], labels: int
) -> tuple[list[float], _Errors]:
    """How common each label is, and how likely each voter says what where it is true."""
    counts: defaultdict[int, list[list[float]]] = defaultdict(lambda: [[0.0] * labels for _ in range(labels)])
    prior = [0.0] * labels
    for pattern, size, belief in zip(votes, sizes, beliefs, strict=True):
        for truth, share in enumerate(belief):
            prior[truth] += size * share
        for voter, label in pattern:
            table = counts[voter]
            for truth, share in enumerate(belief):
                table[truth][label] += size * share
    whole = sum(sizes)
    for table in counts.values():
        for truth, row in enumerate(table):
            total = math.fsum(row)
            table[truth] = [count / total for count in row] if total > 0 else [0.0] * labels
    return [share / whole for share in prior], counts


def _log(share: float) -> float:
    return math.log(share) if share > 0 else -math.inf


def _expect(
    votes: Sequence[Sequence[tuple[int, int]]],
    sizes: Sequence[int],
    beliefs: list[list[float]],
    prior: Sequence[float],
    errors: _Errors,
) -> float:
    """New beliefs in place; the log likelihood that goes with them."""
    total = 0.0
    priors = [_log(share) for share in prior]
    log_errors = {voter: [[_log(share) for share in row] for row in rows] for voter, rows in errors.items()}
    for place, (pattern, size) in enumerate(zip(votes, sizes, strict=True)):
        logs = [
            math.fsum((log_prior, *(log_errors[voter][truth][label] for voter, label in pattern)))
            for truth, log_prior in enumerate(priors)
        ]
        highest = max(logs)
        parts = [math.exp(value - highest) for value in logs]
        whole = math.fsum(parts)
        beliefs[place] = [part / whole for part in parts]
        total += size * (highest + math.log(whole))
    return total


# Two responses shown in both orders: how often a judge says the same, and how often it follows the order.
#
# A vote is 1 for response A, 0 for response B, 0.5 for a tie and None where there is none, always by the responses
# themselves and not by where they stood.

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
        """A number from -1 (always what came last) to 1 (always what came first)."""
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
    """Counted pairs are of the vote where A came first, the vote where B came first, and the truth (None: unknown)."""
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
