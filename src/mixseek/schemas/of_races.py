"""Documents about competitions, and evaluations without one."""

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from mixseek.competition.views.board import TeamView
from mixseek.competition.views.forecast import CallForecast
from mixseek.schemas.parts import Anything


class LeaderboardDocument(TypedDict):
    """A competition: places, rounds, metrics, opinions beside decisions."""

    execution: str
    task: str
    status: str
    started_at: str
    ended_at: str | None
    configuration: Anything
    teams: Sequence[TeamView]


class SentDocument(TypedDict):
    calls: int
    cached: int
    cost_usd: float


class RaceGate(TypedDict):
    gate: str
    limit: float
    actual: float | None
    met: bool


class CompeteDocument(LeaderboardDocument):
    """A competition that was just played."""

    evaluations: Mapping[str, int]
    gates: Sequence[RaceGate]
    reason: str | None
    sent: SentDocument


class CompeteDryRunDocument(TypedDict):
    """What a competition would send; nothing was sent."""

    execution: str
    teams: int
    metrics: Sequence[str]
    min_rounds: int
    max_rounds: int
    calls: Sequence[CallForecast]
    remarks: Sequence[str]
    self_judged: Mapping[str, Sequence[str]]
    is_estimate: bool


class MetricDocument(TypedDict):
    """`scale` and `points` (on 0..100) where the metric does not count from 0 to 100."""

    name: str
    score: float
    weight: float
    direction: str
    comment: str
    details: Anything
    scale: NotRequired[Sequence[float]]
    points: NotRequired[float]


class MissingMetricDocument(TypedDict):
    name: str
    reason: str
    permanent: NotRequired[bool]
    invalid: NotRequired[bool]


class SubmissionDocument(TypedDict):
    name: str
    overall_score: float | None
    metrics: Sequence[MetricDocument]
    missing: Sequence[MissingMetricDocument]
    usage: Anything


class EvaluateDocument(TypedDict):
    """Submissions with their scores, in the order in which they were given; a failure is there by its name."""

    submissions: Sequence[SubmissionDocument]
    weights: Mapping[str, float]
    reason: str | None
    sent: SentDocument
    journal: str | None
