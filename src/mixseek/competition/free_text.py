"""A question whose answer is a text: what a team of one model is asked. Journaled and retried like any other."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.samples import Sample
from mixseek.protocols.reply_json import canonical, excerpt_text
from mixseek.protocols.reply_prose import is_refusal
from mixseek.protocols.reply_thought import without_thought

# A long text that opens with regrets goes on to something; a short one is the refusal itself.
_LONGEST_REFUSAL = 600
_REFUSING_ENDS = frozenset({"refusal", "content_filter"})


@dataclass(frozen=True)
class FreeTextProtocol:
    """`prompt` is already rendered; what stays the same from round to round is in the hash."""

    prompt: str
    instructions: str = ""
    language: str = "any"
    name: str = "submission"
    version: str = "1"
    # Nothing to constrain: the reply is the submission.
    reply_schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> Mapping[str, Any]:
        return {}

    @cached_property
    def hash(self) -> str:
        asked = {"name": self.name, "version": self.version, "instructions": self.instructions}
        return hashlib.sha256(canonical(asked).encode()).hexdigest()

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        user = Message("user", self.prompt)
        return (Message("system", self.instructions), user) if self.instructions.strip() else (user,)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """The text without the model's thinking; nothing, half a thought and a refusal are no submission."""
        spoken = without_thought(reply.text)
        text = spoken.text.strip()
        if spoken.unclosed:
            return _invalid(Flag.UNPARSABLE_OUTPUT, "the reply ends inside its think block: it was cut off")
        if reply.details.get("finish_reason") in _REFUSING_ENDS or (len(text) <= _LONGEST_REFUSAL and is_refusal(text)):
            return _invalid(Flag.JUDGE_REFUSAL_OR_EVASION, f"the model declines: {excerpt_text(text)}")
        if not text:
            return _invalid(Flag.UNPARSABLE_OUTPUT, "the reply is empty")
        return ValidJudgment(1.0, "submitted", {"text": text}, Method.CROSS_JUDGE)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        return Undecided("rules write no submissions")


def _invalid(flag: Flag, detail: str) -> InvalidJudgment:
    return InvalidJudgment((Finding(flag, detail),))
