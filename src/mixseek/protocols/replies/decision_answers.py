"""Reads what a decision endpoint answers: the probability of every option of every question, or what is wrong with it.

Never a number in the place of one that is missing, out of range, or that contradicts the others.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mixseek.domain.confidence import SUM_TOLERANCE, is_share, renormalise
from mixseek.domain.decisions import FALSE, TRUE, DecisionApi, DecisionQuestion, QuestionKind
from mixseek.domain.judgments import Finding, Flag
from mixseek.protocols.replies.reply_json import excerpt, excerpt_text
from mixseek.protocols.replies.token_shares import FieldShares

# What each kind of question is called in an answer.
_TYPES = {
    DecisionApi.DECISIONS: {
        QuestionKind.PREDICATE: "predicate", QuestionKind.CHOICE: "choice", QuestionKind.LEVELS: "score",
    },
    DecisionApi.SYSTEMONE: {
        QuestionKind.PREDICATE: "noul", QuestionKind.CHOICE: "choice", QuestionKind.LEVELS: "score",
    },
}  # fmt: skip
_REFUSAL = "refusal"
# Two options are as likely as each other up to here.
_ROUNDING = 1e-9


class DecisionReading(NamedTuple):
    """The shares of each question by its name; where there are findings, some are missing."""

    shares: Mapping[str, FieldShares]
    findings: tuple[Finding, ...]

    def likeliest(self, name: str) -> str | None:
        """The option with the most; of levels that are as likely, the lowest. None for a statement at one half."""
        shares = self.shares[name].shares
        if set(shares) == {TRUE, FALSE} and math.isclose(shares[TRUE], shares[FALSE]):
            return None
        return max(shares, key=lambda value: shares[value])


class _ProblemError(ValueError):
    """What is wrong with one answer."""

    def __init__(self, flag: Flag, detail: str) -> None:
        super().__init__(detail)
        self.finding = Finding(flag, detail)


def read_answers(text: str, api: str, questions: Sequence[DecisionQuestion]) -> DecisionReading:
    """Never raises, whatever the text; all objections are collected."""
    try:
        kind = DecisionApi(api)
        document = json.loads(text, object_pairs_hook=_without_repeats)
    except _ProblemError as problem:
        return DecisionReading({}, (problem.finding,))
    except (ValueError, RecursionError):
        return _nothing(Flag.UNPARSABLE_OUTPUT, f"not the JSON of a decision endpoint: {excerpt_text(text)}")
    if not isinstance(document, dict):
        return _nothing(Flag.UNPARSABLE_OUTPUT, f"a JSON {type(document).__name__} instead of answers")
    if document.get("error"):
        detail = f"an endpoint's error instead of answers: {excerpt(document['error'])}"
        return _nothing(Flag.UNPARSABLE_OUTPUT, detail)
    findings: list[Finding] = []
    answers = _by_name(document.get("answers"), kind, questions, findings)
    shares: dict[str, FieldShares] = {}
    for question in questions:
        if question.name not in answers:
            findings.append(Finding(Flag.UNPARSABLE_OUTPUT, f"no answer to {question.name}"))
            continue
        try:
            shares[question.name] = _read_answer(answers[question.name], kind, question)
        except _ProblemError as problem:
            findings.append(problem.finding)
    return DecisionReading(shares, tuple(dict.fromkeys(findings)))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raises _ProblemError: of two values under one name, nobody knows which is meant."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise _ProblemError(Flag.INTERNAL_INCONSISTENCY, f"{excerpt(name)} is given {count} times")
    return dict(pairs)


def _nothing(flag: Flag, detail: str) -> DecisionReading:
    return DecisionReading({}, (Finding(flag, detail),))


def _by_name(
    answers: Any, kind: DecisionApi, questions: Sequence[DecisionQuestion], findings: list[Finding]
) -> Mapping[str, Any]:
    """The answers by the questions' names; objections go to `findings`."""
    if kind is DecisionApi.SYSTEMONE:
        pairs = list(answers.items()) if isinstance(answers, dict) else None
    else:
        is_list = isinstance(answers, list) and all(isinstance(answer, dict) for answer in answers)
        pairs = [(answer.get("name"), answer) for answer in answers] if is_list else None
    if pairs is None:
        expected = "an object" if kind is DecisionApi.SYSTEMONE else "a list of objects"
        findings.append(Finding(Flag.UNPARSABLE_OUTPUT, f"answers is {excerpt(answers)}, expected {expected}"))
        return {}
    known = {question.name for question in questions}
    for name, count in Counter(str(name) for name, _ in pairs).items():
        if name not in known:
            findings.append(Finding(Flag.PROTOCOL_VIOLATION, f"an answer to {excerpt(name)}, which was not asked"))
        elif count > 1:
            findings.append(Finding(Flag.INTERNAL_INCONSISTENCY, f"{name} is answered {count} times"))
    return {name: answer for name, answer in pairs if isinstance(name, str) and name in known}


def _read_answer(answer: Any, kind: DecisionApi, question: DecisionQuestion) -> FieldShares:
    """The shares of one question; raises _ProblemError."""
    name, expected = question.name, _TYPES[kind][question.kind]
    if not isinstance(answer, dict):
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{name} is {excerpt(answer)}, expected an object")
    given = answer.get("type")
    if given == _REFUSAL or answer.get(_REFUSAL):
        raise _ProblemError(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge refuses {name}")
    if given != expected:
        raise _ProblemError(Flag.PROTOCOL_VIOLATION, f"{name} is answered as {excerpt(given)}, not as {expected!r}")
    if question.kind is QuestionKind.PREDICATE:
        key = "probability" if kind is DecisionApi.DECISIONS else "noul"
        probability = _share(answer, key, name)
        return FieldShares({TRUE: probability, FALSE: 1.0 - probability}, None)
    masses = _masses(answer.get("probabilities"), kind, question)
    total = math.fsum(masses.values())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise _ProblemError(
            Flag.INTERNAL_INCONSISTENCY, f"{name}: the probabilities add up to {total:.4g}, which is not 1"
        )
    if answer.get("confidence") is not None:
        # How it is made up differs from host to host, so it is never used; that it is none is worth knowing.
        _share(answer, "confidence", name)
    _check_given(answer, question, masses)
    return FieldShares(renormalise(masses) or {}, None)


def _share(holder: Mapping[str, Any], key: str, name: str) -> float:
    """Raises _ProblemError for what is no probability."""
    value = holder.get(key)
    if value is None:
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{name}: {key} is missing")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{name}: {key} is {excerpt(value)}, expected a number")
    if not math.isfinite(value):
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{name}: {key} is {value}, which is not a JSON number")
    if not is_share(value):
        raise _ProblemError(Flag.PROTOCOL_VIOLATION, f"{name}: {key} is {excerpt(value)}, not from 0 to 1")
    return float(value)


def _masses(probabilities: Any, kind: DecisionApi, question: DecisionQuestion) -> dict[str, float]:
    """The probability of every option, in the order of the question; raises _ProblemError."""
    pairs = _pairs(probabilities, kind, question)
    counted = Counter(value for value, _ in pairs)
    for value, count in counted.items():
        if value not in question.values:
            statement = f"{question.name}: a probability of {excerpt(value)}"
            raise _ProblemError(Flag.PROTOCOL_VIOLATION, f"{statement}, which is none of {', '.join(question.values)}")
        if count > 1:
            raise _ProblemError(Flag.INTERNAL_INCONSISTENCY, f"{question.name}: {value} has {count} probabilities")
    if missing := [value for value in question.values if value not in counted]:
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{question.name}: no probability of {', '.join(missing)}")
    given = dict(pairs)
    return {value: _share({value: given[value]}, value, question.name) for value in question.values}


def _pairs(probabilities: Any, kind: DecisionApi, question: DecisionQuestion) -> list[tuple[str, Any]]:
    if kind is DecisionApi.SYSTEMONE:
        if not isinstance(probabilities, dict):
            detail = f"{question.name}: probabilities is {excerpt(probabilities)}, expected an object"
            raise _ProblemError(Flag.UNPARSABLE_OUTPUT, detail)
        if question.kind is QuestionKind.CHOICE:
            return list(probabilities.items())
        # Levels are counted from nought there.
        numbered = {str(number): value for number, value in enumerate(question.values)}
        return [(numbered.get(key, str(key)), share) for key, share in probabilities.items()]
    if not isinstance(probabilities, list) or not all(isinstance(item, dict) for item in probabilities):
        detail = f"{question.name}: probabilities is {excerpt(probabilities)}, expected a list of objects"
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, detail)
    key = "value" if question.kind is QuestionKind.CHOICE else "label"
    return [(_option_of(item.get(key)), item.get("probability")) for item in probabilities]


def _option_of(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _check_given(answer: Mapping[str, Any], question: DecisionQuestion, masses: Mapping[str, float]) -> None:
    """What is said beside the probabilities must be what they say; raises _ProblemError."""
    name, most = question.name, max(masses.values())
    if question.kind is QuestionKind.CHOICE:
        choice = answer.get("choice")
        if choice is None:
            raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{name}: choice is missing")
        if _option_of(choice) not in masses:
            raise _ProblemError(Flag.PROTOCOL_VIOLATION, f"{name}: the choice {excerpt(choice)} is no option")
        if masses[_option_of(choice)] < most - _ROUNDING:
            likeliest = max(masses, key=lambda value: masses[value])
            statement = f"{name}: the choice is {excerpt(choice)}, but {likeliest} is more likely"
            raise _ProblemError(Flag.INTERNAL_INCONSISTENCY, statement)
        return
    score = answer.get("score")
    if score is None:
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{name}: score is missing")
    if not isinstance(score, int | float) or isinstance(score, bool) or not math.isfinite(score):
        raise _ProblemError(Flag.UNPARSABLE_OUTPUT, f"{name}: score is {excerpt_text(str(score))}, expected a number")
    # The mean of the levels' numbers, or the number of the likeliest.
    mean = math.fsum(number * mass for number, mass in enumerate(masses.values()))
    numbers = [number for number, mass in enumerate(masses.values()) if mass == most]
    room = SUM_TOLERANCE * len(masses)
    if abs(score - mean) > room and not any(abs(score - number) <= room for number in numbers):
        statement = f"{name}: the score is {excerpt(score)}, but the mean of the levels is {mean:.3g}"
        raise _ProblemError(Flag.INTERNAL_INCONSISTENCY, statement)
