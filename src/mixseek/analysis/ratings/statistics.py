"""Statistics of ratings: from a table or a run to everything that `mixseek stats` says."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path

from mixseek.analysis.confidence.run import load_confidences
from mixseek.analysis.confidence.table import LevelsAsked, confidences_of_table
from mixseek.analysis.labels.pool import NO_SCORE, LabelPool
from mixseek.analysis.ratings.found import (
    AgreementSection,
    ComparedLine,
    CorrectedLine,
    PairLine,
    PartedStatistics,
    RaterLine,
    Statistics,
    SystemComparison,
)
from mixseek.analysis.ratings.relation import MOST_CATEGORIES, Rater, Ratings, RatingSource, SilentRater, flag_of
from mixseek.analysis.ratings.run import open_run
from mixseek.analysis.ratings.table import open_table, parts_of_table
from mixseek.analysis.run.agreement import between
from mixseek.analysis.run.report import opinions_of_run
from mixseek.analysis.votes.boards import unscored_notes
from mixseek.domain import counts
from mixseek.errors import ConfigurationError
from mixseek.index.run import open_run_index
from mixseek.lazy_dataclass import dataclass
from mixseek.stats import raters as formulas
from mixseek.stats.confidence import JudgeConfidence
from mixseek.stats.corrected import (
    LabelledItems,
    PredictionPowered,
    ValueScale,
    corrected_difference,
    corrected_mean,
    labels_beside,
    post_stratified,
    prediction_powered,
    regression_of,
    rogan_gladen_of_unlabelled,
    with_unscored,
)
from mixseek.stats.distributions import student_quantile
from mixseek.stats.estimates import Cell, Corrected, Drawing, State
from mixseek.stats.intervals import Bounds, Interval, scaled_sums, standard_errors, unit_interval
from mixseek.stats.ordering import PairCounts, auc, brier, kendall_tau_b, mean_difference, pearson, spearman
from mixseek.stats.paired_test import paired_test
from mixseek.stats.raters import AgreementSums, Coefficient, Confusion, EqualItems, Measure
from mixseek.storage.workspace import Workspace, find_run
from mixseek.text.phrases import listed

# Pairs of raters grow with the square of their number; a page of more than this is read by nobody.
MOST_PAIRED_RATERS = 16


@dataclass(frozen=True, slots=True)
class StatisticsRequest:
    """What is asked of a table (a file) or a run (a name); `scale` has the ends of what could be said."""

    name: str
    workspace: Path
    source: RatingSource = field(default_factory=RatingSource)
    drawing: Drawing = Drawing.UNKNOWN
    only_rated: bool = False
    scale: tuple[float, float] | None = None
    compare: tuple[str, str] | None = None
    # Of a part of a table: the scores of the whole, where its own do not tell which levels there are.
    all_scores: Sequence[float] = ()


def load_statistics(request: StatisticsRequest) -> Statistics:
    """Raises ConfigurationError, DatasetError or StorageError in one line."""
    with open_ratings(request) as ratings:
        return _Analysis(ratings, request, _opinions(request)).statistics()


def load_parts(request: StatisticsRequest, by: str) -> PartedStatistics:
    """The statistics of each value of the expression; one under another where it says so."""
    if not is_table(request.name):
        raise ConfigurationError(f"--by is for tables, and {request.name!r} is no file; `mixseek export` makes one")
    columns = request.source.columns
    parts = []
    table = parts_of_table(Path(request.name), request.source, by)
    for value, where in table.conditions:
        source = replace(request.source, columns=replace(columns, where=where))
        parts.append((value, load_statistics(replace(request, source=source, all_scores=table.scores))))
    return PartedStatistics(request.name, by, parts)


def is_table(name: str) -> bool:
    """Whether a file is meant, even one that is not there: tables are known by their ending, runs have none."""
    return bool(Path(name).suffix) or Path(name).name != name


@contextlib.contextmanager
def open_ratings(request: StatisticsRequest) -> Iterator[Ratings]:
    """The ratings of a table or of a run, whichever the name means."""
    if is_table(request.name):
        with open_table(Path(request.name), request.source) as ratings:
            yield ratings
    else:
        for option, value in asdict(request.source.columns).items():
            if value is not None:
                raise ConfigurationError(
                    f"{flag_of(option)} is for tables, and {request.name!r} is no file; `mixseek export` makes one"
                )
        workspace = Workspace(request.workspace)
        with open_run(workspace, find_run(workspace, request.name), request.source) as ratings:
            yield ratings


def _opinions(request: StatisticsRequest) -> counts.Ratings | None:
    """What the report of a run compares as well. A table has ratings only."""
    if is_table(request.name):
        return None
    workspace = Workspace(request.workspace)
    return opinions_of_run(workspace, find_run(workspace, request.name))


class _Analysis:
    """One pass from counts to numbers; holds what all parts need."""

    def __init__(self, ratings: Ratings, request: StatisticsRequest, opinions: counts.Ratings | None) -> None:
        self._opinions = opinions
        self._ratings = ratings
        self._request = request
        self._is_nominal = bool(ratings.categories)
        self._human = next((rater for rater in ratings.raters if rater.name == request.source.truth), None)
        self._judges = [rater for rater in ratings.raters if rater is not self._human]
        self._scale = request.scale
        if self._scale is not None:
            self._check_scale(*self._scale)
        self._is_run = not is_table(request.name)
        self._sums = ratings.unit_sums()

    def statistics(self) -> Statistics:
        ratings, request = self._ratings, self._request
        return Statistics(
            source=request.name,
            ratings=ratings.count,
            items=ratings.items,
            questions=ratings.questions,
            repeated=ratings.repeated,
            uses_mean=ratings.uses_mean,
            categories=ratings.categories,
            scale=self._scale,
            raters=self._rater_lines(),
            human=self._human.name if self._human else None,
            drawing=request.drawing,
            against_human=[self._pair_line(self._human, judge) for judge in self._judges] if self._human else [],
            agreement=self._agreement(),
            verdict_agreement=self._verdict_agreement(),
            pairs=self._pairs(),
            corrected=self._corrected(),
            comparison=self._comparison(),
            responses=ratings.responses,
            notes=[*self._notes(), *self._missing_notes()],
            confidences=self._confidences(),
            people=ratings.people,
        )

    def _check_scale(self, least: float, greatest: float) -> None:
        if self._is_nominal:
            raise ConfigurationError("--scale: the ratings are texts, which have no scale")
        for rater in self._ratings.raters:
            for value in (rater.least, rater.greatest):
                if not least <= value <= greatest:
                    raise ConfigurationError(f"{rater.name} gave {value:g}, outside --scale {least:g}..{greatest:g}")

    def _notes(self) -> list[str]:
        notes = []
        if self._ratings.repeated:
            rule = "their mean counts" if self._ratings.uses_mean else "the first one counts"
            several = self._ratings.criterion
            told_apart = "" if several is None else f"; `--by {several}` tells them apart"
            notes.append(f"{self._ratings.repeated:,} more of the same item and rater: {rule}{told_apart}")
        if self._is_nominal:
            notes.append("ratings are texts: only what needs no order is said of them")
        if continuous := self._continuous():
            sentence = f"{', '.join(continuous)}: more than {MOST_CATEGORIES} different values"
            notes.append(f"{sentence}, so no agreement is counted; round them in --score if they are categories")
        if self._ratings.has_confidences and self._human is None:
            notes.append(
                "nobody's word is the truth: --people or --human names those that confidences are held against"
            )
        if len(self._ratings.raters) > MOST_PAIRED_RATERS:
            notes.append(f"{len(self._ratings.raters)} raters: not compared two by two")
        return notes

    def _missing_notes(self) -> list[str]:
        """What is without a score, and that it is in no mean: nobody sees in a mean what was left out of it."""
        notes = unscored_notes(self._ratings, self._human)
        if notes and not self._is_nominal and not (self._is_run or self._scale) and not self._all_shares():
            least, greatest = self._bounds_span()
            span = f"{least:g} to {greatest:g}"
            notes.append(f"bounds are on {span}, the values that were given; --scale says what could have been")
        return notes

    # How sure they are.

    def _confidences(self) -> list[JudgeConfidence]:
        """What judges say that have a column of probabilities or confidences, or scores that are probabilities."""
        if self._is_run:
            workspace = Workspace(self._request.workspace)
            run = find_run(workspace, self._request.name)
            with open_run_index(workspace, run) as index:
                return [*load_confidences(workspace, run, index)]
        asked = [rater for rater in self._judges if self._ratings.has_confidences or self._may_be_chances(rater)]
        if not asked:
            return []
        rows = self._ratings.certain_rows(asked, self._human)
        values = {row.value for row in rows} | set(self._people_values())
        levels = LevelsAsked(self._scale, values, self._ratings.categories, self._request.all_scores)
        return confidences_of_table(rows, self._ratings.names, levels, has_truth=self._human is not None)

    def _people_values(self) -> list[float]:
        """What people gave; of several the mean is no level, and what each gave is."""
        if self._human is None:
            return []
        if self._ratings.people:
            return [row[0] for row in self._ratings.fetch("SELECT DISTINCT value FROM people_said")]
        return self._ratings.values([self._human]) if self._human.distinct <= MOST_CATEGORIES else []

    def _may_be_chances(self, rater: Rater) -> bool:
        """Whether scores could be probabilities of what the human calls right."""
        human = self._human
        is_told = human is not None and human.is_binary and self._scale in (None, (0, 1)) and not self._is_nominal
        return is_told and not rater.is_binary and 0 <= rater.least <= rater.greatest <= 1

    # Means.

    def _is_share(self, rater: Rater) -> bool:
        """Whether a mean is a share of right answers: 0 and 1 on a scale that goes further are two of its grades."""
        return rater.is_binary and self._scale in (None, (0, 1))

    def _all_shares(self) -> bool:
        return all(map(self._is_share, self._ratings.raters))

    def _bounds_span(self) -> tuple[float, float]:
        """What an item without a score could have got."""
        return self._span(*self._ratings.raters)

    def _bounds(self, rater: Rater) -> Bounds | None:
        """None where every item has a score; what a human has not rated is no rating that went wrong."""
        if not rater.missing or rater is self._human or self._is_nominal:
            return None
        total = self._sums[rater.number].total
        worst, best = ((total + rater.missing * end) / (rater.ratings + rater.missing) for end in self._bounds_span())
        return Bounds(worst, best)

    def _silent_lines(self) -> list[RaterLine]:
        bounds = None if self._is_nominal else Bounds(*self._bounds_span())
        is_binary = not self._is_nominal and self._all_shares()
        return [RaterLine(rater.name, 0, rater.missing, 0, is_binary, bounds=bounds) for rater in self._ratings.silent]

    def _rater_lines(self) -> list[RaterLine]:
        lines = []
        for rater in self._ratings.raters:
            sums = self._sums[rater.number]
            line = RaterLine(rater.name, rater.ratings, rater.missing, sums.questions, self._is_share(rater))
            if not self._is_nominal:
                errors, mean = standard_errors(sums), sums.mean
                limits = None
                if errors is not None and mean is not None:
                    half = student_quantile(0.975, sums.questions - 1) * errors.cr1
                    limits = (mean - half, mean + half)
                interval = self._mean_interval(rater, unit_interval(scaled_sums(sums, *self._span(rater))))
                line = replace(
                    line,
                    mean=mean,
                    interval=interval,
                    errors=errors,
                    t_interval=limits,
                    bounds=self._bounds(rater),
                    effective_questions=sums.effective_questions,
                )
            lines.append(line)
        return [*lines, *self._silent_lines()]

    def _span(self, *raters: Rater) -> tuple[float, float]:
        """The scale that was given, 0..1 for right and wrong and for every run, else what was seen."""
        if self._scale is not None:
            return self._scale
        if self._is_run or all(rater.is_binary for rater in raters):
            return 0.0, 1.0
        return min(rater.least for rater in raters), max(rater.greatest for rater in raters)

    def _mean_interval(self, rater: Rater, interval: Interval | None) -> Interval | None:
        is_known = self._is_run or rater.is_binary or self._scale is not None
        if interval is None or (rater.least == rater.greatest and not is_known):
            return None
        least, greatest = self._span(rater)
        low, high = (least + (greatest - least) * end for end in (interval.low, interval.high))
        return Interval(low, high, interval.level, interval.method)

    # Agreement.

    def _categories(self) -> list[float] | None:
        """Every whole number of a scale that was given; None: what was seen."""
        if self._scale is None or any(end != int(end) for end in self._scale):
            return None
        least, greatest = map(int, self._scale)
        return [float(value) for value in range(least, greatest + 1)] if greatest - least < MOST_CATEGORIES else None

    def _verdict_agreement(self) -> AgreementSection | None:
        """The agreement in verdicts of a run with several judges, as its report has it."""
        if self._opinions is None:
            return None
        return _between("verdicts", self._opinions, self._opinions.verdict_groups, self._opinions.verdicts)

    def _agreement(self) -> AgreementSection | None:
        """The agreement of a run that nobody but judges rated, from their opinions, as its report has it."""
        opinions = self._opinions
        if opinions is not None and {rater.name for rater in self._ratings.raters} <= set(opinions.judges):
            return _between("scores", opinions, opinions.score_groups)
        return self._rated_agreement()

    def _rated_agreement(self) -> AgreementSection | None:
        judges = [rater for rater in self._judges if rater.distinct <= MOST_CATEGORIES]
        values = self._ratings.values(judges)
        if len(judges) < 2 or len(values) > MOST_CATEGORIES:
            return None
        names = [rater.name for rater in judges]
        grouped = self._ratings.agreement(judges, len(values))
        whole, equal = AgreementSums.total(grouped.groups), AgreementSums.total(grouped.equal)
        categories = self._all_categories(values)
        coefficients = formulas.coefficients_of_sums(grouped.groups, self._measures(), categories)
        coefficients += [
            replace(coefficient, over=EqualItems(grouped.ratings or 0, equal.items, whole.items))
            for coefficient in formulas.coefficients_of_sums(grouped.equal, (Measure.FLEISS,))
        ]
        ratings = round(sum(whole.totals.values()))
        complete = equal.items if grouped.ratings == len(judges) else 0
        return AgreementSection(names, whole.items, complete, ratings, categories or values, coefficients)

    def _continuous(self) -> list[str]:
        return [rater.name for rater in self._ratings.raters if rater.distinct > MOST_CATEGORIES]

    def _all_categories(self, values: Sequence[float]) -> list[float] | None:
        """A value that nobody gave is a category only where the scale says so."""
        categories = self._categories()
        return categories if categories is not None and set(values) <= set(categories) else None

    def _measures(self) -> tuple[Measure, ...]:
        """The measures for any number of raters; texts have no order."""
        return _NOMINAL if self._is_nominal else (*_NOMINAL, *_ORDERED)

    def _pairs(self) -> list[PairLine]:
        countable = [rater for rater in self._ratings.raters if rater.distinct <= MOST_CATEGORIES]
        if len(countable) > MOST_PAIRED_RATERS or len(countable) < 2:
            return []
        counts = self._ratings.all_pairs(countable)
        return [
            self._counted_pair(first, second, counts[first.number, second.number], ())
            for first, second in combinations(countable, 2)
            if (first.number, second.number) in counts
        ]

    def _pair_line(self, human: Rater, judge: Rater) -> PairLine:
        groups = self._ratings.pair_groups(human, judge)
        whole = Counter[tuple[float, float]]()
        for group in groups:
            whole.update(group)
        return self._counted_pair(human, judge, whole, groups)

    def _counted_pair(self, first: Rater, second: Rater, counts: PairCounts, groups: Sequence[PairCounts]) -> PairLine:
        """The line of two raters, with intervals over questions where `groups` are given."""
        is_binary = (
            not self._is_nominal
            and self._scale in (None, (0, 1))
            and all(value in (0, 1) for pair in counts for value in pair)
        )
        is_countable = max(first.distinct, second.distinct) <= MOST_CATEGORIES
        coefficients = list(self._pair_coefficients(counts, groups)) if is_countable and counts else []
        ordered = {} if self._is_nominal else counts
        whole, *parts = (
            Confusion.of({(judge, human): count for (human, judge), count in counted.items()}) if is_binary else None
            for counted in (counts, *groups)
        )
        return PairLine(
            first.name,
            second.name,
            sum(counts.values()),
            coefficients,
            mean_difference(ordered),
            pearson(ordered),
            spearman(ordered) if ordered else None,
            kendall_tau_b(ordered) if ordered else None,
            auc(ordered),
            brier(ordered),
            whole if counts else None,
            formulas.shares_over_questions([part for part in parts if part is not None]),
        )

    def _pair_coefficients(self, counts: PairCounts, groups: Sequence[PairCounts]) -> Iterator[Coefficient]:
        values = sorted({value for pair in counts for value in pair})
        categories = self._all_categories(values)
        patterns, *parts = (patterns_of(counted) for counted in (counts, *groups))
        sums = [AgreementSums.of(part) for part in parts or [patterns]]
        for measure in _KAPPAS[:1] if self._is_nominal else _KAPPAS:
            estimate = partial(formulas.estimate_of, measure, categories=categories)
            if (kappa := estimate(patterns)) is not None:
                interval = formulas.within_reach(measure, formulas.jackknife_interval(parts, estimate))
                yield Coefficient(measure, kappa.value, interval, kappa.se)
        for coefficient in formulas.coefficients_of_sums(sums, self._measures(), categories):
            exact = (
                formulas.estimate_of(coefficient.measure, patterns, categories)
                if coefficient.measure in formulas.GWETS
                else None
            )
            yield replace(
                coefficient, se=exact.se if exact else None, interval=coefficient.interval if groups else None
            )

    # Labels.

    def _all_judges(self) -> list[Rater | SilentRater]:
        """Those without a single score, too."""
        return [*self._judges, *self._ratings.silent]

    def _corrected(self) -> list[CorrectedLine]:
        if self._human is None or self._is_nominal:
            return []
        lines = []
        for judge in self._all_judges():
            pool = self._ratings.pool(judge, self._human, only_rated=self._request.only_rated)
            known = (judge, self._human) if isinstance(judge, Rater) else (self._human,)
            scale = ValueScale(*self._span(*known))
            is_binary = all(map(self._is_share, known))
            lines.append(self._corrected_line(judge, pool, scale, is_binary=is_binary, is_difference=False))
        return lines

    def _corrected_line(
        self, judge: Rater | SilentRater, pool: LabelPool, scale: ValueScale, *, is_binary: bool, is_difference: bool
    ) -> CorrectedLine:
        repeats = pool.questions < pool.items
        totals: dict[str, Cell] = {}
        for cluster in pool.clusters:
            for name, cell in cluster.items():
                totals[name] = totals.get(name, Cell()) + cell
        scored = {name: cell for name, cell in totals.items() if name != NO_SCORE}
        # Right-or-wrong items without a score are a verdict of their own; graded ones a stratum beside the scores.
        items = LabelledItems(
            self._request.drawing,
            is_binary,
            scale,
            pool.sums,
            pool.labels,
            totals if is_binary else scored,
            pool.clusters if repeats else (),
            pool.parts if repeats else (),
        )
        unlabelled = pool.sums.items - pool.sums.labels
        alone = labels_only(items, pool, is_difference=is_difference)
        estimate = corrected_difference(items) if is_difference else corrected_mean(items)
        corrected = with_missing(estimate, items, pool, alone)
        return CorrectedLine(
            judge.name,
            corrected,
            labels_beside(alone, corrected),
            pool.judge_mean,
            pool.known,
            pool.known_mean,
            totals if is_binary else {},
            {} if self._request.drawing is Drawing.UNKNOWN else beside(replace(items, cells=scored)),
            known_judge=items.known_judge if is_binary else None,
            unlabelled_share=(pool.sums.f - pool.sums.lf) / unlabelled if is_binary and unlabelled else None,
            unscored=pool.unscored.items,
            left_out=judge.missing if self._request.only_rated else 0,
            is_share=is_binary or (is_difference and scale == _DIFFERENCE_OF_SHARES),
            is_difference=is_difference,
        )

    # Two systems.

    def _comparison(self) -> SystemComparison | None:
        if self._request.compare is None:
            return None
        if self._is_nominal:
            raise ConfigurationError("--compare: the ratings are texts, which have no difference")
        first, second = self._request.compare
        for name in (first, second):
            if name not in self._ratings.systems:
                known = listed(self._ratings.systems) if self._ratings.systems else "none; name a column with --system"
                raise ConfigurationError(f"--compare: there is no system {name!r}; there is {known}")
        if first == second:
            raise ConfigurationError(f"--compare: {first!r} twice; name two systems")
        tests = []
        raters: list[Rater | SilentRater] = [*self._ratings.raters, *self._ratings.silent]
        for rater in raters:
            test = paired_test(self._ratings.compared(rater, first, second))
            missing, bounds = self._ratings.compared_bounds(rater, first, second, self._bounds_span())
            is_share = self._is_share(rater) if isinstance(rater, Rater) else self._all_shares()
            # What a human has not rated is no rating that went wrong.
            tests.append(ComparedLine(rater.name, test, missing, None if rater is self._human else bounds, is_share))
        if all(line.test is None for line in tests):
            raise ConfigurationError(f"--compare: {first} and {second} have no question in common")
        corrected = []
        for judge in self._all_judges() if self._human else ():
            assert self._human is not None
            pool = self._ratings.paired_pool(judge, self._human, (first, second), only_rated=self._request.only_rated)
            if not pool.items:
                continue
            least, greatest = self._span(*((judge, self._human) if isinstance(judge, Rater) else (self._human,)))
            scale = ValueScale(least - greatest, greatest - least)
            corrected.append(self._corrected_line(judge, pool, scale, is_binary=False, is_difference=True))
        return SystemComparison(first, second, tests, corrected)


# Of two systems whose scores are right or wrong.
_DIFFERENCE_OF_SHARES = ValueScale(-1.0, 1.0)
# In the order in which they are told.
_KAPPAS = (Measure.KAPPA, Measure.KAPPA_LINEAR, Measure.KAPPA_QUADRATIC)


def _between(
    of: str, opinions: counts.Ratings, groups: Sequence[formulas.Patterns], words: Sequence[str] = ()
) -> AgreementSection:
    """Words have no order; without them values are numbers, and every coefficient has a meaning."""
    measures = (*_NOMINAL, *(() if words else _ORDERED), Measure.FLEISS)
    patterns = Counter[formulas.Pattern]()
    for group in groups:
        patterns.update(group)
    rating_counts = [len(pattern) - pattern.count(None) for pattern in patterns.elements()]
    values = sorted({value for pattern in patterns for value in pattern if value is not None})
    return AgreementSection(
        raters=sorted(opinions.judges),
        items=len(rating_counts),
        complete_items=rating_counts.count(len(opinions.judges)),
        ratings=sum(rating_counts),
        categories=words or values,
        coefficients=[coefficient for coefficient in between(of, groups, measures) if coefficient.value is not None],
        of=of,
    )


_NOMINAL = (Measure.RAW, Measure.ALPHA_NOMINAL, Measure.AC1)
_ORDERED = (Measure.ALPHA_ORDINAL, Measure.ALPHA_INTERVAL, Measure.AC2_LINEAR, Measure.AC2_QUADRATIC)


def patterns_of(counts: PairCounts) -> formulas.Patterns:
    """Two raters' pairs as patterns of raters."""
    return {(first, second): count for (first, second), count in counts.items()}


def with_missing(corrected: Corrected, items: LabelledItems, pool: LabelPool, alone: Corrected) -> Corrected:
    """The estimate for all items, those without a score among them: as `report` has it."""
    unscored, scale, drawing = pool.unscored, items.scale, items.drawing
    if not unscored.items:
        return corrected
    is_drawn = drawing in (Drawing.RANDOM, Drawing.STRATIFIED) or pool.labels_alone.labels == pool.items
    if not pool.sums.labels and unscored.labels:
        # Every label is of an item without a score: the judge plays no part, and its verdicts have no label.
        if is_drawn:
            return post_stratified(items.cells, clusters=items.clusters, drawing=drawing) if items.is_binary else alone
        state = State.UNKNOWN_DRAWING if drawing is Drawing.UNKNOWN else State.NO_SIGNAL
        return Corrected(state, labels=round(unscored.labels), items=pool.items)
    if corrected.low is None and corrected.point is None:
        return replace(corrected, labels=round(pool.labels_alone.labels), items=pool.items)
    if items.is_binary:
        # Labels from elsewhere are of other cases: only items without one are what is spoken of.
        rest = Cell(unscored.items - round(unscored.labels))
        return with_unscored(corrected, rest) if drawing is Drawing.ELSEWHERE else corrected
    width = scale.greatest - scale.least
    if width <= 0:
        return corrected
    positive = (unscored.positive - unscored.labels * scale.least) / width
    shares = with_unscored(moved(corrected, -scale.least / width, 1 / width), replace(unscored, positive=positive))
    return moved(shares, scale.least, width)


def moved(corrected: Corrected, shift: float, width: float) -> Corrected:
    """The same numbers on another scale."""
    point, low, high = (
        None if end is None else shift + width * end for end in (corrected.point, corrected.low, corrected.high)
    )
    return replace(corrected, point=point, low=low, high=high)


def labels_only(items: LabelledItems, pool: LabelPool, *, is_difference: bool = False) -> Corrected:
    """What the labels say without the judge, with the same clusters; also those of items without a score."""
    if items.is_binary:
        whole = {"all": sum(items.cells.values(), Cell())}
        clusters = [{"all": sum(cluster.values(), Cell())} for cluster in items.clusters]
        return post_stratified(whole, clusters=clusters)
    known = {(0.0, y): float(count) for y, count in pool.given.items()}
    parts = pool.label_parts if items.parts else ()
    return regression_of(pool.labels_alone, known, items.scale, parts=parts, is_difference=is_difference)


def beside(items: LabelledItems) -> dict[str, Corrected | PredictionPowered | None]:
    """Estimators as their papers give them, for independent items; each needs what its paper says."""
    estimates: dict[str, Corrected | PredictionPowered | None] = {
        "ppi_pp": prediction_powered(items.sums),
        "ppi_lam1": prediction_powered(items.sums, weight=1.0),
    }
    if items.is_binary:
        estimates["post_stratified"] = post_stratified(items.cells, drawing=items.drawing)
        estimates["rogan_gladen"] = rogan_gladen_of_unlabelled(items, is_independent=True)
    return estimates
