"""Krippendorff's alpha: the published example, and its ends."""

import pytest

from mixseek.domain.counts import PanelSums
from mixseek.stats.agreement import krippendorff_alpha


def sums_of(samples: list[list[float]]) -> PanelSums:
    """What a database returns for these samples."""
    panels = [own for own in samples if len(own) > 1]
    scores = [score for own in panels for score in own]
    within = sum(
        (2 * len(own) * sum(score * score for score in own) - 2 * sum(own) ** 2) / (len(own) - 1) for own in panels
    )
    squares = sum(score * score for score in scores)
    return PanelSums(len(panels), 0, len(scores), 0.0, sum(scores), squares, within)


def test_the_published_example() -> None:
    """Three coders, fifteen units, gaps: 0.811 for interval data (Krippendorff, 2011)."""
    units: list[list[float]] = [
        [1.0], [], [2, 2], [1, 1], [3, 3], [3, 3, 4], [4, 4, 4], [1, 3], [2, 2], [1, 1], [1, 1], [3, 3], [3, 3], [],
        [3, 4],
    ]  # fmt: skip

    assert krippendorff_alpha(sums_of(units)) == pytest.approx(0.811, abs=0.0005)


def test_the_ends() -> None:
    """Full agreement is 1, the opposite is below 0, and scores without variation tell nothing."""
    assert krippendorff_alpha(sums_of([[0, 0], [1, 1]])) == pytest.approx(1.0)
    worst = krippendorff_alpha(sums_of([[0, 1], [1, 0]]))
    assert worst is not None
    assert worst < 0
    assert krippendorff_alpha(sums_of([[0.5, 0.5], [0.5, 0.5]])) is None
    assert krippendorff_alpha(sums_of([])) is None
