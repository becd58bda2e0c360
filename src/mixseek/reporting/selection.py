"""Which judgments a report lists when there are too many: first those that a person must look at."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from enum import IntEnum

from mixseek.domain.judgments import Status
from mixseek.reporting.model import JudgmentRow

ROW_LIMIT = 2_000
# Each kind keeps a tenth of the list if it has that many: 40,000 undecided samples must not hide every wrong answer.
_FLOOR_SHARE = 0.1

_Ranked = tuple[int, int, JudgmentRow]  # draw, position in the dataset, row


class Kind(IntEnum):
    """In the order in which places are given out."""

    CRITICAL = 0
    INVALID = 1
    UNDECIDED = 2
    MISSING = 3
    LOW = 4
    HIGH = 5


def kind_of(status: Status, score: float | None, *, is_critical: bool = False) -> Kind:
    """A valid judgment is low below half marks: for right-or-wrong scores that is every wrong one."""
    if is_critical:
        return Kind.CRITICAL
    match status:
        case Status.INVALID:
            return Kind.INVALID
        case Status.UNDECIDED:
            return Kind.UNDECIDED
        case Status.MISSING:
            return Kind.MISSING
        case Status.VALID:
            return Kind.LOW if score is not None and score < 0.5 else Kind.HIGH


def select_rows(rows: Iterable[JudgmentRow], limit: int = ROW_LIMIT) -> tuple[JudgmentRow, ...]:
    """At most `limit` rows, critical fails first, else in the order they came; the same for the same run, every time.

    Memory stays within a few times `limit` rows however many come in.
    """
    kept: dict[Kind, list[_Ranked]] = {kind: [] for kind in Kind}
    for position, row in enumerate(rows):
        heap = kept[kind_of(row.status, row.score, is_critical=row.is_critical)]
        # Negated, so that the heap's smallest is the next one to go.
        entry = (-_draw(row), -position, row)
        if len(heap) < limit:
            heapq.heappush(heap, entry)
        elif heap and entry[:2] > heap[0][:2]:
            heapq.heapreplace(heap, entry)
    places = _places({kind: len(heap) for kind, heap in kept.items()}, limit)
    chosen: Iterator[_Ranked] = (
        entry for kind, heap in kept.items() for entry in heapq.nlargest(places[kind], heap, key=lambda item: item[:2])
    )
    return tuple(row for _, _, row in sorted(chosen, key=lambda item: (not item[2].is_critical, -item[1])))


def _places(available: dict[Kind, int], limit: int) -> dict[Kind, int]:
    """First the floor of every kind, then the rest in order of kind."""
    floor = int(limit * _FLOOR_SHARE)
    places = {kind: min(count, floor) for kind, count in available.items()}
    left = limit - sum(places.values())
    for kind in Kind:
        more = min(left, available[kind] - places[kind])
        places[kind] += more
        left -= more
    return places


def _draw(row: JudgmentRow) -> int:
    """A fair lot that does not depend on the clock, on a seed or on the order of the rows."""
    blob = f"{row.judge}\x1f{row.id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(blob, digest_size=8).digest(), "big")
