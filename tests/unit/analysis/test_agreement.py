"""Coefficients of a panel: which ones, with an interval or with a sentence that says why there is none."""

from collections.abc import Sequence

import pytest
from tests.unit.reports.counting import Unit, sums_of

from mixseek.analysis.run.agreement import Agreement, build_agreement
from mixseek.domain.counts import Ratings
from mixseek.reports.trust import agreement_document, agreement_sentence, coefficient_interval_text, compared_text
from mixseek.stats.raters import Measure


def agreement_of(*rows: Sequence[float | None], judges: int = 2) -> Agreement:
    """Right or wrong, every row a sample of a question of its own."""
    groups = [{tuple(row): 1} for row in rows]
    alike = [Unit(f"q{number}", float(len({*row} - {None}) == 1)) for number, row in enumerate(rows)]
    names = tuple("abcdef"[:judges])
    ratings = Ratings(names, len(rows), ("incorrect", "correct"), groups, groups, sums_of(alike), 0.0, len(rows))
    return build_agreement(ratings, (0, []), is_graded=False)


# Weights that only `mixseek stats` tells.
LINEAR = {Measure.KAPPA_LINEAR, Measure.AC2_LINEAR}
MIXED = [(1.0, 1.0)] * 6 + [(0.0, 0.0)] * 3 + [(1.0, 0.0)] * 2 + [(0.0, 1.0)]


def test_two_judges_have_cohens_kappa_and_more_have_fleiss() -> None:
    two = agreement_of(*MIXED)
    three = agreement_of(*[(*row, row[0]) for row in MIXED], judges=3)

    assert {one.measure for one in two.coefficients} == set(Measure) - LINEAR - {Measure.FLEISS}
    kappas = {Measure.KAPPA, Measure.KAPPA_QUADRATIC}
    assert {one.measure for one in three.coefficients} == set(Measure) - LINEAR - kappas
    assert [(pair.first, pair.second, pair.samples) for pair in three.pairs] == [
        ("a", "b", 12),
        ("a", "c", 12),
        ("b", "c", 12),
    ]
    copied = three.between("c", "a")
    assert copied is not None
    assert copied.of(Measure.KAPPA).value == pytest.approx(1.0)


def test_every_coefficient_has_an_interval_around_it() -> None:
    for one in agreement_of(*MIXED).coefficients:
        assert one.value is not None
        assert one.interval is not None
        assert one.interval.low < one.value < one.interval.high <= 1
        assert one.interval.low >= (0 if one.measure is Measure.RAW else -1)


def test_of_right_or_wrong_answers_all_alphas_are_one() -> None:
    values = {one.measure: one.value for one in agreement_of(*MIXED).coefficients}

    assert values[Measure.RAW] == pytest.approx(0.75)
    assert values[Measure.ALPHA_NOMINAL] == pytest.approx(values[Measure.ALPHA_ORDINAL])
    assert values[Measure.ALPHA_NOMINAL] == pytest.approx(values[Measure.ALPHA_INTERVAL])
    assert values[Measure.KAPPA] == pytest.approx(values[Measure.KAPPA_QUADRATIC])


def test_judges_that_always_say_the_same_word_have_no_kappa_and_a_sentence() -> None:
    same = agreement_of(*[(1.0, 1.0)] * 5)
    kappa = same.of(Measure.KAPPA)
    raw = same.of(Measure.RAW)

    assert kappa is not None
    assert raw is not None
    assert (kappa.value, kappa.interval) == (None, None)
    assert coefficient_interval_text(kappa) == "not defined: all verdicts are the same, which chance alone explains"
    # A width of nought would claim certainty.
    assert (raw.value, raw.interval) == (1.0, None)
    assert raw.why == "no interval: every question says the same, or without one of them there is no value"


def test_a_judge_that_said_nothing_is_left_out_of_its_pairs() -> None:
    gaps = agreement_of(*[(*row, None) for row in MIXED], judges=3)

    assert [(pair.first, pair.second) for pair in gaps.pairs] == [("a", "b")]
    assert gaps.between("a", "c") is None


def test_the_document_has_every_number_and_the_sentence_the_shares() -> None:
    found = agreement_of(*MIXED)
    document = agreement_document(found)

    assert document is not None
    assert document["units"] == {"samples": 12, "questions": 12}
    assert document["unanimous_share"] == pytest.approx(0.75)
    assert document["pairs"][0]["coefficients"]["cohen_kappa"] == document["coefficients"]["cohen_kappa"]
    assert "One verdict on 9 of 12 samples with several judges (75.0%" in agreement_sentence(found, None)
    assert agreement_document(None) is None


CROSSED = [(None, 1.0, 1.0)] * 4 + [(None, 1.0, 0.0)] * 6 + [(0.0, None, 1.0)] * 8 + [(1.0, 0.0, None)] * 10


def test_judges_that_are_the_targets_have_fleiss_kappa_although_no_sample_has_them_all() -> None:
    kappa = agreement_of(*CROSSED, judges=3).of(Measure.FLEISS)

    assert kappa is not None
    assert kappa.value == pytest.approx(-0.75)
    assert kappa.interval is not None
    assert compared_text(kappa) == "verdicts"


def test_fleiss_kappa_says_which_samples_count_where_not_all_do() -> None:
    found = agreement_of(*[(*row, 1.0) for row in CROSSED], (None, None, 1.0, 1.0), judges=4)
    kappa, document = found.of(Measure.FLEISS), agreement_document(found)

    assert kappa is not None
    assert compared_text(kappa) == "verdicts; 28 of 29 samples: those with 3 ratings"
    assert document is not None
    assert document["coefficients"]["fleiss_kappa"]["over"] == {"ratings": 3, "items": 28, "rated_twice": 29}


def test_ratings_that_are_all_the_same_are_the_reason_only_where_they_are() -> None:
    same = agreement_of(*[(None, 1.0, 1.0), (1.0, None, 1.0)] * 4, judges=3).of(Measure.FLEISS)

    assert same is not None
    assert same.why == "not defined: all verdicts are the same, which chance alone explains"
