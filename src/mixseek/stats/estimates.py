"""What correcting by labels starts from and ends in: cells of labelled items, and numbers with a state and a sentence.

What cannot be said is a `State`, never a number.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum

from mixseek.lazy_dataclass import dataclass
from mixseek.text.messages import Message, join, message

# Fewer labels than this say more by themselves than through a judge whose errors they cannot show.
FEWEST_LABELS = 15
# A judge that was compared with fewer of either kind is not known well enough to invert its errors.
FEWEST_OF_A_KIND = 5
FEWEST_CLUSTERS = 5
# Below this the labelled verdicts are not those of a random draw.
NOT_RANDOM = 0.01


class Drawing(StrEnum):
    """How the labelled items were chosen: the one thing that numbers cannot tell by themselves."""

    RANDOM = "random"
    # At random within each verdict, as many as were asked for: by us, or so stated.
    STRATIFIED = "stratified"
    # At random with known probabilities that differ, by which labels are weighted.
    WEIGHTED = "weighted"
    ELSEWHERE = "elsewhere"
    # Somebody looked at a judgment and labelled its text: never part of a number, even where all are labelled.
    CHOSEN = "chosen"
    UNKNOWN = "unknown"


class Estimator(StrEnum):
    """Named beside every corrected number."""

    POST_STRATIFIED = "post-stratified by verdict"
    REGRESSION = "prediction-powered regression"
    ROGAN_GLADEN = "sensitivity and specificity (Rogan-Gladen)"
    LABELS_ONLY = "labels only"
    LABELS_BY_VERDICT = "labels only, weighted by verdict"


class State(StrEnum):
    """Whether there is a number, and if not, why."""

    CORRECTED = "corrected"
    LABELS_ONLY = "label only"
    BOUNDS = "bounds"
    NOT_RANDOM = "not random"
    NO_SIGNAL = "no signal"
    FEW_CLUSTERS = "few clusters"
    UNKNOWN_DRAWING = "unknown drawing"
    NOT_BINARY = "right or wrong only"
    NO_LABELS = "no labels"


SENTENCES: Mapping[State, Message] = {
    State.CORRECTED: message("estimate.corrected", "corrected by human labels"),
    State.LABELS_ONLY: message(
        "estimate.labels_only", "judge not used: too few labels, or verdicts that tell nothing about them"
    ),
    State.BOUNDS: message("estimate.bounds", "bounds, not a number: some verdicts have no label"),
    State.NOT_RANDOM: message(
        "estimate.not_random", "valid only if labels were chosen by verdict: a random draw would look different"
    ),
    State.NO_SIGNAL: message(
        "estimate.no_signal", "no corrected number: the judge cannot be told from chance on these labels"
    ),
    State.FEW_CLUSTERS: message("estimate.few_clusters", "no corrected number: labels of fewer than five questions"),
    State.UNKNOWN_DRAWING: message(
        "estimate.unknown_drawing",
        "no corrected number: nobody said how labels were drawn, so they count for agreement only",
    ),
    State.NOT_BINARY: message(
        "estimate.not_binary", "no corrected number: labels drawn like this correct right-or-wrong verdicts only"
    ),
    State.NO_LABELS: message("estimate.no_labels", "no corrected number: no labels"),
}
# Where the labels' own mean is not about all items, whatever stands beside it.
LABEL_CAVEATS: Mapping[State, Message] = {
    State.BOUNDS: message("estimate.caveat_bounds", "labels alone: only of verdicts that have a label"),
    State.NOT_RANDOM: message(
        "estimate.caveat_not_random",
        "labels alone: only of the labelled samples, because a random draw would look different",
    ),
    State.UNKNOWN_DRAWING: message(
        "estimate.caveat_unknown_drawing",
        "labels alone: only of the labelled samples, because nobody said how they were drawn",
    ),
}


@dataclass(frozen=True, slots=True)
class Corrected:
    """`point` is None in states that give bounds or nothing; `low` and `high` are then bounds or None."""

    state: State
    estimator: Estimator | None = None
    point: float | None = None
    low: float | None = None
    high: float | None = None
    labels: int = 0
    items: int = 0
    clusters: int | None = None
    design_effect: float = 1.0
    random_p: float | None = None

    @property
    def label_caveat(self) -> Message | None:
        """What the mean of labels alone is not about; None where it is about everything, or there is none."""
        return LABEL_CAVEATS.get(self.state) if self.point is not None else None

    @property
    def is_odd(self) -> bool:
        """A random draw would have other verdicts."""
        return self.random_p is not None and self.random_p < NOT_RANDOM

    @property
    def sentence(self) -> Message:
        """What a reader must know beside the number, or instead of it."""
        if self.state is State.NOT_RANDOM and self.low is None:
            why = "no corrected number: a random draw would look different, and too few labels say by how much"
            return message("estimate.not_random_and_few", why)
        if self.state is State.LABELS_ONLY and self.estimator is Estimator.LABELS_BY_VERDICT:
            why = "too few labels to correct by: their own mean, each verdict weighted by how many samples have it"
            return message("estimate.labels_by_verdict", why)
        is_untold = self.is_odd and self.state is not State.NOT_RANDOM
        odd = message("estimate.odd", "a random draw would look different")
        return join((SENTENCES[self.state], odd), "; ") if is_untold else SENTENCES[self.state]


@dataclass(frozen=True, slots=True)
class Cell:
    """Items of one verdict: how many there are, how many were labelled, and the sum of their labels (0 to 1 each).

    Labels that were drawn with different probabilities count as many as they are worth (`effective_weights`).
    """

    items: int = 0
    labels: float = 0
    positive: float = 0.0

    def __add__(self, other: "Cell") -> "Cell":
        return Cell(self.items + other.items, self.labels + other.labels, self.positive + other.positive)

    def __sub__(self, other: "Cell") -> "Cell":
        return Cell(self.items - other.items, self.labels - other.labels, self.positive - other.positive)


def effective_weights(weights: Sequence[float]) -> list[float]:
    """Weights in proportion to 1/probability, with Kish's effective number of labels as their sum.

    1 where all are equal.
    """
    squares = math.fsum(weight * weight for weight in weights)
    scale = math.fsum(weights) / squares if squares else 0.0
    return [weight * scale for weight in weights]


# Verdict → cell. Undecided and invalid items are verdicts of their own, and stay in.
Cells = Mapping[str, Cell]
