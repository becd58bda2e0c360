"""Agreement of raters: hand-made tables whose values can be checked on paper or in the literature."""

import math
from collections import Counter

import pytest

from mixseek.stats.raters import (
    Confusion,
    Pattern,
    Scale,
    Weights,
    cohen_kappa,
    equally_rated,
    fleiss_kappa,
    gwet_ac,
    jackknife_interval,
    krippendorff_alpha,
    raw_agreement,
)

# Two raters, 2 x 2: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no. kappa = (0.7 - 0.5) / 0.5 = 0.4.
TEXTBOOK = Counter[Pattern]({(1, 1): 20, (1, 0): 5, (0, 1): 10, (0, 0): 15})


def test_cohen_kappa_is_what_the_textbook_says() -> None:
    kappa = cohen_kappa(TEXTBOOK)
    assert kappa is not None
    assert kappa.value == pytest.approx(0.4)
    # Fleiss, Cohen and Everitt's large-sample error for this table, worked out by hand.
    assert kappa.se == pytest.approx(0.1265, abs=1e-3)


def test_weights_forgive_near_misses_more_than_far_ones() -> None:
    near = Counter[Pattern]({(1, 2): 5, (1, 1): 5, (5, 5): 5, (4, 5): 5})
    far = Counter[Pattern]({(1, 5): 5, (1, 1): 5, (5, 5): 5, (5, 1): 5})
    for weights in (Weights.LINEAR, Weights.QUADRATIC):
        close, apart = cohen_kappa(near, weights, range(1, 6)), cohen_kappa(far, weights, range(1, 6))
        assert close is not None
        assert apart is not None
        assert close.value > 0.7 > 0.1 > apart.value


def test_krippendorff_alpha_is_what_its_author_computes() -> None:
    """The example of Krippendorff 2011, C: four observers, twelve units, missing values; the published alphas."""
    observers = (
        (1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None),
        (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3),
        (None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None),
        (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None),
    )
    patterns = Counter[Pattern](zip(*observers, strict=True))
    assert krippendorff_alpha(patterns, Scale.NOMINAL) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(patterns, Scale.ORDINAL) == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(patterns, Scale.INTERVAL) == pytest.approx(0.849, abs=5e-4)


def test_ac1_stays_sensible_where_kappa_falls_to_nothing() -> None:
    """Feinstein and Cicchetti's paradox: 118 yes-yes, 5 + 2 apart, none no-no."""
    lopsided = Counter[Pattern]({(1, 1): 118, (1, 0): 5, (0, 1): 2})
    kappa, ac1 = cohen_kappa(lopsided), gwet_ac(lopsided)
    assert kappa is not None
    assert ac1 is not None
    assert kappa.value < 0
    assert ac1.value == pytest.approx(0.9408, abs=1e-3)


def test_raters_who_agree_on_everything_have_one_everywhere() -> None:
    agreed = Counter[Pattern]({(0, 0, 0): 7, (1, 1, 1): 3})
    assert raw_agreement(agreed) == 1
    assert fleiss_kappa(agreed) == pytest.approx(1)
    assert krippendorff_alpha(agreed, Scale.NOMINAL) == pytest.approx(1)
    ac1 = gwet_ac(agreed)
    assert ac1 is not None
    assert ac1.value == pytest.approx(1)


@pytest.mark.parametrize(
    "patterns", [Counter[Pattern](), Counter[Pattern]({(1, 1): 9}), Counter[Pattern]({(1, None): 9})]
)
def test_without_variation_or_pairs_there_is_no_coefficient(patterns: Counter[Pattern]) -> None:
    assert cohen_kappa(patterns) is None
    assert krippendorff_alpha(patterns, Scale.NOMINAL) is None
    assert gwet_ac(patterns) is None


def test_a_confusion_counts_the_judge_against_people() -> None:
    table = Confusion.of(TEXTBOOK)
    assert (table.tp, table.fp, table.fn, table.tn) == (20, 5, 10, 15)
    assert table.shares == {
        "accuracy": (35, 50),
        "sensitivity": (20, 30),
        "specificity": (15, 20),
        "ppv": (20, 25),
        "npv": (15, 25),
    }
    assert table.mcc == pytest.approx((20 * 15 - 50) / math.sqrt(25 * 30 * 20 * 25))
    assert Confusion(0, 0, 0, 5).shares["sensitivity"] == (0, 0)
    assert Confusion(0, 0, 0, 5).mcc is None


def test_questions_that_repeat_do_not_shrink_the_interval() -> None:
    """Five copies of each item under the same question are one item: the interval stays as it is."""
    items: list[Pattern] = [*[(1, 1)] * 8, *[(1, 0)] * 3, *[(0, 1)] * 2, *[(0, 0)] * 7]
    once = jackknife_interval([Counter({item: 1}) for item in items], cohen_kappa)
    often = jackknife_interval([Counter({item: 5}) for item in items], cohen_kappa)
    assert once is not None
    assert often is not None
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert jackknife_interval([Counter({(1, 1): 5})], cohen_kappa) is None


def test_fleiss_kappa_counts_ratings_of_an_item_and_not_who_gave_them() -> None:
    """Three judges that are the targets: each item has two ratings, by whoever did not write it."""
    crossed = Counter[Pattern]({(None, 1, 1): 4, (None, 1, 0): 6, (0, None, 1): 8, (0, None, 0): 2, (1, 0, None): 10})
    # Raw agreement 6/30; of 60 ratings 32 are 1: chance (32/60)² + (28/60)².
    chance = (32 / 60) ** 2 + (28 / 60) ** 2
    assert fleiss_kappa(crossed) == pytest.approx((6 / 30 - chance) / (1 - chance))


def test_fleiss_kappa_prefers_items_that_all_rated_and_else_what_most_have() -> None:
    all_three = Counter[Pattern]({(1, 1, 0): 3, (0, 0, 0): 2, (1, None, 0): 40})
    assert equally_rated(all_three) == {(1, 1, 0): 3, (0, 0, 0): 2}
    # One judgment of a crossed run is invalid: its item has one rating fewer, the others stay.
    one_invalid = Counter[Pattern]({(None, 1, 1, 1): 5, (1, None, 0, 1): 5, (None, None, 0, 1): 1})
    assert equally_rated(one_invalid) == {(None, 1, 1, 1): 5, (1, None, 0, 1): 5}
    assert equally_rated(Counter[Pattern]({(1, None): 3})) == {}
