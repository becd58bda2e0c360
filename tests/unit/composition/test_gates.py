"""Gates: the number that is compared, and the words for it."""

import pytest

from mixseek.composition.gates import Gates, check_gates
from mixseek.reporting.model import ScoreSummary, StatusCounts


def score(valid: int, undecided: int = 0, invalid: int = 0, mean: float | None = None) -> ScoreSummary:
    counts = StatusCounts(valid=valid, undecided=undecided, invalid=invalid)
    return ScoreSummary(counts, mean, interval=None, bounds=None, is_binary=True)


@pytest.mark.parametrize(
    ("gates", "summary", "met"),
    [
        (Gates(fail_under=0.8), score(10, mean=0.8), True),
        (Gates(fail_under=0.8), score(10, mean=0.79), False),
        (Gates(fail_under=0.0), score(0), False),  # a mean of nothing meets no minimum
        (Gates(max_invalid=0.1), score(9, invalid=1, mean=1.0), True),
        (Gates(max_invalid=0.1), score(8, invalid=2, mean=1.0), False),
        (Gates(max_invalid=0.0), score(10, undecided=5, mean=1.0), True),
        (Gates(max_undecided=0.5), score(5, undecided=5, mean=1.0), True),
        (Gates(max_undecided=0.49), score(5, undecided=5, mean=1.0), False),
    ],
)
def test_a_limit_itself_is_still_within(gates: Gates, summary: ScoreSummary, met: bool) -> None:
    """And shares are of everything judged, not of what was scored."""
    (result,) = check_gates(gates, summary)

    assert result.is_met is met


def test_only_gates_that_are_set_are_checked() -> None:
    """No gate, no result, and nothing in the manifest."""
    assert check_gates(Gates(), score(1, mean=0.0)) == ()
    assert Gates(max_invalid=0.25).limits() == {"max_invalid": 0.25}


def test_a_failure_names_the_option_and_both_numbers() -> None:
    """So that a log alone is enough to understand it."""
    under, over = check_gates(Gates(fail_under=0.9, max_undecided=0.01), score(9, undecided=1, mean=0.5))

    assert under.describe() == "gate --fail-under not met: mean score 50.00%, under the limit of 90.00%"
    assert over.describe() == "gate --max-undecided not met: undecided 10.00%, over the limit of 1.00%"
