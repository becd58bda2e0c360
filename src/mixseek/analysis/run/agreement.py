"""Agreement between judges, and of each with itself: from counts to numbers with intervals."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from mixseek.domain.counts import Ratings, TakeSums, UnitSums
from mixseek.domain.scored_counts import Disagreement
from mixseek.lazy_dataclass import dataclass
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
        return next(coefficient for coefficient in self.coefficients if coefficient.measure is measure)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement between judges; `items` are the first of `disagreements`, those that are furthest apart."""

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
    filter_names: Mapping[str, str] = field(default_factory=dict)  # what lists of judgments know the judges by

    def of(self, measure: Measure) -> Coefficient | None:
        return next((coefficient for coefficient in self.coefficients if coefficient.measure is measure), None)

    def between(self, first: str, second: str) -> JudgePair | None:
        """The pair, whichever of the two is named first."""
        return next((pair for pair in self.pairs if {pair.first, pair.second} == {first, second}), None)


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
    """Every coefficient with an interval that leaves out one group of questions at a time."""
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
        coefficients=tuple(sorted(coefficients, key=lambda coefficient: order.index(coefficient.measure))),
        pairs=tuple(_compare_pairs(ratings.judges, groups)),
        disagreements=disagreements[0],
        items=tuple(disagreements[1]),
        is_graded=is_graded,
        counted=ratings.counted,
    )


def between(of: str, groups: Sequence[Patterns], measures: Iterable[Measure]) -> list[Coefficient]:
    """Coefficients of any number of judges, in what they say (`of`: verdicts, scores), by groups of questions."""
    return [
        _fleiss(of, groups) if measure is Measure.FLEISS else _coefficient(measure, of, groups) for measure in measures
    ]


def _compare_pairs(judges: Sequence[str], groups: Mapping[str, Sequence[Patterns]]) -> list[JudgePair]:
    pairs = []
    for second in range(len(judges)):
        for first in range(second):
            projected = {of: [project(group, first, second) for group in parts] for of, parts in groups.items()}
            samples = sum(sum(group.values()) for group in projected["verdicts"])
            if samples:
                coefficients = tuple(_coefficient(measure, of, projected[of]) for measure, of in _OF_TWO.items())
                pairs.append(JudgePair(judges[first], judges[second], samples, coefficients))
    return pairs


def project(patterns: Patterns, first: int, second: int) -> Patterns:
    """The samples that both of two judges judged."""
    pairs = Counter[Pattern]()
    for pattern, count in patterns.items():
        pair = pattern[first], pattern[second]
        if None not in pair:
            pairs[pair] += count
    return pairs


def _fleiss(of: str, groups: Sequence[Patterns]) -> Coefficient:
    """Fleiss' kappa of samples with equally many ratings, chosen once, so that no group left out changes which."""
    whole = Counter[Pattern]()
    for group in groups:
        whole.update(group)
    equal = equally_rated(whole)
    coefficient = _coefficient(Measure.FLEISS, of, [_only(group, equal) for group in groups])
    ratings = max((len(pattern) - pattern.count(None) for pattern in equal), default=0)
    over = EqualItems(ratings, sum(equal.values()), sum(rated_twice(whole).values()))
    return replace(coefficient, over=over if equal else None)


def _only(group: Patterns, patterns: Patterns) -> Patterns:
    return {pattern: count for pattern, count in group.items() if pattern in patterns}


def _coefficient(measure: Measure, of: str, groups: Sequence[Patterns]) -> Coefficient:
    estimate = partial(estimate_of, measure)
    filled = [group for group in groups if group]
    whole = Counter[Pattern]()
    for group in filled:
        whole.update(group)
    result = estimate(whole)
    if result is None:
        reason = "nobody rated twice" if not whole else f"all {of} are the same, which chance alone explains"
        return Coefficient(measure, None, of=of, why=f"not defined: {reason}")
    if len(filled) < 2:
        return Coefficient(measure, result.value, of=of, why="no interval: one question")
    interval = within_reach(measure, jackknife_interval(filled, estimate))
    # A width of nought would claim certainty.
    why = None if interval else "no interval: every question says the same, or without one of them there is no value"
    return Coefficient(measure, result.value, interval, of=of, why=why)


def build_consistency(groups: Sequence[TakeSums], alike: Mapping[str, UnitSums]) -> tuple[SelfConsistency, ...]:
    """One line a judge, in their order; `alike` counts samples with one verdict. Empty where nobody was asked twice."""
    lines = []
    for judge in dict.fromkeys(group.judge for group in groups):
        judge_groups = [group for group in groups if group.judge == judge]
        share = own_share_of_variance(judge_groups)
        units = alike[judge]
        lines.append(
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
    return tuple(lines)
