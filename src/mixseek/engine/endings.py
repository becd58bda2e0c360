"""How a run came to its end."""

from dataclasses import dataclass
from enum import StrEnum


class Ending(StrEnum):
    """Only the first one means that every sample was taken up."""

    COMPLETE = "complete"
    STOPPED = "stopped"  # the caller asked
    OUT_OF_BUDGET = "out_of_budget"
    ENDPOINT_DOWN = "endpoint_down"


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The ending, and a sentence for a person where nobody asked for it."""

    ending: Ending
    reason: str | None = None
