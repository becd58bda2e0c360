"""What can become of a line of a batch, and what a wire must know to write it down."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.testing.batches.jobs import Batch, Tally
from mixseek.testing.ledger import Tokens
from mixseek.testing.mock_wire import WireFormat

# How long other requests wait for a batch that is being read or answered.
_LONGEST_TURN_SECONDS = 0.005


class Answered(NamedTuple):
    """An answer as the live wire gives it."""

    document: Mapping[str, Any]
    tokens: Tokens
    is_empty: bool


class Refused(NamedTuple):
    """An error as the live wire gives it, with its HTTP status; some stand among the answers."""

    status: int
    message: str
    is_among_answers: bool = False


class Failed(NamedTuple):
    """A request that nobody looked at: the batch's own error, whose code is a word."""

    code: str
    message: str


class Unprocessed(NamedTuple):
    """A request whose turn never came: expired or cancelled."""

    tally: Tally


Outcome = Answered | Refused | Failed | Unprocessed


class Refusal(NamedTuple):
    """Why a call is answered with an error."""

    status: int
    message: str


class Shelf(StrEnum):
    """The file in which a line stands."""

    OUTPUT = "output"
    ERRORS = "errors"


class Wire(ABC):
    """How a provider writes its lines."""

    name: str
    file_prefix = "file-"
    # Whether what was answered before a batch expired or was cancelled can be had.
    keeps_partial_results = True
    # Whether a batch can fail as a whole; else each of its requests does.
    can_fail = True
    # Whether a batch that is beyond a limit is created, and fails; else it is not created.
    fails_late = False

    @abstractmethod
    def format_of(self, batch: Batch) -> WireFormat:
        """The live wire that its requests and answers are written for."""

    @abstractmethod
    def line(
        self, batch: Batch, custom_id: str, outcome: Outcome, number: int
    ) -> tuple[Shelf, Mapping[str, Any]] | None:
        """The line and where it stands; None where the provider writes none. `number` is the line's own."""


class Turn:
    """Lets others of the event loop have theirs, while a long list is gone through."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def give_way(self) -> None:
        if time.perf_counter() - self._began > _LONGEST_TURN_SECONDS:
            await asyncio.sleep(0)
            self._began = time.perf_counter()
