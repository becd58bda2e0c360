"""Any protocol as a metric: rubric, semantic, cross, or one of the user's own."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.questions import Asker
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.evaluator.llm_metric import score_answer
from mixseek.evaluator.metric import BaseMetric, MetricSetting
from mixseek.evaluator.models import EvaluationRequest, MetricScore, MissingMetric

# What a protocol may be told about the task; the rest of a sample is the submission's.
SAMPLE_OPTIONS = (
    "ground_truth",
    "ground_truth_alternatives",
    "question_id",
    "prompt_variant",
    "task_name",
    "task_type",
    "rubric",
)
_TRIAL = EvaluationRequest("a query", "a submission")
_TRIAL_NONCE = "0123456789abcdef01234567"


class ProtocolMetric(BaseMetric):
    """The protocol's score of the submission, times 100; its own scale stays in the details."""

    def __init__(self, setting: MetricSetting, protocol: JudgeProtocol, asker: Asker, judge: str) -> None:
        super().__init__(setting)
        self.protocol = protocol
        self._asker = asker
        self._judge = judge
        self._fields = sample_fields(setting)
        try:
            # What the protocol needs to know about a task is missing from the first submission as from any other.
            protocol.messages(self._sample(_TRIAL), _TRIAL_NONCE)
        except DatasetError as error:
            raise ConfigurationError(f"metric {self.name}: {error} (give it in the metric's options)") from error

    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        """A score, or why the protocol gave none."""
        return score_answer(self, await self._asker.ask(self.protocol, self._sample(request), self._judge))

    def _sample(self, request: EvaluationRequest) -> Sample:
        """A team that is no model is known by its own name where a protocol wants to know who wrote this."""
        return Sample(
            id=f"{request.place}/{self.name}",
            response=request.submission,
            question=request.user_query,
            target_model=request.target_model or request.team_id,
            output_id=request.place,
            **self._fields,
        )


def sample_fields(setting: MetricSetting) -> Mapping[str, Any]:
    """The options that describe the task, checked; raises ConfigurationError naming the one that is wrong."""
    fields: dict[str, Any] = {}
    for name, value in setting.options.items():
        if name not in SAMPLE_OPTIONS:
            raise ConfigurationError(
                f"metric {setting.name}: unknown option {name!r}; known are {', '.join(SAMPLE_OPTIONS)}"
            )
        if name == "ground_truth_alternatives":
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise ConfigurationError(f"metric {setting.name}: options.{name} must be a list of texts")
            value = tuple(value)
        elif not isinstance(value, str):
            raise ConfigurationError(f"metric {setting.name}: options.{name} must be text")
        fields[name] = value
    return fields
