"""A protocol and judges without any matching, importable by worker processes (see test_processes)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Missing, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import JudgeProtocol, MathsComparer, Message, Nonces, PlainProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.offline import Judged


@dataclass(frozen=True)
class StubProtocol(PlainProtocol):
    """Replies that say "good" are valid, all others are not."""

    name: str = "stub"
    version: str = "1"
    language: str = "en"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    hash: str = "0" * 64
    reply_schema: Mapping[str, Any] = field(default_factory=dict)

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        return ()

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        if reply.text == "good":
            return ValidJudgment(1.0, "correct", {}, Method.CROSS_JUDGE)
        return InvalidJudgment((Finding(Flag.UNPARSABLE_OUTPUT, "not good"),))

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> ValidJudgment | Undecided:
        if sample.response == sample.ground_truth:
            return ValidJudgment(1.0, "correct", {}, Method.RULES)
        return Undecided("not equal")


@dataclass(frozen=True)
class StubRules:
    """Asks the protocol; crashes, dies or raises where the response says so."""

    name: str = "rules"

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | Undecided:
        if sample.response == "die":
            os._exit(9)
        if sample.response == "raise":
            raise LookupError("a bug in a judge")
        return protocol.decide(sample)


@dataclass(frozen=True)
class StubReplies:
    """Recorded texts by sample id; no record is a missing reply."""

    texts: Mapping[str, str]
    name: str = "replay"

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Missing:
        text = self.texts.get(sample.id)
        return Missing("no recorded reply") if text is None else Reply(text, self.name)


@dataclass(frozen=True)
class StubEncode:
    """One readable line for each judgment."""

    def __call__(self, sample: Sample, results: Sequence[Judged]) -> list[bytes]:
        return [f"{sample.id} {judged.judge} {judged.status}\n".encode() for judged in results]
