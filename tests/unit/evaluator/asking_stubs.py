"""An asker that answers from a table, and metrics that users might bring."""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.unit.protocols.nonces import NONCES

from mixseek.domain.judgments import Outcome, Reply
from mixseek.domain.ports import JudgeProtocol, Message
from mixseek.domain.samples import Sample
from mixseek.engine.questions import Answered, Question
from mixseek.errors import DatasetError
from mixseek.evaluator.metrics import BaseMetric, JudgeBench
from mixseek.evaluator.scores import EvaluationRequest, MetricScore, MissingMetric
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import PromptBuilderSettings

REQUEST = EvaluationRequest("What is a monad?", "A monoid in the category of endofunctors.", "alpha", 2)


@dataclass
class StubAsker:
    """Parses what `say` makes of the question; remembers what was asked."""

    say: Callable[[JudgeProtocol, Sample], str | Outcome]
    asked: list[tuple[JudgeProtocol, Sample, str]] = field(default_factory=list)
    identities: list[str | None] = field(default_factory=list)
    details: dict[str, object] = field(default_factory=dict)
    prompts: list[tuple[Message, ...]] = field(default_factory=list)

    async def ask(self, question: Question) -> Answered:
        protocol, sample, judge = question.protocol, question.sample, question.judge
        self.asked.append((protocol, sample, judge))
        self.identities.append(question.identity)
        self.prompts.append(protocol.messages(sample, NONCES))
        await asyncio.sleep(0)
        said = self.say(protocol, sample)
        if isinstance(said, str):
            reply = Reply(said, judge, details=self.details)
            return Answered(protocol.parse(reply, sample), reply)
        return Answered(said)


def bench(asker: StubAsker, judge: str = "model", language: str = "en") -> JudgeBench:
    return JudgeBench(asker, UserPromptBuilder(settings=PromptBuilderSettings()), judge, language)


def reply_text(total: int | None = None, **scores: int) -> str:
    """A metric's reply with these scores; `total` where it should not be their sum."""
    return json.dumps(
        {
            "criteria": {name: {"reason": f"because of {name}", "score": score} for name, score in scores.items()},
            "comment": "Say it shorter.",
            "total_score": sum(scores.values()) if total is None else total,
        }
    )


class WordCount(BaseMetric):
    """What a user might write."""

    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        return self.scored(min(100, len(request.submission.split())), "words")


class Broken(BaseMetric):
    """Raises, returns nonsense, hangs, or gives a number that is none."""

    async def evaluate(self, request: EvaluationRequest) -> MetricScore | MissingMetric:
        match self.setting.options["how"]:
            case "raises":
                raise LookupError("no such\nword")
            case "nonsense":
                return 5  # type: ignore[return-value]  # what a user's code may do
            case "exits":
                sys.exit(3)
            case "cancels":
                raise asyncio.CancelledError("never mind")
            case "gives up":
                raise TimeoutError("its own clock")
            case "misconfigured":
                raise DatasetError("its own rows")
            case "hangs":
                await asyncio.Event().wait()
            case number:
                return self.scored(float(number))
        raise AssertionError
