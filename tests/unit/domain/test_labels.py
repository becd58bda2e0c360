"""Labels by themselves: digests, scales, who counts, how draws are shared out, and how likely each text was drawn."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.domain.labels import (
    Draw,
    DrawnRow,
    Label,
    LabelError,
    LabelScale,
    Standing,
    Stratum,
    allocate,
    collect_labels,
    draw_probabilities,
    standing_labels,
    text_digest,
)


def test_a_text_is_its_question_and_its_response() -> None:
    """No two pairs look alike; the ground truth counts only where there is no question."""
    digests = {
        text_digest("a", "bc", None),
        text_digest("ab", "c", None),
        text_digest("", "bc", "a2"),
        text_digest("", "bc", None),
        text_digest("a", "bc", None, "d"),
        text_digest("a", "b", None, "cd"),
        text_digest("a", "bc", None, ""),
    }

    assert len(digests) == 7
    assert text_digest("a", "bc", "one") == text_digest("a", "bc", "two")
    assert text_digest("a\ud800", "b", None) == text_digest("a\ufffd", "b", None)


@pytest.mark.parametrize("word", ["correct", " Correct ", "1", "true", "YES", "right", "1.0"])
def test_right_in_many_words(word: str) -> None:
    assert LabelScale().read(word) == 1.0


@pytest.mark.parametrize("word", ["incorrect", "0", "False", "no", "wrong", "0.0"])
def test_wrong_in_many_words(word: str) -> None:
    assert LabelScale().read(word) == 0.0


@pytest.mark.parametrize("word", ["", "maybe", "2", "0.5", "nan", "correct?"])
def test_anything_else_is_no_label(word: str) -> None:
    with pytest.raises(LabelError, match="no label"):
        LabelScale().read(word)


@pytest.mark.parametrize(
    ("given_text", "share"), [("0", 0.0), ("8", 1.0), ("6", 0.75), ("6,5", 0.8125), (" 4.0 ", 0.5)]
)
def test_a_grade_is_a_share_of_its_scale(given_text: str, share: float) -> None:
    assert LabelScale(0, 8, is_binary=False).read(given_text) == share


def test_where_lower_is_better_the_largest_total_is_the_worst_label() -> None:
    scale = LabelScale(8, 0, is_binary=False)

    assert [scale.read(text) for text in ("8", "6", "0")] == [0.0, 0.25, 1.0]
    assert (scale.describe(), scale.span) == ("0 to 8", 8)
    with pytest.raises(LabelError, match="from 0 to 8"):
        scale.read("9")


@pytest.mark.parametrize(
    ("given_text", "said"),
    [("9", "outside the scale"), ("-1", "outside"), ("nan", "no number"), ("inf", "no number"), ("high", "no number"),
     ("1,2,3", "no number")],
)  # fmt: skip
def test_what_is_not_on_the_scale_is_named(given_text: str, said: str) -> None:
    with pytest.raises(LabelError, match=said):
        LabelScale(0, 8, is_binary=False).read(given_text)


@given(st.lists(st.integers(1, 5_000), min_size=1, max_size=30), st.integers(0, 3_000))
def test_a_draw_is_shared_out_whole(sizes: list[int], extra: int) -> None:
    """Everybody gets at least one, nobody more than there are, and all that can be given is."""
    count = min(sum(sizes), len(sizes) + extra)

    shares = allocate(sizes, count)

    assert sum(shares) == count
    assert all(1 <= share <= size for share, size in zip(shares, sizes, strict=True))


def test_rare_strata_get_more_than_their_proportion_and_less_than_half() -> None:
    assert allocate([970, 30], 100) == [85, 15]
    assert allocate([400, 100], 60) == [40, 20]
    assert allocate([5, 1_000], 100) == [5, 95]


def test_the_last_word_of_a_rater_counts_and_adjudication_counts_alone() -> None:
    """How a text was drawn stays known when its label is revised."""

    def said(rater: str, share: float, *, draw: str | None = None, is_adjudicated: bool = False) -> Label:
        return Label(
            text="t", protocol="p", rater=rater, share=share, given="", draw=draw, is_adjudicated=is_adjudicated
        )

    disputed = collect_labels([said("mia", 0.0, draw="d1"), said("noah", 0.0), said("mia", 1.0)])["t"]
    settled = collect_labels([said("mia", 1.0), said("noah", 0.0), said("both", 0.0, is_adjudicated=True)])["t"]

    assert (disputed.share, disputed.is_disputed, disputed.draws) == (0.5, True, frozenset({"d1"}))
    assert (settled.share, settled.is_disputed) == (0.0, False)


def draw_of(name: str, strata: tuple[Stratum, ...], texts: list[tuple[str, int]]) -> Draw:
    rows = tuple(DrawnRow(f"{name}-{n}", text, text, stratum) for n, (text, stratum) in enumerate(texts))
    return Draw(
        draw=name, run="r", protocol="p", protocol_hash="h", seed=1, columns=("verdict",), texts=100, population="",
        strata=strata, rows=rows,
    )  # fmt: skip


def test_two_draws_make_a_text_likelier_and_unlabelled_rows_less_likely() -> None:
    """The second draw takes from what the first left; half of its rows wait for a label."""
    first = draw_of("d1", (Stratum(("a",), 20, 4), Stratum(("b",), 80, 4)), [(f"t{n}", n // 4) for n in range(8)])
    second = draw_of("d2", (Stratum(("a",), 16, 4),), [(f"u{n}", 0) for n in range(4)])

    found = draw_probabilities([first, second], {f"t{n}" for n in range(8)} | {"u0", "u1"})

    assert found["t0"] == pytest.approx(1 - (1 - 4 / 20) * (1 - 2 / 16))
    assert found["u1"] == found["t0"]
    assert found["t7"] == pytest.approx(4 / 80)
    assert "u3" not in found


def test_the_probabilities_are_those_of_drawing_twice() -> None:
    """Against a simulation of two draws without replacement, all labelled."""
    rng, times = random.Random(3), 4_000
    hits = 0
    for _ in range(times):
        one = set(rng.sample(range(20), 4))
        two = set(rng.sample(sorted(set(range(20)) - one), 4))
        hits += 0 in one | two
    first = draw_of("d1", (Stratum(("a",), 20, 4),), [(f"t{n}", 0) for n in range(4)])
    second = draw_of("d2", (Stratum(("a",), 16, 4),), [(f"u{n}", 0) for n in range(4)])

    found = draw_probabilities([first, second], {f"{name}{n}" for name in "tu" for n in range(4)})

    assert found["t0"] == pytest.approx(hits / times, abs=0.03)


def given_label(rater: str, share: float, name: str = "", **more: Any) -> Label:
    return Label(text="t", protocol="p", rater=rater, share=share, given=str(share), id=name, **more)


@pytest.mark.parametrize(
    ("labels", "standing", "share"),
    [
        ([("mia", 1.0)], Standing.AGREED, 1.0),
        ([("mia", 1.0), ("noah", 1.0)], Standing.AGREED, 1.0),
        ([("mia", 1.0), ("noah", 0.0)], Standing.UNDECIDED, 0.5),
        # A rater's last word is the one that counts.
        ([("mia", 1.0), ("noah", 0.0), ("noah", 1.0)], Standing.AGREED, 1.0),
        ([("mia", 1.0), ("noah", 0.0), ("ada", 0.0, True)], Standing.ADJUDICATED, 0.0),
        ([("mia", 1.0), ("noah", 1.0), ("ada", 0.0, True)], Standing.ADJUDICATED, 0.0),
    ],
)
def test_what_counts_is_the_adjudicated_label_then_what_raters_agree_on(
    labels: list[tuple[Any, ...]], standing: Standing, share: float
) -> None:
    said = [given_label(rater, value, is_adjudicated=bool(rest)) for rater, value, *rest in labels]

    (found,) = collect_labels(said).values()

    assert (found.standing, found.share) == (standing, share)


def test_a_retraction_brings_back_what_stood_before_and_touches_nobody_else() -> None:
    lines = [
        given_label("mia", 1.0, "first"),
        given_label("mia", 0.0, "second"),
        given_label("noah", 0.0, "third"),
        given_label("mia", 0.0, "undo", retracts="second"),
        given_label("mia", 0.0, "theft", retracts="third"),
    ]

    assert [label.id for label in standing_labels(lines)] == ["first", "third"]
    assert standing_labels([*lines, given_label("mia", 1.0, "more", retracts="first")]) == [lines[2]]


def test_a_picked_text_is_not_by_lot_though_another_rater_may_make_it_so() -> None:
    picked, drawn = given_label("mia", 1.0), given_label("noah", 1.0, draw="d1", drawn="random")

    assert [collect_labels(said)["t"].is_by_lot for said in ([picked], [picked, drawn])] == [False, True]
