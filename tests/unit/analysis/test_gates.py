"""Gates: the number that is compared, and the words for it."""

from dataclasses import replace

from tests.cases import each

from mixseek.analysis.run.gates import Gates, check_gates
from mixseek.analysis.run.model import ScoreSummary
from mixseek.domain.counts import ResponseCounts, StatusCounts


def score(
    valid: int, undecided: int = 0, invalid: int = 0, mean: float | None = None, unverified: int = 0
) -> ScoreSummary:
    counts = StatusCounts(valid=valid, undecided=undecided, invalid=invalid)
    return ScoreSummary(counts, mean, interval=None, bounds=None, is_binary=True, unverified=unverified)


@each(
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
        # Of the valid ones: an invalid judgment rests on no answer at all.
        (Gates(max_unverified=0.2), score(10, invalid=10, mean=1.0, unverified=2), True),
        (Gates(max_unverified=0.19), score(10, invalid=10, mean=1.0, unverified=2), False),
        (Gates(max_unverified=0.0), score(0, invalid=1), True),
    ],
)
def test_a_limit_itself_is_still_within(gates: Gates, summary: ScoreSummary, met: bool) -> None:
    """And shares are of everything judged, not of what was scored."""
    (result,) = check_gates(gates, {None: summary})

    assert result.is_met is met


@each(("limit", "met"), [(0.1, True), (0.099, False), (0.0, False)])
def test_what_was_cut_off_is_a_share_of_all_responses(limit: float, met: bool) -> None:
    """Whatever was said of them; nobody counted is none."""
    cut = replace(score(8, undecided=2, mean=1.0), responses=ResponseCounts(total=10, cut_off=1, withheld=5, empty=2))
    (result,) = check_gates(Gates(max_cut_off=limit), {None: cut})

    assert (result.is_met, result.actual) == (met, 0.1)
    assert check_gates(Gates(max_cut_off=0.0), {None: score(8, mean=1.0)})[0].is_met


def test_only_gates_that_are_set_are_checked() -> None:
    """No gate, no result, and nothing in the manifest."""
    assert check_gates(Gates(), {None: score(1, mean=0.0)}) == ()
    assert Gates(max_invalid=0.25).limits() == {"max_invalid": 0.25}


def test_a_failure_names_the_option_and_both_numbers() -> None:
    """So that a log alone is enough to understand it."""
    under, over = check_gates(Gates(fail_under=0.9, max_undecided=0.01), {None: score(9, undecided=1, mean=0.5)})

    assert under.describe() == "gate --fail-under not met: mean score 50.00%, under the limit of 90.00%"
    assert over.describe() == "gate --max-undecided not met: undecided 10.00%, over the limit of 1.00%"


def test_every_judge_must_keep_the_limit_and_the_one_that_does_not_is_named() -> None:
    """37.8 % and 78.8 % are 58.3 % on average, and that is nobody's verdict."""
    strict, lenient = check_gates(Gates(fail_under=0.5), {"a": score(10, mean=0.378), "b": score(10, mean=0.788)})

    assert (strict.is_met, lenient.is_met) == (False, True)
    assert strict.describe() == "gate --fail-under not met by a: mean score 37.80%, under the limit of 50.00%"
    assert strict.judge == "a"
