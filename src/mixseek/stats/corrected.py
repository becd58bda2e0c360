"""The headline corrected by human labels: what people would have said about all items, from labels of some.

    drawn by us ── binary ── post-stratified by verdict (estimator 1) ──┐
                └─ graded ── regression on the judge's scores (2) ──────┼── clusters: design effect (4)
    from another mix of cases, binary ── Rogan-Gladen (3)               │
    drawing unknown ── agreement only, no corrected number              └── refusals are states with a sentence

Every number names its estimator; what cannot be said is a `State`, never a number. Formulas: docs/statistics.md.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.distributions import hypergeometric_p, jeffreys_limits, student_quantile
from mixseek.stats.estimates import (
    FEWEST_CLUSTERS,
    FEWEST_LABELS,
    LABEL_CAVEATS,
    Cell,
    Cells,
    Corrected,
    Drawing,
    Estimator,
    State,
)
from mixseek.stats.intervals import QuestionSizes, sizes_of, skewed_margin, wilson_limits
from mixseek.stats.known_judge import KnownJudge, judge_effects, rogan_gladen

# What labels needed for a width are multiplied with, so that nine plans of ten hold.
ASSURANCE = 1.2
_NO_SPREAD = 1e-24


def post_stratified(
    cells: Cells,
    level: float = 0.95,
    *,
    clusters: Sequence[Cells] = (),
    repeats: Sequence[int] = (),
    is_fixed: bool = False,
    drawing: Drawing = Drawing.RANDOM,
) -> Corrected:
    """Estimator 1 (with 4 where `clusters` repeat questions): right-or-wrong labels drawn at random, also per verdict.

    `repeats`: how many questions are like each of `clusters`, one each where it is left out; labelled ones are alone.
    `is_fixed`: the question is about exactly these items, as in a benchmark that is labelled through.
    Labels known to be drawn by verdict (`STRATIFIED`, `WEIGHTED`) need not look like a random draw; others are tested.
    """
    cells = {name: cell for name, cell in cells.items() if cell.items}
    labels, items = sum(cell.labels for cell in cells.values()), sum(cell.items for cell in cells.values())
    base = Corrected(State.NO_LABELS, labels=round(labels), items=items)
    if not labels:
        return base
    is_tested = drawing not in (Drawing.STRATIFIED, Drawing.WEIGHTED)
    base = replace(base, random_p=_random_p(cells, clusters, repeats) if is_tested else None)
    labelled = {name: cell for name, cell in cells.items() if cell.labels}
    design = _design(labelled, clusters, repeats, level)
    base = replace(base, clusters=design.labelled, design_effect=design.effect)
    if design.labelled is not None and design.labelled < FEWEST_CLUSTERS:
        return replace(base, state=State.FEW_CLUSTERS)
    if any(not cell.labels for cell in cells.values()):
        return _stratified_bounds(base, cells, design)
    # Labels drawn by verdict, on purpose or not, say nothing together: few of them, too, are weighted by verdict.
    is_by_verdict = not is_tested or base.is_odd
    if len(cells) == 1 or (labels < FEWEST_LABELS and not is_by_verdict):
        # One class is its own stratum: the same arithmetic, and the judge plays no part in it.
        total = {"all": sum(cells.values(), Cell())}
        point, low, high = design.widened(_mover(total, design.effect, design.quantile, is_fixed=is_fixed))
        return replace(base, state=State.LABELS_ONLY, estimator=Estimator.LABELS_ONLY, point=point, low=low, high=high)
    point, low, high = design.widened(_mover(cells, design.effect, design.quantile, is_fixed=is_fixed))
    state, estimator = State.CORRECTED, Estimator.POST_STRATIFIED
    if labels < FEWEST_LABELS:
        state, estimator = State.LABELS_ONLY, Estimator.LABELS_BY_VERDICT
    state = State.NOT_RANDOM if base.is_odd else state
    return replace(base, state=state, estimator=estimator, point=point, low=low, high=high)


def _random_p(cells: Cells, clusters: Sequence[Cells], repeats: Sequence[int]) -> float:
    """How likely a random draw has these verdicts; where whole questions are drawn, a draw is worth fewer items.

    How many fewer is each verdict's own: the rare ones at an end of a scale may sit together in few questions.
    """
    labels = [sum(cell.labels for cell in cluster.values()) for cluster in clusters]
    effects = [1.0] * len(cells)
    if sum(count > 0 for count in labels) > 1:
        # Of a label, how many others of its question are labelled, too.
        together = math.fsum(count * count for count in labels) / math.fsum(labels) - 1
        effects = [1 + max(0.0, together) * _similarity(name, clusters, repeats) for name in cells]
    return hypergeometric_p([cell.labels for cell in cells.values()], [cell.items for cell in cells.values()], effects)


def _mover(cells: Cells, effect: float, quantile: float, *, is_fixed: bool) -> tuple[float, float, float]:
    """The weighted sum of shares with the square-and-add interval of their Jeffreys limits."""
    items = sum(cell.items for cell in cells.values())
    level = 2 * NormalDist().cdf(quantile) - 1
    point = pool = down = up = 0.0
    for cell in cells.values():
        weight, share = cell.items / items, cell.positive / cell.labels
        low, high = jeffreys_limits(cell.positive / effect, cell.labels / effect, level)
        unseen = 1 - cell.labels / cell.items if is_fixed else 1.0
        point += weight * share
        pool += weight * share * share
        down += unseen * (weight * (share - low)) ** 2
        up += unseen * (weight * (high - share)) ** 2
    between = 0.0 if is_fixed or len(cells) == 1 else max(0.0, pool - point * point) / items * effect * quantile**2
    return point, max(0.0, point - math.sqrt(between + down)), min(1.0, point + math.sqrt(between + up))


def _stratified_bounds(base: Corrected, cells: Cells, design: "_Design") -> Corrected:
    """A verdict without a label may be all wrong or all right: its weight goes to the upper end, not to the lower."""
    labelled = {name: cell for name, cell in cells.items() if cell.labels}
    share = sum(cell.items for cell in labelled.values()) / base.items
    _, low, high = design.widened(_mover(labelled, design.effect, design.quantile, is_fixed=False))
    return replace(base, state=State.BOUNDS, low=low * share, high=high * share + 1 - share)


@dataclass(frozen=True, slots=True)
class _Design:
    """What repeated questions do to an interval. `margin`: how far skewness moves one limit outwards, by its sign."""

    effect: float
    quantile: float
    labelled: int | None = None
    margin: float = 0.0

    def widened(self, estimate: tuple[float, float, float], scale: "ValueScale | None" = None) -> tuple[float, ...]:
        point, low, high = estimate
        least, greatest = (scale.least, scale.greatest) if scale else (0.0, 1.0)
        return point, max(least, low + min(0.0, self.margin)), min(greatest, high + max(0.0, self.margin))


def _design(cells: Cells, clusters: Sequence[Cells], repeats: Sequence[int], level: float) -> _Design:
    """The design effect and the quantile; without clusters there is no effect, and the quantile is the normal one."""
    if not clusters:
        return _Design(1.0, NormalDist().inv_cdf((1 + level) / 2))
    labelled = [cluster for cluster in clusters if any(cell.labels for cell in cluster.values())]
    count = len(labelled)
    if count < 2:
        return _Design(1.0, NormalDist().inv_cdf((1 + level) / 2), count)
    times = repeats or [1] * len(clusters)
    sizes = sizes_of(
        [(sum(cell.items for cell in cluster.values()), n) for cluster, n in zip(clusters, times, strict=True)]
    )
    known = sizes_of([(sum(cell.labels for cell in cluster.values()), 1) for cluster in labelled])
    quantile = _clustered_quantile(known, sizes, level)
    independent = _independent_variance(cells)
    counted = zip(clusters, times, strict=True)
    points = [(point, n) for cluster, n in counted if (point := _point_without(cells, cluster)) is not None]
    if independent <= 1e-12 or sum(n for _, n in points) < 2:
        # Labels that all agree, or all labels of a verdict in one question: without it there is no point.
        return _Design(_kish(cells, clusters, repeats, labelled), quantile, count)
    left_out = LeftOut.of(points)
    effect = max(1.0, left_out.variance / independent)
    margin = skewed_margin(math.sqrt(effect * independent), sizes.unseen * left_out.skewness, quantile)
    return _Design(effect, quantile, count, margin)


def _clustered_quantile(known: QuestionSizes, sizes: QuestionSizes, level: float) -> float:
    """Student's t with the freedom of the labelled questions, or of as many of equal size as carry the mean."""
    # Labels drawn from equal questions fall on them unequally by chance, which takes no freedom away.
    degrees = min(known.questions - 1, max(known.effective, sizes.effective) - 1)
    return student_quantile((1 + level) / 2, max(1, round(degrees)))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What estimates without one question each say: the jackknife's variance, and Σ e³ / (Σ e²)^1.5 of influences."""

    variance: float
    skewness: float

    @classmethod
    def of(cls, points: Sequence[tuple[float, int]]) -> "LeftOut":
        """The moments of each estimate, with how many questions give it."""
        total = sum(n for _, n in points)
        mean = math.fsum(point * n for point, n in points) / total
        squares = math.fsum(n * (point - mean) ** 2 for point, n in points)
        # Without a question that is below the others the estimate is above them.
        cubes = math.fsum(n * (mean - point) ** 3 for point, n in points)
        return cls((total - 1) / total * squares, cubes / squares**1.5 if squares > _NO_SPREAD else 0.0)


def _point_without(cells: Cells, left_out: Cells) -> float | None:
    """Estimator 1 without one cluster; None where a verdict has no label then."""
    rest = [cell - left_out.get(name, Cell()) for name, cell in cells.items()]
    items = sum(cell.items for cell in rest)
    # What is left of labels that are all of this cluster is nothing, not a rounding error.
    if not items or any(cell.items and cell.labels < 1e-9 for cell in rest):
        return None
    return math.fsum(cell.items / items * cell.positive / cell.labels for cell in rest if cell.items)


def _independent_variance(cells: Cells) -> float:
    """What estimator 1 would vary by, were every item a question of its own."""
    items = sum(cell.items for cell in cells.values())
    labelled = [cell for cell in cells.values() if cell.labels]
    shares = [(cell.items / items, cell.positive / cell.labels, cell.labels) for cell in labelled]
    point = math.fsum(weight * share for weight, share, _ in shares)
    pool = max(0.0, math.fsum(weight * share * share for weight, share, _ in shares) - point * point) / items
    return pool + math.fsum(weight**2 * share * (1 - share) / n for weight, share, n in shares)


def _kish(cells: Cells, clusters: Sequence[Cells], repeats: Sequence[int], labelled: Sequence[Cells]) -> float:
    """Where all labels agree they show no clustering; the verdicts' own similarity within questions stands in."""
    similarity = _similarity(next(iter(cells)), clusters, repeats)
    per_cluster = sum(cell.labels for cluster in labelled for cell in cluster.values()) / len(labelled)
    return max(1.0, 1 + (per_cluster - 1) * similarity)


def _similarity(verdict: str, clusters: Sequence[Cells], repeats: Sequence[int]) -> float:
    """The intra-class correlation of having this verdict, within questions; 0 where none repeats or nothing varies."""
    times = repeats or [1] * len(clusters)
    sizes = [sum(cell.items for cell in cluster.values()) for cluster in clusters]
    hits = [cluster.get(verdict, Cell()).items for cluster in clusters]
    counted = [(hit, size, n) for hit, size, n in zip(hits, sizes, times, strict=True) if size]
    total, count = sum(size * n for _, size, n in counted), sum(n for _, _, n in counted)
    mean = sum(hit * n for hit, _, n in counted) / total
    between = math.fsum(n * (hit - size * mean) ** 2 / size for hit, size, n in counted)
    within = math.fsum(n * hit * (size - hit) / size for hit, size, n in counted)
    if total == count or count < 2 or between + within <= 1e-12:
        return 0.0
    between, within = between / (count - 1), within / (total - count)
    typical = (total - sum(n * size * size for _, size, n in counted) / total) / (count - 1)
    return max(0.0, (between - within) / (between + (typical - 1) * within))


@dataclass(frozen=True, slots=True)
class PairSums:
    """Judge scores f of all items and labels y of some, as sums; sums of clusters add up."""

    items: int = 0
    f: float = 0.0
    ff: float = 0.0
    labels: float = 0
    lf: float = 0.0
    ly: float = 0.0
    lff: float = 0.0
    lfy: float = 0.0
    lyy: float = 0.0

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float | None]]) -> "PairSums":
        """The sums of (judge score, label or None) of every item."""
        known = [(f, y) for f, y in pairs if y is not None]
        return cls(
            len(pairs),
            math.fsum(f for f, _ in pairs),
            math.fsum(f * f for f, _ in pairs),
            len(known),
            math.fsum(f for f, _ in known),
            math.fsum(y for _, y in known),
            math.fsum(f * f for f, _ in known),
            math.fsum(f * y for f, y in known),
            math.fsum(y * y for _, y in known),
        )

    @classmethod
    def total(cls, parts: Iterable["PairSums"]) -> "PairSums":
        """The sums of all parts together."""
        columns = list(zip(*map(_fields, parts), strict=True))
        items, f, ff, labels, *rest = map(math.fsum, columns) if columns else (0.0,) * 9
        return cls(int(items), f, ff, labels, *rest)

    def minus(self, other: "PairSums") -> "PairSums":
        """The sums that are left without one cluster."""
        items, f, ff, labels, *rest = (
            mine - theirs for mine, theirs in zip(_fields(self), _fields(other), strict=True)
        )
        return PairSums(int(items), f, ff, labels, *rest)

    @property
    def slope(self) -> float:
        """How much of a judge's point is a point of the labels; never negative, and 0 for a judge without spread."""
        spread = self.lff - self.lf**2 / self.labels
        return max(0.0, (self.lfy - self.lf * self.ly / self.labels) / spread) if spread > 1e-12 else 0.0

    @property
    def point(self) -> float | None:
        """Estimator 2; None without labels."""
        if not self.labels or not self.items:
            return None
        return self.ly / self.labels + self.slope * (self.f / self.items - self.lf / self.labels)


def _fields(sums: PairSums) -> tuple[float, ...]:
    return (sums.items, sums.f, sums.ff, sums.labels, sums.lf, sums.ly, sums.lff, sums.lfy, sums.lyy)


@dataclass(frozen=True, slots=True)
class ValueScale:
    """The least and the greatest value; differences of a 0..1 scale have -1..1."""

    least: float = 0.0
    greatest: float = 1.0


# A judge's score and the label beside it, to how many items have both alike: the sum of their squared weights.
KnownPairs = Mapping[tuple[float, float], float]


def regression(
    pairs: Sequence[tuple[float, float | None]],
    scale: ValueScale,
    level: float = 0.95,
    *,
    clusters: Sequence[Sequence[tuple[float, float | None]]] = (),
    is_difference: bool = False,
) -> Corrected:
    """Estimator 2 (with 4 where `clusters` repeat questions): a mean of any scale, labels drawn at random.

    `is_difference`: pairs are differences of two systems; their variance is at least that of half a pseudo-pair each
    way, so that labels that all agree never have an interval of width nought.
    """
    known = Counter((f, y) for f, y in pairs if y is not None)
    parts = [PairSums.of(cluster) for cluster in clusters]
    return regression_of(PairSums.of(pairs), known, scale, level, parts=parts, is_difference=is_difference)


def regression_of(
    sums: PairSums,
    known: KnownPairs,
    scale: ValueScale,
    level: float = 0.95,
    *,
    parts: Sequence[PairSums] = (),
    repeats: Sequence[int] = (),
    is_difference: bool = False,
) -> Corrected:
    """The same of sums, those of questions that repeat in `parts`: a million items are a few numbers.

    `repeats`: how many questions are like each of `parts`, one each where it is left out.
    """
    base = Corrected(State.NO_LABELS, labels=round(sums.labels), items=sums.items)
    if not sums.labels:
        return base
    if sums.labels < 3 or scale.greatest <= scale.least:
        # Too few for a spread, or a scale of one value: a mean without an interval.
        return replace(base, state=State.LABELS_ONLY, estimator=Estimator.LABELS_ONLY, point=sums.ly / sums.labels)
    uses_judge = sums.labels >= FEWEST_LABELS and sums.slope > 0
    variance = _regression_variance(sums, known, scale, uses_judge=uses_judge, is_difference=is_difference)
    degrees = max(1, round(sums.labels) - (2 if uses_judge else 1))
    design = _Design(1.0, student_quantile((1 + level) / 2, degrees))
    if parts:
        labelled = sum(part.labels > 0 for part in parts)
        base = replace(base, clusters=labelled)
        if labelled < FEWEST_CLUSTERS:
            return replace(base, state=State.FEW_CLUSTERS)
        left_out = _left_out(sums, parts, repeats, uses_judge=uses_judge)
        effect = max(1.0, left_out.variance / variance) if variance > 1e-15 else 1.0
        times = repeats or [1] * len(parts)
        sizes = sizes_of([(part.items, n) for part, n in zip(parts, times, strict=True)])
        known_sizes = sizes_of([(part.labels, 1) for part in parts if part.labels])
        quantile = _clustered_quantile(known_sizes, sizes, level)
        variance *= effect
        margin = skewed_margin(math.sqrt(variance), sizes.unseen * left_out.skewness, quantile)
        design = _Design(effect, quantile, labelled, margin)
        base = replace(base, design_effect=effect)
    point = sums.point if uses_judge else sums.ly / sums.labels
    assert point is not None
    point = min(scale.greatest, max(scale.least, point))
    limits = _bounded_interval(point, variance, design.quantile, scale, sums.labels)
    _, low, high = design.widened((point, *limits), scale)
    state, estimator = (
        (State.CORRECTED, Estimator.REGRESSION) if uses_judge else (State.LABELS_ONLY, Estimator.LABELS_ONLY)
    )
    return replace(base, state=state, estimator=estimator, point=point, low=low, high=high)


def _regression_variance(
    sums: PairSums, known: KnownPairs, scale: ValueScale, *, uses_judge: bool, is_difference: bool
) -> float:
    """HC3: each residual as it would be, had its item not been used; plus what the judge's mean of all items varies."""
    n, slope = sums.labels, sums.slope if uses_judge else 0.0
    mean_f, mean_y = sums.lf / n, sums.ly / n
    spread = sums.lff - sums.lf**2 / n
    shift = (sums.f / sums.items - mean_f) / spread if slope else 0.0
    squares = 0.0
    for (f, y), count in known.items():
        leverage = 1 / n + ((f - mean_f) ** 2 / spread if slope else 0.0)
        residual = (y - mean_y - slope * (f - mean_f)) / max(1e-6, 1 - leverage)
        squares += count * ((1 / n + shift * (f - mean_f)) * residual) ** 2
    if is_difference:
        # A floor, and no addition: beside labels that do differ it would only widen.
        squares = max(squares, ((scale.greatest - mean_y) ** 2 + (scale.least - mean_y) ** 2) / 2 / n**2)
    pool = max(0.0, sums.ff - sums.f**2 / sums.items) / max(1, sums.items - 1)
    return squares + slope**2 * pool / sums.items


def _left_out(sums: PairSums, parts: Sequence[PairSums], repeats: Sequence[int], *, uses_judge: bool) -> LeftOut:
    """The point over questions, left out one at a time."""
    slope = sums.slope if uses_judge else 0.0
    intercept = (sums.ly - slope * sums.lf) / sums.labels
    points: list[tuple[float, int]] = []
    for part, times in zip(parts, repeats or [1] * len(parts), strict=True):
        if not part.labels:
            # Most questions: only the judge's mean of all items is another one without it.
            left = sums.items - part.items
            points.append((intercept + (slope * (sums.f - part.f) / left if slope and left else 0.0), times))
            continue
        rest = sums.minus(part)
        if rest.labels > 1e-9:
            point = rest.point if uses_judge else rest.ly / rest.labels
            points += [(point, times)] if point is not None else []
    return LeftOut.of(points)


def _bounded_interval(
    point: float, variance: float, quantile: float, scale: ValueScale, labels: float
) -> tuple[float, float]:
    """Wilson's form with as many trials as the variance is worth, so that limits stay on the scale."""
    width = scale.greatest - scale.least
    share = (point - scale.least) / width
    trials = share * (1 - share) / (variance / width**2) if variance > 1e-15 else float(labels)
    low, high = wilson_limits(share, max(trials, 1e-9), quantile)
    return scale.least + width * low, scale.least + width * high


@dataclass(frozen=True, slots=True)
class LabelledItems:
    """A judge's items with labels of some, as the rule needs them; `clusters` and `parts` only where questions repeat.

    `is_binary`: verdicts and labels are all 0 or 1; `cells` are then by verdict "0" and "1".
    """

    drawing: Drawing
    is_binary: bool
    scale: ValueScale
    sums: PairSums
    known: KnownPairs
    cells: Cells
    clusters: Sequence[Cells] = ()
    parts: Sequence[PairSums] = ()
    repeats: Sequence[int] = ()  # how many questions are like each of `clusters` or `parts`

    @property
    def known_judge(self) -> KnownJudge:
        """Right-or-wrong labels beside the verdicts."""
        right, wrong = self.cells.get("1", Cell()), self.cells.get("0", Cell())
        positive, negative = right.positive + wrong.positive, right.labels + wrong.labels
        rejected = wrong.labels - wrong.positive
        return KnownJudge(int(positive), int(right.positive), int(negative - positive), int(rejected))


def corrected_mean(items: LabelledItems, level: float = 0.95) -> Corrected:
    """The one rule by which an estimator is chosen; docs/statistics.md tells it in words."""
    base = Corrected(State.NO_LABELS, labels=round(items.sums.labels), items=items.sums.items)
    # What is labelled through was not drawn at all.
    is_census = items.sums.labels == items.sums.items
    if not items.sums.labels:
        return base
    if items.drawing is Drawing.CHOSEN or (items.drawing is Drawing.UNKNOWN and not is_census):
        return replace(base, state=State.UNKNOWN_DRAWING)
    if not items.is_binary and items.drawing in (Drawing.ELSEWHERE, Drawing.STRATIFIED):
        return replace(base, state=State.NOT_BINARY)
    if items.drawing is Drawing.ELSEWHERE:
        return rogan_gladen_of_unlabelled(items, level)
    if items.is_binary:
        return post_stratified(
            items.cells, level, clusters=items.clusters, repeats=items.repeats, drawing=items.drawing
        )
    corrected = regression_of(items.sums, items.known, items.scale, level, parts=items.parts, repeats=items.repeats)
    if items.cells and items.drawing is not Drawing.WEIGHTED:
        corrected = replace(corrected, random_p=_random_p(items.cells, items.clusters, items.repeats))
    if corrected.is_odd and corrected.state is State.CORRECTED:
        return replace(corrected, state=State.NOT_RANDOM)
    if corrected.is_odd and corrected.state is State.LABELS_ONLY:
        # Without the judge nothing makes up for a draw that was none: the labels' mean is of the labelled items alone.
        return replace(corrected, state=State.NOT_RANDOM, estimator=None, point=None, low=None, high=None)
    return corrected


def corrected_difference(items: LabelledItems, level: float = 0.95) -> Corrected:
    """Estimator 5: scores and labels are differences of two systems; labels of questions drawn at random, or of all."""
    base = Corrected(State.NO_LABELS, labels=round(items.sums.labels), items=items.sums.items)
    if 0 < items.sums.labels < items.sums.items and items.drawing is not Drawing.RANDOM:
        return replace(base, state=State.UNKNOWN_DRAWING if items.drawing is Drawing.UNKNOWN else State.NOT_BINARY)
    return regression_of(items.sums, items.known, items.scale, level, parts=items.parts, is_difference=True)


def rogan_gladen_of_unlabelled(items: LabelledItems, level: float = 0.95, *, is_independent: bool = False) -> Corrected:
    """Estimator 3 of the items without labels, because labelled ones are of another mix.

    `is_independent`: as its paper gives it, whatever questions repeat.
    """
    judged = items.sums.items - round(items.sums.labels)
    clustered = judge_effects(items.clusters, items.repeats) if items.clusters and not is_independent else None
    return rogan_gladen(round(items.sums.f - items.sums.lf), judged, items.known_judge, level, clustered=clustered)


def labels_beside(labels: Corrected, corrected: Corrected) -> Corrected:
    """The labels' own mean in the state of what stands beside it, where that says that labels are not like the rest."""
    if corrected.state not in LABEL_CAVEATS or labels.state is State.NO_LABELS:
        return labels
    state = State.NOT_RANDOM if corrected.is_odd else corrected.state
    return replace(labels, state=state, random_p=corrected.random_p)


def with_unscored(corrected: Corrected, unscored: Cell, level: float = 0.95) -> Corrected:
    """A number about items with a score, widened by those without one, which stay in it.

    Where some of them are labelled, they are a stratum of their own (square-and-add of both intervals); where none is,
    they may be all wrong or all right, and only bounds are left.
    """
    items = corrected.items + unscored.items
    if not unscored.items or corrected.low is None or corrected.high is None:
        return replace(corrected, items=items, labels=corrected.labels + round(unscored.labels))
    share = corrected.items / items
    base = replace(corrected, items=items, labels=corrected.labels + round(unscored.labels))
    if not unscored.labels or corrected.point is None:
        return replace(
            base, state=State.BOUNDS, point=None, low=corrected.low * share, high=corrected.high * share + 1 - share
        )
    unscored_share = unscored.positive / unscored.labels
    low, high = jeffreys_limits(unscored.positive, unscored.labels, level)
    point = share * corrected.point + (1 - share) * unscored_share
    down = math.hypot(share * (corrected.point - corrected.low), (1 - share) * (unscored_share - low))
    up = math.hypot(share * (corrected.high - corrected.point), (1 - share) * (high - unscored_share))
    return replace(base, point=point, low=max(0.0, point - down), high=min(1.0, point + up))


def expected_half_width(shares: Sequence[tuple[float, float]], items: int, labels: int, level: float = 0.95) -> float:
    """The half width of estimator 1 at the counts to expect."""
    cells = {
        str(place): Cell(round(weight * items), max(1, round(weight * labels)), share * max(1, round(weight * labels)))
        for place, (weight, share) in enumerate(shares)
        if round(weight * items)
    }
    _, low, high = _mover(cells, 1.0, NormalDist().inv_cdf((1 + level) / 2), is_fixed=False)
    return (high - low) / 2


def first_holding(holds: Callable[[int], bool], low: int, high: int) -> int | None:
    """The least number from which on it holds, by bisection."""
    if high < low or not holds(high):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


@dataclass(frozen=True, slots=True)
class PredictionPowered:
    """PPI++ as its authors give it, shown beside our estimator for comparison; too short with few labels."""

    point: float
    low: float
    high: float
    weight: float
    se: float


def prediction_powered(sums: PairSums, weight: float | None = None, level: float = 0.95) -> PredictionPowered | None:
    """Angelopoulos et al. 2023 with the power-tuning weight, or with a given one; None without both kinds of items."""
    n, rest = sums.labels, sums.items - sums.labels
    if not n or not rest:
        return None
    mean_f, mean_y = sums.lf / n, sums.ly / n
    spread_f, spread_y = max(0.0, sums.lff / n - mean_f**2), max(0.0, sums.lyy / n - mean_y**2)
    shared = sums.lfy / n - mean_f * mean_y
    unlabelled_mean = (sums.f - sums.lf) / rest
    spread_others = max(0.0, (sums.ff - sums.lff) / rest - unlabelled_mean**2)
    if weight is None:
        spread = max(0.0, sums.ff - sums.f**2 / sums.items) / (sums.items - 1)
        weight = min(1.0, max(0.0, shared / (spread * (1 + n / rest)))) if spread > 1e-12 else 0.0
    residual = max(0.0, spread_y - 2 * weight * shared + weight**2 * spread_f)
    point = weight * unlabelled_mean + mean_y - weight * mean_f
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(residual / n + weight**2 * spread_others / rest)
    se = math.sqrt(residual / max(1, n - 1) + weight**2 * spread_others / max(1, rest - 1))
    return PredictionPowered(point, point - half, point + half, weight, se)
