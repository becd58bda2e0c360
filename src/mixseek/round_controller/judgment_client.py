"""The model that is asked whether another round is worth it (seed 004)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Flag, InvalidJudgment, Method, Reply, Responded, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message, Nonces, PlainProtocol, constant_message
from mixseek.domain.rounds import ImprovementJudgment, NoOpinion, RoundState
from mixseek.domain.samples import Sample
from mixseek.engine.endpoint import EndpointDownError
from mixseek.engine.questions import Asker, Question
from mixseek.errors import ConfigurationError
from mixseek.evaluator.metrics import REPLY_MODE, open_reply, why_no_answer
from mixseek.lazy_dataclass import dataclass
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.prompt_builder.models import RoundPromptContext
from mixseek.protocols.replies.reply_fields import FieldReader, closed_object
from mixseek.protocols.replies.reply_json import hash_of
from mixseek.settings.race import JUDGMENT_NAME

_PROMPTS = Path(__file__).parent / "prompts"
_FIELDS = ("reasoning", "should_continue", "confidence_score")


@dataclass(frozen=True)
class JudgmentProtocol(PlainProtocol):
    """One question about one team; `user_prompt` is already rendered, because that reads the leader board."""

    user_prompt: str
    user_template: str
    language: str = "en"
    name: str = "improvement"
    version: str = "1"

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ConfigurationError(f"judgment.language {self.language!r}: available are {', '.join(LANGUAGES)}")

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"reply_mode": REPLY_MODE.value}

    @cached_property
    def system_prompt(self) -> str:
        return (_PROMPTS / f"judgment.{self.language}.md").read_bytes().decode()

    @cached_property
    def hash(self) -> str:
        """The hash over what is asked of every team; the question about one of them has a name of its own."""
        identity = {
            "name": self.name,
            "version": self.version,
            "kind": "improvement",
            "language": self.language,
            "parameters": self.parameters,
            "templates": {"system": self.system_prompt, "user": self.user_template},
        }
        return hash_of(identity)

    @property
    def reply_schema(self) -> Mapping[str, Any]:
        """The reasons come first: models write what they have just read."""
        types = ("string", "boolean", "number")
        return closed_object({name: {"type": kind} for name, kind in zip(_FIELDS, types, strict=True)})

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        return constant_message("system", self.system_prompt), Message("user", self.user_prompt)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """Never raises; an opinion without reasons is none."""
        opened = open_reply(reply, _FIELDS)
        if isinstance(opened, InvalidJudgment):
            return opened
        value, repairs = opened
        fields = FieldReader(value)
        reasoning = fields.text("reasoning")
        if reasoning is not None and not reasoning.strip():
            fields.note(Flag.INCOMPLETE_COVERAGE, "reasoning is blank")
        should_continue = fields.boolean("should_continue")
        confidence = fields.number("confidence_score", 0, 1)
        if fields.findings or confidence is None:
            return InvalidJudgment(tuple(fields.findings), repairs)
        judged = {"reasoning": reasoning, "should_continue": should_continue, "confidence_score": float(confidence)}
        verdict = "continue" if should_continue else "stop"
        return ValidJudgment(float(bool(should_continue)), verdict, judged, Method.CROSS_JUDGE, repairs=repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """The rule that needs no model is the controller's own."""
        return Undecided("no rule says whether another round is worth it; name a model as the judge")


class JudgmentClient:
    """One judge for all teams; who has no answer has no opinion, and what follows is not for this class to say."""

    def __init__(self, asker: Asker, prompts: UserPromptBuilder, judge: str, *, language: str = "en") -> None:
        self._asker = asker
        self._prompts = prompts
        self._judge = judge
        self._language = language
        # A language without prompts is said now.
        JudgmentProtocol("", "", language)

    async def judge_improvement_prospects(
        self,
        user_query: str,
        round_history: Sequence[RoundState],
        *,
        team_id: str,
        team_name: str,
        execution_id: str,
        asks_anew: bool = False,
    ) -> ImprovementJudgment | NoOpinion:
        """The opinion on the round to come. `asks_anew`: an invalid reply of an earlier process is no answer."""
        prompt = await self._format_user_prompt(user_query, round_history, team_id, team_name, execution_id)
        protocol = JudgmentProtocol(prompt, self._prompts.settings.judgment_user_prompt, self._language)
        place = f"{team_id}/{len(round_history)}/{JUDGMENT_NAME}"
        latest = round_history[-1].submission_content if round_history else ""
        sample = Sample(place, response=latest, question=user_query)
        # By name: the prompt shows the leader board, which other teams change meanwhile.
        question = Question(protocol, sample, self._judge, identity=f"{execution_id}/{place}")
        try:
            answered = await self._asker.ask(question)
            while asks_anew and answered.is_recalled and isinstance(answered.outcome, InvalidJudgment):
                question = replace(question, repeat=question.repeat + 1)
                answered = await self._asker.ask(question)
        except EndpointDownError as error:
            return NoOpinion(str(error))
        if isinstance(answered.outcome, ValidJudgment):
            # Reasoning, yes or no, and confidence: its fields are those of a valid reply.
            return ImprovementJudgment(**answered.outcome.fields)
        if isinstance(answered.outcome, Responded):
            raise TypeError(f"the protocol {protocol.name} judges, and does not answer")
        return NoOpinion(why_no_answer(answered.outcome))

    async def _format_user_prompt(
        self, user_query: str, round_history: Sequence[RoundState], team_id: str, team_name: str, execution_id: str
    ) -> str:
        """Seed 004: the context is built here, and the round is the one that would come next."""
        context = RoundPromptContext(
            user_prompt=user_query,
            round_number=len(round_history) + 1,
            round_history=list(round_history),
            team_id=team_id,
            team_name=team_name,
            execution_id=execution_id,
            store=self._prompts.store,
        )
        return await self._prompts.build_judgment_prompt(context)
