"""How several judges become one verdict: a named rule, and what becomes of a sample under it.

Votes are verdicts. A judge's repeats are first brought to one opinion of that judge by the same rule, so that asking
one judge more often gives it no more weight; what is invalid, undecided or missing is no opinion, and a model on its
own output is not asked. Nor are the scorers of an imported log, unless there is nobody else: a run is to show where
they and the panel differ, so they cannot be part of it. Where the rule finds no verdict the sample is *split*: it has
no score, is counted beside the mean, and is in the bounds as wrong and as right. Nothing is ever drawn by lot.

    rule        score and verdict                                                  split
    majority    of more than half of the opinions; their mean score                no verdict has so many
    unanimous   of all opinions; their mean score                                  two verdicts
    median      of the middle opinion, or midway between the two middle ones       right or wrong, and the two differ
    mean        the mean of all scores; a verdict only where all agree             never

Midway between two verdicts is a score without a verdict: on a graded scale there is something between them, between
right and wrong there is nothing. A judge that its own repeats divide has been heard: it is one of those of whom more
than half, or all, must agree.

Between two responses there is the tie. A pair that is split has no verdict and is counted as such, but nobody has won
it: it is half a win for each side, as where two orders name different winners. Left out, the pairs that are hardest to
tell apart would be missing, and strengths would come out too far apart.
"""

import unicodedata
from collections.abc import Iterable
from enum import StrEnum

# How judges are called that only replay what the scorers of another tool said.
WITNESS_PREFIX = "log:"


def voting(judges: Iterable[str]) -> tuple[str, ...]:
    """Whose opinions make the verdict. A log's own scorers are held against it and have no vote beside others."""
    named = tuple(judges)
    return tuple(judge for judge in named if not judge.startswith(WITNESS_PREFIX)) or named


class PanelRule(StrEnum):
    """How opinions of several judges become one."""

    MAJORITY = "majority"
    UNANIMOUS = "unanimous"
    MEDIAN = "median"
    MEAN = "mean"


class PanelState(StrEnum):
    """What a sample has come to before all of its judges; only VALID has a verdict, and a score but for pairs."""

    VALID = "valid"
    SPLIT = "split"
    INVALID = "invalid"
    UNDECIDED = "undecided"
    MISSING = "missing"


def default_rule(*, is_graded: bool) -> PanelRule:
    """The rule of a panel whose user named none: a mean over judges who disagree is nobody's verdict."""
    return PanelRule.MEDIAN if is_graded else PanelRule.MAJORITY


# Which of two responses is better, and what two orders of showing them amount to: the one home of both rules.

# How a pair is shown: A first, or B first. The names of the presentations in journal, cache and recorded replies.
AB, BA = "ab", "ba"


class Preference(StrEnum):
    """A is `response`, B is `response_b`, in whichever order a judge saw them."""

    A = "A"
    B = "B"
    TIE = "tie"

    @property
    def score(self) -> float:
        """The score that it gives to A."""
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


# As people and datasets write it: arenas say which model won, some say who is better, some give the number.
_KINDS = ("", "model", "response", "output", "assistant", "answer", "candidate", "completion", "option", "system")
_SIDES = (
    *((f"{kind}{a}", f"{kind}{b}") for kind in _KINDS for a, b in (("a", "b"), ("1", "2"))),
    *(("a>b", "b>a"), ("a>>b", "b>>a"), ("b<a", "a<b"), ("b<<a", "a<<b"), ("first", "second"), ("left", "right")),
)
# A bare C may be a third response; in the brackets of MT-Bench it is a tie.
_TIES = (
    *("tie", "tied", "a=b", "b=a", "a==b", "a~b", "a≈b", "[[c]]", "0", "draw", "equal", "both", "neither", "same"),
    *("tie(bothbad)", "tie(bothgood)", "bothbad", "bothgood", "equallygood", "equallybad", "nopreference"),
    *("引き分け", "同等", "平局", "平手"),
)
_PREFERENCES = {
    **{word: preference for sides in _SIDES for word, preference in zip(sides, Preference, strict=False)},
    **dict.fromkeys(_TIES, Preference.TIE),
}

# The winner as a column for each verdict, one of which is 1: tables of Kaggle have it so.
WINNER_COLUMNS = {"winner_model_a": Preference.A, "winner_model_b": Preference.B, "winner_tie": Preference.TIE}
MARKS = ("1", "1.0", "true")


def read_preference(value: object) -> Preference | None:
    """A preference as a dataset writes it; None for what is none. Case, width, spaces and `_` do not count."""
    if value is None:
        return None
    word = "".join(unicodedata.normalize("NFKC", str(value)).lower().replace("_", " ").split())
    return _PREFERENCES.get(word) or _PREFERENCES.get(word.strip("[]*"))
