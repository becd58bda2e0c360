"""Answers of decision endpoints in both interfaces, built from the probabilities of each option."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mixseek.domain.decisions import DECISION_API, DecisionApi, DecisionQuestion, QuestionKind
from mixseek.domain.judgments import Reply

Shares = Mapping[str, Mapping[str, float]]


def answer_to(question: DecisionQuestion, shares: Mapping[str, float], api: DecisionApi) -> dict[str, Any]:
    """As an endpoint writes it; what it says beside the probabilities follows from them."""
    mean = sum(number * share for number, share in enumerate(shares.values()))
    is_list = api is DecisionApi.DECISIONS
    match question.kind:
        case QuestionKind.PREDICATE:
            kind, key = ("predicate", "probability") if is_list else ("noul", "noul")
            return {"type": kind, key: shares["true"]}
        case QuestionKind.CHOICE:
            listed: Any = [{"value": value, "probability": share} for value, share in shares.items()]
            choice = max(shares, key=lambda value: shares[value])
            told = listed if is_list else dict(shares)
            return {"type": "choice", "choice": choice, "confidence": max(shares.values()), "probabilities": told}
        case QuestionKind.LEVELS:
            numbered = list(enumerate(shares.items()))
            listed = [{"label": label, "value": number, "probability": share} for number, (label, share) in numbered]
            told = listed if is_list else {str(number): share for number, (_, share) in numbered}
            return {"type": "score", "score": mean, "confidence": max(shares.values()), "probabilities": told}


def document_of(questions: Sequence[DecisionQuestion], shares: Shares, api: DecisionApi) -> dict[str, Any]:
    """The whole answer."""
    answers = {question.name: answer_to(question, shares[question.name], api) for question in questions}
    listed: Any = [{"name": name, **answer} for name, answer in answers.items()]
    return {
        "model": "decider-1",
        "answers": listed if api is DecisionApi.DECISIONS else answers,
        "usage": {"input_tokens": 40, "output_tokens": 0},
    }


def decision_reply(document: Any, api: DecisionApi = DecisionApi.DECISIONS, judge: str = "decider") -> Reply:
    """The reply as a judge brings it; text is taken as it is."""
    text = document if isinstance(document, str) else json.dumps(document)
    return Reply(text, judge, details={DECISION_API: api.value})
