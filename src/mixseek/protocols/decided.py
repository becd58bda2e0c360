"""Judgments made of the answers of a decision endpoint: valid, and unexplained, for nobody gave reasons or quotes."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.confidence import Confidence, ConfidenceSource, expected_value
from mixseek.domain.decisions import DECISION_API, QuestionSet
from mixseek.domain.judgments import UNEXPLAINED, Finding, Flag, InvalidJudgment, Reply
from mixseek.protocols.certainty import Certainty
from mixseek.protocols.replies.decision_answers import DecisionReading, read_answers

# Among the fields of such a judgment.
UNEXPLAINED_FIELDS: Mapping[str, Any] = {UNEXPLAINED: True}


def is_decision(reply: Reply) -> bool:
    """Whether the reply holds answers to questions."""
    return isinstance(reply.details.get(DECISION_API), str)


def read_decision(reply: Reply, asked: QuestionSet) -> DecisionReading | InvalidJudgment:
    """The shares of every question, each with an answer that is likelier than others; or what is wrong."""
    if asked.refusal is not None:
        return InvalidJudgment((Finding(Flag.PROTOCOL_VIOLATION, asked.refusal),))
    reading = read_answers(reply.text, str(reply.details[DECISION_API]), asked.questions)
    undecided = [name for name in reading.shares if reading.likeliest(name) is None]
    evasions = [Finding(Flag.JUDGE_REFUSAL_OR_EVASION, f"{name} is as likely as not") for name in undecided]
    findings = (*reading.findings, *evasions)
    return InvalidJudgment(findings) if findings else reading


def certainty_of_decision(shares: Mapping[str, float], verdict: str, scores: Mapping[str, float]) -> Certainty:
    """How sure a judge is of a verdict that one question gives; `shares` by the names of verdicts."""
    confidence = Confidence(shares[verdict], ConfidenceSource.DECISION, shares)
    return Certainty(confidence, expected_value(shares, scores))
