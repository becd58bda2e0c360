"""Whether a judge is as often right as it says: reliability, calibration error, Brier score.

A forecast is how likely a judge holds something to be, beside what people say of it. Questions are what is drawn:
intervals are over them, and labels that were drawn with unequal chances count by their weights.

    one home of the formulas: Brier 1950; Naeini, Cooper & Hauskrecht 2015 (ECE)
"""

import math
import operator
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from statistics import NormalDist

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import beta_cdf
from mixseek.stats.estimates import FEWEST_CLUSTERS, FEWEST_LABELS
from mixseek.stats.intervals import Interval, IntervalMethod, jackknife, mean_over_questions, question_groups
from mixseek.stats.risk_coverage import Decision, RiskCoverage, risk_coverage

BINS = 10
_NO_SPREAD = 1e-12
_STEPS = 50
_MOST_SCALE = 256.0


class CalibrationState(StrEnum):
    """Whether there is a number, and if not, why."""

    MEASURED = "measured"
    NO_LABELS = "no labels"
    TOO_FEW_LABELS = "too few labels"
    FEW_QUESTIONS = "few questions"


class Binning(StrEnum):
    """How forecasts are put together: tenths of 0..1, or as many in each as can be where equal ones stay together."""

    EQUAL_WIDTH = "equal width"
    EQUAL_MASS = "equal mass"


@dataclass(frozen=True, slots=True)
class Forecast:
    """How likely it was said to be (0..1), and what people say: 0 or 1, or the share of them that say so."""

    chance: float
    label: float
    question: str
    weight: float = 1.0

    @property
    def squared_error(self) -> float:
        """The forecast is held against one of the people, whichever is asked."""
        return self.label * (1 - self.chance) ** 2 + (1 - self.label) * self.chance**2


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Forecasts that are about the same: their mean, and the mean of what people say; `share` is of all weights."""

    low: float
    high: float
    labels: int
    share: float
    chance: float
    label: float
    interval: Interval | None

    @property
    def gap(self) -> float:
        """How much more often people say so than was foretold."""
        return self.label - self.chance


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """`value` is the plug-in ECE of these bins; a judge without any fault would have `by_chance` with as many labels.

    `corrected` is the error that would come out as `value` on average, and `interval` are those that it is compatible
    with: 0 is among them where chance alone may explain it.
    """

    value: float
    by_chance: float
    corrected: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class BrierScore:
    """The mean square of what lies between forecast and label; `reference` is that of whoever always says the base
    rate, `skill` how much less it is than that (1: none left, 0: no better; None where people all say the same)."""

    value: float
    interval: Interval | None
    reference: float
    skill: float | None
    skill_interval: Interval | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """All that labels say of forecasts; numbers are None in states that refuse them."""

    state: CalibrationState
    labels: int = 0
    questions: int = 0
    mean_chance: float | None = None
    mean_label: float | None = None
    bins: tuple[ReliabilityBin, ...] = ()
    error: CalibrationError | None = None
    equal_mass_bins: tuple[ReliabilityBin, ...] = ()
    equal_mass_error: CalibrationError | None = None
    brier: BrierScore | None = None
    risk: RiskCoverage | None = None


def calibrate(forecasts: Sequence[Forecast], decisions: Sequence[Decision] = ()) -> Calibration:
    """Everything about one judge; `decisions` are of its verdicts, where it gives any."""
    questions = {forecast.question for forecast in forecasts} or {decision.question for decision in decisions}
    labels = max(len(forecasts), len(decisions))
    state = state_of(labels, len(questions))
    if state is not CalibrationState.MEASURED:
        return Calibration(state, labels, len(questions))
    risk = risk_coverage(decisions) if decisions else None
    if not forecasts:
        return Calibration(state, labels, len(questions), risk=risk)
    bins, mass_bins = (reliability_bins(forecasts, binning) for binning in Binning)
    effect = residual_effect(forecasts)
    total = math.fsum(forecast.weight for forecast in forecasts)
    return Calibration(
        state,
        labels,
        len(questions),
        math.fsum(forecast.weight * forecast.chance for forecast in forecasts) / total,
        math.fsum(forecast.weight * forecast.label for forecast in forecasts) / total,
        tuple(cell.shown for cell in bins),
        calibration_error(bins, effect),
        tuple(cell.shown for cell in mass_bins),
        calibration_error(mass_bins, effect),
        brier_score(forecasts),
        risk,
    )


def state_of(labels: int, questions: int) -> CalibrationState:
    """Few labels show noise, and few questions no spread."""
    if not labels:
        return CalibrationState.NO_LABELS
    if labels < FEWEST_LABELS:
        return CalibrationState.TOO_FEW_LABELS
    return CalibrationState.FEW_QUESTIONS if questions < FEWEST_CLUSTERS else CalibrationState.MEASURED


def residual_effect(forecasts: Sequence[Forecast]) -> float:
    """How many labels weigh as much as one independent one: what is left of them is alike within a question."""
    residuals = [forecast.label - forecast.chance for forecast in forecasts]
    weights = [forecast.weight for forecast in forecasts]
    # A bias of all is no likeness of one question's.
    mean = math.fsum(map(operator.mul, weights, residuals)) / math.fsum(weights)
    deviations = [weight * (residual - mean) for weight, residual in zip(weights, residuals, strict=True)]
    by_question: defaultdict[str, float] = defaultdict(float)
    for forecast, deviation in zip(forecasts, deviations, strict=True):
        by_question[forecast.question] += deviation
    clustered = math.fsum(deviation**2 for deviation in by_question.values())
    independent = math.fsum(deviation**2 for deviation in deviations)
    return max(1.0, clustered / independent) if independent > _NO_SPREAD else 1.0


# Reliability.


@dataclass(frozen=True, slots=True)
class BinSums:
    """A bin, how many independent labels it is worth before questions are thought of (Kish), and the variance of its
    forecasts."""

    shown: ReliabilityBin
    effective: float
    spread: float


def reliability_bins(
    forecasts: Sequence[Forecast], binning: Binning = Binning.EQUAL_WIDTH, count: int = BINS
) -> tuple[BinSums, ...]:
    """Bins from the lowest forecast up; an empty one is absent."""
    total = math.fsum(forecast.weight for forecast in forecasts)
    if binning is Binning.EQUAL_WIDTH:
        groups: defaultdict[int, list[Forecast]] = defaultdict(list)
        for forecast in forecasts:
            groups[min(count - 1, int(forecast.chance * count))].append(forecast)
        return tuple(_bin_of(groups[number], number / count, (number + 1) / count, total) for number in sorted(groups))
    return tuple(_bin_of(group, group[0].chance, group[-1].chance, total) for group in _equal_groups(forecasts, count))


def _bin_of(group: Sequence[Forecast], low: float, high: float, total: float) -> BinSums:
    weight = math.fsum(forecast.weight for forecast in group)
    squares = math.fsum(forecast.weight**2 for forecast in group)
    chance = math.fsum(forecast.weight * forecast.chance for forecast in group) / weight
    label, interval = mean_over_questions([(forecast.label, forecast.question, forecast.weight) for forecast in group])
    spread = math.fsum(forecast.weight * (forecast.chance - chance) ** 2 for forecast in group) / weight
    shown = ReliabilityBin(low, high, len(group), weight / total, chance, label, interval)
    return BinSums(shown, weight * weight / squares, spread)


def _equal_groups(forecasts: Sequence[Forecast], count: int) -> list[list[Forecast]]:
    """Groups of neighbours, as even as equal forecasts let them be: those are never told apart."""
    ordered = sorted(forecasts, key=lambda forecast: forecast.chance)
    groups: list[list[Forecast]] = []
    begun = -1
    for place, forecast in enumerate(ordered):
        number = place * count // len(ordered)
        if not groups or (number != begun and forecast.chance != groups[-1][-1].chance):
            groups.append([])
            begun = number
        groups[-1].append(forecast)
    return groups


def calibration_error(bins: Sequence[BinSums], effect: float = 1.0, level: float = 0.95) -> CalibrationError:
    """ECE of the bins. Labels of n samples miss the truth by something, so that nobody's ECE is 0: how much chance
    alone gives is exact for binomial counts. For the interval, gaps like those that are seen are made smaller and
    larger until what is seen would be too much or too little."""
    pattern = _GapPattern.of(bins, effect)
    value = math.fsum(cell.shown.share * abs(cell.shown.gap) for cell in bins)
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    by_chance, _ = pattern.expected(0.0)
    low, middle, high = (pattern.scale_for(value, sign * quantile) for sign in (1.0, 0.0, -1.0))
    corrected, sampling = pattern.error(middle), quantile * pattern.drawn_error(middle)
    below, above = corrected - pattern.error(low), pattern.error(high) - corrected
    ends = (corrected - math.hypot(below, sampling), corrected + math.hypot(above, sampling))
    # Where chance alone explains it, no draw of samples makes it less.
    interval = Interval(max(0.0, ends[0]) if low else 0.0, min(1.0, ends[1]), level, IntervalMethod.GAPS)
    return CalibrationError(value, by_chance, corrected, interval)


@dataclass(frozen=True, slots=True)
class _Gap:
    """One bin: its share, its forecast, how many labels it is worth, its gap at a scale of 1, and how far forecasts
    differ inside of it (a variance)."""

    share: float
    chance: float
    trials: int
    gap: float
    spread: float

    def at(self, scale: float) -> float:
        """What people would say; no bin leaves 0..1."""
        return min(1.0, max(0.0, self.chance + scale * self.gap))


@dataclass(frozen=True, slots=True)
class _GapPattern:
    """True gaps that a judge may have."""

    cells: "tuple[_Gap, ...]"

    @classmethod
    def of(cls, bins: Sequence[BinSums], effect: float) -> "_GapPattern":
        """A gap that is not seen may still be as large as what hides it."""
        cells = []
        for cell in bins:
            chance, trials = cell.shown.chance, max(1, round(cell.effective / effect))
            hidden = chance * (1 - chance) / trials
            gap = math.copysign(math.sqrt(cell.shown.gap**2 + hidden), cell.shown.gap)
            cells.append(_Gap(cell.shown.share, chance, trials, gap, cell.spread))
        return cls(tuple(cells))

    def error(self, scale: float) -> float:
        """The true error at that scale."""
        return math.fsum(cell.share * abs(cell.at(scale) - cell.chance) for cell in self.cells)

    def expected(self, scale: float) -> tuple[float, float]:
        """What labels would show on average, and how far they would stray (one standard deviation)."""
        mean = variance = 0.0
        for cell in self.cells:
            distance, spread = absolute_deviation(cell.trials, cell.at(scale), cell.chance)
            mean += cell.share * distance
            variance += cell.share**2 * spread
        return mean, math.sqrt(variance)

    def drawn_error(self, scale: float) -> float:
        """The standard error that the error at that scale has because other samples have other forecasts."""
        gaps = [cell.at(scale) - cell.chance for cell in self.cells]
        squares = math.fsum(cell.share * gap * gap for cell, gap in zip(self.cells, gaps, strict=True))
        between = max(0.0, squares - self.error(scale) ** 2) / sum(cell.trials for cell in self.cells)
        within = math.fsum(cell.share**2 * cell.spread / cell.trials for cell in self.cells)
        return math.sqrt(between + min(1.0, scale) ** 2 * within)

    def scale_for(self, value: float, quantile: float) -> float:
        """The scale at which the value lies that many deviations above the mean; 0 where it does already."""

        def reached(scale: float) -> bool:
            mean, spread = self.expected(scale)
            return mean + quantile * spread >= value

        low, high = 0.0, 1.0
        if reached(low):
            return 0.0
        while not reached(high):
            low, high = high, high * 2
            if high > _MOST_SCALE:
                return high
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return high


def absolute_deviation(trials: int, mean: float, around: float) -> tuple[float, float]:
    """Mean and variance of how far a binomial share with that mean lies from `around` (de Moivre's, for any centre)."""
    centre, hits = trials * around, trials * mean
    most = min(trials, math.floor(centre + 1e-12))
    # E (centre − X)+ = centre · P(X ≤ most) − hits · P(X' ≤ most − 1), X' of one trial less.
    below = centre * _binomial_cdf(most, trials, mean) - hits * _binomial_cdf(most - 1, trials - 1, mean)
    distance = max(0.0, 2 * below + hits - centre)
    square = hits * (1 - mean) + (hits - centre) ** 2
    return distance / trials, max(0.0, square - distance * distance) / trials**2


def _binomial_cdf(most: int, trials: int, mean: float) -> float:
    if most < 0:
        return 0.0
    return 1.0 if most >= trials else beta_cdf(1 - mean, trials - most, most + 1)


# Brier's score.


def brier_score(forecasts: Sequence[Forecast]) -> BrierScore:
    """The mean over people and samples, with its skill against the base rate."""
    errors = [(forecast.squared_error, forecast.question, forecast.weight) for forecast in forecasts]
    value, interval = mean_over_questions(errors)
    parts = [_brier_sums(group) for group in question_groups(forecasts, lambda forecast: forecast.question)]
    whole = [math.fsum(part[place] for part in parts) for place in range(3)]
    skill = _skill(whole)
    without = [_skill([of_all - of_part for of_all, of_part in zip(whole, part, strict=True)]) for part in parts]
    rate = whole[1] / whole[0]
    return BrierScore(value, interval, rate * (1 - rate), skill, jackknife(skill, without))


def _brier_sums(group: Sequence[Forecast]) -> tuple[float, float, float]:
    """Sums of weights, of labels and of squared errors."""
    return (
        math.fsum(forecast.weight for forecast in group),
        math.fsum(forecast.weight * forecast.label for forecast in group),
        math.fsum(forecast.weight * forecast.squared_error for forecast in group),
    )


def _skill(sums: Sequence[float]) -> float | None:
    weight, labels, errors = sums
    if weight <= 0:
        return None
    rate = labels / weight
    reference = rate * (1 - rate)
    return 1 - errors / weight / reference if reference > _NO_SPREAD else None
