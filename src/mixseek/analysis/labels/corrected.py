"""The headline beside what people say: judges alone, labels alone, and the judges corrected by the labels.

One rule for the run and for each target (`correct_group`): labels whose drawing is known count first; labels from
another mix of cases count where there are none, or too few; labels of unknown drawing never do, unless they cover
everything. Which estimator that means is `stats.corrected.corrected_mean`'s to say.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from typing import TypeVar

from mixseek.domain.counts import UnitSums
from mixseek.domain.labels import WHOLE, CellCount, LabelledRun, LabelledUnit, LabelScale
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.corrected import (
    KnownPairs,
    LabelledItems,
    PairSums,
    ValueScale,
    corrected_mean,
    labels_beside,
    post_stratified,
    regression_of,
    with_unscored,
)
from mixseek.stats.estimates import FEWEST_LABELS, Cell, Cells, Corrected, Drawing, State, effective_weights
from mixseek.stats.intervals import Interval, unit_interval, wilson_interval, with_questions
from mixseek.stats.raters import Pattern, cohen_kappa

Row = TypeVar("Row", CellCount, LabelledUnit)
LEVEL = 0.95
RIGHT, WRONG = "1", "0"
# Scores of at most so many different values are shown value by value, others in tenths.
_MOST_VALUES = 12


@dataclass(frozen=True, slots=True)
class JudgeMean:
    """What the judges say of the samples they scored; others are beside it."""

    mean: float | None
    interval: Interval | None
    scored: int


@dataclass(frozen=True, slots=True)
class CorrectedGroup:
    """`name` is None for the whole run. `unlabelled`: verdicts without a label, with how many samples have them."""

    name: str | None
    samples: int
    labelled: int
    drawing: Drawing
    judges: JudgeMean
    labels: Corrected
    corrected: Corrected
    unlabelled: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """One verdict of the judges, and what people say of those that were labelled; `disputed`: raters differ."""

    verdict: str
    samples: int
    right: int
    wrong: int
    disputed: int
    interval: Interval | None  # of the share that people call right, disputed ones left out

    @property
    def labelled(self) -> int:
        return self.right + self.wrong + self.disputed


@dataclass(frozen=True, slots=True)
class CalibrationPoint:
    """Labelled samples with about the same score of the judges: the mean of both, as shares of the scale."""

    judges: float
    people: float
    count: int


@dataclass(frozen=True, slots=True)
class JudgeShare:
    """A share of labelled samples, with how many labels and questions it rests on."""

    share: float
    interval: Interval | None
    labels: int
    questions: int


@dataclass(frozen=True, slots=True)
class JudgeAgainstPeople:
    """One judge, its repeats brought to one opinion. `sensitivity`: of what people call correct, how much it does;
    `specificity`: of what they call incorrect, how much it does; both over labels that were drawn as `drawing` says."""

    judge: str
    name: str  # what a reader knows it by
    confusion: tuple[ConfusionRow, ...]
    sensitivity: JudgeShare | None
    specificity: JudgeShare | None
    drawing: Drawing


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """Where the labels come from, for a reader."""

    texts: int = 0
    raters: tuple[str, ...] = ()
    disputed: int = 0
    draws: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # what those of this run were stratified by
    # The run that they were drawn from, where it is another one.
    drawn_from: str | None = None
    scale: LabelScale = field(default_factory=LabelScale)
    from_dataset: int = 0
    unreadable: int = 0  # values of the dataset's own column that are no labels on this scale


@dataclass(frozen=True, slots=True)
class CorrectedReport:
    """The whole run first, then its targets. Confusion for right-or-wrong labels, calibration for graded ones."""

    facts: LabelFacts
    groups: tuple[CorrectedGroup, ...]
    confusion: tuple[ConfusionRow, ...] = ()
    kappa: float | None = None
    calibration: tuple[CalibrationPoint, ...] = ()
    # Judges minus people, over labelled samples with a score, and how far apart they are on average.
    bias: float | None = None
    distance: float | None = None
    by_judge: tuple[JudgeAgainstPeople, ...] = ()  # for right-or-wrong labels

    @property
    def whole(self) -> CorrectedGroup:
        return self.groups[0]

    @property
    def targets(self) -> tuple[CorrectedGroup, ...]:
        return self.groups[1:]


def build_corrected(run: LabelledRun, facts: LabelFacts) -> CorrectedReport:
    """Everything that a renderer shows."""
    cells, labelled = _by_group(run.cells), _by_group(run.labelled)
    questions = _by_group(run.by_question)
    names = sorted(cells, key=lambda name: (name != WHOLE, name))
    groups = tuple(
        correct_group(name, cells[name], labelled.get(name, []), questions.get(name, []), run.is_binary)
        for name in names
    )
    pairs = [(unit.value, unit.share) for unit in labelled.get(WHOLE, []) if unit.value is not None]
    patterns: Counter[Pattern] = Counter((f, y) for f, y in pairs if f in (0.0, 1.0) and y in (0.0, 1.0))
    kappa = cohen_kappa(patterns) if run.is_binary and patterns else None
    return CorrectedReport(
        facts,
        groups,
        confusion=confusion_of(cells.get(WHOLE, []), labelled.get(WHOLE, [])) if run.is_binary else (),
        kappa=kappa.value if kappa is not None else None,
        calibration=() if run.is_binary else calibration_of(pairs),
        bias=sum(f - y for f, y in pairs) / len(pairs) if pairs else None,
        distance=sum(abs(f - y) for f, y in pairs) / len(pairs) if pairs else None,
    )


def _by_group(rows: Iterable[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.group].append(row)
    return groups


def correct_group(
    name: str,
    cells: Sequence[CellCount],
    labelled: Sequence[LabelledUnit],
    questions: Sequence[CellCount],
    is_binary: bool,
) -> CorrectedGroup:
    """One group by itself."""
    drawing, used = choose_labels(cells, labelled, is_binary)
    group = _Group(cells, used, questions, drawing, is_binary)
    labelled_cells = {unit.cell for unit in used}
    corrected = group.corrected()
    labels = group.labels_alone()
    is_bounded = corrected.state is State.BOUNDS
    return CorrectedGroup(
        None if name == WHOLE else name.removeprefix("target "),
        sum(cell.items for cell in cells),
        len(used),
        drawing,
        judge_mean(cells, questions),
        labels_beside(labels, corrected),
        replace(corrected, labels=len(used)),
        tuple((cell.cell, cell.items) for cell in cells if cell.cell not in labelled_cells) if is_bounded else (),
    )


def choose_labels(
    cells: Sequence[CellCount], labelled: Sequence[LabelledUnit], is_binary: bool
) -> tuple[Drawing, list[LabelledUnit]]:
    """How the labels that count were drawn, and which those are."""
    kinds: dict[Drawing, list[LabelledUnit]] = defaultdict(list)
    # A draw of another run speaks for this group only if all of the group was in its pool.
    is_covered = not any(cell.uncovered for cell in cells)
    for unit in labelled:
        kind = Drawing(unit.drawn)
        is_known = kind in (Drawing.RANDOM, Drawing.WEIGHTED)
        kinds[Drawing.ELSEWHERE if is_known and not is_covered else kind].append(unit)
    if len(labelled) == sum(cell.items for cell in cells) and not kinds[Drawing.CHOSEN]:
        return Drawing.RANDOM, [replace(unit, weight=1.0) for unit in labelled]
    known = kinds[Drawing.WEIGHTED] or kinds[Drawing.RANDOM]
    drawing = Drawing.WEIGHTED if kinds[Drawing.WEIGHTED] else Drawing.RANDOM
    # Whom raters dispute evenly has no side on which a judge could be right or wrong.
    elsewhere = [
        replace(unit, share=float(unit.share > 0.5), weight=1.0)
        for unit in kinds[Drawing.ELSEWHERE]
        if unit.share != 0.5 or not is_binary
    ]
    if known and (len(known) >= FEWEST_LABELS or not elsewhere or not is_binary):
        return drawing, known
    if elsewhere:
        return Drawing.ELSEWHERE, elsewhere if is_binary else kinds[Drawing.ELSEWHERE]
    drawing = Drawing.CHOSEN if kinds[Drawing.CHOSEN] else Drawing.UNKNOWN
    return drawing, [*kinds[Drawing.UNKNOWN], *kinds[Drawing.CHOSEN]]


@dataclass(frozen=True, slots=True)
class _Group:
    """One group in the shape that the estimators take."""

    cells: Sequence[CellCount]
    units: Sequence[LabelledUnit]
    questions: Sequence[CellCount]  # empty where no question repeats
    drawing: Drawing
    is_binary: bool

    def corrected(self) -> Corrected:
        """The estimate by the one rule; items without a score are verdicts of their own, or a stratum of their own."""
        # Labels on what has no score are no evidence about a judge's scores, but they are in the strata.
        units = [unit for unit in self.units if self._is_scored(unit.cell, unit.value is not None)]
        if self.is_binary:
            by_cell = self._weighted_cells()
            clusters = self._clusters(by_cell)
            sums, known = self._sums(units, [1.0] * len(units))
            cells = _cells(self.cells, by_cell)
            items = LabelledItems(
                self.drawing, True, ValueScale(), sums, known, cells, clusters, repeats=self._repeats()
            )
            estimate = corrected_mean(items, LEVEL)
            unscored = sum(cell.items for cell in self.cells if cell.cell not in (RIGHT, WRONG))
            return with_unscored(estimate, Cell(unscored)) if self.drawing is Drawing.ELSEWHERE else estimate
        weights = effective_weights([unit.weight for unit in units])
        sums, known = self._sums(units, weights)
        scored = [cell for cell in self.cells if cell.is_scored]
        tested = _cells(scored, [(unit, 1.0) for unit in units])
        parts, clusters = self._parts(units, weights), self._clusters([(unit, 1.0) for unit in units])
        # What has no score has no place in a question's scores.
        clusters = [{name: cell for name, cell in cluster.items() if name in tested} for cluster in clusters]
        items = LabelledItems(self.drawing, False, ValueScale(), sums, known, tested, clusters, parts, self._repeats())
        estimate = corrected_mean(items, LEVEL)
        rest = [unit for unit in self.units if unit.value is None]
        weighted = list(zip(rest, effective_weights([unit.weight for unit in rest]), strict=True))
        outside = _cells([cell for cell in self.cells if not cell.is_scored], weighted)
        return with_unscored(estimate, reduce(Cell.__add__, outside.values(), Cell()), LEVEL)

    def _is_scored(self, cell: str, has_value: bool) -> bool:
        """Right-or-wrong verdicts that repeats or judges split are neither."""
        return cell in (RIGHT, WRONG) if self.is_binary else has_value

    def labels_alone(self) -> Corrected:
        """The estimate without the judges: only of labels that speak for the whole group."""
        items = sum(cell.items for cell in self.cells)
        if self.drawing not in (Drawing.RANDOM, Drawing.WEIGHTED) or not self.units:
            state = State.UNKNOWN_DRAWING if self.units else State.NO_LABELS
            return Corrected(state, labels=len(self.units), items=items)
        weights = effective_weights([unit.weight for unit in self.units])
        pairs = list(zip([replace(unit, cell="all", value=0.0) for unit in self.units], weights, strict=True))
        if self.is_binary:
            cells = _cells([CellCount("", "all", True, items, 0.0, 0.0)], pairs)
            clusters = self._merged(pairs)
            estimate = post_stratified(
                cells, LEVEL, clusters=clusters, repeats=self._repeats(), drawing=Drawing.WEIGHTED
            )
        else:
            sums = replace(_pair_sums(pairs), items=items)
            parts = [part for part in self._parts([unit for unit, _ in pairs], weights) if part.labels]
            known = _known(pairs)
            estimate = regression_of(sums, known, ValueScale(), LEVEL, parts=parts if self.questions else ())
        return replace(estimate, labels=len(self.units))

    def _weighted_cells(self) -> list[tuple[LabelledUnit, float]]:
        """Weights count within a verdict: between verdicts the judges say how many there are."""
        pairs: list[tuple[LabelledUnit, float]] = []
        for name in {unit.cell for unit in self.units}:
            units = [unit for unit in self.units if unit.cell == name]
            pairs += zip(units, effective_weights([unit.weight for unit in units]), strict=True)
        return pairs

    def _sums(self, units: Sequence[LabelledUnit], weights: Sequence[float]) -> tuple[PairSums, KnownPairs]:
        pairs = list(zip(units, weights, strict=True))
        scored = [cell for cell in self.cells if self._is_scored(cell.cell, cell.is_scored)]
        sums = replace(
            _pair_sums(pairs),
            items=sum(cell.items for cell in scored),
            f=sum(cell.total for cell in scored),
            ff=sum(cell.total_of_squares for cell in scored),
        )
        return sums, _known(pairs)

    def _clusters(self, pairs: Sequence[tuple[LabelledUnit, float]]) -> list[Cells]:
        """Verdicts of each question; none where no question repeats."""
        counts, labelled = _by_question(self.questions), _by_question([unit for unit, _ in pairs])
        weights = {id(unit): weight for unit, weight in pairs}
        return [
            _cells(question_cells, [(unit, weights[id(unit)]) for unit in labelled.get(question, [])])
            for question, question_cells in counts.items()
        ]

    def _repeats(self) -> list[int]:
        """How many questions are like each of the clusters."""
        return [question_cells[0].times for question_cells in _by_question(self.questions).values()]

    def _merged(self, pairs: Sequence[tuple[LabelledUnit, float]]) -> list[Cells]:
        """The same without verdicts."""
        return [
            {"all": reduce(Cell.__add__, cells.values(), Cell())}
            for cells in self._clusters(pairs)
            # The labels are of a cell `all`, which no question has: they are added to its items.
        ]

    def _parts(self, units: Sequence[LabelledUnit], weights: Sequence[float]) -> list[PairSums]:
        by_question = defaultdict(list)
        for unit, weight in zip(units, weights, strict=True):
            by_question[unit.question].append((unit, weight))
        parts = []
        for question, question_cells in _by_question(self.questions).items():
            scored = [cell for cell in question_cells if cell.is_scored]
            items, total = sum(cell.items for cell in scored), sum(cell.total for cell in scored)
            sums = PairSums(items, total, sum(cell.total_of_squares for cell in scored))
            if question in by_question:
                labelled = _pair_sums(by_question[question])
                sums = replace(labelled, items=sums.items, f=sums.f, ff=sums.ff)
            parts.append(sums)
        return parts


def _by_question(rows: Iterable[Row]) -> dict[str, list[Row]]:
    by_question: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_question[row.question or ""].append(row)
    return by_question


def _cells(counts: Iterable[CellCount], pairs: Iterable[tuple[LabelledUnit, float]]) -> Cells:
    """Items by verdict, with what their labels are worth."""
    cells: dict[str, Cell] = {count.cell: Cell(count.items) for count in counts}
    for unit, weight in pairs:
        cells[unit.cell] = cells.get(unit.cell, Cell()) + Cell(0, weight, weight * unit.share)
    return cells


def _pair_sums(pairs: Sequence[tuple[LabelledUnit, float]]) -> PairSums:
    """The sums of labelled items only."""
    known = [(unit.value or 0.0, unit.share, weight) for unit, weight in pairs]
    return PairSums(
        0,
        0.0,
        0.0,
        sum(w for _, _, w in known),
        sum(w * f for f, _, w in known),
        sum(w * y for _, y, w in known),
        sum(w * f * f for f, _, w in known),
        sum(w * f * y for f, y, w in known),
        sum(w * y * y for _, y, w in known),
    )


def _known(pairs: Iterable[tuple[LabelledUnit, float]]) -> Mapping[tuple[float, float], float]:
    known: dict[tuple[float, float], float] = defaultdict(float)
    for unit, weight in pairs:
        known[unit.value or 0.0, unit.share] += weight * weight
    return known


def scored_sums(run: LabelledRun) -> PairSums:
    """Judges' scores and labels of the whole run, each label once whatever its weight."""
    cells = [cell for cell in run.cells if cell.group == WHOLE and cell.is_scored]
    units = [unit for unit in run.labelled if unit.group == WHOLE and unit.value is not None]
    return replace(
        _pair_sums([(unit, 1.0) for unit in units]),
        items=sum(cell.items for cell in cells),
        f=sum(cell.total for cell in cells),
        ff=sum(cell.total_of_squares for cell in cells),
    )


def judge_mean(cells: Sequence[CellCount], questions: Sequence[CellCount]) -> JudgeMean:
    """The same mean and interval as the report's: samples with a score, clustered where questions repeat."""
    scored = [cell for cell in cells if cell.is_scored]
    n, total = sum(cell.items for cell in scored), sum(cell.total for cell in scored)
    squares = sum(cell.total_of_squares for cell in scored)
    sums = UnitSums(sum(cell.items for cell in cells), n, n, total, squares, squares, total, float(n))
    if questions:
        by_question = _by_question(cell for cell in questions if cell.is_scored).values()
        sums = with_questions(
            sums,
            [
                (sum(cell.items for cell in some), sum(cell.total for cell in some), some[0].times)
                for some in by_question
            ],
        )
    return JudgeMean(sums.mean, unit_interval(sums, LEVEL), n)


def confusion_of(cells: Sequence[CellCount], labelled: Sequence[LabelledUnit]) -> tuple[ConfusionRow, ...]:
    """Verdict by verdict: of each, a random part was labelled, also where verdicts were drawn unevenly."""
    order = {RIGHT: 0, WRONG: 1}
    rows = []
    for cell in sorted(cells, key=lambda candidate: (order.get(candidate.cell, 2), candidate.cell)):
        shares = [unit.newest_share for unit in labelled if unit.cell == cell.cell]
        right, wrong = sum(share == 1 for share in shares), sum(share == 0 for share in shares)
        interval = wilson_interval(right, right + wrong, LEVEL) if right + wrong else None
        rows.append(ConfusionRow(cell.cell, cell.items, right, wrong, len(shares) - right - wrong, interval))
    return tuple(rows)


def calibration_of(pairs: Sequence[tuple[float, float]]) -> tuple[CalibrationPoint, ...]:
    """What people give to what judges give, from low to high."""
    is_coarse = len({f for f, _ in pairs}) <= _MOST_VALUES
    groups: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for f, y in pairs:
        groups[f if is_coarse else min(9, int(f * 10))].append((f, y))
    return tuple(
        CalibrationPoint(
            sum(f for f, _ in pairs_of_bin) / len(pairs_of_bin),
            sum(y for _, y in pairs_of_bin) / len(pairs_of_bin),
            len(pairs_of_bin),
        )
        for _, pairs_of_bin in sorted(groups.items())
    )
