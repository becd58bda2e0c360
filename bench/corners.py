"""Settings in which intervals once failed, for `make coverage`: each holds the truth in .93 to .97, or refuses.

Few labels by verdict, labels from elsewhere with repeated questions, graded means at an end of the scale, questions of
very different size, whole questions labelled, and a judge that errs differently on two targets.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from statistics import NormalDist

from bench.draws import Draw, items_of, labelled
from mixseek.domain.counts import UnitSums
from mixseek.stats.corrected import ValueScale
from mixseek.stats.estimates import Drawing, State
from mixseek.stats.intervals import unit_interval, with_questions


@dataclass(frozen=True)
class Outcome:
    """One draw: the truth, the limits where there are any, and the state in words."""

    truth: float
    low: float | None
    high: float | None
    state: str


@dataclass(frozen=True)
class Corner:
    """`is_alarm`: not coverage is counted but how often labels drawn at random are called *not random*."""

    name: str
    what: str
    draw: Callable[[Random], Outcome]
    is_alarm: bool = False


def outcome_of(draw: Draw) -> Outcome:
    result = draw.result()
    return Outcome(draw.truth, result.low, result.high, result.state.value)


def headline_of(truth: float, groups: Sequence[Sequence[float]]) -> Outcome:
    """The mean of scores in 0..1 without labels, by question."""
    scores = [score for group in groups for score in group]
    squares = math.fsum(score * score for score in scores)
    sums = UnitSums(len(scores), len(scores), 0, math.fsum(scores), squares)
    sums = with_questions(sums, [(len(group), math.fsum(group), 1) for group in groups])
    interval = unit_interval(sums)
    assert interval is not None
    return Outcome(truth, interval.low, interval.high, interval.method.value)


def few_by_verdict(rng: Random, prevalence: float, labels: int) -> Outcome:
    """Half of the labels from each verdict, whatever their shares."""
    items = items_of(rng, 2000, prevalence, 0.98, 0.7)
    chosen: set[int] = set()
    for kind in (0.0, 1.0):
        places = [place for place, (verdict, _) in enumerate(items) if verdict == kind]
        chosen |= set(rng.sample(places, labels // 2))
    return outcome_of(Draw(prevalence, labelled(items, chosen), Drawing.STRATIFIED))


def elsewhere_repeated(rng: Random, *, is_erring_by_question: bool) -> Outcome:
    """100 questions with ten items each, and 20 labelled ones of another population.

    `is_erring_by_question`: the judge's errors, too, are alike within a question.
    """

    def rate_of(mean: float) -> float:
        # Beta-distributed rates have an intra-class correlation of 1 / (a + b + 1).
        total = 1 / 0.3 - 1
        return rng.betavariate(mean * total, (1 - mean) * total)

    def questions(count: int, prevalence: float) -> list[tuple[float, float]]:
        items = []
        for _ in range(count):
            judge = (rate_of(0.9), rate_of(0.8)) if is_erring_by_question else (0.9, 0.8)
            items += items_of(rng, 10, rate_of(prevalence), *judge)
        return items

    judged, known = questions(100, 0.7), questions(20, 0.4)
    return outcome_of(Draw(0.7, [*labelled(judged, set()), *known], Drawing.ELSEWHERE, group_size=10))


@lru_cache
def ceiling_middle(mean: float) -> float:
    """Where the latent scores lie whose whole points from 0 to 8 have this mean."""

    def mean_of(middle: float) -> float:
        return math.fsum(1 - NormalDist(middle, 2).cdf(points - 0.5) for points in range(1, 9))

    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_of(middle) < mean else (low, middle)
    return low


def graded_ceiling(rng: Random, mean: float, questions: int, size: int) -> Outcome:
    """Two fifths of the variance are the question's."""
    groups = []
    for _ in range(questions):
        own = rng.gauss(ceiling_middle(mean), 2 * math.sqrt(0.4))
        points = [round(rng.gauss(own, 2 * math.sqrt(0.6))) for _ in range(size)]
        groups.append([min(8, max(0, value)) / 8 for value in points])
    return headline_of(mean / 8, groups)


def _right_share(z: float, u: float) -> float:
    return 1 / (1 + math.exp(-(1.2 - 0.8 * z + 0.7 * u)))


def _size(z: float) -> int:
    return max(1, round(math.exp(2 + z)))


@lru_cache
def uneven_truth() -> float:
    """The share of right samples, by the trapezoid rule over both normal variables."""
    steps = [-8 + 16 * place / 800 for place in range(801)]
    weights = [NormalDist().pdf(step) for step in steps]
    coarse = [(u, weight) for u, weight in zip(steps[::20], weights[::20], strict=True)]
    whole = math.fsum(weight for _, weight in coarse)
    samples = [(z, weight * _size(z)) for z, weight in zip(steps, weights, strict=True)]
    right = math.fsum(
        weight * math.fsum(chance * _right_share(z, u) for u, chance in coarse) / whole for z, weight in samples
    )
    return right / math.fsum(weight for _, weight in samples)


def uneven_questions(rng: Random, count: int) -> list[list[bool]]:
    """Large questions are hard ones."""
    questions = []
    for _ in range(count):
        z, u = rng.gauss(0, 1), rng.gauss(0, 1)
        questions.append([rng.random() < _right_share(z, u) for _ in range(_size(z))])
    return questions


def uneven_headline(rng: Random, count: int) -> Outcome:
    questions = uneven_questions(rng, count)
    return headline_of(uneven_truth(), [[float(right) for right in question] for question in questions])


def uneven_corrected(rng: Random, count: int) -> Outcome:
    """150 labels at random."""
    questions = uneven_questions(rng, count)
    while sum(map(len, questions)) < 150:
        questions = uneven_questions(rng, count)
    items = [
        (float(rng.random() < (0.9 if right else 0.2)), float(right)) for question in questions for right in question
    ]
    chosen = set(rng.sample(range(len(items)), 150))
    return outcome_of(Draw(uneven_truth(), labelled(items, chosen), sizes=[len(question) for question in questions]))


def graded_whole_questions(rng: Random, count: int) -> Outcome:
    """100 questions with eight items each, similar within (ICC .6), of which some are labelled as a whole."""
    items: list[tuple[float, float]] = []
    for _ in range(100):
        own = rng.gauss(4.5, 2 * math.sqrt(0.6))
        for _ in range(8):
            quality = rng.gauss(own, 2 * math.sqrt(0.4))
            human, judge = (min(8.0, max(0.0, float(round(quality + rng.gauss(shift, 0.7))))) for shift in (0, 0.3))
            items.append((judge, human))
    whole = rng.sample(range(100), count)
    chosen = {question * 8 + place for question in whole for place in range(8)}
    pairs = labelled(items, chosen)
    return outcome_of(Draw(4.5, pairs, scale=ValueScale(0.0, 8.0), is_binary=False, group_size=8))


def drift_between_targets(rng: Random, count: int) -> Outcome:
    """Two targets on 120 questions, three items each; the judge is kind to one and strict with the other."""
    rates = ((0.7, 0.95, 0.6), (0.6, 0.85, 0.9))
    pairs = []
    for _ in range(120):
        hard = rng.gauss(0, 0.15)
        verdicts, truths = [], []
        for prevalence, sensitivity, specificity in rates:
            items = items_of(rng, 3, min(1.0, max(0.0, prevalence + hard)), sensitivity, specificity)
            verdicts.append(sum(verdict for verdict, _ in items) / 3)
            truths.append(sum(truth for _, truth in items) / 3)
        pairs.append((verdicts[0] - verdicts[1], truths[0] - truths[1]))
    chosen = set(rng.sample(range(120), count))
    scale = ValueScale(-1.0, 1.0)
    # Shifts of both rates cancel, but for what the ends of 0..1 cut off: less than .001.
    return outcome_of(Draw(0.1, labelled(pairs, chosen), scale=scale, is_binary=False, is_difference=True))


CORNERS = (
    *(
        Corner(
            f"few by verdict {labels}, {prevalence:g}",
            f"{labels} labels by verdict, prevalence {prevalence:g}",
            partial(few_by_verdict, prevalence=prevalence, labels=labels),
        )
        for prevalence in (0.97, 0.7)
        for labels in (14, 10)
    ),
    Corner(
        "elsewhere, repeated",
        "labels from elsewhere, questions x 10",
        partial(elsewhere_repeated, is_erring_by_question=False),
    ),
    Corner(
        "elsewhere, alike errors",
        "the same, errors alike within",
        partial(elsewhere_repeated, is_erring_by_question=True),
    ),
    *(
        Corner(
            f"graded ceiling {mean:g}, {questions} x {size}",
            f"mean {mean:g} of 8, {questions} questions x {size}",
            partial(graded_ceiling, mean=mean, questions=questions, size=size),
        )
        for mean in (7.84, 7.61)
        for questions, size in ((30, 1), (100, 1), (20, 4))
    ),
    *(
        Corner(f"sizes {count}", f"{count} questions of unequal size", partial(uneven_headline, count=count))
        for count in (25, 60, 200)
    ),
    *(
        Corner(f"sizes, labels {count}", f"{count} of those, 150 labels", partial(uneven_corrected, count=count))
        for count in (60, 200)
    ),
    *(
        Corner(
            f"graded whole questions {count}",
            f"{count} whole questions: not random",
            partial(graded_whole_questions, count=count),
            is_alarm=True,
        )
        for count in (20, 8)
    ),
    *(
        Corner(
            f"drift between targets {count}",
            f"difference, {count} questions labelled",
            partial(drift_between_targets, count=count),
        )
        for count in (40, 20)
    ),
)
# Called not random although it is.
ALARM = State.NOT_RANDOM.value
