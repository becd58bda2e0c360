"""How likely the mock says that its verdicts are: tokens with alternatives, answers to questions, and what goes wrong.

The likelihood is drawn from the request, as verdicts are; what a mock says in words it says most likely here.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.testing.mock_replies import MockReply, share_of
from mixseek.testing.prompts import AskedQuestion, Prompt, digest_of

# Every character is in one token.
_TOKEN = re.compile(r" ?[A-Za-z]+|\d+|\s+|.", re.DOTALL)
_LEAST, _MOST = 0.55, 0.99
_WORDS = (("true", "false"), ("A", "B", "tie"))
FEWER_ALTERNATIVES = 5


class ProbabilityFault(StrEnum):
    """How probabilities may be missing or wrong: the first six those of tokens, the others answers to questions."""

    NO_LOGPROBS = "no-logprobs"
    REFUSED_LOGPROBS = "refused-logprobs"
    FEWER_LOGPROBS = "fewer-logprobs"
    NO_ALTERNATIVES = "no-alternatives"
    OTHER_TOKENS = "other-tokens"
    POSITIVE_LOGPROBS = "positive-logprobs"
    REFUSED_QUESTION = "refused-question"
    MISSING_ANSWER = "missing-answer"
    MISSING_OPTION = "missing-option"
    WRONG_SUM = "wrong-sum"
    NOT_A_NUMBER = "not-a-number"
    OUT_OF_RANGE = "out-of-range"
    WRONG_NAME = "wrong-name"
    REPEATED_NAME = "repeated-name"
    ERROR_WITH_200 = "error-with-200"


def pick_probability_fault(
    prompt: Prompt, seed: int, faults: Sequence[ProbabilityFault], rate: float
) -> ProbabilityFault | None:
    """The same for the same request; None where nothing goes wrong."""
    drawn = digest_of(prompt.digest(seed).hex(), "probability")
    if not faults or share_of(drawn) >= rate:
        return None
    return faults[int.from_bytes(drawn[8:12], "big") % len(faults)]


def refuse_logprobs(prompt: Prompt, fault: ProbabilityFault | None) -> tuple[int, str] | None:
    """The status and words with which an endpoint refuses token probabilities."""
    if prompt.top_logprobs is None:
        return None
    if fault is ProbabilityFault.REFUSED_LOGPROBS:
        return 400, "'logprobs' is not supported with this model."
    if fault is ProbabilityFault.FEWER_LOGPROBS and prompt.top_logprobs > FEWER_ALTERNATIVES:
        return 400, f"Invalid 'top_logprobs': expected a value <= {FEWER_ALTERNATIVES}, but got {prompt.top_logprobs}."
    return None


def with_logprobs(prompt: Prompt, reply: MockReply, seed: int, fault: ProbabilityFault | None) -> MockReply:
    """The reply with its tokens, where these were asked for and nothing is reply_object against it."""
    if prompt.top_logprobs is None or fault is ProbabilityFault.NO_LOGPROBS:
        return reply
    tokens = [*_tokens(prompt, reply.text, seed)]
    if fault is ProbabilityFault.OTHER_TOKENS:
        tokens = tokens[1::2]
    for token in tokens:
        if fault is ProbabilityFault.NO_ALTERNATIVES:
            token["top_logprobs"] = []
        if fault is ProbabilityFault.POSITIVE_LOGPROBS:
            token["top_logprobs"] = [{**entry, "logprob": 0.5} for entry in token["top_logprobs"]]
    return reply._replace(logprobs={"content": tokens, "refusal": None})


def _tokens(prompt: Prompt, text: str, seed: int) -> Sequence[dict[str, Any]]:
    tokens = []
    for number, token in enumerate(_TOKEN.findall(text)):
        others = _others(token, text)
        likely = _likelihood(prompt, f"{number}:{token}", seed) if others else 1.0
        rest = (1.0 - likely) / max(1, len(others))
        entries = [_entry(token, likely), *(_entry(other, rest) for other in others)]
        tokens.append({**entries[0], "top_logprobs": entries[: prompt.top_logprobs]})
    return tokens


def _others(token: str, text: str) -> list[str]:
    """What could have stood there instead."""
    if token.isdigit():
        number = int(token)
        return [str(other) for other in (number - 1, number + 1) if other >= 0]
    blank, word = token[: len(token) - len(token.lstrip())], token.strip()
    for words in _WORDS:
        if word in words and (words[0] == "true" or f'"{word}"' in text):
            return [f"{blank}{other}" for other in words if other != word]
    return []


def _entry(token: str, likelihood: float) -> dict[str, Any]:
    return {"token": token, "logprob": math.log(likelihood), "bytes": list(token.encode("utf-8", "surrogatepass"))}


def _likelihood(prompt: Prompt, about: str, seed: int) -> float:
    drawn = digest_of(str(seed), prompt.model, prompt.subject, about, "likelihood")
    return _LEAST + (_MOST - _LEAST) * share_of(drawn)


def with_answers(prompt: Prompt, reply: MockReply, seed: int, correct_share: float) -> MockReply:
    """The reply with the likelihood of every option of every question that was asked."""
    reply_object = _object_in(reply.text)
    return reply._replace(
        answers={
            question.name: _shares(prompt, question, reply_object, seed, correct_share) for question in prompt.questions
        }
    )


def _shares(
    prompt: Prompt, question: AskedQuestion, reply_object: Mapping[str, Any], seed: int, correct_share: float
) -> dict[str, float]:
    given = reply_object.get(question.name)
    word = json.dumps(given) if isinstance(given, bool) else str(given)
    if word not in question.options:
        drawn = share_of(digest_of(str(seed), prompt.model, prompt.subject, question.name, "answer"))
        # The favourable ones are the upper part of a scale, and a gate seldom fails.
        place = drawn if not question.is_scale else (0.5 + drawn / 2 if drawn < correct_share else drawn / 2)
        word = question.options[min(int(place * len(question.options)), len(question.options) - 1)]
        if question.options == ("true", "false"):
            word = "true" if drawn < 0.1 else "false"
    likely = _likelihood(prompt, question.name, seed)
    rest = (1.0 - likely) / (len(question.options) - 1)
    return {option: likely if option == word else rest for option in question.options}


def _object_in(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class _Spoilt(NamedTuple):
    """A document of answers, with a way to what its questions hold whatever the interface."""

    document: dict[str, Any]

    @property
    def answers(self) -> list[dict[str, Any]]:
        answers = self.document["answers"]
        return list(answers.values()) if isinstance(answers, dict) else answers

    def change_shares(self, change: Callable[[float], Any], *, drops: bool = False) -> None:
        """The first probability of the first question."""
        first = self.answers[0]
        for key in ("probability", "noul"):
            if key in first:
                if drops:
                    del first[key]
                else:
                    first[key] = change(first[key])
                return
        shares = first["probabilities"]
        if isinstance(shares, dict):
            name = next(iter(shares))
            changed = {} if drops else {name: change(shares[name])}
            first["probabilities"] = {**{key: share for key, share in shares.items() if key != name}, **changed}
        else:
            shares[0]["probability"] = change(shares[0]["probability"])
            first["probabilities"] = shares[1:] if drops else shares


def spoil_answers(document: Mapping[str, Any], fault: ProbabilityFault | None) -> Mapping[str, Any]:
    """The same, with what the fault makes of it; as it is under faults of tokens."""
    spoilt = _Spoilt(json.loads(json.dumps(document)))
    match fault:
        case ProbabilityFault.ERROR_WITH_200:
            return {"error": {"message": "The mock decider is out of sorts.", "type": "server_error"}}
        case ProbabilityFault.REFUSED_QUESTION:
            spoilt.answers[0]["type"] = "refusal"
        case ProbabilityFault.MISSING_ANSWER:
            _drop_first(spoilt.document)
        case ProbabilityFault.MISSING_OPTION:
            spoilt.change_shares(float, drops=True)
        case ProbabilityFault.WRONG_SUM:
            # Of a statement there is no sum to be wrong.
            spoilt.change_shares(lambda share: share + 0.5)
        case ProbabilityFault.NOT_A_NUMBER:
            spoilt.change_shares(lambda share: math.nan)
        case ProbabilityFault.OUT_OF_RANGE:
            spoilt.change_shares(lambda share: 100 * share)
        case ProbabilityFault.WRONG_NAME:
            _rename_first(spoilt.document)
        case ProbabilityFault.REPEATED_NAME:
            _repeat_first(spoilt.document)
        case _:
            return document
    return spoilt.document


def _drop_first(document: dict[str, Any]) -> None:
    answers = document["answers"]
    document["answers"] = answers[1:] if isinstance(answers, list) else dict(list(answers.items())[1:])


def _rename_first(document: dict[str, Any]) -> None:
    answers = document["answers"]
    if isinstance(answers, list):
        answers[0]["name"] = "another_question"
    else:
        document["answers"] = {
            "another_question" if number == 0 else name: answer for number, (name, answer) in enumerate(answers.items())
        }


def _repeat_first(document: dict[str, Any]) -> None:
    """JSON has no objects with a name twice that Python could hold: there the repeat has a name of its own."""
    answers = document["answers"]
    if isinstance(answers, list):
        answers.append(dict(answers[0]))
    else:
        name, answer = next(iter(answers.items()))
        answers[f"{name}_again"] = answer
