"""Two orders of one pair become one verdict; and what datasets call a preference."""

from tests.cases import each

from mixseek.domain.panels import PairState, Preference, combine_orders, read_preference

A, B, TIE = Preference.A, Preference.B, Preference.TIE


@each(
    ("first", "second", "verdict", "state"),
    [
        (A, A, A, PairState.AGREED),
        (B, B, B, PairState.AGREED),
        (TIE, TIE, TIE, PairState.AGREED),
        (A, B, TIE, PairState.POSITION),
        (B, A, TIE, PairState.POSITION),
        (A, TIE, TIE, PairState.PARTIAL),
        (TIE, A, TIE, PairState.PARTIAL),
        (B, TIE, TIE, PairState.PARTIAL),
        (TIE, B, TIE, PairState.PARTIAL),
    ],
)
def test_a_win_needs_both_orders(first: Preference, second: Preference, verdict: Preference, state: PairState) -> None:
    """All nine pairs of verdicts; swapping the letters of a pair swaps its verdict and nothing else."""
    assert combine_orders(first, second) == (verdict, state)
    assert combine_orders(first.swapped, second.swapped) == (verdict.swapped, state)


@each(
    ("said", "preference"),
    [
        *((word, A) for word in ("A", "a", " A ", "A>B", "A >> B", "[[A>B]]", "model_a", "Model A", "1", 1)),
        *((word, B) for word in ("B", "B>A", "model_b", 2, "second")),
        *((word, TIE) for word in ("tie", "Tie (bothbad)", "both_bad", "Both bad", "A=B", 0)),
        *((word, None) for word in (None, "", "C", "3", "A or B", "Paris", 1.5, -1, True, ["A"])),
    ],
)
def test_a_preference_is_read_as_datasets_write_it_and_nothing_else_is_one(said: object, preference: object) -> None:
    assert read_preference(said) is preference
