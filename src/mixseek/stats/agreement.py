"""How far a panel of judges agrees beyond chance."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgreementSums:
    """Scores of samples with at least two judges, as sums; `within` is Σ (2·m·Σx² − 2·(Σx)²) / (m − 1) over samples."""

    judgments: int
    total: float
    total_of_squares: float
    within: float


def krippendorff_alpha(sums: AgreementSums) -> float | None:
    """Krippendorff's alpha for interval data: 1 is full agreement, 0 what chance gives, below it worse than chance.

    None where every score is the same: without variation agreement cannot be told from habit.
    """
    count = sums.judgments
    if count < 2:
        return None
    observed = sums.within / count
    expected = (2 * count * sums.total_of_squares - 2 * sums.total**2) / (count * (count - 1))
    if expected <= 1e-12:
        return None
    return 1 - observed / expected
