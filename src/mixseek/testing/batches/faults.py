"""What goes wrong with batches, as other tools met it; decided by what is sent and the seed, never by chance.

What loses an answer strikes the same content twice at most: a client that asks again comes to an end.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from mixseek.testing.ledger import Ledger
from mixseek.testing.mock_replies import share_of
from mixseek.testing.prompts import digest_of

MOST_STRIKES = 2


class BatchFault(StrEnum):
    """The names that follow --batch-fault."""

    TOO_MANY = "too-many"
    SLOW_POST = "slow-post"
    LOST_ANSWER = "lost-answer"
    ERROR_FILE_ONLY = "error-file-only"
    EXPIRED = "expired"
    FAILED_BATCH = "failed-batch"
    FAILED_HOLDS_QUEUE = "failed-holds-queue"
    GONE = "gone"
    SHUFFLED = "shuffled"
    UNKNOWN_LINE = "unknown-line"
    FOREIGN = "foreign"
    CLOCK_AHEAD = "clock-ahead"
    CUT_DOWNLOAD = "cut-download"
    LINE_ERRORS = "line-errors"
    REFUSED_LINES = "refused-lines"
    EMPTY_TEXT = "empty-text"
    TORN_LINE = "torn-line"
    MISSING_LINE = "missing-line"
    TWICE = "twice"


class Moment(StrEnum):
    """When a fault strikes; at each moment at most one of those that belong there is drawn."""

    UPLOAD = "upload"
    CREATION = "creation"
    FATE = "fate"
    ORDER = "order"
    LISTING = "listing"
    DOWNLOAD = "download"
    LINE = "line"


_FAULTS_BY_MOMENT: dict[Moment, tuple[BatchFault, ...]] = {
    Moment.UPLOAD: (BatchFault.TOO_MANY,),
    Moment.CREATION: (BatchFault.TOO_MANY, BatchFault.SLOW_POST, BatchFault.LOST_ANSWER),
    Moment.FATE: (
        BatchFault.ERROR_FILE_ONLY,
        BatchFault.EXPIRED,
        BatchFault.FAILED_BATCH,
        BatchFault.FAILED_HOLDS_QUEUE,
        BatchFault.GONE,
    ),
    Moment.ORDER: (BatchFault.SHUFFLED, BatchFault.UNKNOWN_LINE),
    Moment.LISTING: (BatchFault.FOREIGN, BatchFault.CLOCK_AHEAD),
    Moment.DOWNLOAD: (BatchFault.CUT_DOWNLOAD,),
    Moment.LINE: (
        BatchFault.LINE_ERRORS,
        BatchFault.REFUSED_LINES,
        BatchFault.EMPTY_TEXT,
        BatchFault.TORN_LINE,
        BatchFault.MISSING_LINE,
        BatchFault.TWICE,
    ),
}


class FaultPlan:
    """Draws faults and counts how often they struck."""

    def __init__(self, seed: int, rate: float, kinds: Sequence[BatchFault], ledger: Ledger) -> None:
        self._ledger = ledger
        self._seed = seed
        self._rate = rate
        self._kinds = {
            moment: tuple(kind for kind in faults if kind in kinds) for moment, faults in _FAULTS_BY_MOMENT.items()
        }
        self._strikes: Counter[tuple[Moment, bytes]] = Counter()

    def draw(self, moment: Moment, content: bytes, parts: Iterable[bytes] = ()) -> BatchFault | None:
        """The fault that strikes this content now; none where it, or one of its parts, was struck often enough."""
        kinds = self._kinds[moment]
        if not kinds:
            return None
        struck = {(moment, digest) for digest in (content, *parts)}
        times = self._strikes[moment, content]
        drawn = digest_of(str(self._seed), moment, content.hex(), str(times))
        if share_of(drawn) >= self._rate or any(self._strikes[key] >= MOST_STRIKES for key in struck):
            return None
        self._strikes.update(struck)
        fault = kinds[int.from_bytes(drawn[8:12], "big") % len(kinds)]
        self._ledger.planted(fault.value)
        return fault
