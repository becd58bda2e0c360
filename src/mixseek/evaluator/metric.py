"""What a metric is: the place where users bring their own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mixseek.domain.judgments import Missing, Reply, Undecided
from mixseek.engine.questions import Asker
from mixseek.evaluator.models import Direction, EvaluationRequest, MetricScore, MissingMetric
from mixseek.prompt_builder.builder import UserPromptBuilder


@dataclass(frozen=True, slots=True)
class MetricSetting:
    """One metric as configured; `name` tells two metrics of one type apart."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    direction: Direction = Direction.HIGHER


@dataclass(frozen=True, slots=True)
class JudgeBench:
    """What a metric needs that asks a judge."""

    asker: Asker
    prompts: UserPromptBuilder
    judge: str
    language: str = "en"


class BaseMetric(ABC):
    """Subclass this, name it in race.toml as `type = "package.module:Class"`, and its `options` table is yours.

    A metric that raises is missing from that evaluation, with the exception's message as the reason.
    """

    def __init__(self, setting: MetricSetting) -> None:
        self.setting = setting

    @property
    def name(self) -> str:
        return self.setting.name

    @property
    def direction(self) -> Direction:
        return self.setting.direction

    @abstractmethod
    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        """A score on 0..100, or why there is none. Must not block: long work belongs in `asyncio.to_thread`."""

    def scored(
        self, score: float, comment: str = "", details: Mapping[str, Any] | None = None, replies: tuple[Reply, ...] = ()
    ) -> MetricScore:
        """A score under this metric's name; raises ValueError for what is not on the scale."""
        return MetricScore(self.name, score, comment, details or {}, self.direction, replies)

    def missing(self, outcome: Missing | Undecided | str, replies: tuple[Reply, ...] = ()) -> MissingMetric:
        """No score, and why; in words of your own, it is tried again by the next command."""
        if isinstance(outcome, str):
            return MissingMetric(self.name, outcome, replies)
        # The same rules say the same about the same text.
        is_permanent = isinstance(outcome, Undecided) or outcome.is_permanent
        return MissingMetric(self.name, outcome.reason, replies, is_permanent)
