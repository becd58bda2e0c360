"""Which judge of a cascade may decide what, so that its decisions agree with people as often as was asked for.

Tiers stand in the order of their price; one decides an item where its confidence is at least its threshold, and hands
on the rest. What is promised is about all decided items together, so that is what is tested: those that earlier tiers
decide and those that this one would add. A tier's thresholds are tested from the most confident downwards
(fixed-sequence testing): the first that is not shown to hold ends the sequence, so that however many are tried, the
chance that any of them misses is at most the tier's share of delta. A tier that could not be tested, or never failed,
hands its share on. Which thresholds there are, and where the sequence begins, depends on confidences, on who was
labelled and on how much alike the rows of a question are, never on how often people disagree.

The rows of one question resemble each other: they count for as many independent ones as their likeness leaves.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from operator import itemgetter

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import beta_cdf, beta_quantile

# Thresholds of one tier at most: a sequence of more steps decides hardly more.
MOST_THRESHOLDS = 40
# Labelled disagreements that the first step of a sequence can bear, where there are labels enough.
_BORNE_AT_FIRST = 1
# Labels of its own that a tier begins with, where earlier tiers decide something already.
_FEWEST_OWN = 10
# So many steps lie between a first one without any disagreement and one with some, where steps are fine.
_FINE_STEPS = 3
_ROUNDING = 1e-6
# What is taken of the likeness of one question's rows before it is seen, and for how many pairs of rows that counts.
_USUAL_LIKENESS, _USUAL_PAIRS = 0.3, 20


class TierState(StrEnum):
    """What a tier may do."""

    DECIDES = "decides"
    TOO_FEW_LABELS = "too few labels"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one tier makes of an item: how sure it is, and how far people disagree (0 to 1; None where unknown)."""

    confidence: float
    disagreement: float | None = None


@dataclass(frozen=True, slots=True)
class CascadeItem:
    """An item under every tier; a reading is None where the tier gave no verdict. `weight`: 1 over its chance to be
    labelled."""

    question: str
    readings: tuple[Reading | None, ...]
    weight: float = 1.0
    is_labelled: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """Labelled items as a test counts them: how many independent ones they are worth, and how many disagree."""

    labelled: int
    effective: float
    disagreements: float

    @property
    def agreement(self) -> float | None:
        return None if not self.effective else 1 - self.disagreements / self.effective

    def interval(self, level: float) -> tuple[float, float] | None:
        """Clopper and Pearson's limits of the agreement."""
        if not self.effective:
            return None
        agree, tail = self.effective - self.disagreements, (1 - level) / 2
        low = beta_quantile(tail, agree, self.disagreements + 1) if agree > 0 else 0.0
        high = beta_quantile(1 - tail, agree + 1, self.disagreements) if self.disagreements > 0 else 1.0
        return low, high


@dataclass(frozen=True, slots=True)
class TierPlan:
    """One tier: what it may decide, on which evidence, and how much of all items reaches and leaves it."""

    state: TierState
    threshold: float | None
    reached: int
    decided: int
    evidence: Evidence
    # The best agreement of any threshold with evidence enough to be tested; None where there is none.
    best: float | None = None
    # Labels more, drawn as all of them were, with which its next threshold would hold if they said what these say.
    labels_needed: int | None = None
    # Thresholds that were tested, with their p-values, in their order.
    tested: tuple[tuple[float, float], ...] = field(default=())
    # None of its thresholds failed, be it that none could be tested: its share of delta is another tier's.
    has_never_failed: bool = False


@dataclass(frozen=True, slots=True)
class CascadePlan:
    """All tiers, and what they come to together."""

    agree: float
    delta: float
    items: int
    tiers: tuple[TierPlan, ...]
    evidence: Evidence

    @property
    def decided(self) -> int:
        return sum(tier.decided for tier in self.tiers)

    @property
    def decided_share(self) -> float:
        return self.decided / self.items if self.items else 0.0

    @property
    def best(self) -> float | None:
        """The best agreement that any tier reaches where it was tested."""
        return max((tier.best for tier in self.tiers if tier.best is not None), default=None)


def plan_cascade(items: Sequence[CascadeItem], agree: float, delta: float) -> CascadePlan:
    """Thresholds by fixed-sequence tests, tier after tier.

    Each tier has its share of delta, and what earlier ones left over: those that were not tested, or never failed.
    """
    tiers = len(items[0].readings) if items else 0
    likeness = [likeness_of(items, tier) for tier in range(tiers)]
    left, decided, plans, spare = list(items), _Decided(), [], 0.0
    labelled = sum(item.is_labelled for item in items)
    for tier in range(tiers):
        share = delta / tiers + spare
        plan = _plan_tier(left, decided, tier, likeness[tier], _Test(1 - agree, share, labelled))
        plans.append(plan)
        spare = share if plan.has_never_failed else 0.0
        if plan.threshold is not None:
            decided.add([item for item in left if _is_decided(item, tier, plan.threshold)], tier, likeness[tier])
            left = [item for item in left if not _is_decided(item, tier, plan.threshold)]
    return CascadePlan(agree, delta, len(items), tuple(plans), decided.tally().evidence())


def _is_decided(item: CascadeItem, tier: int, threshold: float) -> bool:
    reading = item.readings[tier]
    return reading is not None and reading.confidence >= threshold


class _Decided:
    """Items that tiers so far decide, each with its tier."""

    def __init__(self) -> None:
        self._items: list[tuple[CascadeItem, int]] = []
        self._likeness = 0.0

    @property
    def is_empty(self) -> bool:
        return not self._items

    def add(self, items: Sequence[CascadeItem], tier: int, likeness: float) -> None:
        self._items += [(item, tier) for item in items]
        self._likeness = max(self._likeness, likeness)

    def tally(self, likeness: float = 0.0) -> "Tally":
        """What their labels say, if one more tier decided some whose rows are so much alike."""
        tally = Tally(max(self._likeness, likeness))
        for item, tier in self._items:
            tally.add(item, tier)
        return tally


@dataclass(frozen=True, slots=True)
class _Test:
    """What a tier is held to: the share that may be wrong, its part of delta, and how many labels there are in all."""

    most_wrong: float
    delta: float
    labelled: int

    def p(self, evidence: Evidence) -> float:
        return miss_p(evidence, self.most_wrong)

    def labels_of(self, share: float | None) -> int | None:
        """A share of all labels, as a number of them."""
        return None if share is None else max(1, math.ceil(share * self.labelled - _ROUNDING))


def _plan_tier(left: Sequence[CascadeItem], decided: _Decided, tier: int, likeness: float, test: _Test) -> TierPlan:
    steps = _steps_of(left, decided, tier, likeness)
    first = _first_step(steps, test, is_first=decided.is_empty)
    if first is None:
        most = steps[-1].evidence if steps else Evidence(0, 0.0, 0.0)
        fewest = fewest_labels(test.most_wrong, test.delta) if decided.is_empty else _FEWEST_OWN
        needed = test.labels_of(_more_to_begin(most, fewest))
        return TierPlan(TierState.TOO_FEW_LABELS, None, len(left), 0, most, labels_needed=needed, has_never_failed=True)
    held: _Step | None = None
    failed: _Step | None = None
    tested = []
    for step in steps[first:]:
        p = test.p(step.together)
        tested.append((step.threshold, p))
        if p > test.delta:
            failed = step
            break
        held = step
    best = max(step.evidence.agreement or 0.0 for step in steps[first:])
    needed = None if failed is None else test.labels_of(more_labels(failed.together, test.most_wrong, test.delta))
    if held is None:
        evidence = steps[first].evidence
        # Nobody disagrees with this tier, and those before it leave no room for what may still come.
        is_no = evidence.disagreements > 0
        state = TierState.NOT_SHOWN if is_no else TierState.TOO_FEW_LABELS
        return TierPlan(state, None, len(left), 0, evidence, best, needed, tuple(tested))
    return TierPlan(
        TierState.DECIDES,
        held.threshold,
        len(left),
        held.items,
        held.evidence,
        best,
        needed,
        tuple(tested),
        has_never_failed=failed is None,
    )


@dataclass(frozen=True, slots=True)
class _Step:
    """A threshold that may be tested: what it would decide, and what is known of that, alone and with all before it."""

    threshold: float
    items: int
    evidence: Evidence
    together: Evidence


def _steps_of(left: Sequence[CascadeItem], decided: _Decided, tier: int, likeness: float) -> list[_Step]:
    """Every threshold with what it would decide, the most confident first."""
    read = [(reading.confidence, item) for item in left if (reading := item.readings[tier]) is not None]
    read.sort(key=itemgetter(0), reverse=True)
    alone, together, place, steps = Tally(likeness), decided.tally(likeness), 0, []
    for threshold in thresholds_of([confidence for confidence, _ in read]):
        while place < len(read) and read[place][0] >= threshold:
            alone.add(read[place][1], tier)
            together.add(read[place][1], tier)
            place += 1
        steps.append(_Step(threshold, alone.items, alone.evidence(), together.evidence()))
    return steps


def _more_to_begin(evidence: Evidence, fewest: int) -> float | None:
    """Labels more, as a share of those that are there, with which a first threshold could be tested."""
    return None if not evidence.labelled else fewest / evidence.effective - 1


def thresholds_of(confidences: Sequence[float]) -> list[float]:
    """The confidences that there are, from the highest down; of many, those at even shares of the items."""
    ordered = sorted(confidences, reverse=True)
    distinct = sorted(set(ordered), reverse=True)
    if len(distinct) <= MOST_THRESHOLDS:
        return distinct
    places = {math.ceil(len(ordered) * number / MOST_THRESHOLDS) - 1 for number in range(1, MOST_THRESHOLDS + 1)}
    return sorted({ordered[place] for place in places}, reverse=True)


def _first_step(steps: Sequence[_Step], test: _Test, *, is_first: bool) -> int | None:
    """Where the sequence begins: the most confident step that could hold at all.

    Where steps are fine, it begins at the first that could hold although somebody disagrees: little is given away for
    it, and one slip of a sure judge does not end everything. A tier that others come before begins with some labels of
    its own: it would be let in by theirs alone.
    """
    if not is_first:
        return next((place for place, step in enumerate(steps) if step.evidence.effective >= _FEWEST_OWN), None)
    fewest, patient = (fewest_labels(test.most_wrong, test.delta, borne) for borne in (0, _BORNE_AT_FIRST))
    sure = next((place for place, step in enumerate(steps) if step.evidence.effective >= fewest), None)
    borne = next((place for place, step in enumerate(steps) if step.evidence.effective >= patient), None)
    return sure if sure is None or borne is None or borne - sure < _FINE_STEPS else borne


def miss_p(evidence: Evidence, most_wrong: float) -> float:
    """How likely so few disagreements are, were their share just too large: a binomial tail, also between numbers."""
    agree = evidence.effective - evidence.disagreements
    return 1.0 if agree <= 0 else beta_cdf(1 - most_wrong, agree, evidence.disagreements + 1)


def fewest_labels(most_wrong: float, delta: float, disagreements: int = 0) -> int:
    """Independent labels that show it with so many disagreements: without any 59 for 95 % at .05, 45 at .1."""
    low, high = disagreements, max(2, 2 * disagreements)
    while miss_p(Evidence(0, high, disagreements), most_wrong) > delta:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if miss_p(Evidence(0, middle, disagreements), most_wrong) <= delta else (middle, high)
    return high


def more_labels(evidence: Evidence, most_wrong: float, delta: float, most: float = 1_000.0) -> float | None:
    """Labels more, as a share of those that are there, with which the same agreement would be shown.

    None where it would not be by any number, or by none that anybody would give.
    """
    if not evidence.effective or evidence.disagreements / evidence.effective >= most_wrong:
        return None
    low, high = 1.0, 2.0
    while miss_p(_times(evidence, high), most_wrong) > delta:
        low, high = high, high * 2
        if high > most:
            return None
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if miss_p(_times(evidence, middle), most_wrong) <= delta else (middle, high)
    return high - 1


def _times(evidence: Evidence, factor: float) -> Evidence:
    return Evidence(0, evidence.effective * factor, evidence.disagreements * factor)


class Tally:
    """Items that are decided, one after the other, and what their labels are worth as independent draws from them.

    Unequal weights make them fewer. So does the likeness of one question's rows, as far as rows of one question were
    labelled together more often than by chance: rows drawn one by one are independent draws, whole questions are not.
    """

    def __init__(self, likeness: float) -> None:
        self._likeness = likeness
        self._labelled = self.items = 0
        self._total = self._squares = self._wrong = self._together = 0.0
        self._weights: defaultdict[str, float] = defaultdict(float)
        self._sizes: Counter[str] = Counter()
        self._pairs_of_items = 0

    def add(self, item: CascadeItem, tier: int) -> None:
        """An item that the tier decides."""
        # Two rows of one question are a pair in either order.
        self._pairs_of_items += 2 * self._sizes[item.question]
        self._sizes[item.question] += 1
        self.items += 1
        reading = item.readings[tier]
        if reading is None or reading.disagreement is None or not item.is_labelled:
            return
        self._labelled += 1
        self._total += item.weight
        self._squares += item.weight**2
        self._wrong += item.weight * reading.disagreement
        self._together += 2 * item.weight * self._weights[item.question]
        self._weights[item.question] += item.weight

    def evidence(self) -> Evidence:
        """What is known of all that were added."""
        if not self._total:
            return Evidence(0, 0.0, 0.0)
        possible_pairs = self.items * (self.items - 1)
        same_by_chance = self._pairs_of_items / possible_pairs if possible_pairs else 0.0
        together = self._together - same_by_chance * (self._total**2 - self._squares)
        effective = self._total**2 / (self._squares + self._likeness * max(0.0, together))
        return Evidence(self._labelled, effective, effective * self._wrong / self._total)


def likeness_of(items: Sequence[CascadeItem], tier: int) -> float:
    """How much alike the disagreements of one question are (0 to 1), drawn to what is usual where little is known.

    The mean product of deviations of two rows of one question, over the variance.
    """
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for item in items:
        reading = item.readings[tier]
        if item.is_labelled and reading is not None and reading.disagreement is not None:
            groups[item.question].append(reading.disagreement)
    values = [value for group in groups.values() for value in group]
    pairs = sum(len(group) * (len(group) - 1) for group in groups.values())
    if not pairs:
        # Each is a question of its own: whatever the likeness, it changes nothing.
        return 0.0
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)
    if variance <= 0:
        # Nobody disagrees, or everybody: nothing is seen of it.
        return _USUAL_LIKENESS
    products = [
        math.fsum(value - mean for value in group) ** 2 - math.fsum((value - mean) ** 2 for value in group)
        for group in groups.values()
    ]
    estimate = (math.fsum(products) / variance + _USUAL_LIKENESS * _USUAL_PAIRS) / (pairs + _USUAL_PAIRS)
    return min(1.0, max(0.0, estimate))
