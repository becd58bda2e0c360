"""Agreement between judges, and of each with itself: from counts to numbers with intervals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mixseek.domain.counts import Ratings, TakeSums, UnitSums
from mixseek.domain.scored_counts import Disagreement
from mixseek.stats.intervals import Interval, unit_interval
from mixseek.stats.own_share import own_share_of_variance
from mixseek.stats.raters import (
    Coefficient,
    EqualItems,
    Measure,
    Pattern,
    Patterns,
    equally_rated,
    estimate_of,
    jackknife_interval,
    rated_twice,
    within_reach,
)


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges on the samples that both judged."""

    first: str
    second: str
    samples: int
    coefficients: tuple[Coefficient, ...]

    def of(self, measure: Measure) -> Coefficient:
        return next(one for one in self.coefficients if one.measure is measure)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Between judges; `items` are the first of `disagreements`, those that are furthest apart."""

    judges: tuple[str, ...]
    samples: int
    questions: int
    unanimous: int
    unanimous_interval: Interval | None
    mean_spread: float
    coefficients: tuple[Coefficient, ...]
    pairs: tuple[JudgePair, ...]
    disagreements: int
    items: tuple[Disagreement, ...]
    is_graded: bool
    counted: int  # of `samples`: those that coefficients are computed from

    def of(self, measure: Measure) -> Coefficient | None:
        return next((one for one in self.coefficients if one.measure is measure), None)

    def between(self, first: str, second: str) -> JudgePair | None:
        """The pair, whichever of the two is named first."""
        return next((one for one in self.pairs if {one.first, one.second} == {first, second}), None)


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """One judge over samples that it judged several times."""

    judge: str
    samples: int
    questions: int
    unanimous: int  # one verdict in all takes
    unanimous_interval: Interval | None
    own_share: float | None  # of the variance
    own_interval: Interval | None


# What each compares: of any number of judges, then of two.
_OF_ALL: Mapping[Measure, str] = {
    Measure.RAW: "verdicts",
    Measure.FLEISS: "verdicts",
    Measure.ALPHA_NOMINAL: "verdicts",
    Measure.ALPHA_ORDINAL: "scores",
    Measure.ALPHA_INTERVAL: "scores",
    Measure.AC1: "verdicts",
    Measure.AC2_QUADRATIC: "scores",
}
_OF_TWO: Mapping[Measure, str] = {
    Measure.RAW: "verdicts",
    Measure.KAPPA: "verdicts",
    Measure.KAPPA_QUADRATIC: "scores",
    Measure.AC1: "verdicts",
}


def build_agreement(
    ratings: Ratings, disagreements: tuple[int, Sequence[Disagreement]], *, is_graded: bool
) -> Agreement:
    """Every coefficient with an interval that leaves out one hand of questions at a time."""
    groups = {"verdicts": ratings.verdict_groups, "scores": ratings.score_groups}
    of_all = dict(_OF_ALL)
    if len(ratings.judges) == 2:
        # Fleiss' is for more; Cohen's, and its weighted form, for these.
        of_all = {**_OF_TWO, **{measure: of for measure, of in _OF_ALL.items() if measure is not Measure.FLEISS}}
    coefficients = [coefficient for measure, of in of_all.items() for coefficient in between(of, groups[of], [measure])]
    order = list(Measure)
    return Agreement(
        judges=ratings.judges,
        samples=ratings.samples,
        questions=ratings.unanimous.questions,
        unanimous=round(ratings.unanimous.total),
        unanimous_interval=unit_interval(ratings.unanimous),
        mean_spread=ratings.mean_spread,
        coefficients=tuple(sorted(coefficients, key=lambda one: order.index(one.measure))),
        pairs=tuple(_compare_pairs(ratings.judges, groups)),
        disagreements=disagreements[0],
        items=tuple(disagreements[1]),
        is_graded=is_graded,
        counted=ratings.counted,
    )


def between(of: str, hands: Sequence[Patterns], measures: Iterable[Measure]) -> list[Coefficient]:
    """Of any number of judges, in what they say (`of`: verdicts, scores), by hands of questions."""
    return [
        _fleiss(of, hands) if measure is Measure.FLEISS else _coefficient(measure, of, hands) for measure in measures
    ]


def _compare_pairs(judges: Sequence[str], groups: Mapping[str, Sequence[Patterns]]) -> list[JudgePair]:
    pairs = []
    for second in range(len(judges)):
        for first in range(second):
            own = {of: [project(hand, first, second) for hand in hands] for of, hands in groups.items()}
            samples = sum(sum(hand.values()) for hand in own["verdicts"])
            if samples:
                coefficients = tuple(_coefficient(measure, of, own[of]) for measure, of in _OF_TWO.items())
                pairs.append(JudgePair(judges[first], judges[second], samples, coefficients))
    return pairs


def project(patterns: Patterns, first: int, second: int) -> Patterns:
    """Of two judges, the samples that both judged."""
    found = Counter[Pattern]()
    for pattern, count in patterns.items():
        pair = pattern[first], pattern[second]
        if None not in pair:
            found[pair] += count
    return found


def _fleiss(of: str, hands: Sequence[Patterns]) -> Coefficient:
    """Of the samples with equally many ratings: chosen once, so that no hand that is left out changes which."""
    whole = Counter[Pattern]()
    for hand in hands:
        whole.update(hand)
    equal = equally_rated(whole)
    found = _coefficient(Measure.FLEISS, of, [_only(hand, equal) for hand in hands])
    ratings = max((len(pattern) - pattern.count(None) for pattern in equal), default=0)
    over = EqualItems(ratings, sum(equal.values()), sum(rated_twice(whole).values()))
    return replace(found, over=over if equal else None)


def _only(hand: Patterns, kept: Patterns) -> Patterns:
    return {pattern: count for pattern, count in hand.items() if pattern in kept}


def _coefficient(measure: Measure, of: str, hands: Sequence[Patterns]) -> Coefficient:
    estimate = partial(estimate_of, measure)
    filled = [hand for hand in hands if hand]
    whole = Counter[Pattern]()
    for hand in filled:
        whole.update(hand)
    found = estimate(whole)
    if found is None:
        said = "nobody rated twice" if not whole else f"all {of} are the same, which chance alone explains"
        return Coefficient(measure, None, of=of, why=f"not defined: {said}")
    if len(filled) < 2:
        return Coefficient(measure, found.value, of=of, why="no interval: one question")
    interval = within_reach(measure, jackknife_interval(filled, estimate))
    # A width of nought would claim certainty.
    why = None if interval else "no interval: every question says the same, or without one of them there is no value"
    return Coefficient(measure, found.value, interval, of=of, why=why)


def build_consistency(hands: Sequence[TakeSums], alike: Mapping[str, UnitSums]) -> tuple[SelfConsistency, ...]:
    """In the order of the judges; `alike` counts samples with one verdict. Empty where nobody was asked twice."""
    found = []
    for judge in dict.fromkeys(one.judge for one in hands):
        own = [one for one in hands if one.judge == judge]
        share = own_share_of_variance(own)
        units = alike[judge]
        found.append(
            SelfConsistency(
                judge=judge,
                samples=units.scored,
                questions=units.questions,
                unanimous=round(units.total),
                unanimous_interval=unit_interval(units),
                own_share=share.value,
                own_interval=share.interval,
            )
        )
    return tuple(found)
