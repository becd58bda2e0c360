"""Metrics that ask a judge, through the engine like every other question."""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, assert_never

from mixseek.domain.judgments import InvalidJudgment, Missing, Undecided, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.engine.questions import Answered
from mixseek.errors import ConfigurationError
from mixseek.evaluator.criteria import CRITERIA, ROLES, Criterion, check_criteria
from mixseek.evaluator.metric import BaseMetric, JudgeBench, MetricSetting
from mixseek.evaluator.metric_protocol import MetricProtocol
from mixseek.evaluator.models import EvaluationRequest, MetricScore, MissingMetric
from mixseek.prompt_builder.models import EvaluatorPromptContext
from mixseek.protocols.method import method_of


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
        return self.criteria

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
        answered = await self.bench.asker.ask(self.protocol, sample, self.bench.judge)
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
    replies = answered.replies
    match answered.outcome:
        case ValidJudgment() as judgment:
            comment = judgment.fields.get("comment")
            text = comment if isinstance(comment, str) else judgment.verdict
            # 0.55 * 100 is not 55 in binary; nobody meant the difference.
            return metric.scored(round(judgment.score * 100, 9), text, judgment.fields, replies)
        case InvalidJudgment(findings=findings):
            said = "; ".join(f"{finding.flag}: {finding.detail}" for finding in findings)
            reason = f"the judge's reply is invalid ({said})"
            return MissingMetric(metric.name, reason, replies, is_permanent=True, is_invalid=True)
        case Undecided(reason=reason):
            return metric.missing(Undecided(f"undecided: {reason}"), replies)
        case Missing() as missing:
            return metric.missing(missing, replies)
        case unexpected:
            assert_never(unexpected)


class ClarityCoherence(LLMJudgeMetric):
    """How clearly it is written, and how well its parts hold together."""

    criteria = CRITERIA["ClarityCoherence"]


class Coverage(LLMJudgeMetric):
    """How completely it deals with what was asked."""

    criteria = CRITERIA["Coverage"]


class Relevance(LLMJudgeMetric):
    """How closely it keeps to what was asked."""

    criteria = CRITERIA["Relevance"]


class LLMPlain(LLMJudgeMetric):
    """In the user's own words: options `instruction` (text) and `criteria` (a table of name = {points, text})."""

    def get_instruction(self) -> str:
        given = self.setting.options.get("instruction")
        if given is None:
            return super().get_instruction()
        if not isinstance(given, str) or not given.strip():
            raise ConfigurationError(f"metric {self.name}: options.instruction must be text")
        return given

    def get_criteria(self) -> tuple[Criterion, ...]:
        unknown = sorted(set(self.setting.options) - {"instruction", "criteria"})
        if unknown:
            raise ConfigurationError(
                f"metric {self.name}: unknown option {unknown[0]!r}; known are instruction and criteria"
            )
        given = self.setting.options.get("criteria")
        return CRITERIA["LLMPlain"] if given is None else tuple(read_criteria(given, f"metric {self.name}"))


def read_criteria(given: Any, where: str) -> list[Criterion]:
    """From a table such as `{accuracy = {points = 60, text = "…"}, style = {points = 40, text = "…"}}`."""
    if not isinstance(given, Mapping) or not given:
        raise ConfigurationError(f"{where}: options.criteria must be a table of name = {{points, text}}")
    criteria = []
    for name, one in given.items():
        if not isinstance(one, Mapping) or set(one) != {"points", "text"} or not isinstance(one["text"], str):
            raise ConfigurationError(f"{where}: criterion {name!r} must be {{points = …, text = …}}")
        if not name.isidentifier():
            raise ConfigurationError(f"{where}: criterion {name!r} must be one word of letters, digits and _")
        criteria.append(Criterion(name, one["points"], {"en": one["text"]}))
    return criteria
