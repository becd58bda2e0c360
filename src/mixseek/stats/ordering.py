"""Whether two raters order items alike: Pearson, Spearman, Kendall, from counted pairs of values.

one home of the formulas: Pearson 1895, Spearman 1904 (mid-ranks), Kendall 1945 (tau-b, which knows ties); of scores
against right and wrong, the area under the ROC curve (Mann & Whitney 1947) and Brier 1950"""

import bisect
import math
from collections import Counter, defaultdict
from collections.abc import Mapping

# A pair of values, the first rater's and the second's, to the number of items that have it.
PairCounts = Mapping[tuple[float, float], int]
# The same where labels that were drawn with unequal chances count as many as they are worth.
PairWeights = Mapping[tuple[float, float], float]


def mean_difference(pairs: PairCounts) -> float | None:
    """The first minus the second, on average."""
    n = sum(pairs.values())
    return math.fsum(count * (x - y) for (x, y), count in pairs.items()) / n if n else None


def pearson(pairs: PairWeights) -> float | None:
    """None where one of the two never varies."""
    n = sum(pairs.values())
    if n < 2:
        return None
    mean_x = math.fsum(count * x for (x, _), count in pairs.items()) / n
    mean_y = math.fsum(count * y for (_, y), count in pairs.items()) / n
    spread_x = math.fsum(count * (x - mean_x) ** 2 for (x, _), count in pairs.items())
    spread_y = math.fsum(count * (y - mean_y) ** 2 for (_, y), count in pairs.items())
    shared = math.fsum(count * (x - mean_x) * (y - mean_y) for (x, y), count in pairs.items())
    # The least spread that is more than the rounding of equal values, whatever they are measured in.
    sizes = (max(abs(x) for x, _ in pairs), max(abs(y) for _, y in pairs))
    if spread_x <= 1e-24 * n * sizes[0] ** 2 or spread_y <= 1e-24 * n * sizes[1] ** 2:
        return None
    return max(-1.0, min(1.0, shared / math.sqrt(spread_x * spread_y)))


def spearman(pairs: PairWeights) -> float | None:
    """Pearson's of the ranks; equal values share the middle one."""
    first, second = defaultdict[float, float](float), defaultdict[float, float](float)
    for (x, y), count in pairs.items():
        first[x] += count
        second[y] += count
    ranks_x, ranks_y = _middle_ranks(first), _middle_ranks(second)
    ranked = defaultdict[tuple[float, float], float](float)
    for (x, y), count in pairs.items():
        ranked[ranks_x[x], ranks_y[y]] += count
    return pearson(ranked)


def _middle_ranks(counts: Mapping[float, float]) -> dict[float, float]:
    ranks, below = {}, 0.0
    for value in sorted(counts):
        ranks[value] = below + (counts[value] + 1) / 2
        below += counts[value]
    return ranks


def auc(pairs: PairCounts) -> float | None:
    """How often the second's value is greater where the first says 1 than where it says 0, a tie half.

    None where the first says anything else, or one of the two never.
    """
    sides, scores = Counter[float](), Counter[float]()
    for (truth, score), count in pairs.items():
        sides[truth] += count
        scores[score] += count
    if set(sides) != {0.0, 1.0}:
        return None
    ranks = _middle_ranks(scores)
    total = math.fsum(count * ranks[score] for (truth, score), count in pairs.items() if truth == 1)
    return (total - sides[1] * (sides[1] + 1) / 2) / (sides[0] * sides[1])


def brier(pairs: PairCounts) -> float | None:
    """The mean square of what separates the second's probabilities from the first's 0 and 1; None of anything else."""
    if not pairs or any(truth not in (0, 1) or not 0 <= chance <= 1 for truth, chance in pairs):
        return None
    return math.fsum(count * (x - y) ** 2 for (x, y), count in pairs.items()) / sum(pairs.values())


def kendall_tau_b(pairs: PairCounts) -> float | None:
    """Pairs of items in the same order minus those in the opposite one, over those that are not tied in either."""
    n = sum(pairs.values())
    columns = sorted({y for _, y in pairs})
    below = _Prefixes(len(columns))
    balance, lower_rows, waiting, current = 0, 0, list[tuple[int, int]](), None
    first, second = Counter[float](), Counter[float]()
    for (x, y), count in sorted(pairs.items()):
        if x != current:
            # Items with one value of the first rater are not compared with each other.
            for place, number in waiting:
                below.add(place, number)
                lower_rows += number
            waiting, current = [], x
        place = bisect.bisect_left(columns, y)
        lower, not_higher = below.sum_before(place), below.sum_before(place + 1)
        balance += count * (lower - (lower_rows - not_higher))
        waiting.append((place, count))
        first[x] += count
        second[y] += count
    whole = n * (n - 1) // 2
    untied_x = whole - sum(m * (m - 1) // 2 for m in first.values())
    untied_y = whole - sum(m * (m - 1) // 2 for m in second.values())
    return balance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else None


class _Prefixes:
    """Counts by place with sums of all places before one, both in logarithmic time (Fenwick)."""

    def __init__(self, places: int) -> None:
        self._sums = [0] * (places + 1)

    def add(self, place: int, count: int) -> None:
        place += 1
        while place < len(self._sums):
            self._sums[place] += count
            place += place & -place

    def sum_before(self, place: int) -> int:
        total = 0
        while place:
            total += self._sums[place]
            place -= place & -place
        return total
