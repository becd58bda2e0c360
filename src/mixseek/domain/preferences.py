"""Which of two responses is better, and what two orders of showing them amount to: the one home of both rules."""

from enum import StrEnum

# How a pair is shown: A first, or B first. The names of the presentations in journal, cache and recorded replies.
AB, BA = "ab", "ba"


class Preference(StrEnum):
    """A is `response`, B is `response_b`, in whichever order a judge saw them."""

    A = "A"
    B = "B"
    TIE = "tie"

    @property
    def score(self) -> float:
        """Of A."""
        return {Preference.A: 1.0, Preference.B: 0.0, Preference.TIE: 0.5}[self]

    @property
    def swapped(self) -> "Preference":
        """The same verdict, said of the two in the other order."""
        return {Preference.A: Preference.B, Preference.B: Preference.A, Preference.TIE: Preference.TIE}[self]


class PairState(StrEnum):
    """How the verdict of a pair came about."""

    AGREED = "agreed"  # both orders say the same
    POSITION = "position"  # one says A, the other B: the verdict follows the place, so it is a tie
    PARTIAL = "partial"  # a tie in one order and a winner in the other: a tie, because a win needs both
    SINGLE = "single"  # only one order was asked


def combine_orders(first: Preference, second: Preference) -> tuple[Preference, PairState]:
    """One verdict of two orders, each said of A and B as they are, not as they were shown. A win needs both."""
    if first is second:
        return first, PairState.AGREED
    if Preference.TIE in (first, second):
        return Preference.TIE, PairState.PARTIAL
    return Preference.TIE, PairState.POSITION


# As people and datasets write it; arenas say which model won, some say who is better, some give the number.
_WORDS = {
    Preference.A: ("a", "a>b", "a>>b", "model_a", "response_a", "output_a", "1", "first", "left"),
    Preference.B: ("b", "b>a", "b>>a", "model_b", "response_b", "output_b", "2", "second", "right"),
    Preference.TIE: ("tie", "a=b", "b=a", "0", "draw", "equal", "both", "neither", "tie(bothbad)", "both_bad", "same"),
}
_PREFERENCES = {word: preference for preference, words in _WORDS.items() for word in words}


def read_preference(said: object) -> Preference | None:
    """A preference as a dataset writes it; None for what is none. Case and spaces do not count."""
    return None if said is None else _PREFERENCES.get("".join(str(said).lower().split()).strip("[]"))
