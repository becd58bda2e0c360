"""Votes in two orders, juries and small regressions, against values worked out by hand."""

import math
from random import Random

import pytest

from mixseek.stats.jury import Ballot, dawid_skene, dawid_skene_accuracy, majority_accuracy, position_of, voter_accuracy
from mixseek.stats.regression import Row, inverse, least_squares, logit


def test_both_orders_are_told_apart() -> None:
    """None comes before ties, ties before votes; a vote is by the response, so AB=A and BA=B both favour the first."""
    found = position_of(
        {
            (1.0, 1.0, 1.0): 5,
            (0.0, 0.0, 1.0): 1,
            (1.0, 0.0, 1.0): 3,
            (0.0, 1.0, None): 1,
            (0.5, 1.0, 1.0): 2,
            (None, 0.5, 1.0): 4,
        }
    )

    assert (found.pairs, found.with_null, found.with_tie, found.decisive) == (16, 4, 2, 10)
    assert (found.consistent, found.first_both, found.second_both) == (6, 3, 1)
    assert (found.consistency, found.bias, found.first_shown_rate) == (0.6, 0.2, 0.6)
    assert found.sign_test_p == pytest.approx(2 * (1 + 4) / 16)
    assert (found.accuracy_both_orders, found.accuracy_mean_of_orders) == (5 / 9, 13 / 18)


def test_nothing_decisive_has_no_rates() -> None:
    found = position_of({(0.5, 0.5, None): 3})

    assert (found.consistency, found.bias, found.first_shown_rate, found.accuracy_both_orders) == (None,) * 4
    assert found.sign_test_p == 1.0


def test_a_majority_without_most_votes_counts_a_part() -> None:
    ballots = [
        Ballot(((0, 1.0), (1, 1.0), (2, 0.0)), 2, 1.0),
        Ballot(((0, 1.0), (1, 0.0)), 1, 0.0),
        Ballot(((0, 0.0), (1, 1.0), (2, 2.0)), 3, 5.0),
        Ballot(((2, 1.0),), 1),
    ]
    accuracy, ties = majority_accuracy(ballots)

    assert (accuracy.right, accuracy.known, ties) == (2.5, 6, 4)
    assert {voter: (one.right, one.known) for voter, one in voter_accuracy(ballots).items()} == {
        0: (2, 6),
        1: (3, 6),
        2: (0, 5),
    }


def test_dawid_skene_listens_to_those_who_agree() -> None:
    """Two judges that are nearly always right outvote three that guess; counted ballots are the same as single ones."""
    rng = Random(1)
    ballots = []
    for _ in range(300):
        truth = float(rng.random() < 0.6)
        skills = (0.95, 0.95, 0.55, 0.55, 0.55)
        votes = tuple((n, truth if rng.random() < skill else 1 - truth) for n, skill in enumerate(skills))
        ballots.append(Ballot(votes, 1, truth))
    found = dawid_skene(ballots)
    majority, _ = majority_accuracy(ballots)
    share = dawid_skene_accuracy(ballots, found).share

    assert found.has_converged
    assert share is not None
    assert majority.share is not None
    assert share > majority.share + 0.03
    assert math.fsum(found.prior.values()) == pytest.approx(1)
    assert found.prior[1.0] == pytest.approx(0.6, abs=0.08)

    twice = dawid_skene([Ballot(one.votes, 2, one.truth) for one in ballots])
    assert twice.prior == pytest.approx(found.prior)
    assert twice.log_likelihood == pytest.approx(2 * found.log_likelihood)


def test_an_inverse_undoes_its_matrix_and_a_singular_one_has_none() -> None:
    matrix = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]
    found = inverse(matrix)

    assert found is not None
    product = [[sum(matrix[i][k] * found[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    assert product == [pytest.approx([float(i == j) for j in range(3)]) for i in range(3)]
    assert inverse([[1.0, 1.0], [1.0, 1.0]]) is None


def test_a_line_has_the_slope_and_errors_of_the_textbook() -> None:
    """Five points: slope 0.9, HC3 by its definition, clusters of their own the same as HC0."""
    points = [(0.0, 0.1), (1.0, 0.8), (2.0, 2.3), (3.0, 2.6), (4.0, 3.7)]
    fit = least_squares([Row((1.0, x), y, x) for x, y in points])
    assert fit is not None
    hc3 = hc0 = 0.0
    for x, y in points:
        residual = y - fit.coefficients[0] - fit.coefficients[1] * x
        leverage = 1 / 5 + (x - 2) ** 2 / 10
        hc0 += ((x - 2) / 10 * residual) ** 2
        hc3 += ((x - 2) / 10 * residual / (1 - leverage)) ** 2

    assert fit.coefficients == pytest.approx([0.1, 0.9])
    assert fit.hc3 is not None
    assert (fit.hc3[1], fit.clustered_se[1]) == pytest.approx((math.sqrt(hc3), math.sqrt(hc0)))
    interval = fit.interval(1)
    assert interval is not None
    assert interval.low < 0.9 < interval.high
    assert least_squares([Row((1.0, 2.0), y) for y in (1.0, 2.0, 3.0)]) is None


def test_a_logit_of_one_group_is_the_log_odds_and_separation_has_none() -> None:
    rows = [Row((1.0, float(n % 2)), float(n % 4 == 0 or n < 10), n) for n in range(40)]
    fit = logit(rows)
    assert fit is not None
    odds = [[row.y for row in rows if row.x[1] == side] for side in (0.0, 1.0)]
    logits = [math.log(sum(one) / (len(one) - sum(one))) for one in odds]

    assert fit.coefficients == pytest.approx([logits[0], logits[1] - logits[0]])
    for unit in (1e-4, 1.0, 1e4):
        assert logit([Row((1.0, unit * n), float(n > 5)) for n in range(12)]) is None
        scaled = logit([Row((1.0, unit * row.x[1]), row.y, row.cluster) for row in rows])
        assert scaled is not None
        assert scaled.coefficients[1] * unit == pytest.approx(fit.coefficients[1])
