"""What a metric is, and the two kinds there are: a judge with a criterion, and a whole protocol."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar, assert_never

from pydantic import Field, field_validator

from mixseek.domain.judgments import Flag, InvalidJudgment, Missing, Reply, Responded, Undecided, ValidJudgment
from mixseek.domain.ports import (
    JudgeProtocol,
    MathsComparer,
    Message,
    Nonces,
    PlainProtocol,
    constant_message,
    is_plain,
)
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.engine.questions import Answered, Asker, Question
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.evaluator.scores import POINTS, Direction, EvaluationRequest, MetricScore, MissingMetric, Scale
from mixseek.lazy_dataclass import dataclass
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.prompt_builder.models import EvaluatorPromptContext
from mixseek.protocols.declaration import DeclaredProtocol
from mixseek.protocols.identity import method_of
from mixseek.protocols.replies.copied_verdicts import repetitions
from mixseek.protocols.replies.repairs import Repair, ReplyMode
from mixseek.protocols.replies.reply_fields import FieldReader, closed_object
from mixseek.protocols.replies.reply_json import excerpt, hash_of
from mixseek.protocols.replies.reply_reader import read_reply
from mixseek.settings.load import explaining_failures
from mixseek.settings.models import Table
from mixseek.settings.text_files import parse_toml
from mixseek.templating import compile_template


@dataclass(frozen=True, slots=True)
class Criterion:
    """One thing to look at; `wording` by language."""

    name: str
    points: int
    wording: Mapping[str, str]

    def text(self, language: str) -> str:
        """The wording in that language; criteria of a user have one wording for all."""
        return self.wording.get(language) or next(iter(self.wording.values()))


_BUILT_IN = parse_toml(Path(__file__).with_name("criteria.toml").read_bytes().decode())
# By type of metric, then by language.
ROLES: Mapping[str, Mapping[str, str]] = {kind: table["role"] for kind, table in _BUILT_IN.items()}
CRITERIA: Mapping[str, tuple[Criterion, ...]] = {
    kind: tuple(Criterion(name, wording.pop("points"), wording) for name, wording in table["criteria"].items())
    for kind, table in _BUILT_IN.items()
}


def check_criteria(criteria: tuple[Criterion, ...], where: str) -> tuple[Criterion, ...]:
    """Raises ConfigurationError unless the points sum to 100, whatever scale the metric gives its score on."""
    total = sum(criterion.points for criterion in criteria)
    if total != 100:
        raise ConfigurationError(f"{where}: the criteria's points sum to {total}, expected 100; adjust them")
    return criteria


REPLY_MODE = ReplyMode.REPAIR
_PROMPTS = Path(__file__).parent / "prompts"
_FIELDS = ("criteria", "comment", "total_score")


def open_reply(reply: Reply, names: Sequence[str]) -> tuple[Mapping[str, Any], tuple[Repair, ...]] | InvalidJudgment:
    """The reply's object, and what had to be repaired; keys that nobody asked for are passed over."""
    reading = read_reply(reply.text, REPLY_MODE, names)
    if reading.value is None:
        return InvalidJudgment(reading.findings, reading.repairs)
    extra = (Repair.EXTRA_KEYS_IGNORED,) if reading.value.keys() - set(names) else ()
    return reading.value, (*reading.repairs, *extra)


def why_no_answer(outcome: InvalidJudgment | Undecided | Missing) -> str:
    """The reason, for a person who asks why there is no score, or no opinion."""
    if isinstance(outcome, InvalidJudgment):
        findings = "; ".join(f"{finding.flag}: {finding.detail}" for finding in outcome.findings)
        return f"the judge's reply is invalid ({findings})"
    return outcome.reason


def metric_template(language: str) -> str:
    """The text that every LLM metric shares, beside its own instruction."""
    if language not in LANGUAGES:
        raise ConfigurationError(f"evaluator.language {language!r}: available are {', '.join(LANGUAGES)}")
    return (_PROMPTS / f"metric.{language}.md.j2").read_bytes().decode()


@dataclass(frozen=True)
class MetricProtocol(PlainProtocol):
    """A JudgeProtocol of one metric; `user_prompt` renders what is judged, and is told apart by `user_template`."""

    name: str
    language: str
    instruction: str
    criteria: tuple[Criterion, ...]
    user_template: str
    user_prompt: Callable[[Sample], str]
    version: str = "1"

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        return {
            "reply_mode": REPLY_MODE.value,
            "criteria": {
                criterion.name: {"points": criterion.points, "text": criterion.text(self.language)}
                for criterion in self.criteria
            },
        }

    @cached_property
    def hash(self) -> str:
        """Neither the metric's name in a race nor the time of asking counts: the same judgment is the same."""
        identity = {
            "name": self.name,
            "version": self.version,
            "kind": "metric",
            "language": self.language,
            "parameters": self.parameters,
            "instruction": self.instruction,
            "templates": {"system": metric_template(self.language), "user": self.user_template},
        }
        return hash_of(identity)

    @cached_property
    def system_prompt(self) -> str:
        """The metric's own instruction, its criteria, and the shape of the reply."""
        template = compile_template(
            metric_template(self.language), {"instruction", "criteria"}, f"metric.{self.language}.md.j2"
        )
        criteria = [
            {"name": criterion.name, "points": criterion.points, "text": criterion.text(self.language)}
            for criterion in self.criteria
        ]
        return template.render({"instruction": self.instruction.strip(), "criteria": criteria})

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        """Reasons come before scores: models write what they have just read."""
        criteria = {
            criterion.name: closed_object(
                {"reason": {"type": "string"}, "score": {"type": "integer", "enum": list(range(criterion.points + 1))}}
            )
            for criterion in self.criteria
        }
        return closed_object(
            {"criteria": closed_object(criteria), "comment": {"type": "string"}, "total_score": {"type": "integer"}}
        )

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """The submission is fenced by whoever renders the user prompt, with a nonce of its own."""
        return constant_message("system", self.system_prompt), Message("user", self.user_prompt(sample))

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """The sum is computed here; a reply that sums otherwise does not know its own score."""
        opened = open_reply(reply, _FIELDS)
        if isinstance(opened, InvalidJudgment):
            return opened
        value, repairs = opened
        fields = FieldReader(value)
        scores = self._read_criteria(fields)
        comment = fields.text("comment")
        total = fields.integer("total_score", 0, 100)
        computed = sum(criterion["score"] for criterion in scores.values())
        if total is not None and len(scores) == len(self.criteria) and computed != total:
            problem = f"total_score is {total}, but the criteria's scores sum to {computed}"
            fields.note(Flag.INTERNAL_INCONSISTENCY, problem)
        findings = (*fields.findings, *repetitions(value, sample))
        if findings or total is None:
            return InvalidJudgment(findings, repairs)
        judged = {"criteria": scores, "comment": comment, "total_score": total}
        return ValidJudgment(total / 100, f"{total}/100", judged, method_of(reply, sample), repairs=repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """No rule can say how clear a text is."""
        return Undecided(f"{self.name} has no rules; name a model as its judge")

    def _read_criteria(self, fields: FieldReader) -> dict[str, dict[str, Any]]:
        """Reason and score by criterion, without those that were objected to."""
        criteria = fields.given("criteria")
        if not isinstance(criteria, Mapping):
            fields.note(Flag.UNPARSABLE_OUTPUT, f"criteria is {excerpt(criteria)}, expected an object")
            return {}
        known = [criterion.name for criterion in self.criteria]
        for name in criteria:
            if name not in known:
                fields.note(Flag.PROTOCOL_VIOLATION, f"criteria.{excerpt(name)} is none of {', '.join(known)}")
        scores: dict[str, dict[str, Any]] = {}
        for criterion in self.criteria:
            judged = criteria.get(criterion.name)
            if not isinstance(judged, Mapping):
                fields.note(Flag.INCOMPLETE_COVERAGE, f"criteria.{criterion.name} is not judged ({excerpt(judged)})")
                continue
            inner = FieldReader(judged, f"criteria.{criterion.name}.", fields.findings)
            score, reason = inner.integer("score", 0, criterion.points), inner.text("reason")
            if reason is not None and not reason.strip():
                inner.note(Flag.INCOMPLETE_COVERAGE, f"criteria.{criterion.name}.reason is blank")
            if score is not None and reason is not None:
                scores[criterion.name] = {"reason": reason, "score": score}
        return scores


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

    A metric that raises is missing from that evaluation, with the exception's message as the reason. One that counts
    otherwise than from 0 to 100 says so: `scale = Scale(1, 5)`; the overall score counts it in hundredths of its scale.
    """

    scale: Scale = POINTS

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
        """A score on the metric's scale, or why there is none. It must not block: see `asyncio.to_thread`."""

    def scored(
        self, score: float, comment: str = "", details: Mapping[str, Any] | None = None, replies: tuple[Reply, ...] = ()
    ) -> MetricScore:
        """A score under this metric's name; raises ValueError for what is not on the scale."""
        return MetricScore(self.name, score, comment, details or {}, self.direction, replies, Scale(*self.scale))

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
        """Those it was given, else those of the built-in metric of its name."""
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
        return score_answer(self, answered, replace(sample, target_model=request.author))


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


def score_answer(metric: BaseMetric, answered: Answered, sample: Sample) -> MetricScore | MissingMetric:
    """Every protocol's 0..1 on the metric's scale; whatever is not valid has no score.

    How it came about is told with it: whose reply it is, held against who wrote the sample.
    """
    match answered.outcome:
        case ValidJudgment() as judgment:
            comment = judgment.fields.get("comment")
            text = comment if isinstance(comment, str) else judgment.verdict
            # 0.55 * 100 is not 55 in binary; nobody meant the difference.
            scale = Scale(*metric.scale)
            score = round(scale.low + judgment.score * scale.width, 9)
            method = judgment.method if answered.reply is None else method_of(answered.reply, sample)
            return metric.scored(score, text, {**judgment.fields, "method": method.value}, answered.replies)
        case InvalidJudgment() as judgment:
            return MissingMetric(
                metric.name, why_no_answer(judgment), answered.replies, is_permanent=True, is_invalid=True
            )
        case Undecided(reason=reason):
            return metric.missing(Undecided(f"undecided: {reason}"), answered.replies)
        case Missing() as missing:
            return metric.missing(missing, answered.replies)
        case Responded():
            raise TypeError(f"metric {metric.name}: its protocol answers, and does not judge")
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
    """A metric in the user's words: options `instruction` (text) and `criteria` (a table of name = {points, text})."""

    def get_instruction(self) -> str:
        return read_options(PlainOptions, self.setting).instruction or super().get_instruction()

    def get_criteria(self) -> tuple[Criterion, ...]:
        criteria = read_options(PlainOptions, self.setting).criteria
        if criteria is None:
            return super().get_criteria()
        return tuple(Criterion(name, criterion.points, {"en": criterion.text}) for name, criterion in criteria.items())


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
_TRIAL_NONCES = Nonces(question="89abcdef0123456701234567", sample="0123456789abcdef01234567")


class ProtocolMetric(BaseMetric):
    """Any protocol as a metric: its score of the submission, times 100; its own scale stays in the details."""

    def __init__(self, setting: MetricSetting, protocol: JudgeProtocol, asker: Asker, judge: str) -> None:
        super().__init__(setting)
        if not is_plain(protocol):
            raise ConfigurationError(
                f"metric {self.name}: the {protocol.name} protocol compares two responses, and a metric scores one; "
                "choose another, or compare outputs with `mixseek judge --protocol pairwise --pairs all`"
            )
        needs = protocol.needs if isinstance(protocol, DeclaredProtocol) else SampleNeeds()
        if needs.steps or needs.contexts:
            judged = "steps" if needs.steps else "contexts"
            raise ConfigurationError(
                f"metric {self.name}: the {protocol.name} protocol judges {judged}, and a submission has none; choose "
                f"another, or judge what was exported with `mixseek judge --protocol {protocol.name}`"
            )
        self.protocol = protocol
        self._asker = asker
        self._judge = judge
        self._fields = read_options(TaskOptions, setting).model_dump(exclude_none=True)
        try:
            # What the protocol needs to know about a task is missing from the first submission as from any other.
            protocol.messages(self._sample(_TRIAL), _TRIAL_NONCES)
        except DatasetError as error:
            raise ConfigurationError(f"metric {self.name}: {error} (give it in the metric's options)") from error

    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        """A score, or why the protocol gave none."""
        sample = self._sample(request)
        return score_answer(self, await self._asker.ask(Question(self.protocol, sample, self._judge)), sample)

    def _sample(self, request: EvaluationRequest) -> Sample:
        return Sample(
            id=f"{request.place}/{self.name}",
            response=request.submission,
            question=request.user_query,
            target_model=request.author,
            output_id=request.place,
            **self._fields,
        )
