"""What a team must offer, and what it may be told about its time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


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


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Of a team's own time, in seconds: waiting for the evaluator and the judge is not counted."""

    round_seconds: float | None = None
    team_seconds: float | None = None
