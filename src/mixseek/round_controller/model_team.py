"""A team that is a model: asked for a submission as a judge is asked, and answered in free text."""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Reply, Responded, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message, Nonces, PlainProtocol
from mixseek.domain.response_states import ResponseState, state_of_reason
from mixseek.domain.samples import Sample
from mixseek.engine.endpoint import EndpointDownError
from mixseek.engine.questions import Asker, Question
from mixseek.errors import PermanentJudgeError
from mixseek.evaluator.scores import usage_of
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.refusals import is_refusal
from mixseek.protocols.replies.reply_json import excerpt_text, hash_of
from mixseek.protocols.replies.thought import without_thought
from mixseek.round_controller.team import FailedSubmission, Submission

# A long text that opens with regrets goes on to something; a short one is the refusal itself.
_LONGEST_REFUSAL = 600


@dataclass(frozen=True)
class FreeTextProtocol(PlainProtocol):
    """What a team of one model is asked; only what stays the same from round to round is in the hash."""

    prompt: str
    instructions: str = ""
    language: str = "any"
    name: str = "submission"
    version: str = "1"
    # Nothing to constrain: the reply is the submission.
    reply_schema: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        identity = {"name": self.name, "version": self.version, "instructions": self.instructions}
        return hash_of(identity)

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        user = Message("user", self.prompt)
        return (Message("system", self.instructions), user) if self.instructions.strip() else (user,)

    def parse(self, reply: Reply, sample: Sample) -> Responded | InvalidJudgment:
        """The text without the model's thinking; nothing, half a thought and a refusal are no submission."""
        spoken = without_thought(reply.text)
        text = spoken.text.strip()
        if spoken.unclosed:
            return _invalid(Flag.UNPARSABLE_OUTPUT, "the reply ends inside its think block: it was cut off")
        is_withheld = state_of_reason(reply.details.get("finish_reason")) is ResponseState.WITHHELD
        if is_withheld or (len(text) <= _LONGEST_REFUSAL and is_refusal(text)):
            return _invalid(Flag.JUDGE_REFUSAL_OR_EVASION, f"the model declines: {excerpt_text(text)}")
        if not text:
            return _invalid(Flag.UNPARSABLE_OUTPUT, "the reply is empty")
        return Responded({}, text)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        return Undecided("rules write no submissions")


def _invalid(flag: Flag, detail: str) -> InvalidJudgment:
    return InvalidJudgment((Finding(flag, detail),))


@dataclass(frozen=True, slots=True)
class ModelTeam:
    """One model with instructions. Asked by name of execution, team and round: the board in its prompt changes."""

    team_id: str
    team_name: str
    judge: str
    execution_id: str
    asker: Asker
    instructions: str = ""
    target_model: str | None = None

    async def submit(self, prompt: str, round_number: int) -> Submission | FailedSubmission:
        """An endpoint that refuses or is gone ends this team; the others have theirs."""
        place = f"{self.team_id}/{round_number}"
        protocol = FreeTextProtocol(prompt, self.instructions)
        sample = Sample(place, response="", question=prompt)
        identity = f"{self.execution_id}/{place}"
        question = Question(protocol, sample, self.judge, identity=identity, asks_again=False)
        try:
            answered = await self.asker.ask(question)
            while isinstance(answered.outcome, InvalidJudgment) and answered.is_recalled:
                # It failed this round in an earlier process; whoever starts again gives it another try.
                question = replace(question, repeat=question.repeat + 1)
                answered = await self.asker.ask(question)
        except (EndpointDownError, PermanentJudgeError) as error:
            return FailedSubmission(str(error))
        outcome = answered.outcome
        if isinstance(outcome, ValidJudgment):
            raise TypeError("a submission is no judgment")
        if isinstance(outcome, Responded):
            return Submission(outcome.response, usage_of(answered.replies))
        if isinstance(outcome, InvalidJudgment):
            return FailedSubmission("; ".join(finding.detail for finding in outcome.findings))
        return FailedSubmission(outcome.reason)
