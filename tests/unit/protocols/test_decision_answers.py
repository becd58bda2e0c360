"""What decision endpoints answer, and every way in which that is no answer: a flag with a detail, never a number."""

import copy
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each
from tests.unit.protocols.decision_documents import document_of

from mixseek.domain.decisions import AnswerOption, DecisionApi, DecisionQuestion, QuestionKind
from mixseek.domain.judgments import Flag
from mixseek.protocols.replies.decision_answers import read_answers

UNPARSABLE, VIOLATION = Flag.UNPARSABLE_OUTPUT, Flag.PROTOCOL_VIOLATION
CONTRADICTION, EVASION = Flag.INTERNAL_INCONSISTENCY, Flag.JUDGE_REFUSAL_OR_EVASION


def question(name: str, kind: QuestionKind, *values: str) -> DecisionQuestion:
    return DecisionQuestion(name, kind, "?", tuple(map(AnswerOption, values)))


QUESTIONS = (
    question("is_right", QuestionKind.PREDICATE, "true", "false"),
    question("winner", QuestionKind.CHOICE, "A", "B", "tie"),
    question("tone", QuestionKind.LEVELS, "0", "1", "2"),
)
SHARES = {
    "is_right": {"true": 0.8, "false": 0.2},
    "winner": {"A": 0.2, "B": 0.7, "tie": 0.1},
    "tone": {"0": 0.1, "1": 0.3, "2": 0.6},
}
LIST, MAP = DecisionApi.DECISIONS, DecisionApi.SYSTEMONE
PLACES = {"is_right": 0, "winner": 1, "tone": 2}


@pytest.mark.parametrize("api", list(DecisionApi))
def test_every_kind_of_question_is_read_in_both_interfaces(api: DecisionApi) -> None:
    """Levels are known by their labels, or by their places; the likeliest is the answer."""
    reading = read_answers(json.dumps(document_of(QUESTIONS, SHARES, api)), api, QUESTIONS)

    assert reading.findings == ()
    assert {name: dict(shares.shares) for name, shares in reading.shares.items()} == {
        name: {value: pytest.approx(share) for value, share in shares.items()} for name, shares in SHARES.items()
    }
    assert [reading.likeliest(name) for name in SHARES] == ["true", "B", "2"]


def test_what_is_off_by_rounding_is_brought_to_one() -> None:
    """Up to two hundredths."""
    shares = {**SHARES, "winner": {"A": 0.21, "B": 0.7, "tie": 0.1}}
    reading = read_answers(json.dumps(document_of(QUESTIONS, shares, LIST)), LIST, QUESTIONS)

    assert math.fsum(reading.shares["winner"].shares.values()) == pytest.approx(1)
    assert reading.shares["winner"].shares["B"] == pytest.approx(0.7 / 1.01)


@pytest.mark.parametrize("score", [1.5, 2, 1.49])
def test_a_score_is_the_mean_of_the_levels_or_the_likeliest(score: float) -> None:
    """Hosts differ in that."""
    document = document_of(QUESTIONS, SHARES, LIST)
    document["answers"][2]["score"] = score

    assert read_answers(json.dumps(document), LIST, QUESTIONS).findings == ()


def test_of_levels_that_are_as_likely_the_lowest_is_meant_and_a_statement_at_one_half_is_no_answer() -> None:
    shares = {**SHARES, "is_right": {"true": 0.5, "false": 0.5}, "tone": {"0": 0.0, "1": 0.5, "2": 0.5}}
    reading = read_answers(json.dumps(document_of(QUESTIONS, shares, LIST)), LIST, QUESTIONS)

    assert (reading.likeliest("is_right"), reading.likeliest("tone")) == (None, "1")


Change = Callable[[Any], Any]


def put(name: str, **values: Any) -> Change:
    """Other values in one answer."""

    def change(document: Any) -> Any:
        answers = document["answers"]
        (answers[PLACES[name]] if isinstance(answers, list) else answers[name]).update(values)
        return document

    return change


def drop(name: str, key: str) -> Change:
    def change(document: Any) -> Any:
        answers = document["answers"]
        del (answers[PLACES[name]] if isinstance(answers, list) else answers[name])[key]
        return document

    return change


def listed(values: dict[str, Any], key: str = "value") -> list[dict[str, Any]]:
    return [{key: value, "probability": share} for value, share in values.items()]


def whole(value: Any) -> Change:
    return lambda document: value


def answers(value: Any) -> Change:
    return lambda document: {**document, "answers": value}


def again(name: str, **changes: Any) -> Change:
    """One answer given twice."""

    def change(document: Any) -> Any:
        document["answers"].append({**document["answers"][PLACES[name]], **changes})
        return document

    return change


def without(name: str) -> Change:
    def change(document: Any) -> Any:
        given = document["answers"]
        kept = [item for item in given if item["name"] != name] if isinstance(given, list) else None
        return {
            **document,
            "answers": {key: item for key, item in given.items() if key != name} if kept is None else kept,
        }

    return change


def renamed(name: str, other: Any) -> Change:
    def change(document: Any) -> Any:
        document["answers"][PLACES[name]]["name"] = other
        return document

    return change


# Name: the interface, what is changed in a sound answer, the flag, and words of the detail.
MALFORMED: dict[str, tuple[DecisionApi, Change, Flag, str]] = {
    # The whole answer.
    "empty": (LIST, whole(""), UNPARSABLE, "not the JSON"),
    "prose": (LIST, whole("The answer is right."), UNPARSABLE, "not the JSON"),
    "half of it": (LIST, whole('{"answers": [{"type": "pred'), UNPARSABLE, "not the JSON"),
    "null": (LIST, whole(None), UNPARSABLE, "a JSON NoneType"),
    "a list": (LIST, whole([1]), UNPARSABLE, "a JSON list"),
    "a number": (LIST, whole(0.8), UNPARSABLE, "a JSON float"),
    "an error": (LIST, whole({"error": {"message": "model overloaded"}}), UNPARSABLE, "model overloaded"),
    "an error in words": (MAP, whole({"error": "no such question type"}), UNPARSABLE, "an endpoint's error"),
    "an error beside answers": (LIST, lambda document: {**document, "error": "partial"}, UNPARSABLE, "partial"),
    "a chat completion": (LIST, whole({"choices": [{"message": {"content": "yes"}}]}), UNPARSABLE, "answers is null"),
    "no answers": (LIST, whole({"model": "m"}), UNPARSABLE, "answers is null"),
    "answers are null": (MAP, answers(None), UNPARSABLE, "answers is null"),
    "answers are a text": (LIST, answers("B"), UNPARSABLE, "expected a list"),
    "the other interface's answers": (
        LIST, answers({"is_right": {"type": "noul", "noul": 1}}), UNPARSABLE, "expected a list",
    ),
    "the other interface's list": (MAP, answers([{"name": "is_right"}]), UNPARSABLE, "expected an object"),
    "a list of numbers": (LIST, answers([0.8, 0.2]), UNPARSABLE, "expected a list of objects"),
    "an empty list": (LIST, answers([]), UNPARSABLE, "no answer to is_right"),
    "an empty object": (MAP, answers({}), UNPARSABLE, "no answer to winner"),
    "one key twice": (
        MAP, whole('{"answers": {"tone": {}, "tone": {"type": "score"}}}'), CONTRADICTION, "given 2 times",
    ),
    # Which questions.
    "a missing answer": (LIST, without("winner"), UNPARSABLE, "no answer to winner"),
    "a missing answer in a map": (MAP, without("tone"), UNPARSABLE, "no answer to tone"),
    "a wrong name": (LIST, renamed("tone", "Tone"), VIOLATION, "which was not asked"),
    "no name": (LIST, renamed("tone", None), VIOLATION, "which was not asked"),
    "a number for a name": (LIST, renamed("tone", 3), VIOLATION, "which was not asked"),
    "a name too many": (
        MAP, lambda document: {**document, "answers": {**document["answers"], "mood": {}}}, VIOLATION, "mood",
    ),
    "answered twice": (LIST, again("is_right", probability=0.1), CONTRADICTION, "is_right is answered 2 times"),
    "answered twice alike": (LIST, again("winner"), CONTRADICTION, "winner is answered 2 times"),
    # Refusals.
    "one question refused": (LIST, put("winner", type="refusal"), EVASION, "refuses winner"),
    "one question refused in a map": (MAP, put("tone", type="refusal"), EVASION, "refuses tone"),
    "refused in a field": (MAP, put("tone", refusal="I cannot rate this."), EVASION, "refuses tone"),
    # What it is answered as.
    "an answer is a number": (MAP, answers({"is_right": 0.8}), UNPARSABLE, "is_right is 0.8"),
    "an answer is null": (MAP, answers({"is_right": None}), UNPARSABLE, "is_right is null"),
    "another type": (LIST, put("is_right", type="choice"), VIOLATION, "answered as \"choice\""),
    "the other interface's type": (MAP, put("is_right", type="predicate"), VIOLATION, "not as 'noul'"),
    "no type": (LIST, drop("winner", "type"), VIOLATION, "answered as null"),
    # A predicate.
    "no probability": (LIST, drop("is_right", "probability"), UNPARSABLE, "probability is missing"),
    "no noul": (MAP, drop("is_right", "noul"), UNPARSABLE, "noul is missing"),
    "a yes": (LIST, put("is_right", probability="yes"), UNPARSABLE, "expected a number"),
    "true": (MAP, put("is_right", noul=True), UNPARSABLE, "expected a number"),
    "a number in quotes": (LIST, put("is_right", probability="0.8"), UNPARSABLE, "expected a number"),
    "per cent": (LIST, put("is_right", probability=80), VIOLATION, "not from 0 to 1"),
    "below nothing": (LIST, put("is_right", probability=-0.1), VIOLATION, "not from 0 to 1"),
    "a logarithm": (MAP, put("is_right", noul=-0.22), VIOLATION, "not from 0 to 1"),
    "a little above one": (MAP, put("is_right", noul=1.0001), VIOLATION, "not from 0 to 1"),
    "NaN": (LIST, put("is_right", probability=math.nan), UNPARSABLE, "not a JSON number"),
    "infinity": (LIST, put("is_right", probability=math.inf), UNPARSABLE, "not a JSON number"),
    # A choice.
    "no probabilities": (LIST, drop("winner", "probabilities"), UNPARSABLE, "probabilities is null"),
    "probabilities are a text": (MAP, put("winner", probabilities="B"), UNPARSABLE, "expected an object"),
    "probabilities are numbers": (LIST, put("winner", probabilities=[0.2, 0.7, 0.1]), UNPARSABLE, "expected a list"),
    "a map for a list": (
        LIST, put("winner", probabilities={"A": 0.2, "B": 0.7, "tie": 0.1}), UNPARSABLE, "expected a list",
    ),
    "a list for a map": (
        MAP, put("winner", probabilities=listed({"A": 0.2, "B": 0.7})), UNPARSABLE, "expected an object",
    ),
    "a missing option": (
        LIST, put("winner", probabilities=listed({"A": 0.3, "B": 0.7})), UNPARSABLE, "no probability of tie",
    ),
    "a missing option in a map": (MAP, put("winner", probabilities={"B": 1.0}), UNPARSABLE, "no probability of A, tie"),
    "an option too many": (
        MAP, put("winner", probabilities={"A": 0.2, "B": 0.6, "tie": 0.1, "C": 0.1}), VIOLATION, "none of A, B, tie",
    ),
    "an option in other letters": (
        LIST, put("winner", probabilities=listed({"a": 0.2, "b": 0.7, "tie": 0.1})), VIOLATION, "none of A, B, tie",
    ),
    "an option without a name": (
        LIST, put("winner", probabilities=[{"probability": 1.0}]), VIOLATION, "probability of",
    ),
    "an option twice": (
        LIST, put("winner", probabilities=[*listed({"A": 0.2, "B": 0.4, "tie": 0.1}), *listed({"B": 0.3})]),
        CONTRADICTION, "B has 2 probabilities",
    ),
    "the sum is too small": (
        LIST, put("winner", probabilities=listed({"A": 0.2, "B": 0.6, "tie": 0.1})), CONTRADICTION, "0.9",
    ),
    "the sum is too large": (MAP, put("winner", probabilities={"A": 0.5, "B": 0.7, "tie": 0.1}), CONTRADICTION, "1.3"),
    "per cents": (MAP, put("winner", probabilities={"A": 20, "B": 70, "tie": 10}), VIOLATION, "not from 0 to 1"),
    "all of them nothing": (MAP, put("winner", probabilities={"A": 0, "B": 0, "tie": 0}), CONTRADICTION, "add up to 0"),
    "one is null": (
        LIST, put("winner", probabilities=listed({"A": None, "B": 0.9, "tie": 0.1})), UNPARSABLE, "A is missing",
    ),
    "one is NaN": (MAP, put("winner", probabilities={"A": math.nan, "B": 0.9, "tie": 0.1}), UNPARSABLE, "A is nan"),
    "one is below nothing": (
        MAP, put("winner", probabilities={"A": -0.1, "B": 1.0, "tie": 0.1}), VIOLATION, "A is -0.1",
    ),
    "one is a text": (
        LIST, put("winner", probabilities=listed({"A": "low", "B": 0.9, "tie": 0.1})), UNPARSABLE, "A is \"low\"",
    ),
    "no choice": (LIST, drop("winner", "choice"), UNPARSABLE, "choice is missing"),
    "a choice that is not its likeliest": (LIST, put("winner", choice="A"), CONTRADICTION, "but B is more likely"),
    "the same in a map": (MAP, put("winner", choice="tie"), CONTRADICTION, "but B is more likely"),
    "a choice that is no option": (MAP, put("winner", choice="both"), VIOLATION, "is no option"),
    "a choice that is a number": (LIST, put("winner", choice=1), VIOLATION, "is no option"),
    "a choice that is a list": (MAP, put("winner", choice=["B"]), VIOLATION, "is no option"),
    "a confidence in per cent": (LIST, put("winner", confidence=70), VIOLATION, "confidence is 70"),
    "a confidence in words": (MAP, put("winner", confidence="high"), UNPARSABLE, "confidence is \"high\""),
    "a confidence that is NaN": (LIST, put("tone", confidence=math.nan), UNPARSABLE, "confidence is nan"),
    # Levels.
    "no score": (LIST, drop("tone", "score"), UNPARSABLE, "score is missing"),
    "a score in words": (MAP, put("tone", score="2"), UNPARSABLE, "score is 2, expected a number"),
    "a score that is NaN": (LIST, put("tone", score=math.nan), UNPARSABLE, "score is nan"),
    "a score that is true": (MAP, put("tone", score=True), UNPARSABLE, "score is True"),
    "a score from elsewhere": (LIST, put("tone", score=0.3), CONTRADICTION, "the mean of the levels is 1.5"),
    "a score above the scale": (MAP, put("tone", score=7), CONTRADICTION, "the score is 7"),
    "a missing level": (
        LIST, put("tone", probabilities=listed({"1": 0.4, "2": 0.6}, "label")), UNPARSABLE, "no probability of 0",
    ),
    "levels from one on": (MAP, put("tone", probabilities={"1": 0.1, "2": 0.3, "3": 0.6}), VIOLATION, "\"3\""),
    "levels by other labels": (
        LIST, put("tone", probabilities=listed({"bad": 0.1, "fair": 0.3, "good": 0.6}, "label")), VIOLATION,
        "none of 0, 1, 2",
    ),
    "levels by their values alone": (
        LIST, put("tone", probabilities=listed({"0": 0.1, "1": 0.3, "2": 0.6})), VIOLATION, "none of 0, 1, 2",
    ),
    "a level twice": (
        LIST, put("tone", probabilities=listed({"0": 0.1, "1": 0.3, "2": 0.3}, "label") + listed({"2": 0.3}, "label")),
        CONTRADICTION, "2 has 2 probabilities",
    ),
    "levels that do not add up": (
        MAP, put("tone", probabilities={"0": 0.1, "1": 0.1, "2": 0.6}), CONTRADICTION, "add up to 0.8",
    ),
}  # fmt: skip


@each(("name", "case"), MALFORMED.items())
def test_what_is_wrong_has_a_flag_and_a_detail(name: str, case: tuple[DecisionApi, Change, Flag, str]) -> None:
    """And the question that it is about has no shares, however sound the others are."""
    api, change, flag, words = case
    document = change(copy.deepcopy(document_of(QUESTIONS, SHARES, api)))
    text = document if isinstance(document, str) else json.dumps(document)

    reading = read_answers(text, api, QUESTIONS)

    assert flag in [finding.flag for finding in reading.findings], name
    assert words in "; ".join(finding.detail for finding in reading.findings if finding.flag is flag), name
    assert (
        len(reading.shares) < len(QUESTIONS)
        or "not asked" in words
        or "answered 2" in words
        or name == "a name too many"
    )


def test_there_are_at_least_eighty_of_them() -> None:
    """As was promised; those of token probabilities are counted apart."""
    assert len(MALFORMED) >= 80


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.sampled_from(["A", "is_right", "choice", "refusal"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["answers", "name", "type", "probabilities", "is_right", "probability", "winner", "error"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    ),
    st.sampled_from(DecisionApi),
)
def test_nothing_raises_and_what_is_read_is_shares(document: Any, api: DecisionApi) -> None:
    """Whatever an endpoint answers."""
    reading = read_answers(json.dumps(document), api, QUESTIONS)

    assert reading.findings or len(reading.shares) == len(QUESTIONS)
    for shares in reading.shares.values():
        assert math.fsum(shares.shares.values()) == pytest.approx(1)
