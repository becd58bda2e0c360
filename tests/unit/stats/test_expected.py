"""The expected score beside the one that was given, against people."""

import math
from random import Random

import pytest

from mixseek.stats.expected import ScoredItem, compare_expected


def test_the_two_against_people_by_hand() -> None:
    """Expected scores miss by .5 each, given ones by 1, 0 and 1; both order the items as people do, one with a tie."""
    found = compare_expected(
        [
            ScoredItem(1.5, 2.0, 1.0, 1.0, "a"),
            ScoredItem(2.5, 2.0, 2.0, 2.0, "b"),
            ScoredItem(3.5, 4.0, 4.0, 3.0, "c"),
        ]
    )

    assert found is not None
    assert (found.items, found.questions, found.unlike) == (3, 3, 1)
    assert found.expected.rmse == pytest.approx(0.5)
    assert found.given.rmse == pytest.approx(math.sqrt(2 / 3))
    assert found.likeliest is not None
    assert found.likeliest.rmse == pytest.approx(math.sqrt(1 / 3))
    assert found.expected.spearman == pytest.approx(1)
    assert found.given.spearman == pytest.approx(math.sqrt(3) / 2)
    assert found.rmse_gain.value == pytest.approx(math.sqrt(2 / 3) - 0.5)
    assert found.rmse_gain.interval is None


def test_without_people_there_is_nothing() -> None:
    assert compare_expected([]) is None


def test_a_judge_that_gives_one_score_orders_nothing() -> None:
    found = compare_expected([ScoredItem(1 + number / 10, 2.0, 2.0, number, str(number)) for number in range(9)])

    assert found is not None
    assert (found.given.spearman, found.spearman_gain.value, found.spearman_gain.interval) == (None, None, None)
    assert found.expected.spearman == pytest.approx(1)


def noisy_items(rng: Random, count: int) -> list[ScoredItem]:
    """A given score is the expected one, rounded to the ends of the scale."""
    items = []
    for number in range(count):
        people = rng.uniform(1, 5)
        expected = min(5.0, max(1.0, people + rng.gauss(0, 0.6)))
        given = 1.0 if expected < 3 else 5.0
        items.append(ScoredItem(expected, given, given, people, str(number)))
    return items


def test_intervals_of_a_clear_gain_leave_out_nought() -> None:
    found = compare_expected(noisy_items(Random(4), 120))

    assert found is not None
    for gain in (found.rmse_gain, found.spearman_gain):
        assert gain.value is not None
        assert gain.interval is not None
        assert 0 < gain.interval.low < gain.value < gain.interval.high


def test_a_scale_of_a_hundred_has_wider_gains() -> None:
    """The difference of two errors is on the judge's scale, and no interval ends at 1."""
    items = [
        ScoredItem(20 * one.expected, 20 * one.given, None, 20 * one.people, one.question)
        for one in noisy_items(Random(4), 120)
    ]
    small, large = compare_expected(noisy_items(Random(4), 120)), compare_expected(items)

    assert small is not None
    assert large is not None
    assert small.rmse_gain.interval is not None
    assert large.rmse_gain.interval is not None
    assert large.rmse_gain.interval.high == pytest.approx(20 * small.rmse_gain.interval.high)


def test_an_item_of_twice_the_weight_counts_as_two() -> None:
    items = noisy_items(Random(6), 30)
    weighted = [
        ScoredItem(one.expected, one.given, one.likeliest, one.people, one.question, 1 + number % 2)
        for number, one in enumerate(items)
    ]
    doubled = [one for number, one in enumerate(items) for _ in range(1 + number % 2)]
    first, second = compare_expected(weighted), compare_expected(doubled)

    assert first is not None
    assert second is not None
    assert first.expected.rmse == pytest.approx(second.expected.rmse)
    assert first.expected.spearman == pytest.approx(second.expected.spearman, abs=0.002)
