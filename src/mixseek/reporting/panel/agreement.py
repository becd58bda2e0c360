"""Agreement between judges, and of each with itself: from counted patterns to coefficients with intervals; pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from mixseek.domain.counts import Disagreement, Ratings, TakeSums, UnitSums
from mixseek.stats.intervals import Interval, unit_interval
from mixseek.stats.raters import (
    Estimate,
    Pattern,
    Patterns,
    Scale,
    Weights,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    jackknife_interval,
    krippendorff_alpha,
    raw_agreement,
)
from mixseek.stats.repeats import own_share_of_variance


class Measure(StrEnum):
    """Coefficients in the order in which they are shown; the name is the key for programs."""

    RAW = "raw_agreement"
    KAPPA = "cohen_kappa"
    WEIGHTED_KAPPA = "weighted_kappa"
    FLEISS = "fleiss_kappa"
    ALPHA_NOMINAL = "alpha_nominal"
    ALPHA_ORDINAL = "alpha_ordinal"
    ALPHA_INTERVAL = "alpha_interval"
    AC1 = "gwet_ac1"
    AC2 = "gwet_ac2"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """`value` is None where it is not defined; `why` says so. `of` is what was compared: verdicts, or scores."""

    measure: Measure
    of: str
    value: float | None
    interval: Interval | None
    why: str | None = None


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


Estimator = Callable[[Patterns], Estimate | float | None]
# Of any number of judges, then of two; with what each compares.
_OF_ALL: Mapping[Measure, tuple[str, Estimator]] = {
    Measure.RAW: ("verdicts", raw_agreement),
    Measure.FLEISS: ("verdicts", fleiss_kappa),
    Measure.ALPHA_NOMINAL: ("verdicts", lambda patterns: krippendorff_alpha(patterns, Scale.NOMINAL)),
    Measure.ALPHA_ORDINAL: ("scores", lambda patterns: krippendorff_alpha(patterns, Scale.ORDINAL)),
    Measure.ALPHA_INTERVAL: ("scores", lambda patterns: krippendorff_alpha(patterns, Scale.INTERVAL)),
    Measure.AC1: ("verdicts", gwet_ac),
    Measure.AC2: ("scores", lambda patterns: gwet_ac(patterns, Weights.QUADRATIC)),
}
_OF_TWO: Mapping[Measure, tuple[str, Estimator]] = {
    Measure.RAW: ("verdicts", raw_agreement),
    Measure.KAPPA: ("verdicts", cohen_kappa),
    Measure.WEIGHTED_KAPPA: ("scores", lambda patterns: cohen_kappa(patterns, Weights.QUADRATIC)),
    Measure.AC1: ("verdicts", gwet_ac),
}


def build_agreement(
    ratings: Ratings, disagreements: tuple[int, Sequence[Disagreement]], *, is_graded: bool
) -> Agreement:
    """Every coefficient with an interval that leaves out one hand of questions at a time."""
    groups = {"verdicts": ratings.verdict_groups, "scores": ratings.score_groups}
    of_all = dict(_OF_ALL)
    if len(ratings.judges) == 2:
        # Fleiss' is for more; Cohen's, and its weighted form, for these.
        of_all = {**_OF_TWO, **{measure: how for measure, how in _OF_ALL.items() if measure is not Measure.FLEISS}}
    coefficients = [_coefficient(measure, of, estimate, groups[of]) for measure, (of, estimate) in of_all.items()]
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


def _compare_pairs(judges: Sequence[str], groups: Mapping[str, Sequence[Patterns]]) -> list[JudgePair]:
    pairs = []
    for second in range(len(judges)):
        for first in range(second):
            own = {of: [_project(hand, first, second) for hand in hands] for of, hands in groups.items()}
            samples = sum(sum(hand.values()) for hand in own["verdicts"])
            if samples:
                coefficients = tuple(
                    _coefficient(measure, of, estimate, own[of]) for measure, (of, estimate) in _OF_TWO.items()
                )
                pairs.append(JudgePair(judges[first], judges[second], samples, coefficients))
    return pairs


def _project(patterns: Patterns, first: int, second: int) -> Patterns:
    """Of two judges, the samples that both judged."""
    found = Counter[Pattern]()
    for pattern, count in patterns.items():
        pair = pattern[first], pattern[second]
        if None not in pair:
            found[pair] += count
    return found


def _coefficient(measure: Measure, of: str, estimate: Estimator, hands: Sequence[Patterns]) -> Coefficient:
    def value_of(patterns: Patterns) -> float | None:
        found = estimate(patterns)
        return found.value if isinstance(found, Estimate) else found

    filled = [hand for hand in hands if hand]
    whole = Counter[Pattern]()
    for hand in filled:
        whole.update(hand)
    value = value_of(whole)
    if value is None:
        said = "nobody rated twice" if not whole else f"all {of} are the same, which chance alone explains"
        return Coefficient(measure, of, None, None, f"not defined: {said}")
    if len(filled) < 2:
        return Coefficient(measure, of, value, None, "no interval: one question")
    interval = _cut(measure, jackknife_interval(filled, value_of))
    if interval is None:
        # A width of nought would claim certainty.
        why = "no interval: every question says the same, or without one of them there is no value"
        return Coefficient(measure, of, value, None, why)
    return Coefficient(measure, of, value, interval)


def _cut(measure: Measure, interval: Interval | None) -> Interval | None:
    """To what a coefficient can be: a share is not below nought, the others are not below -1."""
    least = 0.0 if measure is Measure.RAW else -1.0
    return replace(interval, low=max(least, interval.low)) if interval else None


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
