"""A batch of the loopback provider: what it holds, where it is in its life, and how it ends."""

import asyncio
import dataclasses
from collections import Counter
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.lazy_dataclass import dataclass
from mixseek.testing.batches.faults import BatchFault

# A day, as all providers say.
WINDOW_SECONDS = 86_400
# A provider's clock that is wrong is wrong by so much.
CLOCK_AHEAD_SECONDS = 3_600
# Shares of its life after which a batch is looked at, and after which its results are gathered.
_VALIDATED, _GATHERED = 0.1, 0.9


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How batches behave; the defaults take any, are done at the next look, and never fail."""

    seconds: float = 0.0
    faults: tuple[BatchFault, ...] = ()
    fault_rate: float = 0.2
    # Larger ones are refused.
    request_limit: int | None = None
    # What all batches of a wire may hold at once, in tokens; about four bytes of a body are one.
    queue_tokens: int | None = None
    # More batches under way at once are answered 429.
    files_at_once: int | None = None
    # How long a look waits for results that are due and not yet written; then the batch is still finishing.
    longest_wait_seconds: float = 2.0


class BatchRequest(NamedTuple):
    """A line of a batch: its id, and its body as canonical JSON."""

    custom_id: str
    body: bytes
    digest: bytes


class BatchError(NamedTuple):
    """Why a whole batch was refused; `line` counts from 1."""

    code: str
    message: str
    line: int | None = None


class Phase(StrEnum):
    """Where a batch is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHING = "finishing"
    ENDED = "ended"


class Ending(StrEnum):
    """How the life of a batch ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    # Nobody has heard of it.
    GONE = "gone"


class Tally(StrEnum):
    """What a request of a batch counts as."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Results(NamedTuple):
    """What a batch that ended leaves: the ids of its files, None for a file without a line, and its counts."""

    output_file: str | None
    error_file: str | None
    counts: Counter[Tally]


class Draft(NamedTuple):
    """What a client wants to be a batch. `details` are the wire's own; `errors` refuse it as a whole."""

    model: str
    requests: list[BatchRequest]
    details: dict[str, Any]
    errors: tuple[BatchError, ...] = ()


@dataclasses.dataclass(slots=True, eq=False)
class Batch:
    """A batch and what became of it; times are seconds since 1970 by the server's true clock."""

    id: str
    wire: str
    content: bytes
    model: str
    requests: list[BatchRequest]
    details: dict[str, Any]
    errors: tuple[BatchError, ...]
    created: float
    seconds: float
    tokens: int
    fate: BatchFault | None = None
    # What its clock says beyond the true one.
    skew: int = 0
    # It belongs to another key.
    is_foreign: bool = False
    cancelled: float | None = None
    results: Results | None = None
    settling: asyncio.Task[None] | None = None
    total: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        # Requests are let go once they are answered.
        self.total = len(self.requests)

    @property
    def ending(self) -> Ending:
        """How it ends, or will end if nobody cancels it."""
        if self.errors:
            return Ending.FAILED
        if self.cancelled is not None:
            return Ending.CANCELLED
        match self.fate:
            case BatchFault.EXPIRED:
                return Ending.EXPIRED
            case BatchFault.GONE:
                return Ending.GONE
            case _:
                return Ending.COMPLETED

    @property
    def ended(self) -> float:
        """When it is due."""
        if self.errors:
            return self.created + _VALIDATED * self.seconds
        return self.created + self.seconds if self.cancelled is None else self.cancelled

    def phase(self, now: float) -> Phase:
        """It has ended once its results are written, which may be a moment after they are due."""
        if self.results is not None:
            return Phase.ENDED
        share = self.share(now)
        return Phase.QUEUED if share < _VALIDATED else Phase.RUNNING if share < _GATHERED else Phase.FINISHING

    def share(self, now: float) -> float:
        """The part of its life that is over."""
        return min(1.0, max(0.0, (now - self.created) / self.seconds)) if self.seconds > 0 else 1.0

    def moment(self, share: float) -> int:
        """The second at which so much of its life was over, by its own clock."""
        return int(self.created + share * self.seconds) + self.skew

    @property
    def ended_shown(self) -> int:
        return int(self.ended) + self.skew

    @property
    def validated_shown(self) -> int:
        return self.moment(_VALIDATED)

    @property
    def gathered_shown(self) -> int:
        return self.moment(_GATHERED)
