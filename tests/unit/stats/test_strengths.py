"""Bradley and Terry's strengths: what they are by hand, when there are none, and what their intervals count."""

import math
from itertools import combinations, pairwise
from random import Random

import pytest

from mixseek.stats.intervals import IntervalMethod
from mixseek.stats.strengths.fit import fit_strengths
from mixseek.stats.strengths.model import Comparison, Standing, StrengthState
from mixseek.stats.strengths.order import order_agreement


def contest(first: str, second: str, *scores: float, length: float | None = None) -> list[Comparison]:
    """One question a score."""
    return [Comparison(f"{first}-{second}-{n}", first, second, score, length) for n, score in enumerate(scores)]


def drawn(rng: Random, strengths: dict[str, float], questions: int, slope: float = 0.0) -> list[Comparison]:
    """Every two on every question; one in six is a tie."""
    found = []
    for question in range(questions):
        for one in strengths:
            for other in strengths:
                if one < other:
                    length = rng.gauss(0, 1)
                    chance = 1 / (1 + math.exp(strengths[other] - strengths[one] - slope * length))
                    score = 0.5 if rng.random() < 1 / 6 else float(rng.random() < chance)
                    found.append(Comparison(f"q{question}", one, other, score, length))
    return found


def test_of_two_the_difference_is_the_logit_of_the_share_won() -> None:
    """Three and a half of five: the tie is half a win for each."""
    board = fit_strengths(contest("a", "b", 1, 1, 1, 0.5, 0))
    half = math.log(3.5 / 1.5) / 2

    assert board.state is StrengthState.ESTIMATED
    assert [one.name for one in board.standings] == ["a", "b"]
    assert board.values == pytest.approx({"a": half, "b": -half})
    # The information of five comparisons at .7, for half of the difference.
    assert board.standings[0].fisher_se == pytest.approx(0.5 / math.sqrt(5 * 0.7 * 0.3))
    assert (board.standings[0].won, board.standings[0].ties, board.standings[0].comparisons) == (3.5, 1, 5)
    assert (board.wins["a", "b"], board.wins["b", "a"]) == (3.5, 1.5)


def test_who_is_named_first_changes_nothing() -> None:
    comparisons = drawn(Random(2), {"a": 0.5, "b": 0.0, "c": -0.5}, 20)
    turned = [Comparison(one.question, one.second, one.first, 1 - one.score, -(one.length or 0)) for one in comparisons]
    for with_length in (False, True):
        board, other = (fit_strengths(side, with_length=with_length) for side in (comparisons, turned))

        assert board.values == pytest.approx(other.values)
        assert board.standings[0].interval is not None
        assert other.standings[0].interval is not None
        assert board.standings[0].interval.low == pytest.approx(other.standings[0].interval.low)


@pytest.mark.parametrize(
    ("comparisons", "state", "parts", "words"),
    [
        ([], StrengthState.NOTHING, [], "nothing was compared"),
        (
            [*contest("a", "b", 1, 0), *contest("x", "y", 1, 0)],
            StrengthState.APART,
            [["a", "b"], ["x", "y"]],
            "never compared with each other: a, b; x, y",
        ),
        (
            [*contest("a", "b", 0, 0), *contest("b", "c", 1, 1), *contest("a", "c", 1, 0, 0.5)],
            StrengthState.ONE_SIDED,
            [["b"], ["a", "c"]],
            "b won everything against the rest",
        ),
        (
            # Nobody won everything, and yet one half never lost to the other.
            [*contest("a", "b", 1, 0), *contest("b", "c", 1, 1), *contest("c", "d", 0, 0.5)],
            StrengthState.ONE_SIDED,
            [["a", "b"], ["c", "d"]],
            "a, b won everything against the rest",
        ),
    ],
)
def test_without_a_maximum_there_is_a_state_and_no_number(
    comparisons: list[Comparison], state: StrengthState, parts: list[list[str]], words: str
) -> None:
    board = fit_strengths(comparisons)

    assert (board.state, [list(part) for part in board.parts]) == (state, parts)
    assert words in board.sentence
    assert board.values == {}
    assert all(one.rank is None and one.interval is None for one in board.standings)
    rates = [one.win_rate for one in board.standings]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_a_length_that_decides_everything_or_nothing_is_a_state(unit: float) -> None:
    """Whatever lengths are measured in: a slope of thousands may be right where they hardly differ."""
    rows = [Comparison(f"{n}", "a", "b", float(n % 2), unit if n % 2 else -unit) for n in range(10)]
    longer = [Comparison(f"{n}", "a", "b", float(n % 2), unit) for n in range(10)]
    some = [Comparison(f"{n}", "a", "b", float(n % 3 > 0), unit * (n * n % 7)) for n in range(24)]
    once = fit_strengths(
        [Comparison("", one.first, one.second, one.score, (one.length or 0) / unit) for one in some], with_length=True
    )

    assert fit_strengths(rows).state is StrengthState.ESTIMATED
    assert fit_strengths(rows, with_length=True).state is StrengthState.SEPARATED
    assert fit_strengths(longer, with_length=True).state is StrengthState.CONFOUNDED
    assert fit_strengths(some, with_length=True).length_slope == pytest.approx((once.length_slope or 0) / unit)


def test_a_long_chain_of_near_defeats_has_strengths() -> None:
    """One tie in a thousand is a chain of wins, however far apart its ends are."""
    names = [f"{n:02}" for n in range(15)]
    rows = [
        Comparison(f"{n}", one, other, 0.5 if n == 0 else 1.0) for one, other in pairwise(names) for n in range(1000)
    ]
    board = fit_strengths(rows)

    assert board.state is StrengthState.ESTIMATED
    assert board.values["00"] - board.values["01"] == pytest.approx(math.log(1999))
    assert board.values["00"] == pytest.approx(7 * math.log(1999))


def test_what_length_explains_is_taken_out() -> None:
    """The weaker one writes more, which the judge likes."""
    rng = Random(5)
    rows = []
    for number in range(600):
        length = 1.0 + rng.gauss(0, 0.7)
        chance = 1 / (1 + math.exp(0.6 - 1.2 * length))
        rows.append(Comparison(f"q{number}", "long", "short", float(rng.random() < chance), length))
    plain, controlled = fit_strengths(rows), fit_strengths(rows, with_length=True)

    assert plain.standings[0].name == "long"
    assert controlled.standings[0].name == "short"
    assert controlled.length_slope == pytest.approx(1.2, abs=0.3)
    assert controlled.values["short"] == pytest.approx(0.3, abs=0.2)


def test_the_same_question_again_is_no_new_evidence() -> None:
    """Four judges that always agree: the same board, with the same intervals, however many comparisons there are."""
    once = drawn(Random(3), {"a": 0.4, "b": 0.1, "c": -0.5}, 40)
    one, four = fit_strengths(once), fit_strengths(once * 4)

    assert four.values == pytest.approx(one.values)
    for before, after in zip(one.standings, four.standings, strict=True):
        assert before.se == pytest.approx(after.se)
        assert (before.best, before.worst) == (after.best, after.worst)
        assert (after.fisher_se or 0) == pytest.approx((before.fisher_se or 0) / 2)


def test_one_with_few_questions_has_no_interval_and_any_rank() -> None:
    """Its one question has no spread, which is not certainty."""
    rows = drawn(Random(4), {"a": 1.5, "b": 0.0, "c": -1.5}, 60)
    rows += [Comparison("q1", "a", "z", 0.5), Comparison("q1", "b", "z", 0.0), Comparison("q1", "c", "z", 0.5)]
    board = fit_strengths(rows)
    standings = {one.name: one for one in board.standings}

    assert (standings["z"].interval, standings["z"].best, standings["z"].worst) == (None, 1, 4)
    assert (standings["a"].best, standings["a"].worst) == (1, 2)
    assert standings["a"].interval is not None


def test_few_questions_that_happen_to_agree_are_no_certainty() -> None:
    """Eight questions with the same three wins of four: no spread between them, and yet 32 comparisons may err."""

    def board(questions: int) -> Standing:
        rows = [Comparison(f"q{n % questions}", "a", "b", score) for n in range(questions) for score in (1, 1, 1, 0)]
        return fit_strengths(rows).standings[0]

    few, many = board(8), board(40)

    assert few.se == pytest.approx(few.fisher_se)
    assert few.se == pytest.approx(0.5 / math.sqrt(32 * 0.75 * 0.25))
    # Forty that are all alike still may have missed some that are not: three in forty, or so.
    assert many.interval is not None
    assert many.interval.method is IntervalMethod.RULE_OF_THREE
    assert many.se is not None
    assert few.se is not None
    assert 0.05 < many.se < few.se


def test_certainty_grows_with_questions() -> None:
    """Far apart, the first two of four are known; as strong as each other, nobody is."""
    clear = fit_strengths(drawn(Random(6), {"a": 1.2, "b": 1.0, "c": -1.0, "d": -1.2}, 60))
    alike = fit_strengths(drawn(Random(6), dict.fromkeys("abcd", 0.0), 60))

    assert clear.certainties[1] > 0.99
    assert max(alike.certainties) < 0.9
    assert [(one.best, one.worst) for one in clear.standings] == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert all((one.best, one.worst) == (1, 4) for one in alike.standings)


def test_orders_are_compared_where_both_have_a_say() -> None:
    found = order_agreement({"a": 3, "b": 2, "c": 1, "x": 0}, {"a": 0.9, "b": 0.1, "c": 0.2})

    assert (found.names, found.pairs, found.same) == (3, 3, 2)
    assert found.tau_b == pytest.approx(1 / 3)

    for strict in ({"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}):
        assert order_agreement({"a": 0.1 + 0.2, "b": 0.3}, strict).same == 0
    assert order_agreement({"a": 0.1 + 0.2, "b": 0.3}, {"a": 1.0, "b": 1.0}).same == 1


def ties(questions: int, names: str = "abc") -> list[Comparison]:
    """A judge that always prefers the first shown: asked in both orders, every pair is a tie."""
    return [
        Comparison(f"q{question}", first, second, 0.5)
        for question in range(questions)
        for first, second in combinations(names, 2)
    ]


@pytest.mark.parametrize("questions", [5, 19, 20, 30, 300])
def test_ties_alone_never_have_an_interval_without_width(questions: int) -> None:
    """The true strength may be anything that so many ties fail to show: a share of 3/n of all questions, about."""
    board = fit_strengths(ties(questions))
    # Won by one of the three, that share moves its strength by so much.
    share = 1 - 0.05 ** (1 / questions)
    moved = math.log((0.5 + share / 2) / (0.5 - share / 2)) * 2 / 3

    for one in board.standings:
        assert one.interval is not None
        assert one.interval.low <= -moved * 0.99
        assert one.interval.high >= moved * 0.99
        assert (one.best, one.worst) == (1, 3)
        assert one.win_interval is not None
        assert one.win_interval.low < 0.5 < one.win_interval.high


def test_a_single_win_among_ties_makes_no_narrower_interval() -> None:
    without = fit_strengths(ties(30)).standings[0]
    rows = [Comparison("q0", "a", "b", 1.0), *ties(30)[1:]]
    board = {one.name: one for one in fit_strengths(rows).standings}

    assert without.se is not None
    for one in board.values():
        assert one.se == pytest.approx(without.se, rel=0.05)


def test_equal_strengths_share_a_rank() -> None:
    assert [one.rank for one in fit_strengths(ties(30)).standings] == [1, 1, 1]
    # a and b won as much against c and d, a fifth one more.
    rows = [row for a in "ab" for c in "cd" for row in contest(a, c, 1, 1, 1, 0)]
    rows += [row for c in "cd" for row in contest("e", c, 1, 1, 1, 1, 0)]
    standings = fit_strengths(rows).standings

    assert [(one.name, one.rank) for one in standings] == [("e", 1), ("a", 2), ("b", 2), ("c", 4), ("d", 4)]


def test_a_share_of_wins_has_an_interval_over_questions() -> None:
    """The same question again is no new evidence for it either."""
    once = drawn(Random(3), {"a": 0.4, "b": 0.1, "c": -0.5}, 40)
    for one, four in zip(fit_strengths(once).standings, fit_strengths(once * 4).standings, strict=True):
        assert one.win_interval is not None
        assert one.win_interval.low < one.win_rate < one.win_interval.high
        assert four.win_interval is not None
        assert four.win_interval.low == pytest.approx(one.win_interval.low)


def test_without_strengths_a_share_of_wins_still_has_its_interval() -> None:
    board = fit_strengths(contest("a", "b", *[1.0] * 12))

    assert board.state is StrengthState.ONE_SIDED
    assert [one.rank for one in board.standings] == [None, None]
    best = board.standings[0].win_interval
    assert best is not None
    assert 0.6 < best.low < best.high == 1


def test_what_one_won_against_another_has_an_interval_over_questions() -> None:
    """Seven of ten questions, each judged by three: as wide as seven of ten, and the other way round the mirror."""
    once = [Comparison(f"q{n}", "a", "b", 1.0 if n < 7 else 0.0) for n in range(10)]
    thrice = fit_strengths(once * 3).win_intervals
    won, lost = thrice["a", "b"], thrice["b", "a"]
    single = fit_strengths(once).win_intervals["a", "b"]
    assert won is not None
    assert lost is not None
    assert single is not None

    assert won.low < 0.7 < won.high
    assert (won.low, won.high) == pytest.approx((1 - lost.high, 1 - lost.low))
    assert won.high - won.low >= single.high - single.low - 1e-9
    assert fit_strengths(once[:1]).win_intervals["a", "b"] is None
