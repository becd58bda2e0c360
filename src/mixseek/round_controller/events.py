"""What a watcher is told while teams play."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Stage(StrEnum):
    """Where a team is; each is told when it begins, and the last three when they are stored."""

    WAITING = "waiting"
    WORKING = "working"
    EVALUATING = "evaluating"
    SCORED = "scored"
    DECIDED = "decided"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class TeamEvent:
    """`score` is the round's; None where there is none (yet)."""

    team_id: str
    team_name: str
    round_number: int
    stage: Stage
    score: float | None = None
    text: str = ""


class Watcher(Protocol):
    """Rendering is somebody else's."""

    def told(self, event: TeamEvent) -> None: ...


class NoWatcher:
    """Nobody looks."""

    def told(self, event: TeamEvent) -> None:
        pass
