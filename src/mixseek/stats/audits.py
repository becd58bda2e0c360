"""What controlled variants of the same samples say about a judge: an effect, its interval, a test, and a state.

Every audit comes here as one value a sample (changed minus plain, or what else its row of `AUDITS` says) with the
cluster that the sample belongs to; values of one cluster are one observation. All audits of a card are one family:
Holm's step-down keeps the chance of even one false alarm below the level. An effect that is too small to matter is no
flag, however sure. `docs/judge-cards.md` has the formulas, `bench/cards.py` the power at the sizes of each defect.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from statistics import NormalDist

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.difference import unvaried_interval
from mixseek.stats.distributions import mid_p, student_quantile, student_two_sided
from mixseek.stats.intervals import Interval, IntervalMethod
from mixseek.stats.uneven import holm_adjusted

LEVEL = 0.95
# The chance with which a defect of the size looked for is to be found.
POWER = 0.92
# Fewer say nothing, however alike they are.
FEWEST_ITEMS = 20
# Of either group, where groups are compared.
FEWEST_OF_A_GROUP = 10
# Scores here are shares of the protocol's scale; the sizes below are worded in points of eight.
_POINT = 1 / 8
# A verdict has jumped that moved by so much.
JUMP = 2 * _POINT
_NO_SPREAD = 1e-12


class Audit(StrEnum):
    """What a judge is examined for."""

    RETEST = "retest"
    ORDER = "order"
    PADDING = "padding"
    FORMAT = "format"
    TONE = "tone"
    NAME = "name"
    OWN = "own"
    INJECTION = "injection"
    LANGUAGE = "language"
    IMPLANT = "implant"
    LENIENT = "lenient"
    DRIFT = "drift"
    RESCALED = "rescaled"


class AuditState(StrEnum):
    """What can be said of one audit."""

    PASS = "pass"  # noqa: S105 no password
    # Larger than is harmless, but several audits together may show so much by chance.
    CONCERN = "concern"
    FAIL = "fail"
    NOT_APPLICABLE = "not applicable"
    # Not flagged, and a defect of the size looked for could have gone unseen.
    TOO_FEW = "too few items"


class Side(StrEnum):
    """Which effects are defects."""

    UP = "up"
    BOTH = "both"


class AuditTest(StrEnum):
    """Named with every p-value."""

    STUDENT = "Student t"
    SIGN = "sign test, mid-p"


@dataclass(frozen=True, slots=True)
class AuditSpec:
    """`null` is what a sound judge does at most, `minimum` the least effect that is flagged, `sought` the defect."""

    title: str
    # What the effect is, for a person.
    effect: str
    null: float
    minimum: float
    sought: float
    side: Side = Side.BOTH
    test: AuditTest = AuditTest.STUDENT
    # No interval goes below: a distance has no minus, a difference is at most the scale.
    least: float = -1.0


def _shift(title: str, effect: str, side: Side = Side.BOTH) -> AuditSpec:
    return AuditSpec(title, effect, 0.0, 0.25 * _POINT, 0.5 * _POINT, side)


AUDITS: Mapping[Audit, AuditSpec] = {
    Audit.RETEST: AuditSpec("test–retest", "mean distance of two askings", 0.14, 0.14, 0.225, Side.UP, least=0.0),
    Audit.ORDER: AuditSpec("order", "pairs won by the first shown minus the second", 0, 0.05, 0.2, test=AuditTest.SIGN),
    Audit.PADDING: _shift("padding", "score gained by content-free text", Side.UP),
    Audit.FORMAT: _shift("format", "score changed by bold, bullets, headings or emoji"),
    Audit.TONE: _shift("tone", "score gained by a confident tone, or kept from an apologetic one"),
    Audit.NAME: _shift("name", "score under its own name minus that under another"),
    Audit.OWN: _shift("own outputs", "kindness to its own family beyond that to others, labels as control"),
    Audit.INJECTION: AuditSpec(
        "injection", "verdicts that an order lifts above as much neutral text, minus those that it lowers",
        0, 0.05, 0.2, Side.UP, AuditTest.SIGN,
    ),
    Audit.LANGUAGE: AuditSpec(
        "language", "distance to the same rubric in another language, beyond retest", 0, 0.15 * _POINT, 0.26 * _POINT,
        Side.UP,
    ),
    # A planted defect must cost a point of eight: what is tested is that it costs less.
    Audit.IMPLANT: AuditSpec("implanted defects", "score changed by a planted defect", -_POINT, -_POINT, 0.0, Side.UP),
    Audit.LENIENT: _shift("lenient", "score minus the people's label"),
    Audit.DRIFT: _shift("drift", "score now minus that of the earlier card"),
    Audit.RESCALED: AuditSpec(
        "rewritten scale", "distance to the earlier card beyond its retest", 0, 0.15 * _POINT, 0.26 * _POINT, Side.UP
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditValue:
    """What one sample says; `cluster` is its question, or itself."""

    cluster: str
    value: float


@dataclass(frozen=True, slots=True)
class AuditResult:
    """One audit. Numbers are shares of the scale or of the samples; `needed` is how many items would do."""

    audit: Audit
    state: AuditState
    items: int = 0
    clusters: int = 0
    effect: float | None = None
    interval: Interval | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    needed: int | None = None
    # Standard deviation of one item; clusters are in it.
    spread: float | None = None


def settle_audits(values: Mapping[Audit, Sequence[AuditValue]]) -> dict[Audit, AuditResult]:
    """All audits of one card, as one family; one without values is not applicable."""
    measured = {audit: measure(audit, audit_values) for audit, audit_values in values.items()}
    tested = [result for result in measured.values() if result.p_value is not None]
    adjusted = holm_adjusted([result.p_value for result in tested if result.p_value is not None])
    for result, p_adjusted in zip(tested, adjusted, strict=True):
        measured[result.audit] = decide(replace(result, p_adjusted=p_adjusted), len(tested))
    return measured


def measure(audit: Audit, values: Sequence[AuditValue]) -> AuditResult:
    """Effect, interval and p-value, before anything is known of the other audits."""
    if not values:
        return AuditResult(audit, AuditState.NOT_APPLICABLE)
    sums = defaultdict[str, float](float)
    for value in values:
        sums[value.cluster] += value.value
    sizes = Counter(value.cluster for value in values)
    items, clusters = len(values), len(sizes)
    mean = math.fsum(sums.values()) / items
    if clusters < 2:
        return AuditResult(audit, AuditState.TOO_FEW, items, clusters, mean, needed=FEWEST_ITEMS)
    squares = math.fsum((sums[name] - size * mean) ** 2 for name, size in sizes.items())
    error = math.sqrt(squares * clusters / (clusters - 1)) / items
    spec = AUDITS[audit]
    if error > _NO_SPREAD:
        half = student_quantile((1 + LEVEL) / 2, clusters - 1) * error
        interval = Interval(mean - half, mean + half, LEVEL, IntervalMethod.CLUSTERED)
    else:
        interval = unvaried_interval(mean, clusters, LEVEL)
    interval = replace(interval, low=max(interval.low, spec.least), high=min(interval.high, 1.0))
    p_value = sign_p(spec, sums) if spec.test is AuditTest.SIGN else student_p(spec, mean, error, clusters)
    return AuditResult(
        audit, AuditState.PASS, items, clusters, mean, interval, p_value, spread=error * math.sqrt(items)
    )


def student_p(spec: AuditSpec, mean: float, error: float, clusters: int) -> float:
    """How likely a sound judge shows so much. Without any spread, what is beyond the null is beyond doubt."""
    beyond = mean - spec.null
    if error <= _NO_SPREAD:
        is_beyond = beyond > _NO_SPREAD or (spec.side is Side.BOTH and beyond < -_NO_SPREAD)
        # As a sign test of the clusters would have it.
        return 0.5 ** (clusters - 1) if is_beyond else 1.0
    both = student_two_sided(beyond / error, clusters - 1)
    if spec.side is Side.BOTH:
        return both
    return both / 2 if beyond > 0 else 1 - both / 2


def sign_p(spec: AuditSpec, sums: Mapping[str, float]) -> float:
    """Clusters that went up against those that went down."""
    up, down = (sum(sign * total > 0 for total in sums.values()) for sign in (1, -1))
    both = mid_p(min(up, down), up + down)
    if spec.side is Side.BOTH:
        return both
    return both / 2 if up > down else 1 - both / 2


def decide(result: AuditResult, audits: int) -> AuditResult:
    """The state, and how many items the defect that is looked for would take among so many audits."""
    spec = AUDITS[result.audit]
    effect, p_value, adjusted, spread = result.effect, result.p_value, result.p_adjusted, result.spread
    if effect is None or p_value is None or adjusted is None or spread is None:
        # Nothing was tested: the state that says so stays.
        return result
    is_large = effect >= spec.minimum or (spec.side is Side.BOTH and -effect >= spec.minimum)
    needed = items_needed(spec, spread, audits)
    if is_large and adjusted < 1 - LEVEL:
        state = AuditState.FAIL
    elif is_large and p_value < 1 - LEVEL:
        state = AuditState.CONCERN
    elif result.items >= needed or leaves_out(spec, result.interval):
        state = AuditState.PASS
    else:
        state = AuditState.TOO_FEW
    return replace(result, state=state, needed=needed)


def leaves_out(spec: AuditSpec, interval: Interval | None) -> bool:
    """Whether the defect that is looked for is beyond what the data allow."""
    if interval is None:
        return False
    return interval.high < spec.sought and (spec.side is Side.UP or interval.low > -spec.sought)


def items_needed(spec: AuditSpec, spread: float, audits: int) -> int:
    """So that the defect is found with the power of `POWER` at the strictest level that Holm may ask for."""
    tail = (1 - LEVEL) / audits / (2 if spec.side is Side.BOTH else 1)
    quantiles = NormalDist().inv_cdf(1 - tail) + NormalDist().inv_cdf(POWER)
    return max(FEWEST_ITEMS, math.ceil((quantiles * spread / abs(spec.sought - spec.null)) ** 2))


def kindness_to_own(own_values: Sequence[AuditValue], other_values: Sequence[AuditValue]) -> list[AuditValue]:
    """The difference of two groups' means as values whose mean it is, each with its part of the variance.

    Values are score minus label, so that better outputs are no kindness. Empty where a group says too little.
    """
    if min(len(own_values), len(other_values)) < FEWEST_OF_A_GROUP:
        return []
    items = len(own_values) + len(other_values)
    means = [math.fsum(value.value for value in group) / len(group) for group in (own_values, other_values)]
    difference = means[0] - means[1]
    return [
        AuditValue(value.cluster, difference + sign * items / (len(group) - 1) * (value.value - mean))
        for sign, group, mean in ((1, own_values, means[0]), (-1, other_values, means[1]))
        for value in group
    ]


def jump(change: float) -> float:
    """1 up, -1 down, 0 where the verdict has not jumped."""
    return math.copysign(1.0, change) if abs(change) >= JUMP - _NO_SPREAD else 0.0


def beyond_retest(now: float, before: float, again: float) -> float:
    """How much farther a score is from two earlier ones than those are from each other."""
    return (abs(now - before) + abs(now - again)) / 2 - abs(again - before)
