"""Pairs of responses: what became of the targets, and how far each judge follows the order; as data."""

from collections import Counter
from collections.abc import Mapping, Sequence

from mixseek.domain.counts import NO_UNITS, PairCounts, TargetPair, UnitSums
from mixseek.domain.judgments import Status
from mixseek.domain.panels import PairState, Preference
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Interval, unit_interval
from mixseek.stats.jury import Position, position_of


@dataclass(frozen=True, slots=True)
class Share:
    """A share of pairs with its interval over questions; None where there is nothing to measure."""

    value: float | None
    interval: Interval | None
    pairs: int
    questions: int


@dataclass(frozen=True, slots=True)
class JudgePairs:
    """One judge: `position` counts pairs that both orders were asked about, `states` those that came to a verdict."""

    judge: str
    position: Position
    states: Mapping[str, int]
    consistency: Share
    first_shown: Share
    ties: Share
    human: Share


@dataclass(frozen=True, slots=True)
class PairsReport:
    """`human` is what the panel's verdicts agree with people in; None for one judge, whose line says it."""

    judges: tuple[JudgePairs, ...]
    targets: Sequence[TargetPair]
    human: Share | None = None


def build_pairs(counts: PairCounts, judges: Sequence[str]) -> PairsReport:
    """Judges in the order of the manifest."""
    panel = counts.measures.get((None, "human"))
    return PairsReport(
        tuple(_judge(name, counts) for name in judges),
        counts.targets,
        share_of(panel) if panel is not None and panel.scored else None,
    )


def share_of(units: UnitSums) -> Share:
    """The share over pairs, questions as clusters."""
    return Share(units.mean, unit_interval(units), units.scored, units.questions)


def _judge(judge: str, counts: PairCounts) -> JudgePairs:
    orders = [order for order in counts.orders if order.judge == judge]
    states: Counter[str] = Counter()
    votes: Counter[tuple[float | None, float | None, float | None]] = Counter()
    for order in orders:
        if order.status is Status.VALID and order.state is not None:
            states[order.state] += order.count
        # With a single order there is no other to be held against it.
        if order.state != PairState.SINGLE:
            votes[_vote(order.verdict_ab), _vote(order.verdict_ba), _vote(order.human)] += order.count
    shares = {
        name: share_of(counts.measures.get((judge, name), NO_UNITS))
        for name in ("consistency", "first_shown", "tie", "human")
    }
    return JudgePairs(
        judge,
        position_of(votes),
        {state.value: states[state] for state in PairState if states[state]},
        shares["consistency"],
        shares["first_shown"],
        shares["tie"],
        shares["human"],
    )


def _vote(word: str | None) -> float | None:
    return None if word is None else Preference(word).score
