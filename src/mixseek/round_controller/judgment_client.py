"""Asks a model whether another round is worth it (seed 004)."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, assert_never

from mixseek.domain.judgments import Flag, InvalidJudgment, Method, Missing, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.rounds import ImprovementJudgment, NoOpinion, RoundState
from mixseek.domain.samples import Sample
from mixseek.engine.limits import EndpointDownError
from mixseek.engine.questions import Asker, Question
from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import LANGUAGES
from mixseek.prompt_builder.models import RoundPromptContext
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.json import Repair, ReplyMode, canonical, excerpt
from mixseek.protocols.reply.reader import read_reply
from mixseek.settings.race import JUDGMENT_NAME

# How the judge of progress is asked, and what its reply must satisfy.

_PROMPTS = Path(__file__).parent / "prompts"
_FIELDS = ("reasoning", "should_continue", "confidence_score")


@dataclass(frozen=True)
class JudgmentProtocol:
    """One question about one team; `user_prompt` is already rendered, because that reads the leader board."""

    user_prompt: str
    user_template: str
    language: str = "en"
    name: str = "improvement"
    version: str = "1"
    reply_mode: ReplyMode = ReplyMode.REPAIR

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ConfigurationError(f"judgment.language {self.language!r}: available are {', '.join(LANGUAGES)}")

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {"reply_mode": self.reply_mode.value}

    @cached_property
    def system_prompt(self) -> str:
        return (_PROMPTS / f"judgment.{self.language}.md").read_bytes().decode()

    @cached_property
    def hash(self) -> str:
        """Over what is asked of every team; the question about one of them has a name of its own."""
        asked = {
            "name": self.name,
            "version": self.version,
            "kind": "improvement",
            "language": self.language,
            "parameters": self.parameters,
            "templates": {"system": self.system_prompt, "user": self.user_template},
        }
        return hashlib.sha256(canonical(asked).encode()).hexdigest()

    @property
    def reply_schema(self) -> Mapping[str, Any]:
        """The reasons come first: models write what they have just read."""
        return {
            "type": "object",
            "properties": {
                "reasoning": {"type": "string"},
                "should_continue": {"type": "boolean"},
                "confidence_score": {"type": "number"},
            },
            "required": list(_FIELDS),
            "additionalProperties": False,
        }

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        return Message("system", self.system_prompt), Message("user", self.user_prompt)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """Never raises; an opinion without reasons is none."""
        reading = read_reply(reply.text, self.reply_mode, _FIELDS)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields = FieldReader(reading.value)
        repairs = reading.repairs
        if fields.unknown_keys(_FIELDS):
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
        reasoning = fields.text("reasoning")
        if reasoning is not None and not reasoning.strip():
            fields.note(Flag.INCOMPLETE_COVERAGE, "reasoning is blank")
        should_continue = fields.boolean("should_continue")
        confidence = read_share(reading.value, "confidence_score", fields)
        findings = (*reading.findings, *fields.findings)
        if findings or reasoning is None or should_continue is None or confidence is None:
            return InvalidJudgment(findings, repairs)
        judged = {"reasoning": reasoning, "should_continue": should_continue, "confidence_score": confidence}
        verdict = "continue" if should_continue else "stop"
        return ValidJudgment(float(should_continue), verdict, judged, Method.CROSS_JUDGE, repairs=repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """The rule that needs no model is the controller's own."""
        return Undecided("no rule says whether another round is worth it; name a model as the judge")


def read_share(value: Mapping[str, Any], name: str, fields: FieldReader) -> float | None:
    """A number of 0..1; true is not 1, and "high" is not a number."""
    given = value.get(name)
    if isinstance(given, bool) or not isinstance(given, int | float):
        problem = f"field missing: {name}" if name not in value else f"{name} is {excerpt(given)}, expected a number"
        fields.note(Flag.UNPARSABLE_OUTPUT, problem)
        return None
    if not (math.isfinite(given) and 0 <= given <= 1):
        fields.note(Flag.PROTOCOL_VIOLATION, f"{name} is {excerpt(given)}, outside the scale 0 to 1")
        return None
    return float(given)


def to_opinion(judgment: ValidJudgment) -> ImprovementJudgment:
    """The fields of a reply that satisfied every rule."""
    fields = judgment.fields
    return ImprovementJudgment(fields["should_continue"], fields["reasoning"], fields["confidence_score"])


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
        """The model's opinion on the round after those of the history; raises what ends the whole competition.

        `asks_anew`: an invalid reply of an earlier process is no answer. Else it is one, so that a process which died
        before it could act on the reply leaves no trace.
        """
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
        match answered.outcome:
            case ValidJudgment() as judgment:
                return to_opinion(judgment)
            case InvalidJudgment(findings=findings):
                said = "; ".join(f"{finding.flag}: {finding.detail}" for finding in findings)
                return NoOpinion(f"the judge's reply is invalid ({said})")
            case Undecided(reason=reason) | Missing(reason=reason):
                return NoOpinion(reason)
            case unexpected:
                assert_never(unexpected)

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
