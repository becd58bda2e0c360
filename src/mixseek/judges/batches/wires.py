"""What a batch is to us, whoever runs it: what is submitted, what is seen of it, and what may be asked of its wire."""

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mixseek.domain.ports import Usage
from mixseek.judges.batches.door import BatchDoor
from mixseek.judges.batches.lines import LineFormat
from mixseek.judges.endpoint.dialects import Wire
from mixseek.lazy_dataclass import dataclass

# Of every limit of a provider, so much is used: their counting is not ours.
MARGIN = 0.9
# Lists are looked through from the latest batch on, so far: what is not there by then may stand behind it.
PAGE, MOST_PAGES = 100, 20
MOST_LISTED = PAGE * MOST_PAGES


class Limits(NamedTuple):
    """What one batch may hold, as the provider states it."""

    requests: int
    bytes: int


class Phase(StrEnum):
    """What a state means, in whatever word it is told."""

    RUNNING = "running"
    # Results are there to be had, all of them or a part.
    ENDED = "ended"
    # The provider has taken none of it: nothing is billed.
    REFUSED = "refused"
    # The provider knows nothing of it.
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class BatchView:
    """What a provider says of one batch."""

    id: str
    phase: Phase
    # In the provider's own word.
    state: str
    # Where results can be downloaded; their order says nothing.
    results: tuple[str, ...] = ()
    # Counts by the provider's own names.
    counts: Mapping[str, int] | None = None
    # How many requests it says were answered, and what all of them took, where it says so.
    succeeded: int | None = None
    usage: Usage | None = None
    # Why it was refused, and in which word.
    reason: str = ""
    code: str = ""
    # What we called it, where the provider keeps that.
    label: str | None = None
    # The file that it was made of, by the provider's own name.
    upload: str | None = None
    created_at: datetime | None = None


class Submission(NamedTuple):
    """A file of lines on its way."""

    path: Path
    label: str
    model: str
    requests: int
    # Told what an upload is called before the batch is made of it.
    note_upload: Callable[[str], None]


class BatchWire(Protocol):
    """One provider's way; no state of its own."""

    @property
    def name(self) -> str: ...
    @property
    def lines(self) -> LineFormat:
        """The format in which results are written."""

    @property
    def limits(self) -> Limits: ...
    @property
    def wire(self) -> Wire:
        """How the body of a request is written and its answer read."""

    @property
    def uploads_first(self) -> bool:
        """Whether there can be no batch before `note_upload` was told."""

    @property
    def keeps_label(self) -> bool:
        """Whether a batch can be found by what we called it, or by the file that it was made of."""

    def door(self, judge: Any) -> BatchDoor: ...

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        """One request as the file holds it, with its line end."""

    async def submit(self, door: BatchDoor, submission: Submission) -> str:
        """The id that the provider gives it. Raises UncertainError where nobody knows whether it was made."""

    async def look(self, door: BatchDoor, batch: str) -> BatchView: ...

    async def list(self, door: BatchDoor) -> list[BatchView]:
        """The latest batches of this key, whoever submitted them."""

    async def cancel(self, door: BatchDoor, batch: str) -> None: ...
