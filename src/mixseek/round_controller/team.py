"""What a team is to the controller, what happens to it, and the record of a round."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, Protocol

from mixseek.domain.rounds import Opinion, RoundDecision
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Submission:
    """A text that is not blank, and what it took; `usage` is plain JSON."""

    text: str
    usage: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailedSubmission:
    """A team that gave nothing that could be evaluated. Not a score of 0."""

    reason: str


class Team(Protocol):
    """Answers the task, round after round. Cancelling `submit` must leave nothing running."""

    @property
    def team_id(self) -> str: ...

    @property
    def team_name(self) -> str: ...

    @property
    def target_model(self) -> str | None:
        """The model that writes the submissions, where it is known."""
        ...

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        """Raises only what ends the whole competition."""
        ...


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


# Rendering is somebody else's.
Watcher = Callable[[TeamEvent], None]


def watch_nothing(event: TeamEvent) -> None:
    """A watcher that looks at nothing."""


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """One round that is over: stored, scored as far as it could be, and decided upon.

    `feedback` has a score and a comment for each metric; the score is None, and the comment its reason, where one is
    missing. `score` is None as soon as one is.
    """

    execution_id: str
    team_id: str
    team_name: str
    round_number: int
    submission: str
    score: float | None
    feedback: Mapping[str, Mapping[str, Any]]
    opinion: Opinion | None
    decision: RoundDecision


# Whoever wants to know is told in the team's own time: it plays on when this has returned, others do not wait.
AfterRound = Callable[[RoundRecord], Awaitable[None] | None]
