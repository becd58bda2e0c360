"""How much of the variance is the judge's own: a published table, the ends, and what has no answer."""

from collections.abc import Sequence
from statistics import fmean

import pytest

from mixseek.domain.counts import TakeSums
from mixseek.stats.own_share import own_share_of_variance

# Shrout and Fleiss 1979, table 2: six targets, four ratings each; their ICC(1,1) is .17.
PUBLISHED = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]


def groups_of(samples: Sequence[Sequence[float]]) -> list[TakeSums]:
    """Every sample a group of its own."""
    return [
        TakeSums(
            "m",
            group,
            samples=1,
            takes=len(own),
            squares_of_takes=float(len(own) ** 2),
            within=sum((one - fmean(own)) ** 2 for one in own),
            between=len(own) * fmean(own) ** 2,
            total=float(sum(own)),
        )
        for group, own in enumerate(samples)
    ]


def test_the_published_table() -> None:
    share = own_share_of_variance(groups_of(PUBLISHED))

    assert share.value == pytest.approx(1 - 0.166, abs=0.001)
    assert share.value is not None
    assert share.interval is not None
    assert share.interval.low < share.value < share.interval.high <= 1


def test_the_ends() -> None:
    """Takes that never differ: nothing is its own; samples that never differ: all of it is."""
    steady, fickle = groups_of([(0, 0), (1, 1), (0.5, 0.5)]), groups_of([(0, 1), (1, 0), (0, 1)])

    assert own_share_of_variance(steady).value == 0.0
    assert own_share_of_variance(fickle).value == 1.0
    # Every group alike: no interval, rather than one without width.
    assert own_share_of_variance(fickle).interval is None


@pytest.mark.parametrize("samples", [[], [(0, 1)], [(1, 1), (1, 1)]], ids=["none", "one", "no variance"])
def test_what_has_no_answer(samples: Sequence[Sequence[float]]) -> None:
    assert own_share_of_variance(groups_of(samples)).value is None
