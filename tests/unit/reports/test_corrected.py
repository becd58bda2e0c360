"""Judges, labels and both together: which labels count, what they are worth, and what is refused."""

import random
from collections import Counter

import pytest

from mixseek.analysis.labels.corrected import CorrectedGroup, LabelFacts, build_corrected
from mixseek.domain.labels import WHOLE, CellCount, LabelledRun, LabelledUnit, LabelScale
from mixseek.reports.labels import corrected_document, corrected_text, group_sentence
from mixseek.stats.estimates import Corrected, Drawing, Estimator, State

# Verdict or state, judges' value, label (None: not labelled), how it was drawn, weight, question.
Item = tuple[str, float | None, float | None, str, float, str]


def run_of(items: list[Item], *, is_binary: bool, uncovered: int = 0) -> LabelledRun:
    """As the storage would give it."""
    has_clusters = len({item[5] for item in items}) < len(items)

    def count(some: list[Item], question: str | None) -> list[CellCount]:
        cells = Counter(item[0] for item in some)
        return [
            CellCount(
                WHOLE, cell, any(item[1] is not None for item in own), number, sum(item[1] or 0 for item in own),
                sum((item[1] or 0) ** 2 for item in own), uncovered if question is None else 0, question,
            )
            for cell, number in sorted(cells.items())
            for own in [[item for item in some if item[0] == cell]]
        ]  # fmt: skip

    questions = {item[5]: [one for one in items if one[5] == item[5]] for item in items} if has_clusters else {}
    return LabelledRun(
        is_binary,
        tuple(count(items, None)),
        tuple(
            LabelledUnit(WHOLE, cell, question, value, share, drawn, weight)
            for cell, value, share, drawn, weight, question in items
            if share is not None
        ),
        tuple(one for name, some in questions.items() for one in count(some, name)),
        frozenset({WHOLE} if has_clusters else ()),
    )


def whole(items: list[Item], *, is_binary: bool, uncovered: int = 0) -> CorrectedGroup:
    run = run_of(items, is_binary=is_binary, uncovered=uncovered)
    facts = LabelFacts(texts=1, raters=("mia",), scale=LabelScale(0, 8, is_binary=is_binary))
    report = build_corrected(run, facts)
    # Every report can be written as JSON, and told.
    assert corrected_document(report)["sentence"] == group_sentence(report.whole)
    assert f"{report.whole.labelled:,} of " in group_sentence(report.whole)
    return report.whole


def width(found: Corrected) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def graded(count: int, labelled: int, *, drawn: str = "random", per_question: int = 1) -> list[Item]:
    """People give half of what the judges give, and a little more or less."""
    rng = random.Random(7)
    items: list[Item] = []
    for n in range(count):
        value = rng.randint(0, 8) / 8
        label = min(1.0, max(0.0, value / 2 + rng.choice((-0.05, 0.0, 0.05))))
        items.append(("scored", value, label if n < labelled else None, drawn, 1.0, f"q{n // per_question}"))
    return items


def test_graded_judges_are_corrected_by_regression() -> None:
    """Narrower than labels alone, because the judges' scores tell most of what people say."""
    found = whole(graded(1_000, 100), is_binary=False)

    corrected, labels = found.corrected, found.labels
    assert (corrected.state, corrected.estimator) == (State.CORRECTED, Estimator.REGRESSION)
    assert width(corrected) < width(labels) / 2
    assert (corrected.low or 1) < 0.25 < (corrected.high or 0)
    assert found.judges.mean == pytest.approx(0.5, abs=0.03)


def test_what_has_no_score_stays_in_a_graded_number() -> None:
    """Without a label it widens bounds by its weight; with labels it is a stratum of its own."""
    bare: list[Item] = [("invalid", None, None, "random", 1.0, f"x{n}") for n in range(100)]
    told: list[Item] = [(*item[:2], 0.0, *item[3:]) if n < 20 else item for n, item in enumerate(bare)]
    without = whole(graded(900, 100), is_binary=False).corrected

    bounds = whole(graded(900, 100) + bare, is_binary=False)
    point = whole(graded(900, 100) + told, is_binary=False).corrected

    assert (bounds.corrected.state, bounds.corrected.point) == (State.BOUNDS, None)
    assert bounds.corrected.low == pytest.approx((without.low or 0) * 0.9)
    assert bounds.corrected.high == pytest.approx((without.high or 0) * 0.9 + 0.1)
    assert bounds.unlabelled == (("invalid", 100),)
    assert point.state is State.CORRECTED
    assert point.point == pytest.approx((without.point or 0) * 0.9)


def test_equal_weights_are_no_weights() -> None:
    """A draw with the same probability everywhere is a random draw."""
    weighted: list[Item] = [(*item[:3], "weighted", 7.0, item[5]) for item in graded(500, 60)]

    plain, same = whole(graded(500, 60), is_binary=False), whole(weighted, is_binary=False)

    assert same.drawing is Drawing.WEIGHTED
    for mine, other in ((plain.corrected, same.corrected), (plain.labels, same.labels)):
        assert (mine.point, mine.low, mine.high) == pytest.approx((other.point, other.low, other.high))


@pytest.mark.parametrize(
    ("labelled", "drawn", "state"),
    [(0, "random", State.NO_LABELS), (10, "unknown", State.UNKNOWN_DRAWING), (40, "elsewhere", State.NOT_BINARY)],
)
def test_graded_labels_that_cannot_speak_give_no_number(labelled: int, drawn: str, state: State) -> None:
    found = whole(graded(200, labelled, drawn=drawn), is_binary=False)

    assert (found.corrected.state, found.corrected.point, found.corrected.low) == (state, None, None)
    assert corrected_text(found.corrected, LabelScale(0, 8, is_binary=False)) == "–"


def test_labels_of_a_pool_that_lacks_some_samples_are_from_another_mix() -> None:
    found = whole(graded(200, 60), is_binary=False, uncovered=5)

    assert found.corrected.state is State.NOT_BINARY


def test_questions_that_repeat_widen_both() -> None:
    """Ten samples a question: fewer than five labelled questions are refused."""
    few = whole(graded(400, 40, per_question=10), is_binary=False)
    many = whole(graded(400, 200, per_question=10), is_binary=False)

    assert (few.corrected.state, few.corrected.clusters) == (State.FEW_CLUSTERS, 4)
    assert (many.corrected.state, many.corrected.clusters) == (State.CORRECTED, 20)


def binary_population(rng: random.Random) -> list[tuple[str, float, float, str]]:
    """Verdict, its value, what is true, and a task: small tasks go wrong more often, under either verdict."""
    items = []
    for _ in range(600):
        task = "small" if rng.random() < 0.2 else "large"
        is_right = rng.random() < (0.4 if task == "small" else 0.85)
        says_right = rng.random() < (0.9 if is_right else 0.25)
        items.append(("1" if says_right else "0", float(says_right), float(is_right), task))
    return items


@pytest.mark.thorough
def test_a_draw_that_prefers_hard_cases_on_purpose_covers_the_truth() -> None:
    """Half of the labels from a fifth of the samples: unweighted they would be far off; 95% intervals hold."""
    rng = random.Random(20_260)
    hits = plain_hits = 0
    for _ in range(150):
        population = binary_population(rng)
        by_task = {task: [n for n, one in enumerate(population) if one[3] == task] for task in ("small", "large")}
        drawn = {n: len(own) / 50 for own in by_task.values() for n in rng.sample(own, 50)}
        items: list[Item] = [
            (cell, value, truth if n in drawn else None, "weighted", drawn.get(n, 1.0), str(n))
            for n, (cell, value, truth, _) in enumerate(population)
        ]
        expected = 0.2 * 0.4 + 0.8 * 0.85
        found = whole(items, is_binary=True).corrected
        hits += (found.low or 0) <= expected <= (found.high or 0)
        plain = whole([(*item[:4], 1.0, item[5]) for item in items], is_binary=True).labels
        plain_hits += (plain.low or 0) <= expected <= (plain.high or 0)

    assert hits >= 138
    assert plain_hits < 75


def test_a_random_draw_that_does_not_look_like_one_is_said_to() -> None:
    """Labels from correct verdicts only, and a few others: a random draw would look different."""
    items: list[Item] = [("1", 1.0, 1.0 if n < 60 else None, "random", 1.0, f"a{n}") for n in range(300)]
    items += [("0", 0.0, 0.0 if n < 2 else None, "random", 1.0, f"b{n}") for n in range(300)]

    found = whole(items, is_binary=True)

    assert found.corrected.state is State.NOT_RANDOM
    assert "a random draw would look different" in group_sentence(found)


def test_few_random_labels_give_way_to_many_from_elsewhere() -> None:
    """Under fifteen, and right or wrong: sensitivity and specificity; graded labels from elsewhere never count."""
    items: list[Item] = [("1", 1.0, float(n % 10 > 0), "elsewhere", 1.0, f"a{n}") for n in range(60)]
    items += [("0", 0.0, float(n % 5 == 0), "elsewhere", 1.0, f"b{n}") for n in range(60)]
    items += [("1", 1.0, 1.0, "random", 1.0, f"c{n}") for n in range(10)]
    items += [("1", 1.0, None, "random", 1.0, f"d{n}") for n in range(200)]

    found = whole(items, is_binary=True)

    assert (found.drawing, found.corrected.estimator) == (Drawing.ELSEWHERE, Estimator.ROGAN_GLADEN)
    assert found.labelled == 120
