"""Judge the outputs of language models with protocols that can be audited."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixseek.api.answers import Answers, aanswer, answer
    from mixseek.api.cascade import plan_cascade
    from mixseek.api.compete import Competition, acompete, aevaluate, compete, evaluate
    from mixseek.api.judging import ajudge, audit, forecast, judge
    from mixseek.api.run import Run, compare, leaderboard, open_run, statistics, vote_statistics
    from mixseek.cascades.certificate import Certificate
    from mixseek.comparison.conclusion import RunState
    from mixseek.competition.views.evaluation import Evaluation
    from mixseek.domain.judgments import InvalidJudgment, Missing, Undecided, ValidJudgment
    from mixseek.domain.samples import Sample
    from mixseek.engine.offline import Judged
    from mixseek.errors import GateError, MixseekError
    from mixseek.judges.function import function_judge
    from mixseek.protocols.registry import load_protocol
    from mixseek.round_controller.team import RoundRecord
    from mixseek.runs.cards import Card
    from mixseek.settings.options import AnswerOptions, AuditOptions, JudgeOptions

__all__ = [
    "AnswerOptions",
    "Answers",
    "AuditOptions",
    "Card",
    "Certificate",
    "Competition",
    "Evaluation",
    "GateError",
    "InvalidJudgment",
    "JudgeOptions",
    "Judged",
    "Missing",
    "MixseekError",
    "RoundRecord",
    "Run",
    "RunState",
    "Sample",
    "Undecided",
    "ValidJudgment",
    "aanswer",
    "acompete",
    "aevaluate",
    "ajudge",
    "answer",
    "audit",
    "compare",
    "compete",
    "evaluate",
    "forecast",
    "function_judge",
    "judge",
    "leaderboard",
    "load_protocol",
    "open_run",
    "plan_cascade",
    "statistics",
    "vote_statistics",
]

# Name to home. Loaded on first use: `import mixseek` alone costs nothing, and `mixseek --help` stays instant.
_HOMES = {
    "AnswerOptions": "mixseek.settings.options",
    "Answers": "mixseek.api.answers",
    "AuditOptions": "mixseek.settings.options",
    "Card": "mixseek.audits.views",
    "Certificate": "mixseek.cascades.views",
    "Competition": "mixseek.api.compete",
    "Evaluation": "mixseek.competition.views.evaluation",
    "GateError": "mixseek.errors",
    "InvalidJudgment": "mixseek.domain.judgments",
    "JudgeOptions": "mixseek.settings.options",
    "Judged": "mixseek.engine.offline",
    "Missing": "mixseek.domain.judgments",
    "MixseekError": "mixseek.errors",
    "RoundRecord": "mixseek.round_controller.controller",
    "Run": "mixseek.api.run",
    "RunState": "mixseek.comparison.conclusion",
    "Sample": "mixseek.domain.samples",
    "Undecided": "mixseek.domain.judgments",
    "ValidJudgment": "mixseek.domain.judgments",
    "aanswer": "mixseek.api.answers",
    "acompete": "mixseek.api.compete",
    "aevaluate": "mixseek.api.compete",
    "ajudge": "mixseek.api.judging",
    "answer": "mixseek.api.answers",
    "audit": "mixseek.api.judging",
    "compare": "mixseek.api.run",
    "compete": "mixseek.api.compete",
    "evaluate": "mixseek.api.compete",
    "forecast": "mixseek.api.judging",
    "function_judge": "mixseek.judges.function",
    "judge": "mixseek.api.judging",
    "leaderboard": "mixseek.api.run",
    "load_protocol": "mixseek.protocols.registry",
    "open_run": "mixseek.api.run",
    "plan_cascade": "mixseek.api.cascade",
    "statistics": "mixseek.api.run",
    "vote_statistics": "mixseek.api.run",
}


if not TYPE_CHECKING:  # A type checker that sees this would believe in every name.

    def __getattr__(name: str) -> Any:
        """The names of `__all__`, from where they live."""
        if name not in _HOMES:
            raise AttributeError(f"module 'mixseek' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
