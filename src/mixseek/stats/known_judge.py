"""Labels from elsewhere (estimator 3): a judge's sensitivity and specificity, known from other cases, invert its share.

Rogan and Gladen's estimator with the interval of Lang and Reiczigel; where questions repeat, each of its three shares
has a design effect of its own. Formulas: docs/statistics.md.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import truediv
from statistics import NormalDist

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import student_quantile
from mixseek.stats.estimates import FEWEST_CLUSTERS, FEWEST_OF_A_KIND, Cell, Cells, Corrected, Estimator, State
from mixseek.stats.intervals import wilson_limits

# Of a single share: a few questions that are alike by chance must not make their items worth many times as much.
_LEAST_EFFECT = 0.5


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """What labels from elsewhere say of a judge: human-positive and -negative items, and how many it got right."""

    positive: int
    true_positive: int
    negative: int
    true_negative: int


@dataclass(frozen=True, slots=True)
class JudgeEffects:
    """The design effects, and how many questions, of the share judged positive, sensitivity and specificity."""

    effects: tuple[float, float, float] = (1.0, 1.0, 1.0)
    questions: tuple[int, int, int] = (0, 0, 0)
    labelled: int = 0


def rogan_gladen(
    judged_positive: int,
    judged: int,
    known: KnownJudge,
    level: float = 0.95,
    *,
    clustered: JudgeEffects | None = None,
) -> Corrected:
    """Estimator 3: the judge's share of positives, inverted by its sensitivity and specificity (Lang-Reiczigel).

    Labels may come from another mix of cases, as long as judge and protocol are the same. `clustered`: where questions
    repeat, each share counts as many items as its design effect leaves.
    """
    base = Corrected(State.NO_SIGNAL, Estimator.ROGAN_GLADEN, labels=known.positive + known.negative, items=judged)
    if not base.labels or not judged:
        return replace(base, state=State.NO_LABELS, estimator=None)
    base = replace(base, clusters=clustered.labelled if clustered else None)
    if clustered is not None and min(clustered.labelled, clustered.questions[0]) < FEWEST_CLUSTERS:
        return replace(base, state=State.FEW_CLUSTERS)
    if min(known.positive, known.negative) < FEWEST_OF_A_KIND:
        return base
    shares = _InvertedShares(
        judged_positive / judged,
        known.true_positive / known.positive,
        known.true_negative / known.negative,
        (judged, known.positive, known.negative),
    )
    quantile, effect = NormalDist().inv_cdf((1 + level) / 2), 1.0
    if not shares.has_signal(quantile):
        return base
    if clustered is not None:
        counts = tuple(map(truediv, shares.counts, clustered.effects))
        fewer = replace(shares, counts=(counts[0], counts[1], counts[2]))
        independent, variances = math.fsum(shares.variances(quantile)), fewer.variances(quantile)
        # A share may vary less by chance than independent items would; all three together may not.
        if math.fsum(variances) > independent:
            shares, effect = fewer, math.fsum(variances) / independent
        quantile = student_quantile((1 + level) / 2, _satterthwaite(variances, clustered.questions))
        if not shares.has_signal(quantile):
            return base
    low, high = shares.limits(quantile)
    return replace(base, state=State.CORRECTED, point=shares.point, low=low, high=high, design_effect=effect)


def _satterthwaite(variances: Sequence[float], questions: Sequence[int]) -> int:
    """Degrees of freedom of a sum of variances, each known from its own questions."""
    freedom = [max(1, count - 1) for count in questions]
    squares = math.fsum(part * part / degrees for part, degrees in zip(variances, freedom, strict=True))
    return max(1, int(math.fsum(variances) ** 2 / squares)) if squares else min(freedom)


@dataclass(frozen=True, slots=True)
class _InvertedShares:
    """What estimator 3 is made of; `counts` are the items behind each share, or as many as they are worth."""

    judged: float
    sensitivity: float
    specificity: float
    counts: tuple[float, float, float]

    @property
    def _signal(self) -> float:
        return self.sensitivity + self.specificity - 1

    @property
    def point(self) -> float:
        return min(1.0, max(0.0, (self.judged + self.specificity - 1) / self._signal))

    def has_signal(self, quantile: float) -> bool:
        """Whether the lower Newcombe limit of sensitivity + specificity − 1 is above nought."""
        rights, rejections = self.counts[1:]
        down = (
            self.sensitivity - wilson_limits(self.sensitivity, rights, quantile)[0],
            self.specificity - wilson_limits(self.specificity, rejections, quantile)[0],
        )
        return self._signal - math.hypot(*down) > 0

    def _adjusted(self, quantile: float) -> tuple[float, float, float]:
        """The shares with pseudo-counts: Agresti and Coull's for the judged one, one each way for the judge's."""
        judged, rights, rejections = self.counts
        square = quantile * quantile
        return (
            (self.judged * judged + square / 2) / (judged + square),
            (self.sensitivity * rights + 1) / (rights + 2),
            (self.specificity * rejections + 1) / (rejections + 2),
        )

    def _middle(self, quantile: float) -> float:
        share, right, rejected = self._adjusted(quantile)
        return min(1.0, max(0.0, (share + rejected - 1) / (right + rejected - 1)))

    def variances(self, quantile: float) -> tuple[float, float, float]:
        """Parts of the share's variance, times the squared signal: by judged items, by sensitivity, by specificity."""
        share, right, rejected = self._adjusted(quantile)
        judged, rights, rejections = self.counts
        middle = self._middle(quantile)
        return (
            share * (1 - share) / (judged + quantile * quantile),
            middle**2 * right * (1 - right) / (rights + 2),
            (1 - middle) ** 2 * rejected * (1 - rejected) / (rejections + 2),
        )

    def limits(self, quantile: float) -> tuple[float, float]:
        _, right, rejected = self._adjusted(quantile)
        _, rights, rejections = self.counts
        middle = self._middle(quantile)
        spread_right, spread_rejected = right * (1 - right) / (rights + 2), rejected * (1 - rejected) / (rejections + 2)
        shift = 2 * quantile**2 * (middle * spread_right - (1 - middle) * spread_rejected)
        half = quantile * math.sqrt(math.fsum(self.variances(quantile))) / (right + rejected - 1)
        return max(0.0, middle + shift - half), min(1.0, middle + shift + half)


def judge_effects(clusters: Sequence[Cells], repeats: Sequence[int] = ()) -> JudgeEffects:
    """How far items of one question resemble each other: in the verdicts to invert, and in the judge's errors."""
    judged, positive, negative = list[_Trials](), list[_Trials](), list[_Trials]()
    for cluster, times in zip(clusters, repeats or [1] * len(clusters), strict=True):
        right, wrong = cluster.get("1", Cell()), cluster.get("0", Cell())
        unlabelled = right.items - right.labels, wrong.items - wrong.labels
        judged.append((unlabelled[0], sum(unlabelled), times))
        positive.append((right.positive, right.positive + wrong.positive, times))
        rejected = wrong.labels - wrong.positive
        negative.append((rejected, rejected + right.labels - right.positive, times))
    labelled = sum(n for (_, yes, n), (_, no, _) in zip(positive, negative, strict=True) if yes + no > 0)
    similarity = max(0.0, _effect_of(judged) - 1)
    # Where a judge made no error of a kind its verdicts' own similarity stands in, as in estimator 4.
    repeated = max(1e-9, _together(judged) - 1)
    floors = [1 + similarity * max(0.0, _together(part) - 1) / repeated for part in (positive, negative)]
    counts = [sum(n for _, size, n in part if size > 0) for part in (judged, positive, negative)]
    return JudgeEffects(
        (1 + similarity, _effect_of(positive, floors[0]), _effect_of(negative, floors[1])),
        (counts[0], counts[1], counts[2]),
        labelled,
    )


# Hits and trials of one question, and how many questions have them.
_Trials = tuple[float, float, int]


def _together(parts: Sequence[_Trials]) -> float:
    """Trials of the question that a trial is in, on average."""
    return math.fsum(n * size * size for _, size, n in parts) / max(1e-9, math.fsum(n * size for _, size, n in parts))


def _effect_of(parts: Sequence[_Trials], unknown: float = 1.0) -> float:
    """The clustered variance of a share over that of independent trials; `unknown` where nothing varies."""
    counted = [(hits, size, n) for hits, size, n in parts if size > 0]
    count, trials = sum(n for _, _, n in counted), math.fsum(size * n for _, size, n in counted)
    share = math.fsum(hits * n for hits, _, n in counted) / trials if trials else 0.0
    if count < 2 or not 0 < share < 1:
        return unknown
    squares = math.fsum(n * (hits - size * share) ** 2 for hits, size, n in counted)
    return max(_LEAST_EFFECT, squares * count / (count - 1) / trials / (share * (1 - share)))
