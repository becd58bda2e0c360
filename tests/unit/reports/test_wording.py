"""Numbers and phrases are written once, and do not flatter."""

from dataclasses import replace

import pytest
from tests.cases import each

from mixseek.analysis.run.model import JudgeSummary, ScoreSummary, Tally
from mixseek.domain.counts import StatusCounts
from mixseek.reports.wording.names import moment_text
from mixseek.reports.wording.numbers import coefficient_text, percent, strength_text
from mixseek.reports.wording.scores import (
    bounds_sentence,
    interval_sentence,
    interval_text,
    level_text,
    mean_label,
    score_text,
)
from mixseek.stats.intervals import Bounds, Interval, IntervalMethod, wilson_interval


def scored(right: int, wrong: int, undecided: int = 0, unverified: int = 0) -> ScoreSummary:
    valid = right + wrong
    total = valid + undecided
    return ScoreSummary(
        StatusCounts(valid=valid, undecided=undecided),
        right / valid if valid else None,
        wilson_interval(right, valid) if valid else None,
        Bounds((right - unverified) / total, (right + undecided) / total) if total else None,
        is_binary=True,
        samples=valid,
        questions=valid,
        unverified=unverified,
    )


GRADED = ScoreSummary(
    StatusCounts(valid=4, missing=1),
    0.7318,
    Interval(0.5, 0.9, 0.95, IntervalMethod.STUDENT),
    Bounds(0.58544, 0.78544),
    is_binary=False,
)


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, "0.0%"),
        (1.0, "100.0%"),
        (0.5, "50.0%"),
        (0.00001, "<0.1%"),
        (0.99999, ">99.9%"),
        (0.001, "0.1%"),
        (0.999, "99.9%"),
    ],
)
def test_all_and_nothing_are_said_only_of_all_and_nothing(share: float, expected: str) -> None:
    assert percent(share) == expected


def test_shares_are_per_cent_and_graded_means_are_numbers() -> None:
    assert (score_text(scored(3, 1)), interval_text(scored(3, 1))) == ("75.0%", "30.1–95.4%")
    assert (score_text(GRADED), interval_text(GRADED)) == ("0.732", "0.500–0.900")
    assert (score_text(scored(0, 0)), interval_text(scored(0, 0))) == ("–", "–")


@each("trace", [0.0, -0.0, -1e-17, 1e-17, -0.0004])
def test_nought_has_no_minus(trace: float) -> None:
    """Strengths of a board add up to nought, and rounding leaves a trace of it."""
    assert strength_text(trace) == "+0.00"
    assert coefficient_text(trace) == "0.00"
    # Anything else has a true one: a hyphen is overlooked.
    assert (strength_text(-0.006), coefficient_text(-0.006)) == ("−0.01", "−0.01")


def test_the_interval_names_its_level_and_method() -> None:
    assert GRADED.interval is not None
    assert level_text(GRADED.interval) == "95% Student t interval"


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (scored(3, 1), None),
        (scored(8, 1, 1), "If the one sample without a verdict had the lowest score: 80.0%; the highest: 90.0%."),
        (scored(6, 2, 2), "If all 2 samples without a verdict had the lowest score: 60.0%; the highest: 80.0%."),
        (scored(6, 2, 0, unverified=2), "If the 2 unverified were wrong: 50.0%."),
        (
            scored(6, 2, 2, unverified=2),
            "If all 2 samples without a verdict and the 2 unverified were wrong: 40.0%; "
            "if those without a verdict were right: 80.0%.",
        ),
        (GRADED, "If the one sample without a verdict had the lowest score: 0.585; the highest: 0.785."),
    ],
)
def test_bounds_are_a_sentence_when_there_is_something_to_bound(score: ScoreSummary, expected: str | None) -> None:
    assert bounds_sentence(score) == expected


@pytest.mark.parametrize(
    ("score", "verdicts", "expected"),
    [
        (scored(3, 1), ("correct", "incorrect"), "correct"),
        (scored(0, 2), ("incorrect",), "mean score"),
        (GRADED, ("88",), "mean score"),
        (scored(0, 0), (), "nothing was scored"),
    ],
)
def test_the_headline_says_what_it_is_a_mean_of(score: ScoreSummary, verdicts: tuple[str, ...], expected: str) -> None:
    tallies = tuple(Tally(name, 1, 0.5) for name in verdicts)

    assert mean_label(JudgeSummary("rules", score, tallies, (), (), (), (), ())) == expected


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (None, None),
        ("2026-03-14T09:12:44Z", "2026-03-14 09:12 UTC"),
        ("2026-03-14T18:12:44+09:00", "2026-03-14 09:12 UTC"),
        ("2026-03-14T09:12:44", "2026-03-14 09:12"),
        ("last Tuesday", "last Tuesday"),
    ],
)
def test_times_are_shown_in_one_zone_and_anything_else_as_it_stands(moment: str | None, expected: str | None) -> None:
    assert moment_text(moment) == expected


def test_an_interval_says_what_it_counts() -> None:
    assert interval_sentence(scored(3, 1)) == "95% Wilson interval 30.1–95.4%, 4 samples"
    assert interval_sentence(replace(scored(3, 1), questions=2)).endswith("4 samples of 2 questions")
    assert interval_sentence(replace(scored(3, 1), samples=1, questions=1, interval=None)) == "1 sample"
