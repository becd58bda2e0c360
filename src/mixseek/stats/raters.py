"""How far raters agree: raw, kappa, alpha and AC, from counted patterns of ratings.

A pattern is what the raters said about one item, in the order of the raters, None where one said nothing. Items with
the same pattern are counted together, so that a million judgments of a few judges are a few hundred patterns.

    one home of the formulas: Cohen 1960/68, Fleiss-Cohen-Everitt 1969, Krippendorff 2011, Gwet 2008/2014, Fleiss 1971
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from statistics import NormalDist
from typing import Any

from mixseek.domain.counts import UnitSums
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Interval, jackknife, unit_interval, with_questions

Pattern = tuple[float | None, ...]
Patterns = Mapping[Pattern, int]
# Sums of shares; a single rating among millions is far above it.
_ROUNDING = 1e-9


class Scale(StrEnum):
    """What a difference between two values means; it decides how much of an agreement a near miss is."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


class Weights(StrEnum):
    """How much a near miss counts in kappa and AC2."""

    NONE = "none"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


class Measure(StrEnum):
    """Coefficients of agreement in the order in which a report shows them; the name is their key in `mixseek stats`."""

    RAW = "raw"
    KAPPA = "kappa"
    KAPPA_LINEAR = "kappa_linear"
    KAPPA_QUADRATIC = "kappa_quadratic"
    FLEISS = "fleiss_kappa"
    ALPHA_NOMINAL = "alpha_nominal"
    ALPHA_ORDINAL = "alpha_ordinal"
    ALPHA_INTERVAL = "alpha_interval"
    AC1 = "ac1"
    AC2_LINEAR = "ac2_linear"
    AC2_QUADRATIC = "ac2_quadratic"


# Of two raters, who are told apart; with the weights of a near miss.
_KAPPAS = {
    Measure.KAPPA: Weights.NONE,
    Measure.KAPPA_LINEAR: Weights.LINEAR,
    Measure.KAPPA_QUADRATIC: Weights.QUADRATIC,
}
# These and Cohen's have standard errors in closed form.
GWETS = {
    Measure.AC1: Weights.NONE,
    Measure.AC2_LINEAR: Weights.LINEAR,
    Measure.AC2_QUADRATIC: Weights.QUADRATIC,
}
_ALPHAS = {
    Measure.ALPHA_NOMINAL: Scale.NOMINAL,
    Measure.ALPHA_ORDINAL: Scale.ORDINAL,
    Measure.ALPHA_INTERVAL: Scale.INTERVAL,
}


@dataclass(frozen=True, slots=True)
class Coefficient:
    """`value` is None where it is not defined; `why` says so, or why there is no interval.

    `interval` is over questions; `se`, where a formula has one, holds for independent items only. `of` is what was
    compared where there are several things to compare: verdicts, or scores. `over` are the items that count, where a
    coefficient needs equally many ratings of each.
    """

    measure: Measure
    value: float | None
    interval: Interval | None = None
    se: float | None = None
    of: str = ""
    why: str | None = None
    over: "EqualItems | None" = None


@dataclass(frozen=True, slots=True)
class EqualItems:
    """The items that have `ratings` each, out of all that were rated twice or more."""

    ratings: int
    items: int
    rated_twice: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A coefficient with its standard error under independent items, where a closed form exists."""

    value: float
    se: float | None = None

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """The normal interval of the closed form."""
        if self.se is None:
            return None
        half = NormalDist().inv_cdf((1 + level) / 2) * self.se
        return self.value - half, self.value + half


def rated_twice(patterns: Patterns) -> Patterns:
    """Items with at least two ratings: nothing else can agree."""
    return {pattern: count for pattern, count in patterns.items() if sum(value is not None for value in pattern) >= 2}


def weight_of(weights: Weights, categories: Sequence[float]) -> Callable[[float, float], float]:
    """1 for the same value, 0 for the two ends of the scale; by the values themselves, not by their ranks."""
    width = (categories[-1] - categories[0]) or 1.0
    if weights is Weights.LINEAR:
        return lambda x, y: 1 - abs(x - y) / width
    if weights is Weights.QUADRATIC:
        return lambda x, y: 1 - (x - y) ** 2 / width**2
    return lambda x, y: float(x == y)


@dataclass(frozen=True, slots=True)
class AgreementSums:
    """Items with at least two ratings as sums that add up over groups of questions; who said what is not in them.

    An item with `m` ratings brings every ordered pair of two of them, and every one of them, each by its share.
    """

    items: int = 0
    coincidences: Mapping[tuple[float, float], float] = field(default_factory=dict)  # Σ pairs / (m − 1)
    pairs: Mapping[tuple[float, float], float] = field(default_factory=dict)  # Σ pairs / m (m − 1): an item counts once
    totals: Mapping[float, float] = field(default_factory=dict)  # Σ ratings
    shares: Mapping[float, float] = field(default_factory=dict)  # Σ ratings / m

    @classmethod
    def of(cls, patterns: Patterns) -> "AgreementSums":
        """Patterns are what the raters said of an item, each counted as often as it occurs."""
        items = 0
        coincidences: dict[tuple[float, float], float] = defaultdict(float)
        pairs: dict[tuple[float, float], float] = defaultdict(float)
        totals: dict[float, float] = defaultdict(float)
        shares: dict[float, float] = defaultdict(float)
        for pattern, count in rated_twice(patterns).items():
            items += count
            tally = Counter(value for value in pattern if value is not None)
            ratings = tally.total()
            for x, n in tally.items():
                totals[x] += n * count
                shares[x] += n * count / ratings
                for y, m in tally.items():
                    coincidences[x, y] += count * n * (m - (x == y)) / (ratings - 1)
                    pairs[x, y] += count * n * (m - (x == y)) / (ratings * (ratings - 1))
        return cls(items, coincidences, pairs, totals, shares)

    @classmethod
    def total(cls, groups: "Iterable[AgreementSums]") -> "AgreementSums":
        """The sums of all groups together."""
        items = 0
        added: tuple[dict[Any, float], ...] = tuple(defaultdict(float) for _ in range(4))
        for group in groups:
            items += group.items
            for whole, part in zip(added, group.parts, strict=True):
                for key, value in part.items():
                    whole[key] += value
        return cls(items, *added)

    @property
    def parts(self) -> tuple[Mapping[Any, float], ...]:
        """What is added up key by key."""
        return self.coincidences, self.pairs, self.totals, self.shares

    def minus(self, group: "AgreementSums") -> "AgreementSums":
        """The sums without one group.

        What is left of a value that only the group had is nothing, not a rounding error.
        """
        rests = (
            {key: rest for key, value in whole.items() if (rest := value - part.get(key, 0.0)) > _ROUNDING}
            for whole, part in zip(self.parts, group.parts, strict=True)
        )
        return AgreementSums(self.items - group.items, *rests)


def raw_agreement(patterns: Patterns) -> float | None:
    """The share of pairs of ratings of one item that are equal, each item counted once."""
    return raw_of(AgreementSums.of(patterns))


def raw_of(sums: AgreementSums) -> float | None:
    """Raw agreement; None where no item was rated twice."""
    if not sums.items:
        return None
    return math.fsum(share for (x, y), share in sums.pairs.items() if x == y) / sums.items


def cohen_kappa(
    patterns: Patterns, weights: Weights = Weights.NONE, categories: Sequence[float] | None = None
) -> Estimate | None:
    """The kappa of two raters; None where both always say the same one thing: chance alone explains it."""
    table = Counter[tuple[float, float]]()
    for pattern, count in patterns.items():
        first, second = pattern
        if first is not None and second is not None:
            table[first, second] += count
    n = table.total()
    values = list(categories) if categories else sorted({value for pair in table for value in pair})
    if not n or len(values) < 2:
        return None
    weight = weight_of(weights, values)
    rows, columns = Counter[float](), Counter[float]()
    for (x, y), count in table.items():
        rows[x] += count
        columns[y] += count
    observed = math.fsum(weight(x, y) * count for (x, y), count in table.items()) / n
    row_means = {x: math.fsum(weight(x, y) * columns[y] for y in values) / n for x in values}
    column_means = {y: math.fsum(weight(x, y) * rows[x] for x in values) / n for y in values}
    expected = math.fsum(row_means[x] * rows[x] for x in values) / n
    if 1 - expected < 1e-12:
        return None
    kappa = (observed - expected) / (1 - expected)
    spread = math.fsum(
        count / n * (weight(x, y) - (row_means[x] + column_means[y]) * (1 - kappa)) ** 2
        for (x, y), count in table.items()
    )
    variance = (spread - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)
    return Estimate(kappa, math.sqrt(max(0.0, variance)))


def krippendorff_alpha(patterns: Patterns, scale: Scale) -> float | None:
    """Any number of raters, missing ratings allowed. None without variation: agreement cannot be told from habit."""
    return alpha_of(AgreementSums.of(patterns), scale)


def alpha_of(sums: AgreementSums, scale: Scale) -> float | None:
    """Krippendorff's alpha; None where nothing was said twice, or all said the same."""
    n = math.fsum(sums.totals.values())
    if n < 2:
        return None
    distance = _distance(scale, sums.totals)
    observed = math.fsum(share * distance(x, y) for (x, y), share in sums.coincidences.items()) / n
    expected = math.fsum(
        count * other * distance(x, y) for x, count in sums.totals.items() for y, other in sums.totals.items()
    ) / (n * (n - 1))
    # More than the rounding of equal values, whatever they are measured in; the other scales count ratings.
    size = max(map(abs, sums.totals)) ** 2 if scale is Scale.INTERVAL else 1.0
    return 1 - observed / expected if expected > 1e-24 * size else None


def _distance(scale: Scale, totals: Mapping[float, float]) -> Callable[[float, float], float]:
    """Krippendorff's squared differences; the ordinal one counts the ratings that lie between two values."""
    if scale is Scale.NOMINAL:
        return lambda x, y: float(x != y)
    if scale is Scale.INTERVAL:
        return lambda x, y: (x - y) ** 2
    middle, below = {}, 0.0
    for value in sorted(totals):
        middle[value] = below + totals[value] / 2
        below += totals[value]
    return lambda x, y: (middle[x] - middle[y]) ** 2


def gwet_ac(
    patterns: Patterns, weights: Weights = Weights.NONE, categories: Sequence[float] | None = None
) -> Estimate | None:
    """AC1 (no weights) or AC2: stays sensible where almost everything is one verdict, where kappa falls to nothing."""
    sums = AgreementSums.of(patterns)
    value = gwet_of(sums, weights, categories)
    if value is None:
        return None
    values = list(categories) if categories else sorted(sums.totals)
    weight, scale = weight_of(weights, values), _chance_scale(weights, values)
    shares = {x: share / sums.items for x, share in sums.shares.items()}
    expected = scale * math.fsum(share * (1 - share) for share in shares.values())
    squares = 0.0
    for pattern, count in rated_twice(patterns).items():
        tally = Counter(value for value in pattern if value is not None)
        ratings = tally.total()
        near = math.fsum(weight(x, y) * n * (m - (x == y)) for x, n in tally.items() for y, m in tally.items())
        chance = scale * math.fsum(n / ratings * (1 - shares[x]) for x, n in tally.items())
        agreed = near / (ratings * (ratings - 1))
        part = (agreed - expected) / (1 - expected) - 2 * (1 - value) * (chance - expected) / (1 - expected)
        squares += count * (part - value) ** 2
    return Estimate(value, math.sqrt(squares / (sums.items * (sums.items - 1))) if sums.items > 1 else None)


def gwet_of(
    sums: AgreementSums, weights: Weights = Weights.NONE, categories: Sequence[float] | None = None
) -> float | None:
    """AC1 or AC2 without a standard error."""
    values = list(categories) if categories else sorted(sums.totals)
    if not sums.items or len(values) < 2:
        return None
    weight = weight_of(weights, values)
    observed = math.fsum(weight(x, y) * share for (x, y), share in sums.pairs.items()) / sums.items
    shares = [share / sums.items for share in sums.shares.values()]
    expected = _chance_scale(weights, values) * math.fsum(share * (1 - share) for share in shares)
    return (observed - expected) / (1 - expected) if 1 - expected > 1e-12 else None


def _chance_scale(weights: Weights, values: Sequence[float]) -> float:
    """How much of an agreement two ratings at random have on average, over what two different categories allow."""
    weight = weight_of(weights, values)
    return math.fsum(weight(x, y) for x in values for y in values) / (len(values) * (len(values) - 1))


def fleiss_kappa(patterns: Patterns) -> float | None:
    """Several raters, on the items that have equally many ratings (`equally_rated`)."""
    return fleiss_of(AgreementSums.of(equally_rated(patterns)))


def equally_rated(patterns: Patterns) -> Patterns:
    """The items that Fleiss' kappa is computed from; who rated them may differ, how many did must not."""
    counts, raters = Counter[int](), 0
    for pattern, count in patterns.items():
        counts[_ratings_in(pattern)] += count
        raters = len(pattern)
    wanted = equal_ratings(counts, raters)
    return {pattern: count for pattern, count in patterns.items() if _ratings_in(pattern) == wanted}


def _ratings_in(pattern: Pattern) -> int:
    return sum(value is not None for value in pattern)


def equal_ratings(items: Mapping[int, int], raters: int) -> int | None:
    """How many ratings an item must have; `items` are counted by that number. None where no item has two.

    All raters, where any item has them; else (a model has no vote on its own output) what most items have.
    """
    counts = {ratings: count for ratings, count in items.items() if ratings > 1 and count}
    if not counts or raters in counts:
        return raters if counts else None
    return max(counts, key=lambda ratings: (counts[ratings], ratings))


def fleiss_of(equal: AgreementSums) -> float | None:
    """Fleiss' kappa of items with equally many ratings; None where there is none, or nothing but one value."""
    observed, ratings = raw_of(equal), math.fsum(equal.totals.values())
    if observed is None:
        return None
    expected = math.fsum((n / ratings) ** 2 for n in equal.totals.values())
    return (observed - expected) / (1 - expected) if 1 - expected > 1e-12 else None


def estimate_of(measure: Measure, patterns: Patterns, categories: Sequence[float] | None = None) -> Estimate | None:
    """Any coefficient, with its standard error where a closed form exists."""
    if measure in _KAPPAS:
        return cohen_kappa(patterns, _KAPPAS[measure], categories)
    if measure in GWETS:
        return gwet_ac(patterns, GWETS[measure], categories)
    value = fleiss_kappa(patterns) if measure is Measure.FLEISS else value_of(measure, AgreementSums.of(patterns))
    return None if value is None else Estimate(value)


def value_of(measure: Measure, sums: AgreementSums, categories: Sequence[float] | None = None) -> float | None:
    """Any coefficient but Cohen's, which know who said what; for Fleiss' the sums are of equally rated items."""
    if measure is Measure.RAW:
        return raw_of(sums)
    if measure is Measure.FLEISS:
        return fleiss_of(sums)
    if measure in GWETS:
        return gwet_of(sums, GWETS[measure], categories)
    return alpha_of(sums, _ALPHAS[measure])


@dataclass(frozen=True, slots=True)
class Confusion:
    """A judge against people on right-or-wrong verdicts; the first letter says whether the judge was right."""

    tp: int
    fp: int
    fn: int
    tn: int

    @classmethod
    def of(cls, patterns: Patterns) -> "Confusion":
        """The counts of patterns (judge, human) with 1 for positive."""
        cells = Counter[tuple[float | None, float | None]]()
        for (judge, human), count in patterns.items():
            cells[judge, human] += count
        return cls(cells[1, 1], cells[1, 0], cells[0, 1], cells[0, 0])

    @property
    def n(self) -> int:
        """Items with both verdicts."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def shares(self) -> dict[str, tuple[int, int]]:
        """How many of how many, by name. Sensitivity is of what people call right, ppv of what the judge does."""
        return {
            "accuracy": (self.tp + self.tn, self.n),
            "sensitivity": (self.tp, self.tp + self.fn),
            "specificity": (self.tn, self.tn + self.fp),
            "ppv": (self.tp, self.tp + self.fp),
            "npv": (self.tn, self.tn + self.fn),
        }

    @property
    def mcc(self) -> float | None:
        """Matthews' correlation; None where a row or a column is empty."""
        sides = (self.tp + self.fp) * (self.tp + self.fn) * (self.tn + self.fp) * (self.tn + self.fn)
        return (self.tp * self.tn - self.fp * self.fn) / math.sqrt(sides) if sides else None


def shares_over_questions(groups: Sequence[Confusion]) -> dict[str, Interval | None]:
    """Intervals of a judge's shares with the questions, or groups of them, as clusters; None with fewer than two."""
    intervals: dict[str, Interval | None] = {}
    for name in Confusion(0, 0, 0, 0).shares:
        counts = [group.shares[name] for group in groups if group.shares[name][1]]
        hits, trials = sum(part for part, _ in counts), sum(whole for _, whole in counts)
        sums = UnitSums(samples=trials, scored=trials, total=hits, total_of_squares=hits)
        intervals[name] = unit_interval(with_questions(sums, [(whole, part, 1) for part, whole in counts]))
    return intervals


def jackknife_interval(
    groups: Sequence[Patterns], estimate: Callable[[Patterns], Estimate | None], level: float = 0.95
) -> Interval | None:
    """Any coefficient's interval, leaving out one group of questions at a time; Student t with the groups' freedom.

    None with fewer than two groups, where the coefficient is undefined without one of them, or where all are alike.
    """
    whole = Counter[Pattern]()
    for group in groups:
        whole.update(group)

    def value(patterns: Patterns) -> float | None:
        result = estimate(patterns)
        return None if result is None else result.value

    def without(group: Patterns) -> float | None:
        return value({pattern: rest for pattern, count in whole.items() if (rest := count - group.get(pattern, 0)) > 0})

    return jackknife(value(whole), [without(group) for group in groups], level)


def within_reach(measure: Measure, interval: Interval | None) -> Interval | None:
    """Cut to what a coefficient can be: a share is not below nought, the others are not below -1."""
    least = 0.0 if measure is Measure.RAW else -1.0
    return replace(interval, low=max(least, interval.low)) if interval else None


def coefficients_of_sums(
    groups: Sequence[AgreementSums], measures: Iterable[Measure], categories: Sequence[float] | None = None
) -> list[Coefficient]:
    """The same of several coefficients that need sums only; those that are not defined are left out."""
    whole = AgreementSums.total(groups)
    rests = [whole.minus(group) for group in groups]
    coefficients = []
    for measure in measures:
        value = value_of(measure, whole, categories)
        if value is not None:
            without = [value_of(measure, rest, categories) for rest in rests]
            coefficients.append(Coefficient(measure, value, within_reach(measure, jackknife(value, without))))
    return coefficients
