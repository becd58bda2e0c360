"""What a metric is, and the two kinds there are: a judge with a criterion, and a whole protocol."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar, assert_never

from pydantic import Field, field_validator

from mixseek.domain.judgments import InvalidJudgment, Missing, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import JudgeProtocol, PresentingProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.questions import Answered, Asker, Question
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.evaluator.metric_protocol import CRITERIA, ROLES, Criterion, MetricProtocol, check_criteria, why_no_answer
from mixseek.evaluator.models import Direction, EvaluationRequest, MetricScore, MissingMetric
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import EvaluatorPromptContext
from mixseek.protocols.identity import method_of
from mixseek.settings.load import explaining_failures
from mixseek.settings.models import Table


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


class LLMJudgeMetric(BaseMetric):
    """A judge scores each criterion with its reason; the sum is the score.

    Subclasses give `criteria`, whose points sum to 100, and `get_instruction`: the role that the judge is to take.
    """

    criteria: ClassVar[tuple[Criterion, ...]] = ()

    def __init__(self, setting: MetricSetting, bench: JudgeBench) -> None:
        super().__init__(setting)
        self.bench = bench
        # Now and not with the first submission: everything that can be wrong with it is in here.
        _ = self.protocol.system_prompt

    def get_instruction(self) -> str:
        """The judge's role. The criteria and the shape of the reply are told beside it."""
        roles = ROLES.get(type(self).__name__)
        if roles is None:
            raise ConfigurationError(f"metric {self.name}: {type(self).__name__} must define get_instruction")
        return roles[self.bench.language]

    def get_criteria(self) -> tuple[Criterion, ...]:
        """What is scored."""
        return self.criteria or CRITERIA.get(type(self).__name__, ())

    @cached_property
    def protocol(self) -> MetricProtocol:
        """What is asked, to the letter; everything but the submission and the time."""
        return MetricProtocol(
            name=type(self).__name__,
            language=self.bench.language,
            instruction=self.get_instruction(),
            criteria=check_criteria(self.get_criteria(), f"metric {self.name}"),
            user_template=self.bench.prompts.settings.evaluator_user_prompt + own_prompt_source(type(self)),
            user_prompt=lambda sample: self._get_user_prompt(sample.question, sample.response),
        )

    def _get_user_prompt(self, user_query: str, submission: str) -> str:
        """Seed 004: a context, checked, then the builder."""
        context = EvaluatorPromptContext(user_query=user_query, submission=submission)
        return self.bench.prompts.build_evaluator_prompt(context)

    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        """A score, or what the judge did instead of giving one."""
        # Without the model that wrote it: the same text must get the same score, whoever hands it in.
        sample = Sample(f"{request.place}/{self.name}", request.submission, request.user_query)
        answered = await self.bench.asker.ask(Question(self.protocol, sample, self.bench.judge))
        scored = score_answer(self, answered)
        if isinstance(scored, MissingMetric) or answered.reply is None:
            return scored
        method = method_of(answered.reply, replace(sample, target_model=request.target_model))
        return replace(scored, details={**scored.details, "method": method.value})


def own_prompt_source(kind: type[LLMJudgeMetric]) -> str:
    """The code of a user's own `_get_user_prompt`, else nothing: replies to what it used to ask are not for today."""
    written = kind._get_user_prompt
    if written is LLMJudgeMetric._get_user_prompt:
        return ""
    try:
        return inspect.getsource(written)
    except (OSError, TypeError):
        # Typed in at a prompt, or made by a program; its name is all there is.
        return f"{written.__module__}.{written.__qualname__}"


def score_answer(metric: BaseMetric, answered: Answered) -> MetricScore | MissingMetric:
    """Every protocol's 0..1 as 0..100; whatever is not valid has no score."""
    match answered.outcome:
        case ValidJudgment() as judgment:
            comment = judgment.fields.get("comment")
            text = comment if isinstance(comment, str) else judgment.verdict
            # 0.55 * 100 is not 55 in binary; nobody meant the difference.
            return metric.scored(round(judgment.score * 100, 9), text, judgment.fields, answered.replies)
        case InvalidJudgment() as judgment:
            return MissingMetric(
                metric.name, why_no_answer(judgment), answered.replies, is_permanent=True, is_invalid=True
            )
        case Undecided(reason=reason):
            return metric.missing(Undecided(f"undecided: {reason}"), answered.replies)
        case Missing() as missing:
            return metric.missing(missing, answered.replies)
        case unexpected:
            assert_never(unexpected)


class ClarityCoherence(LLMJudgeMetric):
    """How clearly it is written, and how well its parts hold together."""


class Coverage(LLMJudgeMetric):
    """How completely it deals with what was asked."""


class Relevance(LLMJudgeMetric):
    """How closely it keeps to what was asked."""


Options = TypeVar("Options", bound=Table)


def read_options(kind: type[Options], setting: MetricSetting) -> Options:
    """The metric's `options` table, checked; raises ConfigurationError naming the one that is wrong."""
    with explaining_failures(f"metric {setting.name}: options", kind):
        return kind.model_validate(setting.options)


class PlainCriterion(Table):
    """One criterion in the user's words."""

    points: int = Field(strict=True, ge=1)
    text: str


class PlainOptions(Table):
    """What may be said about a plain metric."""

    instruction: str | None = Field(default=None, pattern=r"\S")
    criteria: dict[str, PlainCriterion] | None = Field(default=None, min_length=1)

    @field_validator("criteria")
    @classmethod
    def _names_are_words(cls, criteria: dict[str, PlainCriterion] | None) -> dict[str, PlainCriterion] | None:
        for name in criteria or ():
            if not name.isidentifier():
                raise ValueError(f"{name!r} must be one word of letters, digits and _")
        return criteria


class LLMPlain(LLMJudgeMetric):
    """In the user's own words: options `instruction` (text) and `criteria` (a table of name = {points, text})."""

    def get_instruction(self) -> str:
        return read_options(PlainOptions, self.setting).instruction or super().get_instruction()

    def get_criteria(self) -> tuple[Criterion, ...]:
        given = read_options(PlainOptions, self.setting).criteria
        if given is None:
            return super().get_criteria()
        return tuple(Criterion(name, one.points, {"en": one.text}) for name, one in given.items())


class TaskOptions(Table):
    """What a protocol may be told about the task; the rest of a sample is the submission's."""

    ground_truth: str | None = None
    ground_truth_alternatives: tuple[str, ...] | None = None
    question_id: str | None = None
    prompt_variant: str | None = None
    task_name: str | None = None
    task_type: str | None = None
    rubric: str | None = None


_TRIAL = EvaluationRequest("a query", "a submission")
_TRIAL_NONCE = "0123456789abcdef01234567"


class ProtocolMetric(BaseMetric):
    """Any protocol as a metric: its score of the submission, times 100; its own scale stays in the details."""

    def __init__(self, setting: MetricSetting, protocol: JudgeProtocol, asker: Asker, judge: str) -> None:
        super().__init__(setting)
        if isinstance(protocol, PresentingProtocol):
            raise ConfigurationError(
                f"metric {self.name}: the {protocol.name} protocol compares two responses, and a metric scores one; "
                "choose another, or compare outputs with `mixseek judge --protocol pairwise --pairs all`"
            )
        self.protocol = protocol
        self._asker = asker
        self._judge = judge
        self._fields = read_options(TaskOptions, setting).model_dump(exclude_none=True)
        try:
            # What the protocol needs to know about a task is missing from the first submission as from any other.
            protocol.messages(self._sample(_TRIAL), _TRIAL_NONCE)
        except DatasetError as error:
            raise ConfigurationError(f"metric {self.name}: {error} (give it in the metric's options)") from error

    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        """A score, or why the protocol gave none."""
        question = Question(self.protocol, self._sample(request), self._judge)
        return score_answer(self, await self._asker.ask(question))

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
