"""Two sides of a comparison, sample by sample: what a database can count, and the pairs worth looking at."""

from mixseek.lazy_dataclass import dataclass

# Below this a difference of two scores is rounding.
SMALLEST_DIFFERENCE = 1e-9


@dataclass(frozen=True, slots=True)
class DifferenceSums:
    """Pairs of one group as sums, so that a million of them fit in a few numbers.

    Pairs of one question resemble each other: per question, `n` scored pairs with the sum `s` of their differences
    (B minus A).
    """

    pairs: int = 0  # in common, scored or not
    scored: int = 0  # on both sides: Σ n
    questions: int = 0  # with at least one scored pair
    better: int = 0
    worse: int = 0
    total: float = 0.0  # Σ s
    total_a: float = 0.0  # of A's scores, over scored pairs
    total_b: float = 0.0
    squares_of_scores: float = 0.0  # of both sides together
    question_squares: float = 0.0  # Σ s²
    question_products: float = 0.0  # Σ n·s
    question_sizes: float = 0.0  # Σ n²
    moved_questions: int = 0  # with s other than nought
    lowest: float = 0.0  # Σ of the differences over all pairs, if whatever has no score spoke against B
    highest: float = 0.0

    @property
    def is_binary(self) -> bool:
        """Whether all values are 0 or 1. In 0..1, a score equals its square for 0 and 1 only.

        Sums of those are exact in floating point.
        """
        return self.total_a + self.total_b == self.squares_of_scores


@dataclass(frozen=True, slots=True)
class Pair:
    """One sample on both sides, or all samples of one question where nothing tells them apart; None is no score."""

    id_a: str
    id_b: str
    question: str | None
    task: str | None
    score_a: float | None
    score_b: float | None
    status_a: str
    status_b: str
    is_same_text: bool  # what was judged is byte for byte the same
    samples_a: int = 1
    samples_b: int = 1
    key_a: str = ""
    key_b: str = ""

    @property
    def difference(self) -> float | None:
        """B minus A; None where a side has no score."""
        return None if self.score_a is None or self.score_b is None else self.score_b - self.score_a


@dataclass(frozen=True, slots=True)
class StatusPairs:
    """How many pairs ended in one way on A's side and in one way on B's."""

    status_a: str
    status_b: str
    pairs: int


@dataclass(frozen=True, slots=True)
class SideCount:
    """Samples of one side, and how many of them the other side does not have."""

    samples: int
    unpaired: int
