"""What a judge and a person say of the same items, as the estimators of a corrected mean need it: counts and sums."""

from collections.abc import Mapping, Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.stats.corrected import KnownPairs, PairSums
from mixseek.stats.estimates import Cell

# The verdict on items that a judge has a row for, but no value.
NO_SCORE = "no score"


@dataclass(frozen=True, slots=True)
class LabelPool:
    """A judge's items, or questions that two systems answered, with labels of some.

    `parts` and `clusters` are by question; `known_mean` is of everything the human said, label or not. Items that the
    judge gave no score are in `items`, in the cells as a verdict of their own (`NO_SCORE`) and in `labels_alone`; sums
    of scores are without them.
    """

    items: int
    questions: int
    known: int
    known_mean: float | None
    judge_mean: float | None
    sums: PairSums
    parts: Sequence[PairSums]
    clusters: Sequence[Mapping[str, Cell]]
    labels: KnownPairs
    # Of all items as if the judge had always said nought, the same by question, and how often each label was given.
    labels_alone: PairSums
    label_parts: Sequence[PairSums]
    given: Mapping[float, int]

    @property
    def unscored(self) -> Cell:
        """Items without a score, with what labels say of them."""
        whole, scored = self.labels_alone, self.sums
        labels = whole.labels - scored.labels
        return Cell(whole.items - scored.items, labels, whole.ly - scored.ly if labels else 0.0)
